"""The graphs of runs: precision and recall, ROC, generality, sub-topics; numbers and drawing."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from survey.core.collections.curves import S_RECALL_LEVELS, Curves
from survey.core.collections.evaluation import Evaluation
from survey.core.measures import Measure, Values
from survey.core.statistics.significance import mean_ci95
from survey.figures.exhibit import (
    COLOURS,
    DASHED,
    GREY,
    MARKERS,
    MOST_LEGEND_ENTRIES,
    SMALLEST,
    Cell,
    Exhibit,
    legend,
    name_ends,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RUN_DASHES = ("-", (0, (4, 1.5)), (0, (1.5, 1.2)))  # of the runs 1 to 6, 7 to 12, …
MARKED = 12  # points of a curve that have a marker, about
SHOWN_AT = (5, 10, 20)  # positions that texts name
NO_SIZE = "the size of the collection is not known"


def graph_exhibits(curves: Curves) -> tuple[Exhibit, ...]:
    """Compute the numbers of the graphs, in the order of a report."""
    graphs = (eleven_points(curves), precision_recall(curves), roc(curves), by_generality(curves))
    has_clusters = any(run.s_recall is not None for run in curves.runs.values())
    diverse = (s_recall_graph(curves), s_precision_graph(curves)) if has_clusters else ()
    return (*graphs, *diverse)


def run_means(evaluation: Evaluation) -> Iterator[Exhibit]:
    """Tabulate the runs' means by each measure with their intervals, the best run first."""
    queries = f"{len(evaluation.queries)} quer{'y' if len(evaluation.queries) == 1 else 'ies'}"
    for measure in evaluation.measures:
        rows = [
            (run, evaluation.mean(run, measure.name), *_interval(values[measure.name], measure))
            for run, values in evaluation.values.items()
        ]
        rows.sort(key=lambda row: row[1], reverse=measure.better == "higher")
        best, value, *_ = rows[0]
        yield Exhibit(
            name=f"mean-{re.sub(r'[^A-Za-z0-9]+', '-', measure.name).strip('-')}",
            title=f"{measure.mean_name} over {queries}",
            columns=("run", f"{measure.mean_name}, {measure.better} is better", "from", "to"),
            rows=tuple(rows),
            alternative=f"Of {len(rows)} runs {best} is best: {value:.3f}.",
            note="95 % intervals of each mean by itself, by the t of the queries. Whether two "
            "runs differ is no matter of these, as both are of the same queries.",
            kind="run-means",
        )


def _interval(values: Values, measure: Measure) -> tuple[float | None, float | None]:
    """Return the interval of a mean, within what the measure can be."""
    low, high = mean_ci95(values)
    if low is None or high is None:
        return None, None
    return max(low, measure.lowest), min(high, measure.highest)


def eleven_points(curves: Curves) -> Exhibit:
    """Tabulate the mean interpolated precision of each run at eleven levels of recall."""
    columns = [run.at_recall.tolist() for run in curves.runs.values()]
    rows = tuple((tenth / 10, *values) for tenth, values in enumerate(zip(*columns, strict=True)))
    ends = "; ".join(
        f"{name} {values[0]:.2f}, {values[5]:.2f}, {values[10]:.2f}"
        for name, values in zip(curves.runs, columns, strict=True)
    )
    return Exhibit(
        name="precision-recall-11",
        title=f"Interpolated precision at eleven levels of recall, {_queries(curves)}",
        columns=("recall", *curves.runs),
        rows=rows,
        alternative=f"Precision at recall 0, .5 and 1: {ends}.",
        note="The highest precision at that recall or more, 0 where it is not reached.",
    )


def precision_recall(curves: Curves) -> Exhibit:
    """Tabulate mean precision and recall of each run after k documents."""
    pairs = {name: (run.recall, run.precision) for name, run in curves.runs.items()}
    words = "; ".join(
        f"{name} precision {run.precision[-1]:.2f} at recall {run.recall[-1]:.2f}"
        for name, run in curves.runs.items()
    )
    return Exhibit(
        name="precision-recall",
        title=f"Precision and recall after k documents, {_queries(curves)}",
        columns=("k", *_pair_columns(curves, "recall", "precision")),
        rows=_rows_at_positions(curves, [each for pair in pairs.values() for each in pair]),
        alternative=f"After {curves.positions[-1]} documents: {words}.",
        note="Means over the queries at each k, from the left to the right.",
    )


