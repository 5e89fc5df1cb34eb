"""Answers in columns, and what is drawn for so many of them at once."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.answers import (
    Answers,
    Coded,
    GrowingColumn,
    Response,
    distinct_keys,
    smallest_integer_type,
    sum_by_participant,
)
from survey.core.agreement.differences import Pair
from survey.core.agreement.label_permutation import Redraws, label_permutation
from survey.core.agreement.quality import SAME, Layouts, conditional_logit, quality_flags
from survey.core.statistics import significance
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


@pytest.mark.slow
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


@given(st.lists(st.tuples(st.sampled_from("CAB"), st.integers(1, 5))), st.integers(1, 4))
def test_answers_are_the_same_in_batches_of_any_size_and_each_participants_are_together(
    pairs, size
):
    responses = [Response(who, number, MEASURES, frozenset({1})) for who, number in pairs]
    with patch("survey.core.agreement.answers.RESPONSES_AT_ONCE", size):
        answers = Answers.of(responses)
    assert told(answers) == told(Answers.of(responses))
    people = list(dict.fromkeys(who for who, _ in pairs))
    assert answers.people.tolist() == people
    assert [answers.question.values[code] for code in answers.question.codes] == [
        number for who in people for other, number in pairs if other == who
    ]


@given(st.lists(st.lists(st.sampled_from([-1, 0, 127, 128, 40_000])), min_size=1))
def test_a_column_that_grows_holds_all_values_in_the_smallest_type_that_can(batches):
    column = GrowingColumn()
    for batch in batches:
        column.extend(np.array(batch, dtype=smallest_integer_type(max(batch, default=0) + 1)))
    values = [value for batch in batches for value in batch]
    assert column.values.tolist() == values
    assert column.values.dtype == smallest_integer_type(max(values, default=0) + 1)


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


def test_labels_drawn_together_give_nearly_the_p_of_labels_drawn_one_by_one(monkeypatch):
    rng = np.random.default_rng(3)
    rankings = random_rankings(rng, 4, identical=0.5)
    credits = credits_of(random_responses(rng, rankings, 40, leaning=0.05), rankings)
    exact = {pair: label_permutation(Redraws(credits), pair) for pair in PAIRS}
    monkeypatch.setattr("survey.core.agreement.label_permutation.MOST_SINGLE_DRAWS", 10)
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
    monkeypatch.setattr(significance, "CHOICES_AT_ONCE", 7)
    assert conditional_logit(layouts, MEASURES).coef == pytest.approx(whole.coef, rel=1e-12)


def test_of_two_labels_ticked_as_often_the_flag_names_the_one_that_came_first():
    ticks = [{2}, *[{1, 2}] * 9, {1}]
    answers = Answers.of(
        Response("P1", number, MEASURES, frozenset(labels))
        for number, labels in enumerate(ticks, 1)
    )
    (flag,) = quality_flags(answers, asked=11)
    assert (flag.kind, flag.reason) == (SAME, "Method2 ticked in 10 of 11 answers")
