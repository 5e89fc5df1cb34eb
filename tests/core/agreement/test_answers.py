"""Answers in columns, and what is drawn for so many of them at once."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from survey.core.agreement.answers import (
    Answers,
    Coded,
    Response,
    distinct_keys,
    sum_by_participant,
)
from survey.core.agreement.bias import Layouts, conditional_logit
from survey.core.agreement.differences import Pair
from survey.core.agreement.permutation import Redraws, label_permutation
from survey.core.agreement.quality import SAME, quality_flags
from survey.core.statistics import conditional_logit as logit
from survey.core.statistics.monte_carlo import REPLICATES, RandomStream
from survey.core.statistics.significance import sign_flip
from tests.core.agreement.random_votes import (
    MEASURES,
    credits_of,
    random_rankings,
    random_responses,
    studies,
)

PAIRS = [Pair("MNRO", "NMRR"), Pair("MNRO", "AP")]


def told(answers):
    """Answers in a form that can be compared, however their values are numbered."""
    columns = ("question", "label_order", "own", "column_order", "position")
    decoded = [
        [(*one.values, None)[code] for code in one.codes]
        for one in (getattr(answers, name) for name in columns)
    ]
    numbers = (answers.people, answers.first_answer, answers.clicked, answers.seconds)
    return [*decoded, *(repr(one.tolist()) for one in numbers)]


@given(studies(), st.data())
def test_leaving_out_is_never_having_been_there(study, data):
    responses, rankings, _ = study
    answers = Answers.of(responses)
    out = data.draw(st.sampled_from(list(rankings)))
    fewer = [one for one in responses if one.question != out]
    assert told(answers.without_question(out)) == told(Answers.of(fewer))
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6)))
    kept = kept[: len(answers.people)]
    fewer = [one for one in responses if one.participant in answers.people[kept]]
    assert told(answers.of_people(kept)) == told(Answers.of(fewer))


@given(st.lists(st.integers(0, 30)), st.sampled_from([31, 1_000_000]))
def test_distinct_keys_are_those_of_numpy_in_a_small_and_in_a_large_space(keys, space):
    found, places = distinct_keys(np.array(keys, dtype=np.int64), space)
    assert found.tolist() == sorted(set(keys))
    assert found[places].tolist() == keys


@given(st.lists(st.lists(st.integers(-128, 127), min_size=1)))
def test_sums_within_participants_are_whole_and_never_overflow(values):
    begins = np.cumsum([0, *map(len, values)])[:-1]
    each = np.array([one for some in values for one in some], dtype=np.int8)
    assert sum_by_participant(each, begins).tolist() == [sum(some) for some in values]


def test_a_column_in_order_says_the_same():
    column = Coded.of(["b", None, "a", "b"])
    assert (column.values, column.codes.tolist()) == (("b", "a"), [0, -1, 1, 0])
    ordered = column.in_order()
    assert (ordered.values, ordered.codes.tolist()) == (("a", "b"), [1, -1, 0, 1])


@pytest.mark.parametrize("bound", [1, 2, 3, 20])
@pytest.mark.parametrize("draws", [1, 31, 70])
def test_tallies_count_the_integers_that_are_drawn_one_by_one(bound, draws):
    counts = np.zeros((REPLICATES, bound), dtype=int)
    for drawn in np.vstack(list(RandomStream().halves(draws))):
        counts[np.arange(REPLICATES), drawn.astype(np.int64) * bound >> 32] += 1
    assert np.array_equal(RandomStream().tallies(draws, bound), counts)


@pytest.mark.parametrize("draws", [1, 2, 64, 1 << 20])
@pytest.mark.parametrize("chance", [0.5, 1 / 20])
def test_a_power_of_two_is_drawn_as_the_binomial_distribution_turned_round(draws, chance):
    expected = stats.binom.ppf(RandomStream()._uniform(), draws, chance)
    assert np.array_equal(RandomStream().binomial(np.full(REPLICATES, draws), chance), expected)


def test_binomials_have_the_distribution_of_each_replicates_own_number():
    draws = np.tile([0, 5, 1_000, 77_777], REPLICATES // 4)
    drawn = RandomStream().binomial(draws, 1 / 3)
    for n in (5, 1_000, 77_777):
        assert drawn[draws == n].mean() == pytest.approx(n / 3, abs=4 * (2 * n / 9 / 2_500) ** 0.5)
        assert drawn[draws == n].var() == pytest.approx(2 * n / 9, rel=0.12)
    assert not drawn[draws == 0].any()


def test_multinomials_have_the_mean_and_spread_of_single_draws():
    counts = RandomStream().multinomial(90_000, 3)
    assert np.all(counts.sum(axis=1) == 90_000)
    within = 4 * (20_000 / REPLICATES) ** 0.5
    assert counts.mean(axis=0) == pytest.approx([30_000] * 3, abs=within)
    assert np.cov(counts.T) == pytest.approx(np.full((3, 3), -10_000) + 30_000 * np.eye(3), rel=0.1)


def test_signs_of_thirty_thousand_values_are_flipped_by_the_numbers_of_alike_ones():
    values = [Fraction(-1, 3), Fraction(0), Fraction(1, 3), Fraction(1, 2)]
    times = [10_000, 5_000, 10_100, 4_900]
    p, method = sign_flip(values, np.repeat(np.arange(4), times))
    total = float(sum(value * count for value, count in zip(values, times, strict=True)))
    spread = sum(value**2 * count for value, count in zip(values, times, strict=True)) ** 0.5
    assert method == "Monte Carlo"
    assert p == pytest.approx(2 * stats.norm.sf(total / spread), abs=0.015)
    small = [Fraction(1), Fraction(-1)]
    p, _ = sign_flip(small, np.repeat([0, 1], [15_100, 14_900]))
    assert p == pytest.approx(2 * stats.norm.sf(200 / 30_000**0.5), abs=0.015)


def test_labels_drawn_together_give_nearly_the_p_of_labels_drawn_one_by_one(monkeypatch):
    rng = np.random.default_rng(3)
    rankings = random_rankings(rng, 4, identical=0.5)
    credits = credits_of(random_responses(rng, rankings, 40, leaning=0.05), rankings)
    exact = {pair: label_permutation(Redraws(credits), pair) for pair in PAIRS}
    monkeypatch.setattr("survey.core.agreement.permutation.MOST_SINGLE_DRAWS", 10)
    redraws = Redraws(credits)
    for pair in PAIRS:
        found = label_permutation(redraws, pair)
        assert found.method == "Monte Carlo"
        assert found.p == pytest.approx(exact[pair].p, abs=0.02)
        assert (found.lead, found.null_mean) == (exact[pair].lead, exact[pair].null_mean)


def test_the_logit_is_the_same_however_many_layouts_are_laid_out_together(monkeypatch):
    rng = np.random.default_rng(2)
    answers = Answers.of(random_responses(rng, random_rankings(rng, 6), 40, several=0.4))
    layouts = Layouts.of(answers, MEASURES)
    assert layouts.counts.sum() == len(answers) > len(layouts.counts)
    whole = conditional_logit(layouts, MEASURES)
    monkeypatch.setattr(logit, "AT_ONCE", 7)
    assert conditional_logit(layouts, MEASURES).coef == pytest.approx(whole.coef, rel=1e-12)


def test_of_two_labels_ticked_as_often_the_flag_names_the_one_that_came_first():
    ticks = [{2}, *[{1, 2}] * 9, {1}]
    answers = Answers.of(
        Response("P1", number, MEASURES, frozenset(labels))
        for number, labels in enumerate(ticks, 1)
    )
    (flag,) = quality_flags(answers, asked=11)
    assert (flag.kind, flag.reason) == (SAME, "Method2 ticked in 10 of 11 answers")
