"""Cells that a spreadsheet would run as a formula, made harmless and read back."""

import re

# A sign that starts a formula, in any of its widths, after apostrophes we may have put there.
FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")


def escaped(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Undo ``escaped``."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell
