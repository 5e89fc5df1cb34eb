"""Tables of results: formatted for reading, and as CSV and Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from survey.core.statistics.significance import p_text, rounded
from survey.core.text_input import csv_line, escaped
from survey.figures.exhibit import Cell as Cell
from survey.figures.exhibit import Exhibit

UNDEFINED = "–"


class P(float):
    """A p value: printed as papers do, in CSV a plain number."""


class Worded(str):
    """A text that people read as ``words``: MNRO-NMRR in CSV, "MNRO − NMRR" in print."""

    words: str

    def __new__(cls, text: str, words: str) -> "Worded":
        """Create a text with its words for people."""
        worded = super().__new__(cls, text)
        worded.words = words
        return worded


class Starred(float):
    """A value with stars of significance, 0.512 (**); in CSV a plain number.

    ``decimals``: of this number, where they differ from its table's.
    """

    stars: str
    decimals: int | None

    def __new__(cls, value: float, stars: str, decimals: int | None = None) -> "Starred":
        """Create a number with its stars."""
        starred = super().__new__(cls, value)
        starred.stars, starred.decimals = stars, decimals
        return starred


OWN_FORMAT = (P, Starred)


@dataclass(frozen=True)
class Sheet:
    """A table: ``name`` for its file, ``title`` above it, ``note`` below it.

    Cells are texts and numbers; None is printed as a dash and is empty in CSV.
    ``totals``: whether the last row adds the others up; ``decimals``: of floats; ``part``: of the
    report in which it is, see ``Section``.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    totals: bool = False
    decimals: int = 3
    part: str = "results"


Table = Sheet | Exhibit
"""A table, or the numbers of a figure, which are a table too."""


class PrintedTable(NamedTuple):
    """The texts of a table's headings and cells; ``numeric``: which columns hold numbers.

    ``missing``: for each cell the zeros that it lacks to have as many decimals as the longest
    fraction of its column. Pages show them as blank space, so that the decimal points are in one
    line.
    """

    columns: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    missing: list[list[str]]


def printed_table(table: Table) -> PrintedTable:
    """Format a table for reading.

    Within a column plain floats have equal decimals; whole numbers, P and Starred may have others.
    """
    columns = [_printed_column(table, cells) for cells in zip(*table.rows, strict=True)]
    return PrintedTable(
        columns=[text_of(column) for column in table.columns],
        rows=[list(row) for row in zip(*columns, strict=True)],
        numeric=numeric_columns(table),
        missing=[list(row) for row in zip(*map(_missing_decimals, columns), strict=True)],
    )


def _missing_decimals(texts: Sequence[str]) -> list[str]:
    """Return for each text of a column the end of ".000 (***)" that it lacks."""
    fractions, stars = [], []
    for text in texts:
        number, _, mark = text.partition(" (")
        fractions.append("".join(number.partition(".")[1:]))  # with their point
        stars.append(mark.rstrip(")"))
    longest, most = max(map(len, fractions)), max(stars, key=len)
    zeros = f".{'0' * longest}"[:longest]
    return [
        ""
        if text == UNDEFINED
        else zeros[len(fraction) :] + (most[len(own) :] if own or not most else f" ({most})")
        for text, fraction, own in zip(texts, fractions, stars, strict=True)
    ]


def _printed_column(table: Table, cells: Sequence[Cell]) -> list[str]:
    plain = [cell for cell in cells if isinstance(cell, float) and not isinstance(cell, OWN_FORMAT)]
    # A value that would read as 0 gets more decimals, and then its whole column does.
    needed = [len(rounded(value, table.decimals).partition(".")[2]) for value in plain]
    decimals = min(max(needed, default=table.decimals), table.decimals + 2)
    # Where a row of totals adds a column up, its whole numbers are the same quantity.
    as_floats = bool(plain) and table.totals
    return [
        text_of(float(cell) if as_floats and isinstance(cell, int) else cell, decimals)
        for cell in cells
    ]


def count_of(number: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun; ``nouns``: of several, where an s is not enough."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"


def text_of(cell: Cell, decimals: int = 3) -> str:
    """Format a cell for reading: None as a dash, floats rounded.

    P, Starred and Worded are printed as their classes say.
    """
    if cell is None:
        return UNDEFINED
    if isinstance(cell, P):
        return p_text(cell).removeprefix("p ").removeprefix("= ")
    if isinstance(cell, Starred):
        number = rounded(cell, decimals if cell.decimals is None else cell.decimals)
        return f"{number} ({cell.stars})" if cell.stars else number
    if isinstance(cell, float):
        return rounded(cell, decimals)
    if isinstance(cell, int):
        return str(cell).replace("-", "−")
    return cell.words if isinstance(cell, Worded) else cell


def as_csv(sheet: Table) -> str:
    """Return a sheet as CSV, numbers in full."""
    return "".join(csv_lines(sheet.columns, sheet.rows))


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the lines of a table as CSV, the columns' names first."""
    yield csv_line(map(_csv_cell, columns))
    for row in rows:
        yield csv_line(map(_csv_cell, row))


def _csv_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    return escaped(cell) if isinstance(cell, str) else repr(cell)


def as_markdown(sheet: Table) -> str:
    """Return a sheet as a Markdown table between its title and its note."""
    printed = printed_table(sheet)
    lines = [
        f"**{_escape_markdown(sheet.title)}**",
        "",
        _markdown_row([_escape_markdown(column) for column in printed.columns]),
        _markdown_row(["---:" if right else "---" for right in printed.numeric]),
        *(_markdown_row([_escape_markdown(text) for text in row]) for row in printed.rows),
    ]
    if sheet.note:
        lines += ["", _escape_markdown(sheet.note)]
    return "\n".join(lines) + "\n"


def numeric_columns(table: Table) -> list[bool]:
    """Return for each column whether it is aligned at the right, as numbers are.

    The first column never is: it names the rows.
    """
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    return [
        index > 0 and all(cell is None or isinstance(cell, (int, float)) for cell in cells)
        for index, cells in enumerate(columns)
    ]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_markdown(text: str) -> str:
    """Return a text on one line, with Markdown's signs escaped."""
    for sign in "\\|*_`<>[]":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
