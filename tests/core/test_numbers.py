"""Numbers as people write them: what counts as one, and what Python alone would take."""

import pytest

from survey.core.text_input import parse_number, parse_whole


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 19, 10**19 - 1)])
def test_a_whole_number_is_made_of_digits(text, number):
    assert parse_whole(text) == number


@pytest.mark.parametrize("text", ["", " 1", "1_000", "٣", "²", "1.0", "1e3", "9" * 20, "+1", "-1"])
def test_anything_else_is_no_whole_number(text):
    assert parse_whole(text) is None


def test_a_sign_and_bounds_count_where_they_are_asked_for():
    assert [parse_whole(text, signed=True) for text in ("-5", "+5", "--5")] == [-5, 5, None]
    assert [parse_whole(text, 1, 9) for text in ("0", "1", "9", "10")] == [None, 1, 9, None]


@pytest.mark.parametrize(("text", "number"), [("-.5", -0.5), ("2.", 2.0), ("+2e3", 2000.0)])
def test_a_number_may_have_a_sign_decimals_and_an_exponent(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e999", "1_0", "٣", " 1", "0x1", "1,5"])
def test_anything_else_is_no_number(text):
    assert parse_number(text) is None
