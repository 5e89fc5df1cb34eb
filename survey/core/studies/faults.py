"""Faults of a plan's fields, and the rules of single fields that yield them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date
from string import Formatter
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

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if breach := self._breach(value):
            yield Fault((name,), f"{name} {breach}")

    @abstractmethod
    def _breach(self, value: Any) -> str:
        """Return the end of the fault's sentence; "" for a value that the rule allows."""


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

    def _breach(self, value: Any) -> str:
        if not isinstance(value, str):
            return f"is {value!r}; a text is needed"
        if self.needed and not value.strip():
            return "is empty; participants read it, so it needs a text"
        if len(value) > self.longest:
            return f"has {len(value)} characters; {self.longest} are allowed"
        return "" if is_storable(value) else "holds a character that cannot be stored"


@dataclass(frozen=True)
class Whole(Rule):
    """Rule of a whole number within bounds; ``optional``: None is allowed too."""

    lowest: int
    highest: int
    optional: bool = False

    def _breach(self, value: Any) -> str:
        if value is None and self.optional:
            return ""
        if not isinstance(value, int) or isinstance(value, bool):
            return f"is {value!r}; a whole number is needed"
        within = self.lowest <= value <= self.highest
        return "" if within else f"is {value}; {self.lowest} to {self.highest} are allowed"


@dataclass(frozen=True)
class Switch(Rule):
    """Rule of a field that is true or false."""

    def _breach(self, value: Any) -> str:
        return "" if isinstance(value, bool) else f"is {value!r}; true or false are allowed"


@dataclass(frozen=True)
class Choice(Rule):
    """Rule of a field that is one of several words; ``allowed``: each with its description."""

    allowed: Mapping[str, str]

    def _breach(self, value: Any) -> str:
        known = tuple(self.allowed)  # no mapping: the value may be a list
        return "" if value in known else f"is {value!r}; allowed is {', '.join(known)}"


@dataclass(frozen=True)
class Day(Rule):
    """Rule of a date as ISO 8601 writes it, or None."""

    def _breach(self, value: Any) -> str:
        with suppress(TypeError, ValueError):
            if value is None or date.fromisoformat(value).isoformat() == value:
                return ""
        return f"is {value!r}; a day is needed, written like 2027-06-30"


@dataclass(frozen=True)
class Language(Rule):
    """Rule of a language's code."""

    def _breach(self, value: Any) -> str:
        is_code = isinstance(value, str) and re.fullmatch(r"[a-z]{2,3}", value)
        return "" if is_code else f"is {value!r}; two letters, like en"


def ruled(rule: Rule, default: Any = MISSING) -> Any:
    """Return a dataclass field that carries its rule."""
    return field(default=default, metadata={"rule": rule})


def rule_faults(settings: Any) -> Iterable[Fault]:
    """Yield the faults of a dataclass's fields that break their rules."""
    for name, rule in rules_of(type(settings)).items():
        yield from rule.faults(name, getattr(settings, name))


def rules_of(settings: type[Any]) -> dict[str, Rule]:
    """Return the rules of a dataclass by field, in the order of their declaration."""
    return {
        item.name: item.metadata["rule"] for item in fields(settings) if "rule" in item.metadata
    }


def brace_faults(
    name: str, text: str, allowed: Sequence[str], why_not: Callable[[str], str] = lambda _: ""
) -> Iterable[Fault]:
    """Yield the faults of a text's braces: unpaired ones, and names that are not allowed.

    ``why_not``: a name that is not allowed → the reason, to end the sentence.
    """
    try:
        names = placeholders(text)
    except ValueError:
        yield Fault((name,), f"{name} holds a single {{ or }}; write {{{{ or }}}} for the sign")
        return
    shown = ", ".join(f"{{{known}}}" for known in allowed)
    for each in names:
        if each not in allowed:
            yield Fault((name,), f"{{{each}}} found in {name}; allowed are {shown}{why_not(each)}")


def placeholders(text: str) -> list[str]:
    """Return the contents of a text's braces, with conversions and formats: name, name!r.

    Raises ValueError for an unpaired brace.
    """
    return [
        f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
        for _, name, spec, conversion in Formatter().parse(text)
        if name is not None
    ]


def and_join(parts: Sequence[str]) -> str:
    """Join words like A, B and C."""
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])
