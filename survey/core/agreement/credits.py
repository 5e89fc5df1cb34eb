"""The distinct ballots of a study: what was ticked or ordered, how often, and by whom.

What an answer says is its question with the measures behind the ticked labels, or with an
order of one's own. Ten million answers to ten questions are some thousand such ballots, so
credits, orders and their agreement are found once for each.

From clicks on labels to credits for measures.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, begins_of, by_participant, distinct
from survey.core.studies.rankings import Ranking

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


# Every share of a split vote among 2 to 6 measures is a multiple of 1/60.
SHARES_OF_A_VOTE = 60


@dataclass(frozen=True)
class Credits:
    """Which measures each of a study's K ballots credits.

    ``credited``: bool (K, measures); ``weight``: float (K,), what each credit of a ballot
    counts; ``counted``: bool (K,), whether it is counted; ``shared``: what became of votes
    that credit several measures, which redrawn labels have to do likewise.
    """

    ballots: Ballots
    credited: NDArray[np.bool_]
    weight: NDArray[np.float64]
    counted: NDArray[np.bool_]
    shared: Literal["kept", "split", "dropped"] = "kept"

    def __len__(self) -> int:
        """How many responses are counted."""
        return int(self.times.sum())

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.ballots.measures

    @property
    def questions(self) -> NDArray[np.int64]:
        """The questions of the ballots, (K,)."""
        return self.ballots.questions

    @property
    def other(self) -> NDArray[np.bool_]:
        """Which ballots are custom rankings, (K,)."""
        return self.ballots.custom

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """How many counted responses each ballot is, (K,)."""
        return self.ballots.times * self.counted

    @property
    def votes(self) -> NDArray[np.float64]:
        """Credits times their weight, shape (K, measures)."""
        weighed: NDArray[np.float64] = self.credited * self.weight[:, np.newaxis]
        return weighed

    @cached_property
    def answered(self) -> NDArray[np.int64]:
        """How many counted responses each participant gave."""
        if self.counted.all():
            return self.ballots.given
        answered: NDArray[np.int64] = self.ballots.by_participant(self.counted)
        return answered

    def sums(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Add up values (K,) in sixtieths over each participant's counted responses."""
        sums: NDArray[np.int64] = self.ballots.by_participant(in_sixtieths(values) * self.counted)
        return sums

    def within(self, chosen: NDArray[np.bool_]) -> "Credits":
        """Count some of the ballots only, a mask over them."""
        return replace(self, counted=self.counted & chosen)

    def split(self) -> "Credits":
        """Return one vote for each response, shared equally among the measures credited."""
        weight = 1 / np.maximum(self.credited.sum(axis=1), 1)
        return replace(self, weight=weight, shared="split")

    def single(self) -> "Credits":
        """Return the responses that credit one measure or none, without the shared votes."""
        return replace(self.within(self.credited.sum(axis=1) < 2), shared="dropped")


def in_sixtieths(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return votes, or differences of votes, as whole numbers of sixtieths."""
    sixtieths: NDArray[np.int64] = np.rint(values * SHARES_OF_A_VOTE).astype(np.int64)
    return sixtieths


def credited_measures(
    label_order: Sequence[str], clicked: Collection[int], rankings: Mapping[str, Ranking]
) -> frozenset[str]:
    """Return the measures whose order equals that of a clicked column.

    A vote for either of two identical orders counts for both. Labels are read
    through this response's own ``label_order`` and never through another's. With
    nothing clicked (a custom ranking, even one that equals an offered order) no
    measure is credited.
    """
    approved = {rankings[label_order[label - 1]] for label in clicked}
    return frozenset(measure for measure in label_order if rankings[measure] in approved)


def chance_credits(
    rankings: Mapping[int, Mapping[str, Ranking]], measures: Sequence[str]
) -> dict[str, float]:
    """Return how often each measure is credited per response when one column is clicked blindly.

    1 / (number of measures) where all orders differ; a measure that shares its order
    with another is credited for the other's clicks too, so identical orders give it an
    advantage that has nothing to do with agreement. ``rankings``: question → measure
    → order. In [0, 1]; the null mean of the label-permutation test for single clicks.
    """
    label_order = tuple(measures)
    blind = [
        credited_measures(label_order, [label], orders)
        for orders in rankings.values()
        for label in range(1, len(label_order) + 1)
    ]
    return {name: sum(name in credited for credited in blind) / len(blind) for name in measures}


def tally_credits(ballots: Ballots) -> Credits:
    """Credit every ballot: ticked measures are as good as clicked labels in their own order."""
    measures = ballots.measures
    credited = np.zeros(ballots.ticked.shape, dtype=bool)
    for row, question, ticked in zip(
        credited, ballots.questions.tolist(), ballots.ticked, strict=True
    ):
        labels = (np.flatnonzero(ticked) + 1).tolist()
        found = credited_measures(measures, labels, ballots.rankings[question])
        row[:] = [name in found for name in measures]
    every = np.ones(len(ballots), dtype=bool)
    return Credits(ballots, credited, weight=np.ones(len(ballots)), counted=every)
