"""Faults of a plan's fields, and the rules of single fields that yield them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date
from typing import Any

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


def is_storable(text: str) -> bool:
    """Return whether every database can store a text: without NUL and lone surrogates."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True)
class Rule(ABC):
    """What a field may hold; ``label`` and ``help``: how a form asks for it."""

    label: str
    help: str = field(default="", kw_only=True)

    @abstractmethod
    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""


@dataclass(frozen=True)
class Text(Rule):
    """Rule of a text that databases can store.

    ``needed``: it must not be blank. ``filled``: it may hold placeholders such as {lists}, which
    pages replace with the design's numbers. ``rows``: of its control in a form; 0 for one line.
    """

    longest: int
    needed: bool = True
    filled: bool = False
    rows: int = 0

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if not isinstance(value, str):
            yield Fault((name,), f"{name} is {value!r}; a text is needed")
        elif self.needed and not value.strip():
            yield Fault((name,), f"{name} is empty; participants read it, so it needs a text")
        elif len(value) > self.longest:
            yield Fault((name,), f"{name} has {len(value)} characters; {self.longest} are allowed")
        elif not is_storable(value):
            yield Fault((name,), f"{name} holds a character that cannot be stored")


@dataclass(frozen=True)
class Whole(Rule):
    """Rule of a whole number within bounds; ``optional``: None is allowed too."""

    lowest: int
    highest: int
    optional: bool = False

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if value is None and self.optional:
            return
        if not isinstance(value, int) or isinstance(value, bool):
            yield Fault((name,), f"{name} is {value!r}; a whole number is needed")
        elif not self.lowest <= value <= self.highest:
            yield Fault((name,), f"{name} is {value}; {self.lowest} to {self.highest} are allowed")


@dataclass(frozen=True)
class Switch(Rule):
    """Rule of a field that is true or false."""

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if not isinstance(value, bool):
            yield Fault((name,), f"{name} is {value!r}; true or false are allowed")


@dataclass(frozen=True)
class Choice(Rule):
    """Rule of a field that is one of several words; ``allowed``: each with its description."""

    allowed: Mapping[str, str]

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if value not in tuple(self.allowed):  # as a tuple: the value may be a list
            yield Fault((name,), f"{name} is {value!r}; allowed is {', '.join(self.allowed)}")


@dataclass(frozen=True)
class Day(Rule):
    """Rule of a date as ISO 8601 writes it, or None."""

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if value is None:
            return
        try:
            day = date.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            day = None
        if day is None or day.isoformat() != value:
            yield Fault((name,), f"{name} is {value!r}; a day is needed, written like 2027-06-30")


@dataclass(frozen=True)
class Language(Rule):
    """Rule of a language's code."""

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if not (isinstance(value, str) and re.fullmatch(r"[a-z]{2,3}", value)):
            yield Fault((name,), f"{name} is {value!r}; two letters, like en")


def ruled(rule: Rule, default: Any = MISSING) -> Any:
    """Return a dataclass field that carries its rule."""
    return field(default=default, metadata={"rule": rule})


def rules_of(settings: type[Any]) -> dict[str, Rule]:
    """Return the rules of a dataclass by field, in the order of their declaration."""
    return {
        item.name: item.metadata["rule"] for item in fields(settings) if "rule" in item.metadata
    }
