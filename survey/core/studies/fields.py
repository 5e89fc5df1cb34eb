"""Declared fields: of plans, of how questions are shown, of answers, and of participants.

A field is declared once, as a ``Rule`` on a field of a frozen dataclass. From it come the checks,
forms, tables of the database, columns of files with their codebook, and reading.

What a study knows of a participant: the columns of participants.csv, the personal fields, which
a plan declares and the page "About you" asks for, and its closing questions.
"""

import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date, datetime
from functools import cache, lru_cache
from itertools import groupby, pairwise
from operator import attrgetter
from string import Formatter
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from survey.core.text_input import Json, closest

PERSONAL = "personal"
CLOSING = "closing"
MINUTES = "minutes"
FieldAnswer = str | int | None  # to a personal field or a closing question
FIELD_TYPES = {
    "choice": "one of several options",
    "number": "a whole number",
    "text": "a text",
    "scale": "a scale",
}
SCALE = (1, 5)  # the points of a scale that names no others
MOST_POINTS = 11
BOUNDS_HELP = "Only for “a whole number” and “a scale”, which is from 1 to 5 otherwise."
BOUNDS = {"from": "lowest", "to": "highest"}  # what a plan file may call them
FIRST_YEAR, LAST_YEAR = 2000, 2199  # of days in plans
LONGEST_ANSWER = 2_000  # characters of what participants write below a question, or at the end
LARGEST = 1_000_000_000
NUMBER_GROUP = re.compile(r"(\d{1,9})(?:[-–](\d{1,9})|(\+))?")  # 18-29, 65+ or 30
MOST_OPTIONS = 50
MOST_QUESTIONS = 50  # of a study whose lists are drawn, or a researcher's own
MOST_LISTED = 20  # values that a page shows beside each other

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

    ``failed``: the study is broken; other findings may be intended. ``mend``: where it can be
    mended: a field of the plan or of recruitment, "items" or "lists"; empty for a mere remark.
    ``stops``: the study cannot open before it is mended. ``code``: what it is about, for scripts.
    """

    question: int | None
    text: str
    failed: bool = False
    mend: str = ""
    stops: bool = False
    code: str = ""


class PlanError(ValueError):
    """An invalid plan; ``faults`` holds all its faults."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.text for fault in self.faults))


class UnreadablePlanError(PlanError):
    """A stored plan of a kind that is not registered, or that this version cannot read."""


def is_storable(text: str) -> bool:
    """Return whether every database can store a text: without NUL and lone surrogates."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True)
class Rule:
    """What a field may hold; ``label`` and ``help``: how a form asks for it.

    ``only_with``: the field and the values of the choice with which it counts, ("design", "pool").
    A form leaves a plan's field at its default otherwise; in an answer there is none otherwise.

    Of a plan: ``step``: in which step of its form, for a field of the plan's kind: "what" to ask,
    "how" to ask, "who" takes part, or "texts".

    Of an answer, or of how a question is shown: ``doc``: what it means, for the codebook, the
    database and those whose data it is. ``missing``: what the page says where it is not answered.
    ``asked_by``: the switch of the plan that asks for it; without one every plan does.
    """

    label: str = ""
    help: str = field(default="", kw_only=True)
    step: str = field(default="how", kw_only=True)
    only_with: tuple[str, *tuple[str | int, ...]] = field(default=("", ""), kw_only=True)
    doc: str = field(default="", kw_only=True)
    missing: str = field(default="", kw_only=True)
    asked_by: str = field(default="", kw_only=True)

    def faults(self, name: str, value: object) -> Iterable[Fault]:
        """Yield a fault for a value that breaks the rule."""
        if breach := self.breach(value):
            yield Fault((name,), f"{name} {breach}")

    def breach(self, value: object) -> str:
        """Return the end of the fault's sentence; "" for a value that the rule allows."""
        return self._breach(value)

    def _breach(self, value: object) -> str:  # noqa: ARG002 - for subclasses
        """See ``breach``; every value is allowed where the plan checks it itself."""
        return ""

    @property
    def words(self) -> Mapping[str | int, str]:
        """What each allowed value is called, where these are few; else empty."""
        return {}

    @property
    def schema(self) -> dict[str, Json]:
        """What JSON Schema says of its values; of other rules nothing."""
        return {}


