"""The figures of labels and groups: agreement by topic, and what refining gained by round."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from survey.core.statistics.significance import Interval, rounded
from survey.figures.analysis import INTERVALS, OF_BOTH, draw_intervals, label_rows, percent
from survey.figures.answers import name_thresholds
from survey.figures.exhibit import (
    COLOURS,
    MARKERS,
    MOST_LEGEND_ENTRIES,
    Cell,
    Exhibit,
    legend,
    name_ends,
    name_line,
    shortened,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FIGURE_TOPICS = 40  # of a figure
WITH_THRESHOLDS = "agreement-with-thresholds"
NOT_DEFINED = "no topic was judged by two people"


def agreement_by_topic(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    note: str,
    kind: str = "",
) -> Exhibit:
    """Tabulate indices of agreement by topic, the least by the first index first.

    ``rows``: a topic and its indices, None where one is not defined. Of more than
    MOST_FIGURE_TOPICS topics, those with the least agreement. ``kind``: WITH_THRESHOLDS where one
    of the indices is Krippendorff's alpha.
    """
    known = [row for row in rows if row[1] is not None]
    shown = sorted(known, key=lambda row: row[1])[:MOST_FIGURE_TOPICS]
    left_out = f" The {MOST_FIGURE_TOPICS} of {len(known)} topics with the least agreement."
    words = "; ".join(
        f"{name} {min(values):.2f} to {max(values):.2f}".replace("-", "−")
        for name, column in zip(columns, list(zip(*known, strict=True))[1:], strict=False)
        if (values := [value for value in column if value is not None])
    )
    return Exhibit(
        name="agreement-by-topic",
        title=title,
        columns=("topic", *columns),
        rows=tuple(tuple(row) for row in shown),
        alternative=f"Over {len(known)} topic{'s' * (len(known) != 1)}: {words}.",
        note=note + left_out * (len(known) > MOST_FIGURE_TOPICS),
        why=None if known else NOT_DEFINED,
        kind=kind,
    )


def clusters_by_topic(numbers: Mapping[str, Sequence[int | None]]) -> Exhibit:
    """Tabulate how many clusters each assessor made of each topic, the most different first.

    ``numbers``: of a topic, one for each of three assessors, None for who did not sort it. Of more
    than MOST_FIGURE_TOPICS topics, those on which the numbers differ most.
    """

    def difference(topic: str) -> int:
        counts = [count for count in numbers[topic] if count is not None]
        return max(counts) - min(counts)

    shown = sorted(numbers, key=difference, reverse=True)[:MOST_FIGURE_TOPICS]
    differ, every = sum(difference(topic) > 0 for topic in numbers), len(numbers)
    left_out = f" The {MOST_FIGURE_TOPICS} of {every} topics with the largest differences."
    return Exhibit(
        name="clusters-by-topic",
        title="Clusters per assessor and topic",
        columns=("topic", "first assessor", "second assessor", "third assessor"),
        rows=tuple((topic, *numbers[topic]) for topic in shown),
        alternative=f"On {differ} of {every} topic{'s' * (every != 1)} assessors made different "
        "numbers of clusters.",
        note="More clusters of the same documents are finer ones (granularity). The third sorts "
        "what the first two do not agree on." + left_out * (every > len(shown)),
        why=None if numbers else "no topic was sorted",
    )


def gain_by_round(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    why: str | None = "no annotator has refined a query",
) -> Exhibit:
    """Tabulate the mean precision of each round, a column for each type of examples.

    ``why``: there are no rows.
    """
    last = rows[-1] if rows else ()
    words = ", ".join(
        f"{value:.3f} by what was {name}"
        for name, value in zip(columns, last[1:], strict=False)
        if isinstance(value, float)
    )
    return Exhibit(
        name="gain-by-round",
        title="Mean precision by round",
        columns=("round", *columns),
        rows=tuple(tuple(row) for row in rows),
        alternative=f"{rows[0][1]:.3f} in round 0; in round {last[0]} {words}." if rows else "",
        note="Mean precision after 10, 20, … 100 documents, over the queries.",
        why=None if rows else why,
        decimals=4,
    )


def preferences_agreeing(
    rows: Sequence[tuple[str, float | None, Interval | None, Interval | None]],
) -> Exhibit:
    """Tabulate each measure's share of the preferences that agree with it, in %.

    ``rows``: a measure, its share, and its intervals for questions of this kind and for these.
    """
    tabulated = tuple(
        (name, *map(percent, (share, *(population or (None, None)), *(these or (None, None)))))
        for name, share, population, these in rows
    )
    known = [(name, share) for name, share, *_ in rows if share is not None]
    summary = "; ".join(f"{name} {100 * share:.1f} %" for name, share in known)
    return Exhibit(
        name="agreement-with-preferences",
        title="Preferences that agree with each measure, in %",
        columns=("measure", "share", *OF_BOTH),
        rows=tabulated,
        decimals=1,
        alternative=f"Agreement with people's preferences: {summary}. A random choice gives 50 %.",
        note=f"Of the preferences that the measure does not tie. {INTERVALS}",
        why=None if known else "no preference counts",
    )


def run_preferences(
    rows: Sequence[tuple[str, float | None, Interval | None, Interval | None]], topics: str
) -> Exhibit:
    """Tabulate how often the first of two runs is preferred, in %, a tie as half.

    ``rows``: "A over B", the share, and its intervals for topics of this kind and for these;
    ``topics``: "topics" or "questions".
    """
    exhibit = preferences_agreeing(rows)
    summary = "; ".join(
        f"{name} {100 * share:.1f} %" for name, share, *_ in rows if share is not None
    )
    return replace(
        exhibit,
        name="run-preferences",
        kind=exhibit.name,
        title="How often each run is preferred to another, in %",
        columns=("runs", *exhibit.columns[1:]),
        alternative=f"Preferences between runs: {summary}. At 50 % neither is preferred.",
        note="Of 100 comparisons, a tie as half, by all runs' strengths. 95 % intervals, each "
        f"of its pair by itself. This kind: for {topics} of this kind; these: for these alone.",
    )


def strengths_of_runs(rows: Sequence[tuple[str, float | None, Interval | None]]) -> Exhibit:
    """Tabulate the runs' strengths by Bradley and Terry, with intervals.

    ``rows``: run, strength, interval; those that people prefer first.
    """
    known = [(run, strength) for run, strength, _ in rows if strength is not None]
    summary = "; ".join(f"{run} {rounded(strength, 2)}" for run, strength in known)
    return Exhibit(
        name="run-strengths",
        title="Strengths of the runs by people's preferences, in log-odds",
        columns=("run", "strength", "from", "to"),
        rows=tuple((run, strength, *(ci95 or (None, None))) for run, strength, ci95 in rows),
        decimals=2,
        alternative=f"Strengths: {summary}. Their mean is 0.",
        note="By Bradley and Terry; equally good and neither good count as half a win for each. "
        "95 % intervals: for people and questions of this kind, by the variance components of "
        "participants and questions.",
        why=None if known else "no strength is defined",
    )


def places_of_runs(
    rows: Sequence[
        tuple[str, float | None, Interval | None, Interval | None, Mapping[str, float | None]]
    ],
) -> Exhibit:
    """Tabulate the runs' mean places in people's orderings with intervals, and in the measures'.

    ``rows``: run, people's mean, its intervals for questions of this kind and for these, and the
    mean by each measure.
    """
    measures = [*rows[0][-1]] if rows else []
    known = [(run, place) for run, place, *_ in rows if place is not None]
    summary = "; ".join(f"{run} {place:.2f}" for run, place in known)
    return Exhibit(
        name="run-places",
        title="Mean place of each run among the lists of a question",
        columns=("run", "people", *OF_BOTH, *(f"by {name}" for name in measures)),
        rows=tuple(
            (run, place, *(ci95 or (None, None)), *(these or (None, None)), *by_measure.values())
            for run, place, ci95, these, by_measure in rows
        ),
        decimals=2,
        alternative=f"Mean places by people: {summary}. 1 is best.",
        note=f"1 is best. {INTERVALS}",
        why=None if known else "no answer orders the runs",
    )


def _strengths(axes: "Axes", exhibit: Exhibit) -> None:
    rows: Sequence[Any] = exhibit.rows
    name_line(axes, 0, "mean of the runs")
    for y, (_, strength, low, high) in enumerate(rows):
        if low is not None:
            axes.plot([low, high], [y] * 2, color=COLOURS[0], linewidth=1.4)
        if strength is not None:
            axes.plot([strength], [y], color=COLOURS[0], marker="o", markersize=4)
    label_rows(axes, rows)
    axes.set_xlabel("strength in log-odds (right: preferred)")


def _places(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw people's mean places with their intervals, and the measures' as open marks."""
    draw_intervals(axes, exhibit, "mean place (left: better)", [COLOURS[0]] * len(exhibit.rows))
    rows: Sequence[Any] = exhibit.rows
    marks = [
        (place, y + 0.11) for y, row in enumerate(rows) for place in row[6:] if place is not None
    ]
    style: dict[str, Any] = {"marker": "D", "fillstyle": "none", "linestyle": "none"}
    places = [[mark[axis] for mark in marks] for axis in (0, 1)]
    axes.plot(*places, color=COLOURS[1], markersize=4, label="by each measure", **style)
    axes.set_xlim(left=min(1, *axes.get_xlim()))
    legend(axes)


