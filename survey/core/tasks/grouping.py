"""Grouping: assessors put a topic's relevant documents into groups that they name (sub-topics).

Two first assessors group all topics; a third those on which the two do not sufficiently agree
(Arni et al. 2008, Sections 4.2 to 4.3.4). What an assessor does is a row of steps; the answer
says that a topic is done.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from random import Random
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import PCG64

from survey.core.collections.clusterings import (
    NESTED,
    Clustering,
    compare_clusters,
    members,
    membership,
)
from survey.core.collections.descriptors import likeness
from survey.core.collections.items import FindItems, ShownItem, Topic
from survey.core.collections.likeness import Pool
from survey.core.collections.runs import IN_NO_CLUSTER
from survey.core.studies.fields import Fault, Finding, Nested, Switch, Whole, declared
from survey.core.studies.minutes import Documents
from survey.core.studies.plan import MARK_QUERY_WORDS, Plan
from survey.core.studies.provenance import twice_faults, why_no_id
from survey.core.tasks.steps import InSteps

MOST_TOPICS, MOST_DOCUMENTS = 500, 500
LONGEST_GROUP_NAME = 60
MOST_GROUPS = 99
FIRST, THIRD = "first", "third"  # arms
PUT, TAKE, RENAME, MERGE, ADOPT, UNDO, LOOK = (
    *("put", "take", "rename", "merge", "adopt", "undo", "look"),
)
ACTIONS = (PUT, TAKE, RENAME, MERGE, ADOPT, UNDO, LOOK)
NEW, REST, DONE = "new", "rest", "done"  # of a form: put into a new group, the others unknown
UNKNOWN = 0  # the group of what cannot be placed
NAME_OF_UNKNOWN = IN_NO_CLUSTER  # in files
KEYS = "123456789abcdefghijkmopqrstvwxy"  # of groups; l, n, u and z do something else
COLOURS = 8
MOST_ALIKE = 12  # documents that "select similar" offers
TOPICS_HELP = (
    "A line for each topic, like - [near, [brick-2, brick-3]]: its id in topics.csv, and the ids "
    "of its relevant documents."
)
AGREEMENT_HELP = (
    "In per cent, of the adjusted Rand index. A topic on which the first two agree less goes to "
    "the third assessor."
)
FLOOR_HELP = (
    "In per cent, of the mean index with the other two. Where no assessor reaches it, the topic "
    "is left out of the gold standard."
)
# Asked back where a topic is done: all of it is in one group, or cannot be placed.
ONE_GROUP, ALL_UNPLACED = "one_group", "unplaced"
ASKED = (ONE_GROUP, ALL_UNPLACED)
EARLIER_HELP = "After an own grouping, without names of people. They may correct theirs, or agree."


@dataclass(frozen=True)
class GroupingPlan(Plan):
    """The settings of a study whose questions are topics with their relevant documents.

    ``topics``: for each topic, its id in topics.csv and its relevant documents. The arms are
    the roles of assessors: FIRST for two, THIRD for others.
    """

    kind: ClassVar[str] = "grouping"

    topics: tuple[tuple[str, tuple[str, ...]], ...] = declared(
        Nested("Topics and their documents", help=TOPICS_HELP, step="what"), ()
    )
    questions: int = declared(Whole("Topics", 1, MOST_TOPICS), 10)
    participants: int = declared(Whole("Assessors wanted", 1, 10_000, help="Two, and a third."), 3)
    shuffle_questions: bool = declared(Switch("Shuffle the topics for each assessor"), True)
    practice: bool = False  # no form asks for these two
    design: str = "all"
    sufficient_agreement: int = declared(
        Whole("Agreement that is sufficient", 0, 100, help=AGREEMENT_HELP), 80
    )
    least_agreement: int = declared(Whole("Least agreement of three", 0, 100, help=FLOOR_HELP), 50)
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    show_earlier: bool = declared(
        Switch("Show the third assessor both earlier groupings", help=EARLIER_HELP), True
    )

    __hash__ = Plan.__hash__

    @property
    def has_items(self) -> bool:
        """Whether questions show documents: always."""
        return True

    def seconds_each(self, documents: Documents) -> float:
        """See ``Plan.seconds_each``; by the mean number of a topic's documents."""
        mean = sum(len(each) for _, each in self.topics) / len(self.topics)
        return 20 + (8 if documents.texts else 4) * mean

    @property
    def queue_arm(self) -> str | None:
        """The arm whose questions depend on the answers of the others."""
        return THIRD

    def arm_for(self, counts: Mapping[str, int], chance: Random) -> str | None:
        """Return the role of who comes next: the first two are first assessors."""
        return FIRST if counts.get(FIRST, 0) < 2 else THIRD

    def in_arm(self, arm: str | None) -> Self:
        """Return the plan as an assessor of a role meets it: the third may see the earlier two."""
        return self if arm in (None, THIRD) else replace(self, show_earlier=False)

    def draw_questions(self) -> list["GroupingQuestion"]:
        """Return a question for each topic, numbered from 1; nothing is drawn."""
        return [GroupingQuestion(number, *each) for number, each in enumerate(self.topics, 1)]

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        topics: Any = values.get("topics") or ()
        is_mapping = isinstance(topics, Mapping)
        pairs = topics.items() if is_mapping else topics
        wrong: list[Fault] = []
        try:
            read = [(topic, _documents(documents)) for topic, documents in pairs]
        except (TypeError, ValueError):
            text = "topics cannot be read; each topic needs a list of documents"
            wrong.append(Fault(("topics",), f"{text}, like - [near, [brick-2, brick-3]]"))
            read = []
        for index, (topic, documents) in enumerate(read):
            place = ("topics", topic if is_mapping else index)
            reasons = map(why_no_id, (topic, *documents))
            wrong += [Fault(place, text) for text in reasons if text]
        if wrong:  # as many, so that nothing else is wrong
            read = [(str(index), ("a", "b")) for index in range(len(read) or 1)]
        faults += wrong
        values["topics"] = tuple(read)
        if read:
            values["questions"] = len(read)

    def _tidy(self) -> None:
        super()._tidy()
        object.__setattr__(self, "arms", (FIRST, THIRD))

    def _arm_faults(self) -> Iterable[Fault]:
        return ()

    def _number_faults(self) -> Iterable[Fault]:
        if not self.topics:
            yield Fault(("topics",), "topics is empty; judgements with a relevant document fill it")
        yield from twice_faults(topic for topic, _ in self.topics)
        for topic, documents in self.topics:
            if len({*documents}) < len(documents):
                yield Fault(("topics", topic), f"topic {topic} has a document twice")
            if not 2 <= len(documents) <= MOST_DOCUMENTS:
                text = f"topic {topic} has {len(documents)} documents; 2 to {MOST_DOCUMENTS} can be"
                yield Fault(("topics", topic), f"{text} grouped")
        if self.design != "all":
            yield Fault(("design",), f"design is {self.design}; first assessors group all topics")
        if self.practice:
            yield Fault(("practice",), "practice is on; grouping has no practice question")


