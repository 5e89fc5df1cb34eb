"""Measures of two relevant items as surfaces over their ranks (the paper's Figures 3 and 8)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.exhibits import Exhibit
from survey.figures.style import COLOURS, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTERS = "abcd"
UNIT = "value, 0: best"


def columns_of(exhibit: Exhibit) -> dict[str, NDArray[np.float64]]:
    """Return an exhibit's columns by name, where all of them are numbers."""
    columns = zip(*exhibit.rows, strict=True)
    return {
        name: np.array(column, dtype=float)
        for name, column in zip(exhibit.columns, columns, strict=True)
    }


def surfaces(figure: "Figure", exhibit: Exhibit) -> None:
    """Surfaces over the two ranks, a panel each; of MNRO with its curves A and B."""
    columns = columns_of(exhibit)
    names = exhibit.columns[2:]
    for place, name in enumerate(names):
        axes: Any = figure.add_subplot(1, len(names), place + 1, projection="3d")
        _surface(axes, columns["Rank(i)"], columns["Rank(j)"], columns[name])
        if name == "MNRO":
            _curves_a_and_b(axes, columns)
        axes.set_title(
            f"({LETTERS[place]}) {name}" if len(names) > 1 else name, fontsize=8.5, y=0.98
        )


def _surface(axes: Any, i: NDArray[Any], j: NDArray[Any], level: NDArray[Any]) -> None:
    """Draw one surface: where Rank(j) < Rank(i), coloured by its height."""
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


def triangles(i: NDArray[Any], j: NDArray[Any]) -> list[tuple[int, int, int]]:
    """Return the two triangles of each square of neighbouring pairs, one at the edge."""
    at = {(int(a), int(b)): place for place, (a, b) in enumerate(zip(i, j, strict=True))}
    found = []
    for a, b in at:
        right, up, across = at.get((a + 1, b)), at.get((a, b + 1)), at.get((a + 1, b + 1))
        if right is not None and across is not None:
            found.append((at[a, b], right, across))
        if up is not None and across is not None:
            found.append((at[a, b], across, up))
    return found


def _curves_a_and_b(axes: Any, columns: Mapping[str, NDArray[Any]]) -> None:
    """Draw the enveloping curves a little above the surface, so that they are not hidden."""
    i, j, level = columns["Rank(i)"], columns["Rank(j)"], columns["MNRO"]
    curves = (("A", i == j + 1, COLOURS[1], "-"), ("B", i == i.max(), "#000000", (0, (4, 1.5))))
    for name, here, colour, dash in curves:
        axes.plot(
            *(i[here], j[here], level[here] + 0.01),
            color=colour,
            linestyle=dash,
            linewidth=2,
            label=f"{name}: Rank(i) = {'Rank(j) + 1' if name == 'A' else 'N'}",
            zorder=10,
        )
    legend(axes, 2)
