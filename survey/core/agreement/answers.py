"""Answers and participants as columns, and Table 3, which summarises the participants.

A study has many answers and few distinct ways to answer. So columns hold codes of distinct
values, some 16 bytes an answer, and every statistic looks at distinct values with their counts.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, groupby, islice, pairwise
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from survey.core.studies.fields import FieldAnswer
from survey.core.studies.rankings import Ranking

Value = TypeVar("Value", bound=Hashable)

# What a page may ask back before it saves an answer. EQUAL_COLUMN: the own ordering equals a
# column's (only stored answers of earlier versions have it). DIFFERING_TICKS: the ticked columns'
# orderings differ. REVERSED: the own ordering puts a list above one that is earlier at every
# position.
EQUAL_COLUMN, DIFFERING_TICKS, REVERSED = "equal", "differing", "reversed"
ASKED_REASONS = (EQUAL_COLUMN, DIFFERING_TICKS, REVERSED)
TYPED = 4  # beside the place in ASKED_REASONS: the ordering that counts for a column was typed

# The columns of answers that hold codes of distinct values.
CODED = ("question", "label_order", "own", "column_order", "position")
RESPONSES_AT_ONCE = 10_000  # responses that memory holds at once
ENTRIES_AT_ONCE = 2**17  # entries of a column that are computed with at once
PEOPLE_AT_ONCE = 2**13  # participants whose answers are computed with at once


@dataclass(frozen=True)
class Response:
    """One participant's answer to one question.

    ``label_order``: the measures behind Method1, Method2, … in this presentation;
    ``clicked``: the label numbers that were ticked; ``own``: the own ordering, where no label was
    ticked. How the question was shown, None where unknown: ``column_order``, the label numbers
    from left to right; ``position`` of the question in the participant's session, from 1;
    ``seconds`` taken. ``asked``: what the page asked back before it saved the answer, one of
    ASKED_REASONS; ``typed``: whether the participant typed the ordering of the ticked columns as
    their own. Raises ValueError unless just one of ``clicked`` and ``own`` is present, and for a
    label outside ``label_order``.
    """

    participant: str
    question: int
    label_order: tuple[str, ...]
    clicked: frozenset[int] = frozenset()
    own: Ranking | None = None
    column_order: tuple[int, ...] | None = None
    position: int | None = None
    seconds: float | None = None
    asked: str | None = None
    typed: bool = False

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


def seconds_taken(
    active: float | None, shown_at: datetime | None, submitted_at: datetime | None
) -> float | None:
    """Return the seconds in view that the browser counted, else those by the server's clock."""
    return active if active is not None else seconds_between(shown_at, submitted_at)


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Subtract two times, each cut to whole seconds; None where a time is missing.

    Files hold whole seconds, so a bundle's figures are those of the database.
    """
    if start is None or end is None:
        return None
    return float(int(end.timestamp()) - int(start.timestamp()))


class GrowingColumn:
    """An array that grows in place, of the smallest type that holds all values so far.

    A list of ten thousand small arrays instead would leave gaps in memory once it is joined.
    """

    def __init__(self) -> None:
        self._dtype, self._bytes = np.dtype(np.bool_), bytearray()

    def extend(self, values: NDArray[np.generic]) -> None:
        """Append values; convert the earlier ones where these need a larger type."""
        if (dtype := np.promote_types(self._dtype, values.dtype)) != self._dtype:
            self._bytes[:] = self.values.astype(dtype).tobytes()
            self._dtype = dtype
        self._bytes += values.astype(dtype, copy=False).tobytes()

    @property
    def values(self) -> NDArray[Any]:
        """The values so far; the column must not grow while they are used."""
        return np.frombuffer(self._bytes, self._dtype)


class Codes(Generic[Value]):
    """The codes of a column's values, in the order in which these first occur."""

    def __init__(self) -> None:
        self._codes: dict[Value | None, int] = {None: -1}

    def encode(self, values: Iterable[Value | None]) -> NDArray[np.signedinteger]:
        """Return the values' codes, of the smallest type that holds all codes so far.

        A new value gets a new code, None gets −1.
        """
        codes = [self._codes.setdefault(value, len(self._codes) - 1) for value in values]
        return np.array(codes, dtype=smallest_integer_type(len(self._codes)))

    def column(self, codes: NDArray[np.signedinteger]) -> "Coded[Value]":
        """Return the column of these codes."""
        values = tuple(value for value in self._codes if value is not None)
        return Coded(values, codes.astype(smallest_integer_type(len(values)), copy=False))


