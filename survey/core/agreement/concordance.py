"""How far participants' orders agree with the measures', and with one another's."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import NOBODY
from survey.core.agreement.orders import Compare, Held, Midranks
from survey.core.agreement.results import DESCRIPTIVE, T1, Statistic, without_zeros

CUSTOM_ONLY = "responses that tick a column"
UNDEFINED = "responses in which a side is all tied"


@dataclass(frozen=True, kw_only=True)
class MeanAgreement(Statistic):
    """Mean agreement of responses with each measure, and how often it was undefined.

    ``means``: measure → mean over the responses where it is defined, or None;
    ``undefined``: measure → responses left out because one side ties all lists;
    ``by_participant``: participant → one mean per measure (NaN where undefined).
    """

    means: Mapping[str, float | None]
    undefined: Mapping[str, int]
    by_participant: Mapping[str, tuple[float, ...]]


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
    """Average an agreement over responses, and over each participant's responses."""
    values = held.against_measures(compare)
    chosen = np.array(held.custom, dtype=bool) if custom_only else np.ones(len(values), dtype=bool)
    values, people = values[chosen], np.array(held.participants, dtype=str)[chosen]
    means = [_mean(column) for column in values.T]
    return MeanAgreement(
        estimand=T1,
        n=len(values),
        unit="responses",
        left_out=without_zeros({CUSTOM_ONLY: int((~chosen).sum())}),
        means=dict(zip(held.measures, means, strict=True)),
        undefined=dict(zip(held.measures, np.isnan(values).sum(axis=0).tolist(), strict=True)),
        by_participant={
            str(who): tuple(_mean(column, np.nan) for column in values[people == who].T)
            for who in dict.fromkeys(people.tolist())
        },
        why=_why_no_mean(means, len(values), custom_only),
    )


def _why_no_mean(means: list[Any], responses: int, custom_only: bool) -> str | None:
    if None not in means:
        return None
    if not responses:
        return "no response is a custom ranking" if custom_only else NOBODY
    return "a side ties all lists in every response"


def _mean(values: NDArray[np.float64], otherwise: float | None = None) -> Any:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else otherwise


def human_rates(held: Held, compare: Compare) -> HumanRates:
    """Compare participants with one another, leaving each one's own order out."""
    rates: dict[str, list[float]] = {}
    for _, answers in held.in_question():
        counts = Counter(order for _, order in answers)
        if len(answers) > 1:
            of_order = {order: _with_others(order, counts, compare) for order in counts}
            for who, order in answers:
                rates.setdefault(who, []).append(of_order[order])
    each = [float(np.mean(mine)) for mine in rates.values()]
    everyone = len(set(held.participants))
    return HumanRates(
        estimand=T1,
        n=len(each),
        unit="participants",
        left_out=without_zeros(
            {"participants whose questions nobody else answered": everyone - len(each)}
        ),
        best=max(each) if each else None,
        median=float(np.median(each)) if each else None,
        worst=min(each) if each else None,
        why=None if each else "no question was answered by two participants",
    )


def _with_others(order: Midranks, counts: Mapping[Midranks, int], compare: Compare) -> float:
    """Return the mean agreement of one holder of an order with all the other participants."""
    total = sum(times * compare(order, other) for other, times in counts.items())
    return (total - compare(order, order)) / (sum(counts.values()) - 1)


def friedman(table: NDArray[np.float64], left_out: Mapping[str, int]) -> Friedman:
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
    ranks = stats.rankdata(table, axis=1)
    level = (measures + 1) / 2
    between = float(((ranks.sum(axis=0) - people * level) ** 2).sum())
    within = float((ranks**2).sum() - people * measures * level**2)
    chi2 = (measures - 1) * between / within
    return Friedman(
        **frame,
        chi2=chi2,
        df=measures - 1,
        p=float(stats.chi2.sf(chi2, measures - 1)),
        w=chi2 / (people * (measures - 1)),
    )


def friedman_of_credits(credits: Credits, asked: int) -> Friedman:
    """Friedman's test on the credits of the participants who answered every question."""
    people, codes, answers = np.unique(
        credits.participants, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(people), len(credits.measures)))
    np.add.at(sums, codes, credits.votes)
    complete = answers == asked
    # Sums of shared votes that are equal must tie.
    return friedman(
        np.round(sums[complete], 9), {"incomplete participants": int((~complete).sum())}
    )


def friedman_of_agreement(held: Held, agreement: MeanAgreement, asked: int) -> Friedman:
    """Friedman's test on the mean agreement of the participants who answered every question.

    Descriptive: a measure whose order is like another's agrees better with whatever is
    ticked, so two thirds of blind clicks are "significant" (benchmarks/calibration.md).
    """
    people = list(agreement.by_participant)
    table = np.array(list(agreement.by_participant.values())).reshape(-1, len(held.measures))
    counted = Counter(held.participants)
    answers = np.array([counted[who] for who in people], dtype=int)
    complete, defined = answers == asked, ~np.isnan(table).any(axis=1)
    found = friedman(
        np.round(table[complete & defined], 12),  # means that are equal must tie
        {
            "incomplete participants": int((~complete).sum()),
            "participants without a defined mean": int((complete & ~defined).sum()),
        },
    )
    return replace(found, estimand=DESCRIPTIVE)
