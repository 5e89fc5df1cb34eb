"""Texts of a study: numbers as words, placeholders for them, and marks for translation."""

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from survey.core.studies.rankings import letters_for

# A study's address, /s/SLUG: small letters, digits and hyphens.
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


def marked(text: str) -> str:
    """Return the text; the call marks it for the translation catalogues, pages translate it."""
    return text


NUMBER_WORDS = (
    *(marked("no"), marked("one"), marked("two"), marked("three"), marked("four"), marked("five")),
    *(marked("six"), marked("seven"), marked("eight"), marked("nine"), marked("ten")),
)


def fill(text: str, words: Mapping[str, str]) -> str:
    """Replace a text's placeholders, like {lists}, by words; {{ is a literal brace."""
    return text.format_map(words)


def in_words(number: int) -> str:
    """Return the word for a number up to ten, and digits for a larger number."""
    return NUMBER_WORDS[number] if 0 <= number < len(NUMBER_WORDS) else str(number)


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


def number_words(
    numbers: Mapping[str, int],
    in_words: Callable[[int], str] = in_words,
    and_join: Callable[[Sequence[str]], str] = and_join,
) -> dict[str, str]:
    """Return the words for a plan's placeholders; by default in English."""
    words = {name: in_words(number) for name, number in numbers.items()}
    if "lists" in numbers:
        words |= {"letters": and_join(letters_for(numbers["lists"]))}
    return words
