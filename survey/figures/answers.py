"""The figures beside the headlines: leads of runs, and agreement by topic with its thresholds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from survey.core.agreement.reliability import RELIABLE, TENTATIVE
from survey.core.statistics.significance import Interval, decimal_text, rounded
from survey.figures.exhibit import COLOURS, GREY, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TOPICS = 40  # of a figure
LONGEST_NAME = 22  # characters
DASHED: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (4, 3))}

Lead = tuple[str, str, tuple[int, int, int], float, Interval | None]
"""Who is ahead of whom; of 100 answers those for either and for none; the lead; its interval."""


def leads_of_runs(leads: Sequence[Lead], note: str) -> Exhibit:
    """Tabulate who is preferred to whom: shares of the answers, and the lead in points."""
    rows = tuple(
        (
            *(f"{ahead} over {behind}", ahead, behind, *of_100, 100 * lead),
            *((100 * interval[0], 100 * interval[1]) if interval else (None, None)),
        )
        for ahead, behind, of_100, lead, interval in leads
    )
    words = [
        f"{pair}: of 100 answers {won} prefer {ahead}, {lost} {behind}, {neither} no list; lead "
        f"{_points(lead)}{_reach(low, high)}"
        for pair, ahead, behind, won, lost, neither, lead, low, high in rows
    ]
    return Exhibit(
        name="run-leads",
        title="Which system people prefer: answers, and leads in points",
        columns=(
            *("pair", "first", "second", "of 100 for the first", "for the second", "for neither"),
            *("lead", "from", "to"),
        ),
        rows=rows,
        decimals=1,
        alternative=f"{'; '.join(words)}.",
        note=note,
        why=None if rows else "no answer compares two runs",
    )


def alpha_by_topic(
    overall: tuple[str, float | None, Interval | None],
    topics: Sequence[tuple[str, float | None, Interval | None]],
    note: str,
) -> Exhibit:
    """Tabulate alpha over all topics, then of each topic, the best first.

    Of more than MOST_TOPICS topics, those with the least agreement.
    """
    known = sorted(
        ((name, alpha, interval) for name, alpha, interval in topics if alpha is not None),
        key=lambda topic: -topic[1],
    )
    shown = known[-MOST_TOPICS:]
    rows = tuple(
        (name, alpha, *(interval or (None, None))) for name, alpha, interval in (overall, *shown)
    )
    left_out = f" The {MOST_TOPICS} of {len(known)} topics with the least agreement."
    words = ", ".join(
        f"{name} {decimal_text(alpha)}{_reach(low, high, 2)}"
        for name, alpha, low, high in rows
        if alpha is not None
    )
    return Exhibit(
        name="alpha-by-topic",
        title="Agreement of the annotators by topic",
        columns=("topic", "alpha", "from", "to"),
        rows=rows,
        decimals=2,
        alternative=f"Krippendorff's alpha: {words}. Thresholds at .667 and .80.",
        note=note + left_out * (len(known) > MOST_TOPICS),
        why="no topic was judged by two people" if overall[1] is None else None,
    )


def rand_by_topic(
    topics: Sequence[tuple[str, float | None]], threshold: float, note: str
) -> Exhibit:
    """Tabulate the adjusted Rand index of two assessors by topic, the best first."""
    known = sorted(
        ((name, value) for name, value in topics if value is not None), key=lambda topic: -topic[1]
    )
    shown = known[-MOST_TOPICS:]
    left_out = f" The {MOST_TOPICS} of {len(known)} topics with the least agreement."
    low, high = (known[-1][1], known[0][1]) if known else (0.0, 0.0)
    agreed = sum(value >= threshold for _, value in known)
    return Exhibit(
        name="rand-by-topic",
        title="How alike two assessors group, by topic",
        columns=("topic", "adjusted Rand", "enough from"),
        rows=tuple((name, value, threshold) for name, value in shown),
        decimals=2,
        alternative=f"Adjusted Rand index of {len(known)} topics, from {decimal_text(low)} to "
        f"{decimal_text(high)}; {agreed} of them at {decimal_text(threshold)} or more.",
        note=note + left_out * (len(known) > MOST_TOPICS),
        why=None if known else "no topic was grouped by two people",
    )


def machine_and_people(
    coefficient: str, rows: Sequence[tuple[str, float | None, Interval | None]], note: str
) -> Exhibit:
    """Tabulate how far a machine and a person agree, and two people."""
    known = [(name, value, interval) for name, value, interval in rows if value is not None]
    words = [
        f"{name}: {decimal_text(value)}{_reach(*interval, decimals=2) if interval else ''}"
        for name, value, interval in known
    ]
    return Exhibit(
        name="machine-agreement",
        title="Machine and person beside two people",
        columns=("who", coefficient, "95 % from", "to"),
        rows=tuple((name, value, *(interval or (None, None))) for name, value, interval in known),
        alternative=f"{'; '.join(words)}.",
        note=note,
        why=None if len(known) == len(rows) else "too few answers to the same items",
    )


def forest(
    name: str,
    pair: tuple[str, str],
    studies: Sequence[tuple[str, str, float | None, Interval | None]],
) -> Exhibit:
    """Tabulate the leads of several studies, then what they say together.

    ``studies``: what a row is (site, mean, weighted, kind, new), its name, lead and interval.
    """
    first, second = pair
    rows = tuple(
        (
            *(what, label, None if lead is None else 100 * lead),
            *((100 * interval[0], 100 * interval[1]) if interval else (None, None)),
        )
        for what, label, lead, interval in studies
    )
    words = [
        f"{label}{'' if lead is None else f' {_points(lead)}'}{_reach(low, high)}"
        for _, label, lead, low, high in rows
    ]
    return Exhibit(
        name=name,
        kind="forest",
        title=f"{first} over {second} in {sum(row[0] == 'site' for row in rows)} studies",
        columns=("what", "study", "lead", "from", "to"),
        rows=rows,
        decimals=1,
        alternative=f"Lead of {first} over {second}: {'; '.join(words)}.",
        note=f"Lead of {first} over {second} in points, with 95 % intervals; in brackets: people.",
    )


def _points(lead: float) -> str:
    points = rounded(lead, 0)
    return f"{'+' * (lead > 0)}{points} point{'s' * (points != '1')}"


def _reach(low: float | None, high: float | None, decimals: int = 0) -> str:
    if low is None or high is None:
        return ""
    write = decimal_text if decimals else rounded
    return f" ({write(low, decimals)} to {write(high, decimals)})"


def _short(name: str, longest: int = LONGEST_NAME) -> str:
    text = name if len(name) <= longest else f"{name[: longest - 1]}…"
    return text.replace("$", r"\$")  # which would begin a formula


def _leads(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw for each pair a bar of 100 answers, and the lead with its interval beside it."""
    figure: Any = axes.figure
    axes.remove()
    bars, leads = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    rows: Sequence[Any] = exhibit.rows
    for y, (_, ahead, behind, won, lost, neither, lead, low, high) in enumerate(rows):
        left = 0
        for width, colour in ((won, COLOURS[0]), (neither, GREY), (lost, COLOURS[1])):
            bars.barh(y, width, 0.34, left, color=colour, alpha=0.45 if colour == GREY else 1)
            left += width
        beside: dict[str, Any] = {"va": "bottom", "fontsize": 7}
        bars.text(0, y - 0.22, f"{_short(ahead, 15)} {won}", ha="left", **beside)
        bars.text(100, y - 0.22, f"{lost} {_short(behind, 15)}", ha="right", **beside)
        if low is not None:
            leads.plot([low, high], [y, y], color=COLOURS[0], linewidth=2)
        leads.plot([lead], [y], color=COLOURS[0], marker="o", markersize=5)
        # Not above the mark: there the line at 0 would cross "+2".
        leads.annotate(
            *(_points(lead).split()[0], (lead, y - 0.2)),
            **(beside | {"xytext": (2, 0), "textcoords": "offset points"}),
        )
    leads.axvline(0, **DASHED)
    ends = [end for row in rows for end in row[6:] if end is not None]
    leads.set_xlim(min(-6.0, min(ends) - 6), max(50.0, max(ends) + 12))
    leads.set_xlabel("lead in points\n(dashed: no lead)")
    bars.set_xlabel("of 100 answers\n(grey: for no list)")
    bars.set_xlim(0, 100)
    bars.set_xticks([0, 50, 100])
    bars.set_ylim(len(rows) - 0.6, -0.7)
    bars.set_yticks([])
    for axes in (bars, leads):
        axes.spines["left"].set_visible(False)
        axes.tick_params(left=False)


