"""A study's registration: what is decided before anyone answers, and what has changed since.

A registration is a JSON file. Its items are what an analysis is compared with; its other parts are
the sentences and numbers from which the texts for registries are made.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from survey import __version__
from survey.core.kinds import kind_of
from survey.core.statistics.sequential import look_levels
from survey.core.statistics.significance import LEVEL
from survey.core.studies.fields import Text, declared, is_storable, list_words, rules_of, tidy_text
from survey.core.studies.plan import Plan, text_digest
from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.services.studies.design import exclusion_rules, stopping_rule
from survey.services.studies.plans import PlanFileError, read_plan_text

REGISTRATION_FILE = "registration.json"
FILES = ("registration.md", REGISTRATION_FILE, "osf.md", "aspredicted.md")
FORMAT = 1
ITEMS = {
    "digest": "Digest",
    "measures": "Measures",
    "pairs": "Pairs",
    "scope": "Scope",
    "test": "Test",
    "correction": "Correction",
    "level": "Level",
    "exclusion_rule": "Exclusions: rule",
    "exclusion_people": "Exclusions: people",
    "sample_size": "Sample size",
    "stop": "Stop",
    "looks": "Looks",
    "arms": "Arms",
    "options": "Options",
    "version": "Version",
}
OPTIONS: dict[str, Json] = {
    "exclude_flagged": False,
    "include_test": False,
    "ties": "kept",
    "without_question": None,
}
SAME, CHANGED, UNKNOWN = "same", "changed", "cannot be compared"
NOT_STATED = "(not stated)"
DIGEST = re.compile("([0-9a-f]{12})[0-9a-f]{52}")  # of which tables show the beginning
NOT_OF_A_PLAN = re.compile("a plan has lines like `title: …`")
ONLY_THERE = "Only an external registry proves the date of a registration."


@dataclass(frozen=True)
class Typed:
    """What researchers say themselves in a registration; every field may stay empty."""

    hypothesis: str = declared(
        Text(
            "Hypothesis, with its direction",
            5_000,
            needed=False,
            rows=4,
            help="Which is ahead of which, and which result would speak against it.",
        ),
        "",
    )
    rationale: str = declared(
        Text(
            "Reason for the sample",
            5_000,
            needed=False,
            rows=3,
            help="Why so many people and questions, and who these people are.",
        ),
        "",
    )
    existing_data: str = declared(
        Text(
            "Data already seen",
            5_000,
            needed=False,
            rows=3,
            help="Answers of a pilot, for example, and who has seen them. Or: none.",
        ),
        "",
    )

    @property
    def missing(self) -> list[str]:
        """The labels of the fields that are empty."""
        rules = rules_of(Typed)
        return [rules[field.name].label for field in fields(self) if not getattr(self, field.name)]


def typed_fields(values: Mapping[str, object], file: str = "") -> Typed:
    """Return the typed fields; raise SurveyError for an unknown one, or what is no text.

    ``file``: that they were read from, for messages.
    """
    rules, where = rules_of(Typed), f"{file}: " if file else ""
    for name, value in values.items():
        if name not in rules:
            allowed = list_words([*rules])
            raise SurveyError(f"{where}there is no field {str(name)!r}; allowed are {allowed}.")
        if breach := rules[name].breach(value):
            raise SurveyError(f"{where}{name} {breach}.")
    return Typed(**{name: tidy_text(str(value)) for name, value in values.items()})


def read_fields(text: str, file: str) -> dict[str, object]:
    """Return the typed fields of a YAML or JSON file; raise SurveyError for what is none."""
    try:
        values = read_plan_text(text, file).values
    except PlanFileError as error:
        example = "it has lines like `hypothesis: …`"
        raise SurveyError(f"{NOT_OF_A_PLAN.sub(example, str(error))}.") from None
    return {str(name): "" if value is None else value for name, value in values.items()}


def items_of(plan: Plan, digest: str) -> dict[str, Json]:
    """Return what a plan decides of its analysis, by item."""
    protocol = kind_of(plan).protocol(plan)
    first = f" ({protocol.primary} first and by itself)" if protocol.primary else ""
    return {
        "digest": digest,
        "measures": list(getattr(plan, "measures", ())),
        "pairs": f"{', '.join(protocol.pairs)}{first}" or "none",
        "scope": protocol.scope,
        "test": protocol.test,
        "correction": protocol.correction,
        "level": level_of(plan),
        "exclusion_rule": exclusion_rules(plan),
        "exclusion_people": [],
        "sample_size": plan.participants,
        "stop": stopping_rule(plan),
        "looks": list(plan.looks),
        "arms": _arms(plan),
        "options": OPTIONS,
        "version": __version__,
    }


def level_of(plan: Plan) -> float:
    """Return the level of the last test, after the planned looks."""
    if not plan.looks:
        return LEVEL
    shares = [*(count / plan.participants for count in plan.looks), 1.0]
    return round(look_levels(shares, LEVEL)[-1], 6)


def _arms(plan: Plan) -> list[str]:
    settings = dict(zip(plan.arms, plan.arm_settings, strict=False))
    return [
        f"{name} ({in_words(dict(settings[name]))})" if settings.get(name) else name
        for name in plan.arms
    ]


def field_sums(plan: Plan) -> dict[str, str]:
    """Return a short checksum of each field of a plan that is not at its default."""
    return {
        name: text_digest(json.dumps(value, sort_keys=True))[:16]
        for name, value in plan.content().items()
    }


def in_words(value: object) -> str:
    """Return the value of an item as people read it."""
    if isinstance(value, Mapping):
        pairs = (f"{name}: {in_words(item)}" for name, item in sorted(value.items()))
        return "; ".join(pairs) or "none"
    if isinstance(value, list | tuple):
        return "; ".join(map(in_words, value)) or "none"
    if value is None or value is False:
        return "none" if value is None else "no"
    return "yes" if value is True else str(value)


def canonical(registration: Mapping[str, Json]) -> str:
    """Return a registration as the text of its file: the same content gives the same bytes."""
    return json.dumps(registration, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def sum_of(text: str) -> str:
    """Return the SHA-256 of a registration's file."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_registration(text: str, file: str = REGISTRATION_FILE) -> dict[str, Any]:
    """Parse the text of a registration; raise SurveyError with the file and what is wrong in it."""
    wanted = "`survey study preregister` writes one"
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SurveyError(f"{file} cannot be read as JSON ({error}); {wanted}.") from None
    if not isinstance(content, dict) or not is_storable(json.dumps(content, ensure_ascii=False)):
        raise SurveyError(f"{file} holds no registration; {wanted}.")
    if content.get("format") != FORMAT or type(content.get("format")) is not int:
        number = content.get("format")
        raise SurveyError(f"{file}, format: {number!r} found; {FORMAT} can be read; {wanted}.")
    for name, kind in {
        **dict.fromkeys(("items", "fields", "design", "power", "typed"), dict),
        **dict.fromkeys(("title", "slug", "kind", "address"), str),
    }.items():
        if not isinstance(content.get(name), kind):
            raise SurveyError(f"{file}, {name}: it is missing, or not as written; {wanted}.")
    for name in ("fields", "design", "typed"):
        if not all(isinstance(value, str) for value in content[name].values()):
            raise SurveyError(f"{file}, {name}: texts are needed; {wanted}.")
    return content


