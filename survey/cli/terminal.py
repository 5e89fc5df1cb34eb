"""What commands print: JSON, sentences, tables, and progress bars on stderr.

rich decides whether to use colours (NO_COLOR, FORCE_COLOR and TERM=dumb count); a colour only
repeats what a word says. Where there is no terminal, nothing is wrapped, cut or animated.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from survey.core.preflight import Warned
    from survey.figures.exhibit import Exhibit
    from survey.services.analysis.sheets import Sheet

UNLIMITED = 100_000  # columns, where no terminal sets a width
MAX_PROSE_WIDTH = 98
MOST_WARNINGS = 10  # of a code are printed
NO_BREAK_SPACE = "\u00a0"  # keeps words on one line; printed as a space
GAP = 3  # between the columns of a table
NUMERIC = tuple("0123456789.+−-±–<")  # how a cell with a number begins

GOOD, DOUBTFUL, BAD = "green", "yellow", "bold red"
# Controls, without tab and line feed, and what turns the direction of a text or ends its line.
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
WORD_COLOURS = {
    **dict.fromkeys(("ok", "yes", "open", "HOLDS"), GOOD),
    **dict.fromkeys(("warning", "draft", "not yet", "HOLDS IN PART"), DOUBTFUL),
    **dict.fromkeys(("NOT SUPPORTED",), DOUBTFUL),
    **dict.fromkeys(("DANGER", "NO", "DOES NOT HOLD"), BAD),
}


def harmless(text: str) -> str:
    """Return a text whose signs that steer a terminal, or turn its direction, are named."""
    return STEERS.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text, in which no title or id that it quotes can steer the terminal."""
    click.echo(harmless(text), err=err, nl=nl)


