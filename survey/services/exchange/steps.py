"""Questions that are answered in many small steps, in a bundle: those that are done, their steps.

What the steps of a kind are, and what its results are, is in the module of the kind.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

from sqlalchemy.orm import Session

from survey.core.kinds import KINDS
from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.plan import Plan
from survey.core.tasks.steps import Done
from survey.db import export_queries
from survey.services.exchange.input_files import CsvRow, Faults, Files, parse_rows
from survey.services.exchange.tables import (
    PARTICIPANT,
    POSITION,
    SHARED_COLUMNS,
    Cell,
    Column,
    Content,
    MoveTime,
    Row,
    Table,
    asked_column,
    lines_of,
    public_record,
    read_asked,
    read_reason,
    read_shared,
    reason_columns,
    spaced,
)

QUESTIONS, STEPS = "questions.csv", "steps.csv"
QUESTION = Column("question", "number of the question", "whole number", "1, 2, …")
TOPIC = Column("topic", "id of the topic")


class DoneRecord(NamedTuple):
    """A question that a participant has done."""

    participant: str
    question: int
    position: int
    order_seed: int
    steps: int
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    asked: str | None
    reason: str | None

    @property
    def seconds(self) -> int:
        """The whole seconds from the first sight of the question to its end; 0 without a time."""
        if self.shown_at is None or self.submitted_at is None:
            return 0
        whole = [each.replace(microsecond=0) for each in (self.shown_at, self.submitted_at)]
        return int((whole[1] - whole[0]).total_seconds())


StepRow = tuple[str, int, Any]
"""Participant, question, and a step of theirs."""


class StepsError(Exception):
    """Answers and steps that are not about the same questions."""


@dataclass(frozen=True)
class StepContent:
    """The questions that are done, and their steps, both by participant and question.

    ``presentation``: the kind's class for a participant's question, which holds the seed of its
    order and the steps so far.
    """

    presentation: ClassVar[type[Any]]

    rows: Callable[[], Iterator[DoneRecord]]
    steps: Callable[[], Iterator[StepRow]]

    def count(self) -> int:
        """Count the questions that are done."""
        return sum(1 for _ in self.rows())

    def states(self) -> Iterator[tuple[DoneRecord, Any]]:
        """Yield each question that is done, with all its steps.

        Raises StepsError where rows and steps are not about the same questions.
        """
        groups = groupby(self.steps(), itemgetter(0, 1))
        for row, group in zip_longest(self.rows(), groups):
            if row is None or group is None or group[0] != (row.participant, row.question):
                raise StepsError
            state = tuple(step for _, _, step in group[1])
            yield row, self.presentation(row.order_seed, state)

    def public(self, move: MoveTime) -> Self:
        """Return a copy for publication: without people's words, and with all times moved."""
        return replace(
            self,
            rows=lambda: (public_record(row, move) for row in self.rows()),
            steps=lambda: (
                (who, question, replace(step, saved_at=move(who, step.saved_at)))
                for who, question, step in self.public_steps()
            ),
        )

    def public_steps(self) -> Iterator[StepRow]:
        """Yield the steps without what people typed; of most kinds, they hold nothing typed."""
        return self.steps()

    def to_import(self, content: Content) -> Iterator[tuple[DoneRecord, Any, Done]]:
        """Yield each question's record, with its steps, and that it is done."""
        for row, state in self.states():
            yield row, state, Done(row.steps)


