"""How long something took, from moments that were noted.

Answers as they were given: one by one, or many in columns.

A study has many answers and few distinct ways to answer. So columns hold codes of distinct
values, of 25 bytes an answer, and every statistic looks at distinct values with their numbers.

Table 3: who took part, and how long it took them.
"""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from survey.core.studies.rankings import Ranking


def seconds_taken(
    active: float | None, shown_at: datetime | None, submitted_at: datetime | None
) -> float | None:
    """Return the seconds an answer took: in view, by the browser, else by the server's clock."""
    return active if active is not None else seconds_between(shown_at, submitted_at)


def seconds_between(begun: datetime | None, ended: datetime | None) -> float | None:
    """Count in whole seconds, as files give the times, so that a bundle's figures are
    the database's; None where a time is missing.
    """
    if begun is None or ended is None:
        return None
    return float(int(ended.timestamp()) - int(begun.timestamp()))


Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class Response:
    """One participant's answer to one question, as it was given.

    ``label_order``: the measures behind Method1, Method2, … in this presentation;
    ``clicked``: the label numbers that were ticked; ``own``: the custom ranking,
    when none was. Exactly one of the two is there, else ValueError. How it was shown,
    where known: ``column_order``, the label numbers from left to right; ``position``
    of the question in the participant's session, from 1; ``seconds`` taken.
    """

    participant: str
    question: int
    label_order: tuple[str, ...]
    clicked: frozenset[int] = frozenset()
    own: Ranking | None = None
    column_order: tuple[int, ...] | None = None
    position: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if bool(self.clicked) == (self.own is not None):
            raise ValueError(
                f"participant {self.participant}, question {self.question}: "
                "an answer is one or more columns, or an own ranking"
            )
        for label in self.clicked:
            if not 1 <= label <= len(self.label_order):
                raise ValueError(
                    f"participant {self.participant}, question {self.question}: Method{label} "
                    f"was clicked; there are Method1 to Method{len(self.label_order)}"
                )


@dataclass(frozen=True)
class Coded(Generic[Value]):
    """A column with few distinct ``values``; ``codes``: the place of each entry's, −1 for none."""

    values: tuple[Value, ...]
    codes: NDArray[np.signedinteger[Any]]

    @classmethod
    def of(cls, column: Iterable[Value | None]) -> "Coded[Value]":
        """Number the values in the order in which they come; None is none."""
        places: dict[Value, int] = {}
        codes = [-1 if value is None else places.setdefault(value, len(places)) for value in column]
        return cls(tuple(places), np.array(codes, dtype=narrowest(len(places))))

    def in_order(self, key: Callable[[Value], Any] = lambda value: value) -> "Coded[Value]":
        """Return the same column with its values sorted, each once."""
        values = sorted(set(self.values), key=key)
        places = {value: place for place, value in enumerate(values)}
        table = np.array([*(places[value] for value in self.values), -1], dtype=self.codes.dtype)
        return Coded(tuple(values), table[self.codes])

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which entries have a value."""
        return self.codes >= 0

    def within(self, rows: NDArray[Any]) -> "Coded[Value]":
        """Return some of the entries, by their places or as a mask."""
        return replace(self, codes=self.codes[rows])


def narrowest(values: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type that numbers so many values, with −1 for none."""
    return np.int8 if values <= 2**7 else np.int16 if values <= 2**15 else np.int32


