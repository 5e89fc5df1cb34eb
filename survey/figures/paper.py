"""Drawing functions for the MNRO paper's figures: each draws an exhibit on a figure."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.nmrr_mnro import mnro_horizon, nmrr_horizon
from survey.figures.exhibit import COLOURS, GREY, MARKERS, WIDTH, Exhibit, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_LETTERS = "abcd"
UNIT = "value, 0: best"
WIDE = 2 * WIDTH
LIMITS = (-0.03, 1.05)  # all three measures are in [0, 1]
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
STYLE_INDEX = {"1-AP": 0, "NMRR": 1, "MNRO": 2}  # of colour, marker and dashes


def _mark_k(axes: "Axes", horizon: float) -> None:
    """Draw K as a thin line with its label at the foot, where no curve hides it."""
    axes.axvline(horizon, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    axes.annotate(
        f"K = {horizon:g}",
        (horizon, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(3, 0),
        textcoords="offset points",
        color=GREY,
        fontsize=7,
    )


def _known_item(figure: "Figure", exhibit: Exhibit) -> None:
    """Draw curves over the position of one item, each with its own marker."""
    axes = figure.add_subplot()
    first, *names = exhibit.columns
    columns = _columns(exhibit)
    for name in names:
        capped = "," in name
        index = 4 if capped else STYLE_INDEX[name]
        axes.plot(
            columns[first],
            columns[name],
            label=name,
            color=COLOURS[index],
            marker=MARKERS[index],
            markersize=3.5,
            linewidth=1.2,
            linestyle=(0, (2, 2)) if capped else "-",
            fillstyle="none" if capped else "full",
            zorder=1.5 if capped else 2,  # where both coincide, NMRR is on top
        )
    _mark_k(axes, nmrr_horizon(1))
    axes.set_ylim(*LIMITS)
    axes.set_xticks([1, 4, 8, 12, 16, 20])
    axes.set_xlabel("Rank(q)")
    axes.set_ylabel(UNIT)
    legend(axes, 3)


def _pairs(figure: "Figure", exhibit: Exhibit) -> None:
    """Draw curves over Combined_Rank, with an upper axis that shows where Rank(i) begins."""
    axes = figure.add_subplot()
    first, _, _, *names = exhibit.columns
    columns = _columns(exhibit)
    for name in names:
        index = STYLE_INDEX[name]
        style: dict[str, Any] = {"color": COLOURS[index], "linestyle": DASHES[index]}
        axes.plot(columns[first], columns[name], label=name, linewidth=1.1, **style)
    later = [2, 5, 8, 11, 14, 17, 20]
    starts = [(i - 1) * (i - 2) / 2 + 1 for i in later]
    upper_axis = axes.secondary_xaxis("top")
    upper_axis.set_xticks(starts, [str(i) for i in later])
    upper_axis.set_xlabel("Rank(i) begins")
    axes.set_xlim(0, len(exhibit.rows) + 1)
    axes.set_ylim(*LIMITS)
    axes.set_xlabel("Combined_Rank")
    axes.set_ylabel(UNIT)
    legend(axes, len(names))


def _envelopes(figure: "Figure", exhibit: Exhibit) -> None:
    """Draw two panels of two curves, shaded between them, where the values of all pairs are."""
    columns = _columns(exhibit)
    first, *names = exhibit.columns
    panels: Sequence[Axes] = figure.subplots(1, 2, sharey=True)
    for index, axes in enumerate(panels):
        lower, upper = names[2 * index : 2 * index + 2]
        measure = lower.split(", ")[0]
        colour = COLOURS[STYLE_INDEX[measure]]
        axes.fill_between(columns[first], columns[lower], columns[upper], color=colour, alpha=0.15)
        for name, marker in ((upper, "^"), (lower, "o")):
            axes.plot(
                *(columns[first], columns[name]),
                color=colour,
                marker=marker,
                markersize=3.5,
                linewidth=1.2,
                label=name.split(", ")[1],
            )
        axes.set_title(f"({PANEL_LETTERS[index]}) {measure}", fontsize=8.5)
        axes.set_xlabel("Rank(i)")
        axes.set_xticks([2, 5, 8, 11, 14, 17, 20])
        axes.set_ylim(*LIMITS)
        axes.legend(loc="center right", bbox_to_anchor=(0.97, 0.63))
    panels[0].set_ylabel(UNIT)
    _mark_k(panels[1], nmrr_horizon(2))


def _growing(figure: "Figure", exhibit: Exhibit) -> None:
    """Draw a panel for each size in the caption: the same curve over a growing axis."""
    from matplotlib.ticker import FuncFormatter

    columns = _columns(exhibit)
    sizes = [size for size in np.unique(columns["N"]) if size >= 1000]
    panels: Sequence[Axes] = figure.subplots(2, 2, sharey=True).flat
    for index, (axes, size) in enumerate(zip(panels, sizes, strict=True)):
        rows = columns["N"] == size
        axes.plot(columns["Rank(q)"][rows], columns["MNRO"][rows], color=COLOURS[2], linewidth=1.3)
        axes.axhline(0.95, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
        _mark_k(axes, mnro_horizon(1, int(size)))
        axes.set_title(f"({PANEL_LETTERS[index]}) N = {size:.0f}", fontsize=8.5)
        axes.set_xlim(0, size / 10)
        axes.set_xticks([0, size / 20, size / 10])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda rank, _: f"{rank:.0f}"))
        axes.set_yticks([0, 0.5, 0.95])
        axes.set_ylim(*LIMITS)
        if index % 2 == 0:
            axes.set_ylabel("MNRO")
    figure.supxlabel("Rank(q), the first tenth of the collection", fontsize=8.5)


def _columns(exhibit: Exhibit) -> dict[str, NDArray[np.float64]]:
    """Return column name → numbers; raises ValueError for cells that are text."""
    columns = zip(*exhibit.rows, strict=True)
    return {
        name: np.array(column, dtype=float)
        for name, column in zip(exhibit.columns, columns, strict=True)
    }


def _surfaces(figure: "Figure", exhibit: Exhibit) -> None:
    """Draw surfaces over the two ranks, a panel each; MNRO with its curves A and B."""
    columns = _columns(exhibit)
    names = exhibit.columns[2:]
    for index, name in enumerate(names):
        axes: Any = figure.add_subplot(1, len(names), index + 1, projection="3d")
        _surface(axes, columns["Rank(i)"], columns["Rank(j)"], columns[name])
        if name == "MNRO":
            _curves_a_and_b(axes, columns)
        axes.set_title(
            f"({PANEL_LETTERS[index]}) {name}" if len(names) > 1 else name, fontsize=8.5, y=0.98
        )


def _surface(
    axes: Any, i: NDArray[np.float64], j: NDArray[np.float64], level: NDArray[np.float64]
) -> None:
    """Draw a surface where Rank(j) < Rank(i), coloured by its height."""
    axes.plot_trisurf(
        *(i, j, level),
        triangles=triangles(i, j),
        cmap="cividis",
        linewidth=0.2,
        edgecolor="#FFFFFF80",
        vmin=0,
        vmax=1,
    )
    axes.set_xlabel("Rank(i)", labelpad=-4)
    axes.set_ylabel("Rank(j)", labelpad=-4)
    axes.set_zlim(0, 1)
    axes.zaxis.set_rotate_label(False)
    axes.set_zlabel(UNIT, labelpad=-1, rotation=90)
    axes.set_xticks([2, 8, 14, 20])
    axes.set_yticks([1, 8, 14, 19])
    axes.tick_params(pad=-2, labelsize=7)
    axes.view_init(elev=28, azim=-125)
    axes.set_box_aspect(None, zoom=0.9)


def triangles(i: NDArray[np.float64], j: NDArray[np.float64]) -> list[tuple[int, int, int]]:
    """Return the triangles between neighbouring pairs as indices of pairs.

    A square of four pairs has two triangles, a corner at the edge Rank(j) = Rank(i) − 1 one.
    """
    index = {(int(a), int(b)): k for k, (a, b) in enumerate(zip(i, j, strict=True))}
    corners = []
    for a, b in index:
        right, up = index.get((a + 1, b)), index.get((a, b + 1))
        across = index.get((a + 1, b + 1))
        if right is not None and across is not None:
            corners.append((index[a, b], right, across))
        if up is not None and across is not None:
            corners.append((index[a, b], across, up))
    return corners


def _curves_a_and_b(axes: Any, columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Draw the enveloping curves a little above the surface, so that they are not hidden."""
    i, j, level = columns["Rank(i)"], columns["Rank(j)"], columns["MNRO"]
    curves = (("A", i == j + 1, COLOURS[1], "-"), ("B", i == i.max(), "#000000", (0, (4, 1.5))))
    for name, pairs, colour, dash in curves:
        axes.plot(
            *(i[pairs], j[pairs], level[pairs] + 0.01),
            color=colour,
            linestyle=dash,
            linewidth=2,
            label=f"{name}: Rank(i) = {'Rank(j) + 1' if name == 'A' else 'N'}",
            zorder=10,
        )
    legend(axes, 2)


