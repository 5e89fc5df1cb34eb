"""How an annotator meets a query, and their steps: marks, batches, rankings, looks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import ClassVar, NamedTuple

from survey.core.collections.items import FindItems, ShownItem, Topic
from survey.core.collections.labels import HIGHEST_GRADE
from survey.core.collections.pools import FUSION, LIKENESS, at_places, by_chance
from survey.core.studies.fields import Choice, Rule, Whole, Words, declared
from survey.kinds.labelling.checks import is_check, own_documents, with_check
from survey.kinds.labelling.plan import LabellingPlan, LabellingQuestion
from survey.kinds.steps import InSteps, Step

MARK, NEXT, REFINE, TURN = "mark", "next", "refine", "turn"
CANNOT = "cannot"
SEEN, SHOWN = "seen", "shown"
LOOKED = (SEEN, SHOWN)  # what is known of documents that were looked at
ACTIONS = (MARK, NEXT, REFINE, TURN, *LOOKED, CANNOT)
NOT_TURNS = (MARK, CANNOT, *LOOKED)
CANNOT_JUDGE = -1  # in place of a grade
# Of a form: to the batch before, to another question, to the end of this one.
BACK, LEAVE, DONE = "back", "leave", "done"
# Asked back where a query is done: documents of the batch were not in view; nothing is marked; the
# last batch that was looked at has marks, and others follow.
UNSEEN, UNMARKED, UNFINISHED = "unseen", "unmarked", "unfinished"
ASKED = (UNSEEN, UNMARKED, UNFINISHED)


@dataclass(frozen=True)
class LabellingStep(Step):
    """What an annotator did with a query, step by step; no row is changed later.

    A look says which documents were in view (SEEN), or that a page without scripts was left for
    the next batch (SHOWN).
    """

    looks: ClassVar[Sequence[str]] = LOOKED

    action: str = declared(
        Choice(
            allowed=dict(zip(ACTIONS, ACTIONS, strict=True)),
            doc="mark, next (batch), refine (rank again by the marks), turn (to an earlier batch), "
            "seen (documents were in view), shown (the batch was left, by a page without scripts), "
            "cannot (the annotator cannot judge the document)",
        )
    )
    batch: int = declared(Whole(lowest=1, doc="of the mark, or shown from then on"))
    document: str | None = declared(
        Rule(doc="the document of a mark", only_with=("action", MARK, CANNOT)), None
    )
    grade: int | None = declared(
        Whole(
            highest=HIGHEST_GRADE, doc="its grade; 0 takes a mark back", only_with=("action", MARK)
        ),
        None,
    )
    documents: Sequence[str] | None = declared(
        Words(
            doc="the documents of a new batch, as they were shown; those that were looked at",
            only_with=("action", NEXT, REFINE, *LOOKED),
        ),
        None,
    )


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
class LabellingPresentation(InSteps):
    """How one annotator meets one query; the seed gives the order of what nothing ranks."""

    steps: Sequence[LabellingStep] = ()

    @cached_property
    def batches(self) -> list[Sequence[str]]:
        """The documents of each batch."""
        new = (step for step in self.steps if step.action in (NEXT, REFINE))
        return [step.documents or () for step in new]

    @cached_property
    def batch(self) -> int:
        """The number of the batch that is shown now; 1 before there is a step."""
        turns = [step.batch for step in self.steps if step.action not in NOT_TURNS]
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
        """The grade of each document that was looked at; 0 where it is not marked.

        Those that the annotator cannot judge are left out.
        """
        grades = {document: 0 for document in self.shown if document in self.exposure}
        for step in self.steps:
            if step.document is not None and step.grade is not None:
                grades[step.document] = step.grade
            elif step.action == CANNOT:
                grades.pop(step.document or "", None)
        return grades

    @cached_property
    def not_judged(self) -> set[str]:
        """The documents that the annotator cannot judge."""
        last = {step.document: step for step in self.steps if step.document is not None}
        return {document for document, step in last.items() if step.action == CANNOT}

    @property
    def counted(self) -> dict[str, int]:
        """The grades without those of attention checks."""
        return {
            document: grade for document, grade in self.grades.items() if not is_check(document)
        }

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
        """The documents that are marked, without attention checks."""
        return [document for document, grade in self.counted.items() if grade]

    @property
    def is_exhausted(self) -> bool:
        """Whether the batch has no mark, and it or the one before had none; not of the first."""
        if any(self.grades.get(document) for document in self.batches[self.batch - 1]):
            return False
        last_two = self.batches[1 : self.batch][-2:]
        return any(
            all(
                document in self.exposure and not self.grades.get(document)
                for document in documents
            )
            for documents in last_two
        )

    @property
    def rounds(self) -> list["LabellingPresentation"]:
        """The state at the beginning of each round: without a step, and at each REFINE."""
        ends = [index for index, step in enumerate(self.steps) if step.action == REFINE]
        return [replace(self, steps=self.steps[:end]) for end in (0, *ends)]


class Tile(NamedTuple):
    """A document of a batch; ``number`` in the batch, from 1; ``item`` is None without content.

    ``grade``: None where a grade is asked and not given yet. ``is_looked_at``: whether it is stored
    that it was in view, or was judged. ``not_judged``: whether the annotator cannot judge it.
    """

    number: int
    item: ShownItem | None
    grade: int | None
    is_looked_at: bool
    not_judged: bool = False


class LabellingView(NamedTuple):
    """All that an annotator may see of a query now; ``pool``: how many documents there are.

    ``round``: how many new rankings the batch that is shown comes after. ``in_batches``: how many
    documents were shown so far. ``is_exhausted``: whether further batches are of little use.
    ``proposed``: how many tiles are marked by their class, and not confirmed yet.
    ``is_pooled``: whether all documents are to be judged; ``can_refine``: whether the marks can
    change their order.
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
    proposed: int = 0
    is_pooled: bool = False
    can_refine: bool = True

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