def print_json(content: object) -> None:
    """Print a value as indented JSON, for scripts."""
    text = json.dumps(content, ensure_ascii=False, indent=2)
    click.echo(STEERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_result(content: object, *sentences: str, as_json: bool) -> None:
    """Print what a command has done: as JSON for scripts, or in a line for each sentence."""
    if as_json:
        print_json(content)
        return
    for sentence in sentences:
        say(sentence)


def print_warnings(warnings: "Sequence[Warned]", *, strict: bool = False) -> None:
    """Print warnings to stderr, ten of a code; exit with 1 for a stop, or for any if ``strict``."""
    for _, of_code in groupby(warnings, key=lambda warning: warning.code):
        same_code = [*of_code]
        for warning in same_code[:MOST_WARNINGS]:
            word = "Note" if warning.level == "note" else "Warning"
            say(f"{word}: {warning.text}.", err=True)
        if len(same_code) > MOST_WARNINGS:
            say(f"Warning: and {len(same_code) - MOST_WARNINGS} more.", err=True)
    levels = {warning.level for warning in warnings}
    if "stop" in levels or (strict and "warning" in levels):
        raise click.exceptions.Exit(1)


def print_heading(title: str) -> None:
    """Print a title in bold, on one line."""
    _console().print(harmless(title), style="bold", soft_wrap=True)


def print_text(text: str, first_indent: str = "", indent: str = "", *, word: str = "") -> None:
    """Print a paragraph, wrapped on a terminal; a ``word`` at its beginning gets its colour.

    ``first_indent`` begins the first line, ``indent`` all others.
    """
    from rich.text import Text

    console = _console()
    width = min(MAX_PROSE_WIDTH, console.width) if console.width != UNLIMITED else UNLIMITED
    wrapped = click.wrap_text(harmless(text), width, first_indent, indent)
    styled = Text(wrapped.replace(NO_BREAK_SPACE, " "))
    if styled.plain.startswith(f"{first_indent}{word}"):
        styled.stylize(WORD_COLOURS.get(word, ""), len(first_indent), len(first_indent) + len(word))
    console.print(styled, soft_wrap=True)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a title, as wide as the terminal allows.

    Text is wrapped, numbers are not: columns that do not fit go into further tables below,
    each of which repeats the columns that name the rows.
    """
    texts = [["" if cell is None else harmless(str(cell)) for cell in row] for row in rows]
    cells = [[name, *(row[index] for row in texts)] for index, name in enumerate(columns)]
    if title:
        print_heading(title)
    keys = next((index for index, column in enumerate(cells) if index and _is_numeric(column)), 1)
    words = [_longest_word(column) for column in cells]
    for indices in _split_columns(words, keys, _console().width):
        _print_columns([cells[index] for index in indices])
        say()


def print_sheet(sheet: "Sheet | Exhibit") -> None:
    """Print a sheet of results as a table, and its note below."""
    from survey.services.analysis.sheets import printed_table

    printed = printed_table(sheet)
    if printed.rows:
        print_table(sheet.title, printed.columns, printed.rows)
    else:
        print_heading(sheet.title)
    if sheet.note:
        print_text(sheet.note)
        say()


@dataclass(frozen=True)
class ProgressBar:
    """A progress bar on stderr."""

    progress: "Progress"
    task: "TaskID"

    def advance(self, amount: float = 1) -> None:
        """Add to what is done."""
        self.progress.advance(self.task, amount)

    def describe(self, label: str) -> None:
        """Set what is said before the bar."""
        self.progress.update(self.task, description=label)

    def update(self, done: float, total: float) -> None:
        """Set how much is done, and of how much."""
        self.progress.update(self.task, completed=done, total=total)


@contextmanager
def progress_bars() -> Iterator["Progress"]:
    """Yield a display for several bars; the block must print nothing else."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(
        console=console,
        transient=True,
        disable=not (sys.stderr.isatty() and console.is_interactive),
        # Otherwise rich sends to stderr what is printed to stdout while a bar is drawn.
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        yield progress


@contextmanager
def progress_bar(label: str, total: float | None = None) -> Iterator[ProgressBar]:
    """Yield one bar; without a total it only shows that work is going on."""
    with progress_bars() as progress:
        yield ProgressBar(progress, progress.add_task(label, total=total))


def _console() -> "Console":
    from rich.console import Console

    width = None if sys.stdout.isatty() else UNLIMITED
    return Console(width=width, markup=False, highlight=False, emoji=False)


def _print_columns(cells: Sequence[Sequence[str]]) -> None:
    """Print columns, each with its heading first."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = _console()
    box = SIMPLE_HEAD if console.width != UNLIMITED else None
    table = Table(box=box, show_edge=False, pad_edge=False, header_style="bold cyan")
    widths = _column_widths(cells, console.width)
    for index, (column, width) in enumerate(zip(cells, widths, strict=True)):
        table.add_column(
            column[0],
            justify="right" if index and _is_numeric(column) else "left",
            overflow="fold",  # otherwise a digest wider than the terminal is cut
            width=width,
        )
    for row in zip(*(column[1:] for column in cells), strict=True):
        table.add_row(*(Text(cell, style=WORD_COLOURS.get(cell, "")) for cell in row))
    console.print(table)


def _is_numeric(column: Sequence[str]) -> bool:
    return all(not cell or cell.startswith(NUMERIC) for cell in column[1:])


def _longest_word(column: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(cell_len(word) for cell in column for word in cell.split() or [""])


def _split_columns(words: Sequence[int], keys: int, width: int) -> Iterator[list[int]]:
    """Yield the columns of each table that fits; each begins with the ``keys`` first columns."""
    indices = [*range(keys)]
    for column in range(keys, len(words)):
        if len(indices) > keys and sum(words[i] + GAP for i in (*indices, column)) - GAP > width:
            yield indices
            indices = [*range(keys)]
        indices.append(column)
    yield indices


def _column_widths(cells: Sequence[Sequence[str]], width: int) -> Sequence[int | None]:
    """Return each column's width: its longest word, and a part of what is left.

    None for all where the words alone do not fit.
    """
    from rich.cells import cell_len

    widths = [_longest_word(column) for column in cells]
    wanted = [max(map(cell_len, column)) for column in cells]
    spare = min(width - GAP * (len(cells) - 1), sum(wanted)) - sum(widths)
    if spare < 0:
        return [None] * len(cells)
    while spare:
        wider = [i for i in range(len(cells)) if widths[i] < wanted[i]][:spare]
        for i in wider:
            widths[i] += 1
        spare -= len(wider)
    return widths
