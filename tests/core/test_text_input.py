"""Faults of files as one error, and what counts as a number in a text that people type."""

import pytest

from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    closest,
    parse_number,
    parse_whole,
)


class ParseError(Exception):
    """What a reader of these tests raises."""


def test_faults_are_raised_together_in_the_order_of_their_rows():
    faults = FileFaults(["the file"])
    faults.add("row 3", 3)
    faults.add("row 2", 2)
    faults.extend(["the folder"])
    with pytest.raises(FaultyFilesError) as caught:
        faults.raise_any()
    assert caught.value.faults == ("the file", "the folder", "row 2", "row 3")


def test_without_a_fault_nothing_is_raised():
    faults = FileFaults()
    assert not faults
    faults.raise_any()


@pytest.mark.parametrize(
    ("count", "lines"),
    [(3, ["a", "b", "c"]), (5, ["a", "b", "and 3 more like these"])],
)
def test_of_many_faults_the_first_are_shown_and_the_rest_counted(count, lines):
    faults = FileFaults("abcde"[:count], most=3)
    with pytest.raises(FaultyFilesError) as caught:
        faults.raise_any()
    assert list(caught.value.faults) == lines


def test_of_faults_that_differ_in_numbers_and_quoted_words_only_five_are_shown():
    faults = FileFaults(f"a.txt, line {number}: 'x{number}' found" for number in range(9))
    faults.add("a.txt: another fault")
    with pytest.raises(FaultyFilesError) as caught:
        faults.raise_any()
    *shown, other, last = caught.value.faults
    assert shown == [f"a.txt, line {number}: 'x{number}' found" for number in range(5)]
    assert (other, last) == ("a.txt: another fault", "and 4 more like these")


@pytest.mark.parametrize(
    ("name", "meant"), [("base_1", "base1"), ("ADA LOVLACE", "Ada Lovelace"), ("bayes", None)]
)
def test_the_name_that_was_meant_is_found_in_any_case(name, meant):
    assert closest(name, ["base1", "Ada Lovelace"]) == meant


def test_a_reader_goes_on_after_an_error_that_is_collected():
    faults = FileFaults(error=lambda texts: ParseError(" ".join(texts)))
    for number in range(3):
        with faults.collect(ParseError):
            if number != 1:
                raise ParseError(f"row {number}")
    with pytest.raises(ParseError, match="row 0 row 2"):
        faults.raise_any()
    with pytest.raises(KeyError), faults.collect(ParseError):
        raise KeyError


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
