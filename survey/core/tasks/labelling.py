"""Labelling: annotators mark, batch by batch, which documents are relevant to a query.

A query is a topic: a picture, a text, or both. What an annotator does is a row of steps: marks,
batches, and new rankings by the marks. The answer says that a query is done.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from survey.core.collections.items import FindItems, Item, ShownItem, Topic
from survey.core.collections.labels import HIGHEST
from survey.core.collections.likeness import Entry, Pool
from survey.core.studies.fields import Fault, Finding, Switch, Whole, Words, declared
from survey.core.studies.minutes import Documents
from survey.core.studies.plan import MARK_QUERY_WORDS, PER_PARTICIPANT, POOL, Plan
from survey.core.studies.provenance import twice_faults, why_no_id
from survey.core.tasks.steps import InSteps

MOST_QUERIES = 500
USUAL_BATCH = 30
USUAL_BATCHES = 3  # that annotators look at before they go on to the next query
MARK, NEXT, REFINE, TURN = "mark", "next", "refine", "turn"
SEEN, SHOWN = "seen", "shown"
LOOKED = (SEEN, SHOWN)  # what is known of documents that were looked at
ACTIONS = (MARK, NEXT, REFINE, TURN, *LOOKED)
# Of a form: to the batch before, to another question, to the end of this one.
BACK, LEAVE, DONE = "back", "leave", "done"
# Asked back where a query is done: documents of the batch were not in view; nothing is marked; the
# last batch that was looked at has marks, and others follow.
UNSEEN, UNMARKED, UNFINISHED = "unseen", "unmarked", "unfinished"
ASKED = (UNSEEN, UNMARKED, UNFINISHED)
TOPICS_HELP = "The id of each in topics.csv, one per line. Each topic is a query."
FOR_ALL_HELP = (
    "Only for a pool. The first queries of the plan go to everybody, so that agreement can be "
    "computed; the others are dealt evenly."
)
NEGATIVE_HELP = (
    "In per cent of what is marked as relevant: how much unmarked pictures count against "
    "others like them when an annotator refines. 0: they do not count."
)


@dataclass(frozen=True)
class LabellingPlan(Plan):
    """The settings of a study whose questions are queries.

    ``topics``: their ids in topics.csv, a query each. ``batch``: documents shown at once.
    """

    kind: ClassVar[str] = "labelling"

    topics: tuple[str, ...] = declared(Words("Topics", rows=6, help=TOPICS_HELP, step="what"), ())
    questions: int = declared(Whole("Queries", 1, MOST_QUERIES), 10)
    per_participant: int | None = declared(
        replace(PER_PARTICIPANT, label="Queries per annotator", highest=MOST_QUERIES), None
    )
    shuffle_questions: bool = declared(Switch("Shuffle the queries for each annotator"), True)
    practice: bool = False  # no form asks for it
    queries_for_all: int = declared(
        Whole(
            *("Queries that everybody labels", 0, MOST_QUERIES),
            help=FOR_ALL_HELP,
            step="who",
            only_with=POOL,
        ),
        0,
    )
    batch: int = declared(Whole("Pictures in a batch", 24, 60), USUAL_BATCH)
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    graded: bool = declared(Switch("Ask for grades from 0 to 3"), False)
    negative_share: int = declared(
        Whole("Weight of what is not relevant", 0, 100, help=NEGATIVE_HELP), 25
    )

    __hash__ = Plan.__hash__

    @property
    def has_items(self) -> bool:
        """Whether questions show documents: always."""
        return True

    def seconds_each(self, documents: Documents) -> float:
        """See ``Plan.seconds_each``; by the documents of the batches that people look at."""
        count = USUAL_BATCHES * self.batch
        if documents.count is not None:
            count = min(count, documents.count)
        return count * (5 if documents.texts else 1.2)

    @property
    def highest(self) -> int:
        """The highest mark that a picture may get: a grade, or 1 for chosen."""
        return HIGHEST if self.graded else 1

    def is_for_all(self, number: int) -> bool:
        """Return whether every annotator of a pool is asked a query."""
        return number <= self.queries_for_all

    def draw_questions(self) -> list["LabellingQuestion"]:
        """Return a question for each query, numbered from 1; nothing is drawn."""
        return [LabellingQuestion(number, topic) for number, topic in enumerate(self.topics, 1)]

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        topics = values.get("topics") or ()
        if not isinstance(topics, list | tuple):
            text = f"topics is {topics!r}; a list of topics' ids is needed, like [t1, t2]"
            wrong, topics = [Fault(("topics",), text)], [topics]
        else:
            why = map(why_no_id, topics)
            wrong = [Fault(("topics", index), text) for index, text in enumerate(why) if text]
        if wrong:
            topics = map(str, range(len(topics)))  # as many, so that nothing else is wrong
        faults += wrong
        values["topics"] = tuple(topics)
        if values["topics"]:
            values["questions"] = len(values["topics"])

    def _number_faults(self) -> Iterable[Fault]:
        if not self.topics:
            yield Fault(("topics",), "topics is empty; the id of a topic for each query is needed")
        yield from twice_faults(self.topics)
        if self.queries_for_all > (self.per_participant or 0):
            yield Fault(
                ("queries_for_all",),
                f"queries_for_all is {self.queries_for_all}; a pool with as many queries per "
                "annotator is needed",
            )
        if self.practice:
            yield Fault(("practice",), "practice is on; labelling has no practice question")


class LabellingQuestion(NamedTuple):
    """A query, by the id of its topic."""

    number: int
    topic: str

    def as_json(self) -> dict[str, Any]:
        """Return the topic, to be stored."""
        return {"topic": self.topic}

    def as_shown(self) -> dict[str, Any]:
        """Return number and topic; the digest of the items covers what it stands for."""
        return self._asdict()


@dataclass(frozen=True)
class LabellingStep:
    """A step of an annotator: a mark, a new batch, a turn to one that was shown before, or a look.

    ``batch``: its number, from 1. ``document`` and ``grade``: of a MARK; 0 takes a mark back.
    ``documents``: of a new batch, which goes on (NEXT) or is ranked by all marks so far (REFINE);
    of a look, those that were in view (SEEN), or whose batch was left for the next one by a page
    without scripts (SHOWN).
    """

    action: str
    batch: int
    document: str | None = None
    grade: int | None = None
    documents: Sequence[str] | None = None
    saved_at: datetime | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        is_mark, has_documents = self.action == MARK, self.action not in (MARK, TURN)
        if (
            self.action not in ACTIONS
            or self.batch < 1
            or {self.document is None, self.grade is None} != {not is_mark}
            or self.grade not in (None, *range(HIGHEST + 1))
            or (self.documents is None) == has_documents
        ):
            raise ValueError(f"{self.action!r} is no step with these values")


class Label(NamedTuple):
    """What an annotator says of a document of a batch; ``round``: 0 until the first new ranking.

    ``grade``: None where the document was not looked at. ``marked_at``: when it was marked last,
    None where it never was. ``revisions``: how often the grade was changed. ``exposure``: of
    LOOKED, None where the document was not looked at, or where looks were not stored yet.
    """

    document: str
    grade: int | None
    batch: int
    round: int
    marked_at: datetime | None
    revisions: int
    exposure: str | None


@dataclass(frozen=True)
class LabellingPresentation:
    """How an annotator meets a query: the order of what nothing ranks, and their steps so far."""

    step: ClassVar[type[LabellingStep]] = LabellingStep

    order_seed: int
    steps: Sequence[LabellingStep] = ()

    @cached_property
    def batches(self) -> list[Sequence[str]]:
        """The documents of each batch."""
        new = (step for step in self.steps if step.action in (NEXT, REFINE))
        return [step.documents or () for step in new]

    @cached_property
    def batch(self) -> int:
        """The number of the batch that is shown now; 1 before there is a step."""
        turns = [step.batch for step in self.steps if step.action not in (MARK, *LOOKED)]
        return turns[-1] if turns else 1

    @cached_property
    def shown(self) -> dict[str, int]:
        """The number of each document's batch, in the order in which they were shown."""
        return {each: number for number, batch in enumerate(self.batches, 1) for each in batch}

    @cached_property
    def exposure(self) -> dict[str, str]:
        """How each document that was looked at was, of LOOKED; what is marked was in view."""
        exposure: dict[str, str] = {}
        for step in self.steps:
            looked = step.documents if step.action in LOOKED else [step.document]
            for document in looked or ():
                if document is not None and exposure.get(document) != SEEN:
                    exposure[document] = SHOWN if step.action == SHOWN else SEEN
        return exposure

    @cached_property
    def grades(self) -> dict[str, int]:
        """The grade of each document that was looked at; 0 where it is not marked."""
        grades = {document: 0 for document in self.shown if document in self.exposure}
        for step in self.steps:
            if step.document is not None and step.grade is not None:
                grades[step.document] = step.grade
        return grades

    @property
    def labels(self) -> Iterator["Label"]:
        """A label for each document of a batch, in the order in which it was shown."""
        exposure = self.exposure
        marks: dict[str, list[LabellingStep]] = {}
        for step in self.steps:
            if step.document is not None:
                marks.setdefault(step.document, []).append(step)
        number = 0
        for step in self.steps:
            number += step.action == REFINE
            for document in (step.documents or ()) if step.action not in LOOKED else ():
                own = marks.get(document, [])
                yield Label(
                    *(document, self.grades.get(document), step.batch, number),
                    own[-1].saved_at if own else None,
                    max(0, len(own) - 1),
                    exposure.get(document),
                )

    @property
    def relevant(self) -> list[str]:
        """The documents that are marked."""
        return [document for document, grade in self.grades.items() if grade]

    @property
    def is_exhausted(self) -> bool:
        """Whether the batch has no mark, and it or the one before had none; not of the first."""
        if any(self.grades.get(document) for document in self.batches[self.batch - 1]):
            return False
        last_two = self.batches[1 : self.batch][-2:]
        return any(
            all(document in self.exposure and not self.grades[document] for document in documents)
            for documents in last_two
        )

    @property
    def rounds(self) -> list["LabellingPresentation"]:
        """The state at the beginning of each round: without a step, and at each REFINE."""
        ends = [index for index, step in enumerate(self.steps) if step.action == REFINE]
        return [replace(self, steps=self.steps[:end]) for end in (0, *ends)]


