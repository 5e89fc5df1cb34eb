"""Anchoring: the agreement of people who saw the columns first, later, or never."""

import numpy as np
import pytest
import scipy
from statsmodels.stats.multitest import multipletests

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
from survey.core.agreement.credits import tally_values
from survey.core.agreement.differences import BallotSums, components, t_by_participants
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import MEASURES

QUESTIONS = 6


def strict_order(rng):
    """An order without ties, with which tau-b is defined."""
    return Ranking.by_key(dict(zip("ABCDE", rng.permutation(5).tolist(), strict=True)))


def strict_rankings(rng, questions):
    """Question → measure → order."""
    return {
        number: {name: strict_order(rng) for name in MEASURES} for number in range(1, questions + 1)
    }


def orderings(rng, rankings, people, anchor, name="P"):
    """Own orderings of people: with chance ``anchor`` that of a measure, else a random one."""
    return [
        Response(
            f"{name}{person:03}",
            question,
            MEASURES,
            own=rankings[question][str(rng.choice(MEASURES))]
            if rng.random() < anchor
            else strict_order(rng),
        )
        for person in range(people)
        for question in rankings
    ]


def tau_b(first, second):
    x, y = ([places[letter] for letter in "ABCDE"] for places in (first.places, second.places))
    return scipy.stats.kendalltau(x, y).statistic


def table_of(responses, rankings, measure):
    """By scipy alone: (participant, question) → tau-b with a measure, or with the nearest one."""
    table = {}
    for each in responses:
        taus = [tau_b(each.own, rankings[each.question][name]) for name in MEASURES]
        known = [tau for tau in taus if not np.isnan(tau)]
        of_measure = known if measure == NEAREST else [taus[MEASURES.index(measure)]]
        if known and not np.isnan(max(of_measure)):
            table[each.participant, each.question] = max(of_measure)
    return table


def difference(found, first, second, measure, statistic="tau_b"):
    [each] = [
        each
        for each in found.differences
        if (each.first, each.second, each.measure, each.statistic)
        == (first, second, measure, statistic)
    ]
    return each


def squared(table, people):
    """A table as an array (participants, questions)."""
    return np.array([[table[who, number] for number in range(1, QUESTIONS + 1)] for who in people])


@pytest.mark.parametrize("measure", [*MEASURES, NEAREST])
def test_differences_between_arms_are_over_participants_and_questions(measure):
    rng = np.random.default_rng(7)
    rankings = strict_rankings(rng, QUESTIONS)
    before = orderings(rng, rankings, 9, anchor=0.8, name="B")
    never = orderings(rng, rankings, 12, anchor=0, name="N")
    found = anchoring_of(
        {(BEFORE, ANSWER): Answers.of(before), (NEVER, ANSWER): Answers.of(never)},
        rankings,
        MEASURES,
    )
    arms = [
        squared(table_of(each, rankings, measure), sorted({one.participant for one in each}))
        for each in (before, never)
    ]
    x, y = (arm.mean(axis=1) for arm in arms)
    welch = scipy.stats.ttest_ind(x, y, equal_var=False)
    people = (x.var(ddof=1) / 9 + y.var(ddof=1) / 12, welch.df)
    questions = (arms[0].mean(axis=0) - arms[1].mean(axis=0)).var(ddof=1) / QUESTIONS
    noise = 0.0
    for arm in arms:
        rest = arm - arm.mean(axis=0) - arm.mean(axis=1, keepdims=True) + arm.mean()
        noise += (rest**2).sum() / (len(arm) - 1) / (QUESTIONS - 1) / arm.size
    variance = people[0] + max(0, questions - noise)
    df = variance**2 / (people[0] ** 2 / people[1] + questions**2 / (QUESTIONS - 1))
    df = max(df, min(people[1], QUESTIONS - 1))
    each = difference(found, (BEFORE, ANSWER), (NEVER, ANSWER), measure)
    mean, se = x.mean() - y.mean(), np.sqrt(variance)
    assert (each.mean, each.se, each.df) == pytest.approx((mean, se, df))
    assert each.p == pytest.approx(2 * scipy.stats.t.sf(abs(mean) / se, df))
    assert each.ci95 == pytest.approx(scipy.stats.t.interval(0.95, df, mean, se))
    assert [arm.tau_b[measure] for arm in found.arms] == pytest.approx([x.mean(), y.mean()])
    assert [(arm.participants, arm.responses) for arm in found.arms] == [(9, 54), (12, 72)]


def test_p_is_corrected_for_the_differences_of_a_statistic():
    rng = np.random.default_rng(11)
    rankings = strict_rankings(rng, QUESTIONS)
    groups = {
        key: Answers.of(orderings(rng, rankings, 9, anchor, name))
        for key, anchor, name in (
            ((BEFORE, ANSWER), 0.5, "B"),
            ((AFTER, FIRST), 0, "A"),
            ((AFTER, ANSWER), 0.3, "A"),
            ((NEVER, ANSWER), 0, "N"),
        )
    }
    found = anchoring_of(groups, rankings, MEASURES).differences
    for statistic in ("tau_b", "agreement_rate"):
        rows = [each for each in found if each.statistic == statistic]
        assert len(rows) == 5 * 4
        holm = multipletests([each.p for each in rows], method="holm")[1]
        least = 2.0 ** (1 - QUESTIONS)  # that so few questions can show
        assert [each.p_holm for each in rows] == pytest.approx(np.maximum(holm, least))
        for each in rows:
            assert (each.p < 0.05) == (each.ci95[0] > 0 or each.ci95[1] < 0)


