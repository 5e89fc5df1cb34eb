"""The fields of the page "About you"."""

import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from survey.core.studies.faults import (
    Fault,
    PlanError,
    boolean_faults,
    choice_faults,
    is_storable,
    text_faults,
    whole_number_faults,
)
from survey.core.studies.participant_record import PERSONAL, participant_columns

KINDS = ("number", "choice", "text")
LARGEST = 1_000_000_000
MOST_OPTIONS = 50


@dataclass(frozen=True)
class PersonalField:
    """One field of the page "About you".

    ``kind``: "number" (whole, between ``lowest`` and ``highest``), "choice" (one of
    ``options``) or "text". ``name``: its column in exports, a lower-case word.
    ``screen_out``: the options with which someone cannot take part.

    Raises PlanError with all that is wrong.
    """

    name: str
    label: str
    kind: Literal["number", "choice", "text"]
    required: bool = True
    help: str = ""
    options: tuple[str, ...] = ()
    lowest: int | None = None
    highest: int | None = None
    screen_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", _as_tuple(self.options))
        object.__setattr__(self, "screen_out", _as_tuple(self.screen_out))
        faults = list(self._faults())
        if faults:
            raise PlanError(faults)

    def _faults(self) -> Iterable[Fault]:
        yield from text_faults("label", self.label, 200, needed=True)
        yield from text_faults("help", self.help, 500)
        yield from boolean_faults("required", self.required)
        yield from choice_faults("kind", self.kind, KINDS)
        yield from self._about_name()
        yield from self._about_bounds()
        yield from self._about_options()

    def _about_name(self) -> Iterable[Fault]:
        name = self.name
        if not (
            isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) < 41
        ):
            allowed = "up to 40 lower-case letters, digits and _ are allowed, a letter first"
        elif name != name.lower() or keyword.iskeyword(name) or name.startswith("_"):
            allowed = "lower-case words that mean nothing to computers are allowed"
        elif name in TAKEN:
            allowed = "that column is there already; choose another name"
        else:
            return
        yield Fault(("name",), f"the personal field {name!r} cannot be a column; {allowed}")

    def _about_bounds(self) -> Iterable[Fault]:
        for name in ("lowest", "highest"):
            if getattr(self, name) is not None:
                yield from whole_number_faults(name, getattr(self, name), -LARGEST, LARGEST)
        bounds = (self.lowest, self.highest)
        if all(isinstance(one, int) for one in bounds) and self.lowest > self.highest:  # type: ignore[operator] # both are numbers here
            yield Fault(("lowest",), f"lowest is {bounds[0]}, more than highest, {bounds[1]}")

    def _about_options(self) -> Iterable[Fault]:
        options = self.options
        if not all(isinstance(one, str) and one.strip() and len(one) <= 200 for one in options):
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
        """Make a field from plain values; raises PlanError with all that is wrong."""
        if not isinstance(stored, Mapping):
            raise PlanError([Fault((), f"{stored!r} found; name, label and kind are needed")])
        known = [one.name for one in fields(cls)]
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


# Names of other columns of participants.csv, and of the field that every form has.
TAKEN = (*(name for name, _ in participant_columns() if name != PERSONAL), "csrf_token")


def tidy_text(text: str) -> str:
    """Strip a text and end its lines as Unix does, whatever form or file it came from."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _tidy(value: Any) -> Any:
    if isinstance(value, str):
        return tidy_text(value)
    if isinstance(value, list | tuple):
        return tuple(tidy_text(one) if isinstance(one, str) else one for one in value)
    return value


def _as_tuple(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, list | tuple) else (found,)
