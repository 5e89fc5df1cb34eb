"""The figure of arrivals: how many participants had begun and finished, by when."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from survey.figures.exhibit import COLOURS, Exhibit, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MINUTE = "%Y-%m-%d %H:%M"


def arrivals(rows: Sequence[tuple[datetime, int, int]]) -> Exhibit:
    """Tabulate how many had begun and finished by each moment; the first row is of the beginning.

    ``rows``: moments in UTC, with counts that only grow.
    """
    words = ""
    if rows:
        (start, *_), (end, begun, finished) = rows[0], rows[-1]
        words = (
            f"From {start:{MINUTE}} to {end:{MINUTE}} UTC, {begun} participant"
            f"{'s' * (begun != 1)} began and {finished} finished."
        )
    return Exhibit(
        name="arrivals",
        title="Participants over time",
        columns=("until (UTC)", "begun", "finished"),
        rows=tuple((f"{moment:{MINUTE}}", *counts) for moment, *counts in rows),
        alternative=words,
        note="Times in UTC. Test data and excluded participants are left out.",
        why=None if rows else "no one who counts has begun",
    )


def _arrivals(axes: "Axes", exhibit: Exhibit) -> None:
    """Draw a line for those who have begun, and one for those who have finished."""
    from matplotlib import dates
    from matplotlib.ticker import MaxNLocator

    times, *columns = zip(*exhibit.rows, strict=True)
    moments: Any = [datetime.strptime(str(each), MINUTE) for each in times]
    for name, counts, colour, dashes in zip(
        exhibit.columns[1:], columns, COLOURS, ("solid", "dashed"), strict=False
    ):
        axes.plot(moments, counts, color=colour, linestyle=dashes, linewidth=1.5, label=name)
    drawn: Any = dates  # matplotlib gives types to a part of it only
    locator = drawn.AutoDateLocator(minticks=3, maxticks=6)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(drawn.ConciseDateFormatter(locator))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("participants")
    legend(axes, 2)


# The figure's drawing function, and its height in inches for a number of rows.
FIGURES = {
    "arrivals": (_arrivals, lambda _: 2.2),
}