@dataclass(frozen=True)
class Answers:
    """Answers in columns, those of a participant one after another; fields as of ``Response``.

    Values are in order, so that figures are the same to the last digit wherever the answers
    were read. ``people``: the ids of the participants, each with an answer at least; ``begins``:
    for each the place of the first answer. The rest has an entry for each answer: ``clicked``
    the sum of 2^(label - 1) over the labels that were ticked, 0 for a custom ranking;
    ``seconds`` NaN where unknown.
    """

    people: NDArray[np.str_]
    begins: NDArray[np.int64]
    question: Coded[int]
    label_order: Coded[tuple[str, ...]]
    clicked: NDArray[np.uint8]
    own: Coded[Ranking]
    column_order: Coded[tuple[int, ...]]
    position: Coded[int]
    seconds: NDArray[np.float64]

    @classmethod
    def of(cls, responses: Iterable[Response]) -> "Answers":
        """Lay out responses; participants in the order in which they come."""
        given = list(responses)
        who = Coded.of(one.participant for one in given)
        rows = np.argsort(who.codes, kind="stable")
        given = [given[row] for row in rows.tolist()]
        seconds = [np.nan if one.seconds is None else one.seconds for one in given]
        return cls(
            people=np.array(who.values, dtype=str),
            begins=begins_of(np.bincount(who.codes, minlength=len(who.values))),
            question=Coded.of(one.question for one in given).in_order(),
            label_order=Coded.of(one.label_order for one in given).in_order(),
            clicked=np.array([_bits(one.clicked) for one in given], dtype=np.uint8),
            own=Coded.of(one.own for one in given).in_order(by_groups),
            column_order=Coded.of(one.column_order for one in given).in_order(),
            position=Coded.of(one.position for one in given).in_order(),
            seconds=np.array(seconds, dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.clicked)

    @cached_property
    def given(self) -> NDArray[np.int64]:
        """How many answers each participant gave."""
        return np.diff(self.begins, append=len(self))

    def of_people(self, chosen: NDArray[np.bool_]) -> "Answers":
        """Return the answers of some of the participants, a mask over them."""
        # Ten million answers are not copied where everybody's are wanted.
        return self if chosen.all() else self.within(np.repeat(chosen, self.given))

    def within(self, rows: NDArray[np.bool_]) -> "Answers":
        """Return some of the answers, a mask over them; who has none left is gone."""
        left = by_participant(rows, self.begins)
        return Answers(
            people=self.people[left > 0],
            begins=begins_of(left[left > 0]),
            question=self.question.within(rows),
            label_order=self.label_order.within(rows),
            clicked=self.clicked[rows],
            own=self.own.within(rows),
            column_order=self.column_order.within(rows),
            position=self.position.within(rows),
            seconds=self.seconds[rows],
        )

    def without_question(self, number: int) -> "Answers":
        """Return the answers to all questions but one."""
        numbers = np.array([*self.question.values, number])
        return self.within(numbers[self.question.codes] != number)

    def participant_of(self, row: int) -> str:
        """Return whose answer one is."""
        return str(self.people[np.searchsorted(self.begins, row, side="right") - 1])


def by_groups(ranking: Ranking) -> tuple[tuple[str, ...], ...]:
    """Return by what rankings are put in order."""
    return ranking.groups


def _bits(labels: frozenset[int]) -> int:
    return sum(1 << (label - 1) for label in labels)


def begins_of(given: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return where each participant's answers begin; ``given``: how many each gave."""
    begins: NDArray[np.int64] = np.cumsum(given, dtype=np.int64) - given
    return begins


def by_participant(values: NDArray[Any], begins: NDArray[np.int64]) -> NDArray[Any]:
    """Add up the answers' values within each participant; whole numbers stay whole."""
    if not len(begins):
        return np.zeros(0, dtype=np.int64 if values.dtype.kind in "biu" else values.dtype)
    sums: NDArray[Any] = np.add.reduceat(values, begins, dtype=_summed(values))
    return sums


def _summed(values: NDArray[Any]) -> type:
    return np.float64 if values.dtype.kind == "f" else np.int64


def distinct(keys: NDArray[Any], space: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct keys, sorted, and which of them each key is.

    Keys are whole numbers from 0 to ``space`` - 1. As np.unique, but where the space is not
    much larger than the keys are many, it marks which there are instead of sorting: a tenth
    of the time for ten million.
    """
    if space > max(4 * len(keys), 100_000):
        found, places = np.unique(keys, return_inverse=True)
        return found.astype(np.int64), places.astype(np.int32)
    there = np.zeros(space, dtype=bool)
    there[keys] = True
    found = np.flatnonzero(there)
    places = np.zeros(space, dtype=np.int32)
    places[found] = np.arange(len(found))
    return found, places[keys]


@dataclass(frozen=True)
class People:
    """Participants in columns, an entry each, by ``ids``.

    ``minutes``: from "begin" to "finish", NaN of those who have not finished; ``personal``:
    what they said about themselves, by field.
    """

    ids: NDArray[np.str_]
    is_test: NDArray[np.bool_]
    excluded: NDArray[np.bool_]
    complete: NDArray[np.bool_]
    minutes: NDArray[np.float64]
    personal: Coded[Any]

    def __len__(self) -> int:
        return len(self.ids)

    def within(self, places: NDArray[np.int64]) -> "People":
        """Return some of them, by their places."""
        return People(
            ids=self.ids[places],
            is_test=self.is_test[places],
            excluded=self.excluded[places],
            complete=self.complete[places],
            minutes=self.minutes[places],
            personal=self.personal.within(places),
        )

    def places_of(self, ids: NDArray[np.str_]) -> NDArray[np.int64]:
        """Return where these stand, −1 for those who are not among them."""
        if np.array_equal(ids, self.ids):
            return np.arange(len(ids))
        places = {one: place for place, one in enumerate(self.ids.tolist())}
        return np.array([places.get(one, -1) for one in ids.tolist()], dtype=np.int64)

    def said(self, field: str) -> list[Any]:
        """Return the answers to a field of those who gave one."""
        answers = [said.get(field) for said in self.personal.values]
        given = [field in said for said in self.personal.values]
        return [answers[code] for code in self.personal.codes.tolist() if given[code]]


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n − 1) of so many values; None where undefined."""

    n: int
    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class Table3:
    """The paper's Table 3: participants, their personal fields, and minutes taken.

    ``numbers``: number fields (age) → spread; ``counts``: choice fields (education)
    → option → participants. ``minutes``: server time from "begin" to "finish", of
    those who finished.
    """

    participants: int
    completed: int
    questions_per_participant: int
    numbers: Mapping[str, Spread]
    counts: Mapping[str, Mapping[str, int]]
    minutes: Spread


def spread(values: Sequence[float]) -> Spread:
    """Summarise values; a mean needs one of them, a standard deviation two."""
    finite = [value for value in values if math.isfinite(value)]
    return Spread(
        n=len(finite),
        mean=statistics.fmean(finite) if finite else None,
        sd=statistics.stdev(finite) if len(finite) > 1 else None,
    )


def option_counts(answers: Sequence[str], options: Sequence[str]) -> dict[str, int]:
    """Count answers to a choice field, options in the study's order, none left out."""
    counted = Counter(answers)
    return {option: counted[option] for option in options}