def _documents(documents: Any) -> tuple[Any, ...]:
    if isinstance(documents, str):
        raise TypeError("a text, which would be read letter by letter")
    return (*documents,)


class GroupingQuestion(NamedTuple):
    """A topic, by its id, and its relevant documents."""

    number: int
    topic: str
    documents: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return topic and documents, to be stored."""
        return {"topic": self.topic, "documents": self.documents}

    def as_shown(self) -> dict[str, Any]:
        """Return all of it; the digest of the items covers what the ids stand for."""
        return self._asdict()


@dataclass(frozen=True)
class GroupingStep:
    """A step of an assessor.

    PUT: ``documents`` into ``group_number``, which has ``name`` if it is new. TAKE: out of it.
    RENAME: to ``name``. MERGE: into the group ``merged_into``. ADOPT: ``groups`` (name →
    documents) of another assessor in place of one's own. UNDO: the last of these. LOOK: from
    here on the earlier groupings were shown.
    """

    action: str
    group_number: int | None = None
    name: str | None = None
    merged_into: int | None = None
    documents: Sequence[str] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    saved_at: datetime | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        needed = {
            PUT: ("group_number", "documents"),
            TAKE: ("group_number", "documents"),
            RENAME: ("group_number", "name"),
            MERGE: ("group_number", "merged_into"),
            ADOPT: ("groups",),
        }.get(self.action, ())
        possible = {*needed, *(("name",) if self.action == PUT else ())}
        names = ("group_number", "name", "merged_into", "documents", "groups")
        given = {name for name in names if getattr(self, name) is not None}
        if self.action not in ACTIONS or not {*needed} <= given <= possible:
            raise ValueError(f"{self.action!r} is no step with these values")


class Group(NamedTuple):
    """A group: its name, "" for UNKNOWN, and its documents."""

    name: str
    documents: frozenset[str]


Groups = dict[int, Group]


@dataclass(frozen=True)
class GroupingPresentation:
    """How an assessor meets a topic: the order of its documents, and their steps so far."""

    step: ClassVar[type[GroupingStep]] = GroupingStep

    order_seed: int
    steps: Sequence[GroupingStep] = ()

    @cached_property
    def counted(self) -> list[GroupingStep]:
        """The steps that were not undone, UNDO and LOOK left out."""
        steps: list[GroupingStep] = []
        for step in self.steps:
            if step.action == UNDO:
                del steps[-1:]
            elif step.action != LOOK:
                steps.append(step)
        return steps

    @cached_property
    def groups(self) -> Groups:
        """The groups by number, UNKNOWN first; one may be empty."""
        groups: Groups = {UNKNOWN: Group("", frozenset())}
        for step in self.counted:
            _take_step(groups, step)
        return groups

    @property
    def has_looked(self) -> bool:
        """Whether the earlier groupings were shown."""
        return any(step.action == LOOK for step in self.steps)

    @property
    def next_number(self) -> int:
        """The number of the next new group."""
        return max(self.groups) + 1

    @property
    def clusters(self) -> Clustering:
        """The names of each document's groups, none for one that cannot be placed.

        A document that is in no group yet is left out.
        """
        clusters: dict[str, frozenset[str]] = {}
        for number, group in self.groups.items():
            for document in group.documents:
                names = {group.name} if number else frozenset[str]()
                clusters[document] = clusters.get(document, frozenset()) | names
        return clusters

    def group_named(self, name: str) -> int | None:
        """Return the number of a group by its name, in any case; None where there is none."""
        for number, group in self.groups.items():
            if (group.name or IN_NO_CLUSTER).casefold() == name.casefold():
                return number
        return None


def _take_step(groups: Groups, step: GroupingStep) -> None:
    """Change the groups as a step says."""
    number = UNKNOWN if step.group_number is None else step.group_number
    documents = frozenset(step.documents or ())
    if step.action == ADOPT and step.groups is not None:
        groups.clear()
        groups[UNKNOWN] = Group("", frozenset(step.groups.get(IN_NO_CLUSTER, ())))
        names = [name for name in step.groups if name != IN_NO_CLUSTER]
        for place, name in enumerate(names, 1):
            groups[place] = Group(name, frozenset(step.groups[name]))
        return
    group = groups.get(number, Group(step.name or "", frozenset()))
    if step.action == PUT:
        # What cannot be placed is in no other group, and the other way round.
        for other in list(groups) if number == UNKNOWN else [UNKNOWN]:
            groups[other] = groups[other]._replace(documents=groups[other].documents - documents)
        groups[number] = Group(group.name, group.documents | documents)
    elif step.action == TAKE:
        groups[number] = group._replace(documents=group.documents - documents)
    elif step.action == RENAME and step.name is not None:
        groups[number] = group._replace(name=step.name)
    elif step.action == MERGE and step.merged_into in groups:
        into = groups[step.merged_into]
        groups[step.merged_into] = into._replace(documents=into.documents | group.documents)
        groups.pop(number, None)


def groups_of(clusters: Clustering) -> dict[str, list[str]]:
    """Return a clustering as a step stores it: name → documents, "unknown" for the others."""
    groups = {name: sorted(documents) for name, documents in members(clusters).items()}
    unknown = sorted(document for document, names in clusters.items() if not names)
    return {**groups, **({IN_NO_CLUSTER: unknown} if unknown else {})}


class ShownGroup(NamedTuple):
    """A group of the page: its key ("" for none), its name ("" for UNKNOWN), and its size."""

    number: int
    key: str
    name: str
    size: int

    @property
    def colour(self) -> int:
        """The number of its colour, which never says it alone; 0 for UNKNOWN."""
        return (self.number - 1) % COLOURS + 1 if self.number else 0


class Tile(NamedTuple):
    """A document of a topic; ``number``: on the page, from 1; ``item`` is None without content.

    ``alike``: the numbers of the tiles most like it.
    """

    number: int
    item: ShownItem | None
    groups: tuple[ShownGroup, ...]
    alike: tuple[int, ...]


class Earlier(NamedTuple):
    """An earlier assessor's groups: the name of each, and the numbers of its tiles.

    ``finer``: the groups of the other assessor that this one divides: (name, its parts).
    """

    groups: tuple[tuple[str, tuple[int, ...]], ...]
    finer: tuple[tuple[str, tuple[str, ...]], ...]


class GroupingView(NamedTuple):
    """All that an assessor may see of a topic now."""

    topic: ShownItem | None
    cluster_type: str | None
    tiles: tuple[Tile, ...]
    groups: tuple[ShownGroup, ...]
    earlier: tuple[Earlier, ...]
    can_undo: bool
    steps: int

    @property
    def placed(self) -> int:
        """How many documents are in a group, or cannot be placed."""
        return sum(bool(tile.groups) for tile in self.tiles)

    @property
    def lumped(self) -> str | None:
        """ONE_GROUP or ALL_UNPLACED where all documents are in the same place, else None."""
        used = [group for group in self.groups if group.size]
        if len(used) != 1 or used[0].size < len(self.tiles):
            return None
        return ONE_GROUP if used[0].number else ALL_UNPLACED


class GroupingShown(NamedTuple):
    """A topic and an assessor's steps, before the documents are looked up."""

    question: GroupingQuestion
    presentation: GroupingPresentation

    @property
    def order(self) -> list[str]:
        """The documents in this assessor's order."""
        numbers = PCG64(self.presentation.order_seed).random_raw(len(self.question.documents))
        documents = sorted(self.question.documents)
        return [documents[place] for place in np.argsort(numbers, kind="stable").tolist()]

    def after(self, steps: Sequence[GroupingStep]) -> "GroupingShown":
        """Return the topic as it is after some more steps."""
        taken = replace(self.presentation, steps=(*self.presentation.steps, *steps))
        return self._replace(presentation=taken)

    @property
    def unplaced(self) -> list[str]:
        """The documents that are in no group yet."""
        placed = self.presentation.clusters.keys()
        return [each for each in self.order if each not in placed]


