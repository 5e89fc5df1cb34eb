"""Promise 9: an export harms no spreadsheet, and holds what was written as it was."""

import itertools
import tempfile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from survey.core.text_input import SIGNS, csv_line, escaped, unescaped
from survey.services.analysis.sheets import Sheet, as_csv
from survey.services.exchange.tables import row_line
from survey.services.studies import recruitment
from tests.promises.spreadsheet import (
    cells_of,
    formulas_in,
    formulas_in_libreoffice,
    is_formula,
    libreoffice,
)

BEFORE = ["", " ", "\u00a0", "\u3000", "\t", "\r", "\n", "\r\n", '"', "'", "''", " '", "\ufeff"]
BEFORE += ["\0", "\x0b", "\x1f", "\u200b", "\u2060", '" \t', "\r\n\ufeff ", "a;", "a\t", "a\n", ";"]
START = [*"=+-@|%", *"＝＋－＠｜％", *"﹦﹢﹣﹫﹪"]
REST = ["1+1", "cmd|' /C calc'!A0", 'HYPERLINK("http://x.example";"x")', "", "=", "ü"]
DANGERS = ["".join(parts) for parts in itertools.product(BEFORE, START, REST)]

ANY_TEXT = st.text()
SPITEFUL = st.text([*"=+-@|%＝＋－＠﹦'\"a1;, \t\r\n\0\ufeff\u00a0\u200b\U000e0020"])
MANY = settings(max_examples=1500)


@pytest.mark.slow
@given(ANY_TEXT | SPITEFUL)
@example("'=1")
@example("a;'=1;=2")
@example("\t\t\r\n=")
@MANY
def test_what_is_escaped_comes_back(text):
    assert unescaped(escaped(text)) == text


@pytest.mark.slow
@given(st.lists(ANY_TEXT | SPITEFUL, min_size=1, max_size=4))
@MANY
def test_an_escaped_cell_is_no_formula_with_any_separator(texts):
    cells = ["a", *map(escaped, texts)]
    assert formulas_in(csv_line(cells)) == formulas_in(csv_line(cells[1:])) == []
    assert cells_of(csv_line(cells))[:-1] == cells


@given(SPITEFUL)
def test_a_text_without_signs_of_formulas_stays_as_it_is(text):
    plain = text.translate(dict.fromkeys(map(ord, f"{SIGNS}\t\r\n")))
    assert escaped(plain) == plain


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
@example(-0.5)
@example(-1e-300)
def test_a_number_stays_a_number(number):
    for line in (row_line([number]), as_csv(Sheet("x", "X", ("n",), ((number,),))).split("\n")[1]):
        assert type(number)(line) == number


def test_every_way_to_write_a_formula_is_known_and_escaped(measured):
    harmless = [danger for danger in DANGERS if not formulas_in(csv_line(["a", danger]))]
    assert all(danger.lstrip().startswith("'") for danger in harmless)
    assert [danger for danger in DANGERS if formulas_in(csv_line(["a", escaped(danger)]))] == []
    assert [danger for danger in DANGERS if unescaped(escaped(danger)) != danger] == []
    measured(
        f"{len(DANGERS):,} ways to write a formula ({len(BEFORE)} beginnings × {len(START)} signs "
        f"× {len(REST)} endings): all come back as written, and none is run when the file is "
        "opened with commas, semicolons or tabs."
    )


@pytest.mark.parametrize("formula", ["=1+1", " =1+1", "＝1+1", '"=1', "-cmd", "\ufeff@x", "﹢x"])
def test_the_rules_know_a_formula_when_they_see_one(formula):
    assert is_formula(formula)
    assert formulas_in(f"a;{formula};b")


@pytest.mark.parametrize("text", ["'=1", "-0.5", "+3", "a=b", "", " ", "1e-09", "−5"])
def test_the_rules_let_texts_and_numbers_pass(text):
    assert not is_formula(text)


@pytest.mark.skipif(libreoffice() is None, reason="LibreOffice is not installed")
@pytest.mark.trial
def test_libreoffice_finds_no_formula(measured):
    safe = "".join(csv_line([escaped(danger)]) for danger in DANGERS if "\0" not in danger)
    files = {"safe.csv": safe.encode(), "not.csv": b"=1+1\n"}
    with tempfile.TemporaryDirectory() as folder:
        assert formulas_in_libreoffice(files, folder) == ["not.csv"]
    measured(f"LibreOffice finds no formula in {len(DANGERS):,} escaped cells.")


def test_a_guest_list_comes_back_as_it_was_handed_out():
    names = [" ".join(danger.split()) for danger in DANGERS if "\0" not in danger]
    names = list(dict.fromkeys(filter(None, names)))
    links = [
        recruitment.PersonalLink(1, name, "https://x.example/s/a?guest=A", "") for name in names
    ]
    file = recruitment.links_csv(links)
    assert formulas_in(file) == []
    for start in range(0, len(names), recruitment.MOST_AT_ONCE):
        part = slice(start, start + recruitment.MOST_AT_ONCE)
        assert [*recruitment.read_guests(recruitment.links_csv(links[part]))[0]] == names[part]
