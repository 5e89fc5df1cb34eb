"""How far participants' orders agree with the measures', and with one another's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import NOBODY
from survey.core.agreement.orders import Compare, Held, HeldInQuestion
from survey.core.statistics.rank_correlation import signs
from survey.core.statistics.results import DESCRIPTIVE, T1, Statistic, without_zeros

CUSTOM_ONLY = "responses that tick a column"
UNDEFINED = "responses in which a side is all tied"


@dataclass(frozen=True, kw_only=True)
class MeanAgreement(Statistic):
    """Mean agreement of responses with each measure, and how often it was undefined.

    ``means``: measure → mean over the responses where it is defined, or None;
    ``undefined``: measure → responses left out because one side ties all lists.
    """

    means: Mapping[str, float | None]
    undefined: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class HumanRates(Statistic):
    """The human ceiling: how well one participant's orders predict the others'.

    Each participant's rate is the mean, over their responses and over the other
    participants who answered that question, of the agreement rate of the two orders.
    """

    best: float | None = None
    median: float | None = None
    worst: float | None = None


@dataclass(frozen=True, kw_only=True)
class Friedman(Statistic):
    """Friedman's test over participants (blocks) and measures; ``w`` = chi2/(n(k - 1))."""

    chi2: float | None = None
    df: int | None = None
    p: float | None = None
    w: float | None = None


def mean_agreement(held: Held, compare: Compare, *, custom_only: bool = False) -> MeanAgreement:
    """Average an agreement over responses."""
    ballots, values = held.ballots, held.against_measures(compare)
    times = ballots.times * ballots.custom if custom_only else ballots.times
    n, undefined = int(times.sum()), times @ np.isnan(values)
    sums = times @ np.nan_to_num(values)
    means = [
        float(total / known) if known else None
        for total, known in zip(sums, n - undefined, strict=True)
    ]
    return MeanAgreement(
        estimand=T1,
        n=n,
        unit="responses",
        left_out=without_zeros({CUSTOM_ONLY: int(ballots.times.sum()) - n}),
        means=dict(zip(held.measures, means, strict=True)),
        undefined=dict(zip(held.measures, undefined.tolist(), strict=True)),
        why=_why_no_mean(means, n, custom_only),
    )


def means_of_participants(held: Held, compare: Compare) -> NDArray[np.float64]:
    """Average an agreement over each participant's responses where it is defined.

    Returns (participants, measures), NaN where it is defined in none.
    """
    columns = held.against_measures(compare).T
    add_up = held.ballots.by_participant
    with np.errstate(invalid="ignore"):
        means = [add_up(np.nan_to_num(one)) / add_up(~np.isnan(one)) for one in columns]
    stacked: NDArray[np.float64] = np.column_stack(means)
    return stacked


def _why_no_mean(means: list[Any], responses: int, custom_only: bool) -> str | None:
    if None not in means:
        return None
    if not responses:
        return "no response is a custom ranking" if custom_only else NOBODY
    return "a side ties all lists in every response"


def human_rates(held: Held, credit: NDArray[np.float64]) -> HumanRates:
    """Compare participants with one another, leaving each one's own order out.

    ``credit``: of the agreement rate, STRICT or HALF.
    """
    ballots = held.ballots
    rates = np.zeros(len(ballots))
    compared = np.zeros(len(ballots), dtype=bool)
    for here in held.answered():
        if here.times.sum() > 1:
            rates[here.ballots] = _with_others(here, credit)
            compared[here.ballots] = True
    answers = ballots.by_participant(compared)
    each = ballots.by_participant(rates)[answers > 0] / answers[answers > 0]
    return HumanRates(
        estimand=T1,
        n=len(each),
        unit="participants",
        left_out=without_zeros(
            {"participants whose questions nobody else answered": len(answers) - len(each)}
        ),
        best=float(each.max()) if len(each) else None,
        median=float(np.median(each)) if len(each) else None,
        worst=float(each.min()) if len(each) else None,
        why=None if len(each) else "no question was answered by two participants",
    )


def _with_others(here: HeldInQuestion, credit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each order the mean agreement of one holder with all the other participants.

    Pair by pair of lists it depends only on how many put the pair which way.
    """
    mine = signs(here.orders) + 1
    counts = np.array([here.times @ (mine == sign) for sign in range(3)])
    of_pairs = (credit @ counts)[mine, np.arange(mine.shape[1])]
    # Everyone agrees with themselves.
    rates: NDArray[np.float64] = (of_pairs.mean(axis=1) - 1) / (here.times.sum() - 1)
    return rates


def friedman(table: NDArray[Any], left_out: Mapping[str, int]) -> Friedman:
    """Test whether participants rank the measures alike; ``table``: (participants, measures).

    χ² = (k - 1) Σ(R - n(k + 1)/2)² / (Σr² - nk(k + 1)²/4), with n participants, k
    measures, midranks r and their sums R: tie-corrected, and defined for two measures,
    which scipy's friedmanchisquare refuses.
    """
    people, measures = table.shape
    frame: dict[str, Any] = {
        "estimand": T1,
        "n": people,
        "unit": "participants",
        "left_out": without_zeros(left_out),
    }
    if people < 2:
        return Friedman(**frame, why="it needs two participants whose answers are complete")
    if not np.ptp(table, axis=1).any():
        return Friedman(**frame, why="every participant ties all measures")
    ranks = scipy.stats.rankdata(table, axis=1)
    level = (measures + 1) / 2
    between = float(((ranks.sum(axis=0) - people * level) ** 2).sum())
    within = float((ranks**2).sum() - people * measures * level**2)
    chi2 = (measures - 1) * between / within
    return Friedman(
        **frame,
        chi2=chi2,
        df=measures - 1,
        p=float(scipy.stats.chi2.sf(chi2, measures - 1)),
        w=chi2 / (people * (measures - 1)),
    )


def friedman_of_credits(credits: Credits, asked: int) -> Friedman:
    """Friedman's test on the credits of the participants who answered every question."""
    answered = credits.answered[credits.answered > 0]
    # Whole sixtieths: sums of shared votes that are equal tie.
    sums = np.column_stack([credits.sums(votes) for votes in credits.votes.T])
    complete = answered == asked
    return friedman(
        sums[credits.answered > 0][complete],
        {"incomplete participants": int((~complete).sum())},
    )


def friedman_of_agreement(held: Held, means: NDArray[np.float64], asked: int) -> Friedman:
    """Friedman's test on the mean agreement of the participants who answered every question.

    ``means``: (participants, measures), of ``means_of_participants``. Descriptive: a measure
    whose order is like another's agrees better with whatever is ticked, so two thirds of
    blind clicks are "significant" (benchmarks/calibration.md).
    """
    complete, defined = held.ballots.given == asked, ~np.isnan(means).any(axis=1)
    found = friedman(
        np.round(means[complete & defined], 12),  # means that are equal must tie
        {
            "incomplete participants": int((~complete).sum()),
            "participants without a defined mean": int((complete & ~defined).sum()),
        },
    )
    return replace(found, estimand=DESCRIPTIVE)
