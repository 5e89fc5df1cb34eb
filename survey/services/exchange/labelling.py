"""Labelling in a bundle: queries, the queries that are done with each of their steps, weights."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from survey.core.collections.labels import HIGHEST
from survey.core.studies.fields import ParticipantRecord
from survey.core.tasks.labelling import (
    LabellingAnswer,
    LabellingPlan,
    LabellingPresentation,
    LabellingQuestion,
    LabellingStep,
    ranked,
)
from survey.db import export_queries
from survey.db.item_queries import StudyItems
from survey.db.models import Presentation, StoredResponse
from survey.db.models.labelling import (
    StoredLabellingAnswer,
    StoredLabellingPresentation,
    StoredLabellingStep,
)
from survey.services.analysis.label_results import (
    Annotator,
    LabelResults,
    agreement_sheet,
    merged,
    merged_files,
)
from survey.services.analysis.sheets import as_csv
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Faults,
    Files,
    parse_rows,
)
from survey.services.exchange.tables import (
    PARTICIPANT,
    Column,
    Content,
    Row,
    Table,
    lines_of,
    read_reason,
    reason_columns,
    spaced,
)

KEYWORDS = "keywords.csv"
DEPTH = 1_000  # documents of a topic in a run
QUESTIONS, QUERIES, STEPS = "questions.csv", "queries.csv", "steps.csv"
_QUESTION = Column("question", "number of the question", "whole number", "1, 2, …")
_STEP = StoredLabellingStep


class QueryRecord(NamedTuple):
    """A query that an annotator has done."""

    participant: str
    question: int
    position: int
    order_seed: int
    steps: int
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    reason: str | None


StepRow = tuple[str, int, LabellingStep]
"""Participant, question, and a step of theirs."""


@dataclass(frozen=True)
class LabellingContent:
    """The queries that are done, and their steps, both by participant and question."""

    rows: Callable[[], Iterator[QueryRecord]]
    steps: Callable[[], Iterator[StepRow]]

    def count(self) -> int:
        """Count the queries that are done."""
        return sum(1 for _ in self.rows())

    def states(self) -> Iterator[tuple[QueryRecord, LabellingPresentation]]:
        """Yield each query that is done, with all its steps."""
        groups = groupby(self.steps(), itemgetter(0, 1))
        for row, (_, steps) in zip(self.rows(), groups, strict=True):
            state = tuple(step for _, _, step in steps)
            yield row, LabellingPresentation(row.order_seed, state)

    def analyse(self, content: Content, options: AnalysisOptions) -> LabelResults:
        """Return weights and agreement; excluded participants are left out."""
        topics = {each.number: each.topic for each in content.questions}
        people = {
            each.public_id: Annotator(each.public_id, {}, 0)
            for each in content.participants()
            if not each.excluded and (options.include_test or not each.is_test)
        }
        labels: dict[str, dict[str, Mapping[str, int]]] = {name: {} for name in people}
        seconds = dict.fromkeys(people, 0)
        for row, state in self.states():
            if row.participant in people:
                labels[row.participant][topics[row.question]] = state.grades
                seconds[row.participant] += _seconds(row)
        annotators = [
            Annotator(name, labels[name], seconds[name]) for name in people if labels[name]
        ]
        return LabelResults(annotators, merged([each.labels for each in annotators]))

    def as_json(self, analysis: LabelResults) -> dict[str, Any]:
        """Return an analysis as ``survey analyse --json`` prints it."""
        return analysis.as_json()

    def to_import(
        self,
        content: Content,  # noqa: ARG002 - see TaskContent
    ) -> Iterator[tuple[QueryRecord, LabellingPresentation, LabellingAnswer]]:
        """Yield each query's record, with its steps, and that it is done."""
        for row, state in self.states():
            yield row, state, LabellingAnswer(row.steps)


def _seconds(row: QueryRecord) -> int:
    """Return the time from the first sight of a query to its end, as files tell times."""
    if row.shown_at is None or row.submitted_at is None:
        return 0
    whole = [each.replace(microsecond=0) for each in (row.shown_at, row.submitted_at)]
    return int((whole[1] - whole[0]).total_seconds())