@dataclass(frozen=True)
class Text(Rule):
    """Rule of a text that databases can store.

    ``needed``: it must not be blank. ``filled``: it may hold placeholders such as {lists}, which
    pages replace with the design's numbers. ``rows``: of its control in a form; 0 for one line.
    ``shown``: whether participants read it.
    """

    longest: int = 2_000
    needed: bool = True
    filled: bool = False
    rows: int = 0
    shown: bool = True

    def _breach(self, value: object) -> str:
        if not isinstance(value, str):
            return f"is {_written(value)}; a text is needed"
        if self.needed and not value.strip():
            return "is empty; participants read it, so it needs a text"
        if len(value) > self.longest:
            return f"has {len(value)} characters; {self.longest} are allowed"
        return "" if is_storable(value) else "holds a character that cannot be stored"

    @property
    def schema(self) -> dict[str, Json]:
        """A text, as long as it may be."""
        return {"type": "string", "minLength": int(self.needed), "maxLength": self.longest}


@dataclass(frozen=True)
class Whole(Rule):
    """Rule of a whole number within bounds; ``optional``: None is allowed too."""

    lowest: int = 0
    highest: int = LARGEST
    optional: bool = False

    def _breach(self, value: object) -> str:
        if value is None and self.optional:
            return ""
        if type(value) is not int:
            return f"is {_written(value)}; a whole number is needed"
        within = self.lowest <= value <= self.highest
        return "" if within else f"is {value}; {self.lowest} to {self.highest} are allowed"

    @property
    def words(self) -> Mapping[str | int, str]:
        """Each number, where a page can list them."""
        few = self.highest - self.lowest < MOST_LISTED
        return {number: str(number) for number in range(self.lowest, self.highest + 1) if few}

    @property
    def schema(self) -> dict[str, Json]:
        """A whole number within the bounds."""
        types = ["integer", "null"] if self.optional else "integer"
        return {"type": types, "minimum": self.lowest, "maximum": self.highest}


@dataclass(frozen=True)
class Share(Rule):
    """Rule of a share from 0 to 1."""

    def _breach(self, value: object) -> str:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        within = is_number and 0 <= value <= 1  # type: ignore[operator] # it is a number
        return "" if within else f"is {_written(value)}; a share from 0 to 1 is needed, like .05"

    @property
    def schema(self) -> dict[str, Json]:
        """A number from 0 to 1."""
        return {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True)
class Switch(Rule):
    """Rule of a field that is true or false."""

    def _breach(self, value: object) -> str:
        return "" if isinstance(value, bool) else f"is {_written(value)}; true or false are allowed"

    @property
    def words(self) -> Mapping[str | int, str]:
        """Yes and no."""
        return {True: "Yes", False: "No"}

    @property
    def schema(self) -> dict[str, Json]:
        """True or false."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Choice(Rule):
    """Rule of a field that is one of several values; ``allowed``: each with its description.

    The values are words, or all of them are whole numbers.
    """

    allowed: Mapping[Any, str] = field(default_factory=dict)

    def _breach(self, value: object) -> str:
        is_plain = isinstance(value, str | int) and not isinstance(value, bool)
        if is_plain and value in self.allowed:
            return ""
        return f"is {_written(value)}; allowed is {', '.join(map(str, self.allowed))}"

    @property
    def words(self) -> Mapping[str | int, str]:
        """The descriptions."""
        return self.allowed

    @property
    def schema(self) -> dict[str, Json]:
        """One of the values."""
        return {"enum": [*self.allowed]}


@dataclass(frozen=True)
class Day(Rule):
    """Rule of a date as ISO 8601 writes it, up to LAST_YEAR, or None."""

    def _breach(self, value: Any) -> str:
        if value is None:
            return ""
        with suppress(TypeError, ValueError):
            day = date.fromisoformat(value)
            if day.isoformat() == value and FIRST_YEAR <= day.year <= LAST_YEAR:
                return ""
        years = f"from {FIRST_YEAR} to {LAST_YEAR}"
        return f"is {_written(value)}; a day is needed, written like 2027-06-30, {years}"

    @property
    def schema(self) -> dict[str, Json]:
        """A date, or nothing."""
        return {"type": ["string", "null"], "format": "date"}


@dataclass(frozen=True)
class Language(Rule):
    """Rule of a language's code."""

    def _breach(self, value: object) -> str:
        is_code = isinstance(value, str) and re.fullmatch(r"[a-z]{2,3}", value)
        return "" if is_code else f"is {_written(value)}; two letters, like en"

    @property
    def schema(self) -> dict[str, Json]:
        """A code."""
        return {"type": "string", "pattern": "^[a-z]{2,3}$"}


