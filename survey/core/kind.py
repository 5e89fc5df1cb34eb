"""What a kind of question declares, and what follows from it without database or pages."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from random import Random
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from survey.core.collections.items import FindItems, Item, Topic
from survey.core.studies.fields import (
    Choice,
    Declared,
    Finding,
    Text,
    ValueField,
    value_fields,
)
from survey.core.studies.plan import Check, Plan, TaskQuestion
from survey.core.text_input import Json
from survey.core.ways_in import Sources, WayIn

PlanT = TypeVar("PlanT", bound=Plan)
QuestionT = TypeVar("QuestionT", bound=TaskQuestion)
PresentationT = TypeVar("PresentationT")
AnswerT = TypeVar("AnswerT")

AS_PLANNED = "as-planned"
NO_POWER = (
    "Power is not simulated for this kind of question. In its place stand the numbers of "
    "participants and questions, and the intervals that are reported with each result."
)
FIELDS_IN: dict[str, tuple[type, ...]] = {  # the types of the fields that each declares
    "question": (str, int, bool, float, tuple[str, ...]),
    "presentation": (str, int, bool, float),
    "answer": (str, int, bool),
    "step": (str, int, bool, Sequence[str], Mapping[str, Sequence[str]]),
}
# Names of columns and form fields that every kind has, so that no declared field may have them.
TAKEN_FIELDS = (
    *("participant", "question", "position", "shown_at", "submitted_at", "active_seconds"),
    *("revisions", "asked", "contradicts", "reason", "id", "number", "presentation_id"),
    *("response_id", "revision_id", "csrf_token", "submission_key", "step_key", "go", "errors"),
    *("saved_at", "study", "is_test", "excluded", "flagged", "arm"),
)


@dataclass(frozen=True)
class DeclaredQuestion(Declared):
    """A question whose fields are declared; ``number``: 0 for practice."""

    number: int

    def as_json(self) -> dict[str, Json]:
        """Return all of it but its number."""
        return {field.name: getattr(self, field.name) for field in value_fields(type(self))}

    def as_shown(self) -> dict[str, Json]:
        """Return what the study's digest covers of it."""
        values = self.as_json().items()
        shown = {name: str(value) if isinstance(value, float) else value for name, value in values}
        return {"number": self.number, **shown}


class TopicRow(NamedTuple):
    """A topic in the table of a plan's form; ``value``: what the form sends if it is ticked.

    ``documents``: how many are asked about, None where that is not decided by the topic.
    """

    value: str
    topic: str
    text: str
    cluster_type: str = ""
    documents: int | None = None


@dataclass(frozen=True)
class Unvaried(Declared):
    """How a question is shown that every participant sees alike."""


@dataclass(frozen=True)
class Protocol:
    """The analysis that follows from a plan, in parts of sentences for registrations and papers.

    ``outcome``: what is measured; ``conditions``: what varies within participants; ``randomised``:
    what is drawn for each participant; ``pairs``: whose differences are tested, like MNRO-AP;
    ``primary``: the one tested first and by itself, "" without one; ``smallest``: the smallest
    difference that matters, in points; ``scope``: for what results hold; ``instead``: what is said
    where power is not simulated.
    """

    outcome: str = "the participants' answers"
    conditions: str = "none"
    randomised: str = ""
    pairs: tuple[str, ...] = ()
    primary: str = ""
    smallest: int | None = None
    scope: str = "these questions and participants"
    test: str = "none, answers are counted"
    correction: str = "none"
    instead: str = NO_POWER


