"""Tables as files: what Markdown, a spreadsheet and LaTeX would trip over."""

import csv
import io
import re

from hypothesis import example, given
from hypothesis import strategies as st

from survey.core.text_input import unescaped
from survey.services.analysis.latex import as_latex
from survey.services.analysis.sheets import (
    Sheet,
    Starred,
    as_csv,
    as_markdown,
    printed_table,
    text_of,
)

TABLE4 = Sheet(
    name="table4",
    title="Votes per question",
    columns=("question", "AP", "OTHER", "choice"),
    rows=((1, 5, 3, "MNRO-AP"), (2, 0.5, None, ""), ("total", 5.5, 3, "")),
    note="Question 1 (AP = MNRO) & more: 100 % > 50 %.",
    totals=True,
)


def test_a_table_in_markdown_has_its_title_above_and_its_note_below():
    lines = as_markdown(TABLE4).splitlines()
    assert lines[0] == "**Votes per question**"
    assert lines[2:5] == [
        "| question | AP | OTHER | choice |",
        "| --- | ---: | ---: | --- |",
        "| 1 | 5.000 | 3 | MNRO-AP |",
    ]
    assert lines[-1] == r"Question 1 (AP = MNRO) & more: 100 % \> 50 %."


def test_csv_keeps_numbers_in_full_and_leaves_the_unknown_empty():
    third = Sheet("t", "T", ("a", "b"), (("x", 1 / 3), ("=1+1", None)))
    assert as_csv(third) == f"a,b\nx,{1 / 3!r}\n'=1+1,\n"


def test_a_minus_is_printed_as_one():
    assert [text_of(cell) for cell in (-0.5, 3, None, "−", 2.0)] == [
        "−0.500",
        "3",
        "–",
        "−",
        "2.000",
    ]


def test_no_number_is_printed_as_minus_zero_or_rounded_to_zero():
    assert text_of(-0.04, 1) == "−0.04"
    assert text_of(-1e-16) == text_of(-0.0) == "0.000"
    assert text_of(0.0004) == "0.0004"


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(TEXT)
@example(";=")
def test_no_text_breaks_out_of_a_table(text):
    sheet = Sheet("t", text, ("a", "b"), ((text, 1),), note=text)
    assert unescaped(list(csv.reader(io.StringIO(as_csv(sheet))))[1][0]) == text
    row = as_markdown(sheet).splitlines()[4]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3, row
    latex = as_latex(sheet).partition("\n")[2]
    escaped = re.sub(r"\\[a-zA-Z]+|\\.|\$[^$]*\$", "", latex)
    assert not re.search(r"[%#_^~$]", escaped), latex
    assert escaped.count("{") == escaped.count("}")


def test_a_number_with_fewer_decimals_than_its_column_lacks_their_width():
    """The report adds it as blank space, so that decimal points are in one line."""
    table = printed_table(Sheet("t", "T", ("a", "b"), (("x", 0.5), ("y", 12), ("z", None))))
    assert [row[1] for row in table.rows] == ["0.500", "12", "–"]
    assert [row[1] for row in table.missing] == ["", ".000", ""]


def test_a_number_with_fewer_stars_than_its_column_lacks_their_width():
    cells = Starred(0.711, "**"), Starred(0.49, "*"), Starred(0.4, ""), None
    table = printed_table(Sheet("t", "T", ("a", "b"), tuple(("x", cell) for cell in cells)))
    assert [row[1] for row in table.rows] == ["0.711 (**)", "0.490 (*)", "0.400", "–"]
    assert [row[1] for row in table.missing] == ["", "*", " (**)", ""]
