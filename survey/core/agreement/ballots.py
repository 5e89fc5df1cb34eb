"""The distinct ballots of a study: what was ticked or ordered, how often, and by whom.

What an answer says is its question with the measures behind the ticked labels, or with an
order of one's own. Ten million answers to ten questions are some thousand such ballots, so
credits, orders and their agreement are found once for each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, begins_of, by_participant, distinct
from survey.core.stimuli.rankings import Ranking

Rankings = Mapping[int, Mapping[str, Ranking]]


@dataclass(frozen=True)
class Ballots:
    """The K distinct ballots of a study, and which of them each answer is.

    ``rankings``: question → measure → order. For each ballot its ``questions`` (K,), the
    measures ``ticked`` (K, measures), or its ``owns``, a custom ranking, else None.
    ``kinds``: for each answer the place of its ballot; ``begins``: for each participant the
    place of the first answer. ``times`` (K,): how many answers it is.
    """

    measures: tuple[str, ...]
    rankings: Rankings
    questions: NDArray[np.int64]
    ticked: NDArray[np.bool_]
    owns: tuple[Ranking | None, ...]
    kinds: NDArray[np.int32]
    begins: NDArray[np.int64]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Answers, rankings: Rankings, measures: Sequence[str]) -> "Ballots":
        """Find the distinct ballots.

        Raises ValueError for an answer to a question that has no rankings, or shown
        with other measures than the study's.
        """
        _require_of_the_study(answers, rankings, measures)
        subsets, owns = 1 << len(measures), answers.own.values
        said = _behind(answers, measures)[answers.label_order.codes, answers.clicked]
        said = np.where(answers.own.known, subsets + answers.own.codes.astype(np.int32), said)
        width = subsets + len(owns)
        space = width * len(answers.question.values)
        keys = answers.question.codes.astype(np.int64 if space > 2**31 else np.int32) * width + said
        found, kinds = distinct(keys, space)
        which = found % width
        return cls(
            measures=tuple(measures),
            rankings=rankings,
            questions=np.array(answers.question.values, dtype=np.int64)[found // width],
            ticked=(which[:, np.newaxis] >> np.arange(len(measures)) & 1).astype(bool)
            & (which < subsets)[:, np.newaxis],
            owns=tuple(owns[one - subsets] if one >= subsets else None for one in which.tolist()),
            kinds=kinds,
            begins=answers.begins,
            times=np.bincount(kinds, minlength=len(found)),
        )

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def custom(self) -> NDArray[np.bool_]:
        """Which ballots are custom rankings, (K,)."""
        return np.array([own is not None for own in self.owns], dtype=bool)

    @property
    def clicks(self) -> NDArray[np.int64]:
        """How many columns were ticked, (K,)."""
        clicks: NDArray[np.int64] = self.ticked.sum(axis=1)
        return clicks

    @cached_property
    def given(self) -> NDArray[np.int64]:
        """How many answers each participant gave."""
        return np.diff(self.begins, append=len(self.kinds))

    def by_participant(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up values of ballots, (K,), over each participant's answers."""
        return by_participant(values[self.kinds], self.begins)

    def of_people(self, chosen: NDArray[np.bool_]) -> "Ballots":
        """Return the ballots of some of the participants, a mask over them."""
        kinds = self.kinds[np.repeat(chosen, self.given)]
        times = np.bincount(kinds, minlength=len(self))
        return replace(self, kinds=kinds, begins=begins_of(self.given[chosen]), times=times)


def _behind(answers: Answers, measures: Sequence[str]) -> NDArray[np.int32]:
    """Return the measures behind each set of labels of each order: bits by bits."""
    sets = np.arange(1 << len(measures))
    behind = np.zeros((len(answers.label_order.values), len(sets)), dtype=np.int32)
    for row, label_order in zip(behind, answers.label_order.values, strict=True):
        for label, name in enumerate(label_order):
            row += (sets >> label & 1) << measures.index(name)
    return behind


def _require_of_the_study(answers: Answers, rankings: Rankings, measures: Sequence[str]) -> None:
    known = np.array([question in rankings for question in answers.question.values], dtype=bool)
    orders = [sorted(one) == sorted(measures) for one in answers.label_order.values]
    shown = np.array(orders, dtype=bool)
    if known.all() and shown.all():
        return
    codes, labels = answers.question.codes, answers.label_order.codes
    fits = known[codes] & shown[labels]
    if fits.all():
        return
    row = int(np.argmin(fits))
    participant, question = answers.participant_of(row), answers.question.values[codes[row]]
    if question not in rankings:
        raise ValueError(
            f"participant {participant} answered question {question}, which the study does not have"
        )
    raise ValueError(
        f"participant {participant}, question {question}: shown were "
        f"{' '.join(answers.label_order.values[labels[row]])}; the study compares "
        f"{' '.join(measures)}"
    )
