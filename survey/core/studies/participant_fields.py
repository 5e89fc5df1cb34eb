"""What a study knows of a participant: the columns of participants.csv, the personal fields.

Personal fields are asked on the page "About you"; a plan declares them.
"""

import keyword
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

from survey.core.studies.faults import (
    Choice,
    Fault,
    PlanError,
    Switch,
    Text,
    Whole,
    is_storable,
    rule_faults,
    ruled,
)

PERSONAL = "personal"
MINUTES = "minutes"
KINDS = {"choice": "one of several options", "number": "a whole number", "text": "a text"}
LARGEST = 1_000_000_000
MOST_OPTIONS = 50


@dataclass(frozen=True)
class ParticipantRecord:
    """A participant as exported: without name, address, device or a platform's id.

    A field that is named as a column of the table of participants is that column: export,
    codebook, reading and import take its type, meaning and allowed values from the model.
    ``personal`` is a column for each personal field of the plan. ``consent_version`` is the
    only other field.
    """

    public_id: str
    status: str
    personal: Mapping[str, Any]
    consent_version: int | None
    started_at: datetime
    completed_at: datetime | None
    is_test: bool
    excluded: bool
    exclude_reason: str | None


def participant_columns() -> Iterator[tuple[str, str]]:
    """Yield the columns of participants.csv, each with the field of the record that it holds.

    PERSONAL is in place of the columns of a plan. MINUTES is computed, and no field.
    """
    for field in fields(ParticipantRecord):
        yield ("participant" if field.name == "public_id" else field.name), field.name
        if field.name == "completed_at":
            yield MINUTES, MINUTES


# Names of other columns of participants.csv, and of the field that every form has.
TAKEN = (*(name for name, _ in participant_columns() if name != PERSONAL), "csrf_token")


@dataclass(frozen=True)
class PersonalField:
    """A field of the page "About you".

    ``kind``: "number" (whole, between ``lowest`` and ``highest``), "choice" (one of
    ``options``) or "text". ``name``: its column in exports, a lower-case word.
    ``screen_out``: the options with which someone cannot take part.

    Raises PlanError with all its faults.
    """

    name: str
    label: str = ruled(Text("Question", 200))
    kind: Literal["choice", "number", "text"] = ruled(Choice("Kind", KINDS))
    required: bool = ruled(Switch("Must be answered"), True)
    help: str = ruled(Text("Help text", 500, needed=False), "")
    options: tuple[str, ...] = ()
    lowest: int | None = ruled(
        Whole("Lowest", -LARGEST, LARGEST, optional=True, help="Only for “a whole number”."), None
    )
    highest: int | None = ruled(Whole("Highest", -LARGEST, LARGEST, optional=True), None)
    screen_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", _as_tuple(self.options))
        object.__setattr__(self, "screen_out", _as_tuple(self.screen_out))
        if faults := [*self._faults()]:
            raise PlanError(faults)

    def _faults(self) -> Iterable[Fault]:
        yield from rule_faults(self)
        yield from self._name_faults()
        yield from self._bound_faults()
        yield from self._option_faults()

    def _name_faults(self) -> Iterable[Fault]:
        name = self.name
        if not (
            isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) < 41
        ):
            allowed = "up to 40 lower-case letters, digits and _ are allowed, a letter first"
        elif name != name.lower() or keyword.iskeyword(name) or name.startswith("_"):
            allowed = "a lower-case word that is no keyword of Python is allowed"
        elif name in TAKEN:
            allowed = "exports have a column of this name; choose another"
        else:
            return
        yield Fault(("name",), f"the personal field {name!r} cannot be a column; {allowed}")

    def _bound_faults(self) -> Iterable[Fault]:
        bounds = (self.lowest, self.highest)
        if all(isinstance(bound, int) for bound in bounds) and self.lowest > self.highest:  # type: ignore[operator] # both are numbers
            yield Fault(("lowest",), f"lowest is {bounds[0]}, more than highest, {bounds[1]}")

    def _option_faults(self) -> Iterable[Fault]:
        options = self.options
        if not all(_is_option(option) for option in options):
            yield Fault(("options",), "each option needs a text of at most 200 characters")
        elif not all(map(is_storable, options)):
            yield Fault(("options",), "an option holds a character that cannot be stored")
        elif len(set(options)) < len(options):
            yield Fault(("options",), f"the personal field {self.name} has an option twice")
        elif self.kind == "choice" and not 2 <= len(options) <= MOST_OPTIONS:
            yield Fault(
                ("options",),
                f"the personal field {self.name} needs at least two options, "
                f"and {MOST_OPTIONS} at most; found {len(options)}",
            )
        for option in self.screen_out:
            if option not in options:
                yield Fault(("screen_out",), f"screen_out names {option!r}, which is no option")

    @classmethod
    def from_json(cls, stored: object) -> "PersonalField":
        """Make a field from plain values.

        Raises PlanError with all unknown and missing names, or else with all invalid values.
        """
        if not isinstance(stored, Mapping):
            raise PlanError([Fault((), f"{stored!r} found; name, label and kind are needed")])
        known = [item.name for item in fields(cls)]
        faults = [
            Fault((str(name),), f"a personal field has no {name!r}; it has {', '.join(known)}")
            for name in stored
            if name not in known
        ]
        faults += [
            Fault(
                (), f"the personal field {stored.get('name', '')} has no {name}".replace("  ", " ")
            )
            for name in ("name", "label", "kind")
            if name not in stored
        ]
        if faults:
            raise PlanError(faults)
        return cls(**{name: _tidy(value) for name, value in stored.items()})


def tidy_text(text: str) -> str:
    """Return a text without outer spaces and spaces at line ends, with Unix line ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _tidy(value: Any) -> Any:
    if isinstance(value, str):
        return tidy_text(value)
    if isinstance(value, list | tuple):
        return tuple(tidy_text(item) if isinstance(item, str) else item for item in value)
    return value


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _is_option(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= 200
