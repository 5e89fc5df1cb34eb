"""The label permutation against really redrawing every answer's labels."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from survey.core.agreement.agreement import TIES
from survey.core.agreement.answers import Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.differences import differences, pairs
from survey.core.agreement.label_permutation import Redraws, equal_credit_test, label_permutation
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import (
    MEASURES,
    credits_of,
    of_each,
    random_rankings,
    random_responses,
)

PAIRS = pairs(MEASURES)


def orders(*notations):
    return dict(zip(MEASURES, map(Ranking.parse, notations), strict=True))


# All orders differ, AP and MNRO are identical, all are.
TINY = {
    1: orders("A>B>C", "B>A>C", "C>B>A"),
    2: orders("A>B=C", "B>A>C", "A>B=C"),
    3: orders("A=B>C", "A=B>C", "A=B>C"),
}


def ticked(who, question, *clicked):
    return Response(who, question, ("NMRR", "MNRO", "AP"), frozenset(clicked))


SITUATIONS = {
    "one column each": [ticked("P1", 1, 1), ticked("P1", 2, 2), ticked("P2", 1, 1)],
    "several columns": [ticked("P1", 1, 1, 2), ticked("P1", 2, 1, 2), ticked("P2", 1, 3)],
    "a custom ranking": [
        ticked("P1", 1, 1),
        Response("P1", 2, MEASURES, own=Ranking.parse("C>B>A")),
        ticked("P2", 1, 1, 3),
    ],
    "all orders identical": [ticked("P1", 3, 1), ticked("P1", 1, 2), ticked("P2", 3, 1, 2)],
    "shared votes unseen": [ticked("P1", 2, 1), ticked("P2", 2, 1), ticked("P3", 1, 2)],
    "every column": [ticked("P1", 1, 1, 2, 3), ticked("P2", 2, 3), ticked("P2", 1, 3)],
}


def redraws(responses):
    """Every way in which the labels could have been drawn, all equally likely."""
    for drawn in product(permutations(MEASURES), repeat=len(responses)):
        yield [replace(one, label_order=order) for one, order in zip(responses, drawn, strict=True)]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_exact_test_is_the_enumeration_of_all_redraws(situation, ties):
    responses = SITUATIONS[situation]
    if ties == "dropped":  # what is left is taken as given
        credits = credits_of(responses, TINY)
        shared, _ = of_each(credits, credits.credited.sum(axis=1) > 1)
        responses = [one for one, out in zip(responses, shared, strict=True) if not out]
    credits = TIES[ties](credits_of(responses, TINY, MEASURES))
    every = [TIES[ties](credits_of(one, TINY, MEASURES)) for one in redraws(responses)]
    every = [one for one in every if len(one) == len(responses)]
    for pair in PAIRS:
        found = label_permutation(Redraws(credits), pair)
        leads = np.array([one.counts @ differences(one, pair) for one in every])
        far = abs(found.lead - leads.mean()) - 1e-9
        assert found.null_mean == pytest.approx(leads.mean(), abs=1e-9)
        assert found.null_sd == pytest.approx(leads.std(), abs=1e-9)
        if np.any(leads):
            expected = np.mean(np.abs(leads - leads.mean()) >= far)
            assert (found.p, found.method) == (pytest.approx(expected, abs=1e-9), "exact")
        else:
            assert found.p is None
            assert found.why is not None


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_p_of_cochrans_q_comes_close_to_the_enumeration(situation):
    responses = SITUATIONS[situation]
    found = equal_credit_test(Redraws(credits_of(responses, TINY, MEASURES)))
    every = [cochran_of(credits_of(one, TINY, MEASURES)) for one in redraws(responses)]
    expected = np.mean(np.array(every) >= found.q - 1e-9)
    assert found.p_label_permutation == pytest.approx(expected, abs=0.02)


def cochran_of(credits):
    """Cochran's Q as Friedman's chi-square on 0 and 1; 0 where nothing tells apart."""
    table = of_each(credits, credits.credited)[0].astype(float)
    return stats.friedmanchisquare(*table.T).statistic if np.ptp(table, axis=1).any() else 0.0


@pytest.mark.slow
def test_the_exact_test_comes_close_to_redrawing_labels_at_random():
    rng = np.random.default_rng(11)
    rankings = random_rankings(rng, 5, identical=0.6)
    responses = random_responses(rng, rankings, 4)
    credits = credits_of(responses, rankings, MEASURES)
    leads = []
    for _ in range(1500):
        redrawn = [
            replace(one, label_order=tuple(rng.permutation(MEASURES).tolist())) for one in responses
        ]
        again = credits_of(redrawn, rankings, MEASURES)
        leads.append([again.counts @ differences(again, pair) for pair in PAIRS])
    for pair, drawn in zip(PAIRS, np.array(leads).T, strict=True):
        found = label_permutation(Redraws(credits), pair)
        far = abs(found.lead - found.null_mean) - 1e-9
        assert found.null_mean == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 1500**0.5)
        p = np.mean(np.abs(drawn - found.null_mean) >= far)
        assert found.p == pytest.approx(p, abs=4 * (0.25 / 1500) ** 0.5)


def many(*credited):
    """So many single ticks in question 1 for each of the measures, nobody knows whose."""
    return tally_credits(
        Ballots(
            measures=MEASURES,
            rankings=TINY,
            questions=np.ones(3, dtype=np.int64),
            ticked=np.eye(3, dtype=bool),
            owns=(None,) * 3,
            ballot_index=np.zeros(0, dtype=np.int32),
            first_answer=np.zeros(0, dtype=np.int64),
            counts=np.array(credited),
        )
    )


def test_beyond_twenty_thousand_answers_redraws_at_random_stand_in():
    found = label_permutation(Redraws(many(6_900, 6_900, 7_200)), PAIRS[1])
    # Under the null the lead has variance 2/3 for each answer.
    tail = 2 * stats.norm.sf(abs(found.lead) / (21_000 * 2 / 3) ** 0.5)
    assert (found.lead, found.method) == (300, "Monte Carlo")
    assert found.p == pytest.approx(tail, abs=0.015)


def test_a_thousand_answers_alike_have_a_p_above_zero():
    found = label_permutation(Redraws(many(0, 0, 1_000)), PAIRS[0])
    assert 0 < found.p < 1e-300


def test_identical_orders_give_both_of_them_the_others_blind_ticks():
    blind = [ticked(f"P{n}", 2, 1 + n % 3) for n in range(30)]
    found = {str(pair): label_permutation(Redraws(credits_of(blind, TINY)), pair) for pair in PAIRS}
    assert found["MNRO-NMRR"].null_mean == pytest.approx(30 * (2 / 3 - 1 / 3))
    assert found["NMRR-AP"].null_mean == pytest.approx(-10)
    assert found["MNRO-AP"].null_mean == 0
    assert found["MNRO-AP"].p == 1
