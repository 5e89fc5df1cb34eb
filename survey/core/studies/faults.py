"""What is wrong with a plan, and where."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Fault:
    """One thing that cannot be: ``text`` says what was found and what is allowed.

    ``place``: field names and 0-based indices that lead to it, ("personal_fields", 1, "kind").
    """

    place: Place
    text: str

    def under(self, *outer: str | int) -> "Fault":
        """Return the fault as seen from further outside."""
        return replace(self, place=(*outer, *self.place))


class PlanError(ValueError):
    """A plan that cannot be; ``faults`` holds everything that is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.text for fault in self.faults))


def whole_number(name: str, found: object, lowest: int, highest: int) -> Iterable[Fault]:
    """Yield the fault of a field that is no whole number within its bounds."""
    if not isinstance(found, int) or isinstance(found, bool):
        yield Fault((name,), f"{name} is {found!r}; a whole number is needed")
    elif not lowest <= found <= highest:
        yield Fault((name,), f"{name} is {found}; {lowest} to {highest} are allowed")


def one_of(name: str, found: object, allowed: Iterable[str]) -> Iterable[Fault]:
    """Yield the fault of a field that is none of the words allowed."""
    words = tuple(allowed)
    if found not in words:
        yield Fault((name,), f"{name} is {found!r}; allowed is {', '.join(words)}")


def yes_or_no(name: str, found: object) -> Iterable[Fault]:
    """Yield the fault of a field that is neither true nor false."""
    if not isinstance(found, bool):
        yield Fault((name,), f"{name} is {found!r}; true or false are allowed")


def a_day(name: str, found: object) -> Iterable[Fault]:
    """Yield the fault of a field that is no day of the calendar."""
    try:
        day = date.fromisoformat(found) if isinstance(found, str) else None
    except ValueError:
        day = None
    if day is None or day.isoformat() != found:
        yield Fault((name,), f"{name} is {found!r}; a day is needed, written like 2027-06-30")


def is_storable(text: str) -> bool:
    """Tell whether a text can be kept: without NUL (PostgreSQL stores none) and half characters."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def a_text(name: str, found: object, longest: int, *, needed: bool = False) -> Iterable[Fault]:
    """Yield the faults of a text: another kind of value, too long, holding a NUL, or empty."""
    if not isinstance(found, str):
        yield Fault((name,), f"{name} is {found!r}; a text is needed")
    elif needed and not found.strip():
        yield Fault((name,), f"{name} is empty; participants read it, so it needs a text")
    elif len(found) > longest:
        yield Fault((name,), f"{name} has {len(found)} characters; {longest} are allowed")
    elif not is_storable(found):
        yield Fault((name,), f"{name} holds a character that cannot be stored")