class LabellingFiles:
    """The files of the kind of question "labelling", as the registry of files holds them."""

    recomputed: Mapping[str, str] = {
        QUESTIONS: "the topics of the plan",
        "weights.csv": "recounted from the marks",
        "agreement.csv": "recomputed from the marks",
    }
    answers_file = QUERIES

    def data_tables(self, plan: LabellingPlan) -> list[Table]:
        """Return the files of the topics, of the queries that are done, and of their steps."""
        done = [
            *(PARTICIPANT, _QUESTION, Column("position", source=Presentation.position)),
            Column("order_seed", source=StoredLabellingPresentation.order_seed),
            Column("steps", source=StoredLabellingAnswer.steps),
            Column("shown_at", source=Presentation.shown_at),
            Column("submitted_at", source=StoredResponse.submitted_at),
            Column("active_seconds", source=StoredResponse.active_seconds),
            Column("revisions", source=StoredResponse.revisions),
            *reason_columns(plan),
        ]
        steps = [
            *(PARTICIPANT, _QUESTION, Column("saved_at", source=_STEP.saved_at)),
            *(Column("action", source=_STEP.action), Column("batch", source=_STEP.batch)),
            *(Column("document", source=_STEP.document), Column("grade", source=_STEP.grade)),
            Column("documents", source=_STEP.documents),
        ]
        queries = lines_of(lambda content: (row[: len(done)] for row in content.answers.rows()))
        return [
            Table(QUESTIONS, [_QUESTION, Column("topic", "id of the topic")], _questions),
            Table(QUERIES, done, queries),
            Table(STEPS, steps, _steps),
        ]

    def result_tables(self, plan: LabellingPlan) -> list[Table]:  # noqa: ARG002 - see TaskFiles
        """Return weights.csv and agreement.csv, as `survey assess merge` writes them."""
        return [
            Table("weights.csv", _WEIGHTS, _body(lambda results: merged_files(results.merged))),
            Table(
                "agreement.csv",
                _AGREEMENT,
                _body(lambda results: {"agreement.csv": as_csv(agreement_sheet(results.merged))}),
            ),
        ]

    def lines_per_answer(self, plan: LabellingPlan) -> int:
        """Estimate how many lines of the files a query takes."""
        return plan.batch

    def stored(self, session: Session, study_id: int, *, include_test: bool) -> LabellingContent:
        """Return the answers of a study in the database."""
        wanted = {"include_test": include_test}
        return LabellingContent(
            rows=lambda: map(
                QueryRecord._make, export_queries.queries_done(session, study_id, **wanted)
            ),
            steps=lambda: (
                (participant, question, LabellingStep(*step))
                for participant, question, *step in export_queries.labelling_steps(
                    session, study_id, **wanted
                )
            ),
        )

    def read(
        self,
        files: Files,
        plan: LabellingPlan,
        participants: Callable[[], Iterable[ParticipantRecord]],
    ) -> tuple[Sequence[LabellingQuestion], LabellingContent]:
        """Read the topics, the queries that are done and their steps; raises BundleError."""
        rows_of_questions = parse_rows(
            files,
            QUESTIONS,
            ("question", "topic"),
            lambda row: LabellingQuestion(row.whole_number("question", 1), row.text("topic")),
        )
        questions = list(rows_of_questions)
        people = {each.public_id for each in participants()}
        numbers = {each[0] for each in questions}

        def check(row: CsvRow) -> tuple[str, int]:
            key = row.text("participant"), row.whole_number("question", 1)
            if key[0] not in people or key[1] not in numbers:
                raise row.fault("participant", "no such participant or question")
            return key

        def read_query(row: CsvRow) -> QueryRecord:
            return QueryRecord(
                *check(row),
                position=row.whole_number("position", 1),
                order_seed=row.whole_number("order_seed"),
                steps=row.whole_number("steps", 1),
                shown_at=row.optional_time("shown_at"),
                submitted_at=row.optional_time("submitted_at"),
                active_seconds=row.optional_number("active_seconds"),
                revisions=row.optional_whole_number("revisions"),
                reason=read_reason(row, plan),
            )

        def read_step(row: CsvRow) -> StepRow:
            try:
                step = LabellingStep(
                    action=row.text("action"),
                    batch=row.whole_number("batch", 1),
                    document=row.optional_text("document"),
                    grade=row.optional_whole_number("grade"),
                    documents=list(row.words("documents")) or None,
                    saved_at=row.optional_time("saved_at"),
                )
            except ValueError as error:
                allowed = f"mark with a grade to {HIGHEST}, next, refine, turn are allowed"
                raise row.fault("action", allowed) from error
            return *check(row), step

        rows = parse_rows(
            files, QUERIES, [c.name for c in self.data_tables(plan)[1].columns], read_query
        )
        steps = parse_rows(
            files, STEPS, [c.name for c in self.data_tables(plan)[2].columns], read_step
        )
        queries = sorted(rows, key=itemgetter(0, 1))
        records = sorted(steps, key=itemgetter(0, 1))
        content = LabellingContent(lambda: iter(queries), lambda: iter(records))
        _check_states(content)
        return questions, content

    def check_derived(self, files: Files, content: Content) -> None:
        """Nothing follows from topics."""

    def check_questions(self, content: Content) -> str:
        """Compare the topics with the plan's, and the documents of the steps with the items."""
        if list(content.questions) != content.plan.draw_questions():
            raise BundleError(f"{QUESTIONS} has other topics than the plan")
        known = {each.document for each in content.items}
        for row, state in content.answers.states():
            if unknown := sorted(state.grades.keys() - known):
                place = f"{STEPS}, {row.participant}, question {row.question}"
                raise BundleError(f"{place}: items.csv has no document {unknown[0]}")
        return f"the topics of {len(content.questions)} queries are the plan's"

    def read_practice(self, study: Mapping[str, Any], plan: LabellingPlan) -> None:
        """Return None: there is no practice."""

    def study_entries(self, plan: LabellingPlan, practice: None) -> dict[str, Any]:  # noqa: ARG002 - see TaskFiles
        """Return that there is no practice."""
        return {"practice": None}

    def result_files(
        self, session: Session, study_id: int, content: Content
    ) -> Iterator[tuple[str, str]]:
        """See ``WithResultFiles``: labels, judgements, and the rounds of each annotator as runs.

        A query that was refined less often than others keeps its last ranking in later rounds.
        """
        yield from content.analysis.files()
        keywords = {each.topic: each.text for each in content.topics if not each.image}
        yield KEYWORDS, as_csv(content.analysis.keyword_sheet(keywords))
        plan: Any = content.plan
        find = StudyItems(session, study_id)
        questions = {each.number: each for each in content.questions}
        counted = {each.participant for each in content.analysis.annotators}
        for participant, rows in groupby(content.answers.states(), lambda each: each[0][0]):
            states = [(questions[row.question], state.rounds) for row, state in rows]
            if participant not in counted:
                continue
            for number in range(max(len(rounds) for _, rounds in states)):
                lines = []
                for question, rounds in states:
                    order = ranked(plan, question, rounds[min(number, len(rounds) - 1)], find)
                    lines += [
                        f"{question.topic} Q0 {document} {rank} {DEPTH - rank} round{number}\n"
                        for rank, document in enumerate(order[:DEPTH], 1)
                    ]
                yield f"runs/{participant}/round{number}.txt", "".join(lines)

    def why_different(self, study: Mapping[str, Any]) -> str:  # noqa: ARG002 - see TaskFiles
        """Return "": topics are drawn by nothing that may differ."""
        return ""


