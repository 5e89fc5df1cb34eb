"""How two orders differ, and what the kinds of question give to a difference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.contrasts import by_contrast
from survey.core.agreement.differences import Pair, Spread, by_participants, differences, two_way
from survey.core.studies.rankings import (
    CONTRADICTING,
    IDENTICAL,
    TIES_ONLY,
    Ranking,
    breaks_ties,
    contradictions,
    contrast,
    letters_for,
)
from tests.core.agreement.cases import rankings, responses
from tests.core.agreement.random_votes import credits_of

orders = st.lists(st.integers(0, 3), min_size=4, max_size=4).map(
    lambda keys: Ranking.by_key(dict(zip(letters_for(4), keys, strict=True)))
)


@pytest.mark.parametrize(
    ("first", "second", "kind", "breaks"),
    [
        ("A>B>C", "A>B>C", IDENTICAL, (False, False)),
        ("A>B>C", "A>B=C", TIES_ONLY, (True, False)),
        ("A=B>C", "A>B=C", TIES_ONLY, (True, True)),
        ("A>B>C", "B>A=C", CONTRADICTING, (True, False)),
        ("A>B=C", "A>B=C", IDENTICAL, (False, False)),
    ],
)
def test_the_kinds(first, second, kind, breaks):
    first, second = Ranking.parse(first), Ranking.parse(second)
    assert contrast(first, second) == kind
    assert (breaks_ties(first, second), breaks_ties(second, first)) == breaks


@given(orders, orders)
def test_every_two_orders_are_of_one_kind(first, second):
    kind = contrast(first, second)
    assert kind == contrast(second, first)
    assert (kind == CONTRADICTING) == (contradictions(first, second) > 0)
    assert (kind == IDENTICAL) == (first == second)
    if kind == TIES_ONLY:
        assert breaks_ties(first, second) or breaks_ties(second, first)


def test_the_parts_are_the_questions_of_each_kind_by_themselves():
    pair, credits = Pair("NMRR", "AP"), credits_of(responses(), rankings())
    d = differences(credits, pair)
    found = by_contrast(d, credits, pair)
    assert (found.contradicting.questions, found.ties_only.questions) == (1, 3)
    assert (found.first_breaks_ties, found.second_breaks_ties) == (0, 3)
    number = next(n for n, of in rankings().items() if contradictions(of["NMRR"], of["AP"]))
    alone = credits.subset(credits.questions == number)
    assert found.contradicting.participants == by_participants(Spread.of(d, alone))
    others = credits.subset(credits.questions != number)
    assert found.ties_only.two_way == two_way(d, others)
    assert found.ties_only.contribution == pytest.approx(found.ties_only.mean * 18 / 24)


def test_a_kind_without_questions_says_so():
    pair, credits = Pair("MNRO", "AP"), credits_of(responses(), rankings())
    found = by_contrast(differences(credits, pair), credits, pair).ties_only
    assert (found.questions, found.contribution, found.mean) == (0, None, None)
    assert found.why == "no question is of this kind"