class Declaration(ABC, Generic[PlanT, QuestionT, PresentationT, AnswerT]):
    """A kind of question: how it is named, and its types.

    ``plan``: the settings. ``question``: what is asked, the same for all. ``presentation``: how one
    participant is shown it. ``answer``: what they say. All are frozen dataclasses that reject
    invalid values; the fields of presentation and answer are columns of the kind's tables.

    ``step``: of a kind whose questions are answered in small steps, their type.
    ``noun``: what messages call its questions. ``generator_version``: of the code that draws them;
    raised when it draws different ones. ``asks``: what a page may ask back before it saves an
    answer that ``contradicts`` itself. ``has_power``: whether the power of its verdicts is
    simulated, for which its plan is a ``VotedPlan``. ``pace_note``: in a list of participants,
    which of their documents count so far. ``public_note``: what the public page lets everyone see
    of question 1 beyond its first page.

    ``ways_in``: its cards on “New study”. ``takes``: what a study of it is made of, names of
    ``survey.core.ways_in``. ``preset``: of the survey's texts; "" where ``texts`` has the kind's
    own, fields of its plan. ``further_presets``: of some of its plans, see ``preset_for``.
    """

    name: ClassVar[str]
    plan: type[PlanT]
    question: type[QuestionT]
    presentation: type[PresentationT]
    answer: type[AnswerT]
    step: ClassVar[type[Any] | None] = None
    noun: ClassVar[str] = "questions"
    generator_version: ClassVar[int] = 1
    asks: ClassVar[Sequence[str]] = ()
    has_power: ClassVar[bool] = False
    pace_note: ClassVar[str] = ""
    public_note: ClassVar[str] = ""
    ways_in: ClassVar[Sequence[WayIn]] = ()
    takes: ClassVar[Sequence[str]] = ()
    preset: ClassVar[str] = ""
    further_presets: ClassVar[Sequence[str]] = ()
    texts: ClassVar[Mapping[str, object]] = {}

    def begin(self, sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
        """Return the fields of a plan that what it is made of decides.

        ``changes``: other fields, as researchers chose them. Raises FaultyFilesError or SurveyError
        for what no study can be made of.
        """
        return {}

    def preset_for(self, sources: Sources, changes: Mapping[str, object]) -> str:
        """Return the preset to begin with, ``preset`` by default; ``changes``: fields of a plan."""
        return self.preset

    def unless_preset(self, changes: Mapping[str, object]) -> dict[str, Any]:
        """Return fields to change where researchers name no preset."""
        return {}

    def fitted_preset(self, plan: PlanT) -> str:
        """Return the preset whose texts follow the study's documents, "" for none."""
        return self.preset

    def with_topics(self, plan: PlanT, topics: Sequence[str]) -> PlanT:
        """Return the plan for the topics that a study now has; unchanged by default."""
        return plan

    def topic_rows(self, plan: PlanT, topics: Sequence[Topic]) -> list[TopicRow]:
        """Return the topics to tick in the form of a plan; ``topics``: those of the study."""
        return []

    @abstractmethod
    def draw(self, plan: PlanT, question: QuestionT, chance: Random) -> PresentationT:
        """Draw how one participant is shown a question.

        ``chance``: not seeded with what a participant knows, as they can read the source.
        """

    @abstractmethod
    def show(self, question: QuestionT, presentation: PresentationT) -> Hashable:
        """Return all that the participant may see, blinded; hashable, as the page cache's key."""

    def draw_again(
        self, plan: PlanT, question: QuestionT, earlier: PresentationT, chance: Random
    ) -> PresentationT:
        """Draw how one participant is shown a question that repeats one, shown as ``earlier``."""
        return self.draw(plan, question, chance)

    def are_right(
        self, plan: PlanT, check: Check, answers: Sequence[tuple[QuestionT, Any]]
    ) -> Iterable[bool]:
        """Return of each answer to an attention check of the plan whether it is right.

        ``answers``: of one participant, each behind its question: the answer to the check, behind
        that to the question which it repeats; all answers where the check is no question. Each has
        ``answer``, and ``drawn``: how the question was shown.
        """
        return ()

    def comparable(self, question: QuestionT, row: Any) -> Iterable[tuple[Hashable, Hashable]]:
        """Yield what of an answer can be equal to another person's: (part of the study, value).

        By default all but what is typed. ``row``: as in ``are_right``. How the question was shown
        must not change the value.
        """
        declared = value_fields(type(row.answer))
        values = [getattr(row.answer, each.name) for each in declared if not is_typed(each)]
        yield question.number, tuple(tuple(x) if isinstance(x, list) else x for x in values)

    def check_in_words(self, plan: PlanT, check: Check, questions: Mapping[int, QuestionT]) -> str:
        """Return what an attention check asks, for researchers before the study opens."""
        return check.text

    def read_question(self, number: int, content: Mapping[str, object]) -> QuestionT:
        """Return the question that ``as_json`` wrote."""
        make: Any = self.question
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
        }
        return make(number, **values)  # type: ignore[no-any-return]

    def with_items(self, plan: PlanT, question: QuestionT, view: Any, find: FindItems) -> Any:
        """Add the pictures and texts of documents and topic to a view, for plans that show some.

        What participants get tells neither a document's id nor its file.
        """
        return view

    def practice_question(self, plan: PlanT, questions: Sequence[QuestionT]) -> QuestionT:
        """Return the question that is practised, made of the study's own material.

        It is question 0 where the plan draws one, else the last question.
        """
        return next((question for question in questions if question.number == 0), questions[-1])

    def practice_view(self, plan: PlanT, view: Any) -> Any:
        """Return what the practice shows of its question's view."""
        return view

    def facts(self, plan: PlanT, generator_version: int) -> dict[str, Json]:
        """Return facts about the questions for a summary of the study, as plain values."""
        return {}

    def protocol(self, plan: PlanT) -> Protocol:
        """Return what a study of the plan measures and tests."""
        return Protocol()

    def verdict(self, plan: PlanT, questions: Sequence[QuestionT]) -> str:
        """Return in half a sentence what the questions can tell, for the top of a check."""
        return f"{len(questions)} {self.noun}"

    def findings(self, plan: PlanT, questions: Sequence[QuestionT]) -> Iterable[Finding]:
        """Return findings on the questions, for researchers before the study opens."""
        return ()

    def usual_variant(self, plan: PlanT) -> str:
        """Name the variant in which a preview shows questions by default."""
        return AS_PLANNED

    def draw_variant(self, plan: PlanT, question: QuestionT, variant: str) -> PresentationT:
        """Return the presentation of a named variant; raises ValueError for an unknown one."""
        if variant != AS_PLANNED:
            raise ValueError(f"{variant!r} is no variant; {AS_PLANNED} is")
        return self.draw(plan, question, Random(0))  # noqa: S311 # nosec B311 # a preview hides nothing

    def question_checks(self, questions: Iterable[QuestionT]) -> list[Any]:
        """Return how measures order each question; empty for a kind that compares no measures."""
        return []

    def departures(self, plan: PlanT) -> Sequence[tuple[str, str, str]]:
        """Return where a study departs from the paper's: what it did, what is done here, effect.

        Empty for a kind, or a plan, that does not repeat the paper's study.
        """
        return ()

    def headings(self, plan: PlanT) -> dict[str, str]:
        """Return the heading of each measure's values in a table of checks."""
        return {}

    def chance_advantage(self, plan: PlanT, questions: Sequence[QuestionT]) -> dict[str, float]:
        """Return the credits per response that chance alone gives each measure."""
        return {}

    def item_findings(
        self, plan: PlanT, items: Iterable[Item], topics: Iterable[Topic]
    ) -> Iterable[Finding]:
        """Return findings on a study's documents and topics, all of which can be shown."""
        return ()

    def is_due(self, plan: PlanT, question: QuestionT, earlier: Sequence[PresentationT]) -> bool:
        """Return whether participants of the plan's ``queue_arm`` are asked a question.

        ``earlier``: the presentations of participants in other arms who answered it, two or more.
        """
        return False

    def describe(self, plan: PlanT, view: Any, presentation: PresentationT) -> dict[str, object]:
        """Return what a participant was shown as plain values, for their own data."""
        return dict(view._asdict()) if hasattr(view, "_asdict") else {self.name: [*view]}

    def describe_answer(self, answer: AnswerT) -> dict[str, object]:
        """Return an answer as plain values, for the participant's own data."""
        return {name: value for name, value in vars(answer).items() if value is not None}


