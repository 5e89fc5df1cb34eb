"""What commands print: sentences for people, JSON for scripts. Tables are in ``tables``.

Colours are for terminals (rich decides: NO_COLOR, FORCE_COLOR and TERM=dumb count) and only
repeat what a word says already.
"""

import json
import sys
from typing import Any

import click
from rich.console import Console
from rich.text import Text

# Nothing is cut or wrapped where no terminal sets a width.
ENDLESS = 100_000
# Lines of prose on a terminal are no longer, also where there is room.
READABLE = 98
# Words that are not to be parted have this between them; a space is printed.
TOGETHER = "\u00a0"

GOOD, DOUBTFUL, BAD = "green", "yellow", "bold red"
COLOURS = {
    **dict.fromkeys(("ok", "yes", "open", "HOLDS"), GOOD),
    **dict.fromkeys(("warning", "draft", "not yet", "HOLDS ONLY IN PART"), DOUBTFUL),
    **dict.fromkeys(("NOT SUPPORTED",), DOUBTFUL),
    **dict.fromkeys(("DANGER", "NO", "DOES NOT HOLD"), BAD),
}


def print_json(content: Any) -> None:
    """Print JSON for scripts."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))


def heading(title: str) -> None:
    """Print what comes next, in bold."""
    console().print(title, style="bold", soft_wrap=True)


def say(text: str, first: str = "", others: str = "", *, word: str = "") -> None:
    """Print a sentence, wrapped on a terminal; ``word`` at its beginning gets its colour.

    ``first`` and ``others`` stand before the first line and before those after it.
    """
    screen = console()
    width = min(READABLE, screen.width) if screen.width != ENDLESS else ENDLESS
    told = Text(click.wrap_text(text, width, first, others).replace(TOGETHER, " "))
    if told.plain.startswith(f"{first}{word}"):
        told.stylize(COLOURS.get(word, ""), len(first), len(first) + len(word))
    screen.print(told, soft_wrap=True)


def console() -> Console:
    """Return where to print: as wide as the terminal, endless where there is none."""
    width = None if sys.stdout.isatty() else ENDLESS
    return Console(width=width, markup=False, highlight=False, emoji=False)