def roc(curves: Curves) -> Exhibit:
    """Tabulate the shares of irrelevant and of relevant documents that came back, after k."""
    known = all(run.fallout is not None for run in curves.runs.values())
    why = None if curves.collection_size is not None and known else NO_SIZE
    pairs = [] if why else [(run.fallout, run.recall) for run in curves.runs.values()]
    words = "; ".join(
        f"{name} {recall[-1]:.2f} of the relevant and {fallout[-1]:.2g} of the others"
        for name, (fallout, recall) in zip(curves.runs, pairs, strict=False)
        if fallout is not None
    )
    return Exhibit(
        name="roc",
        title=f"ROC: relevant and irrelevant documents after k, {_queries(curves)}",
        columns=("k", *_pair_columns(curves, "irrelevant", "relevant")),
        rows=() if why else _rows_at_positions(curves, [each for pair in pairs for each in pair]),
        alternative=f"After {curves.positions[-1]} documents came back: {words}.",
        note="Means of the shares over the queries. Dashed: a list in random order.",
        why=why,
        decimals=4,
    )


def by_generality(curves: Curves) -> Exhibit:
    """Tabulate the precision that equals recall of each query, by the query's generality."""
    size, runs = curves.collection_size, curves.runs.values()
    rows: list[tuple[Cell, ...]] = []
    if size is not None:
        rows = [
            (query, relevant, relevant / size, *(run.r_precision[place].item() for run in runs))
            for place, (query, relevant) in enumerate(
                zip(curves.queries, curves.relevant, strict=True)
            )
        ]
    words = ", ".join(f"{name} {run.r_precision.mean():.2f}" for name, run in curves.runs.items())
    return Exhibit(
        name="precision-by-generality",
        title="Precision of each query where it equals recall, by generality",
        columns=("query", "relevant", "generality", *curves.runs),
        rows=tuple(sorted(rows, key=lambda row: row[1])),  # type: ignore[arg-type, return-value] # numbers
        alternative=f"A point for each query and run. Means: {words}.",
        note="Generality is NG/N. Precision equals recall after NG documents (R-precision); a "
        "random order has the generality itself, dashed. After Huijsmans and Sebe 2005.",
        why=NO_SIZE if size is None else None,
        decimals=4,
    )


def s_recall_graph(curves: Curves) -> Exhibit:
    """Tabulate the mean S-recall of each run after k documents."""
    columns = [run.s_recall for run in curves.runs.values()]
    places = [place for place, k in enumerate(curves.positions) if k in SHOWN_AT]
    words = "; ".join(
        f"{name} {', '.join(f'{column[place]:.2f}' for place in places)}"
        for name, column in zip(curves.runs, columns, strict=True)
        if column is not None
    )
    named = ", ".join(str(curves.positions[place]) for place in places)
    return Exhibit(
        name="s-recall",
        title="S-recall after k documents, mean over the queries with clusters",
        columns=("k", *curves.runs),
        rows=_rows_at_positions(curves, columns),
        alternative=f"S-recall after {named} documents: {words}." if places else "",
        note="The share of a query's sub-topics among the first k documents.",
    )


def s_precision_graph(curves: Curves) -> Exhibit:
    """Tabulate the mean S-precision of each run at ten levels of S-recall."""
    columns = [
        run.s_precision.tolist() for run in curves.runs.values() if run.s_precision is not None
    ]
    ends = "; ".join(
        f"{name} {values[0]:.2f}, {values[4]:.2f}, {values[9]:.2f}"
        for name, values in zip(curves.runs, columns, strict=True)
    )
    levels = map(float, S_RECALL_LEVELS)
    return Exhibit(
        name="s-precision",
        title="S-precision at levels of S-recall, mean over the queries with clusters",
        columns=("S-recall", *curves.runs),
        rows=tuple(zip(levels, *columns, strict=True)),
        alternative=f"S-precision at S-recall .1, .5 and 1: {ends}.",
        note="The shortest list that could cover so many sub-topics, divided by how far down the "
        "run covers them; 0 where it never does.",
    )


def _queries(curves: Curves) -> str:
    count = len(curves.queries)
    return "1 query" if count == 1 else f"mean over {count} queries"


def _pair_columns(curves: Curves, first: str, second: str) -> tuple[str, ...]:
    return tuple(f"{name}: {what}" for name in curves.runs for what in (first, second))


