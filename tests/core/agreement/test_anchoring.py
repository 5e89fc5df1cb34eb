"""Anchoring: the agreement of people who saw the columns first, later, or never."""

import numpy as np
import pytest
import scipy

from survey.core.agreement.anchoring import (
    AFTER,
    ANSWER,
    BEFORE,
    FIRST,
    NEAREST,
    NEVER,
    anchoring_of,
)
from survey.core.agreement.answers import Answers, Response
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import MEASURES, random_rankings, weak_order

QUESTIONS = 6


def orderings(rng, rankings, people, anchor, name="P"):
    """Own orderings of people: with chance ``anchor`` that of a measure, else a random one."""
    return [
        Response(
            f"{name}{person:03}",
            question,
            MEASURES,
            own=rankings[question][str(rng.choice(MEASURES))]
            if rng.random() < anchor
            else weak_order(rng, 5),
        )
        for person in range(people)
        for question in rankings
    ]


def tau_b(first, second):
    x, y = ([places[letter] for letter in "ABCDE"] for places in (first.places, second.places))
    return scipy.stats.kendalltau(x, y).statistic


def means_of(responses, rankings, measure):
    """Each participant's mean tau-b with a measure, or with the nearest one, by scipy alone."""
    by_person = {}
    for each in responses:
        taus = [tau_b(each.own, rankings[each.question][name]) for name in MEASURES]
        known = [tau for tau in taus if not np.isnan(tau)]
        of_measure = known if measure == NEAREST else [taus[MEASURES.index(measure)]]
        if known and not np.isnan(max(of_measure)):
            by_person.setdefault(each.participant, []).append(max(of_measure))
    return np.array([np.mean(values) for values in by_person.values()])


def difference(found, first, second, measure, statistic="tau_b"):
    [each] = [
        each
        for each in found.differences
        if (each.first, each.second, each.measure, each.statistic)
        == (first, second, measure, statistic)
    ]
    return each


@pytest.mark.parametrize("measure", [*MEASURES, NEAREST])
def test_differences_between_arms_are_those_of_scipy(measure):
    rng = np.random.default_rng(7)
    rankings = random_rankings(rng, QUESTIONS, identical=0)
    before = orderings(rng, rankings, 9, anchor=0.8, name="B")
    never = orderings(rng, rankings, 12, anchor=0, name="N")
    found = anchoring_of(
        {(BEFORE, ANSWER): Answers.of(before), (NEVER, ANSWER): Answers.of(never)},
        rankings,
        MEASURES,
    )
    x, y = (means_of(each, rankings, measure) for each in (before, never))
    expected = scipy.stats.ttest_ind(x, y, equal_var=False)
    each = difference(found, (BEFORE, ANSWER), (NEVER, ANSWER), measure)
    assert (each.mean, each.p, each.df) == pytest.approx(
        (x.mean() - y.mean(), expected.pvalue, expected.df)
    )
    assert each.ci95 == pytest.approx(tuple(expected.confidence_interval()))
    assert [arm.tau_b[measure] for arm in found.arms] == pytest.approx([x.mean(), y.mean()])
    assert [(arm.participants, arm.responses) for arm in found.arms] == [(9, 54), (12, 72)]


def test_within_an_arm_the_difference_is_paired():
    rng = np.random.default_rng(8)
    rankings = random_rankings(rng, QUESTIONS, identical=0)
    first = orderings(rng, rankings, 10, anchor=0)
    answers = orderings(rng, rankings, 10, anchor=0.7)
    found = anchoring_of(
        {(AFTER, ANSWER): Answers.of(answers), (AFTER, FIRST): Answers.of(first)},
        rankings,
        MEASURES,
    )
    x, y = (means_of(each, rankings, NEAREST) for each in (answers, first))
    each = difference(found, (AFTER, ANSWER), (AFTER, FIRST), NEAREST)
    assert each.p == pytest.approx(scipy.stats.ttest_rel(x, y).pvalue)
    assert each.mean > 0.1


@pytest.mark.slow
def test_without_an_anchor_few_differences_are_significant():
    rng = np.random.default_rng(9)
    p_values = []
    for _ in range(150):
        rankings = random_rankings(rng, 4, identical=0)
        groups = {
            (BEFORE, ANSWER): Answers.of(orderings(rng, rankings, 10, 0, "B")),
            (NEVER, ANSWER): Answers.of(orderings(rng, rankings, 10, 0, "N")),
        }
        found = anchoring_of(groups, rankings, MEASURES)
        p_values.append(difference(found, (BEFORE, ANSWER), (NEVER, ANSWER), NEAREST).p)
    # 5 % of 150 are 7.5; more than 16 come up in fewer than one of 500 such tests.
    assert sum(p < 0.05 for p in p_values) <= 16


def test_what_cannot_be_tested_says_why():
    rankings = random_rankings(np.random.default_rng(1), 2)
    own = Ranking.parse("A>B>C>D>E")
    alone = Answers.of([Response("P1", 1, MEASURES, own=own)])
    two = Answers.of(Response(person, 1, MEASURES, own=own) for person in ("P2", "P3"))
    found = anchoring_of({(BEFORE, ANSWER): alone, (NEVER, ANSWER): two}, rankings, MEASURES)
    each = difference(found, (BEFORE, ANSWER), (NEVER, ANSWER), NEAREST)
    assert (each.mean, each.p, each.why) == (
        *(None, None),
        "a test needs two participants on each side",
    )
    found = anchoring_of({(BEFORE, ANSWER): two, (NEVER, ANSWER): two}, rankings, MEASURES)
    each = difference(found, (BEFORE, ANSWER), (NEVER, ANSWER), NEAREST)
    assert (each.mean, each.why) == (0.0, "all participants have the same mean")
    found = anchoring_of({(AFTER, FIRST): two, (AFTER, ANSWER): two}, rankings, MEASURES)
    each = difference(found, (AFTER, ANSWER), (AFTER, FIRST), NEAREST)
    assert (each.mean, each.why) == (0.0, "all participants have the same difference")
    empty = anchoring_of({(NEVER, ANSWER): Answers.of([])}, rankings, MEASURES)
    assert empty.arms[0].tau_b[NEAREST] is None