@dataclass(frozen=True)
class Coded(Generic[Value]):
    """A column of few distinct ``values``; ``codes``: the index of each entry's value, or −1."""

    values: tuple[Value, ...]
    codes: NDArray[np.signedinteger]

    @classmethod
    def of(cls, column: Iterable[Value | None]) -> "Coded[Value]":
        """Number the values in the order in which they first occur; None becomes −1."""
        codes = Codes[Value]()
        return codes.column(codes.encode(column))

    def in_order(self, key: Callable[[Value], Any] = lambda value: value) -> "Coded[Value]":
        """Return the same column with its values sorted and without repetitions."""
        values = sorted(set(self.values), key=key)
        index = {value: number for number, value in enumerate(values)}
        table = np.array([*(index[value] for value in self.values), -1], dtype=self.codes.dtype)
        return Coded(tuple(values), looked_up(table, self.codes))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the entries that have a value."""
        return self.codes >= 0

    def __getitem__(self, rows: NDArray[np.integer | np.bool] | slice) -> "Coded[Value]":
        """Keep some of the entries; ``rows``: their indices, a slice or a mask."""
        return replace(self, codes=self.codes[rows])


def smallest_integer_type(values: int) -> type[np.signedinteger]:
    """Return the smallest type whose numbers suffice for this many codes and −1."""
    return np.int8 if values <= 2**7 else np.int16 if values <= 2**15 else np.int32


@dataclass(frozen=True)
class Answers:
    """Answers in columns, those of a participant one after another; fields as of ``Response``.

    The distinct values of each column are sorted. So sums run in the same order, and figures are
    the same to the last digit, wherever the answers were read.

    ``people``: the ids of the participants, each with an answer at least; ``first_answer``: for
    each the row of the first answer. All other columns have an entry for each answer: ``clicked``
    the sum of 2^(label - 1) over the labels that were ticked, 0 for a custom ranking; ``asked`` 0
    where nothing was asked back, else the place in ASKED_REASONS from 1, and TYPED more where the
    ordering was typed; ``seconds`` NaN where unknown.
    """

    people: NDArray[np.str_]
    first_answer: NDArray[np.int64]
    question: Coded[int]
    label_order: Coded[tuple[str, ...]]
    clicked: NDArray[np.uint8]
    asked: NDArray[np.uint8]
    own: Coded[Ranking]
    column_order: Coded[tuple[int, ...]]
    position: Coded[int]
    seconds: NDArray[np.float64]

    @classmethod
    def of(cls, responses: Iterable[Response]) -> "Answers":
        """Convert responses; participants keep the order in which they first occur.

        Memory holds few responses at once: there may be ten million.
        """
        codes = {name: Codes[Any]() for name in CODED}
        names: list[NDArray[np.str_]] = []
        counts, growing = GrowingColumn(), defaultdict[str, GrowingColumn](GrowingColumn)
        remaining = iter(responses)
        # The empty batch gives every column its type, also where there are no responses.
        for batch in chain([[]], iter(lambda: list(islice(remaining, RESPONSES_AT_ONCE)), [])):
            consecutive = groupby(response.participant for response in batch)
            lengths = [(participant, len([*same])) for participant, same in consecutive]
            names.append(np.array([participant for participant, _ in lengths], dtype=str))
            counts.extend(np.array([length for _, length in lengths], dtype=np.int64))
            for name, values in _batch_of(batch, codes).items():
                growing[name].extend(values)
        people, answer_counts, rows = _by_participant(np.concatenate(names), counts.values)
        columns = {name: growing.pop(name).values[rows] for name in [*growing]}
        coded = {name: each.column(columns.pop(name)) for name, each in codes.items()}
        own = coded.pop("own").in_order(by_groups)
        return cls(
            people=people,
            first_answer=first_rows(answer_counts),
            clicked=columns["clicked"],
            asked=columns["asked"],
            seconds=columns["seconds"],
            own=own,
            **{name: column.in_order() for name, column in coded.items()},
        )

    def __len__(self) -> int:
        return len(self.clicked)

    @cached_property
    def answer_counts(self) -> NDArray[np.int64]:
        """Number of answers of each participant."""
        return np.diff(self.first_answer, append=len(self))

    def of_people(self, chosen: NDArray[np.bool_]) -> "Answers":
        """Keep the answers of some participants; ``chosen``: a mask over ``people``."""
        # Ten million answers are not copied where everybody's are wanted.
        return self if chosen.all() else self.subset(np.repeat(chosen, self.answer_counts))

    def subset(self, rows: NDArray[np.bool_]) -> "Answers":
        """Keep some answers, by a mask, and the participants who have one of them."""
        counts = sum_by_participant(rows, self.first_answer)
        return self._part(self.people[counts > 0], first_rows(counts[counts > 0]), rows)

    def blocks(self) -> Iterator["Answers"]:
        """Yield the answers of some thousand participants at a time, as views."""
        edges = np.append(self.first_answer[::PEOPLE_AT_ONCE], len(self)).tolist()
        for block, (start, end) in enumerate(pairwise(edges)):
            people = slice(block * PEOPLE_AT_ONCE, (block + 1) * PEOPLE_AT_ONCE)
            first_answer = self.first_answer[people] - start
            yield self._part(self.people[people], first_answer, slice(start, end))

    def _part(
        self,
        people: NDArray[np.str_],
        first_answer: NDArray[np.int64],
        rows: NDArray[np.integer | np.bool] | slice,
    ) -> "Answers":
        """Return the answers in ``rows`` (indices, a slice or a mask), which ``people`` gave."""
        # All fields after people and first_answer have an entry for each answer.
        by_answer = {field.name: getattr(self, field.name)[rows] for field in fields(self)[2:]}
        return Answers(people, first_answer, **by_answer)

    def up_to_question(self, number: int) -> "Answers":
        """Drop the answers to questions of a higher number."""
        if not self.question.values or self.question.values[-1] <= number:
            return self
        return self.subset(np.array(self.question.values)[self.question.codes] <= number)

    def without_question(self, number: int) -> "Answers":
        """Drop the answers to one question."""
        numbers = np.array([*self.question.values, number])
        return self.subset(numbers[self.question.codes] != number)


# ``Answers.own`` is sorted by the rankings' groups of tied lists.
by_groups = attrgetter("groups")


def _batch_of(
    responses: Sequence[Response], codes: Mapping[str, Codes[object]]
) -> dict[str, NDArray[np.number]]:
    """Return the columns of some responses, by their names in ``Answers``."""
    seconds = [math.nan if each.seconds is None else each.seconds for each in responses]
    return {
        **{name: each.encode(map(attrgetter(name), responses)) for name, each in codes.items()},
        "clicked": np.array([_bits(each.clicked) for each in responses], dtype=np.uint8),
        "asked": np.array(
            [(None, *ASKED_REASONS).index(each.asked) + TYPED * each.typed for each in responses],
            dtype=np.uint8,
        ),
        "seconds": np.array(seconds, dtype=np.float64),
    }


def _by_participant(
    names: NDArray[np.str_], counts: NDArray[np.int64]
) -> tuple[NDArray[np.str_], NDArray[np.int64], NDArray[np.int64] | slice]:
    """Return the participants, their numbers of answers, and the rows sorted by participant.

    Participants keep the order in which they first occur. ``names``: the participant of each
    stretch of consecutive answers; ``counts``: the number of answers in it.
    """
    begins = np.ones(len(names), dtype=bool)
    begins[1:] = names[1:] != names[:-1]  # False where a batch cut a participant's answers in two
    if not begins.all():
        names, counts = names[begins], sum_by_participant(counts, np.flatnonzero(begins))
    if (names[:-1] < names[1:]).all():  # files are mostly sorted by participant
        return names, counts, slice(None)
    _, first, same = np.unique(names, return_index=True, return_inverse=True)
    people = np.argsort(np.argsort(first))[same]  # numbered by first occurrence, not by name
    rows = np.argsort(np.repeat(people, counts), kind="stable")
    totals = np.bincount(people, weights=counts, minlength=len(first)).astype(np.int64)
    return names[np.sort(first)], totals, rows


def _bits(labels: frozenset[int]) -> int:
    return sum(1 << (label - 1) for label in labels)


@cache
def labels_of(clicked: int) -> frozenset[int]:
    """Return the labels of an entry of ``Answers.clicked``."""
    return frozenset(label for label in range(1, 9) if clicked >> (label - 1) & 1)


def first_rows(answer_counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the row of each participant's first answer, from their numbers of answers."""
    first: NDArray[np.int64] = np.cumsum(answer_counts, dtype=np.int64) - answer_counts
    return first


