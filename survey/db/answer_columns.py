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
    """Answers as they come, those of a participant in one piece; ``numbers``: of questions."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._questions = np.array(sorted(numbers, key=lambda row: numbers[row]), dtype=np.int64)
        self._numbers = tuple(sorted(numbers.values()))
        self._texts = (Numbered(), Numbered(), Numbered())
        self._who: list[NDArray[np.int64]] = []
        self._given: list[NDArray[np.int64]] = []
        self._columns: tuple[list[NDArray[Any]], ...] = tuple([] for _ in range(7))
        self.add([], [], [], [], [], [], [], [])

    def add(self, participants: Any, questions: Any, *columns: Any) -> None:
        """Add answers: position, clicked, seconds, label order, column order, own ranking."""
        positions, clicked, seconds, *texts = columns
        who = np.array(participants, dtype=np.int64)
        first = np.flatnonzero(np.diff(who, prepend=-1))
        given = np.diff(first, append=len(who))
        codes = self._codes(np.array(questions, dtype=np.int64))
        # By question, however the database has them.
        rows = np.lexsort((codes, np.repeat(np.arange(len(first)), given)))
        self._who.append(who[first])
        self._given.append(given)
        made: tuple[NDArray[Any], ...] = (
            codes,
            np.array(positions, dtype=np.int32),
            np.array(clicked, dtype=np.uint8),
            np.array(seconds, dtype=np.float64),
            *(known.of(one) for known, one in zip(self._texts, texts, strict=True)),
        )
        for pieces, column in zip(self._columns, made, strict=True):
            pieces.append(column[rows])

    def _codes(self, questions: NDArray[np.int64]) -> NDArray[np.int16]:
        by_row = np.argsort(self._questions)
        found = np.searchsorted(self._questions, questions, sorter=by_row)
        return by_row[found].astype(np.int16)

    def answers(self, rows: NDArray[np.int64], ids: NDArray[np.str_]) -> Answers:
        """Return all that were added, of known participants, by their ids; call it once.

        ``rows``: the numbers of the participants' rows, in the order of ``ids``.
        """
        who, given = np.concatenate(self._who), np.concatenate(self._given)
        there, places = np.intersect1d(rows, who, assume_unique=True, return_indices=True)[1:]
        by_id = np.argsort(there)
        people, places = there[by_id], places[by_id]
        begins = begins_of(given[places])
        moved = np.repeat(begins_of(given)[places] - begins, given[places])
        moved += np.arange(len(moved))
        question, position, clicked, seconds, *texts = (
            np.concatenate(pieces)[moved] for pieces in self._columns
        )
        labels, columns, owns = self._texts
        return Answers(
            people=ids[people],
            begins=begins,
            question=Coded(self._numbers, question),
            label_order=_decoded(labels, texts[0], tuple).in_order(),
            clicked=clicked,
            own=_decoded(owns, texts[2], Ranking.by_key).in_order(by_groups),
            column_order=_decoded(columns, texts[1], tuple).in_order(),
            position=Coded(tuple(range(int(position.max(initial=0)) + 1)), position),
            seconds=seconds,
        )


def _decoded(
    known: Numbered, codes: NDArray[np.int32], read: Callable[[Any], Value]
) -> Coded[Value]:
    """Return what the texts say; None is none."""
    texts = [text for text in known if text is not None]
    table = np.full(len(known), -1, dtype=narrowest(len(texts)))
    table[[known[text] for text in texts]] = np.arange(len(texts))
    return Coded(tuple(read(json.loads(text)) for text in texts), table[codes])