def test_within_an_arm_the_differences_are_tested_by_their_components():
    rng = np.random.default_rng(8)
    rankings = strict_rankings(rng, QUESTIONS)
    first = orderings(rng, rankings, 10, anchor=0)
    answers = by_person(
        each
        for number, orders in rankings.items()
        for each in orderings(rng, {number: orders}, 10, anchor=0.9 * (number > 2))
    )
    found = anchoring_of(
        {(AFTER, ANSWER): Answers.of(answers), (AFTER, FIRST): Answers.of(first)},
        rankings,
        MEASURES,
    )
    x, y = (table_of(each, rankings, NEAREST) for each in (answers, first))
    credits, d = tally_values([(*key, x[key] - y[key]) for key in x], ())
    spread = BallotSums.of(np.array(d), credits)
    expected = components(spread, t_by_participants(spread))
    each = difference(found, (AFTER, ANSWER), (AFTER, FIRST), NEAREST)
    assert expected.question > 0
    assert (each.mean, each.se) == pytest.approx((expected.mean, expected.se))
    assert each.mean > 0.1


@pytest.mark.parametrize(("people", "effect"), [((10, 10), 0), ((6, 18), 0), ((15, 15), 0.5)])
def test_without_an_anchor_few_differences_are_significant(people, effect):
    """In a share of the questions people hold a measure's order of their own accord, in all arms.

    In which, and how much seeing does there, are drawn for each study.
    """
    rng, studies, significant = np.random.default_rng(9), 200, 0
    for _ in range(studies):
        rankings = strict_rankings(rng, 8)
        parts = [[], []]
        for number, orders in rankings.items():
            held = rng.random() * 0.5
            for part, size, name in zip(parts, people, "BN", strict=True):
                more = effect * (name == "B")
                part += orderings(rng, {number: orders}, size, min(1, held + more), name)
        groups = dict(
            zip(
                [(BEFORE, ANSWER), (NEVER, ANSWER)],
                map(Answers.of, map(by_person, parts)),
                strict=True,
            )
        )
        found = anchoring_of(groups, rankings, MEASURES)
        significant += difference(found, (BEFORE, ANSWER), (NEVER, ANSWER), NEAREST).p < 0.05
    assert significant >= 0.9 * studies if effect else significant <= 0.065 * studies


def by_person(responses):
    return sorted(responses, key=lambda each: (each.participant, each.question))


def test_where_seeing_does_much_in_some_questions_only_it_is_not_of_the_kind():
    rng = np.random.default_rng(10)
    rankings = strict_rankings(rng, 8)
    seen = [
        each
        for number, orders in rankings.items()
        for each in orderings(rng, {number: orders}, 40, 1.0 if number < 3 else 0.0, "B")
    ]
    never = orderings(rng, rankings, 40, 0, "N")
    groups = {(BEFORE, ANSWER): Answers.of(by_person(seen)), (NEVER, ANSWER): Answers.of(never)}
    each = difference(
        anchoring_of(groups, rankings, MEASURES), (BEFORE, ANSWER), (NEVER, ANSWER), NEAREST
    )
    x, y = (
        [np.mean([v for (who, _), v in table.items() if who == one]) for one in people]
        for table in (table_of(part, rankings, NEAREST) for part in (seen, never))
        for people in [sorted({who for who, _ in table})]
    )
    assert scipy.stats.ttest_ind(x, y, equal_var=False).pvalue < 0.001
    assert each.p > 0.05


def test_what_cannot_be_tested_says_why():
    rankings = strict_rankings(np.random.default_rng(1), 2)
    own = Ranking.parse("A>B>C>D>E")

    def answers_of(people, questions=(1, 2)):
        return Answers.of(
            Response(who, number, MEASURES, own=own) for who in people for number in questions
        )

    two, others = answers_of(["P2", "P3"]), answers_of(["P4", "P5"])
    nearest = (BEFORE, ANSWER), (NEVER, ANSWER), NEAREST

    def tested(first, second):
        groups = {(BEFORE, ANSWER): first, (NEVER, ANSWER): second}
        return difference(anchoring_of(groups, rankings, MEASURES), *nearest)

    each = tested(answers_of(["P1"]), two)
    assert (each.mean, each.p, each.p_holm) == (None, None, None)
    assert each.why == "a test needs two participants on each side"
    each = tested(answers_of(["P2", "P3"], [1]), answers_of(["P4", "P5"], [1]))
    assert (each.mean, each.why) == (0.0, "a test needs two questions that both sides answered")
    assert tested(answers_of(["P2", "P3"], [1]), answers_of(["P4", "P5"], [2])).why == each.why
    each = tested(two, others)
    assert (each.mean, each.why) == (0.0, "all participants have the same mean")
    found = anchoring_of({(AFTER, FIRST): two, (AFTER, ANSWER): two}, rankings, MEASURES)
    each = difference(found, (AFTER, ANSWER), (AFTER, FIRST), NEAREST)
    assert (each.mean, each.why) == (0.0, "all participants have the same difference")
    empty = anchoring_of({(NEVER, ANSWER): Answers.of([])}, rankings, MEASURES)
    assert empty.arms[0].tau_b[NEAREST] is None
