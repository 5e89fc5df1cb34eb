"""Reading the CSV files of a folder made elsewhere, forgiving what changes no answer."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from survey.services.exchange.faults import Faults
from survey.services.exchange.opening import Files, text_of
from survey.services.exchange.sheets import BundleError, SheetRow, read_cells

YES_NO = {"0": False, "1": True, "false": False, "true": True}


def filled_rows(
    files: Files, name: str, first: Sequence[str], faults: Faults
) -> Iterator[SheetRow]:
    """Give the rows of a file: cells without spaces around them, empty rows left out.

    The heading starts with the columns ``first``; others may follow it. A row with more
    or fewer cells than the heading is noted in ``faults`` and left out. Raises
    BundleError for a file that is missing, has another heading, or is no CSV.
    """
    rows = ([cell.strip() for cell in cells] for cells in read_cells(text_of(files, name), name))
    heading = next(rows, [])
    _check_heading(heading, name, first)
    for number, cells in enumerate(rows, 2):
        if not any(cells):
            continue
        with faults.noted():
            if len(cells) != len(heading):
                raise BundleError(
                    f"{name}, row {number}: {len(cells)} cells found; "
                    f"{len(heading)} are needed, as in the heading"
                )
        if len(cells) == len(heading):
            yield SheetRow(name, number, dict(zip(heading, cells, strict=True)))


def _check_heading(heading: Sequence[str], name: str, first: Sequence[str]) -> None:
    found = f"{name}, row 1: {','.join(heading)[:200] or 'nothing'} found"
    if len(heading) == 1 and ";" in heading[0]:
        raise BundleError(f"{found}; cells are separated by commas, not by semicolons")
    if list(heading[: len(first)]) != list(first):
        raise BundleError(f"{found}; the heading must start with {','.join(first)}")
    named = [column for column in heading if column]
    if len(set(named)) < len(named):
        raise BundleError(f"{found}; each column may be there once")


def from_one(row: SheetRow, column: str) -> int:
    """Return a whole number from 1 on."""
    number = row.whole(column)
    if number < 1:
        raise row.fault(column, "a whole number from 1 on is needed")
    return number


def yes(row: SheetRow, column: str) -> bool:
    """Return 0, 1, true or false as a truth value; an empty or missing cell is false."""
    word = (row.optional(column) or "0").lower()
    if word not in YES_NO:
        raise row.fault(column, "0, 1, true or false is needed")
    return YES_NO[word]


def moment(row: SheetRow, column: str) -> datetime | None:
    """Return a time in UTC, None where there is none."""
    cell = row.optional(column)
    try:
        found = None if cell is None else datetime.fromisoformat(cell)
        if found is not None and found.tzinfo is None:
            raise ValueError
        return found and found.astimezone(UTC)
    except (ValueError, OverflowError):
        allowed = "a time with its zone, like 2026-01-31T12:00:00Z, is needed"
        raise row.fault(column, allowed) from None
