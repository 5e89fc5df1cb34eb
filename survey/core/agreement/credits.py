"""From clicks on labels to credits for measures."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.ballots import Ballots
from survey.core.stimuli.rankings import Ranking

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
