"""A figure drawn from its exhibit, and written as a file.

matplotlib is loaded where it is used, since it takes half a second, and only its
object-oriented side: pyplot keeps global state.
"""

import io
import threading
from typing import TYPE_CHECKING

from survey.core.agreement.exhibits import Exhibit
from survey.figures import analysis, paper
from survey.figures.style import GREY, STYLE, UNDATED, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_one_at_a_time = threading.Lock()  # matplotlib's settings are global


def draw(exhibit: Exhibit) -> "Figure":
    """Draw an exhibit; raises ValueError for one with nothing to be drawn."""
    if exhibit.why:
        raise ValueError(f"{exhibit.name} cannot be drawn: {exhibit.why}")
    from matplotlib.figure import Figure

    if exhibit.name in paper.DRAWN:
        figure = Figure(figsize=paper.SIZES[exhibit.name], layout="constrained")
        paper.DRAWN[exhibit.name](figure, exhibit)
    else:
        size = (WIDTH, analysis.HEIGHTS[exhibit.name](exhibit))
        figure = Figure(figsize=size, layout="constrained")
        analysis.DRAWN[exhibit.name](figure.add_subplot(), exhibit)
    if exhibit.mark:
        figure.supxlabel(exhibit.mark, color=GREY, fontsize=7)
    return figure


def written(exhibit: Exhibit, ending: str) -> bytes:
    """Return a figure as a file of that kind; the same exhibit gives the same bytes."""
    from matplotlib import rc_context, rcdefaults, rcParams

    sink = io.BytesIO()
    with _one_at_a_time, rc_context():
        rcdefaults()  # a machine's own matplotlibrc would draw otherwise
        rcParams.update(STYLE)
        draw(exhibit).savefig(
            sink,
            format=ending,
            dpi=300,
            transparent=ending == "svg",  # a page may be dark
            metadata=dict(UNDATED[ending]),
        )
    return sink.getvalue()
