"""Faults of a plan's fields, and the checks of single fields that yield them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Fault:
    """A fault of one field: ``text`` names the value found and the values allowed.

    ``place``: field names and 0-based indices that lead to it, ("personal_fields", 1, "kind").
    """

    place: Place
    text: str

    def under(self, *outer: str | int) -> "Fault":
        """Return the fault with its place extended by the outer fields."""
        return replace(self, place=(*outer, *self.place))


@dataclass(frozen=True)
class Finding:
    """A remark on a question, or on the whole study if ``question`` is None.

    ``failed``: the study is broken; other findings may be intended.
    """

    question: int | None
    text: str
    failed: bool = False


class PlanError(ValueError):
    """An invalid plan; ``faults`` holds all its faults."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.text for fault in self.faults))


def whole_number_faults(name: str, value: object, lowest: int, highest: int) -> Iterable[Fault]:
    """Yield a fault unless the value is a whole number within the bounds."""
    if not isinstance(value, int) or isinstance(value, bool):
        yield Fault((name,), f"{name} is {value!r}; a whole number is needed")
    elif not lowest <= value <= highest:
        yield Fault((name,), f"{name} is {value}; {lowest} to {highest} are allowed")


def choice_faults(name: str, value: object, allowed: Iterable[str]) -> Iterable[Fault]:
    """Yield a fault unless the value is among the allowed words."""
    words = tuple(allowed)
    if value not in words:
        yield Fault((name,), f"{name} is {value!r}; allowed is {', '.join(words)}")


def boolean_faults(name: str, value: object) -> Iterable[Fault]:
    """Yield a fault unless the value is true or false."""
    if not isinstance(value, bool):
        yield Fault((name,), f"{name} is {value!r}; true or false are allowed")


def date_faults(name: str, value: object) -> Iterable[Fault]:
    """Yield a fault unless the value is a date as ISO 8601 writes it."""
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        day = None
    if day is None or day.isoformat() != value:
        yield Fault((name,), f"{name} is {value!r}; a day is needed, written like 2027-06-30")


def is_storable(text: str) -> bool:
    """Return whether every database can store a text: without NUL and lone surrogates."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def text_faults(name: str, value: object, longest: int, *, needed: bool = False) -> Iterable[Fault]:
    """Yield a fault unless the value is a text that fits, can be stored and is not blank."""
    if not isinstance(value, str):
        yield Fault((name,), f"{name} is {value!r}; a text is needed")
    elif needed and not value.strip():
        yield Fault((name,), f"{name} is empty; participants read it, so it needs a text")
    elif len(value) > longest:
        yield Fault((name,), f"{name} has {len(value)} characters; {longest} are allowed")
    elif not is_storable(value):
        yield Fault((name,), f"{name} holds a character that cannot be stored")
