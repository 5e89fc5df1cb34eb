"""How an assessor meets a topic, and their steps: into groups, out of them, names, looks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import PCG64

from survey.core.collections.clusterings import NESTED, Clustering, members, membership
from survey.core.collections.descriptors import likeness
from survey.core.collections.items import FindItems, ShownItem
from survey.core.collections.likeness import Pool
from survey.core.collections.runs import IN_NO_CLUSTER
from survey.core.studies.fields import (
    Choice,
    NotAllowedValueError,
    Rule,
    Text,
    Whole,
    Words,
    declared,
)
from survey.kinds.grouping.plan import GroupingPlan, GroupingQuestion, is_again, original
from survey.kinds.steps import InSteps, Step

LONGEST_GROUP_NAME = 60
MOST_GROUPS = 99
PUT, TAKE, RENAME, MERGE, ADOPT, UNDO, LOOK = (
    *("put", "take", "rename", "merge", "adopt", "undo", "look"),
)
ACTIONS = (PUT, TAKE, RENAME, MERGE, ADOPT, UNDO, LOOK)
# Of a form: put into a new group, the others unknown, that the topic is done, or both of these.
NEW, REST, DONE, REST_DONE = "new", "rest", "done", "rest-done"
UNKNOWN = 0  # the group of what cannot be placed
NAME_OF_UNKNOWN = IN_NO_CLUSTER  # in files
GROUP_KEYS = "123456789abcdefghijkmopqrstvwxy"  # of groups; l, n, u and z do something else
COLOUR_COUNT = 8
MOST_SIMILAR = 12  # documents that "select similar" offers
# Asked back where a topic is done: all of it is in one group, or cannot be placed.
ONE_GROUP, ALL_UNPLACED = "one_group", "unplaced"
ASKED = (ONE_GROUP, ALL_UNPLACED)


@dataclass(frozen=True)
class GroupingStep(Step):
    """What an assessor did with a topic, step by step; no row is changed later.

    UNDO: of the last of the others. LOOK: from here on the earlier groupings were shown.
    """

    action: str = declared(
        Choice(
            allowed=dict(zip(ACTIONS, ACTIONS, strict=True)),
            doc="put (into a group), take (out), rename, merge, adopt (another's groups), undo, "
            "look (at both earlier groupings)",
        )
    )
    group_number: int | None = declared(
        Whole(
            doc="of which group, from 1; 0 is for what cannot be placed",
            only_with=("action", PUT, TAKE, RENAME, MERGE),
        ),
        None,
    )
    name: str | None = declared(
        Text(
            longest=LONGEST_GROUP_NAME,
            needed=False,
            doc="the name of a new or renamed group",
            only_with=("action", PUT, RENAME),
        ),
        None,
    )
    merged_into: int | None = declared(
        Whole(doc="the group that a merged one becomes", only_with=("action", MERGE)), None
    )
    documents: Sequence[str] | None = declared(
        Words(doc="the documents that are put in or taken out", only_with=("action", PUT, TAKE)),
        None,
    )
    groups: Mapping[str, Sequence[str]] | None = declared(
        Rule(doc="the adopted groups: name and documents of each", only_with=("action", ADOPT)),
        None,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.action == RENAME and not self.name:
            raise NotAllowedValueError("name", "is missing; a group is renamed to one")


class Group(NamedTuple):
    """A group: its name, "" for UNKNOWN, and its documents."""

    name: str
    documents: frozenset[str]


Groups = dict[int, Group]


@dataclass(frozen=True)
class GroupingPresentation(InSteps):
    """How one assessor meets one topic; the seed gives the order of the documents."""

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
        """The names of each document's groups, without second tiles; see ``placed``."""
        return {each: names for each, names in self.placed.items() if not is_again(each)}

    @property
    def placed(self) -> Clustering:
        """The names of each tile's groups, none for one that cannot be placed.

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
    """A group of the page: its place among the groups, its name ("" for UNKNOWN), and its size.

    ``place``: from 1 on, 0 for UNKNOWN.
    """

    number: int
    place: int
    name: str
    size: int

    @property
    def sign(self) -> str:
        """The sign that a tile in this group shows."""
        return str(self.place or "?")

    @property
    def key(self) -> str:
        """The key that puts a tile into it, "" for none."""
        return f"u{GROUP_KEYS}"[self.place : self.place + 1]

    @property
    def colour(self) -> int:
        """The number of its colour, which never says it alone; 0 for UNKNOWN."""
        return (self.number - 1) % COLOUR_COUNT + 1 if self.number else 0


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
        placed = self.presentation.placed.keys()
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
    """Return the steps that a form asks for: one, or none, or with REST_DONE two.

    Raises ValueError for a form that the page did not offer.
    """
    state, order = shown.presentation, shown.order
    if not all(1 <= tile <= len(order) for tile in sent.tiles):
        raise ValueError("there is no such tile")
    if sent.action != NEW and sent.group not in state.groups:
        raise ValueError("there is no such group")
    if sent.action in (REST, REST_DONE, DONE):
        return _ended(plan, shown, find, sent.action)
    if sent.action == ADOPT:
        earlier = earlier_clusters(shown, find) if state.has_looked else []
        if not 0 <= sent.into < len(earlier):
            raise ValueError("there is no such earlier grouping")
        return [GroupingStep(ADOPT, groups=groups_of(earlier[sent.into]))]
    documents = [order[tile - 1] for tile in sorted(sent.tiles)]
    step = _moved(state, sent, documents) if documents else None
    step = step or _changed(state, sent)
    return [step] if step else []


def _ended(
    plan: GroupingPlan, shown: GroupingShown, find: FindItems, action: str
) -> list[GroupingStep]:
    """Return the steps that call what is left unknown, and that end a topic or show others'."""
    left = shown.unplaced if action != DONE else []
    steps = [GroupingStep(PUT, UNKNOWN, documents=left)] if left else []
    after = shown.after(steps)
    looks = action != REST and plan.show_earlier and not after.presentation.has_looked
    if looks and not after.unplaced and find.earlier(shown.question.number):
        steps.append(GroupingStep(LOOK))
    return steps


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


def earlier_clusters(shown: GroupingShown, find: FindItems) -> list[Clustering]:
    """Return both earlier assessors' clusters, in an order that is drawn for each topic."""
    earlier = [state.clusters for state in find.earlier(shown.question.number)[:2]]
    return earlier[::-1] if shown.presentation.order_seed % 2 else earlier


def finer_groups(fine: Clustering, coarse: Clustering) -> Iterator[tuple[str, tuple[str, ...]]]:
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


def alike_tiles(pool: Pool, order: Sequence[str]) -> list[tuple[int, ...]]:
    """Return for each document the numbers of those most like it, the most similar first."""
    places = [pool.index.get(original(document)) for document in order]
    nothing = np.zeros(pool.vectors.shape[1], dtype=np.float32)
    rows = np.array([nothing if place is None else pool.vectors[place] for place in places])
    if not rows.any():
        return [() for _ in order]
    alike = likeness(rows, rows)
    np.fill_diagonal(alike, -np.inf)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, : min(MOST_SIMILAR, len(order) - 1)]
    return [tuple((row + 1).tolist()) for row in nearest]
