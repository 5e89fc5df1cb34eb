"""Exhibits: the numbers and words of each figure of the analysis.

A figure is drawn from its exhibit's rows, so that drawing, table and text cannot disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import Agreement, Difference
from survey.core.agreement.credits import OTHER
from survey.core.agreement.differences import NO_RESPONSES
from survey.core.agreement.verdicts import rounded
from survey.core.statistics.significance import MeanTest

Cell = str | int | float | None


@dataclass(frozen=True)
class Exhibit:
    """A figure's numbers: ``name`` for files, ``title``, ``columns`` and ``rows``.

    ``alternative``: what the drawing shows, in words; ``note``: how to read it; ``why``:
    why there is nothing to be drawn, else None; ``totals``: whether the last row adds the
    others up; ``decimals``: of numbers as they are printed; ``mark``: a warning that is
    printed inside the drawing, so that every copy of it has the warning.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    alternative: str
    note: str = ""
    why: str | None = None
    totals: bool = False
    decimals: int = 3
    mark: str = ""


def exhibits(agreement: Agreement) -> tuple[Exhibit, ...]:
    """Compute the numbers of every figure, in the order of a report."""
    return (
        votes_per_question(agreement),
        shares_with_intervals(agreement),
        pairwise_differences(agreement),
        agreement_rates(agreement),
        tau_b_distributions(agreement),
        label_and_column_clicks(agreement),
        time_per_question(agreement),
    )


def votes_per_question(agreement: Agreement) -> Exhibit:
    """Tabulate Table 4: credits of each measure, and custom rankings, for each question."""
    table = agreement.table4
    names = (*table.measures, OTHER)
    rows = tuple(
        (
            row.question,
            *(row.votes[name] for name in names),
            ", ".join(" = ".join(group) for group in row.identical) or None,
        )
        for row in table.rows
    )
    firsts = ", ".join(
        f"{name} in {agreement.first_outright[name]} alone and {agreement.first_or_tied[name]} "
        "alone or tied"
        for name in table.measures
    )
    return Exhibit(
        name="votes-per-question",
        title="Votes per question",
        columns=("question", *names, "identical orders"),
        rows=(*rows, ("total", *(table.totals[name] for name in names), None)),
        alternative=f"Of {len(rows)} questions, most votes went to: {firsts}.",
        note="Credits of the measures; OTHER counts custom rankings.",
        why=None if agreement.responses else NO_RESPONSES,
        totals=True,
    )


def shares_with_intervals(agreement: Agreement) -> Exhibit:
    """Tabulate each measure's share of the responses, with T2 and T1 intervals."""
    rows = tuple(
        (
            name,
            _percent(interval.share),
            *_share_ends(interval.two_way),
            *_share_ends(interval.participants),
        )
        for name, interval in agreement.share_intervals.items()
    )
    summary = "; ".join(f"{name} {_text(share)} %" for name, share, *_ in rows)
    return Exhibit(
        name="shares",
        title="Share of the responses that credit each measure, in %",
        columns=("measure", "share", "T2 from", "T2 to", "T1 from", "T1 to"),
        rows=rows,
        decimals=1,
        alternative=f"Shares of the responses: {summary}.{_added_up(rows)}",
        note="95 % intervals. T2: questions of this kind; T1: these questions.",
        why=None if agreement.responses else NO_RESPONSES,
    )


def pairwise_differences(agreement: Agreement) -> Exhibit:
    """Tabulate each pair's mean difference, T2 and T1 intervals, and the lead by random clicks."""
    rows = tuple(
        (
            difference.pair.title,
            _percent(difference.mean),
            *_ends(difference.two_way),
            *_ends(difference.participants),
            _by_random_clicks(difference, agreement.responses),
        )
        for difference in agreement.differences
    )
    summary = " ".join(
        f"{pair}: {_text(mean)} points, {_covers(low, high)}." for pair, mean, low, high, *_ in rows
    )
    return Exhibit(
        name="differences",
        title="Differences between measures, in points of the responses",
        columns=("pair", "difference", "T2 from", "T2 to", "T1 from", "T1 to", "by random clicks"),
        rows=rows,
        decimals=1,
        alternative=summary,
        note="95 % intervals. T2: questions of this kind; T1: these questions. By random clicks: "
        "the lead that identical orders alone would give.",
        why=None if agreement.responses else NO_RESPONSES,
    )


def agreement_rates(agreement: Agreement) -> Exhibit:
    """Tabulate agreement rates of the measures, and of participants with one another."""
    concordance = agreement.concordance
    rows: list[tuple[Cell, ...]] = [
        (name, concordance.strict.means[name], concordance.half.means[name])
        for name in agreement.measures
    ]
    rows += [
        (
            f"{which} participant",
            getattr(concordance.human, which),
            getattr(concordance.human_half, which),
        )
        for which in ("best", "median", "worst")
    ]
    summary = ", ".join(f"{name} {_text(rate, 2)}" for name, rate, _ in rows)
    return Exhibit(
        name="agreement-rate",
        title="Agreement over pairs of lists",
        columns=("whose order", "strict", "half credit"),
        rows=tuple(rows),
        alternative=f"Strict agreement rates: {summary}.",
        note="Share of list pairs that two orders put alike; half credit where one side ties. "
        "Participants are compared with one another: how well people predict people. Whoever "
        "ticks a column agrees with its measure by construction, so a measure may lie above the "
        "best participant.",
        why=None if agreement.responses else NO_RESPONSES,
    )