class Sent(NamedTuple):
    """A form of a topic: its action, the group it is about, the selected tiles, and a name."""

    action: str
    group: int = UNKNOWN
    tiles: frozenset[int] = frozenset()
    name: str = ""
    into: int = UNKNOWN


def steps_from_form(
    plan: GroupingPlan, shown: GroupingShown, find: FindItems, sent: Sent
) -> list[GroupingStep]:
    """Return the steps that a form asks for, at most one.

    Raises ValueError for a form that the page did not offer.
    """
    state, order = shown.presentation, shown.order
    if not all(1 <= tile <= len(order) for tile in sent.tiles):
        raise ValueError("there is no such tile")
    if sent.action != NEW and sent.group not in state.groups:
        raise ValueError("there is no such group")
    if sent.action == REST:
        left = shown.unplaced
        return [GroupingStep(PUT, UNKNOWN, documents=left)] if left else []
    if sent.action == DONE:
        looks = plan.show_earlier and not state.has_looked and not shown.unplaced
        return [GroupingStep(LOOK)] if looks and find.earlier(shown.question.number) else []
    if sent.action == ADOPT:
        earlier = _earlier(shown, find) if state.has_looked else []
        if not 0 <= sent.into < len(earlier):
            raise ValueError("there is no such earlier grouping")
        return [GroupingStep(ADOPT, groups=groups_of(earlier[sent.into]))]
    documents = [order[tile - 1] for tile in sorted(sent.tiles)]
    step = _moved(state, sent, documents) if documents else None
    step = step or _changed(state, sent)
    return [step] if step else []


