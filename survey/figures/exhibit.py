"""An exhibit: the numbers and words of a figure; and the style that all figures share.

A figure is drawn from its exhibit's rows, so that drawing, table and text cannot disagree.
Colours are Okabe and Ito's, which most colour-blind people can distinguish, the lighter ones
darkened for contrast with white; markers differ too, so that a figure can be printed in grey.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
WIDTH = 3.7  # inches: about a column of a paper, and legible on a phone

STYLE: Any = {  # Any: matplotlib types the keys as literals
    "font.size": 8.5,
    "font.family": "DejaVu Sans",  # bundled with matplotlib: the same on every machine
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


def legend(axes: "Axes", columns: int) -> None:
    """Put the legend above the drawing, in at most four columns."""
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles, labels, loc="outside upper center", ncols=min(columns, 4))


def whole_numbers(axes: "Axes") -> None:
    """Restrict the ticks of the horizontal axis to whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
