"""Assessors' files: their lines, the order of their topics, and what is wrong in them."""

from collections.abc import Iterable, Iterator, Sequence

from survey.core.stimuli.own_lists import MOST_FAULTS, shortened

Line = tuple[int, str]


class AssessmentError(ValueError):
    """Assessors' files that cannot be used; ``faults`` says what is wrong, a sentence each.

    Of more than 20 faults the first 19 are kept, and the last sentence counts the rest.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        found = tuple(faults)
        if len(found) > MOST_FAULTS:
            kept = found[: MOST_FAULTS - 1]
            found = (*kept, f"and {len(found) - len(kept)} more faults like these")
        self.faults: tuple[str, ...] = found
        super().__init__("\n".join(found))


def stop_if_any(faults: Sequence[str]) -> None:
    """Raise AssessmentError if there is a fault."""
    if faults:
        raise AssessmentError(faults)


def numbered_lines(text: str) -> Iterator[Line]:
    """Give the lines of a text with their numbers from 1; without empty ones and comments (#)."""
    unix = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(unix.split("\n"), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def malformed(where: str, line: str, allowed: str) -> str:
    """Say that a line has another number of fields than ``allowed`` names."""
    fields = line.split()
    count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
    found = shortened(" ".join(fields))
    return f"{where}: {count} found, {found}; {len(allowed.split())} are allowed: {allowed}"


def in_order(topics: Iterable[str]) -> list[str]:
    """Sort topics: whole numbers by size, then all others by the alphabet."""
    return sorted(topics, key=_place)


def _place(topic: str) -> tuple[bool, int, str]:
    number = topic.isascii() and topic.isdecimal()
    return (not number, len(topic) if number else 0, topic)