def _moved(
    state: GroupingPresentation, sent: Sent, documents: Sequence[str]
) -> GroupingStep | None:
    """Return the step that puts documents into a group or takes them out."""
    if sent.action == TAKE:
        return GroupingStep(TAKE, sent.group, documents=documents)
    if sent.action == PUT:
        return GroupingStep(PUT, sent.group, documents=documents)
    if sent.action != NEW or not sent.name or len(state.groups) > MOST_GROUPS:
        return None
    number = state.group_named(sent.name)
    if number is not None:
        return GroupingStep(PUT, number, documents=documents)
    return GroupingStep(PUT, state.next_number, sent.name, documents=documents)


def _changed(state: GroupingPresentation, sent: Sent) -> GroupingStep | None:
    """Return the step that renames or merges groups, or undoes the last one."""
    if sent.action == UNDO and state.counted:
        return GroupingStep(UNDO)
    if sent.action == RENAME and sent.name and sent.group:
        same = state.group_named(sent.name)
        if same in (None, sent.group):
            return GroupingStep(RENAME, sent.group, sent.name)
        return GroupingStep(MERGE, sent.group, merged_into=same)
    if sent.action == MERGE and sent.group and sent.into in state.groups.keys() - {sent.group}:
        return GroupingStep(MERGE, sent.group, merged_into=sent.into)
    return None