def sum_by_participant(
    values: NDArray[np.number | np.bool], first_answer: NDArray[np.int64]
) -> NDArray[Any]:
    """Add up the answers' values within each participant; whole numbers stay whole."""
    dtype = np.float64 if values.dtype.kind == "f" else np.int64
    if not len(first_answer):
        return np.zeros(0, dtype=dtype)
    sums: NDArray[np.int64 | np.float64] = np.add.reduceat(values, first_answer, dtype=dtype)
    return sums


def blocks(length: int) -> Iterator[slice]:
    """Yield slices that cut a column of this length into blocks.

    numpy copies indices and counted values to eight bytes each; the copy of a block stays small.
    """
    return (
        slice(start, min(start + ENTRIES_AT_ONCE, length))
        for start in range(0, length, ENTRIES_AT_ONCE)
    )


def looked_up(table: NDArray[Any], *codes: NDArray[np.integer]) -> NDArray[Any]:
    """Return ``table[codes]``, block by block; ``codes``: a column for each axis of the table."""
    entries = np.empty(len(codes[0]), dtype=table.dtype)
    for block in blocks(len(entries)):
        of_block = tuple(column[block] for column in codes)
        if len(codes) == 1:  # takes half the time; "wrap" reads −1 as the last entry, as [] does
            table.take(of_block[0], out=entries[block], mode="wrap")
        else:
            entries[block] = table[of_block]
    return entries


