"""The plan of a study: everything a researcher decides before the first participant comes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any

from survey.core.measures import MEASURES, Setting, measure_in
from survey.core.stimuli.faults import (
    Fault,
    PlanError,
    a_day,
    a_text,
    one_of,
    whole_number,
    yes_or_no,
)
from survey.core.stimuli.generators import GENERATORS
from survey.core.stimuli.personal import PersonalField, tidy_text
from survey.core.stimuli.questions import Question, build_question
from survey.core.stimuli.rankings import letters_for
from survey.core.stimuli.words import placeholders

GIVEN = "given"
DESIGNS = ("all", "pool")
BOUNDS = {
    "questions": (1, 50),
    "lists": (3, 10),
    "relevant": (1, 10_000),
    "collection_size": (2, 100_000_000),
    "participants": (1, 10_000_000),
    "minutes": (1, 600),
    "seed": (0, 2**63 - 1),
}
SWITCHES = ("literal_eq15", "shuffle_lists", "shuffle_questions", "practice", "rank_first")
# Texts that participants read: the longest each may be, and whether there must be one.
TEXTS = {
    "title": (200, True),
    "asked_by": (300, True),
    "purpose": (5_000, True),
    "consent": (20_000, True),
    "scenario": (10_000, True),
    "reminder": (1_000, False),
    "question_text": (500, True),
    "list_noun": (40, True),
    "contact": (300, False),
}
MOST_FIELDS = 20
# Texts in which {lists} and the like stand for the design's numbers.
FILLED = ("purpose", "consent", "scenario", "reminder", "question_text")

FEWEST_OWN_LISTS = 2  # of two systems, say; questions that are drawn have three at least

ListsPerQuestion = tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class Plan:
    """A study's design and texts; frozen, with the lists, when the study opens.

    ``title``, ``asked_by``, ``purpose``, ``contact``, ``minutes``: the entry page.
    ``consent``, ``scenario``, ``reminder``, ``question_text``: shown texts, with blank
    lines between paragraphs. ``list_noun``: what a ranked list stands for ("system").
    ``language``: of the pages. ``personal_fields``: the page "About you".

    The design: ``measures``, kept in the registry's order; ``questions``, ``lists`` per
    question, ``relevant`` items per list among ``collection_size``; ``generator`` and
    ``seed``, or the generator "given" with ``own_lists`` (question → list → positions);
    ``gmt`` and ``literal_eq15``: see ``Setting``. ``design``: "all" asks everyone every
    question, "pool" asks ``per_participant`` of them, balanced. ``shuffle_lists``,
    ``shuffle_questions``: rows and questions in an order of each participant's own.
    ``practice``: a practice question comes first. ``rank_first``: one's own ranking is
    asked before the columns are shown. ``participants``: how many are wanted.
    ``personal_until``: the day, as 2027-06-30, after which what could identify people is
    deleted.

    The texts in ``FILLED`` may hold {lists}, {relevant}, {collection_size}, {questions} and
    {letters}.
    Raises PlanError with everything that is wrong, each fault with its place.
    """

    title: str
    asked_by: str
    purpose: str
    consent: str
    scenario: str
    reminder: str
    question_text: str
    list_noun: str = "system"
    contact: str = ""
    minutes: int = 20
    language: str = "en"
    personal_fields: tuple[PersonalField, ...] = ()
    measures: tuple[str, ...] = ("AP", "NMRR", "MNRO")
    questions: int = 10
    lists: int = 5
    relevant: int = 5
    collection_size: int = 100
    generator: str = "random"
    seed: int = 1
    own_lists: ListsPerQuestion = ()
    gmt: int | None = None
    literal_eq15: bool = False
    design: str = "all"
    per_participant: int | None = None
    shuffle_lists: bool = False
    shuffle_questions: bool = False
    practice: bool = True
    rank_first: bool = False
    participants: int = 30
    personal_until: str | None = None

    def __post_init__(self) -> None:
        for name in ("measures", "personal_fields", "own_lists"):
            value = getattr(self, name)
            object.__setattr__(
                self, name, tuple(value) if isinstance(value, list | tuple) else (value,)
            )
        if all(isinstance(name, str) and name in MEASURES for name in self.measures):
            # In the registry's order, so that a plan does not depend on how it was ticked.
            ordered = sorted(self.measures, key=list(MEASURES).index)
            object.__setattr__(self, "measures", tuple(ordered))
        faults = [*self._about_texts(), *self._about_design(), *self._about_measures()]
        if not faults:  # what follows rests on the numbers
            faults = [*self._about_placeholders()]
        if faults:
            raise PlanError(faults)

    def _about_texts(self) -> Iterable[Fault]:
        for name, (longest, needed) in TEXTS.items():
            yield from a_text(name, getattr(self, name), longest, needed=needed)
        if not (isinstance(self.language, str) and re.fullmatch(r"[a-z]{2,3}", self.language)):
            yield Fault(("language",), f"language is {self.language!r}; two letters, like en")
        if isinstance(self.title, str) and (measure := measure_in(self.title)):
            yield Fault(
                ("title",),
                f"the title {self.title!r} holds the name of a measure ({measure}), and "
                "participants see it; choose another",
            )
        if self.personal_until is not None:
            yield from a_day("personal_until", self.personal_until)
        names = [field.name for field in self.personal_fields]
        for index, name in enumerate(names):
            if name in names[:index]:
                yield Fault(
                    ("personal_fields", index, "name"), f"the personal field {name} is there twice"
                )
        if len(names) > MOST_FIELDS:
            yield Fault(
                ("personal_fields",), f"{len(names)} personal fields; {MOST_FIELDS} at most"
            )

    def _about_design(self) -> Iterable[Fault]:
        faults: list[Fault] = []
        for name, (lowest, highest) in BOUNDS.items():
            if name == "lists" and self.own_lists:
                lowest = FEWEST_OWN_LISTS
            faults += whole_number(name, getattr(self, name), lowest, highest)
        if not faults and self.relevant > self.collection_size:
            yield Fault(
                ("relevant",),
                f"relevant is {self.relevant}, more than the collection_size "
                f"{self.collection_size}",
            )
        yield from faults
        for name in SWITCHES:
            yield from yes_or_no(name, getattr(self, name))
        if self.gmt is not None:
            yield from whole_number("gmt", self.gmt, 1, 10_000)
        yield from one_of("generator", self.generator, (*GENERATORS, GIVEN))
        yield from one_of("design", self.design, DESIGNS)
        if not faults:
            yield from self._about_pool()
            yield from self._about_own_lists()

    def _about_pool(self) -> Iterable[Fault]:
        asked = self.per_participant
        if self.design == "pool" and asked is None:
            yield Fault(
                ("per_participant",),
                "per_participant is empty; a pool needs to know how many questions each "
                "participant answers",
            )
        elif self.design == "pool":
            yield from whole_number("per_participant", asked, 1, self.questions)
        elif asked is not None:
            yield Fault(
                ("per_participant",),
                f"per_participant is {asked}, but the design is {self.design}; "
                "leave it out, or choose the design pool",
            )

    def _about_own_lists(self) -> Iterable[Fault]:
        if bool(self.own_lists) != (self.generator == GIVEN):
            yield Fault(
                ("generator",),
                f"generator is {self.generator} and there are {len(self.own_lists)} questions "
                "with lists of your own; own lists and the generator given belong together",
            )
        for number, lists in enumerate(self.own_lists, 1):
            if not (isinstance(lists, tuple) and len(lists) == self.lists):
                yield Fault(
                    ("own_lists", number - 1), f"question {number} must have {self.lists} lists"
                )
            elif len(set(lists)) < len(lists):
                yield Fault(("own_lists", number - 1), f"question {number} has a list twice")
            else:
                yield from _about_question(number, lists, self.setting)
        if self.own_lists and len(self.own_lists) != self.questions:
            yield Fault(
                ("own_lists",), f"{len(self.own_lists)} questions with lists, not {self.questions}"
            )

    def _about_measures(self) -> Iterable[Fault]:
        names = self.measures
        unknown = [name for name in names if not (isinstance(name, str) and name in MEASURES)]
        for name in unknown:
            yield Fault(
                ("measures",),
                f"there is no measure {name!r}; registered are {', '.join(MEASURES)}",
            )
        if not unknown and not 2 <= len(set(names)) == len(names) <= 6:
            yield Fault(
                ("measures",),
                f"measures is {', '.join(names) or 'empty'}; 2 to 6 different ones are allowed",
            )

    def _about_placeholders(self) -> Iterable[Fault]:
        numbers = self.numbers
        for name in FILLED:
            yield from _placeholder_faults((name,), getattr(self, name), numbers)

    @property
    def setting(self) -> Setting:
        """What the measures may know beside the ranks."""
        return Setting(self.collection_size, self.gmt, self.literal_eq15)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the lists of a question."""
        return letters_for(self.lists)

    @property
    def asked(self) -> int:
        """How many questions each participant answers."""
        return self.per_participant or self.questions

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that texts may speak of; {relevant} only where all questions share it."""
        sizes = {len(lists[0]) for lists in self.own_lists} or {self.relevant}
        numbers = {
            "lists": self.lists,
            "collection_size": self.collection_size,
            "questions": self.asked,
        }
        return numbers | ({"relevant": self.relevant} if len(sizes) == 1 else {})

    def draw_questions(self) -> list[Question]:
        """Draw the study's questions from its seed, the practice question (0) first if any."""
        if self.generator == GIVEN:
            practice = [self._draw(0, "random")] if self.practice else []
            return practice + [
                build_question(number, lists, self.measures, self.setting)
                for number, lists in enumerate(self.own_lists, 1)
            ]
        numbers = range(0 if self.practice else 1, self.questions + 1)
        return [self._draw(number, self.generator) for number in numbers]

    def _draw(self, number: int, generator: str) -> Question:
        return GENERATORS[generator](
            number,
            seed=self.seed,
            lists=self.lists,
            relevant=self.relevant,
            measures=self.measures,
            setting=self.setting,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and dictionaries, for storage."""
        return asdict(self)

    def content(self) -> dict[str, Any]:
        """Return the plan as plain values without what is left at its default.

        The digest is made of this, so that it stays the same when a later version
        adds a field. Hence a default, once released, is never changed.
        """
        return _without_defaults(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Plan":
        """Make a plan from plain values; texts are tidied, counts taken from own lists.

        Raises PlanError with every fault: fields that no plan has, fields that are
        missing, and what the plan itself refuses.
        """
        known = {one.name for one in fields(cls)}
        faults = [
            Fault((str(name),), f"a plan has no field {name!r}; it has {', '.join(sorted(known))}")
            for name in stored
            if name not in known
        ]
        values: dict[str, Any] = {
            name: tidy_text(value) if isinstance(value, str) else value
            for name, value in stored.items()
            if name in known
        }
        if type(values.get("personal_until")) is date:  # as YAML reads it
            values["personal_until"] = values["personal_until"].isoformat()
        for name in TEXTS:
            if name not in values and name != "list_noun":
                values[name] = ""  # where one is needed, the plan says so
        values["personal_fields"] = _read_fields(values.get("personal_fields", ()), faults)
        if values.get("own_lists"):
            values |= _read_own_lists(values["own_lists"], faults)
        try:
            plan = cls(**values)
        except PlanError as error:
            raise PlanError([*faults, *error.faults]) from None
        if faults:
            raise PlanError(faults)
        return plan


def _without_defaults(one: Plan | PersonalField) -> dict[str, Any]:
    content = {
        field.name: getattr(one, field.name)
        for field in fields(one)
        if getattr(one, field.name) != field.default
    }
    if "personal_fields" in content:
        content["personal_fields"] = [
            _without_defaults(each) for each in content["personal_fields"]
        ]
    return content


def _read_fields(found: object, faults: list[Fault]) -> tuple[PersonalField, ...]:
    if not isinstance(found, list | tuple):
        faults.append(
            Fault(("personal_fields",), f"personal_fields is {found!r}; a list is needed")
        )
        return ()
    made = []
    for index, one in enumerate(found):
        try:
            made.append(PersonalField.from_json(one))
        except PlanError as error:
            faults += [fault.under("personal_fields", index) for fault in error.faults]
    return tuple(made)


def _read_own_lists(found: object, faults: list[Fault]) -> dict[str, Any]:
    """Read nested lists of positions; the design's counts follow from them."""
    try:
        own = tuple(
            tuple(tuple(sorted(_positions(ranks))) for ranks in lists)
            for lists in found  # type: ignore[attr-defined] # what is no list raises TypeError
        )
        sizes = {"questions": len(own), "lists": len(own[0]), "relevant": len(own[0][0])}
    except (TypeError, IndexError):
        faults.append(
            Fault(("own_lists",), "own_lists is no list of questions with lists of positions")
        )
        return {"own_lists": (), "generator": "random"}
    return {"own_lists": own, "generator": GIVEN, **sizes}


def _positions(found: object) -> list[int]:
    if not isinstance(found, list | tuple) or not all(type(one) is int for one in found):
        raise TypeError
    return list(found)


def _about_question(
    number: int, lists: Sequence[Sequence[int]], setting: Setting
) -> Iterable[Fault]:
    try:
        build_question(number, lists, ("AP",), setting)
    except (ValueError, TypeError) as error:
        yield Fault(("own_lists", number - 1), f"question {number}: {error}")


def _placeholder_faults(
    place: tuple[str, ...], text: str, numbers: Mapping[str, int]
) -> Iterable[Fault]:
    allowed = (*numbers, "letters")
    shown = ", ".join(f"{{{name}}}" for name in allowed)
    try:
        found = placeholders(text)
    except ValueError:
        yield Fault(place, f"{place[0]} holds a single {{ or }}; write {{{{ or }}}} for the sign")
        return
    for name in found:
        if name not in allowed:
            yield Fault(place, f"{{{name}}} found in {place[0]}; allowed are {shown}")
