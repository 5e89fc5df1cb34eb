"""Labelling in a bundle: queries, the queries that are done with each of their steps, weights."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice
from sys import intern
from typing import Any

from sqlalchemy.orm import Session

from survey.core.collections.labels import HIGHEST
from survey.core.tasks.labelling import (
    ACTIONS,
    ASKED,
    LOOKED,
    LabellingPlan,
    LabellingPresentation,
    LabellingQuestion,
    LabellingStep,
    ranked,
)
from survey.core.tasks.steps import Done
from survey.db.item_queries import StudyItems
from survey.db.models.labelling import (
    StoredLabellingAnswer,
    StoredLabellingPresentation,
    StoredLabellingStep,
)
from survey.services.analysis.label_results import (
    Annotator,
    LabelResults,
    PackedLabels,
    merged,
    merged_lines,
)
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.input_files import JUDGEMENTS, BundleError, CsvRow
from survey.services.exchange.steps import (
    QUESTION,
    QUESTIONS,
    STEPS,
    TOPIC,
    StepContent,
    StepFiles,
)
from survey.services.exchange.tables import (
    PARTICIPANT,
    Column,
    Content,
    Row,
    Table,
    batched,
    lines_of,
)

RUNS, RUNS_WITHOUT_NEGATIVES = "runs", "runs-without-negatives"
QUERIES = "queries.csv"


@dataclass(frozen=True)
class LabellingContent(StepContent):
    """The queries that are done, and their steps."""

    presentation = LabellingPresentation

    def analyse(self, content: Content, options: AnalysisOptions) -> LabelResults:
        """Return weights and agreement; excluded participants are left out."""
        topics = {each.number: each.topic for each in content.questions}
        labels = {each.public_id: PackedLabels() for each in content.counted(options)}
        seconds = dict.fromkeys(labels, 0)
        asked = Counter[str | None]()
        for row, state in self.states():
            if row.participant in labels:
                asked[row.asked] += 1
                if state.grades or not state.shown:  # who looked at nothing judged nothing
                    labels[row.participant].add(topics[row.question], state.grades)
                seconds[row.participant] += row.seconds
        annotators = [
            Annotator(name, labels[name], seconds[name]) for name in labels if labels[name]
        ]
        asked_back = {kind: asked[kind] for kind in ASKED}
        given, names = (
            [each.labels for each in annotators],
            [each.participant for each in annotators],
        )
        keywords = {each.topic: each.text for each in content.topics if not each.image}
        labelled = (annotators, merged(given, names), asked_back, keywords)
        return LabelResults(*labelled, **content.known(options))

    def tried_sheet(
        self, content: Content, number: int, drawn: LabellingPresentation, answer: Done
    ) -> Sheet:
        """Return how many participants marked each document that was shown, beside the marks."""
        topics, topic = content.results.merged.topics, content.question(number).topic
        merged = next((each for each in topics if each.topic == topic), None)
        marked = dict(zip(merged.documents, merged.chosen.tolist(), strict=True)) if merged else {}
        names = content.names_of(drawn.grades)
        rows = [
            (names[document], marked.get(document, 0), grade)
            for document, grade in drawn.grades.items()
            if grade or marked.get(document)
        ]
        done = f"{merged.assessors if merged else 0} participants have done this query"
        left = len(names) - len(rows)
        return Sheet(
            name="tried",
            title="What was marked",
            columns=("document", "participants", "you"),
            rows=tuple(rows),
            note=f"{done}. Of the documents that you saw, no one marked {left}.",
        )


class LabellingFiles(StepFiles):
    """The files of the kind of question "labelling", as the registry of files holds them."""

    recomputed: Mapping[str, str] = {
        QUESTIONS: "the topics of the plan",
        "labels.csv": "follows from the steps",
        "weights.csv": "recounted from the marks",
        "agreement.csv": "recomputed from the marks",
    }
    kind = "labelling"
    asks = ASKED
    content = LabellingContent
    answers_file = QUERIES
    typed = ""
    has_options = False
    models = StoredLabellingPresentation, StoredLabellingAnswer, StoredLabellingStep
    question_columns = (QUESTION, TOPIC)
    step_names = ("action", "batch", "document", "grade", "documents")

    def result_tables(self, plan: LabellingPlan) -> list[Table]:
        """Return labels.csv; weights.csv and agreement.csv as `survey assess merge` writes them."""
        return [
            Table("labels.csv", _LABELS, lines_of(_labels)),
            Table("weights.csv", _WEIGHTS, _body("weights.csv")),
            Table("agreement.csv", _AGREEMENT, _body("agreement.csv")),
        ]

    def judgement_files(self, content: Content) -> Iterator[tuple[str, Iterable[str]]]:
        """See ``TaskFiles``: each annotator's labels, and what is merged of them."""
        for each in content.results.annotators:
            yield f"{JUDGEMENTS}/{each.participant}.txt", map("".join, batched(each.lines))
        lines = merged_lines(content.results.merged)
        for name in ("weights.txt", "qrels.txt"):
            yield name, map("".join, batched(lines[name]))

    def lines_per_answer(self, plan: LabellingPlan) -> int:
        """Estimate how many lines of the files a query takes."""
        return plan.batch

    def question_from(self, row: CsvRow) -> LabellingQuestion:
        """Return the query that a row holds; raises BundleError with its place."""
        return LabellingQuestion(row.whole_number("question", 1), row.text("topic"))

    def step_from(self, row: CsvRow, saved_at: datetime | None) -> LabellingStep:
        """Return the step that a row holds; raises BundleError with its place."""
        documents = [*map(intern, row.words("documents"))]
        action = row.text("action")
        try:
            return LabellingStep(
                action=action,
                batch=row.whole_number("batch", 1),
                document=row.optional_text("document"),
                grade=row.optional_whole_number("grade"),
                documents=documents or ([] if action in LOOKED else None),
                saved_at=saved_at,
            )
        except ValueError as error:
            allowed = f"mark with a grade to {HIGHEST}, {', '.join(ACTIONS[1:])} are allowed"
            raise row.fault("action", allowed) from error

    def state_faults(self, state: LabellingPresentation) -> Iterator[str]:
        """Yield the faults of a query's steps."""
        if len(state.shown) < sum(map(len, state.batches)) or not {*state.exposure} <= {
            *state.shown
        }:
            yield "a document is shown twice, or marked or looked at and not shown"
        if any(step.batch > len(state.batches) for step in state.steps):
            yield "a step is of a batch that was not shown"

    def check_questions(self, content: Content) -> str:
        """Compare the topics with the plan's, and the documents of the steps with the items."""
        if list(content.questions) != content.plan.draw_questions():
            raise BundleError(f"{QUESTIONS} has other topics than the plan")
        known = {each.document for each in content.items}
        for row, state in content.answers.states():
            if unknown := sorted(state.shown.keys() - known):
                place = f"{STEPS}, {row.participant}, question {row.question}"
                raise BundleError(f"{place}: items.csv has no document {unknown[0]}")
        return f"the topics of {len(content.questions)} queries are the plan's"


