"""The order of the lists that a participant holds, and how far each measure agrees with it.

A custom ranking is held as it is. Whoever ticks columns holds the mean of the distinct
ticked orders' midranks, ranked again. Agreement is Kendall's tau-b, Spearman's rho and
the agreement rate over the pairs of lists (Sakai & Zeng 2021). A ticked order has tau 1
with itself by construction, so custom rankings are also given alone.

Orders are midranks of the lists in alphabetical order, (…, lists): A=B>C is 1.5, 1.5, 3.
What compares two of them compares arrays of them, as numpy broadcasts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.credits import Ballots
from survey.core.statistics.rank_correlation import Midranks, agreement_rate
from survey.core.studies.rankings import Ranking

Compare = Callable[[Midranks, Midranks], NDArray[np.float64]]

# What a pair of lists counts for the agreement rate, by the signs −1, 0, 1 of the two orders.
STRICT = np.eye(3)
HALF = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])


def midranks_of(ranking: Ranking) -> Midranks:
    """Return the midranks of a ranking's lists, (lists,)."""
    return np.array(list(ranking.midranks.values()))


def joined(approved: Sequence[Ranking]) -> Midranks:
    """Return the mean of distinct orders' midranks, ranked again with average ranks."""
    if len(approved) == 1:
        return midranks_of(approved[0])
    # Sums, not means: equal sums of halves are equal exactly.
    ranked: Midranks = scipy.stats.rankdata(np.sum([midranks_of(one) for one in approved], axis=0))
    return ranked


agreement_strict = partial(agreement_rate, credit=STRICT)
agreement_half = partial(agreement_rate, credit=HALF)


@dataclass(frozen=True)
class HeldInQuestion:
    """The distinct orders held in a question, and the measures' beside them.

    ``ballots``: their places among the study's; ``orders``: (ballots, lists); ``times``: in
    how many answers; ``offered``: (measures, lists).
    """

    ballots: NDArray[np.int64]
    orders: Midranks
    times: NDArray[np.int64]
    offered: Midranks


@dataclass(frozen=True)
class Held:
    """The orders held in a study's ballots; every question is there, answered or not."""

    ballots: Ballots
    questions: Mapping[int, HeldInQuestion]

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the columns of ``against_measures``."""
        return self.ballots.measures

    def against_measures(self, compare: Compare) -> NDArray[np.float64]:
        """Compare each ballot's order with each measure's, shape (K, measures)."""
        values = np.full((len(self.ballots), len(self.measures)), np.nan)
        for here in self.answered():
            values[here.ballots] = compare(here.orders[:, np.newaxis], here.offered)
        return values

    def answered(self) -> Iterator[HeldInQuestion]:
        """Give the questions that somebody answered."""
        return (here for here in self.questions.values() if len(here.ballots))


def hold(ballots: Ballots) -> Held:
    """Read the order held in each ballot."""
    return Held(
        ballots,
        {number: _in_question(ballots, number) for number in sorted(ballots.rankings)},
    )


def _in_question(ballots: Ballots, number: int) -> HeldInQuestion:
    orders = ballots.rankings[number]
    offered = np.array([midranks_of(orders[name]) for name in ballots.measures])
    here = np.flatnonzero(ballots.questions == number)
    held = np.array([_held(ballots, place, orders) for place in here.tolist()])
    return HeldInQuestion(here, held.reshape(-1, offered.shape[1]), ballots.times[here], offered)


def _held(ballots: Ballots, place: int, orders: Mapping[str, Ranking]) -> Midranks:
    own = ballots.owns[place]
    if own is not None:
        return midranks_of(own)
    ticked = zip(ballots.measures, ballots.ticked[place].tolist(), strict=True)
    return joined(list(dict.fromkeys(orders[name] for name, there in ticked if there)))
