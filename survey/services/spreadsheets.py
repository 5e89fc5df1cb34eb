"""Cells of CSV files, escaped so that no spreadsheet runs them as a formula.

A spreadsheet takes a cell for a formula when, after what it skips, it begins with one of
SIGNS; an apostrophe there makes it a text. Where a file is opened with a separator other
than the comma, as Excel does in much of Europe, a cell begins after each semicolon, tab
or line break too, even inside quotes; so an apostrophe is put there as well. An added
apostrophe is among the characters that are skipped, so a cell that begins with some gets one
more, and removing one at each place restores the text.
"""

import re
from collections.abc import Iterable

# What starts a formula, also in the wide and the small forms of East Asian fonts. | and %
# start none today, but did in older programs.
SIGNS = r"=+\-@|%＝＋－＠｜％﹦﹢﹣﹫﹪"
# Blanks of all kinds, quotes, and characters without width or shape.
UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    r"\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
SKIPPED = rf" \x0b\x0c{UNSEEN}\"'"
FIRST = rf"(?=[{SKIPPED}\t\r\n]*[{SIGNS}\t\r\n])"
LATER = rf"(?=[{SKIPPED}]*[{SIGNS}])"

BEFORE_FORMULA = re.compile(rf"\A{FIRST}|(?<=[;\t\r\n]){LATER}")
ESCAPED = re.compile(rf"\A'{FIRST}|(?<=[;\t\r\n])'{LATER}")


def escaped(cell: str) -> str:
    """Insert an apostrophe wherever a spreadsheet would begin to run a formula."""
    return BEFORE_FORMULA.sub("'", cell)


def unescaped(cell: str) -> str:
    """Remove the apostrophes that ``escaped`` inserted."""
    return ESCAPED.sub("", cell)


def line_of(cells: Iterable[str]) -> str:
    """Return a line of CSV (RFC 4180) from cells that are escaped already.

    The csv module leaves a lone carriage return unquoted where lines end in \\n, and
    reads it back as the end of a row.
    """
    return ",".join(map(quoted, cells)) + "\n"


def quoted(cell: str) -> str:
    """Return a cell, in quotes where commas, quotes or line breaks need them."""
    return '"' + cell.replace('"', '""') + '"' if re.search(r'[",\r\n]', cell) else cell