def tau_b_distributions(agreement: Agreement) -> Exhibit:
    """Tabulate the quartiles of participants' mean tau-b with each measure."""
    means = agreement.concordance.tau_b_of_participants
    rows = tuple(
        (name, *_five_numbers(of_measure))
        for name, of_measure in zip(agreement.measures, means.T, strict=True)
    )
    summary = "; ".join(f"{row[0]} median {_text(row[4], 2)}" for row in rows)
    drawable = any(row[1] for row in rows)
    return Exhibit(
        name="tau-b",
        title="Kendall's tau-b with each measure: participants' means",
        columns=("measure", "n", "least", "lower quartile", "median", "upper quartile", "most"),
        rows=rows,
        alternative=f"Participants' mean tau-b: {summary}.",
        note="n: participants with a defined mean. 1: the same order, 0: unrelated, −1: reversed.",
        why=None if drawable else "no participant has a defined tau-b",
    )


def label_and_column_clicks(agreement: Agreement) -> Exhibit:
    """Tabulate clicks by label and by column; both are drawn at random, so they should be equal."""
    bias = agreement.bias
    groups: list[Mapping[str, int]] = [bias.label_clicks]
    if bias.column_clicks is not None:
        groups.append({f"column {n}": clicks for n, clicks in enumerate(bias.column_clicks, 1)})
    rows = tuple(
        (name, clicks, 100 * clicks / sum(group.values()) if sum(group.values()) else None)
        for group in groups
        for name, clicks in group.items()
    )
    summary = ", ".join(f"{name} {_text(share)} %" for name, _, share in rows)
    return Exhibit(
        name="bias",
        title="Clicks by label and by column",
        columns=("where", "clicks", "% of clicks"),
        rows=rows,
        decimals=1,
        alternative=f"Clicks: {summary}. Without bias each would be near "
        f"{100 / len(agreement.measures):.1f} %.",
        note="Columns are counted from the left.",
        why=None if any(bias.label_clicks.values()) else "no column was ticked",
    )


def time_per_question(agreement: Agreement) -> Exhibit:
    """Tabulate median seconds, custom rankings and several ticks by position in a session."""
    rows = tuple(
        (at.position, at.responses, at.seconds, at.own, at.several)
        for at in agreement.bias.positions
    )
    timed = [row for row in rows if row[2] is not None]
    summary = (
        f"Median seconds for an answer: {_text(timed[0][2])} at the first question, "
        f"{_text(timed[-1][2])} at the last."
        if timed
        else ""
    )
    return Exhibit(
        name="time",
        title="Time for an answer, by the question's place in a session",
        columns=("place", "answers", "median seconds", "custom rankings", "several ticks"),
        rows=rows,
        decimals=1,
        alternative=summary,
        note="Seconds in view, as the browser tells; else between pages, by the server's clock.",
        why=None if timed else "no times are known",
    )


def _by_random_clicks(difference: Difference, responses: int) -> float | None:
    lead = difference.label_permutation.null_mean
    return None if lead is None or not responses else 100 * lead / responses


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _added_up(rows: Sequence[tuple[Cell, ...]]) -> str:
    """Return a sentence that explains shares whose sum is more than 1, else nothing."""
    total = sum(share for _, share, *_ in rows if isinstance(share, float))
    if total < 100.05:
        return ""
    return f" They add up to {_text(total)} %, since a vote may credit several measures."


def _ends(test: MeanTest) -> tuple[float, float] | tuple[None, None]:
    """Return an interval's ends, in points."""
    if test.ci95 is None:
        return None, None
    low, high = test.ci95
    return 100 * low, 100 * high


def _share_ends(test: MeanTest) -> tuple[float, float] | tuple[None, None]:
    """Return an interval's ends in %, within what a share can be."""
    low, high = _ends(test)
    return (None, None) if low is None or high is None else (max(low, 0.0), min(high, 100.0))


def _five_numbers(values: NDArray[np.float64]) -> tuple[Cell, ...]:
    known = values[~np.isnan(values)]
    if not len(known):
        return 0, None, None, None, None, None
    return len(known), *map(float, np.quantile(known, [0, 0.25, 0.5, 0.75, 1]))


def _covers(low: Cell, high: Cell) -> str:
    if not isinstance(low, float) or not isinstance(high, float):
        return "without an interval for questions of this kind"
    where = "covers zero" if low <= 0 <= high else "leaves zero out"
    return f"interval for questions of this kind {_text(low)} to {_text(high)}, which {where}"


def _text(value: Cell, decimals: int = 1) -> str:
    if not isinstance(value, (int, float)):
        return "undefined"
    return rounded(value, decimals)
