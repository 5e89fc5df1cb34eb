"""Simulated power: the model, the test in it, and what they say of known designs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from survey.core.agreement.agreement import compare_measures
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.differences import T2, Pair, pairs
from survey.core.agreement.label_permutation import Redraws
from survey.core.agreement.power_model import (
    RANDOM_BALANCED,
    RANDOM_TYPES,
    PlannedStudy,
    PowerVerdict,
    QuestionType,
    chunks,
    count_question_types,
    deal,
    decided_share,
    distinct_types,
    draw_leanings,
    estimated_shares,
    pick,
    smallest_lead,
    sum_power,
    tally,
)
from survey.core.agreement.verdicts import verdict
from survey.core.measures import Setting
from survey.core.statistics.rater_agreement import wilson
from survey.core.studies.generators import GENERATORS
from survey.core.studies.rankings import CONTRADICTING, Ranking, contradictions, is_balanced
from tests.core.agreement.simulated_studies import (
    FIRST,
    MEASURES,
    SECOND,
    questions_of,
    verdicts_of,
)

OWN = Ranking.parse("A>B=C")


def chance(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def simulated(study, replicates, seed=1):
    return sum_power(study, [tally(chunk, seed)[0] for chunk in chunks((study,), replicates)])


def answers(study, replicates):
    """Who answers which question, and what they pick: (measures, answers, replicates)."""
    table = deal(study, replicates, chance())
    leanings = draw_leanings(study, replicates, chance(2))
    drawn = chance(3).random((len(table.questions), replicates), dtype=np.float32)
    return table, pick(study, table, leanings, drawn)


def analysed(table, picked, *, primary=False):
    """The analysis' own results of each replicate, for the first pair, the primary one or not."""
    names = [*"XYZ"][: len(picked)]
    for index in range(picked.shape[2]):
        column = min(index, table.orders.shape[2] - 1)
        of_questions = table.orders[:, :, column].T
        known = [Ranking.parse(text) for text in ("A>B>C", "B>A>C", "C>A>B")]
        rankings = {
            number: dict(zip(names, (known[place] for place in orders), strict=True))
            for number, orders in enumerate(of_questions.tolist())
        }
        responses = [
            Response(
                f"p{participant:03}",
                question,
                tuple(names),
                frozenset({1 + int(picks.argmax())} if picks.any() else ()),
                None if picks.any() else OWN,
            )
            for participant, question, picks in zip(
                table.participants.tolist(),
                table.questions.tolist(),
                picked[:, :, index].T,
                strict=True,
            )
        ]
        ballots = Ballots.of(Answers.of(responses), rankings, names[::-1])
        first = pairs(names[::-1])[0] if primary else None
        results = compare_measures(Redraws(tally_credits(ballots)), 0.2, first)
        yield results[0], verdict(results[0], len(rankings))


SMALL = {
    "all": PlannedStudy(30, 10, 10, 0.25),
    "pool": PlannedStudy(20, 6, 15, 0.25, random_clickers=0.2),
    "unbalanced": PlannedStudy(24, 8, 12, 0.3, dropouts=0.4, between_participants=0.2),
    "two measures": PlannedStudy(12, 6, 6, 0.3, question_types=distinct_types(2)),
    "identical orders": PlannedStudy(
        40,
        8,
        8,
        0.3,
        question_types=tuple(
            (kind._replace(contrast=CONTRADICTING), n) for kind, n in RANDOM_TYPES
        ),
    ),
}


@pytest.mark.parametrize("study", SMALL.values(), ids=SMALL)
def test_each_replicate_has_the_tests_and_the_verdict_of_the_analysis(study):
    table, picked = answers(study, 12)
    outcome = PowerVerdict.of(table, picked)
    of_kind = 0
    for index, (difference, found) in enumerate(analysed(table, picked)):
        tests = outcome.tests
        assert tests.mean[0, index] == pytest.approx(difference.mean, abs=1e-9)
        assert tests.se[0, index] == pytest.approx(difference.components.se, rel=1e-6)
        assert tests.df[0, index] == pytest.approx(difference.components.df, rel=1e-6)
        assert tests.se_these[0, index] == pytest.approx(difference.participants.se, rel=1e-6)
        low, high = difference.components.ci95
        assert outcome.half_width[index] == pytest.approx((high - low) / 2, rel=1e-6)
        assert outcome.preferred[index] == (found.scope == "kind")
        assert outcome.decided[index] == (found.scope in ("kind", "these"))
        of_kind += found.scope == "kind"
        equal = found.scope == "equal" and found.population == T2
        assert outcome.equal_within(0.2)[index] == equal
    assert of_kind > 0