def changes_since(registration: Mapping[str, Any], plan: Plan, digest: str) -> list[str]:
    """Return what of a study is not as it was registered, each in half a sentence.

    Empty where the digest is the registered one.
    """
    registered, now = registration["items"], items_of(plan, digest)
    if registered.get("digest") == digest:
        return []
    changed = [
        f"{label.lower()} (registered {in_words(registered.get(name))}, now {in_words(now[name])})"
        for name, label in ITEMS.items()
        if name not in ("digest", "version") and now[name] != registered.get(name)
    ]
    before, after = registration["fields"], field_sums(plan)
    names = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    if names:
        changed.append(f"fields of the plan ({', '.join(names)})")
    return changed or ["questions, pictures or topics"]


@dataclass(frozen=True)
class Compared:
    """An item of a registration beside what was done; ``status``: SAME, CHANGED or UNKNOWN."""

    item: str
    registered: Json
    done: Json
    status: str

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The item in words, as a row of a table: label, status, registered, done."""
        registered, done = (
            DIGEST.sub(r"\1…", in_words(value)) for value in (self.registered, self.done)
        )
        return ITEMS[self.item], self.status, registered, done


@dataclass(frozen=True)
class Comparison:
    """An analysis beside its registration; ``sha256``: of the registration's file."""

    items: tuple[Compared, ...]
    sha256: str

    @property
    def changed(self) -> list[str]:
        """The labels of the items that are not as registered."""
        return [ITEMS[item.item] for item in self.items if item.status == CHANGED]

    @property
    def unknown(self) -> list[str]:
        """The labels of the items that cannot be compared."""
        return [ITEMS[item.item] for item in self.items if item.status == UNKNOWN]

    @property
    def sentence(self) -> str:
        """Whether the analysis is the registered one."""
        if self.changed:
            named = list_words([label.lower() for label in self.changed])
            return f"The analysis is not the registered one. Changed: {named}."
        if self.unknown:
            named = list_words([label.lower() for label in self.unknown])
            return (
                "The analysis is the registered one as far as it can be compared. Not compared: "
                f"{named}."
            )
        return "The analysis is the registered one."

    @property
    def deviations(self) -> list[str]:
        """A sentence on each item that is not as registered."""
        return [
            f"{label}: registered {registered}, done {done}."
            for label, status, registered, done in (item.row for item in self.items)
            if status == CHANGED
        ]

    def as_json(self) -> dict[str, Json]:
        """Return the comparison as plain values."""
        return {
            "sentence": self.sentence,
            "is_registered": not self.changed,
            "sha256": self.sha256,
            "items": [vars(item) for item in self.items],
        }


def compare(text: str, done: Mapping[str, Json], file: str = REGISTRATION_FILE) -> Comparison:
    """Compare a registration with what was done, by item; what ``done`` lacks is not known."""
    registered = read_registration(text, file)["items"]
    return Comparison(tuple(_compared(registered, done)), sum_of(text))


def _compared(registered: Mapping[str, Json], done: Mapping[str, Json]) -> Iterator[Compared]:
    for name in ITEMS:
        if name not in registered or name not in done:
            values = registered.get(name, "not registered"), done.get(name, "not known")
            yield Compared(name, *values, UNKNOWN)
        else:
            is_same = registered[name] == done[name]
            if name == "sample_size" and registered.get("stop") == done.get("stop"):
                # A planned look may stop the study with fewer.
                is_same = is_same or done[name] in _numbers(registered.get("looks"))
            yield Compared(name, registered[name], done[name], SAME if is_same else CHANGED)


def _numbers(looks: Json) -> list[Json]:
    return list(looks) if isinstance(looks, list) else []