def tallied(codes: NDArray[np.integer], length: int) -> NDArray[np.int64]:
    """Count how often each code from 0 to ``length`` - 1 occurs, block by block."""
    counts = np.zeros(length, dtype=np.int64)
    for block in blocks(len(codes)):
        counts += np.bincount(codes[block], minlength=length)
    return counts


def distinct_keys(
    keys: NDArray[np.integer], space: int
) -> tuple[NDArray[np.int64], NDArray[np.signedinteger]]:
    """Return the distinct keys, sorted, and the index among them of each key.

    Keys are whole numbers from 0 to ``space`` - 1. As np.unique, but where the space is not
    much larger than the number of keys it marks which occur instead of sorting: a tenth
    of the time for ten million.
    """
    if space > max(4 * len(keys), 100_000):
        unique, index = np.unique(keys, return_inverse=True)
        return unique.astype(np.int64), index.astype(smallest_integer_type(len(unique)))
    occurs = np.zeros(space, dtype=bool)
    for block in blocks(len(keys)):
        occurs[keys[block]] = True
    unique = np.flatnonzero(occurs)
    numbers = np.zeros(space, dtype=smallest_integer_type(len(unique)))
    numbers[unique] = np.arange(len(unique))
    return unique, looked_up(numbers, keys)


@dataclass(frozen=True)
class People:
    """Participants in columns, an entry each, sorted by ``ids``.

    ``minutes``: from "Begin" to "Hand in", NaN for those who have not finished; ``personal``:
    their answers about themselves and to closing questions, by field; ``misunderstood``: whether
    their first answer to the check question was wrong; ``arm``: unknown where the study has no
    arms.
    """

    ids: NDArray[np.str_]
    is_test: NDArray[np.bool_]
    excluded: NDArray[np.bool_]
    complete: NDArray[np.bool_]
    minutes: NDArray[np.float64]
    personal: Coded[Mapping[str, FieldAnswer]]
    misunderstood: NDArray[np.bool_]
    arm: Coded[str]

    def __len__(self) -> int:
        return len(self.ids)

    def subset(self, rows: NDArray[np.int64]) -> "People":
        """Keep some participants, by their indices."""
        return People(**{name: column[rows] for name, column in vars(self).items()})

    def index_of(self, ids: NDArray[np.str_]) -> NDArray[np.int64]:
        """Look up the participants with these ids; −1 for an unknown id."""
        if not len(self):
            return np.full(len(ids), -1)
        if np.array_equal(self.ids, ids):  # mostly, and looking up a million takes half a second
            return np.arange(len(ids))
        index = np.minimum(np.searchsorted(self.ids, ids), len(self) - 1)
        return np.where(self.ids[index] == ids, index, -1)

    def personal_answers(self, field: str) -> list[Any]:
        """Return the answers to a personal field, of those participants who answered it."""
        answers = [personal.get(field) for personal in self.personal.values]
        answered = [field in personal for personal in self.personal.values]
        return [answers[code] for code in self.personal.codes.tolist() if answered[code]]


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n − 1) of ``n`` values; None where undefined.

    ``why``: the reason that one of them is undefined, else None.
    """

    n: int
    mean: float | None
    sd: float | None
    why: str | None


@dataclass(frozen=True)
class Table3:
    """The paper's Table 3: participants, their personal fields, and minutes taken.

    ``numbers``: fields with a number (age) or a scale → spread; ``counts``: choice fields
    (education) → option → participants; closing questions are among both. ``minutes``: server
    time from "Begin" to "Hand in", of those who finished.
    """

    participants: int
    completed: int
    questions_per_participant: int
    numbers: Mapping[str, Spread]
    counts: Mapping[str, Mapping[str, int]]
    minutes: Spread


def spread(values: Sequence[float] | NDArray[np.float64]) -> Spread:
    """Summarise values, NaN left out; a mean needs one value, a standard deviation two."""
    # Equal to statistics.fmean and stdev to the last digit, but fractions are added up for each
    # distinct value only: there may be a million values.
    numbers = np.array(values, dtype=np.float64)
    distinct, tallies = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    counts = dict(zip(map(Fraction, distinct.tolist()), tallies.tolist(), strict=True))
    n = sum(counts.values())
    total = sum((value * count for value, count in counts.items()), Fraction())
    squares = sum((value**2 * count for value, count in counts.items()), Fraction())
    return Spread(
        n=n,
        mean=float(total) / n if n else None,
        sd=_square_root((squares - total**2 / n) / (n - 1)) if n > 1 else None,
        why=None if n > 1 else "a mean needs one value, a standard deviation two",
    )


def _square_root(fraction: Fraction) -> float:
    with localcontext(prec=60):
        return float((Decimal(fraction.numerator) / fraction.denominator).sqrt())


def option_counts(answers: Sequence[str], options: Sequence[str]) -> dict[str, int]:
    """Count answers to a choice field, options in the study's order, none left out."""
    counted = Counter(answers)
    return {option: counted[option] for option in options}