@dataclass(frozen=True)
class Words(Rule):
    """Rule of several words without blanks, which their plan checks; ``rows``: as of a Text."""

    rows: int = 0


@dataclass(frozen=True)
class Lines(Words):
    """Rule of several texts, a line each."""

    rows: int = 6
    longest: int = 500
    most: int = 1_000

    def _breach(self, value: object) -> str:
        if not isinstance(value, tuple) or not all(isinstance(line, str) for line in value):
            return f"is {_written(value)[:60]}; a list of texts is needed"
        if len(value) > self.most:
            return f"has {len(value)} lines; {self.most} are allowed"
        for line in value:
            if not line.strip() or "\n" in line or not is_storable(line):
                return f"has the line {line[:60]!r}; a text on one line is needed"
            if len(line) > self.longest:
                return f"has a line of {len(line)} characters; {self.longest} are allowed"
        return ""


@dataclass(frozen=True)
class Nested(Rule):
    """Rule of values within values, which their plan checks; a form asks for them as YAML."""


def _written(value: object) -> str:
    """Return a value as files of plans write it, texts in quotation marks."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):  # or a datetime
        return value.isoformat()
    return "empty" if value is None else repr(value)


def declared(rule: Rule, default: object = MISSING) -> Any:
    """Return a dataclass field that carries its rule."""
    return field(default=default, metadata={"rule": rule})


def unknown_field(name: str, known: Iterable[str], noun: str) -> Fault:
    """Return the fault of a field that ``noun``, which has those that are known, has not."""
    meant = closest(name, known)
    remedy = f"did you mean {meant}?" if meant else f"{noun} has {', '.join(known)}"
    return Fault((name,), f"there is no field “{name}”; {remedy}")


def rule_faults(settings: object) -> Iterable[Fault]:
    """Yield the faults of a dataclass's fields that break their rules."""
    for name, rule in rules_of(type(settings)).items():
        yield from rule.faults(name, getattr(settings, name))


def rules_of(settings: type[Any]) -> dict[str, Rule]:
    """Return the rules of a dataclass by field, in the order of their declaration."""
    return {
        item.name: item.metadata["rule"] for item in fields(settings) if "rule" in item.metadata
    }


@dataclass(frozen=True)
class ValueField:
    """A declared field with the type of its values; ``optional``: whether it may be None."""

    name: str
    type: type
    optional: bool
    rule: Rule

    @property
    def doc(self) -> str:
        """What it means, for the codebook."""
        return self.rule.doc or self.rule.label or self.name.replace("_", " ")

    @property
    def label(self) -> str:
        """What a page calls it."""
        return self.rule.label or self.name.replace("_", " ").capitalize()

    @property
    def control(self) -> str:
        """How a page asks for it: "choice", "scale" (of numbers), "number" or "text"."""
        if self.rule.words:
            return "scale" if isinstance(self.rule, Whole) else "choice"
        return "text" if self.type is str else "number"

    @staticmethod
    def sent(value: object) -> str:
        """Return a value as a form sends it."""
        return str(int(value)) if isinstance(value, bool) else str(value)

    def is_asked(self, plan: object, values: Mapping[str, object]) -> bool:
        """Return whether a plan asks for it; ``values``: of the fields before it."""
        if self.rule.asked_by and not getattr(plan, self.rule.asked_by):
            return False
        before, *allowed = self.rule.only_with
        return not before or values.get(before) in allowed

    def breach(self, value: object) -> str:
        """Return the end of the sentence about a value that is not allowed; else ""."""
        return "" if value is None and self.optional else self.rule.breach(value)