def _agreement(axes: "Axes", exhibit: Exhibit) -> None:
    least = _topic_markers(axes, exhibit)
    axes.set_xlim(least - 0.03, 1.01)
    axes.set_xlabel("agreement (right: more; 1: full)")
    legend(axes)


def _agreement_with_thresholds(axes: "Axes", exhibit: Exhibit) -> None:
    _agreement(axes, exhibit)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))  # else a threshold may be outside
    name_thresholds(axes)


def _clusters(axes: "Axes", exhibit: Exhibit) -> None:
    _topic_markers(axes, exhibit)
    axes.set_xlabel("number of clusters")
    axes.set_xlim(left=0)
    whole_numbers(axes)
    legend(axes)


def _topic_markers(axes: "Axes", exhibit: Exhibit) -> float:
    """Draw a marker for each topic and column, the topics from above; return the least value."""
    topics, *columns = zip(*exhibit.rows, strict=True)
    for index, (name, column) in enumerate(zip(exhibit.columns[1:], columns, strict=True)):
        shift = 0.25 * (index - (len(columns) - 1) / 2)  # else one would hide an equal one
        points = [(value, y + shift) for y, value in enumerate(column) if value is not None]
        marker: dict[str, Any] = {"color": COLOURS[index], "marker": MARKERS[index]}
        axes.plot(*zip(*points, strict=True), linestyle="none", markersize=4, label=name, **marker)
    axes.set_yticks(range(len(topics)), [shortened(topic) for topic in topics])
    axes.set_ylim(len(topics) - 0.5, -0.5)
    return float(min(value for column in columns for value in column if value is not None))


