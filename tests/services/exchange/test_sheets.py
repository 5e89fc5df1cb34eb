"""Cells are read back as they were written, and no spreadsheet runs them."""

import csv
import io
import math
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.items import Item
from survey.services.exchange.input_files import BundleError, CsvRow, Faults, read_rows
from survey.services.exchange.tables import Content, row_line

SIGNS = "=+-@\t\r＝＋－＠"
TEXTS = st.text(st.characters(codec="utf-8")) | st.text(f"'{SIGNS}a,\"\n")


def rows_of(text, columns):
    """The rows of a file; raises BundleError with all its faults."""
    faults = Faults()
    rows = [*read_rows({"f.csv": text.encode()}, "f.csv", columns, faults)]
    faults.raise_any()
    return rows


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3)))
def test_every_text_is_read_back_as_it_was(rows):
    file = row_line(["a", "b", "c"]) + "".join(map(row_line, rows))
    found = [[row.optional_text(name) or "" for name in "abc"] for row in rows_of(file, [])]
    assert found == rows


@given(TEXTS, TEXTS)
def test_no_cell_starts_with_a_sign_that_a_spreadsheet_would_run(one, other):
    (row,) = csv.reader(io.StringIO(row_line([one, other]), newline=""), strict=True)
    assert not any(cell[:1] and cell[0] in SIGNS for cell in row)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("=1+1", "'=1+1"),
        ("'=1+1", "''=1+1"),
        ("''@x", "'''@x"),
        ("'quoted'", "'quoted'"),
        ("－5", "'－5"),
        ("a=b", "a=b"),
        (-5, "-5"),
        (1e-9, "1e-09"),
        (0.1, "0.1"),
        (math.nan, ""),
        (None, ""),
        (True, "1"),
        (False, "0"),
        (datetime(2026, 1, 31, 12, 0, 0, 999_999, UTC), "2026-01-31T12:00:00Z"),
        ("a\rb", '"a\rb"'),
        ('say "so", now', '"say ""so"", now"'),
    ],
)
def test_cells_are_written_in_one_way_only(cell, text):
    assert row_line([cell, "z"]) == f"{text},z\n"


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("", "f.csv, row 1: the columns nothing found; needed are a, b"),
        ("a,c\n", "f.csv, row 1: the columns a, c found; needed are a, b"),
        ("a,b,a\n", "f.csv, row 1: the columns a, b, a found; needed are a, b"),
        ("a,b\n1,2\n1\n", "f.csv, row 3: 1 cells found; 2 are needed, as in the heading"),
        ('a,b\n"x\ny",2\n1\n', "f.csv, row 3: 1 cells found"),
        ('a,b\n1,"2\n', "f.csv, row 2: this is no CSV (unexpected end of data)"),
        ("a,b\n1,2\rx\n", "f.csv, row 3: 1 cells found"),
    ],
)
def test_a_broken_file_is_told_with_its_row(file, told):
    with pytest.raises(BundleError) as error:
        rows_of(file, ["a", "b"])
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("read", "cell", "allowed"),
    [
        (CsvRow.text, "", "a value is needed"),
        (CsvRow.whole_number, "-1", "a whole number is needed"),
        (CsvRow.whole_number, "٣", "a whole number is needed"),
        (CsvRow.whole_number, "1" * 12, "a whole number is needed"),
        (CsvRow.whole_numbers, "1 x", "whole numbers separated by spaces are needed"),
        (CsvRow.optional_number, "x", "a number from 0 on is needed"),
        (CsvRow.optional_number, "nan", "a number from 0 on is needed"),
        (CsvRow.optional_number, "1e999", "a number from 0 on is needed"),
        (CsvRow.optional_number, "-0.5", "a number from 0 on is needed"),
        (CsvRow.flag, "yes", "0 or 1 is needed"),
        (CsvRow.optional_time, "31.1.2026", "a time like 2026-01-31T12:00:00Z is needed"),
        (
            lambda row, column: row.optional_ranking(column, "AB"),
            "A>C",
            "list B is missing in the ranking",
        ),
    ],
)
def test_a_cell_that_cannot_be_is_told_with_its_place(read, cell, allowed):
    with pytest.raises(BundleError) as error:
        read(CsvRow("f.csv", 7, {"x": cell}), "x")
    assert str(error.value).startswith(f"f.csv, row 7, column x: {cell!r} found; {allowed}")


def test_a_document_is_called_by_its_first_words_and_one_long_word_by_its_beginning():
    texts = {"a": "two words", "b": "word " * 20, "c": "x" * 61, "d": None}
    items = SimpleNamespace(items=[Item(name, text=text) for name, text in texts.items()])
    assert Content.names_of(items, "abcd") == {
        "a": "a: two words",
        "b": f"b: {'word ' * 11}[...]",
        "c": f"c: {'x' * 59}…",
        "d": "d",
    }
