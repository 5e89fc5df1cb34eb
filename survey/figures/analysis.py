"""The figures of an analysis: the numbers and words of each, and how it is drawn from them."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import OTHER
from survey.core.agreement.differences import NO_RESPONSES, Pair
from survey.core.statistics.significance import MeanTest, rounded
from survey.figures.exhibit import (
    COLOURS,
    GREY,
    LONGEST_NAME,
    MARKERS,
    SMALLEST,
    Cell,
    Exhibit,
    legend,
    name_line,
    shortened,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from survey.core.agreement.agreement import Agreement, Difference
    from survey.core.agreement.second_opinion import SecondOpinion


# The ends of the intervals for questions of this kind, and for these questions alone.
OF_BOTH = ("this kind: from", "this kind: to", "these: from", "these: to")
INTERVALS = (
    "95 % intervals. This kind: for questions of this kind, by the variance components of "
    "participants and questions; these: for these questions alone, by the t of participants."
)
MOST_PARTICIPANTS = 60  # in one figure: more lines could not be told apart


def analysis_exhibits(agreement: "Agreement") -> tuple[Exhibit, ...]:
    """Compute the numbers of the figures that every analysis has, in the order of a report."""
    return (
        votes_per_question(agreement),
        shares_with_intervals(agreement),
        pairwise_differences(agreement),
        agreement_rates(agreement),
        tau_b_distributions(agreement),
        label_and_column_clicks(agreement),
        time_per_question(agreement),
    )


def votes_per_question(agreement: "Agreement") -> Exhibit:
    """Tabulate credits and own orderings for each question and in total, as in Table 4."""
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
        f"{name} in {table.first_outright[name]} alone and {table.first_or_tied[name]} "
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


def shares_with_intervals(agreement: "Agreement") -> Exhibit:
    """Tabulate each measure's share of the responses, with both its intervals."""
    rows = tuple(
        (
            name,
            percent(interval.share),
            *_share_ends(interval.components),
            *_share_ends(interval.participants),
        )
        for name, interval in agreement.share_intervals.items()
    )
    summary = "; ".join(f"{name} {_text(share)} %" for name, share, *_ in rows)
    return Exhibit(
        name="shares",
        title="Share of the responses that credit each measure, in %",
        columns=("measure", "share", *OF_BOTH),
        rows=rows,
        decimals=1,
        alternative=f"Shares of the responses: {summary}.{_added_up(rows)}",
        note=INTERVALS,
        why=None if agreement.responses else NO_RESPONSES,
    )


def pairwise_differences(agreement: "Agreement") -> Exhibit:
    """Tabulate each pair's difference with both its intervals.

    The measure that leads is first, as in the rows beside the figure. Beside it: the parts from
    contradictions and from ties, and the lead that random clicks give.
    """
    rows = tuple(
        _winner_first(
            difference.pair,
            percent(difference.mean),
            _ends(difference.components),
            _ends(difference.participants),
            percent(difference.by_contrast.contradicting.contribution),
            percent(difference.by_contrast.ties_only.contribution),
            _by_random_clicks(difference, agreement.responses),
        )
        for difference in agreement.differences
    )
    summary = " ".join(
        f"{pair}: {_text(mean)} points{_from_ties(ties)}, {_interval_in_words(low, high)}."
        for pair, mean, low, high, _, _, _, ties, _ in rows
    )
    return Exhibit(
        name="differences",
        title="Differences between measures, in points of the responses",
        columns=(
            *("pair", "difference", *OF_BOTH),
            *("from contradictions", "from ties only", "by random clicks"),
        ),
        rows=rows,
        decimals=1,
        alternative=summary,
        note=f"{INTERVALS} From "
        "contradictions, from ties only: the parts of the difference that come from questions in "
        "which the two put lists in opposite orders, or one only breaks ties of the other. By "
        "random clicks: the lead that identical orders alone would give.",
        why=None if agreement.responses else NO_RESPONSES,
    )


def agreement_rates(agreement: "Agreement") -> Exhibit:
    """Tabulate strict and half-credit agreement rates.

    Of each measure, and of the best, median and worst participant with the others.
    """
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
        "Participants are compared with one another: how well people predict people. A participant "
        "who ticks a column agrees with its measure by construction, so a measure may lie above "
        "the best participant.",
        why=None if agreement.responses else NO_RESPONSES,
    )