def value_fields(owner: type) -> tuple[ValueField, ...]:
    """Return the declared fields of a type of answers, or of how questions are shown."""
    return _value_fields(owner)


@cache
def _value_fields(owner: type) -> tuple[ValueField, ...]:
    rules = rules_of(owner)
    hints = get_type_hints(owner) if rules else {}
    made = []
    for name, rule in rules.items():
        is_union = get_origin(hints[name]) in (Union, UnionType)
        types = get_args(hints[name]) if is_union else (hints[name],)
        [type_] = {*types} - {NoneType}
        made.append(ValueField(name, type_, NoneType in types, rule))
    return tuple(made)


class NotAllowedValueError(ValueError):
    """A value that a declared field does not allow; ``field``: its name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name} {text}")
        self.field, self.text = name, text


@cache
def given_together(owner: type) -> tuple[tuple[ValueField, ValueField], ...]:
    """Return pairs of declared fields that are both None or both given: one switch asks for both.

    Each of its fields is in a pair with the one before it.
    """
    asked = [each for each in value_fields(owner) if each.rule.asked_by and each.optional]
    alike = groupby(asked, key=lambda each: (each.rule.asked_by, each.rule.only_with))
    return tuple(pair for _, fields_of in alike for pair in pairwise(fields_of))


@cache
def _checks_of(
    owner: type,
) -> Sequence[tuple[str, bool, Callable[[object], str] | None, str, tuple[object, ...]]]:
    """Return of each declared field what ``Declared`` checks.

    Each is (name, whether it may be None, its rule's ``breach`` unless that allows all, the field
    of the choice with which it counts, the values of that choice).
    """
    checks = []
    for declared_field in value_fields(owner):
        rule = declared_field.rule
        breach_of = None if type(rule)._breach is Rule._breach else rule.breach
        before, *allowed = rule.only_with
        name, is_optional = declared_field.name, declared_field.optional
        checks.append((name, is_optional, breach_of, before, tuple(allowed)))
    return checks


def _require_allowed(owner: type, *values: object) -> None:
    """Raise NotAllowedValueError unless an owner may have these values of its declared fields."""
    checks = _checks_of(owner)
    given = {check[0]: value for check, value in zip(checks, values, strict=True)}
    for name, optional, breach_of, before, allowed in checks:
        value = given[name]
        if value is None and optional:
            continue
        if breach_of and (breach := breach_of(value)):
            raise NotAllowedValueError(name, breach)
        if before and given[before] not in allowed:
            text = f"is {_written(value)}; there is one only with {before} "
            raise NotAllowedValueError(name, text + " or ".join(map(str, allowed)))
    for first, second in given_together(owner):
        if (given[first.name] is None) != (given[second.name] is None):
            text = f"and {second.name} belong together; both or neither can be given"
            raise NotAllowedValueError(first.name, text)


# Millions of answers have few different values. True is not 1 here: their types count too.
_require_allowed_once: Callable[..., None] = lru_cache(4_096, typed=True)(_require_allowed)


def _require_known(owner: type, *values: Any) -> None:
    try:
        _require_allowed_once(owner, *values)
    except TypeError:  # a value of another type, which cannot be a key
        _require_allowed(owner, *values)


@cache
def _values_checker(owner: type) -> Callable[[object], None]:
    """Return what checks the values of an owner's declared fields."""
    names = [each.name for each in value_fields(owner)]
    are_plain = all(each.type in (bool, int, float, str) for each in value_fields(owner))
    check = _require_known if are_plain else _require_allowed
    if len(names) < 2:  # attrgetter would return no tuple
        return lambda owned: check(owner, *(getattr(owned, name) for name in names))
    values_of = attrgetter(*names)
    return lambda owned: check(owner, *values_of(owned))


class Declared:
    """Base of a frozen dataclass whose fields refuse what their rules do not allow.

    Raises NotAllowedValueError for a value that breaks its rule, for one beside a choice with
    which it does not count, and for one of two that a single switch asks for.
    """

    def __post_init__(self) -> None:
        owner: type = type(self)
        _values_checker(owner)(self)


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


