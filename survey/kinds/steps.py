"""Kinds whose questions are answered in many small steps, each saved at once.

A presentation holds the steps so far, and the answer says that a question is done.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import groupby, zip_longest
from operator import itemgetter
from random import Random
from typing import Any, ClassVar, TypeVar

from sqlalchemy.orm import Session

from survey.core.kind import PlanT, QuestionT
from survey.core.studies.fields import (
    Declared,
    NotAllowedValueError,
    ParticipantRecord,
    Text,
    ValueField,
    Whole,
    declared,
    value_fields,
)
from survey.db import export_queries
from survey.kinds import Kind
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.answer_columns import answer_table
from survey.services.exchange.input_files import CsvRow, Faults, Files, parse_rows
from survey.services.exchange.kind_files import (
    LIST_TYPES,
    NAMED_LISTS,
    Record,
    StudyAnswers,
    column_of,
    read_fields,
)
from survey.services.exchange.tables import COUNTED_FROM_1, Column, Content, MoveTime, Row, Table
from survey.web.language import gettext

STEPS_FILE = "steps.csv"
STEP_ITEMS_FILE = "step_items.csv"
STEP = Column(
    *("step", "as which step of the participant on the question", "whole number", "1, 2, …"),
    since=2,
)
SAVED_AT = Column("saved_at", "when it was saved", "time", "UTC")


@dataclass(frozen=True)
class Step(Declared):
    """A step of a participant: its ``action``, and the fields that this action has.

    A field that is declared ``only_with`` some actions is given with each of them, but for a Text
    that is not ``needed``. ``looks``: the actions that say only what was in view.
    """

    looks: ClassVar[Sequence[str]] = ()

    action: str
    saved_at: datetime | None = field(default=None, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        values = vars(self)
        owner: type = type(self)
        for name in _needed(owner, self.action):
            if values[name] is None:
                raise NotAllowedValueError(name, f"is missing; {self.action} has one")


@cache
def _needed(step: type, action: str) -> list[str]:
    """Return the fields that each step with an action has, beside those that all steps have."""
    asked = [
        each for each in value_fields(step) if each.optional and action in each.rule.only_with[1:]
    ]
    return [each.name for each in asked if not isinstance(each.rule, Text) or each.rule.needed]


@dataclass(frozen=True)
class InSteps(Declared):
    """How a participant meets a question: in which order, and their steps so far."""

    order_seed: int = declared(
        Whole(highest=2**31 - 1, doc="seed of the order in which documents are met")
    )
    steps: Sequence[Step] = ()


@dataclass(frozen=True)
class Done(Declared):
    """That a question is done; ``steps``: how many there were, so that a change shows."""

    steps: int = declared(Whole(lowest=1, doc="after how many steps the question was done"))


StateT = TypeVar("StateT", bound=InSteps)
StepRow = tuple[str, int, Step]
"""Participant, question, and a step of theirs."""


class StepsError(Exception):
    """Answers and steps that are not about the same questions."""


@dataclass(frozen=True)
class StepAnswers(StudyAnswers[PlanT, QuestionT, StateT, Done]):
    """The questions that are done, and their steps, both by participant and question."""

    kind: "KindInSteps[PlanT, QuestionT, StateT]"
    steps: Callable[[], Iterator[StepRow]]

    def states(self) -> Iterator[Record[StateT, Done]]:
        """Yield each question that is done, with all its steps.

        Raises StepsError where answers and steps are not about the same questions.
        """
        groups = groupby(self.steps(), itemgetter(0, 1))
        for row, group in zip_longest(self.rows(), groups):
            if row is None or group is None or group[0] != (row.participant, row.question):
                raise StepsError
            steps = tuple(step for _, _, step in group[1])
            yield row._replace(drawn=replace(row.drawn, steps=steps))

    def counted(self, content: Content, options: AnalysisOptions) -> Iterator[Record[StateT, Done]]:
        """Yield the questions that participants who count have done, with all their steps."""
        people = {each.public_id for each in content.counted(options)}
        return (row for row in self.states() if row.participant in people)

    def to_analyse(self, counted: Iterable[Record[StateT, Done]]) -> Iterable[Record[StateT, Done]]:
        """Return the answers that count, read one question at a time."""
        return counted

    def public(self, move: MoveTime) -> "StepAnswers[PlanT, QuestionT, StateT]":
        """Return a copy for publication: without people's words, and with all times moved."""

        def steps() -> Iterator[StepRow]:
            for (person, question), rows in groupby(self.steps(), itemgetter(0, 1)):
                for step in self.kind.without_typed(step for _, _, step in rows):
                    yield person, question, replace(step, saved_at=move(person, step.saved_at))

        return StepAnswers(self.kind, super().public(move).rows, steps)

    def tried_sheet(self, content: Content, number: int, drawn: StateT, answer: Done) -> Sheet:
        """See ``StudyAnswers.tried_sheet``; without others' steps, which the results have."""
        return self.kind.tried(content, number, (), drawn, answer)

    def to_import(self, content: Content) -> Iterator[tuple[Record[StateT, Done], StateT, Done]]:
        """Yield each answer's record, its presentation with all steps, and the answer."""
        return ((row, row.drawn, row.answer) for row in self.states())