def tau_b_distributions(agreement: "Agreement") -> Exhibit:
    """Tabulate count, extremes and quartiles of participants' mean tau-b with each measure."""
    means = agreement.concordance.tau_b_of_participants
    rows = tuple(
        (name, *_count_and_quartiles(of_measure))
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


def label_and_column_clicks(agreement: "Agreement") -> Exhibit:
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


def time_per_question(agreement: "Agreement") -> Exhibit:
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


def participants_differences(opinion: "SecondOpinion", number: int) -> Exhibit:
    """Tabulate participants' own differences in a pair, and those shrunken towards the mean.

    ``number``: of the figure, for its name. Of more than MOST_PARTICIPANTS some are chosen, evenly
    along the sorted differences. Places in the order stand for the participants, so that figures
    name none of them.
    """
    everyone = opinion.participants
    shown = np.linspace(1, len(everyone), min(len(everyone), MOST_PARTICIPANTS)).round().astype(int)
    rows = tuple(
        (
            place,
            each.first + each.second,
            *(100 * value for value in (each.difference, *each.ci95)),
            *(100 * value for value in (each.shrunken, *each.shrunken_ci95)),
        )
        for place, each in ((place, everyone[place - 1]) for place in shown.tolist())
    )
    ahead = sum(each.difference > 0 for each in everyone)
    behind = sum(each.difference < 0 for each in everyone)
    some = f" Drawn are {len(rows)} of them." if len(rows) < len(everyone) else ""
    return Exhibit(
        name=f"participants-{number}",
        title=f"Participants' own differences, {opinion.pair.title}, in points of their answers "
        "that credit one alone",
        columns=(
            *("place", "answers", "own difference", "own from", "own to"),
            *("shrunken", "shrunken from", "shrunken to"),
        ),
        rows=rows,
        decimals=1,
        alternative=f"Of {len(everyone)} participants, {ahead} credit {opinion.pair.first} more "
        f"often than {opinion.pair.second}, and {behind} less often.{some}",
        note="95 % intervals. Own: of a participant's answers alone. Shrunken: by the mixed logit, "
        "which takes few answers as weak evidence that someone differs from the others.",
        why=opinion.why,
        kind="participants",
    )


def _winner_first(pair: Pair, lead: float | None, *others: Any) -> tuple[Cell, ...]:
    """Return a row of a pair: numbers and intervals change sides with its two measures."""
    if lead is not None and lead < 0:
        pair, lead = Pair(*reversed(pair)), -lead
        others = tuple(_opposite(each) for each in others)
    cells = (each if isinstance(each, tuple) else (each,) for each in others)
    return (pair.title, lead, *(cell for group in cells for cell in group))


def _opposite(value: Any) -> Any:
    """Return a number, or an interval, of the same pair in the other order."""
    if isinstance(value, tuple):
        return tuple(_opposite(end) for end in reversed(value))
    return None if value is None else 0.0 - value


def _by_random_clicks(difference: "Difference", responses: int) -> float | None:
    lead = difference.label_permutation.null_mean
    return None if lead is None or not responses else 100 * lead / responses


def percent(share: float | None) -> float | None:
    """Return a share in %."""
    return None if share is None else 100 * share


def _added_up(rows: Sequence[tuple[Cell, ...]]) -> str:
    """Return a sentence that explains shares in % that add up to more than 100, else nothing."""
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


def _count_and_quartiles(values: NDArray[np.float64]) -> tuple[Cell, ...]:
    known = values[~np.isnan(values)]
    if not len(known):
        return 0, None, None, None, None, None
    return len(known), *map(float, np.quantile(known, [0, 0.25, 0.5, 0.75, 1]))


def _from_ties(points: Cell) -> str:
    return "" if points is None else f", {_text(points)} of them from ties only"


def _interval_in_words(low: Cell, high: Cell) -> str:
    if not isinstance(low, float) or not isinstance(high, float):
        return "without an interval for questions of this kind"
    where = "covers zero" if low <= 0 <= high else "leaves zero out"
    return f"interval for questions of this kind {_text(low)} to {_text(high)}, which {where}"


def _text(value: Cell, decimals: int = 1) -> str:
    """Format a number for a figure's text alternative; what is no number is "undefined"."""
    if not isinstance(value, (int, float)):
        return "undefined"
    return rounded(value, decimals)


SIDE_BY_SIDE = 5  # as many names of panels have room beside one another
Rows = Sequence[Any]  # Any: cells are numbers or text, as the exhibit's columns say


def _votes_per_question(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a bar for each question in a panel for each measure, all on one scale."""
    names, rows = exhibit.columns[1:-1], _untyped_rows(exhibit)[:-1]
    most = max(1, *(max(row[1:-1]) for row in rows))
    starts = [1.25 * most * index for index in range(len(names))]
    for index, (name, start) in enumerate(zip(names, starts, strict=True)):
        colour = GREY if name == OTHER else COLOURS[index]
        widths = [row[index + 1] for row in rows]
        axes.barh(range(len(rows)), widths, 0.62, start, color=colour)
        axes.axvline(start, color=GREY, linewidth=0.6)
    label_rows(axes, rows)
    axes.set_ylabel("question")
    axes.set_xlabel("votes (from each line, right: more)")
    high = max(end for step in (1, 2, 5) for power in range(7) if (end := step * 10**power) <= most)
    ticks = [start + end for start in starts for end in (0, high)]
    texts = [str(end) for _ in starts for end in (0, high)]
    axes.set_xticks(ticks, texts, fontsize=SMALLEST)
    axes.set_xlim(-0.05 * most, starts[-1] + 1.05 * most)
    heads = axes.secondary_xaxis("top")
    slanted: dict[str, Any] = {"rotation": 30, "ha": "left"} if len(names) > SIDE_BY_SIDE else {}
    middles = [start + most / 2 for start in starts]
    heads.set_xticks(middles, [shortened(name) for name in names], fontsize=SMALLEST, **slanted)
    heads.tick_params(length=0)
    heads.spines["top"].set_visible(False)


def _untyped_rows(exhibit: Exhibit) -> Rows:
    """Return the rows; which cells are numbers, only the exhibit's columns say."""
    return exhibit.rows


def label_rows(axes: "Axes", rows: Rows) -> None:
    """Name the rows at the left, the first at the top; a long name has two lines."""
    texts = []
    for row in rows:
        name = str(row[0])
        first = next(iter(wrap(name, LONGEST_NAME)), "")
        lines = (first, name[len(first) :].strip())
        texts.append("\n".join(map(shortened, filter(None, lines))))
    axes.set_yticks(range(len(rows)), texts)
    axes.set_ylim(len(rows) - 0.5, -0.5)


def draw_intervals(axes: "Axes", exhibit: Exhibit, unit: str, colours: Sequence[str]) -> None:
    """Draw a stroke and two intervals a row: of the population thin, of these questions thick."""
    for y, (_, middle, *ends) in enumerate(_untyped_rows(exhibit)):
        line: dict[str, Any] = {"color": colours[y], "solid_capstyle": "butt"}
        for shift, (low, high), width in ((-0.11, ends[:2], 1.4), (0.11, ends[2:4], 3.5)):
            if low is not None:
                axes.plot([low, high], [y + shift] * 2, linewidth=width, **line)
        if middle is not None:
            axes.plot([middle] * 2, [y - 0.24, y + 0.24], color="#000000", linewidth=1.4)
    label_rows(axes, exhibit.rows)
    axes.set_xlabel(unit)
    for width, label in ((1.4, "for questions of this kind"), (3.5, "for these questions alone")):
        axes.plot([], [], color=GREY, linewidth=width, label=label)


def _shares(axes: "Axes", exhibit: Exhibit) -> None:
    colours = (*COLOURS[: len(exhibit.rows) - 1], GREY)
    unit = "% of the responses (right: credited more often)"
    draw_intervals(axes, exhibit, unit, colours)
    axes.set_xlim(left=0)
    legend(axes)


def _differences(axes: "Axes", exhibit: Exhibit) -> None:
    name_line(axes, 0, "no lead")
    # One colour for all: measures have the others, and a pair is not a measure.
    colours = [COLOURS[0]] * len(exhibit.rows)
    unit = "lead in points of all answers\n(right: for the first measure)"
    draw_intervals(axes, exhibit, unit, colours)
    clicks = [(row[-1], y) for y, row in enumerate(_untyped_rows(exhibit)) if row[-1] is not None]
    mark: dict[str, Any] = {"marker": "D", "color": COLOURS[1], "linestyle": "none"}
    places = [[click[axis] for click in clicks] for axis in (0, 1)]
    axes.plot(*places, markersize=4.5, label="lead by random clicks", **mark)
    legend(axes)


def _agreement_rates(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw the measures as dots over the range of the participants."""
    measures, people = _untyped_rows(exhibit)[:-3], _untyped_rows(exhibit)[-3:]
    best, median, worst = (row[1] for row in people)
    if median is not None:
        span: dict[str, Any] = {"color": GREY, "alpha": 0.18, "linewidth": 0}
        axes.axvspan(worst, best, label="people, worst to best", **span)
        name_line(axes, median, "median person")
    for y, (_, strict, half) in enumerate(measures):
        marker: dict[str, Any] = {"color": COLOURS[y], "marker": MARKERS[y], "markersize": 5}
        axes.plot([strict], [y], linestyle="none", **marker)
        axes.plot([half], [y], linestyle="none", fillstyle="none", **marker)
    label_rows(axes, measures)
    axes.set_xlim(right=1)
    axes.set_xlabel("share of list pairs in the same order\n(1: full agreement)")
    for fill, label in (("full", "strict"), ("none", "half credit")):
        axes.plot([], [], color=GREY, marker="o", linestyle="none", fillstyle=fill, label=label)
    legend(axes)


def _tau_b(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a box for each measure from the five numbers of its row."""
    for y, (_, count, *numbers) in enumerate(_untyped_rows(exhibit)):
        if not count:
            continue
        least, lower, middle, upper, most = numbers
        colour = COLOURS[y]
        axes.plot([least, most], [y] * 2, color=colour, linewidth=1.2)
        axes.barh(y, upper - lower, 0.4, lower, color=colour, alpha=0.35, edgecolor=colour)
        axes.plot([middle] * 2, [y - 0.2, y + 0.2], color="#000000", linewidth=1.6)
    label_rows(axes, exhibit.rows)
    axes.set_xlim(min(-0.1, axes.get_xlim()[0]), 1.01)
    name_line(axes, 0, "unrelated")
    axes.set_xlabel("mean tau-b of each person (1: the same order):\nrange, quartiles, median")


def _bias(axes: "Axes", exhibit: Exhibit) -> None:
    labels = [row for row in _untyped_rows(exhibit) if not str(row[0]).startswith("column")]
    heights = [y + 0.5 * (y >= len(labels)) for y in range(len(exhibit.rows))]
    for y, row in zip(heights, _untyped_rows(exhibit), strict=True):
        axes.barh(y, row[2] or 0, 0.7, color=COLOURS[y > len(labels)])
    name_line(axes, 100 / len(labels), "without bias")
    axes.set_yticks(heights, [str(row[0]) for row in exhibit.rows])
    axes.set_ylim(heights[-1] + 0.6, -0.6)
    axes.set_xlabel("% of the clicks (right: clicked more often)")


def _time(axes: "Axes", exhibit: Exhibit) -> None:
    timed = [row for row in _untyped_rows(exhibit) if row[2] is not None]
    places, seconds = [row[0] for row in timed], [row[2] for row in timed]
    axes.plot(places, seconds, color=COLOURS[0], marker="o", markersize=4, linewidth=1.2)
    axes.set_ylim(0, max(1.0, 1.1 * max(seconds)))
    axes.set_xlabel("place of the question in a session")
    axes.set_ylabel("median time in seconds")
    whole_numbers(axes)


def _participants(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw each participant's own difference and interval, and the shrunken ones below them."""
    rows = np.array(exhibit.rows, dtype=float)
    middles, lows, highs = (rows[:, [first, first + 3]] for first in (2, 3, 4))
    for column, (label, colour, marker, width) in enumerate(
        (
            ("own answers alone", GREY, "o", 0.9),
            ("shrunken to the mean", COLOURS[0], "D", 1.8),
        )
    ):
        places = np.arange(len(rows)) + (-0.18, 0.18)[column]
        axes.hlines(places, lows[:, column], highs[:, column], color=colour, linewidth=width)
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none"}
        axes.plot(middles[:, column], places, markersize=2.8, label=label, **style)
    name_line(axes, 0, "no lead")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks([])
    axes.set_ylabel("participants, sorted")
    pair = exhibit.title.partition(", ")[2].partition(", ")[0]
    axes.set_xlabel(
        f"lead in points of the answers that credit one alone\n(right: for the first of {pair})"
    )
    legend(axes)


# Each figure's drawing function, and its height in inches for a number of rows.
FIGURES = {
    "votes-per-question": (_votes_per_question, lambda rows: 0.9 + 0.2 * rows),
    "shares": (_shares, lambda rows: 1.0 + 0.3 * max(3, rows)),
    "differences": (_differences, lambda rows: 1.5 + 0.3 * max(3, rows)),
    "agreement-rate": (_agreement_rates, lambda rows: 1.4 + 0.3 * max(3, rows - 3)),
    "tau-b": (_tau_b, lambda rows: 1.1 + 0.3 * max(3, rows)),
    "bias": (_bias, lambda rows: 0.8 + 0.22 * rows),
    "time": (_time, lambda _: 2.2),
    "participants": (_participants, lambda rows: 0.9 + 0.11 * max(6, rows)),
}
