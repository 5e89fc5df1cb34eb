"""Leads of runs: counted by hand, tested as means of their own, covered, and in sentences."""

from itertools import combinations

import numpy as np
import pytest
import scipy
import statsmodels.api

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.differences import T2
from survey.core.agreement.run_leads import run_leads
from survey.core.agreement.verdicts import decide
from tests.core.agreement.test_run_strengths import PAIRS, RUNS, a_study, counted_answers

SIDES = {1: ("alpha", "beta"), 2: ("beta", "alpha"), 3: ("alpha", "gamma")}
ANSWERS = [
    *(("P1", 1, 1), ("P1", 2, 1), ("P1", 3, 0)),
    *(("P2", 1, 1), ("P2", 2, -1), ("P2", 3, -1)),
    *(("P3", 1, 0), ("P3", 2, -1), ("P3", 3, -1)),
]


def test_a_lead_counts_answers_for_either_run_and_those_for_none_as_0():
    found = run_leads(ANSWERS, SIDES, RUNS, {})
    assert [tuple(each.pair) for each in found.pairs] == [("alpha", "beta"), ("alpha", "gamma")]
    first, second = found.pairs
    assert (first.wins, first.losses, first.neither) == (4, 1, 1)
    assert first.tests.mean == pytest.approx((4 - 1) / 6)
    assert (second.wins, second.losses, second.neither) == (0, 2, 1)
    assert second.tests.mean == pytest.approx(-2 / 3)
    assert second.ahead == ("gamma", "alpha")
    assert second.shares_text == "Of 100 answers 67 prefer gamma, 0 alpha, 33 no list."
    assert found.sampled == 3


def test_shares_of_100_answers_add_up_to_100():
    sides = {1: ("alpha", "beta")}
    for counts in [(1, 1, 1), (2, 2, 3), (5, 1, 1), (1, 0, 0)]:
        signs = np.repeat([1, -1, 0], counts).tolist()
        answers = [(f"P{who}", 1, sign) for who, sign in enumerate(signs)]
        [lead] = run_leads(answers, sides, RUNS, {}).pairs
        assert sum(lead.of_100_answers) == 100


@pytest.mark.parametrize("seed", range(3))
def test_lists_turned_round_and_runs_in_another_order_change_nothing(seed):
    answers, sides, topics = a_study(np.random.default_rng(seed))
    found = run_leads(answers, sides, RUNS, topics)
    turned = run_leads(
        [(who, number, -sign) for who, number, sign in answers],
        {number: pair[::-1] for number, pair in sides.items()},
        RUNS[::-1],
        topics,
    )
    of_pair = {frozenset(each.pair): each for each in turned.pairs}
    for each in found.pairs:
        other = of_pair[frozenset(each.pair)]
        assert other.tests.mean == pytest.approx(-each.tests.mean)
        for scope in ("kind", "these"):
            test, of_turned = getattr(each.tests, scope), getattr(other.tests, scope)
            assert of_turned.p == pytest.approx(test.p)
            low, high = test.ci95_simultaneous
            assert of_turned.ci95_simultaneous == pytest.approx((-high, -low))


def test_the_test_for_these_topics_is_that_of_another_library():
    """With one answer of each person to each question: OLS by person, as statsmodels has it."""
    answers, sides, topics = a_study(np.random.default_rng(1), people=12)
    found = run_leads(answers, sides, RUNS, topics)
    for each in found.pairs:
        of_pair = [(who, sign) for who, number, sign in answers if sides[number] == each.pair]
        if not of_pair:
            of_pair = [(w, -s) for w, n, s in answers if sides[n] == tuple(each.pair)[::-1]]
        means = np.array(
            [
                np.mean([sign for who, sign in of_pair if who == person])
                for person in {who for who, _ in of_pair}
            ]
        )
        fitted = statsmodels.api.OLS(means, np.ones(len(means))).fit()
        critical = scipy.stats.t.ppf(1 - 0.025 / 3, len(means) - 1)
        assert each.tests.these.p == pytest.approx(min(1, 3 * max(fitted.pvalues[0], 2**-11)))
        low, high = each.tests.these.ci95_simultaneous
        assert (low, high) == pytest.approx(
            (means.mean() - critical * fitted.bse[0], means.mean() + critical * fitted.bse[0])
        )


@pytest.mark.parametrize("seed", range(8))
def test_interval_p_and_verdict_are_of_one_test(seed):
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 0.6, 3)
    answers, sides, topics = a_study(rng, people=14, topics=12, strengths=strengths)
    found = run_leads(answers, sides, RUNS, topics)
    for each in found.pairs:
        for test in (each.tests.kind, each.tests.these):
            low, high = test.ci95_simultaneous
            assert (test.p < 0.05) == (not low <= 0 <= high)
        verdict = each.verdict(found.sampled)
        assert (verdict.scope == "kind") == (each.tests.kind.p < 0.05)
        row = each.row(found.sampled, "topics", 0.05)
        low, high = row.interval
        assert (row.verdict.scope in ("kind", "these")) == (not low <= 0 <= high)


def studies(number, seed, people, topics, strengths, **more):
    """Leads of some studies in which the pairs of runs have these true strengths."""
    for count in range(number):
        rng = np.random.default_rng(1000 * seed + count)
        answers, sides, of_topic = a_study(rng, people, topics, strengths, **more)
        yield run_leads(answers, sides, RUNS, of_topic)


def check_equal_runs(number, people, topics, most):
    told_apart = 0
    for found in studies(number, 1, people, topics, (0, 0, 0), spread=0.7):
        scopes = [decision.scope for each in found.pairs if (decision := decide(each.tests))]
        told_apart += "kind" in scopes
    assert told_apart <= most * number


