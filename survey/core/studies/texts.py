"""Texts of a study: numbers as words, placeholders for them, and marks for translation."""

import re
from collections.abc import Sequence
from string import Formatter

# A study's address, /s/SLUG: small letters, digits and hyphens.
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


def marked(text: str) -> str:
    """Return the text; the call marks it for the translation catalogues, pages translate it."""
    return text


NUMBER_WORDS = (
    *(marked("no"), marked("one"), marked("two"), marked("three"), marked("four"), marked("five")),
    *(marked("six"), marked("seven"), marked("eight"), marked("nine"), marked("ten")),
)


def and_join(parts: Sequence[str]) -> str:
    """Join words like A, B and C."""
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])


def placeholders(text: str) -> list[str]:
    """Return the contents of a text's braces, with conversions and formats: name, name!r.

    Raises ValueError for an unpaired brace.
    """
    return [
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for _, name, spec, conversion in Formatter().parse(text)
        if name is not None
    ]
