"""Faults of files, collected into one error."""

import pytest

from survey.core.text_input import FaultyFilesError, FileFaults


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
    [(3, ["0", "1", "2"]), (5, ["0", "1", "and 3 more faults like these"])],
)
def test_of_many_faults_the_first_are_shown_and_the_rest_counted(count, lines):
    faults = FileFaults(map(str, range(count)), most=3)
    with pytest.raises(FaultyFilesError) as caught:
        faults.raise_any()
    assert list(caught.value.faults) == lines


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
