"""Drawing functions for the figures of an analysis: each draws an exhibit on axes."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from survey.core.agreement.exhibits import Exhibit
from survey.figures.style import COLOURS, GREY, MARKERS, legend, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = Sequence[Any]  # Any: cells are numbers or text, as the exhibit's columns say


def _votes_per_question(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a dot for each measure and question, the dots of a question one above the other."""
    names, rows = exhibit.columns[1:-1], _rows(exhibit)[:-1]
    step = 0.6 / len(names)
    for index, name in enumerate(names):
        offset = (index - (len(names) - 1) / 2) * step
        axes.plot(
            [row[index + 1] for row in rows],
            [number + offset for number in range(len(rows))],
            linestyle="none",
            markersize=4,
            label=name,
            **_marker(index, name),
        )
    for number in range(len(rows) - 1):
        axes.axhline(number + 0.5, color=GREY, linewidth=0.4, alpha=0.5)
    axes.set_yticks(range(len(rows)), [str(row[0]) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=-0.5)
    axes.set_ylabel("question")
    axes.set_xlabel("votes")
    whole_numbers(axes)
    legend(axes, len(names))


def _rows(exhibit: Exhibit) -> Rows:
    return exhibit.rows


def _marker(index: int, name: str) -> dict[str, Any]:
    if name == "OTHER":
        return {"color": GREY, "marker": "x"}
    return {"color": COLOURS[index], "marker": MARKERS[index]}


def _intervals(axes: "Axes", exhibit: Exhibit, unit: str, colours: Sequence[str]) -> None:
    """Draw a stroke and two intervals for each row: T2 long and thin, T1 short and thick."""
    for y, (_, middle, *ends) in enumerate(_rows(exhibit)):
        colour = colours[y]
        for shift, (low, high), width in ((-0.11, ends[:2], 1.4), (0.11, ends[2:4], 3.5)):
            if low is not None:
                axes.plot(
                    [low, high],
                    [y + shift] * 2,
                    color=colour,
                    linewidth=width,
                    solid_capstyle="butt",
                )
        if middle is not None:
            axes.plot([middle] * 2, [y - 0.24, y + 0.24], color="#000000", linewidth=1.4)
    axes.set_yticks(range(len(exhibit.rows)), [str(row[0]) for row in exhibit.rows])
    axes.set_ylim(len(exhibit.rows) - 0.5, -0.5)
    axes.set_xlabel(unit)
    for width, label in ((1.4, "questions of this kind (T2)"), (3.5, "these questions (T1)")):
        axes.plot([], [], color=GREY, linewidth=width, label=label)


def _shares(axes: "Axes", exhibit: Exhibit) -> None:
    colours = (*COLOURS[: len(exhibit.rows) - 1], GREY)
    _intervals(axes, exhibit, "% of the responses, 95 % intervals", colours)
    axes.set_xlim(left=0)
    legend(axes, 2)


def _differences(axes: "Axes", exhibit: Exhibit) -> None:
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    # One colour for all: measures have the others, and a pair is not a measure.
    colours = [COLOURS[0]] * len(exhibit.rows)
    _intervals(axes, exhibit, "points of the responses, 95 % intervals", colours)
    blind = [(row[-1], y) for y, row in enumerate(_rows(exhibit)) if row[-1] is not None]
    axes.plot(
        [points for points, _ in blind],
        [y for _, y in blind],
        linestyle="none",
        marker="D",
        markersize=4,
        color=COLOURS[1],
        label="by random clicks",
    )
    legend(axes, 2)


def _agreement_rates(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw the measures as dots over the range of the participants."""
    measures, people = _rows(exhibit)[:-3], _rows(exhibit)[-3:]
    best, median, worst = (row[1] for row in people)
    if median is not None:
        axes.axvspan(worst, best, color=GREY, alpha=0.18, linewidth=0, label="participants")
        axes.axvline(median, color=GREY, linewidth=1.2, label="median participant")
    for y, (_, strict, half) in enumerate(measures):
        marker: dict[str, Any] = {
            "color": COLOURS[y],
            "marker": MARKERS[y],
            "linestyle": "none",
        }
        axes.plot([strict], [y], markersize=5, **marker)
        axes.plot([half], [y], markersize=5, fillstyle="none", **marker)
    axes.set_yticks(range(len(measures)), [str(row[0]) for row in measures])
    axes.set_ylim(len(measures) - 0.5, -0.5)
    axes.set_xlabel("agreement rate over list pairs")
    for fill, label in (("full", "strict"), ("none", "half credit")):
        axes.plot([], [], color=GREY, marker="o", linestyle="none", fillstyle=fill, label=label)
    legend(axes, 2)


def _tau_b(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a box for each measure from the five numbers of its row."""
    for y, (_, count, *numbers) in enumerate(_rows(exhibit)):
        if not count:
            continue
        least, lower, middle, upper, most = numbers
        colour = COLOURS[y]
        axes.plot([least, most], [y] * 2, color=colour, linewidth=1.2)
        axes.barh(y, upper - lower, 0.4, lower, color=colour, alpha=0.35, edgecolor=colour)
        axes.plot([middle] * 2, [y - 0.2, y + 0.2], color="#000000", linewidth=1.6)
    axes.set_yticks(range(len(exhibit.rows)), [str(row[0]) for row in exhibit.rows])
    axes.set_ylim(len(exhibit.rows) - 0.5, -0.5)
    axes.set_xlabel("participants' mean tau-b: range, quartiles, median")


def _bias(axes: "Axes", exhibit: Exhibit) -> None:
    labels = [row for row in _rows(exhibit) if not str(row[0]).startswith("column")]
    for y, row in enumerate(_rows(exhibit)):
        later = y >= len(labels)
        axes.barh(y + 0.5 * later, row[2] or 0, 0.7, color=COLOURS[1 if later else 0])
    axes.axvline(100 / len(labels), color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    heights = [y + 0.5 * (y >= len(labels)) for y in range(len(exhibit.rows))]
    axes.set_yticks(heights, [str(row[0]) for row in exhibit.rows])
    axes.set_ylim(heights[-1] + 0.6, -0.6)
    axes.set_xlabel("% of the clicks; dashed: without bias")


def _time(axes: "Axes", exhibit: Exhibit) -> None:
    timed = [row for row in _rows(exhibit) if row[2] is not None]
    axes.plot(
        [row[0] for row in timed],
        [row[2] for row in timed],
        color=COLOURS[0],
        marker="o",
        markersize=4,
        linewidth=1.2,
    )
    axes.set_ylim(0, max(1.0, 1.1 * max(row[2] for row in timed)))
    axes.set_xlabel("place of the question in a session")
    axes.set_ylabel("median seconds")
    whole_numbers(axes)


DRAWERS: Mapping[str, Callable[["Axes", Exhibit], None]] = {
    "votes-per-question": _votes_per_question,
    "shares": _shares,
    "differences": _differences,
    "agreement-rate": _agreement_rates,
    "tau-b": _tau_b,
    "bias": _bias,
    "time": _time,
}
HEIGHTS: Mapping[str, Callable[[Exhibit], float]] = {
    "votes-per-question": lambda exhibit: 0.9 + 0.28 * len(exhibit.rows),
    **dict.fromkeys(
        ("shares", "tau-b"),
        lambda exhibit: 1.0 + 0.3 * max(3, len(exhibit.rows)),
    ),
    "differences": lambda exhibit: 1.2 + 0.3 * max(3, len(exhibit.rows)),
    "agreement-rate": lambda exhibit: 1.2 + 0.3 * max(3, len(exhibit.rows) - 3),
    "bias": lambda exhibit: 0.7 + 0.22 * len(exhibit.rows),
    "time": lambda _: 2.2,
}