class Tile(NamedTuple):
    """A document of a batch; ``number`` in the batch, from 1; ``item`` is None without content.

    ``is_looked_at``: whether it is stored that it was in view.
    """

    number: int
    item: ShownItem | None
    grade: int
    is_looked_at: bool


class LabellingView(NamedTuple):
    """All that an annotator may see of a query now; ``pool``: how many documents there are.

    ``round``: how many new rankings the batch that is shown comes after. ``in_batches``: how many
    documents were shown so far. ``is_exhausted``: whether further batches are of little use.
    """

    topic: ShownItem | None
    tiles: tuple[Tile, ...]
    batch: int
    batches: int
    looked_at: int
    relevant: int
    pool: int
    round: int
    steps: int
    in_batches: int
    is_exhausted: bool

    @property
    def has_next(self) -> bool:
        """Whether a batch follows, or documents are left for one."""
        return self.batch < self.batches or self.has_more

    @property
    def has_more(self) -> bool:
        """Whether documents are left for a new batch."""
        return self.in_batches < self.pool

    @property
    def primary(self) -> str:
        """The button that Enter presses: "next", or "done" where another batch is of little use."""
        return "next" if self.has_next and not self.is_exhausted else "done"


class LabellingShown(NamedTuple):
    """A query and an annotator's steps, before the documents are looked up."""

    question: LabellingQuestion
    presentation: LabellingPresentation


