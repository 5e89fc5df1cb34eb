"""Numbers and lists as words, and texts with the design's numbers in them."""

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from survey.core.studies.rankings import letters_for

# A study's address, /s/SLUG: small letters, digits and hyphens.
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


def marked(text: str) -> str:
    """Mark a text that participants read for the catalogues; whoever shows it translates it."""
    return text


NUMBER_WORDS = (
    *(marked("no"), marked("one"), marked("two"), marked("three"), marked("four"), marked("five")),
    *(marked("six"), marked("seven"), marked("eight"), marked("nine"), marked("ten")),
)


def fill(text: str, words: Mapping[str, str]) -> str:
    """Put words into a text's placeholders, {lists} and the like; {{ stands for a brace."""
    return text.format_map(words)


def in_words(number: int) -> str:
    """Write a small number as a word, a large one in figures."""
    return NUMBER_WORDS[number] if 0 <= number < len(NUMBER_WORDS) else str(number)


def and_join(parts: Sequence[str]) -> str:
    """Join words as a sentence does: A, B and C."""
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])


def placeholders(text: str) -> list[str]:
    """Return what stands in a text's braces, {name}, whole: {name!r} is another than {name}.

    Raises ValueError for a brace that stands alone.
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
    """Return what a plan's placeholders stand for, in English unless told how else to say it."""
    words = {name: in_words(number) for name, number in numbers.items()}
    return words | {"letters": and_join(letters_for(numbers["lists"]))}
