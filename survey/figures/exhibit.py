"""An exhibit: the numbers and words of a figure; and the style that all figures share.

A figure is drawn from its exhibit's rows, so that drawing, table and text cannot disagree.
Colours are Okabe and Ito's, which most colour-blind people can distinguish, the lighter ones
darkened for contrast with white; markers differ too, so that a figure can be printed in grey.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cell = str | int | float | None


@dataclass(frozen=True)
class Exhibit:
    """A figure's numbers: ``name`` for files, ``title``, ``columns`` and ``rows``.

    ``alternative``: what the drawing shows, in words; ``note``: how to read it; ``why``:
    why there is nothing to be drawn, else None; ``totals``: whether the last row adds the
    others up; ``decimals``: of numbers as they are printed; ``mark``: a warning that is
    printed inside the drawing, so that every copy of it has the warning; ``kind``: how it is
    drawn, where several figures are drawn alike, else its name says it.
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
    kind: str = ""

    @property
    def digest(self) -> str:
        """A digest of all that is drawn: part of the address of the drawing, for caches."""
        return sha256(repr(self).encode()).hexdigest()[:12]


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C26C9B", "#B88000", "#3D94C9")
GREY = "#7F7F7F"
MARKERS = ("o", "s", "D", "^", "v", "P")
FIGURE_FORMATS = ("svg", "pdf", "png")
WIDTH = 3.7  # inches, of a page: legible on a phone
SMALLEST = 7  # points, of any text
DASHED = (0, (4, 3))
MOST_LEGEND_ENTRIES = 3  # more lines have their names beside them
LONGEST_NAME = 24  # characters of a name beside a line or in a legend
# Bundled with matplotlib: the same on every machine.
FONTS: Mapping[str, Any] = {
    "sans": {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"},
    "serif": {"font.family": "STIXGeneral", "mathtext.fontset": "stix"},
}


@dataclass(frozen=True)
class Look:
    """How a figure is set: ``width`` in inches, in which it is printed; ``font``: of FONTS."""

    width: float = WIDTH
    font: str = "sans"


STYLE: Any = {  # Any: matplotlib types the keys as literals
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "legend.handlelength": 1.5,
    "legend.columnspacing": 1.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "the same bytes each time",
    "pdf.fonttype": 42,
}
# Dates and versions would change the bytes of each file.
UNDATED: Mapping[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}


def legend(axes: "Axes", columns: int = MOST_LEGEND_ENTRIES) -> None:
    """Put the legend above the drawing, in as many columns as its width has room for."""
    handles, labels = axes.get_legend_handles_labels()
    figure: Any = axes.figure
    for count in range(min(columns, len(labels)), 0, -1):
        box = figure.legend(handles, labels, loc="outside upper center", ncols=count)
        if count == 1 or box.get_window_extent().width <= figure.bbox.width:
            return
        box.remove()


def name_line(axes: "Axes", at: float, name: str, *, across: bool = False) -> None:
    """Draw a dashed reference line with its name at its end.

    ``across``: at a value of the vertical axis, else of the horizontal one.
    """
    draw: Any = axes.axhline if across else axes.axvline
    draw(at, color=GREY, linewidth=0.8, linestyle=DASHED, zorder=0)
    axes.annotate(
        name,
        (1, at) if across else (at, 1),
        xycoords=("axes fraction", "data") if across else ("data", "axes fraction"),
        xytext=(2, 0) if across else (0, 2),
        textcoords="offset points",
        ha="left" if across else "center",
        va="center" if across else "bottom",
        fontsize=SMALLEST,
    )


def name_ends(
    axes: "Axes", ends: Sequence[tuple[str, float | None, float, Mapping[str, Any]]]
) -> None:
    """Write a name at the right for each line, with a piece of it; names are moved apart.

    ``ends``: name, place of the line's end, and how the line is drawn; the name is joined to the
    end unless its horizontal place is None. Call it once the limits of the axes are set.
    """
    figure: Any = axes.figure
    step = 1.25 * SMALLEST / 72  # inches of a name's line
    below = 0.6  # inches of what is below the axes, about
    figure.set_figheight(max(figure.get_figheight(), step * len(ends) + below))
    low, high = axes.get_ylim()
    apart = (high - low) * step / (figure.get_figheight() - below)
    ordered = sorted(ends, key=lambda end: end[2])
    places: list[float] = []
    for _, _, y, _ in ordered:
        places.append(max(y, places[-1] + apart if places else low))
    ceiling = high
    for index in reversed(range(len(places))):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - apart
    beside: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "clip_on": False}
    for (name, x, y, style), place in zip(ordered, places, strict=True):
        if x is not None:
            axes.annotate(
                "",
                (x, y),
                xytext=(1.05, place),
                textcoords=("axes fraction", "data"),
                arrowprops={"arrowstyle": "-", "color": style["color"], "linewidth": 0.5},
            )
        axes.plot([1.05, 1.09, 1.13], [place] * 3, **{**style, "markevery": [1]}, **beside)
        axes.text(1.16, place, shortened(name), va="center", fontsize=SMALLEST, **beside)


def fit_titles(figure: "Figure") -> None:
    """Break the titles of axes into lines where they would be cut off at the figure's edge."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        if axes.name == "3d":
            continue
        for side, axis in enumerate((axes.xaxis, axes.yaxis)):
            label: Any = axis.label
            (start, end), length = axes.bbox.get_points()[:, side], figure.bbox.size[side]
            middle = (start + end) / 2
            room = 2 * min(middle, length - middle) - 4
            box = label.get_window_extent()
            taken = (box.width, box.height)[side]
            if taken > room:
                lines = label.get_text().replace(" (", "\n(").split("\n")
                letters = int(len(label.get_text().split("\n")[0]) * room / taken)
                parts = (part for line in lines for part in wrap(line, max(8, letters)))
                label.set_text("\n".join(parts))


def shortened(name: str) -> str:
    """Return a name for a drawing; matplotlib leaves out _x in legends, and sets $x$ as formula."""
    short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{' ' * short.startswith('_')}{short}".replace("$", r"\$")


def whole_numbers(axes: "Axes") -> None:
    """Restrict the ticks of the horizontal axis to whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
