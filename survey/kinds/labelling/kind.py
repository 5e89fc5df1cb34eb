"""The kind "labelling", from declaration to results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from survey.core.agreement.topic_alpha import FEWEST_TOPICS
from survey.core.collections.items import FindItems, Item, Topic
from survey.core.collections.labels import HIGHEST_GRADE, NOT_JUDGED
from survey.core.collections.likeness import Entry, Pool
from survey.core.collections.pools import LIKENESS, counted
from survey.core.kind import TopicRow
from survey.core.studies.fields import Finding
from survey.core.studies.plan import Check
from survey.core.text_input import Json
from survey.core.ways_in import KEYWORDS, POOL, TOPICS, Sources
from survey.db.models import Study
from survey.db.models.base import Base
from survey.kinds import Protocol, Record, Results, Sheet
from survey.kinds.labelling import checks
from survey.kinds.labelling.answer import (
    ASKED,
    REFINE,
    UNFINISHED,
    UNMARKED,
    UNSEEN,
    LabellingPresentation,
    LabellingShown,
    LabellingStep,
    LabellingView,
    Tile,
    first_batch,
    practised,
    proposed_documents,
    ranked,
)
from survey.kinds.labelling.bot import LabellingBot
from survey.kinds.labelling.checks import check_in, is_check, original, own_documents
from survey.kinds.labelling.machine import LabellingMachine
from survey.kinds.labelling.pages import LabellingForm
from survey.kinds.labelling.plan import LabellingPlan, LabellingQuestion
from survey.kinds.labelling.pool_results import (
    ALL_QRELS,
    GOLD_COLUMNS,
    GOLD_FILE,
    POOL_COLUMNS,
    POOL_FILE,
    POOL_RUN_COLUMNS,
    POOL_RUNS_FILE,
    PoolChecks,
    names_of,
)
from survey.kinds.labelling.refining import refining_of
from survey.kinds.labelling.results import Annotator, LabelResults, PackedLabels
from survey.kinds.labelling.ways_in import WAYS_IN, begin, topic_rows, with_topics
from survey.kinds.steps import STEPS_FILE, Done, KindInSteps, whole_seconds
from survey.services.analysis.label_agreement import CORRECTION, TEST, TEST_OF_ANNOTATORS
from survey.services.analysis.merged_labels import merged, merged_lines
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections.pools import recompute_pool
from survey.services.exchange.answer_columns import (
    EARLIER_TOPIC,
    LATER_QUESTION,
    OF_TOPIC,
    OWN_TOPIC,
    answer_table,
)
from survey.services.exchange.input_files import JUDGEMENTS_FOLDER, BundleError, SourceFiles
from survey.services.exchange.tables import Column, Content, Row, Table, batched, row_lines
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import Form
from survey.web.language import gettext
from survey.web.participant.kind_pages import Doubt, PracticeScreen


class LabellingKind(
    LabellingBot,
    LabellingMachine,
    KindInSteps[LabellingPlan, LabellingQuestion, LabellingPresentation],
):
    """Mark, batch by batch, which documents are relevant to a query."""

    name, noun = "labelling", "queries"
    plan, question = LabellingPlan, LabellingQuestion
    presentation, step = LabellingPresentation, LabellingStep
    asks = ASKED
    metadata = Base.metadata
    pace_note = "Pictures: shown in a batch so far."
    public_note = "from batch to batch, all pictures of the collection"
    ways_in, takes = WAYS_IN, (TOPICS, KEYWORDS, POOL)
    preset, further_presets = "labels", ("pool",)

    def begin(self, sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
        """See ``Declaration.begin``."""
        return begin(sources, changes)

    def preset_for(self, sources: Sources, changes: Mapping[str, object]) -> str:
        """See ``Declaration.preset_for``."""
        return "pool" if changes.get("pool") else self.preset

    def fitted_preset(self, plan: LabellingPlan) -> str:
        """See ``Declaration.fitted_preset``."""
        return "pool" if plan.pool else self.preset

    def topic_rows(self, plan: LabellingPlan, topics: Sequence[Topic]) -> list[TopicRow]:
        """See ``Declaration.topic_rows``."""
        return topic_rows(plan, topics)

    def with_topics(self, plan: LabellingPlan, topics: Sequence[str]) -> LabellingPlan:
        """See ``Declaration.with_topics``."""
        return with_topics(plan, topics)

    def practice_question(
        self, plan: LabellingPlan, questions: Sequence[LabellingQuestion]
    ) -> LabellingQuestion:
        """Return the last query; the page takes a topic that no query asks, see ``practised``."""
        return replace(questions[-1], number=0)

    def show(
        self, question: LabellingQuestion, presentation: LabellingPresentation
    ) -> LabellingShown:
        """Return query and steps; ``with_items`` makes of them what the page shows."""
        return LabellingShown(question, presentation)

    def with_items(
        self,
        plan: LabellingPlan,
        question: LabellingQuestion,
        view: LabellingShown,
        find: FindItems,
    ) -> LabellingView:
        """Return the batch that is shown now, with its pictures or texts, and the counts."""
        state = view.presentation
        question = practised(plan, question, find)
        if not state.steps:
            state = replace(state, steps=[first_batch(plan, question, state, find)])
        documents = state.batches[state.batch - 1]
        items, topic = find({*map(original, documents)}, question.topic)
        if question.documents is None:
            pool = find.pool()
            own = own_documents(pool, find.topic(question.topic) or Topic(question.topic))
            count = len(pool) - len(own)
        else:
            count = len(ranked(plan, question, state.rounds[-1], find))
        unmarked = None if plan.grades else 0
        proposed = proposed_documents(plan, question, state, find) & {*documents}
        grades = {**dict.fromkeys(proposed, plan.highest), **state.grades}
        return LabellingView(
            topic=topic,
            tiles=tuple(
                Tile(
                    *(number, items.get(original(document))),
                    *(grades.get(document, unmarked), document in state.exposure),
                    document in state.not_judged,
                )
                for number, document in enumerate(documents, 1)
            ),
            batch=state.batch,
            batches=len(state.batches),
            looked_at=len(state.exposure),
            relevant=sum(map(bool, state.grades.values())) + len(proposed),
            pool=count,
            round=sum(step.action == REFINE and step.batch <= state.batch for step in state.steps),
            steps=len(view.presentation.steps),
            in_batches=sum(not is_check(document) for document in state.shown),
            proposed=len(proposed),
            is_exhausted=state.is_exhausted and not plan.pool,
            is_pooled=question.documents is not None,
            can_refine=plan.pool is None or plan.pool.order == LIKENESS,
        )

    def protocol(self, plan: LabellingPlan) -> Protocol:
        """See ``Declaration.protocol``."""
        outcome = "whether an annotator marks a document as relevant to a query"
        if plan.highest > 1:
            outcome = f"the grade, 0 to {plan.highest}, that an annotator gives a document"
        return Protocol(
            outcome=outcome,
            scope=f"queries of this kind if there are {FEWEST_TOPICS} or more, else these queries",
            test=f"{TEST.format('topics')}. {TEST_OF_ANNOTATORS}",
            correction=CORRECTION,
        )

    def facts(self, plan: LabellingPlan, generator_version: int) -> dict[str, Json]:
        """Return what a summary of the study says of its queries."""
        pooled: dict[str, Json] = {"pool": plan.pool.sentence} if plan.pool else {}
        pooled |= {"sample": plan.sample_sentence} if plan.sample else {}
        facts: dict[str, Json] = {"topics": " ".join(plan.topics), "batch": plan.batch}
        return {**facts, "highest grade": plan.highest, **pooled}

    def verdict(self, plan: LabellingPlan, questions: Sequence[LabellingQuestion]) -> str:
        """Say how many queries people label."""
        return "1 query to label" if len(questions) == 1 else f"{len(questions)} queries to label"

    def findings(
        self, plan: LabellingPlan, questions: Sequence[LabellingQuestion]
    ) -> Iterator[Finding]:
        """Yield what people judge of a sample, and whether no query is labelled by all of them."""
        if plan.sample:
            yield Finding(None, plan.sample_sentence, mend="sample")
        if plan.design == "pool" and not plan.queries_for_all and len(questions) > 1:
            text = "no query goes to everybody, so two annotators may have none in common"
            text = f"{text}; queries_for_all in the plan changes that"
            yield Finding(None, text, mend="queries_for_all")

    def item_findings(
        self, plan: LabellingPlan, items: Iterable[Item], topics: Iterable[Topic]
    ) -> Iterator[Finding]:
        """Yield which queries show no document but their own picture."""
        items, by_id = [*items], {topic.topic: topic for topic in topics}
        pool = Pool([Entry(each.document, each.sha256, "", None) for each in items])
        yield from checks.findings(plan, pool, items, by_id)
        known = {each.document for each in items}
        if unknown := [each for _, each in plan.population if each not in known and plan.sample]:
            text = f"{len(unknown)} of {len(plan.population)} documents that a machine judges have"
            text = f"{text} no picture or text, such as {unknown[0]}"
            yield Finding(None, text, mend="items")
        if plan.pool:  # a researcher chose what is judged
            return
        for number, name in enumerate(plan.topics, 1):
            if len(own_documents(pool, by_id.get(name, Topic(name)))) == len(pool):
                text = (
                    f"query {number} shows nothing to judge, as all documents are its own picture"
                )
                ways = f"add other documents, or take the topic {name} out of the plan"
                yield Finding(number, f"{text}; {ways}", mend="items")

    def are_right(
        self,
        plan: LabellingPlan,
        check: Check,
        answers: Sequence[tuple[LabellingQuestion, Record[LabellingPresentation, Done]]],
    ) -> Iterator[bool]:
        """See ``Declaration.are_right``."""
        for question, row in answers:
            yield from checks.are_right(plan, check, question.topic, row.drawn.grades)

    def check_in_words(
        self, plan: LabellingPlan, check: Check, questions: Mapping[int, LabellingQuestion]
    ) -> str:
        """See ``Declaration.check_in_words``; of gold documents with their number."""
        if check.name != checks.GOLD:
            return super().check_in_words(plan, check, questions)
        topics = counted(len({gold.topic for gold in plan.gold}), "topic")
        return f"{check.text} (gold): {len(plan.gold)} in {topics}, each at a random place"

    def comparable(
        self, question: LabellingQuestion, row: Record[LabellingPresentation, Done]
    ) -> Iterator[tuple[tuple[int, str], int]]:
        """See ``Declaration.comparable``: the grade of each document that was looked at."""
        for document, grade in row.drawn.counted.items():
            yield (question.number, document), grade

    def describe(
        self, plan: LabellingPlan, view: LabellingView, presentation: LabellingPresentation
    ) -> dict[str, object]:
        """Return what an annotator was shown and every step of theirs, without documents' ids."""
        return {
            "topic": view.topic and view.topic.text,
            "steps": [
                {
                    "at": step.saved_at and step.saved_at.isoformat(),
                    "what": step.action,
                    "batch": step.batch,
                    **({} if step.document is None else _place(presentation, step)),
                }
                for step in presentation.steps
            ],
        }

    # --- files ---

    questions_file, answers_file = "questions.csv", "queries.csv"
    makes_judgements = True
    recomputed: Mapping[str, str] = {
        "questions.csv": "the topics of the plan",
        "labels.csv": "follows from the steps",
        "weights.csv": "recounted from the marks",
        "agreement.csv": "recomputed from the marks",
    }

    def result_tables(self, plan: LabellingPlan) -> list[Table]:
        """Return labels.csv; weights.csv and agreement.csv as `survey assess merge` writes them."""
        check = [_CHECK] if plan.checks else []
        tables = [
            answer_table(
                *("labels.csv", [*_LABELS, *check], _labels, ["document", *names_of(check)]),
                question=LATER_QUESTION,
                topic=replace(EARLIER_TOPIC, former="query"),
            ),
            Table("weights.csv", _WEIGHTS, _body("weights.csv"), ["topic", "document"], OF_TOPIC),
            Table("agreement.csv", _AGREEMENT, _body("agreement.csv"), ["topic"], OF_TOPIC),
        ]
        if plan.pool:
            rows = row_lines(lambda content: content.results.pool.pool_rows())
            key = ["topic", "document"]
            tables.append(Table(POOL_FILE, POOL_COLUMNS, rows, key, OF_TOPIC))
            rows = row_lines(lambda content: content.results.pool.run_rows())
            of_runs = (POOL_RUNS_FILE, POOL_RUN_COLUMNS, rows, [*key, "run"], OF_TOPIC)
            tables.append(Table(*of_runs, is_twin=True))
        if plan.gold:
            tables.append(
                answer_table(
                    *(GOLD_FILE, GOLD_COLUMNS, _gold, ["document"]),
                    question=LATER_QUESTION,
                    topic=EARLIER_TOPIC,
                )
            )
        return tables

    def question_tables(self, plan: LabellingPlan) -> list[Table]:
        """Return questions.csv, with the documents of each only where they are pooled."""
        tables = super().question_tables(plan)
        if plan.pool:
            return tables
        rows = row_lines(
            lambda content: ((query.number, query.topic) for query in content.questions)
        )
        return [replace(tables[0], columns=tables[0].columns[:2], body=rows)]

    def judgement_files(self, content: Content) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield each annotator's labels, and what is merged of them."""
        for each in content.results.annotators:
            yield f"{JUDGEMENTS_FOLDER}/{each.participant}.txt", map("".join, batched(each.lines))
        lines = merged_lines(content.results.merged)
        for name in ("weights.txt", "qrels.txt"):
            yield name, map("".join, batched(lines[name]))
        plan: Any = content.plan
        if plan.judged:
            yield ALL_QRELS, map("".join, batched(content.results.pool.all_qrels()))

    def lines_per_answer(self, plan: LabellingPlan) -> int:
        """Estimate how many lines of the files a query takes."""
        return plan.batch

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
        super().check_questions(content)
        known = {each.document for each in content.items}
        for row in content.answers.states():
            if unknown := sorted({*map(original, row.drawn.shown)} - known):
                place = f"{STEPS_FILE}, {row.participant}, question {row.question}"
                raise BundleError(f"{place}: items.csv has no document {unknown[0]}")
        return f"the topics of {len(content.questions)} queries are the plan's"

    def recompute_sources(self, content: Content, sources: SourceFiles | None) -> Iterator[str]:
        """Compare the pooled documents with the runs, or the file, that they come from."""
        plan: Any = content.plan
        if plan.pool is None:
            yield from super().recompute_sources(content, sources)
        else:
            yield from recompute_pool(plan.pool, plan.topics, sources)

    def study_entries(
        self, plan: LabellingPlan, practice: LabellingQuestion | None
    ) -> dict[str, Any]:
        """Return the practice question, and the files of a pool."""
        entries = super().study_entries(plan, practice)
        names = ("name", "sha256")
        files = (
            [dict(zip(names, source, strict=True)) for source in plan.pool.sources]
            if plan.pool
            else []
        )
        return entries | ({"sources": files} if files else {})

    def progress(self, plan: LabellingPlan, content: Callable[[], Content]) -> Iterator[str]:
        """Yield how much of a pool is judged, and how gold documents are answered."""
        if plan.pool is None:
            return
        read, pooled = content(), PoolChecks(plan)
        topics = {query.number: query.topic for query in read.questions}
        options = AnalysisOptions(include_test=read.include_test)
        for row in read.answers.counted(read, options):
            pooled.without_gold(row.participant, topics[row.question], row.drawn)
        yield from pooled.progress(is_test=read.include_test)

    # --- results ---

    def analyse(
        self,
        content: Content,
        answers: Iterable[Record[LabellingPresentation, Done]],
        options: AnalysisOptions,
    ) -> LabelResults:
        """Return weights and agreement."""
        topics = {each.number: each.topic for each in content.questions}
        plan: Any = content.plan
        labels = {each.public_id: PackedLabels() for each in content.counted(options)}
        pooled = PoolChecks(plan) if plan.pool else None
        seconds = dict.fromkeys(labels, 0)
        asked = Counter[str | None]()
        for row in answers:
            asked[row.asked] += 1
            grades: Mapping[str, int] = row.drawn.counted
            if pooled:
                grades = pooled.without_gold(row.participant, topics[row.question], row.drawn)
            if grades or not row.drawn.shown:  # who looked at nothing judged nothing
                labels[row.participant].add(topics[row.question], grades)
            seconds[row.participant] += whole_seconds(row)
        annotators = [
            Annotator(name, labels[name], seconds[name]) for name in labels if labels[name]
        ]
        asked_back = {doubt: asked[doubt] for doubt in ASKED}
        given, names = (
            [each.labels for each in annotators],
            [each.participant for each in annotators],
        )
        keywords = {each.topic: each.text for each in content.topics if not each.image}
        unlisted = NOT_JUDGED if pooled else 0
        labelled = (annotators, merged(given, names, unlisted=unlisted), asked_back, keywords)
        results = LabelResults(*labelled, **content.known(options))
        if pooled is None:
            return results
        pool = pooled.results(results.merged)
        values = pool.run_values(
            {annotator.participant: annotator.labels for annotator in annotators}
        )
        return replace(results, pool=pool, run_values=values if len(values) > 1 else {})

    def add_stored(
        self, session: Session, study: Study, content: Content, results: Results
    ) -> Results:
        """Add what refining gained, where the marks can change the order."""
        plan: Any = content.plan
        if plan.pool and plan.pool.order != LIKENESS:
            return results
        refining: Any = {"refining": refining_of(session, study, content, results)}
        return replace(results, **refining)

    def tried(
        self,
        content: Content,
        number: int,
        rows: Sequence[Record[LabellingPresentation, Done]],
        drawn: LabellingPresentation,
        answer: Done,
    ) -> Sheet:
        """Return how many participants marked each document that was shown, beside the marks."""
        topics, topic = content.results.merged.topics, content.question(number).topic
        merged = next((each for each in topics if each.topic == topic), None)
        marked = dict(zip(merged.documents, merged.chosen.tolist(), strict=True)) if merged else {}
        names = content.names_of(drawn.counted)
        lines = [
            (names[document], marked.get(document, 0), grade)
            for document, grade in drawn.counted.items()
            if grade or marked.get(document)
        ]
        done = f"{merged.assessors if merged else 0} participants have done this query"
        left = len(names) - len(lines)
        return Sheet(
            name="tried",
            title="What was marked",
            columns=("document", "participants", "you"),
            rows=tuple(lines),
            note=f"{done}. Of the documents that you saw, no one marked {left}.",
        )

    # --- pages ---

    def plan_form(self) -> type[Form]:
        """Return the form of the plan; its module is loaded for researchers only."""
        from survey.kinds.labelling.plan_form import LabellingPlanForm

        return LabellingPlanForm

    answer_form = LabellingForm
    work_template = "participant/labelling/_work.html"
    question_template = "participant/labelling/question.html"
    answer_template = "participant/labelling/_answer.html"

    def practice_screens(self, plan: LabellingPlan) -> Sequence[PracticeScreen]:
        """Return one screen: the page of a query; it ends with "Start" on its second page."""
        return (PracticeScreen("practice", "participant/labelling/practice.html"),)

    def doubt_of(
        self, plan: LabellingPlan, form: LabellingForm, shown: Callable[[], ShownQuestion]
    ) -> Doubt | None:
        """Return the first doubt about a query that is done; a query is asked about once."""
        question = shown()
        asked = form.was_asked or question.asked_before
        if asked:
            form.asked.data = asked
            return None
        view: LabellingView = question.view
        is_known = form.knows_view or plan.grades
        if is_known and not all(tile.is_looked_at for tile in view.tiles):
            return Doubt(UNSEEN)
        if plan.pool:
            return None
        if not view.relevant:
            return Doubt(UNMARKED)
        if view.has_next and any(tile.grade for tile in view.tiles):
            return Doubt(UNFINISHED)
        return None

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words how many tiles of a form are marked."""
        if "step_key" not in sent or "batch" not in sent:
            return ""
        tiles, grades = sent.get("document", []), sent.get("grade", [])
        marked = [each for each in grades if each in ("1", "2", "3")]
        return gettext(
            "%(count)s marked", count=len(tiles) if len(grades) == 1 and marked else len(marked)
        )


def _place(state: LabellingPresentation, step: LabellingStep) -> dict[str, Json]:
    number = list(state.batches[step.batch - 1]).index(step.document or "") + 1
    return {"picture": number, "grade": step.grade}


def _labels(content: Content) -> Iterator[Row]:
    for row in content.answers.states():
        for label in row.drawn.labels:
            document, *others = label
            check = [check_in(document)] if content.plan.checks else []
            yield row.participant, row.question, original(document), *others, *check


def _gold(content: Content) -> Iterator[Row]:
    numbers = {question.topic: question.number for question in content.questions}
    for participant, topic, *cells in content.results.pool.gold_rows():
        yield participant, numbers[topic], *cells


def _body(name: str) -> Callable[[Content], Iterator[str]]:
    """Return the body of a table that is one of the files of merged labels."""
    return lambda content: islice(merged_lines(content.results.merged)[name], 1, None)


_COUNTED = ("whole number", "0, 1, …")
_LABELS = [
    Column("document", "id of a document of a batch that was shown"),
    Column(
        "grade",
        "its grade; 0: it was looked at and not marked; empty: it was not looked at, so nothing is "
        "known",
        "whole number",
        f"0 to {HIGHEST_GRADE}; may be empty",
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
_CHECK = Column(
    "check",
    "the attention check that it is; empty for a label that counts",
    allowed=f"{', '.join(checks.TILES.values())}; may be empty",
    optional=True,
)
_SHARE = ("number", "-1 to 1; empty where it is not defined")
_WEIGHTS = [
    *(OWN_TOPIC, Column("document", "id of a document that someone looked at")),
    Column("chosen", "how many annotators marked it", *_COUNTED),
    Column("assessors", "how many annotators have done the topic", *_COUNTED),
    Column("weight", "chosen / assessors", "number", "0 to 1"),
]
_AGREEMENT = [
    *(OWN_TOPIC, Column("assessors", "how many annotators have done the topic", *_COUNTED)),
    Column("documents", "how many documents someone looked at", *_COUNTED),
    Column("relevant", "how many more than half of the annotators marked", *_COUNTED),
    Column("chosen_by_all", "how many all annotators marked", *_COUNTED),
    Column("chosen_by_one", "how many a single annotator marked", *_COUNTED),
    Column("jaccard", "mean of |A ∩ B| / |A ∪ B| over all pairs", *_SHARE),
    Column("fleiss_kappa", "Fleiss' kappa of marked or not", *_SHARE),
    Column("krippendorff_alpha", "Krippendorff's alpha of the grades", *_SHARE),
    Column(
        "cohen_kappa", "Cohen's kappa of marked or not, of two annotators", *_SHARE, optional=True
    ),
    Column(
        "cohen_kappa_weighted",
        "Cohen's kappa of the grades with linear weights, of two annotators",
        *_SHARE,
        optional=True,
    ),
]
