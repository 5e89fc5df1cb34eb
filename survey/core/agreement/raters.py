"""How far participants agree with one another: Kendall's W, Krippendorff's alpha, Fleiss' kappa."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import Credits
from survey.core.agreement.orders import Held, Midranks
from survey.core.agreement.results import DESCRIPTIVE, T1, Statistic, without_zeros


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
    values = [_w([order for _, order in answers]) for _, answers in held.in_question()]
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


def _w(orders: Sequence[Midranks]) -> float | None:
    raters, lists = len(orders), len(orders[0]) if orders else 0
    ties = sum(t**3 - t for order in orders for t in Counter(order).values())
    largest = raters**2 * lists * (lists**2 - 1) - raters * ties
    if raters < 2 or largest == 0:
        return None
    sums = np.sum(orders, axis=0)
    return float((12 * sums @ sums - 3 * raters**2 * lists * (lists + 1) ** 2) / largest)


def krippendorff_alpha(held: Held) -> Alpha:
    """Krippendorff's alpha (ordinal) on midranks; the units are lists.

    ``pooled`` takes the lists of all questions as units, participants who did not
    answer as missing; ``by_question`` one question's lists.
    """
    tables = [_units(answers) for _, answers in held.in_question()]
    values = [alpha_ordinal(table) for table in tables]
    pooled = alpha_ordinal([unit for table in tables for unit in table])
    return Alpha(
        estimand=T1,
        n=sum(len(unit) > 1 for table in tables for unit in table),
        unit="lists",
        left_out=without_zeros(
            {"lists judged by fewer than two": sum(len(u) < 2 for table in tables for u in table)}
        ),
        pooled=pooled,
        by_question=values,
        why=_why(values, "fewer than two participants answered, or no two ranks differ"),
    )


def _units(answers: Sequence[tuple[str, Midranks]]) -> list[list[float]]:
    """Turn orders into one row of midranks per list; nobody's answer has no row."""
    return [list(unit) for unit in zip(*(order for _, order in answers), strict=True)]


def alpha_ordinal(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha = 1 - D_o/D_e with the ordinal metric; None where D_e is 0.

    ``units``: the values each unit got, missing ones left out; units with one value
    pair nothing and do not count. With n_g the number of pairable values g and
    c < k: δ²(c, k) = (Σ_{g=c..k} n_g - (n_c + n_k)/2)² (Krippendorff 2011).
    """
    paired = [unit for unit in units if len(unit) > 1]
    levels = sorted({value for unit in paired for value in unit})
    if len(levels) < 2:
        return None
    place = {value: index for index, value in enumerate(levels)}
    counts = np.zeros((len(paired), len(levels)))
    for row, unit in enumerate(paired):
        np.add.at(counts[row], [place[value] for value in unit], 1)
    sizes = counts.sum(axis=1)
    totals = counts.sum(axis=0)
    weighed = counts / (sizes - 1)[:, np.newaxis]
    coincidences = weighed.T @ counts - np.diag(weighed.sum(axis=0))
    delta = _ordinal_metric(totals)
    expected = float(totals @ delta @ totals) / (totals.sum() - 1)
    return float(1 - (coincidences * delta).sum() / expected)


def _ordinal_metric(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    middles = np.cumsum(totals) - totals / 2
    squared: NDArray[np.float64] = (middles[:, np.newaxis] - middles) ** 2
    return squared


def fleiss_kappa(credits: Credits, distinct: Sequence[int]) -> Kappa:
    """Fleiss' kappa on single choices among the measures and OTHER.

    Over the questions whose orders all differ and which every participant answered with
    one tick or a custom ranking; elsewhere a choice is not one category.
    """
    everyone = len(np.unique(credits.participants))
    table, used = [], []
    for question in distinct:
        here = credits.within(credits.questions == question)
        if len(here) == everyone and np.all(here.clicks <= 1):
            table.append([*here.credited.sum(axis=0), here.other.sum()])
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
    from statsmodels.stats.inter_rater import fleiss_kappa as of_table  # see _two_way_variance

    return replace(result, kappa=float(of_table(counts)), why=None)