def list_words(parts: Sequence[str]) -> str:
    """Join words like A, B and C."""
    *before, last = parts or [""]
    return f"{', '.join(before)} and {last}" if before else last


@dataclass(frozen=True)
class ParticipantRecord:
    """A participant as exported: without name, address, device or a platform's id.

    A field that is named as a column of the table of participants is that column: export,
    codebook, reading and import take its type, meaning and allowed values from the model.
    ``personal`` is a column for each personal field of the plan, and ``closing`` for each closing
    question. ``consent_version`` is the only other field.
    """

    public_id: str
    status: str
    personal: Mapping[str, FieldAnswer]
    consent_version: int | None
    started_at: datetime
    completed_at: datetime | None
    is_test: bool
    excluded: bool
    exclude_reason: str | None
    understood: bool | None = None
    arm: str | None = None
    closing: Mapping[str, FieldAnswer] | None = None
    machine_line: bool = False


def participant_columns() -> Iterator[tuple[str, str]]:
    """Yield the columns of participants.csv, each with the field of the record that it holds.

    PERSONAL and CLOSING are in place of the columns of a plan. MINUTES is computed, and no field.
    """
    for item in fields(ParticipantRecord):
        yield ("participant" if item.name == "public_id" else item.name), item.name
        if item.name == "completed_at":
            yield MINUTES, MINUTES


# Names of other columns of participants.csv, and of the field that every form has.
TAKEN_COLUMNS = (
    *(name for name, _ in participant_columns() if name not in (PERSONAL, CLOSING)),
    "csrf_token",
)