def _generality(figure: "Figure", exhibit: Exhibit) -> None:
    """Draw each measure's deviation from set A, in a panel for each ranking."""
    names = [column for column in exhibit.columns if column.endswith(", %")]
    rankings = [*dict.fromkeys(str(row[0]) for row in exhibit.rows)]
    panels = figure.subplots(2, -(-len(rankings) // 2), sharex=True, sharey=True, squeeze=False)
    for axes, ranking in zip(panels.flat, rankings, strict=False):
        rows = [row for row in exhibit.rows if row[0] == ranking]
        for index, name in enumerate(names):
            values = [row[exhibit.columns.index(name)] for row in rows]
            if None not in values:
                axes.plot(
                    [str(row[1]) for row in rows],
                    values,
                    label=name.removesuffix(", %"),
                    color=COLOURS[index],
                    marker=MARKERS[index],
                    markersize=3.5,
                    linewidth=1.2,
                    linestyle="--" if "printed" in name else "-",  # it may be the same line
                )
        axes.axhline(0, color=GREY, linewidth=0.8, zorder=0)
        axes.set_title(ranking, fontsize=8)
        axes.set_xlabel("set", fontsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("deviation from A, %", fontsize=8)
    for axes in panels.flat[len(rankings) :]:
        axes.remove()
    figure.legend(
        *panels.flat[len(rankings) - 1].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=3,
    )


# Each figure's drawing function, and its size in inches.
FIGURES: Mapping[str, tuple[Callable[["Figure", Exhibit], None], tuple[float, float]]] = {
    "figure1": (_known_item, (WIDTH, 2.8)),
    "figure2": (_pairs, (WIDE, 3.0)),
    "figure3": (_surfaces, (WIDE, 3.4)),
    "figure4": (_envelopes, (WIDE, 2.8)),
    "figure5": (_known_item, (WIDTH, 2.7)),
    "figure6": (_growing, (WIDE, 3.8)),
    "figure7": (_pairs, (WIDE, 3.0)),
    "generality": (_generality, (WIDE, 4.0)),
    "figure8": (_surfaces, (1.25 * WIDTH, 3.6)),
}