def _alphas(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw alpha of each topic with its interval, the one over all topics above them."""
    rows: Sequence[Any] = exhibit.rows
    for y, (_, alpha, low, high) in enumerate(rows):
        colour = COLOURS[0] if y == 0 else GREY
        if low is not None and low <= 0 and high < TENTATIVE:
            colour = COLOURS[1]
        if low is not None:
            axes.plot([low, high], [y, y], color=colour, linewidth=2.4 if y == 0 else 1.4)
        marker = "D" if y == 0 else "o"
        axes.plot([alpha], [y], color=colour, marker=marker, markersize=6 if y == 0 else 4)
    _name_lines(axes, [(0, "chance", "center")])
    name_thresholds(axes)
    least = min((end for row in rows for end in row[1:3] if end is not None), default=0.0)
    _label_topics(axes, rows, min(-0.1, least - 0.05))
    axes.set_xlabel("Krippendorff's alpha (1: full agreement)")


def _machine(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw the agreement of machine and person above that of two people, with intervals."""
    rows: Sequence[Any] = exhibit.rows
    for y, (_, value, low, high) in enumerate(rows):
        colour, marker = COLOURS[y], ("D", "o")[y]
        if low is not None:
            axes.plot([low, high], [y, y], color=colour, linewidth=2.4)
        axes.plot([value], [y], color=colour, marker=marker, markersize=6)
        axes.text(value, y - 0.16, decimal_text(value), ha="center", va="bottom", fontsize=7.5)
    _name_lines(axes, [(0, "chance", "center")])
    least = min(end for row in rows for end in row[1:3] if end is not None)
    _label_topics(axes, rows, min(-0.1, least - 0.05))
    axes.set_xlabel(f"{exhibit.columns[1]} (1: full agreement)")


def _rands(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a dot for each topic, and the line from which two assessors agree."""
    rows: Sequence[Any] = exhibit.rows
    for y, (_, value, threshold) in enumerate(rows):
        colour, marker = (COLOURS[0], "o") if value >= threshold else (COLOURS[1], "s")
        axes.plot([value], [y], color=colour, marker=marker, markersize=4)
    threshold = rows[0][2]
    _name_lines(axes, [(threshold, f"enough, {decimal_text(threshold)} ", "right")])
    _label_topics(axes, rows, min(0.0, min(row[1] for row in rows)) - 0.05)
    axes.set_xlabel("adjusted Rand index (1: full agreement)")


def name_thresholds(axes: "Axes") -> None:
    """Draw the lines from which alpha allows tentative conclusions, and is reliable."""
    _name_lines(
        axes, [(TENTATIVE, "tentative .667 ", "right"), (RELIABLE, " reliable .80", "left")]
    )


def _forest(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a square for each study, a diamond for their mean, lines for kind and a new site."""
    rows: Sequence[Any] = exhibit.rows
    sites = sum(row[0] == "site" for row in rows)
    for y, (what, _, lead, low, high) in enumerate(rows):
        colour = {"site": COLOURS[0], "mean": COLOURS[1], "weighted": GREY}.get(what, COLOURS[2])
        is_diamond = what in ("mean", "weighted") and low is not None
        if is_diamond:
            corners = [(low, y), (lead, y - 0.28), (high, y), (lead, y + 0.28)]
            axes.fill(*zip(*corners, strict=True), color=colour, linewidth=0)
        elif low is not None:
            style = (0, (2, 1.5)) if what == "new" else "-"
            width = 1.4 if what == "site" else 2.2
            axes.plot([low, high], [y, y], color=colour, linewidth=width, linestyle=style)
        if lead is not None and not is_diamond:
            axes.plot([lead], [y], color=colour, marker="s", markersize=4.5)
    if sites < len(rows):
        axes.axhline(sites - 0.5, color=GREY, linewidth=0.6)
    _name_lines(axes, [(0, "no lead", "center")])
    axes.set_yticks(range(len(rows)), [_short(str(row[1])) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("lead in points (right: for the first)")


def _name_lines(axes: "Axes", lines: Sequence[tuple[float, str, str]]) -> None:
    """Draw reference lines with their names above the drawing."""
    for place, name, side in lines:
        axes.axvline(place, **DASHED)
        axes.text(
            *(place, 1.01, name),
            transform=axes.get_xaxis_transform(),
            ha=side,
            va="bottom",
            fontsize=7.5,
        )


def _label_topics(axes: "Axes", rows: Sequence[Any], least: float) -> None:
    axes.set_yticks(range(len(rows)), [_short(str(row[0])) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(least, 1.03)


# Each figure's drawing function, and its height in inches for a number of rows.
FIGURES = {
    "run-leads": (_leads, lambda rows: 0.75 + 0.46 * rows),
    "alpha-by-topic": (_alphas, lambda rows: 0.9 + 0.2 * max(4, rows)),
    "machine-agreement": (_machine, lambda rows: 0.9 + 0.4 * rows),
    "forest": (_forest, lambda rows: 0.9 + 0.22 * max(4, rows)),
    "rand-by-topic": (_rands, lambda rows: 0.9 + 0.2 * max(4, rows)),
}