@dataclass(frozen=True)
class PersonalField:
    """A field of the page "About you".

    ``kind``: "number" (whole, between ``lowest`` and ``highest``), "choice" (one of
    ``options``), "text", or "scale" (from ``lowest`` to ``highest``, else 1 to 5; ``options``: the
    words for its ends, if any).
    ``name``: its column in exports, a lower-case word. ``screen_out``: the options with which
    someone cannot take part. ``screen_below``: nor can someone with a lower number, as the consent
    says. ``quotas``: groups of answers (an option, or numbers like 18-29 or 65+) and how many
    people of each can take part; given as a mapping. Other answers have no quota.

    Raises PlanError with all its faults.
    """

    noun: ClassVar[str] = "personal field"
    longest: ClassVar[int] = 500  # characters of a text
    taken: ClassVar[tuple[str, ...]] = TAKEN_COLUMNS  # names of columns beside it

    name: str
    label: str = declared(Text("Question", 200))
    kind: Literal["choice", "number", "text", "scale"] = declared(Choice("Kind", FIELD_TYPES))
    required: bool = declared(Switch("Must be answered"), True)
    help: str = declared(Text("Help text", 500, needed=False), "")
    options: tuple[str, ...] = ()
    lowest: int | None = declared(
        Whole(
            "Lowest",
            -LARGEST,
            LARGEST,
            optional=True,
            help=BOUNDS_HELP,
        ),
        None,
    )
    highest: int | None = declared(Whole("Highest", -LARGEST, LARGEST, optional=True), None)
    screen_out: tuple[str, ...] = ()
    screen_below: int | None = declared(
        Whole(
            "Lowest that can take part",
            -LARGEST,
            LARGEST,
            optional=True,
            help="The consent names it, and a lower number ends the survey for a person: 18 for a "
            "survey of adults. “Lowest” finds slips of the keyboard, and must be lower.",
        ),
        None,
    )
    quotas: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", as_tuple(self.options))
        object.__setattr__(self, "screen_out", as_tuple(self.screen_out))
        if isinstance(self.quotas, Mapping):
            pairs = [(str(group).strip(), most) for group, most in self.quotas.items()]
            object.__setattr__(self, "quotas", tuple(sorted(pairs, key=self._place_of_group)))
        if faults := [*self._faults()]:
            raise PlanError(faults)

    def _faults(self) -> Iterable[Fault]:
        yield from rule_faults(self)
        yield from self._name_faults()
        yield from self._bound_faults()
        yield from self._option_faults()
        yield from self._screening_faults()
        yield from self._quota_faults()

    def _name_faults(self) -> Iterable[Fault]:
        name = self.name
        if not (
            isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) < 41
        ):
            allowed = "up to 40 lower-case letters, digits and _ are allowed, a letter first"
        elif name != name.lower() or keyword.iskeyword(name) or name.startswith("_"):
            allowed = "a lower-case word that is no keyword of Python is allowed"
        elif name in self.taken:
            allowed = "exports have a column of this name; choose another"
        else:
            return
        yield Fault(("name",), f"the {self.noun} {name!r} cannot be a column; {allowed}")

    def _bound_faults(self) -> Iterable[Fault]:
        bounds = (self.lowest, self.highest)
        if all(isinstance(bound, int) for bound in bounds) and self.lowest > self.highest:  # type: ignore[operator] # both are numbers
            yield Fault(("lowest",), f"lowest is {bounds[0]}, more than highest, {bounds[1]}")
        elif self.kind == "scale" and all(isinstance(bound, int) for bound in self.bounds):
            first, last = self.bounds
            if not 2 <= last - first + 1 <= MOST_POINTS:
                text = f"a scale has 2 to {MOST_POINTS} points; {first} to {last} found"
                yield Fault(("highest",), text)

    def _option_faults(self) -> Iterable[Fault]:
        options = self.options
        if not all(_is_option(option) for option in options):
            yield Fault(("options",), "each option needs a text of at most 200 characters")
        elif not all(map(is_storable, options)):
            yield Fault(("options",), "an option holds a character that cannot be stored")
        elif len(set(options)) < len(options):
            yield Fault(("options",), f"the {self.noun} {self.name} has an option twice")
        elif self.kind == "choice" and not 2 <= len(options) <= MOST_OPTIONS:
            yield Fault(
                ("options",),
                f"the {self.noun} {self.name} needs at least two options, "
                f"and {MOST_OPTIONS} at most; found {len(options)}",
            )
        elif self.kind == "scale" and len(options) not in (0, 2):
            first, last = self.bounds
            text = f"the words for {first} and for {last}, or none; found {len(options)}"
            yield Fault(("options",), f"the {self.noun} {self.name} needs two options, {text}")

    def _screening_faults(self) -> Iterable[Fault]:
        for option in self.screen_out:
            if option not in self.options:
                yield Fault(("screen_out",), f"screen_out names {option!r}, which is no option")
        if self.screen_out and self.kind == "scale":
            yield Fault(("screen_out",), f"screen_out is set, and {self.name} is a scale")
        least = self.screen_below
        if not isinstance(least, int):
            return
        found = f"screen_below is {least}"
        if self.kind != "number":
            yield Fault(("screen_below",), f"{found}, and {self.name} is no number")
        elif not self.required:
            text = (
                f"required is false; people below {least} cannot take part, so an answer is needed"
            )
            yield Fault(("required",), text)
        elif isinstance(self.lowest, int) and self.lowest >= least:
            text = f"{found}, but no number below {self.lowest} can be given; lower lowest"
            yield Fault(("screen_below",), text)
        elif isinstance(self.highest, int) and self.highest < least:
            text = f"{found}, more than highest, {self.highest}"
            yield Fault(("screen_below",), text)

    def _quota_faults(self) -> Iterable[Fault]:
        place = ("quotas",)
        if not (isinstance(self.quotas, tuple) and all(map(_is_pair, self.quotas))):
            text = "quotas need a number for each group, like 18-29: 10"
            yield Fault(place, f"{text}; {self.quotas!r} found")
            return
        if self.quotas and self.kind == "text":
            yield Fault(place, f"quotas are set, and {self.name} is a text; they need groups")
            return
        ends = -1
        for group, most in self.quotas:
            if type(most) is not int or not 0 <= most <= LARGEST:
                text = f"the quota of {group!r} is {most!r}; a whole number from 0 on is needed"
                yield Fault(place, text)
            if self.kind == "choice":
                if group not in self.options:
                    yield Fault(place, f"quotas name {group!r}, which is no option of {self.name}")
                continue
            numbers = _numbers_of_group(group)
            if numbers is None:
                text = f"quotas name the group {group!r}; write numbers like 18-29, 30 or 65+"
                yield Fault(place, text)
            elif numbers[0] <= ends:
                yield Fault(place, f"quotas name {numbers[0]} in two groups; one is {group}")
            else:
                ends = numbers[1]

    def _place_of_group(self, pair: tuple[str, object]) -> int:
        if self.kind == "choice":
            return self.options.index(pair[0]) if pair[0] in self.options else MOST_OPTIONS
        return (_numbers_of_group(pair[0]) or (LARGEST, 0))[0]

    def quota_group(self, answer: FieldAnswer) -> str | None:
        """Return the group with a quota that an answer is in; None for none."""
        for group, _ in self.quotas:
            numbers = None if self.kind == "choice" else _numbers_of_group(group)
            if answer == group if numbers is None else numbers[0] <= _as_int(answer) <= numbers[1]:
                return group
        return None

    def screens_out(self, answer: Any) -> bool:
        """Return whether someone with this answer cannot take part."""
        if self.screen_below is not None and answer is not None:
            return bool(answer < self.screen_below)
        return answer in self.screen_out

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest number that it allows, None for no bound."""
        if self.kind != "scale":
            return self.lowest, self.highest
        first, last = SCALE
        return (
            first if self.lowest is None else self.lowest,
            last if self.highest is None else self.highest,
        )

    @property
    def points(self) -> Sequence[int]:
        """The numbers of a scale."""
        first, last = self.bounds
        return range(first, last + 1)

    @classmethod
    def from_json(cls, stored: object) -> Self:
        """Make a field from plain values.

        Raises PlanError with all unknown and missing names, or else with all invalid values.
        """
        if not isinstance(stored, Mapping):
            raise PlanError([Fault((), f"{stored!r} found; name, label and kind are needed")])
        stored = {BOUNDS.get(str(name), str(name)): value for name, value in stored.items()}
        known = [item.name for item in fields(cls)]
        unknown = [str(name) for name in stored if name not in known]
        misspelt = {closest(name, known) for name in unknown}
        faults = [unknown_field(name, known, f"a {cls.noun}") for name in unknown]
        faults += [
            Fault((), f"the {cls.noun} {stored.get('name', '')} has no {name}".replace("  ", " "))
            for name in ("name", "label", "kind")
            if name not in stored and name not in misspelt
        ]
        if faults:
            raise PlanError(faults)
        return cls(**{name: _tidy(value) for name, value in stored.items()})


@dataclass(frozen=True)
class ClosingQuestion(PersonalField):
    """A question of the page after the last question; no answer ends the study for a person."""

    noun: ClassVar[str] = "closing question"
    longest: ClassVar[int] = LONGEST_ANSWER

    def _faults(self) -> Iterable[Fault]:
        yield from super()._faults()
        for name in ("screen_out", "screen_below", "quotas"):
            if getattr(self, name) not in ((), None):
                yield Fault((name,), f"{name} is set, and {self.name} is a {self.noun}")


@dataclass(frozen=True)
class AskedField(ClosingQuestion):
    """What a plan asks beside each question, whatever its kind; a column of beside.csv."""

    noun: ClassVar[str] = "further question"
    taken: ClassVar[tuple[str, ...]] = ("participant", "question", "csrf_token")


def tidy_text(text: str) -> str:
    """Return a text without outer spaces and spaces at line ends, with Unix line ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _tidy(value: object) -> Any:
    if isinstance(value, str):
        return tidy_text(value)
    if isinstance(value, list | tuple):
        return tuple(tidy_text(item) if isinstance(item, str) else item for item in value)
    return value


def as_tuple(value: object) -> tuple[Any, ...]:
    """Return the items of a list or tuple, and of any other value that value alone."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _numbers_of_group(group: str) -> tuple[int, int] | None:
    """Return the lowest and highest number of a group like 18-29, 65+ or 30; None for others."""
    parts = NUMBER_GROUP.fullmatch(group)
    if parts is None:
        return None
    first = int(parts[1])
    last = LARGEST if parts[3] else int(parts[2] or first)
    return (first, last) if first <= last else None


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _as_int(answer: FieldAnswer) -> int:
    return answer if isinstance(answer, int) else -1


def _is_option(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= 200