def test_a_primary_pair_is_decided_as_in_the_analysis():
    table, picked = answers(SMALL["all"], 60)
    outcome = PowerVerdict.of(table, picked, primary=True)
    verdicts = [found for _, found in analysed(table, picked, primary=True)]
    assert outcome.preferred.tolist() == [found.scope == "kind" for found in verdicts]
    assert outcome.decided.tolist() == [found.scope in ("kind", "these") for found in verdicts]
    assert outcome.preferred.sum() > PowerVerdict.of(table, picked).preferred.sum()


def test_answers_without_any_spread_have_no_test_and_find_nothing():
    certain = simulated(PlannedStudy(4, 3, 3, 1.0, 1.0, 0.0, 0.0), 50)
    assert (certain.power, certain.half_width) == (0, None)


def test_a_pool_asks_nobody_twice_and_every_question_equally_often():
    table = deal(PlannedStudy(13, 5, 12, 0.1), 2, chance())
    assert all(len(set(each)) == 5 for each in table.questions.reshape(-1, 5).tolist())
    assert np.ptp(np.bincount(table.questions, minlength=12)) <= 1


def test_a_share_stops_early_after_parts_that_are_evenly_spread():
    table = deal(PlannedStudy(40, 9, 9, 0.1, dropouts=0.25), 1, chance())
    counts = np.bincount(table.participants)
    assert (counts == 9).sum() == 30
    assert sorted(counts[counts < 9]) == [1, 2, 3, 3, 4, 5, 6, 7, 7, 8]


def test_a_study_of_its_own_questions_has_each_of_them():
    types = (RANDOM_TYPES[0], RANDOM_TYPES[2], RANDOM_TYPES[3])  # 29, 9 and 5 questions
    table = deal(PlannedStudy(4, 308, 308, 0.1, question_types=types), 3, chance())
    assert table.orders.shape == (3, 308, 3)
    own = deal(PlannedStudy(4, 43, 43, 0.1, question_types=types), 3, chance())
    assert (own.orders[2] == 0).sum(axis=0).tolist() == [14, 14, 14]


def test_the_answers_have_the_mean_the_share_and_the_spreads_of_the_model():
    study = PlannedStudy(6, 4, 4, 0.1, 0.6, 0.2, 0.1)
    table, picked = answers(study, 20_000)
    in_order = np.lexsort([table.questions, table.participants])
    picked = picked[:, in_order].astype(float)
    d = (picked[0] - picked[1]).reshape(6, 4, -1)
    assert picked.sum(axis=0).max() == 1
    assert picked.mean(axis=(1, 2)) == pytest.approx([0.35, 0.25, 0.3], abs=0.005)
    d -= 0.1

    def shared(axis):  # the mean product of two different answers along an axis
        size = d.shape[axis]
        pairs = (d.sum(axis=axis) ** 2 - (d**2).sum(axis=axis)) / (size * (size - 1))
        return pairs.mean()

    assert shared(axis=0) == pytest.approx(0.2**2, abs=0.005)  # same question, other people
    assert shared(axis=1) == pytest.approx(0.1**2, abs=0.004)  # same person, other questions


def test_random_clickers_pick_a_label_without_looking():
    types = ((QuestionType((0, 1, 0), CONTRADICTING), 1),)
    study = PlannedStudy(30, 10, 10, 0.5, random_clickers=1.0, question_types=types)
    picked = answers(study, 200)[1]
    assert picked.mean(axis=(1, 2)) == pytest.approx([2 / 3, 1 / 3, 0], abs=0.01)


def within_error(times, n, expected):
    """Whether a count goes with a rate that is simulated many more times, at 1 in 10,000."""
    return binomtest(times, n, expected).pvalue > 1e-4