def check_coverage(number, people, topics, least):
    """The true lead of alpha over gamma is 0 by symmetry: all three intervals hold it at once."""
    held = 0
    for found in studies(number, 2, people, topics, (0, 0, 0), spread=0.7):
        ends = [each.tests.kind.ci95_simultaneous for each in found.pairs]
        held += all(low <= 0 <= high for low, high in ends)
    assert held >= least * number


def test_intervals_hold_the_true_leads_together():
    check_coverage(40, 10, 8, 0.85)


@pytest.mark.slow
def test_runs_that_are_alike_are_seldom_told_apart_for_topics_of_their_kind():
    check_equal_runs(600, 10, 8, 0.075)
    check_coverage(600, 20, 20, 0.925)


def test_a_true_lead_is_in_its_interval_and_found():
    rate = 0.7
    held = found_it = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        answers, sides = [], dict.fromkeys(range(1, 21), ("alpha", "beta"))
        for number in sides:
            answers += [
                (f"P{who:02}", number, 1 if rng.random() < rate else -1) for who in range(12)
            ]
        [lead] = run_leads(answers, sides, RUNS, {}).pairs
        low, high = lead.tests.kind.ci95_simultaneous
        held += low <= 2 * rate - 1 <= high
        found_it += lead.verdict(20, "questions").scope == "kind"
    assert held >= 17
    assert found_it >= 18


def test_a_circle_of_runs_has_no_best():
    circle = {("alpha", "beta"): 0.8, ("beta", "gamma"): 0.8, ("gamma", "alpha"): 0.8}
    assert run_leads(*counted_answers(circle)).circle() == (("alpha", "beta", "gamma"), "kind")
    assert run_leads(*counted_answers(dict.fromkeys(PAIRS, 0.8))).circle() is None
    few = run_leads(*counted_answers(circle, topics=5))  # nothing can be said of their kind
    assert few.circle() == (("alpha", "beta", "gamma"), "these")


def test_runs_are_equally_good_only_where_that_is_planned_and_shown():
    even = dict.fromkeys(PAIRS, 0.5)
    answers = counted_answers(even, people=60, topics=40)
    assert {each.equality for each in run_leads(*answers).pairs} == {None}
    found = run_leads(*answers, 0.15)
    for each in found.pairs:
        verdict = each.verdict(found.sampled)
        assert (verdict.scope, verdict.population) == ("equal", T2)
        assert "equally good, to within 15 points: the lead, " in verdict.sentence
    few = run_leads(*counted_answers(even, people=8, topics=8), 0.15)
    assert {each.verdict(few.sampled).scope for each in few.pairs} == {"none"}


def test_five_topics_decide_nothing_of_their_kind_though_there_are_fifteen_questions():
    rng = np.random.default_rng(8)
    answers, sides, topics = a_study(rng, people=30, topics=5, strengths=(2, 0, -2), spread=0)
    found = run_leads(answers, sides, RUNS, topics)
    assert [each.tests.kind.p >= 2**-4 for each in found.pairs] == [True] * 3
    assert [each.verdict(found.sampled).scope for each in found.pairs] == ["these"] * 3


def test_where_one_run_always_wins_there_is_a_verdict_without_an_interval():
    sides = dict.fromkeys(range(1, 9), ("alpha", "beta"))
    answers = [(f"P{who}", number, 1) for who in range(8) for number in sides]
    [lead] = run_leads(answers, sides, RUNS, {}).pairs
    assert lead.interval("kind") is None
    assert lead.verdict(8, "questions").sentence == (
        "For questions of this kind, people prefer alpha to beta by 100.0 points of the answers. "
        "All participants have the same mean, so there is no interval; by the signs of "
        "participants and questions p = .008, the only comparison. Of 64 answers 64 prefer alpha, "
        "0 beta, 0 no list."
    )


def test_a_verdict_has_the_numbers_of_its_pair():
    strengths = (-1.0, 0.0, 1.0)
    answers, sides, topics = a_study(np.random.default_rng(9), 20, 10, strengths)
    found = run_leads(answers, sides, RUNS, topics)
    lead = found.pairs[1]
    verdict = lead.verdict(found.sampled)
    low, high = (round(-100 * end, 1) for end in lead.tests.kind.ci95_simultaneous[::-1])
    assert (verdict.scope, verdict.preferred) == ("kind", "gamma")
    assert verdict.sentence.startswith(
        f"For topics of this kind, people prefer gamma to alpha by {-100 * lead.tests.mean:.1f} "
        f"points of the answers (95 % interval {low} to {high}; p = "
    )
    assert verdict.sentence.endswith(
        f"Of {lead.answers} answers {lead.wins} prefer alpha, {lead.losses} gamma, {lead.neither} "
        "no list."
    )


def test_each_pair_is_tested_by_its_own_answers():
    """A third run changes only for how many pairs p is corrected."""
    answers, sides, topics = a_study(np.random.default_rng(3))
    found = run_leads(answers, sides, RUNS, topics)
    for pair in combinations(RUNS, 2):
        own = {number: both for number, both in sides.items() if {*both} == {*pair}}
        alone = run_leads([each for each in answers if each[1] in own], own, RUNS, topics)
        [of_all] = [each.tests for each in found.pairs if {*each.pair} == {*pair}]
        [single] = [each.tests for each in alone.pairs]
        assert isinstance(single, MeanTests)
        assert of_all.components.p == pytest.approx(single.components.p)
        assert of_all.these.p == pytest.approx(min(1, 3 * single.these.p))