def _earlier(shown: GroupingShown, find: FindItems) -> list[Clustering]:
    """Return both earlier assessors' clusters, in an order that is drawn for each topic."""
    earlier = [state.clusters for state in find.earlier(shown.question.number)[:2]]
    return earlier[::-1] if shown.presentation.order_seed % 2 else earlier


def _finer(fine: Clustering, coarse: Clustering) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the groups of ``coarse`` that ``fine`` divides: those with two parts or more.

    A part lies in the whole but for a fifth of it, as ``coarsened`` has it.
    """
    documents = sorted(fine.keys() | coarse.keys())
    parts, wholes = membership(fine, documents), membership(coarse, documents)
    names = [*members(fine)]
    overlap = parts.T @ wholes
    sizes, whole_sizes = parts.sum(axis=0), wholes.sum(axis=0)
    for column, whole in enumerate(members(coarse)):
        inside = (overlap[:, column] >= NESTED * sizes) & (sizes < whole_sizes[column])
        if inside.sum() > 1:
            yield whole, tuple(names[row] for row in np.flatnonzero(inside))


def _alike(pool: Pool, order: Sequence[str]) -> list[tuple[int, ...]]:
    """Return for each document the numbers of those most like it, the most similar first."""
    places = [pool.index.get(document) for document in order]
    nothing = np.zeros(pool.vectors.shape[1], dtype=np.float32)
    rows = np.array([nothing if place is None else pool.vectors[place] for place in places])
    if not rows.any():
        return [() for _ in order]
    alike = likeness(rows, rows)
    np.fill_diagonal(alike, -np.inf)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, : min(MOST_ALIKE, len(order) - 1)]
    return [tuple((row + 1).tolist()) for row in nearest]


class Grouping(InSteps):
    """The kind of question "grouping", for the registry."""

    name = "grouping"
    plan: type[Plan] = GroupingPlan
    presentation = GroupingPresentation
    generator_version = 1

    def read_question(self, number: int, content: Mapping[str, Any]) -> GroupingQuestion:
        """Return the question that a row or a file holds."""
        return GroupingQuestion(number, content["topic"], tuple(content["documents"]))

    def show(self, question: GroupingQuestion, presentation: GroupingPresentation) -> GroupingShown:
        """Return topic and steps; ``with_items`` makes of them what the page shows."""
        return GroupingShown(question, presentation)

    def with_items(
        self, plan: GroupingPlan, question: GroupingQuestion, view: GroupingShown, find: FindItems
    ) -> GroupingView:
        """Return documents and groups as they are now, and the earlier ones if they were shown."""
        state, order = view.presentation, view.order
        items, topic = find(order, question.topic)
        groups = {
            number: ShownGroup(number, f"u{KEYS}"[place : place + 1], name, len(documents))
            for place, (number, (name, documents)) in enumerate(state.groups.items())
        }
        of_document: dict[str, list[ShownGroup]] = {}
        for number, shown in groups.items():
            for document in state.groups[number].documents:
                of_document.setdefault(document, []).append(shown)
        tiles = (
            Tile(number, items.get(document), tuple(of_document.get(document, ())), alike)
            for number, (document, alike) in enumerate(
                zip(order, _alike(find.pool(), order), strict=True), 1
            )
        )
        return GroupingView(
            topic=topic,
            cluster_type=(find.topic(question.topic) or Topic(question.topic)).cluster_type,
            tiles=tuple(tiles),
            groups=tuple(groups.values()),
            earlier=self._compared(view, find) if plan.show_earlier and state.has_looked else (),
            can_undo=bool(state.counted),
            steps=len(state.steps),
        )

    def _compared(self, view: GroupingShown, find: FindItems) -> tuple[Earlier, ...]:
        number_of = {document: number for number, document in enumerate(view.order, 1)}
        earlier = _earlier(view, find)
        return tuple(
            Earlier(
                tuple(
                    (name, tuple(sorted(number_of[each] for each in documents)))
                    for name, documents in groups_of(clusters).items()
                ),
                tuple(_finer(clusters, other)),
            )
            for clusters, other in zip(earlier, earlier[::-1], strict=True)
        )

    def is_due(
        self,
        plan: GroupingPlan,
        question: GroupingQuestion,
        earlier: Sequence[GroupingPresentation],
    ) -> bool:
        """Return whether a topic needs a third assessor, from how the first two grouped it."""
        first, second = (state.clusters for state in earlier[:2])
        threshold = plan.sufficient_agreement / 100
        return compare_clusters(question.topic, first, second, threshold).needs_third

    def facts(self, plan: GroupingPlan, generator_version: int) -> dict[str, Any]:
        """Return what a summary of the study says of its topics."""
        sizes = [len(documents) for _, documents in plan.topics]
        return {
            "topics": " ".join(topic for topic, _ in plan.topics),
            "documents of a topic": f"{min(sizes)} to {max(sizes)}",
        }

    def verdict(self, plan: GroupingPlan, questions: Sequence[GroupingQuestion]) -> str:
        """Say how many topics people sort."""
        return f"{len(questions)} topic{'s' * (len(questions) != 1)} to sort into groups"

    def findings(
        self, plan: GroupingPlan, questions: Sequence[GroupingQuestion]
    ) -> Iterator[Finding]:
        """Yield a finding where there are too few assessors."""
        if plan.participants < 3:
            text = f"{plan.participants} wanted; two first assessors and a third are needed"
            yield Finding(None, f"participants: {text}", mend="participants")

    def describe(
        self, plan: GroupingPlan, view: GroupingView, presentation: GroupingPresentation
    ) -> dict[str, Any]:
        """Return the groups and every step, with numbers of pictures in place of ids."""
        return {
            "topic": view.topic and view.topic.text,
            "groups": {
                group.name or IN_NO_CLUSTER: [
                    tile.number for tile in view.tiles if group in tile.groups
                ]
                for group in view.groups
            },
            "steps": [
                {
                    "at": step.saved_at and step.saved_at.isoformat(),
                    "what": step.action,
                    **({} if step.group_number is None else {"group": step.group_number}),
                    **({} if step.name is None else {"name": step.name}),
                    **({} if step.documents is None else {"pictures": len(step.documents)}),
                }
                for step in presentation.steps
            ],
        }
