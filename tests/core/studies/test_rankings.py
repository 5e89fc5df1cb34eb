"""Weak orders: notation, places, midranks, equality, and printing that agrees with them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from survey.core.studies.rankings import Ranking, identical_groups, printed

keys = st.lists(st.integers(0, 5), min_size=1, max_size=10).map(
    lambda values: dict(zip("ABCDEFGHIJ", values, strict=False))
)
shown_values = st.lists(
    st.one_of(
        st.fractions(0, 1, max_denominator=10**9),
        st.sampled_from([Fraction(9999, 10_000) + Fraction(k, 10**7) for k in range(20)]),
    ),
    min_size=1,
    max_size=10,
)


@given(keys)
def test_printing_and_parsing_gives_the_same_ranking(by_letter):
    ranking = Ranking.by_key(by_letter)
    assert Ranking.parse(str(ranking)) == ranking


@given(keys)
def test_places_are_scipys_competition_ranks(by_letter):
    expected = rankdata(list(by_letter.values()), method="min")
    assert list(Ranking.by_key(by_letter).places.values()) == expected.tolist()


@given(keys)
def test_midranks_are_scipys_average_ranks(by_letter):
    expected = rankdata(list(by_letter.values()), method="average")
    assert list(Ranking.by_key(by_letter).midranks.values()) == expected.tolist()


@given(keys)
def test_ranking_by_places_or_midranks_gives_the_same_order_back(by_letter):
    ranking = Ranking.by_key(by_letter)
    assert Ranking.by_key(ranking.places) == Ranking.by_key(ranking.midranks) == ranking


@given(keys, st.integers(1, 9), st.integers(-5, 5))
def test_only_the_order_of_the_keys_matters(by_letter, factor, shift):
    moved = {letter: key * factor + shift for letter, key in by_letter.items()}
    assert Ranking.by_key(moved) == Ranking.by_key(by_letter)


def test_places_count_as_in_table_1():
    ranking = Ranking.parse("A>B=C>D>E")
    assert list(ranking.places.values()) == [1, 2, 2, 4, 5]
    assert list(ranking.midranks.values()) == [1, 2.5, 2.5, 4, 5]


def test_letters_inside_a_tie_are_sorted():
    assert str(Ranking.parse("D=B>C = A")) == "B=D>A=C"
    assert Ranking.parse("D=B") == Ranking.parse("B=D")
    assert hash(Ranking.parse("D=B")) == hash(Ranking.parse("B=D"))


def test_an_own_ranking_may_skip_places():
    assert Ranking.by_key({"A": 1, "B": 5, "C": 5}) == Ranking.parse("A>B=C")


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("", "nothing was found"),
        ("A>>B", "'' found"),
        ("A>B<C", "'B<C' found"),
        ("A>B=", "'' found"),
        ("A>B>A", "list A occurs more than once"),
        ("A>B", "list C is missing"),
        ("A>B>C>D", "unknown list D"),
        ("1>2>3", "'1' found"),
    ],
)
def test_a_notation_that_is_no_ranking_is_refused_saying_why(notation, message):
    with pytest.raises(ValueError, match=message):
        Ranking.parse(notation, letters="ABC")


def test_a_list_without_a_value_cannot_be_ranked():
    with pytest.raises(ValueError, match="list B has no value"):
        Ranking.by_key({"A": 1.0, "B": float("nan")})


def test_an_empty_place_is_refused():
    with pytest.raises(ValueError, match="at least one list in each place"):
        Ranking((("A",), ()))


def test_identical_orders_are_grouped_in_the_order_given():
    same, other = Ranking.parse("A>B"), Ranking.parse("B>A")
    groups = identical_groups({"AP": same, "NMRR": other, "MNRO": same})
    assert groups == [["AP", "MNRO"]]


@pytest.mark.slow
@given(shown_values)
def test_what_is_printed_never_contradicts_the_order(values):
    texts = printed(values)
    signs = np.sign(np.subtract.outer(values, values).astype(float))
    read = [Fraction(text) for text in texts]
    assert (np.sign(np.subtract.outer(read, read).astype(float)) == signs).all()


@pytest.mark.slow
@given(shown_values)
def test_four_decimals_are_printed_unless_more_are_needed(values):
    for text, value in zip(printed(values), values, strict=True):
        decimals = len(text.partition(".")[2])
        alike = [other for other in values if other != value and round(other, 4) == round(value, 4)]
        assert decimals == 4 or alike
        assert abs(Fraction(text) - value) <= Fraction(1, 2 * 10**decimals)


def test_only_the_pair_that_would_print_alike_gets_more_decimals():
    values = [Fraction(99993, 100_000), Fraction(99991, 100_000), Fraction(1, 2)]
    assert printed(values) == ("0.99993", "0.99991", "0.5000")