def _check_states(content: LabellingContent) -> None:
    """Raise BundleError where queries and steps do not fit each other."""
    faults = Faults()
    try:
        for row, state in content.states():
            place = f"{STEPS}, {row.participant}, question {row.question}"
            shown = [each for batch in state.batches for each in batch]
            if len({*shown}) < len(shown) or {*state.grades} != {*shown}:
                faults.add(f"{place}: a document is shown twice, or marked and not shown")
            if any(step.batch > len(state.batches) for step in state.steps):
                faults.add(f"{place}: a step is of a batch that was not shown")
            if row.steps > len(state.steps):
                faults.add(f"{place}: {len(state.steps)} steps; done after {row.steps}")
    except ValueError:  # of zip
        faults.add(f"{QUERIES} and {STEPS} are not about the same queries")
    faults.raise_any()


@lines_of
def _questions(content: Content) -> Iterable[Row]:
    return iter(content.questions)


@lines_of
def _steps(content: Content) -> Iterator[Row]:
    for participant, question, step in content.answers.steps():
        documents = None if step.documents is None else spaced(step.documents)
        mark = step.document, step.grade
        yield participant, question, step.saved_at, step.action, step.batch, *mark, documents


def _body(files_of: Callable[[LabelResults], Mapping[str, str]]) -> Callable[[Content], list[str]]:
    """Return the body of a table that is the first of these files."""
    return lambda content: [next(iter(files_of(content.analysis).values())).partition("\n")[2]]


_TOPIC = Column("topic", "id of the topic")
_COUNTED = ("whole number", "0, 1, …")
_SHARE = ("number", "-1 to 1; empty where it is not defined")
_WEIGHTS = [
    *(_TOPIC, Column("document", "id of a document that someone looked at")),
    Column("chosen", "how many annotators marked it", *_COUNTED),
    Column("assessors", "how many annotators have done the topic", *_COUNTED),
    Column("weight", "chosen / assessors", "number", "0 to 1"),
]
_AGREEMENT = [
    *(_TOPIC, Column("assessors", "how many annotators have done the topic", *_COUNTED)),
    Column("documents", "how many documents someone looked at", *_COUNTED),
    Column("relevant", "how many more than half of the annotators marked", *_COUNTED),
    Column("chosen_by_all", "how many all annotators marked", *_COUNTED),
    Column("chosen_by_one", "how many a single annotator marked", *_COUNTED),
    Column("jaccard", "mean of |A ∩ B| / |A ∪ B| over all pairs", *_SHARE),
    Column("fleiss_kappa", "Fleiss' kappa of marked or not", *_SHARE),
    Column("krippendorff_alpha", "Krippendorff's alpha of the grades", *_SHARE),
]