class KindInSteps(Kind[PlanT, QuestionT, StateT, Done]):
    """A kind whose questions are answered in steps; ``step``: their type.

    The page of a question stores the steps that its form's ``steps_for`` returns.
    """

    answer = Done
    step: ClassVar[type[Any]]
    variant_words = ("Seed", "A whole number, from which random orders follow.")

    def draw(self, plan: PlanT, question: QuestionT, chance: Random) -> StateT:
        """Draw the seed of the order in which a participant meets the documents."""
        return self.presentation(chance.getrandbits(31))

    def comparable(self, question: QuestionT, row: Any) -> Iterable[tuple[Hashable, Hashable]]:
        """See ``Declaration.comparable``; a kind says what of its steps can be equal."""
        return ()

    def usual_variant(self, plan: PlanT) -> str:
        """Name the seed with which a preview orders documents."""
        return "1"

    def draw_variant(self, plan: PlanT, question: QuestionT, variant: str) -> StateT:
        """Return how a participant with this seed meets the question."""
        if not (variant.isascii() and variant.isdecimal() and len(variant) < 10):
            raise ValueError(f"{variant!r} is no whole number")
        return self.presentation(int(variant))

    def describe_answer(self, answer: Done) -> dict[str, object]:
        """Return the number of steps after which the question was done."""
        return {"done_after_steps": answer.steps}

    def in_words(self, answer: Done) -> str:
        """Return "done", in the page's language."""
        return gettext("done")

    def example_answer(self) -> Done:
        """Return an answer for a preview of pages."""
        return Done(1)

    # --- files ---

    def state_faults(self, state: StateT) -> Iterable[str]:
        """Return the faults of a question's steps, which must fit each other."""
        return ()

    def without_typed(self, steps: Iterable[Any]) -> Iterable[Any]:
        """Return the steps of a question without what people typed; most kinds hold no such."""
        return steps

    def data_tables(self, plan: PlanT) -> list[Table]:
        """Return the files of the questions, of those that are done, and of their steps."""
        tables = [*super().data_tables(plan), self._steps_table]
        return [*tables, *([self._step_items_table] if self._lists_of_steps else [])]

    @property
    def _steps_table(self) -> Table:
        declared = value_fields(self.step)
        lists = [value_field.name for value_field in self._lists_of_steps]
        columns = [
            *(STEP, SAVED_AT),
            *(
                replace(column, twin=STEP_ITEMS_FILE * (column.name in lists))
                for column in map(column_of, declared)
            ),
        ]

        def rows(content: Content) -> Iterator[Row]:
            for participant, question, number, step in _numbered(content.answers.steps()):
                cells = (getattr(step, value_field.name) for value_field in declared)
                yield participant, question, number, step.saved_at, *cells

        key, questions_file = [STEP.name], self.questions_file
        return answer_table(STEPS_FILE, columns, rows, key, questions_file=questions_file)

    @property
    def _lists_of_steps(self) -> list[ValueField]:
        types = (*LIST_TYPES, NAMED_LISTS)
        return [value_field for value_field in value_fields(self.step) if value_field.type in types]

    @property
    def _step_items_table(self) -> Table:
        """Return step_items.csv, a row for each document that a step names."""
        columns = [
            STEP,
            Column("list", "the column of the step that holds the list, or the list's name there"),
            Column("position", "of the document in the list", *COUNTED_FROM_1),
            Column("document", "id of the document"),
        ]

        def rows(content: Content) -> Iterator[Row]:
            for participant, question, number, step in _numbered(content.answers.steps()):
                for value_field in self._lists_of_steps:
                    value = getattr(step, value_field.name) or ()
                    lists = value if value_field.type == NAMED_LISTS else {value_field.name: value}
                    for name, documents in dict(lists).items():
                        for position, document in enumerate(documents, 1):
                            yield participant, question, number, name, position, document

        return answer_table(
            *(STEP_ITEMS_FILE, columns, rows, [STEP.name, "list", "position"]),
            questions_file=self.questions_file,
            is_twin=True,
        )

    def stored(
        self, session: Session, study_id: int, *, include_test: bool
    ) -> StepAnswers[PlanT, QuestionT, StateT]:
        """Return the answers of a study in the database."""

        def steps() -> Iterator[StepRow]:
            rows = export_queries.steps_done(
                session, study_id, self.tables, include_test=include_test
            )
            for participant, question, step in rows:
                yield participant, question, self.step(**step)

        answers = super().stored(session, study_id, include_test=include_test)
        return StepAnswers(self, answers.rows, steps)

    def read(
        self,
        files: Files,
        plan: PlanT,
        participants: Callable[[], Iterable[ParticipantRecord]],
    ) -> tuple[Sequence[QuestionT], StepAnswers[PlanT, QuestionT, StateT]]:
        """Read the questions, those that are done and their steps; raises BundleError."""
        questions, done = super().read(files, plan, participants)
        people = {each.public_id for each in participants()}
        numbers = {each.number for each in questions}
        counts = Counter[tuple[str, int]]()

        def step(row: CsvRow) -> StepRow:
            person, number = row.text("participant"), row.whole_number("question", 1)
            if person not in people or number not in numbers:
                raise row.fault("participant", "no such participant or question")
            fields = read_fields(row, self.step, saved_at=row.optional_time("saved_at"))
            counts[person, number] += 1
            if row.optional_whole_number(STEP.name) not in (counts[person, number], None):
                raise row.fault(STEP.name, f"{counts[person, number]} is next")
            return person, number, fields

        rows = parse_rows(files, STEPS_FILE, self._steps_table.needed, step)
        ordered = sorted(rows, key=itemgetter(0, 1))
        answers = StepAnswers(self, done.rows, lambda: iter(ordered))
        self._check_states(answers)
        return questions, answers

    def _check_states(self, answers: StepAnswers[PlanT, QuestionT, StateT]) -> None:
        """Raise BundleError where questions and steps do not fit each other."""
        faults = Faults()
        try:
            for row in answers.states():
                place = f"{STEPS_FILE}, {row.participant}, question {row.question}"
                for fault in self.state_faults(row.drawn):
                    faults.add(f"{place}: {fault}")
                count = len(row.drawn.steps)
                if row.answer.steps > count:
                    faults.add(f"{place}: {count} steps; done after {row.answer.steps}")
        except StepsError:
            faults.add(f"{self.answers_file} and {STEPS_FILE} are not about the same questions")
        faults.raise_any()


def _numbered(steps: Iterable[StepRow]) -> Iterator[tuple[str, int, int, Step]]:
    """Yield participant, question, number and step of each step, numbered from 1 in a question."""
    for (participant, question), group in groupby(steps, itemgetter(0, 1)):
        for number, (_, _, step) in enumerate(group, 1):
            yield participant, question, number, step


def whole_seconds(row: Record[StateT, Done]) -> int:
    """Return the whole seconds from the first sight of a question to its end; 0 without a time."""
    if row.shown_at is None or row.submitted_at is None:
        return 0
    whole = [each.replace(microsecond=0) for each in (row.shown_at, row.submitted_at)]
    return int((whole[1] - whole[0]).total_seconds())
