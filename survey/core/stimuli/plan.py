"""The plan of a study: everything a researcher decides before the first participant comes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import InitVar, asdict, dataclass, fields
from datetime import date
from typing import Any

from survey.core.measures import MEASURES, Setting
from survey.core.stimuli.faults import Fault, PlanError
from survey.core.stimuli.generators import GENERATORS
from survey.core.stimuli.marks import NO_MARKS, Marks
from survey.core.stimuli.personal import PersonalField, tidy_text
from survey.core.stimuli.plan_checks import BOUNDS, GIVEN, TEXTS, faults_of
from survey.core.stimuli.plan_reading import (
    read_fields,
    read_marks,
    read_own_lists,
    read_own_marks,
)
from survey.core.stimuli.questions import Question, build_question
from survey.core.stimuli.rankings import letters_for

__all__ = ["BOUNDS", "GIVEN", "TEXTS", "Plan"]

OLDEST_MEASURES = frozenset({"AP", "NMRR", "MNRO"})

# So many sets are tried for a practice question beside own lists.
PRACTICE_DRAWS = 100

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
    ``seed``, or the generator "given" with ``own_lists`` (question → list → positions).
    ``marks``: grades, weights or clusters that the generator random deals to the positions
    of each list it draws; ``own_marks``: those of own lists, for each question.
    ``gmt`` and ``literal_eq15``: see ``Setting``. ``design``: "all" asks everyone every
    question, "pool" asks ``per_participant`` of them, balanced. ``shuffle_lists``,
    ``shuffle_questions``: rows and questions in an order of each participant's own.
    ``practice``: a practice question comes first. ``rank_first``: one's own ranking is
    asked before the columns are shown. ``positions_strip``: a small picture beside each list of
    where on 1…N its relevant items came. ``participants``: how many are wanted.
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
    marks: Marks = NO_MARKS
    own_marks: tuple[Marks, ...] = ()
    gmt: int | None = None
    literal_eq15: bool = False
    design: str = "all"
    per_participant: int | None = None
    shuffle_lists: bool = False
    shuffle_questions: bool = False
    practice: bool = True
    rank_first: bool = False
    positions_strip: bool = False
    participants: int = 30
    personal_until: str | None = None
    registered: InitVar[bool] = True

    def __post_init__(self, registered: bool) -> None:
        for name in ("measures", "personal_fields", "own_lists", "own_marks"):
            value = getattr(self, name)
            object.__setattr__(
                self, name, tuple(value) if isinstance(value, list | tuple) else (value,)
            )
        if all(isinstance(name, str) and name in MEASURES for name in self.measures):
            # In the registry's order, so that a plan does not depend on how it was ticked.
            ordered = sorted(self.measures, key=MEASURES.place)
            object.__setattr__(self, "measures", tuple(ordered))
        if not any(self.own_marks):
            object.__setattr__(self, "own_marks", ())
        faults = faults_of(self, registered=registered)
        if faults:
            raise PlanError(faults)

    def __hash__(self) -> int:
        # Equal plans have these in common; to hash long lists would take long.
        return hash((self.title, self.scenario, self.question_text, self.seed))

    @property
    def setting(self) -> Setting:
        """What the measures may know beside the ranks."""
        return Setting(self.collection_size, self.gmt, self.literal_eq15)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the lists of a question."""
        return letters_for(self.lists)

    @property
    def marked(self) -> tuple[str, ...]:
        """Which marks stand beside positions: "grades", "weights", "clusters"."""
        return (self.own_marks[0] if self.own_marks else self.marks).kinds

    @property
    def marks_lacking(self) -> bool:
        """Whether some relevant item is in no cluster, although others are."""
        return any(
            not item
            for one in (self.marks, *self.own_marks)
            for row in one.clusters
            for item in row
        )

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
            practice = [self._practice_beside_own_lists()] if self.practice else []
            marks = self.own_marks or (NO_MARKS,) * len(self.own_lists)
            return practice + [
                build_question(number, lists, self.measures, self.setting, marked)
                for number, (lists, marked) in enumerate(zip(self.own_lists, marks, strict=True), 1)
            ]
        numbers = range(0 if self.practice else 1, self.questions + 1)
        return [self._draw(number, self.generator) for number in numbers]

    def _practice_beside_own_lists(self) -> Question:
        """Draw a practice question, marked like the first list, that the measures can order.

        In a large collection nothing relevant would come early by chance, and P@10, say,
        would tie all lists; so positions are drawn nearer to the front if need be.
        """
        if not self.own_marks and {*self.measures} <= OLDEST_MEASURES:
            # As the first release drew it, so that its bundles replicate.
            with suppress(ValueError):
                return self._draw(0, "random")
        marks = self.own_marks[0].of_list(0) if self.own_marks else NO_MARKS
        for within in (None, 20 * self.relevant, 4 * self.relevant):
            if within is None or within < self.collection_size:
                with suppress(ValueError):
                    return self._draw(0, "random", marks=marks, within=within, draws=PRACTICE_DRAWS)
        raise ValueError(
            "no practice question came up that every measure can order; leave the practice "
            "question out, or take other measures"
        )

    def _draw(self, number: int, generator: str, **more: Any) -> Question:
        if self.marks:
            more["marks"] = self.marks
        return GENERATORS[generator](
            number,
            seed=self.seed,
            lists=self.lists,
            relevant=self.relevant,
            measures=self.measures,
            setting=self.setting,
            **more,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and dictionaries, for storage."""
        return asdict(self) | {
            "marks": self.marks.one_list_as_json(),
            "own_marks": [marks.as_json() for marks in self.own_marks],
        }

    def content(self) -> dict[str, Any]:
        """Return the plan as plain values without what is left at its default.

        The digest is made of this, so that it stays the same when a later version
        adds a field. Hence a default, once released, is never changed.
        """
        return _without_defaults(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], *, registered: bool = True) -> "Plan":
        """Make a plan from plain values; texts are tidied, counts taken from own lists.

        ``registered``: whether all its measures have to be registered here. A stored study
        can be shown, answered and counted without: its values and orders are stored too.

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
        values["personal_fields"] = read_fields(values.get("personal_fields", ()), faults)
        values["marks"] = read_marks(values.get("marks") or {}, faults)
        values["own_marks"] = read_own_marks(values.get("own_marks") or (), faults)
        if values.get("own_lists"):
            sort = not any(values["own_marks"])
            values |= read_own_lists(values["own_lists"], sort=sort, faults=faults)
        try:
            plan = cls(**values, registered=registered)
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
    if "marks" in content:
        content["marks"] = content["marks"].one_list_as_json()
    if "own_marks" in content:
        content["own_marks"] = [marks.as_json() for marks in content["own_marks"]]
    return content