def ranked(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> list[str]:
    """Return a query's documents in the order of the round that begins with these steps.

    By likeness to the mean of the query's picture and the relevant ones − ``negative_share`` ×
    the mean of those that were looked at and not marked (Rocchio). Where there are no examples,
    those whose words hold the query's text come first, each part in the annotator's own order.
    The query's own picture is left out.
    """
    pool, topic = find.pool(), find.topic(question.topic) or Topic(question.topic)
    own = _own_documents(pool, topic)
    negatives = [document for document, grade in state.grades.items() if not grade]
    positives = sorted({*own, *state.relevant})
    target = pool.target(positives, negatives, plan.negative_share / 100, topic.sha256)
    if target.any():
        order = pool.by_likeness(target)
    else:
        order = pool.by_chance(state.order_seed, pool.holding(topic.text) if topic.text else ())
    return [document for document in order if document not in own]


def _own_documents(pool: Pool, topic: Topic) -> set[str]:
    """Return the documents that are a topic's own picture."""
    image = {topic.image} if topic.image in pool.index else set()
    return {*pool.same_picture(topic.sha256), *image}


def first_batch(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> LabellingStep:
    """Return the step that shows an annotator the first batch."""
    order = ranked(plan, question, state.rounds[0], find)
    return LabellingStep(NEXT, 1, documents=order[: plan.batch])


def steps_from_form(
    plan: LabellingPlan,
    shown: LabellingShown,
    find: FindItems,
    batch: int,
    grades: Mapping[int, int],
    action: str,
    *,
    is_whole: bool = True,
    seen: Collection[int] | None = None,
) -> list[LabellingStep]:
    """Return the steps that a page stores: changed marks, what was looked at, then an action.

    ``batch``: of the page. ``grades``: of its tiles by number; all others are 0 if ``is_whole``,
    else unchanged. ``action``: NEXT, REFINE, BACK, LEAVE, DONE, or "" for marks alone.
    ``seen``: the numbers of the tiles that were in view, None where the page had no script that
    knows. Raises ValueError for a batch that was never shown.
    """
    question, state = shown
    steps: list[LabellingStep] = []
    if not state.steps:
        steps.append(first_batch(plan, question, state, find))
        state = replace(state, steps=steps)
    if not 1 <= batch <= len(state.batches):
        raise ValueError(f"batch {batch} was not shown")
    for number, document in enumerate(state.batches[batch - 1], 1):
        before = state.grades.get(document, 0)
        grade = min(grades.get(number, 0 if is_whole else before), plan.highest)
        if grade != before:
            steps.append(LabellingStep(MARK, batch, document, grade))
    is_left = action == NEXT
    if action == DONE and seen is None and batch == len(state.batches):  # by no next batch
        order = ranked(plan, question, state.rounds[-1], find)
        is_left = all(document in state.shown for document in order)
    steps.extend(_look(state, batch, seen, is_left=is_left))
    state = replace(state, steps=[*shown.presentation.steps, *steps])
    if action == BACK and batch > 1:
        steps.append(LabellingStep(TURN, batch - 1))
    elif action == NEXT and batch < len(state.batches):
        steps.append(LabellingStep(TURN, batch + 1))
    elif action in (NEXT, REFINE):
        # A new ranking is by all marks so far, the next batch by those of its round's beginning.
        begin = state if action == REFINE else state.rounds[-1]
        order = ranked(plan, question, begin, find)
        left = [document for document in order if document not in state.shown]
        if left:
            number = len(state.batches) + 1
            steps.append(LabellingStep(action, number, documents=left[: plan.batch]))
    return steps


def _look(
    state: LabellingPresentation,
    batch: int,
    seen: Collection[int] | None,
    *,
    is_left: bool,
) -> Iterator[LabellingStep]:
    """Yield the step that says which documents of a batch were looked at, where there are new ones.

    ``is_left``: whether the whole batch was shown, as far as a page without scripts can know.
    """
    documents = state.batches[batch - 1]
    looked: list[str] = []
    if seen is not None:
        looked = [document for number, document in enumerate(documents, 1) if number in seen]
    elif is_left:
        looked = [*documents]
    kind = SHOWN if seen is None else SEEN
    new = [each for each in looked if state.exposure.get(each) not in (SEEN, kind)]
    if new:
        yield LabellingStep(kind, batch, documents=new)


class Labelling(InSteps):
    """The kind of question "labelling", for the registry."""

    name = "labelling"
    plan: type[Plan] = LabellingPlan
    presentation = LabellingPresentation
    generator_version = 1

    def read_question(self, number: int, content: Mapping[str, Any]) -> LabellingQuestion:
        """Return the question that a row or a file holds."""
        return LabellingQuestion(number, content["topic"])

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
        if not state.steps:
            state = replace(state, steps=[first_batch(plan, question, state, find)])
        documents = state.batches[state.batch - 1]
        items, topic = find(documents, question.topic)
        pool = find.pool()
        own = _own_documents(pool, find.topic(question.topic) or Topic(question.topic))
        return LabellingView(
            topic=topic,
            tiles=tuple(
                Tile(
                    *(number, items.get(document)),
                    *(state.grades.get(document, 0), document in state.exposure),
                )
                for number, document in enumerate(documents, 1)
            ),
            batch=state.batch,
            batches=len(state.batches),
            looked_at=len(state.exposure),
            relevant=len(state.relevant),
            pool=len(pool) - len(own),
            round=sum(step.action == REFINE and step.batch <= state.batch for step in state.steps),
            steps=len(view.presentation.steps),
            in_batches=len(state.shown),
            is_exhausted=state.is_exhausted,
        )

    def facts(self, plan: LabellingPlan, generator_version: int) -> dict[str, Any]:
        """Return what a summary of the study says of its queries."""
        return {"topics": " ".join(plan.topics), "batch": plan.batch, "highest grade": plan.highest}

    def verdict(self, plan: LabellingPlan, questions: Sequence[LabellingQuestion]) -> str:
        """Say how many queries people label."""
        return "1 query to label" if len(questions) == 1 else f"{len(questions)} queries to label"

    def findings(
        self, plan: LabellingPlan, questions: Sequence[LabellingQuestion]
    ) -> Iterator[Finding]:
        """Yield a finding where no query is labelled by all annotators of a pool."""
        if plan.design == "pool" and not plan.queries_for_all and len(questions) > 1:
            text = "no query goes to everybody, so two annotators may have none in common"
            text = f"{text}; queries_for_all in the plan changes that"
            yield Finding(None, text, mend="queries_for_all")

    def item_findings(
        self, plan: LabellingPlan, items: Iterable[Item], topics: Iterable[Topic]
    ) -> Iterator[Finding]:
        """Yield which queries show no document but their own picture."""
        pool = Pool([Entry(each.document, each.sha256, "", None) for each in items])
        by_id = {each.topic: each for each in topics}
        for number, name in enumerate(plan.topics, 1):
            if len(_own_documents(pool, by_id.get(name, Topic(name)))) == len(pool):
                text = (
                    f"query {number} shows nothing to judge, as all documents are its own picture"
                )
                ways = f"add other documents, or take the topic {name} out of the plan"
                yield Finding(number, f"{text}; {ways}", mend="items")

    def describe(
        self, plan: LabellingPlan, view: LabellingView, presentation: LabellingPresentation
    ) -> dict[str, Any]:
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


def _place(state: LabellingPresentation, step: LabellingStep) -> dict[str, Any]:
    number = list(state.batches[step.batch - 1]).index(step.document or "") + 1
    return {"picture": number, "grade": step.grade}