def _rows_at_positions(curves: Curves, columns: Any) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each position with its value in each column."""
    values = [column.tolist() for column in columns]
    return tuple(zip(curves.positions, *values, strict=True))


def _line(index: int, points: int) -> dict[str, Any]:
    """Return how the line of a run is drawn: colours and markers repeat with other dashes."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": RUN_DASHES[index // len(COLOURS) % len(RUN_DASHES)],
        "markevery": max(1, points // MARKED),
        "markersize": 3.2,
        "linewidth": 1.2,
    }


def _columns(exhibit: Exhibit) -> list[tuple[Any, ...]]:
    return list(zip(*exhibit.rows, strict=True))


def _over_first_column(axes: "Axes", exhibit: Exhibit, x: str, y: str) -> None:
    """Draw a line for each run over the first column."""
    first, *columns = _columns(exhibit)
    runs = [
        (name, first, column) for name, column in zip(exhibit.columns[1:], columns, strict=True)
    ]
    _draw_runs(axes, runs, x, y)


def _over_pairs(axes: "Axes", exhibit: Exhibit, x: str, y: str) -> None:
    """Draw a line for each two columns after the first, the second over the first of them."""
    _, *columns = _columns(exhibit)
    names = [name.rpartition(":")[0] for name in exhibit.columns[1::2]]
    _draw_runs(axes, [*zip(names, columns[::2], columns[1::2], strict=True)], x, y)


def _draw_runs(
    axes: "Axes", runs: Sequence[tuple[str, Sequence[Any], Sequence[Any]]], x: str, y: str
) -> None:
    """Draw a line for each run: its name, the places across and the places up."""
    ends = []
    for index, (name, across, up) in enumerate(runs):
        line = _line(index, len(up))
        axes.plot(across, up, label=shortened(name), **line)
        ends.append((name, across[-1], up[-1], line))
    _finish(axes, x, y, ends)


def _finish(axes: "Axes", x: str, y: str, ends: Sequence[tuple[str, Any, Any, Any]]) -> None:
    """Name axes and lines: a few lines in a legend, more of them at their ends."""
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if len(ends) <= MOST_LEGEND_ENTRIES:
        legend(axes)
    else:
        name_ends(axes, ends)


def _name_random_order(axes: "Axes", at: float) -> None:
    """Write at a point of the dashed diagonal what it is."""
    place: dict[str, Any] = {"xytext": (-2, 3), "textcoords": "offset points", "ha": "right"}
    axes.annotate("random order", (at, at), fontsize=SMALLEST, **place)


def _eleven_points(axes: "Axes", exhibit: Exhibit) -> None:
    _over_first_column(axes, exhibit, "recall", "interpolated precision (up: better)")


def _precision_recall(axes: "Axes", exhibit: Exhibit) -> None:
    axes.set_xlim(-0.03, 1.03)
    _over_pairs(axes, exhibit, "recall", "precision (up: better)")


def _roc(axes: "Axes", exhibit: Exhibit) -> None:
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, linestyle=DASHED)
    across = "share of the irrelevant documents"
    _over_pairs(axes, exhibit, across, "share of the relevant ones (up: better)")
    axes.set_xlim(left=0)
    _name_random_order(axes, axes.get_xlim()[1])


def _by_generality(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a marker for each query and run over the logarithm of the generality.

    Names of many runs are beside their means.
    """
    _, _, generality, *columns = _columns(exhibit)
    ends = []
    for index, (name, column) in enumerate(zip(exhibit.columns[3:], columns, strict=True)):
        line = _line(index, 1) | {"linestyle": "none", "alpha": 0.75}
        axes.plot(generality, column, label=shortened(name), **line)
        ends.append((name, None, sum(column) / len(column), line))
    axes.set_xscale("log")
    if len({*generality}) > 1:
        axes.plot(generality, generality, color=GREY, linewidth=0.8, linestyle=DASHED)
        _name_random_order(axes, max(generality))
    _finish(axes, "generality (NG/N)", "precision = recall (up: better)", ends)


def _s_recall(axes: "Axes", exhibit: Exhibit) -> None:
    last: Any = exhibit.rows[-1][0]
    if last > 20:
        axes.set_xscale("log")
    _over_first_column(axes, exhibit, "documents (k)", "S-recall (up: better)")
    if last > 20:
        axes.xaxis.set_major_formatter("{x:g}")


def _s_precision(axes: "Axes", exhibit: Exhibit) -> None:
    _over_first_column(axes, exhibit, "S-recall", "S-precision")


def _means(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw each run's mean with its interval, a row each."""
    rows: Sequence[Any] = exhibit.rows
    for y, (_, mean, low, high) in enumerate(rows):
        if low is not None:
            axes.plot([low, high], [y] * 2, color=COLOURS[0], linewidth=1.4)
        axes.plot([mean], [y], color=COLOURS[0], marker="o", markersize=4)
    axes.set_yticks(range(len(rows)), [shortened(row[0]) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    name, better = exhibit.columns[1].split(", ")
    direction = "right" if better.startswith("higher") else "left"
    axes.set_xlabel(f"{name} ({direction}: better)")


# Each figure's drawing function, and its height in inches for a number of rows.
FIGURES = {
    "run-means": (_means, lambda rows: 0.7 + 0.22 * max(3, rows)),
    "precision-recall-11": (_eleven_points, lambda _: 2.8),
    "precision-recall": (_precision_recall, lambda _: 2.8),
    "roc": (_roc, lambda _: 2.8),
    "precision-by-generality": (_by_generality, lambda _: 2.8),
    "s-recall": (_s_recall, lambda _: 2.8),
    "s-precision": (_s_precision, lambda _: 2.8),
}
