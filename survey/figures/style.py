"""Colours, markers, sizes and matplotlib settings that all figures share.

Colours are Okabe and Ito's, which most colour-blind people can distinguish, the lighter ones
darkened for contrast with white; markers differ too, so that a figure can be printed in grey.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C26C9B", "#B88000", "#3D94C9")
GREY = "#7F7F7F"
MARKERS = ("o", "s", "D", "^", "v", "P")
FORMATS = ("svg", "pdf", "png")
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
UNDATED: Mapping[str, Mapping[str, Any]] = {
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
