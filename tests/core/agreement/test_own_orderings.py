"""Where people only order the lists: agreement with the measures' orders, and what it supports."""

import numpy as np
import pytest
import scipy

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.answers import Response
from survey.core.agreement.credits import tally_credits
from survey.core.agreement.own_orderings import own_orderings_of
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import (
    MEASURES,
    ballots_of,
    of_each,
    random_rankings,
    weak_order,
)

QUESTIONS = 8


def orderings(rng, rankings, people, near=0.0, measure="MNRO"):
    """Own orderings: with chance ``near`` that of a measure, else a random one."""
    return [
        Response(
            f"P{person:03}",
            question,
            MEASURES,
            own=orders[measure] if rng.random() < near else weak_order(rng, 5),
        )
        for person in range(people)
        for question, orders in rankings.items()
    ]


def places(ranking):
    return [ranking.places[letter] for letter in "ABCDE"]


def test_the_differences_are_those_of_scipys_tau_b():
    rng = np.random.default_rng(1)
    rankings = random_rankings(rng, QUESTIONS)
    responses = orderings(rng, rankings, 10, near=0.4)
    found = own_orderings_of(ballots_of(responses, rankings)).differences
    for each in found[:3]:
        taus = [
            [
                scipy.stats.kendalltau(places(one.own), places(rankings[one.question][name]))[0]
                for name in (each.pair.first, each.pair.second)
            ]
            for one in responses
        ]
        known = np.array([of for of in taus if not np.isnan(of).any()])
        assert each.responses == len(known)
        assert (each.first, each.second) == pytest.approx(known.mean(axis=0), abs=1e-4)
        assert each.tests.mean == pytest.approx(-np.diff(known).mean(), abs=1e-4)
    assert [each.statistic for each in found] == ["tau_b"] * 3 + ["agreement_rate"] * 3


def test_the_tests_are_those_of_votes():
    rng = np.random.default_rng(2)
    rankings = random_rankings(rng, QUESTIONS)
    ballots = ballots_of(orderings(rng, rankings, 10, near=0.4), rankings)
    credits, each = tally_credits(ballots), own_orderings_of(ballots).differences[3]
    rates = np.array(
        [
            [
                np.mean(
                    [
                        np.sign(own[a] - own[b]) == np.sign(order[a] - order[b])
                        for a in range(5)
                        for b in range(a)
                    ]
                )
                for order in (places(rankings[question][name]) for name in ("MNRO", "NMRR"))
            ]
            for question, own in zip(
                ballots.questions.tolist(), map(places, ballots.owns), strict=True
            )
        ]
    )
    tests = MeanTests.of(rates[:, 0] - rates[:, 1], credits)
    assert each.tests.mean == pytest.approx(tests.mean)
    assert each.tests.components.ci95 == pytest.approx(tests.components.ci95)
    assert each.tests.participants.p == pytest.approx(tests.participants.p)
    assert of_each(credits, rates)[0].shape == (len(credits), 2)


def test_whom_people_follow_is_found_and_random_orderings_favour_none():
    rng = np.random.default_rng(3)
    rankings = random_rankings(rng, 10, identical=0)
    found = own_orderings_of(ballots_of(orderings(rng, rankings, 30, near=0.7), rankings))
    verdicts = found.verdicts(10)
    assert [(one.scope, one.preferred) for one in verdicts[:2]] == [("kind", "MNRO")] * 2
    assert verdicts[0].sentence.startswith(
        "For questions of this kind, people's own orderings are nearer to MNRO's orders than to "
        "NMRR's: mean tau-b 0."
    )
    assert "corrected for 3 comparisons)." in verdicts[0].sentence
    assert all(one.scope == "none" for one in found.verdicts(10, level=0.0))
    blind = own_orderings_of(ballots_of(orderings(rng, rankings, 30), rankings)).verdicts(10)
    assert {one.preferred for one in blind} == {None}
    assert "People's own orderings do not decide between MNRO and NMRR" in blind[0].sentence


def test_people_who_all_order_alike_decide():
    rankings = random_rankings(np.random.default_rng(3), 10, identical=0)
    responses = [
        Response(f"P{person}", question, MEASURES, own=orders["MNRO"])
        for person in range(8)
        for question, orders in rankings.items()
    ]
    verdicts = own_orderings_of(ballots_of(responses, rankings)).verdicts(10)
    assert [(one.scope, one.preferred) for one in verdicts[:2]] == [("kind", "MNRO")] * 2


def test_measures_with_the_same_orders_differ_by_0_without_an_interval():
    rankings = {
        number: orders | {"NMRR": orders["MNRO"]}
        for number, orders in random_rankings(np.random.default_rng(3), 10, identical=0).items()
    }
    responses = orderings(np.random.default_rng(1), rankings, 10)
    sentence = own_orderings_of(ballots_of(responses, rankings)).verdicts(10)[0].sentence
    assert sentence.endswith(
        "; the difference is 0.000, and it has no interval: all participants have the same mean."
    )


@pytest.mark.slow
def test_ties_of_a_measure_give_no_lead_to_one_that_breaks_them():
    """Among random strict orders, which votes for columns would turn into a preference."""
    rng, means = np.random.default_rng(4), []
    tied = Ranking.by_key(dict(zip("ABCDE", [1, 1, 1, 2, 2], strict=True)))
    strict = Ranking.by_key(dict(zip("ABCDE", range(5), strict=True)))
    rankings = {number: {"AP": tied, "NMRR": tied, "MNRO": strict} for number in range(1, 6)}
    for _ in range(40):
        responses = [
            Response(
                f"P{person}",
                question,
                MEASURES,
                own=Ranking.by_key(dict(zip("ABCDE", rng.permutation(5).tolist(), strict=True))),
            )
            for person in range(20)
            for question in rankings
        ]
        of_pair = own_orderings_of(ballots_of(responses, rankings)).differences[0]
        means.append(of_pair.tests.mean)
    assert abs(np.mean(means)) < 3.3 * np.std(means) / len(means) ** 0.5


def test_where_all_orderings_tie_everything_nothing_can_be_compared():
    rankings = random_rankings(np.random.default_rng(5), 2)
    flat = Ranking.by_key(dict.fromkeys("ABCDE", 1))
    responses = [
        Response(f"P{n}", question, MEASURES, own=flat) for n in (1, 2) for question in (1, 2)
    ]
    verdicts = own_orderings_of(ballots_of(responses, rankings)).verdicts(2)
    assert verdicts[0].sentence == (
        "MNRO − NMRR cannot be compared: tau-b is defined in no ordering."
    )
