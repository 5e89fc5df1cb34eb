"""How far participants agree with one another: Kendall's W, Krippendorff's alpha, Fleiss' kappa."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import Credits
from survey.core.agreement.orders import Held, HeldInQuestion
from survey.core.statistics.rank_correlation import Midranks
from survey.core.statistics.raters import _alpha, kappa_of
from survey.core.statistics.results import DESCRIPTIVE, T1, Statistic, without_zeros


@dataclass(frozen=True, kw_only=True)
class KendallW(Statistic):
    """Kendall's W, tie-corrected, in [0, 1]; ``by_question`` in the questions' order."""

    mean: float | None = None
    by_question: Sequence[float | None] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Alpha(Statistic):
    """Krippendorff's alpha for ordinal data, at most 1; 0 is what chance would give."""

    pooled: float | None = None
    by_question: Sequence[float | None] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Kappa(Statistic):
    """Fleiss' kappa on single choices, at most 1; ``questions``: those it rests on."""

    kappa: float | None = None
    questions: Sequence[int] = field(default_factory=list)


def kendall_w(held: Held) -> KendallW:
    """Kendall's W of the participants' orders, question by question, and its mean.

    W = (12 ΣR² - 3 m² n (n + 1)²) / (m² n (n² - 1) - m ΣT), with m participants, n
    lists, the lists' rank sums R, and T = Σ(t³ - t) over a participant's ties of t lists
    (Kendall & Gibbons 1990, ch. 6).
    Lists of different questions are different things, so questions are never pooled.
    """
    values = [_w(here) for here in held.questions.values()]
    known = [value for value in values if value is not None]
    return KendallW(
        estimand=T1,
        n=len(known),
        unit="questions",
        left_out=without_zeros(
            {"questions with fewer than two orders, or all tied": len(values) - len(known)}
        ),
        mean=float(np.mean(known)) if known else None,
        by_question=values,
        why=_why(values, "fewer than two participants answered, or all tie all"),
    )


def _why(values: Sequence[float | None], reason: str) -> str | None:
    if not values:
        return "there are no questions"
    undefined = sum(value is None for value in values)
    if not undefined:
        return None
    return f"undefined for {undefined} question{'s' * (undefined > 1)}: {reason}"


def _w(here: HeldInQuestion) -> float | None:
    raters, lists = int(here.times.sum()), here.offered.shape[1]
    ties = int(here.times @ _ties(here.orders))
    largest = raters**2 * lists * (lists**2 - 1) - raters * ties
    if raters < 2 or largest == 0:
        return None
    sums = here.times @ here.orders
    return float((12 * sums @ sums - 3 * raters**2 * lists * (lists + 1) ** 2) / largest)


def _ties(orders: Midranks) -> NDArray[np.int64]:
    """Return Σ(t³ - t) over the ties of each order: each of t tied lists stands with t."""
    with_each = (orders[:, :, np.newaxis] == orders[:, np.newaxis]).sum(axis=2)
    ties: NDArray[np.int64] = (with_each**2).sum(axis=1) - orders.shape[1]
    return ties


def krippendorff_alpha(held: Held) -> Alpha:
    """Krippendorff's alpha (ordinal) on midranks; the units are lists.

    ``pooled`` takes the lists of all questions as units, participants who did not
    answer as missing; ``by_question`` one question's lists.
    """
    most = max((here.offered.shape[1] for here in held.questions.values()), default=0)
    tables = [_units(here, most) for here in held.questions.values()]
    units = np.vstack([np.zeros((0, 2 * most + 1)), *tables])
    values = [_alpha(table) for table in tables]
    judged = int((units.sum(axis=1) > 0).sum())
    pairing = int((units.sum(axis=1) > 1).sum())
    return Alpha(
        estimand=T1,
        n=pairing,
        unit="lists",
        left_out=without_zeros({"lists judged by fewer than two": judged - pairing}),
        pooled=_alpha(units),
        by_question=values,
        why=_why(values, "fewer than two participants answered, or no two ranks differ"),
    )


def _units(here: HeldInQuestion, most: int) -> NDArray[np.float64]:
    """Count how often each list got each midrank, in steps of 1/2: (lists, 2 * most + 1)."""
    halves = (2 * here.orders).astype(np.int64)
    lists, levels = here.offered.shape[1], 2 * most + 1
    counts = np.zeros((lists, levels))
    for unit, got in zip(counts, halves.T, strict=False):
        unit += np.bincount(got, here.times, levels)
    return counts


def fleiss_kappa(credits: Credits, distinct: Sequence[int]) -> Kappa:
    """Fleiss' kappa on single choices among the measures and OTHER.

    Over the questions whose orders all differ and which every participant answered with
    one tick or a custom ranking; elsewhere a choice is not one category.
    """
    everyone = np.count_nonzero(credits.answered)
    choices = np.column_stack([credits.credited, credits.other])
    table, used = [], []
    for question in distinct:
        times = credits.times * (credits.questions == question)
        if times.sum() == everyone and np.all(credits.ballots.clicks[times > 0] <= 1):
            table.append(times @ choices)
            used.append(question)
    result = Kappa(
        estimand=DESCRIPTIVE,
        n=len(used),
        unit="questions",
        left_out=without_zeros(
            {
                "distinct questions not answered by everyone with one choice": len(distinct)
                - len(used)
            }
        ),
        questions=used,
        why="no question with distinct orders was answered by everyone (two at least) "
        "with one choice",
    )
    if not used or everyone < 2:
        return result
    counts = np.array(table, dtype=float)
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return replace(result, why="everyone chose the same every time, so chance explains all")
    return replace(result, kappa=kappa_of(counts), why=None)
