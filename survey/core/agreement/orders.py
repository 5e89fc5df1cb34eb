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
from functools import cache, partial

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from survey.core.agreement.ballots import Ballots
from survey.core.stimuli.rankings import Ranking

Midranks = NDArray[np.float64]
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


def signs(midranks: ArrayLike) -> NDArray[np.int8]:
    """Return for each pair of lists which stands first: 1, −1, or 0 where they tie."""
    ranks = np.asarray(midranks, dtype=np.float64)
    one, other = _pairs(ranks.shape[-1])
    return np.sign(ranks[..., other] - ranks[..., one]).astype(np.int8)


@cache
def _pairs(lists: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.triu_indices(lists, 1)


def tau_b(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    """Kendall's tau-b in [-1, 1]; NaN where a side is all tied.

    Σ s t / sqrt(Σ s² Σ t²) over the pairs of lists, with the signs s, t of the two
    orders (Kendall 1945). scipy's kendalltau computes a p value as well, which fails for
    two lists and means nothing at five.
    """
    return _cosine(signs(one).astype(np.float64), signs(other).astype(np.float64))


def spearman(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    """Spearman's rho on midranks, in [-1, 1]; NaN where a side is all tied."""
    mine, theirs = (np.asarray(side, dtype=np.float64) for side in (one, other))
    middle = (mine.shape[-1] + 1) / 2  # the mean of any midranks
    return _cosine(mine - middle, theirs - middle)


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ x y / sqrt(Σ x² Σ y²) over the last axis, NaN where a side is all zero."""
    with np.errstate(invalid="ignore"):
        cosine: NDArray[np.float64] = (one * other).sum(axis=-1) / np.sqrt(
            (one**2).sum(axis=-1) * (other**2).sum(axis=-1)
        )
    return cosine


def agreement_rate(
    one: ArrayLike, other: ArrayLike, credit: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean credit of the list pairs, in [0, 1]; ``credit``: STRICT or HALF.

    Strict counts a pair that both sides order alike, a tie agreeing with a tie; HALF gives
    1/2 for a pair that exactly one side ties besides.
    """
    rate: NDArray[np.float64] = credit[signs(one) + 1, signs(other) + 1].mean(axis=-1)
    return rate


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