def rankings_of(content: Content) -> list[tuple[str, bool]]:
    """Return the folders of runs, and whether negative examples count in them.

    Where the plan lets them count, the same rounds are ranked without them too.
    """
    plan: Any = content.plan
    return [(RUNS, True), *([(RUNS_WITHOUT_NEGATIVES, False)] if plan.negative_share else [])]


def rounds_of(
    session: Session, study_id: int, content: Content, depth: int, *, with_negatives: bool = True
) -> Iterator[tuple[str, int, dict[str, list[str]]]]:
    """Yield each annotator's rounds, from 0: (participant, round, topic → the first documents).

    A query that was refined less often than others keeps its last ranking in later rounds.
    ``with_negatives``: False ranks the same rounds by the marked documents alone.
    """
    plan: Any = content.plan
    plan = plan if with_negatives else replace(plan, negative_share=0)
    find = StudyItems(session, study_id)
    questions = {each.number: each for each in content.questions}
    counted = {each.participant for each in content.results.annotators}
    for participant, rows in groupby(content.answers.states(), lambda each: each[0][0]):
        if participant not in counted:
            continue
        states = [(questions[row.question], state.rounds) for row, state in rows]
        orders: dict[str, list[str]] = {}
        for number in range(max(len(rounds) for _, rounds in states)):
            for question, rounds in states:
                if number < len(rounds):
                    order = ranked(plan, question, rounds[number], find)
                    orders[question.topic] = order[:depth]
            yield participant, number, {**orders}


def _labels(content: Content) -> Iterator[Row]:
    topics = {each.number: each.topic for each in content.questions}
    for row, state in content.answers.states():
        for label in state.labels:
            yield row.participant, topics[row.question], *label


def _body(name: str) -> Callable[[Content], Iterator[str]]:
    """Return the body of a table that is one of the files of merged labels."""
    return lambda content: islice(merged_lines(content.results.merged)[name], 1, None)


_COUNTED = ("whole number", "0, 1, …")
_LABELS = [
    *(PARTICIPANT, Column("query", "id of the topic")),
    Column("document", "id of a document of a batch that was shown"),
    Column(
        "grade",
        "its grade; 0: it was looked at and not marked; empty: it was not looked at, so nothing is "
        "known",
        "whole number",
        f"0 to {HIGHEST}; may be empty",
    ),
    Column("batch", "number of the batch in which it was shown", "whole number", "1, 2, …"),
    Column("round", "how many new rankings came before", *_COUNTED),
    Column("marked_at", "when it was marked last", "time", "UTC; empty where it never was"),
    Column("revisions", "how often the grade was changed", *_COUNTED),
    Column(
        "exposure",
        "seen: it was in view, 60 % of it for half a second, or marked; shown: a page without "
        "scripts showed it, and was left for the next batch; empty: not looked at",
        allowed="seen, shown; may be empty",
        optional=True,
    ),
]
_SHARE = ("number", "-1 to 1; empty where it is not defined")
_WEIGHTS = [
    *(TOPIC, Column("document", "id of a document that someone looked at")),
    Column("chosen", "how many annotators marked it", *_COUNTED),
    Column("assessors", "how many annotators have done the topic", *_COUNTED),
    Column("weight", "chosen / assessors", "number", "0 to 1"),
]
_AGREEMENT = [
    *(TOPIC, Column("assessors", "how many annotators have done the topic", *_COUNTED)),
    Column("documents", "how many documents someone looked at", *_COUNTED),
    Column("relevant", "how many more than half of the annotators marked", *_COUNTED),
    Column("chosen_by_all", "how many all annotators marked", *_COUNTED),
    Column("chosen_by_one", "how many a single annotator marked", *_COUNTED),
    Column("jaccard", "mean of |A ∩ B| / |A ∪ B| over all pairs", *_SHARE),
    Column("fleiss_kappa", "Fleiss' kappa of marked or not", *_SHARE),
    Column("krippendorff_alpha", "Krippendorff's alpha of the grades", *_SHARE),
]