def _gain(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a line for each type of examples over the rounds."""
    rounds, *columns = zip(*exhibit.rows, strict=True)
    ends = []
    for index, (name, column) in enumerate(zip(exhibit.columns[1:], columns, strict=True)):
        line: dict[str, Any] = {"color": COLOURS[index], "marker": MARKERS[index]}
        line |= {"markersize": 4, "linewidth": 1.2}
        axes.plot(rounds, column, label=name, **line)
        ends.append((name, rounds[-1], column[-1], line))
    axes.set_xlabel("round of refining")
    axes.set_ylabel("mean precision (up: better)")
    whole_numbers(axes)
    if len(ends) <= MOST_LEGEND_ENTRIES:
        legend(axes)
    else:
        name_ends(axes, ends)


def _preferences(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw each row's share with its intervals, and a line where a random choice is."""
    name_line(axes, 50, "no preference" if exhibit.kind else "random choice")
    unit = "% of the preferences (right: for it)"
    draw_intervals(axes, exhibit, unit, [COLOURS[0]] * len(exhibit.rows))
    legend(axes)


# Each figure's drawing function, and its height in inches for a number of rows.
FIGURES = {
    "agreement-by-topic": (_agreement, lambda rows: 0.9 + 0.2 * max(3, rows)),
    WITH_THRESHOLDS: (_agreement_with_thresholds, lambda rows: 1.1 + 0.2 * max(3, rows)),
    "clusters-by-topic": (_clusters, lambda rows: 0.9 + 0.2 * max(3, rows)),
    "gain-by-round": (_gain, lambda _: 2.4),
    "run-strengths": (_strengths, lambda rows: 0.8 + 0.28 * max(3, rows)),
    "run-places": (_places, lambda rows: 1.1 + 0.3 * max(3, rows)),
    "agreement-with-preferences": (_preferences, lambda rows: 1.1 + 0.3 * max(3, rows)),
}