@pytest.mark.parametrize(
    ("design", "expected"),
    [((30, 10, 10), 0.16), ((30, 10, 30), 0.31), ((30, 30, 30), 0.56)],
)
def test_the_power_at_ten_points_is_what_the_documentation_says(design, expected):
    found = simulated(PlannedStudy(*design, 0.1), 2000)
    low, high = expected - 0.005, expected + 0.005
    times = round(found.power * 2000)
    assert binomtest(times, 2000, low, "less").pvalue > 5e-5, found
    assert binomtest(times, 2000, high, "greater").pvalue > 5e-5, found


def test_without_correction_it_is_the_former_power():
    found = simulated(PlannedStudy(30, 10, 10, 0.1, question_types=distinct_types(2)), 4000)
    assert within_error(round(found.power * 4000), 4000, 0.265)


@pytest.mark.parametrize("types", [distinct_types(3), RANDOM_TYPES], ids=["distinct", "random"])
def test_without_a_difference_the_verdict_names_a_pair_in_less_than_five_percent(types):
    found = simulated(PlannedStudy(30, 10, 30, 0.0, question_types=types), 2000)
    assert 0 < found.interval[0] < found.interval[1] < 0.05


def test_without_a_difference_two_measures_get_a_verdict_in_five_percent():
    found = simulated(PlannedStudy(30, 10, 30, 0.0, question_types=distinct_types(2)), 4000)
    times = round(found.power * 4000)
    assert binomtest(times, 4000, 0.04, "less").pvalue > 5e-5, found
    assert binomtest(times, 4000, 0.06, "greater").pvalue > 5e-5, found


def test_fewer_answers_and_random_clicks_cost_power():
    usual, fewer, clicks = (
        simulated(PlannedStudy(30, 10, 30, 0.15, **shares), 2000)
        for shares in ({}, {"dropouts": 0.5}, {"random_clickers": 0.3})
    )
    assert usual.interval[0] > fewer.interval[1]
    assert usual.interval[0] > clicks.interval[1]


def test_ties_only_and_identical_orders_cost_power():
    distinct, random = (
        simulated(PlannedStudy(30, 10, 30, 0.2, question_types=types), 2000)
        for types in (distinct_types(3), RANDOM_TYPES)
    )
    assert distinct.for_order == distinct.power
    assert distinct.interval[0] > random.interval[1]
    assert random.for_order < random.power / 2


TRIALS = {
    "a difference": (PlannedStudy(30, 10, 10, 0.2), "discriminative"),
    "none": (PlannedStudy(30, 10, 10, 0.0), "discriminative"),
    "a pool, drop-outs, clickers": (
        PlannedStudy(40, 8, 24, 0.2, dropouts=0.25, random_clickers=0.15, between_participants=0.2),
        "discriminative",
    ),
    "random questions": (PlannedStudy(40, 12, 12, 0.3), "random"),
    "random questions, none": (PlannedStudy(40, 12, 12, 0.0), "random"),
}


@pytest.mark.trial
@pytest.mark.parametrize(("study", "generator"), TRIALS.values(), ids=TRIALS)
def test_the_power_is_that_of_whole_studies_drawn_without_the_model(study, generator):
    replicates = 500
    questions = questions_of(generator, 60 if generator == "discriminative" else 200)
    types = count_question_types(dict(enumerate(questions)), Pair(FIRST, SECOND))
    study = replace(study, question_types=types)
    counted = verdicts_of(study, questions, replicates, np.random.default_rng(5))
    found = simulated(study, 20_000)
    if study.difference:
        assert within_error(counted[FIRST], replicates, found.power)
        assert within_error(counted[FIRST, "orders"], replicates, found.for_order)
        return
    assert within_error(counted[FIRST] + counted[SECOND], replicates, found.power)
    found = simulated(replace(study, difference=0.1), 20_000)
    assert within_error(counted["equal"], replicates, found.equal)


