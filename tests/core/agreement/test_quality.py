"""Quality flags of careless participants: cycles, columns, control questions."""

import numpy as np
import pytest

from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.quality import (
    ALL_CUSTOM,
    INCONSISTENT,
    MISUNDERSTOOD,
    OBVIOUS_WRONG,
    PATTERN,
    SAME,
    SAME_COLUMN,
    TOO_FAST,
    Signs,
    flagged_for_exclusion,
    quality_flags,
)
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "NMRR", "MNRO")
ORDERS = ((1, 2, 3), (2, 3, 1), (3, 1, 2))


def answered(*sessions, orders=((1, 2, 3),), positions=None):
    """Answers of participants P0, P1, …: a session is the label that is ticked in each answer."""
    return Answers.of(
        Response(
            participant=f"P{person}",
            question=index + 1,
            label_order=MEASURES,
            clicked=frozenset([label] if isinstance(label, int) else label),
            column_order=orders[index % len(orders)],
            position=(positions or range(1, 100))[index],
        )
        for person, session in enumerate(sessions)
        for index, label in enumerate(session)
    )


def flags_of(answers, asked=10, **signs):
    flags = quality_flags(answers, asked, Signs(**signs))
    return [(flag.participant, flag.kind, flag.reason) for flag in flags]


def test_a_cycle_of_labels_is_flagged_once_with_its_order():
    sessions = ([1, 2, 3] * 4, [2, 1] * 5, [1, 2, 3, 3, 2, 1, 1, 2, 3, 1])
    flags = flags_of(answered(*sessions))
    assert flags == [
        ("P0", PATTERN, "Method1-2-3 again and again in 12 answers"),
        ("P1", PATTERN, "Method2-1 again and again in 10 answers"),
    ]


def test_a_cycle_needs_single_ticks_and_enough_answers():
    assert not flags_of(answered([1, 2, 3] * 3), asked=9)
    assert not flags_of(answered([1, 2, 3, 1, 2, 3, 1, 2, 3, (1, 2)]))
    assert flags_of(answered([1, 2] * 5))[0][1] == PATTERN


def test_a_cycle_is_looked_for_in_the_order_of_the_session():
    session = [1, 1, 1, 2, 2, 2, 3, 3, 3, 1]
    positions = [1, 4, 7, 2, 5, 8, 3, 6, 9, 10]
    assert not flags_of(answered(session))
    reason = "Method1-2-3 again and again in 10 answers"
    assert flags_of(answered(session, positions=positions)) == [("P0", PATTERN, reason)]


def test_one_column_and_a_cycle_of_columns_are_flagged_under_changing_labels():
    first_column = [ORDERS[index % 3][0] for index in range(10)]
    flags = flags_of(answered(first_column, orders=ORDERS))
    # Three orders of the columns in turn make the first column's labels a cycle as well.
    assert flags[0] == ("P0", SAME_COLUMN, "column 1 ticked in 10 of 10 answers")
    order = (1, 2, 1, 3, 2, 3, 3, 1, 2, 1)
    orders = tuple(ORDERS[index - 1] for index in order)
    cycle = [orders[index][index % 2] for index in range(10)]
    reason = "column 1-2 again and again in 10 answers"
    assert flags_of(answered(cycle, orders=orders)) == [("P0", PATTERN, reason)]


def test_where_columns_never_move_a_label_is_flagged_alone():
    [flag] = flags_of(answered([2] * 10))
    assert flag[1] == SAME


@pytest.mark.slow
def test_random_clicks_rarely_go_round_in_a_cycle():
    clicks = np.random.default_rng(1).integers(1, 4, (20_000, 10)).tolist()
    flagged = [flag for flag in flags_of(answered(*clicks)) if flag[1] == PATTERN]
    assert len(flagged) / 20_000 < 2 / 1_000


def test_own_orderings_alone_are_flagged_only_where_there_were_columns():
    own = Ranking.parse("A>B>C")
    answers = Answers.of(
        Response(person, question, MEASURES, own=own)
        for person in ("P0", "P1")
        for question in (1, 2, 3)
    )
    flags = flags_of(answers, asked=3, without_columns=frozenset({"P1"}))
    assert [(person, kind) for person, kind, _ in flags] == [("P0", ALL_CUSTOM)]


@pytest.mark.parametrize(
    ("signs", "kind", "words"),
    [
        ({"misunderstood": frozenset({"P1", "P9"})}, MISUNDERSTOOD, "first answer wrong"),
        ({"wrong": frozenset({"P1"})}, OBVIOUS_WRONG, "two lists reversed at least"),
        ({"reversed": {"P1": 0.2}}, INCONSISTENT, "the two agree on 20 % of the pairs"),
    ],
)
def test_control_questions_flag_those_who_answered(signs, kind, words):
    answers = answered([1, 2, 3, 3, 1], [1, 3, 2, 2, 1])
    flags = quality_flags(answers, 5, Signs(**signs))
    assert [(flag.participant, flag.kind, flag.reason) for flag in flags] == [("P1", kind, words)]
    assert flagged_for_exclusion(flags) == ("P1",)


def test_flags_of_a_person_are_in_the_order_of_the_rules():
    answers = Answers.of(
        Response("P0", question, MEASURES, frozenset([1]), seconds=1.0) for question in range(1, 11)
    )
    kinds = [kind for _, kind, _ in flags_of(answers, wrong=frozenset({"P0"}))]
    assert kinds == [TOO_FAST, SAME, OBVIOUS_WRONG]
