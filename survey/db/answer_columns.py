"""Columns of answers, put together from the pieces in which a database gives them."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, Coded, begins_of, by_groups, narrowest
from survey.core.stimuli.rankings import Ranking

Value = TypeVar("Value", bound=Hashable)


class Numbered(dict[Any, int]):
    """Numbers texts in the order in which they come."""

    def __missing__(self, text: Any) -> int:
        number = self[text] = len(self)
        return number

    def of(self, texts: Sequence[Any]) -> NDArray[np.int32]:
        """Return the numbers of these."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))


class AnswerColumns:
    """Answers as they come, those of a participant one after another; ``numbers``: of questions."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._questions = np.array(sorted(numbers, key=lambda row: numbers[row]), dtype=np.int64)
        self._numbers = tuple(sorted(numbers.values()))
        self._texts = (Numbered(), Numbered(), Numbered())
        self._columns: tuple[list[NDArray[Any]], ...] = tuple([] for _ in range(8))
        self.add([], [], [], [], [], [], [], [])

    def add(self, participants: Any, questions: Any, *columns: Any) -> None:
        """Add answers: position, clicked, seconds, label order, column order, own ranking."""
        positions, clicked, seconds, *texts = columns
        made: tuple[NDArray[Any], ...] = (
            np.array(participants, dtype=np.int64),
            self._codes(np.array(questions, dtype=np.int64)),
            np.array(positions, dtype=np.int32),
            np.array(clicked, dtype=np.uint8),
            np.array(seconds, dtype=np.float64),
            *(known.of(one) for known, one in zip(self._texts, texts, strict=True)),
        )
        for pieces, column in zip(self._columns, made, strict=True):
            pieces.append(column)

    def _codes(self, questions: NDArray[np.int64]) -> NDArray[np.int16]:
        by_row = np.argsort(self._questions)
        found = np.searchsorted(self._questions, questions, sorter=by_row)
        return by_row[found].astype(np.int16)

    def answers(self, rows: NDArray[np.int64], ids: NDArray[np.str_]) -> Answers:
        """Return all that were added, of known participants, by their ids; call it once.

        ``rows``: the numbers of the participants' rows, in the order of ``ids``.
        """
        participants, *columns = (np.concatenate(pieces) for pieces in self._columns)
        first = np.flatnonzero(np.diff(participants, prepend=-1))
        people, places = np.intersect1d(
            rows, participants[first], assume_unique=True, return_indices=True
        )[1:]
        by_id = np.argsort(people)
        people, places = people[by_id], places[by_id]
        given = np.diff(first, append=len(participants))[places]
        begins = begins_of(given)
        moved = np.repeat(first[places] - begins, given) + np.arange(given.sum())
        moved = _by_question(moved, columns[0], np.repeat(np.arange(len(given)), given))
        question, position, clicked, seconds, *texts = (column[moved] for column in columns)
        labels, orders, owns = self._texts
        return Answers(
            people=ids[people],
            begins=begins,
            question=Coded(self._numbers, question),
            label_order=_decoded(labels, texts[0], tuple).in_order(),
            clicked=clicked,
            own=_decoded(owns, texts[2], Ranking.by_key).in_order(by_groups),
            column_order=_decoded(orders, texts[1], tuple).in_order(),
            position=Coded(tuple(range(int(position.max(initial=0)) + 1)), position),
            seconds=seconds,
        )


def _by_question(
    rows: NDArray[np.int64], questions: NDArray[np.int16], people: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Put each participant's answers in order; mostly they are, and sorting takes seconds."""
    here = questions[rows]
    if np.all((np.diff(here) > 0) | (np.diff(people) > 0)):
        return rows
    return rows[np.lexsort((here, people))]


def _decoded(
    known: Numbered, codes: NDArray[np.int32], read: Callable[[Any], Value]
) -> Coded[Value]:
    """Return what the texts say; None is none."""
    texts = [text for text in known if text is not None]
    table = np.full(len(known), -1, dtype=narrowest(len(texts)))
    table[[known[text] for text in texts]] = np.arange(len(texts))
    return Coded(tuple(read(json.loads(text)) for text in texts), table[codes])