class StepFiles(ABC):
    """The files of questions, of those that are done and of their steps, alike for all such kinds.

    ``models``: of the kind's presentations, answers and steps; ``question_columns``: a column for
    each field of a question, a named tuple; ``step_names``: what a step has beside the time.
    ``asks``: what the page may ask back. ``answers_file``, ``typed``: see ``TaskFiles``.
    """

    kind: ClassVar[str]
    content: ClassVar[type[StepContent]]
    asks: ClassVar[Sequence[str]]
    answers_file: str
    typed: str
    models: ClassVar[tuple[Any, Any, Any]]
    question_columns: ClassVar[Sequence[Column]]
    step_names: ClassVar[Sequence[str]]

    @abstractmethod
    def question_from(self, row: CsvRow) -> Any:
        """Return the question that a row holds; raises BundleError with its place."""

    @abstractmethod
    def step_from(self, row: CsvRow, saved_at: datetime | None) -> Any:
        """Return the step that a row holds; raises BundleError with its place."""

    @abstractmethod
    def state_faults(self, state: Any) -> Iterator[str]:
        """Yield the faults of a question's steps, which must fit each other."""

    def data_tables(self, plan: Plan) -> list[Table]:
        """Return the files of the questions, of those that are done, and of their steps."""
        presentation, answer, step = self.models
        done = [
            *(PARTICIPANT, QUESTION, POSITION),
            Column("order_seed", source=presentation.order_seed),
            Column("steps", source=answer.steps),
            *SHARED_COLUMNS,
            asked_column(self.asks),
            *reason_columns(plan),
        ]
        rows = lines_of(lambda content: (row[: len(done)] for row in content.answers.rows()))
        names = ("saved_at", *self.step_names)
        of_step = [Column(name, source=getattr(step, name)) for name in names]
        return [
            Table(QUESTIONS, self.question_columns, _questions),
            Table(self.answers_file, done, rows),
            Table(STEPS, [PARTICIPANT, QUESTION, *of_step], lines_of(self._steps)),
        ]

    def _steps(self, content: Content) -> Iterator[Row]:
        for participant, question, step in content.answers.steps():
            cells = (_cell(getattr(step, name)) for name in self.step_names)
            yield participant, question, step.saved_at, *cells

    def stored(self, session: Session, study_id: int, *, include_test: bool) -> Any:
        """Return the answers of a study in the database."""
        tables, step_of = KINDS[self.kind].tables, self.content.presentation.step
        read = (session, study_id, tables)
        done, steps = export_queries.plain_answers, export_queries.steps_done
        return self.content(
            rows=lambda: map(DoneRecord._make, done(*read, include_test=include_test)),
            steps=lambda: (
                (participant, question, step_of(**step))
                for participant, question, step in steps(*read, include_test=include_test)
            ),
        )

    def read(
        self, files: Files, plan: Plan, participants: Callable[[], Iterable[ParticipantRecord]]
    ) -> tuple[Sequence[Any], Any]:
        """Read the questions, those that are done and their steps; raises BundleError."""
        asked, done, steps = self.data_tables(plan)
        questions = [*parse_rows(files, asked.name, asked.names, self.question_from)]
        people = {each.public_id for each in participants()}
        numbers = {each.number for each in questions}
        by_key = itemgetter(0, 1)

        def key_of(row: CsvRow) -> tuple[str, int]:
            key = row.text("participant"), row.whole_number("question", 1)
            if key[0] not in people or key[1] not in numbers:
                raise row.fault("participant", "no such participant or question")
            return key

        def read_done(row: CsvRow) -> DoneRecord:
            return DoneRecord(
                *key_of(row),
                position=row.whole_number("position", 1),
                order_seed=row.whole_number("order_seed"),
                steps=row.whole_number("steps", 1),
                **read_shared(row),
                asked=read_asked(row, self.asks),
                reason=read_reason(row, plan),
            )

        def read_step(row: CsvRow) -> StepRow:
            return *key_of(row), self.step_from(row, row.optional_time("saved_at"))

        rows = parse_rows(files, done.name, done.needed, read_done)
        taken = parse_rows(files, steps.name, steps.names, read_step)
        records, ordered = sorted(rows, key=by_key), sorted(taken, key=by_key)
        content = self.content(lambda: iter(records), lambda: iter(ordered))
        self._check_states(content)
        return questions, content

    def _check_states(self, content: StepContent) -> None:
        """Raise BundleError where questions and steps do not fit each other."""
        faults = Faults()
        try:
            for row, state in content.states():
                place = f"{STEPS}, {row.participant}, question {row.question}"
                for fault in self.state_faults(state):
                    faults.add(f"{place}: {fault}")
                if row.steps > len(state.steps):
                    faults.add(f"{place}: {len(state.steps)} steps; done after {row.steps}")
        except StepsError:
            faults.add(f"{self.answers_file} and {STEPS} are not about the same questions")
        faults.raise_any()

    def check_derived(self, files: Files, content: Content) -> None:  # noqa: B027 - see TaskFiles
        """Nothing follows from the questions."""

    def read_practice(self, study: Mapping[str, Any], plan: Any) -> None:  # noqa: B027 - see TaskFiles
        """Return None: there is no practice."""

    def study_entries(self, plan: Any, practice: None) -> dict[str, Any]:
        """Return that there is no practice."""
        return {"practice": None}


@lines_of
def _questions(content: Content) -> Iterator[Row]:
    for question in content.questions:
        yield [*map(_cell, question)]


def _cell(value: Any) -> Cell:
    """Return a value as a cell: a list with spaces between, an object as JSON."""
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return spaced(value) if isinstance(value, list | tuple) else value