def practised(
    plan: LabellingPlan, question: LabellingQuestion, find: FindItems
) -> LabellingQuestion:
    """Return a question with the topic that it shows: the practice's is asked by no question.

    Such a topic is taken from those of the study, a picture where the question's own is one;
    without any, the question's own is practised.
    """
    if question.number:
        return question
    own = find.topic(question.topic) or Topic(question.topic)
    spare = [
        topic
        for topic in find.topics()
        if topic.topic not in plan.topics and (topic.text or topic.sha256)
    ]
    spare.sort(key=lambda topic: bool(topic.sha256) != bool(own.sha256))
    return replace(question, topic=spare[0].topic) if spare else question


def ranked(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> list[str]:
    """Return a query's documents in the order of the round that begins with these steps.

    By likeness to the mean of the query's picture and the relevant ones − ``negative_share`` ×
    the mean of those that were looked at and not marked (Rocchio). Where there are no examples,
    those whose words hold the query's text come first, each part in the annotator's own order.
    The query's own picture is left out. Of pooled documents see ``pooled_order``.
    """
    if question.documents is not None:
        return pooled_order(plan, question, state, find)
    return _by_marks(plan, question, state, find)


def pooled_order(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> list[str]:
    """Return the documents of a pool in the plan's order, with gold documents at random places.

    The places, and at random all else, follow from the annotator's seed.
    """
    pool, topic = plan.pool, question.topic
    documents = [*(question.documents or ())]
    if pool and pool.order == FUSION:
        documents = pool.fused(topic, documents)
    elif pool and pool.order == LIKENESS:
        asked = dict.fromkeys(documents)
        ranked_first = [
            document for document in _by_marks(plan, question, state, find) if document in asked
        ]
        documents = [*dict.fromkeys([*ranked_first, *asked])]  # those without an item last
    else:
        documents = by_chance(documents, state.order_seed)
    gold = by_chance(plan.gold_of(topic) if question.number else (), state.order_seed, 1)
    count = max(1, round(plan.gold_share * len(documents))) if plan.gold_share else 0
    return at_places(documents, gold[:count], state.order_seed)


def _by_marks(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> list[str]:
    pool, topic = find.pool(), find.topic(question.topic) or Topic(question.topic)
    own = own_documents(pool, topic)
    known = pool.index.keys() - plan.gold_of(question.topic).keys()
    negatives = [
        document for document, grade in state.counted.items() if not grade and document in known
    ]
    positives = sorted({*own, *state.relevant} & known)
    target = pool.target(positives, negatives, plan.negative_share / 100, topic.sha256)
    if target.any():
        order = pool.by_likeness(target)
    else:
        order = pool.by_chance(state.order_seed, pool.holding(topic.text) if topic.text else ())
    return [document for document in order if document not in own]


def proposed_documents(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> set[str]:
    """Return the documents of the query's class that are neither marked nor looked at yet.

    They are shown with a mark, which counts once it was in view or is changed. Source: MiAlbum,
    Section 1.1: “we automatically annotate each image with its category name”.
    """
    is_asked = plan.annotate_categories and not plan.grades
    topic = find.topic(question.topic) if is_asked else None
    if topic is None or not topic.text:
        return set()
    return find.pool().of_class(topic.text) - state.exposure.keys()


def first_batch(
    plan: LabellingPlan, question: LabellingQuestion, state: LabellingPresentation, find: FindItems
) -> LabellingStep:
    """Return the step that shows an annotator the first batch."""
    order = ranked(plan, question, state.rounds[0], find)
    batch = with_check(plan, question, state.rounds[0], find, order[: plan.batch])
    return LabellingStep(NEXT, 1, documents=batch)


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
    question, state = practised(plan, shown.question, find), shown.presentation
    steps: list[LabellingStep] = []
    if not state.steps:
        steps.append(first_batch(plan, question, state, find))
        state = replace(state, steps=steps)
    if not 1 <= batch <= len(state.batches):
        raise ValueError(f"batch {batch} was not shown")
    if plan.grades:
        steps.extend(_named_grades(state, batch, grades))
    else:
        proposed = proposed_documents(plan, question, state, find)
        steps.extend(_marks(plan, state, batch, grades, proposed, seen, is_whole=is_whole))
    is_left = action == NEXT
    if action == DONE and seen is None and batch == len(state.batches):  # by no next batch
        order = ranked(plan, question, state.rounds[-1], find)
        is_left = all(document in state.shown for document in order)
    # A document that has a named grade was looked at, and no other.
    steps.extend(() if plan.grades else _look(state, batch, seen, is_left=is_left))
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
            documents = with_check(plan, question, state, find, left[: plan.batch])
            steps.append(LabellingStep(action, number, documents=documents))
    return steps


def _marks(
    plan: LabellingPlan,
    state: LabellingPresentation,
    batch: int,
    grades: Mapping[int, int],
    proposed: Collection[str],
    seen: Collection[int] | None,
    *,
    is_whole: bool,
) -> Iterator[LabellingStep]:
    """Yield the steps of the marks of a batch that a form changes, or confirms first."""
    for number, document in enumerate(state.batches[batch - 1], 1):
        before = plan.highest if document in proposed else state.grades.get(document, 0)
        grade = min(grades.get(number, 0 if is_whole else before), plan.highest)
        is_confirmed = document in proposed and number in (grades if seen is None else seen)
        if grade != before or is_confirmed:
            yield LabellingStep(MARK, batch, document, grade)


def _named_grades(
    state: LabellingPresentation, batch: int, grades: Mapping[int, int]
) -> Iterator[LabellingStep]:
    """Yield the steps of the named grades of a batch that a form changes, or gives first."""
    for number, document in enumerate(state.batches[batch - 1], 1):
        grade = grades.get(number)
        if grade == CANNOT_JUDGE and document not in state.not_judged:
            yield LabellingStep(CANNOT, batch, document)
        elif grade not in (None, CANNOT_JUDGE, state.grades.get(document)):
            yield LabellingStep(MARK, batch, document, grade)


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
    action = SHOWN if seen is None else SEEN
    new = [each for each in looked if state.exposure.get(each) not in (SEEN, action)]
    if new:
        yield LabellingStep(action, batch, documents=new)