def declaration_faults(kind: Any) -> Iterator[str]:
    """Yield what is wrong with the declared fields of a kind, for its author."""
    owners: dict[str, Any] = {what: getattr(kind, what, None) for what in FIELDS_IN}
    declared = {
        what: value_fields(owners[what]) for what, owner in owners.items() if is_dataclass(owner)
    }
    for what, fields_of in declared.items():
        names = [field.name for field in fields_of]
        for field in fields_of:
            place = f"{owners[what].__name__}.{field.name}"
            faults = [*_type_faults(what, field), *_use_faults(kind, what, field, names)]
            faults += _default_faults(owners[what], field)
            yield from (f"{place} {fault}" for fault in faults)
    shown = {field.name for field in declared.get("presentation", ())}
    for field in declared.get("answer", ()):
        if field.name in shown:
            yield f"{field.name} is a field of the presentation and of the answer; rename one"


def _type_faults(what: str, field: ValueField) -> Iterator[str]:
    if field.type not in FIELDS_IN[what]:
        allowed = ", ".join(type_.__name__ for type_ in FIELDS_IN[what])
        name = getattr(field.type, "__name__", field.type)
        yield f"is of type {name}; allowed are {allowed}, and one of these or None"
    elif isinstance(field.rule, Choice) and {*map(type, field.rule.allowed)} != {field.type}:
        yield f"is a Choice whose values are not all of its type, {field.type.__name__}"


def _use_faults(kind: Any, what: str, field: ValueField, names: Sequence[str]) -> Iterator[str]:
    before, switch = field.rule.only_with[0], field.rule.asked_by
    if what != "question" and field.name in TAKEN_FIELDS:
        yield "has a name that every answer has something of; choose another"
    if before and before not in names[: names.index(field.name)]:
        yield f"is asked only with {before}, which is no field before it"
    if switch and not hasattr(kind.plan, switch):
        yield f"is asked by {switch}, which {kind.plan.__name__} does not have"
    may_be_missing = before or switch or isinstance(field.rule, Text)
    if what in ("answer", "step") and may_be_missing and not field.optional:
        yield f"may be missing, so its type has to allow None: {field.type.__name__} | None"


def _default_faults(owner: Any, field: ValueField) -> Iterator[str]:
    default = next(each.default for each in fields(owner) if each.name == field.name)
    if default is not MISSING and (breach := field.breach(default)):
        yield f"has a default that it does not allow: it {breach}"


def is_typed(field: ValueField) -> bool:
    """Return whether a field of an answer holds what people wrote."""
    return isinstance(field.rule, Text)


AnyKind = Declaration[Plan, TaskQuestion, object, object]