def test_the_types_of_random_questions_are_those_of_the_generator():
    draw, setting = GENERATORS["random"], Setting(100, None, False)
    questions = [
        draw(number, seed=1, lists=5, relevant=5, measures=MEASURES, setting=setting).rankings
        for number in range(1, 301)
    ]
    types = count_question_types(dict(enumerate(questions)), Pair("MNRO", "NMRR"))
    assert sorted(types) == sorted(RANDOM_TYPES)
    balanced = {
        names: sum(is_opposed_and_balanced(*map(each.get, names)) for each in questions) / 300
        for names in RANDOM_BALANCED
    }
    assert balanced == RANDOM_BALANCED


def is_opposed_and_balanced(first, second):
    return contradictions(first, second) > 0 and is_balanced(first, second)


@pytest.mark.parametrize(("people", "questions"), [(30, 10), (15, 10), (30, 6), (60, 20)])
def test_the_smallest_lead_is_shown_by_four_of_five_studies(people, questions):
    lead = smallest_lead(people, questions)
    study = PlannedStudy(people, questions, questions, lead, question_types=distinct_types(2))
    assert 0.72 < simulated(study, 600).power < 0.88


def test_too_few_people_or_questions_show_no_lead():
    assert smallest_lead(30, 1) is None
    assert smallest_lead(1, 30) is None
    assert smallest_lead(30, 2) is None  # one degree of freedom
    assert smallest_lead(30, 10, 0.5) > smallest_lead(30, 10)


def test_spreads_are_estimated_from_votes():
    names = ("X", "Y")
    table, picked = answers(
        PlannedStudy(200, 40, 40, 0.1, 0.7, 0.25, 0.2, question_types=distinct_types(2)), 1
    )
    rankings = {n: {"X": Ranking.parse("A>B"), "Y": Ranking.parse("B>A")} for n in range(40)}
    rankings[40] = {"X": Ranking.parse("A>B"), "Y": Ranking.parse("A>B")}  # shows no difference
    responses = [
        Response(f"p{who:03}", which, names, frozenset({1 + int(p.argmax())} if p.any() else ()),
                 None if p.any() else Ranking.parse("A=B"))
        for who, which, p in zip(
            table.participants.tolist(), table.questions.tolist(), picked[:, :, 0].T, strict=True
        )
    ]  # fmt: skip
    responses += [Response(f"p{who:03}", 40, names, frozenset({1}), None) for who in range(200)]
    responses.sort(key=lambda each: (each.participant, each.question))
    credits = tally_credits(Ballots.of(Answers.of(responses), rankings, names))
    shares = estimated_shares(credits, Pair("X", "Y"))
    assert shares["decided"] == pytest.approx(0.7, abs=0.02)
    assert shares["between_questions"] == pytest.approx(0.25, abs=0.08)
    assert shares["between_participants"] == pytest.approx(0.2, abs=0.04)


def test_the_half_width_shrinks_with_the_standard_error():
    few, many = (simulated(PlannedStudy(people, 10, 40, 0.0), 400) for people in (20, 80))
    assert 0.4 < many.half_width / few.half_width < 0.8


@pytest.mark.parametrize(("found", "n"), [(0, 50), (7, 50), (50, 50), (867, 2000)])
def test_the_monte_carlo_interval_is_wilsons(found, n):
    expected = proportion_confint(found, n, method="wilson")
    assert wilson(found, n) == pytest.approx(expected, abs=1e-12)


def test_more_measures_leave_fewer_responses_that_decide_between_two():
    assert decided_share(3) == 0.68
    assert decided_share(6) == pytest.approx(0.34)
    assert decided_share(2) == pytest.approx(0.9333, abs=1e-4)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1, 10, 10, 0.1), "2 participants"),
        ((30, 10, 9, 0.1), "each participant answers 10 of a pool of 9 questions"),
        ((2, 10, 30, 0.1), "2 participants × 10 questions are 20 answers; 30 questions need"),
        ((30, 10, 10, 0.7), "the difference is 0.7; where 0.68 of the responses"),
        ((30, 10, 10, -0.1), "0 to 0.68 are possible"),
        ((30, 10, 10, 0.1, 1.2), "decided is 1.2"),
        ((30, 10, 10, 0.1, 0.68, -0.1), "a standard deviation is below 0"),
        ((30, 10, 10, 0.1, 0.68, 0.1, 0.1, 1.5), "a share of the participants is not in 0 to 1"),
    ],
)
def test_a_study_that_cannot_be_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        PlannedStudy(*values)
