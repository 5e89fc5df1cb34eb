"""Tables on the terminal; plain columns where there is none."""

from collections.abc import Iterator, Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from survey.cli.printing import COLOURS, ENDLESS, console, heading

GAP = 3  # between columns
# How a cell with numbers begins; an empty one goes with them.
NUMERIC = tuple("0123456789.+−-±–<")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: within the terminal, and as wide as it is where there is none.

    Text is wrapped, numbers are not: columns that do not fit stand in a second table below,
    beside those that name the rows.
    """
    told = [["" if cell is None else str(cell) for cell in row] for row in rows]
    cells = [[name, *(row[at] for row in told)] for at, name in enumerate(columns)]
    if title:
        heading(title)
    keys = next((at for at, column in enumerate(cells) if at and _numeric(column)), 1)
    for part in _fitting([_longest_word(column) for column in cells], keys, console().width):
        _print_columns([cells[at] for at in part])
        click.echo()


def _print_columns(cells: Sequence[Sequence[str]]) -> None:
    screen = console()
    box = SIMPLE_HEAD if screen.width != ENDLESS else None
    table = Table(box=box, show_edge=False, pad_edge=False, header_style="bold cyan")
    for index, (column, width) in enumerate(zip(cells, _widths(cells, screen.width), strict=True)):
        table.add_column(
            column[0],
            justify="right" if index and _numeric(column) else "left",
            overflow="fold",  # a word wider than the terminal, such as a digest, is never cut
            width=width,
        )
    for row in zip(*(column[1:] for column in cells), strict=True):
        table.add_row(*(Text(cell, style=COLOURS.get(cell, "")) for cell in row))
    screen.print(table)


def _numeric(column: Sequence[str]) -> bool:
    return all(not cell or cell.startswith(NUMERIC) for cell in column[1:])


def _longest_word(column: Sequence[str]) -> int:
    return max(cell_len(word) for cell in column for word in cell.split() or [""])


def _fitting(words: Sequence[int], keys: int, room: int) -> Iterator[list[int]]:
    """Deal columns out to tables that fit, each beginning with those that name the rows."""
    part = [*range(keys)]
    for at in range(keys, len(words)):
        if len(part) > keys and sum(words[one] + GAP for one in (*part, at)) - GAP > room:
            yield part
            part = [*range(keys)]
        part.append(at)
    yield part


def _widths(cells: Sequence[Sequence[str]], room: int) -> Sequence[int | None]:
    """Give each column its longest word, and what is left to those with longer texts."""
    widths = [_longest_word(column) for column in cells]
    wanted = [max(map(cell_len, column)) for column in cells]
    spare = min(room - GAP * (len(cells) - 1), sum(wanted)) - sum(widths)
    if spare < 0:
        return [None] * len(cells)
    while spare:
        wider = [at for at in range(len(cells)) if widths[at] < wanted[at]][:spare]
        for at in wider:
            widths[at] += 1
        spare -= len(wider)
    return widths
