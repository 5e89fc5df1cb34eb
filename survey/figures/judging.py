"""The figures of labels and groups: agreement by topic, and what refining gained by round."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from survey.core.statistics.significance import Interval
from survey.figures.analysis import OF_BOTH, draw_intervals, percent
from survey.figures.exhibit import COLOURS, GREY, MARKERS, Cell, Exhibit, legend, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FIGURE_TOPICS = 40  # of a figure
LONGEST_TOPIC = 24  # characters
NOT_DEFINED = "no topic was judged by two people"


def agreement_by_topic(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], note: str
) -> Exhibit:
    """Tabulate indices of agreement by topic, the least by the first index first.

    ``rows``: a topic and its indices, None where one is not defined. Of more than
    MOST_FIGURE_TOPICS topics, those with the least agreement.
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
        note="Of the preferences that the measure does not tie. 95 % intervals. This kind: for "
        "questions of this kind; these: for these alone.",
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


def _agreement(axes: "Axes", exhibit: Exhibit) -> None:
    _topic_markers(axes, exhibit)
    axes.set_xlabel("1 is full agreement")
    legend(axes, 2)


def _clusters(axes: "Axes", exhibit: Exhibit) -> None:
    _topic_markers(axes, exhibit)
    axes.set_xlabel("number of clusters")
    axes.set_xlim(left=0)
    whole_numbers(axes)
    legend(axes, 3)


def _topic_markers(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a marker for each topic and column, the topics from above."""
    topics, *columns = zip(*exhibit.rows, strict=True)
    for index, (name, column) in enumerate(zip(exhibit.columns[1:], columns, strict=True)):
        points = [(value, y) for y, value in enumerate(column) if value is not None]
        marker: dict[str, Any] = {"color": COLOURS[index], "marker": MARKERS[index]}
        axes.plot(*zip(*points, strict=True), linestyle="none", markersize=4, label=name, **marker)
    short = [each if len(each) <= LONGEST_TOPIC else f"{each[:LONGEST_TOPIC]}…" for each in topics]
    names = [each.replace("$", r"\$") for each in short]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _gain(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a line for each type of examples over the rounds."""
    rounds, *columns = zip(*exhibit.rows, strict=True)
    for index, (name, column) in enumerate(zip(exhibit.columns[1:], columns, strict=True)):
        marker: dict[str, Any] = {"color": COLOURS[index], "marker": MARKERS[index]}
        axes.plot(rounds, column, markersize=4, linewidth=1.2, label=name, **marker)
    axes.set_xlabel("round")
    axes.set_ylabel("mean precision")
    whole_numbers(axes)
    legend(axes, 2)


def _preferences(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw each measure's share with its intervals, and a line where a random choice is."""
    axes.axvline(50, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    unit = "% of the preferences,\n95 % intervals"  # on a single line it is cut off
    draw_intervals(axes, exhibit, unit, [COLOURS[0]] * len(exhibit.rows))
    legend(axes, 2)


# Each figure's drawing function, and its height in inches for a number of rows.
FIGURES = {
    "agreement-by-topic": (_agreement, lambda rows: 0.9 + 0.2 * rows),
    "clusters-by-topic": (_clusters, lambda rows: 0.9 + 0.2 * rows),
    "gain-by-round": (_gain, lambda _: 2.4),
    "agreement-with-preferences": (_preferences, lambda rows: 1.0 + 0.3 * max(3, rows)),
}
