"""long.csv, from which other programs decide between measures anew, and analysis.R, which does.

Of the responses from which the survey decides, each has a row for each two measures. A kind of
question that compares measures has the table among its results; then the script is beside it.
"""

from collections.abc import Callable, Iterable
from importlib.resources import files

from survey.core.agreement.contrasts import CONTRASTS, contrast_part
from survey.core.agreement.differences import Pair
from survey.core.studies.rankings import Ranking
from survey.services.exchange.tables import (
    ANSWER_KEY,
    ANSWER_REFERENCES,
    PARTICIPANT,
    POSITION,
    QUESTION,
    Column,
    Content,
    Table,
    cell_of,
    csv_cell,
)

LONG = "long.csv"
SCRIPT = "analysis.R"
SECONDS = "seconds"
DIFFERENCE_DIGITS = 12  # of a difference

_COLUMNS = [
    *(PARTICIPANT, QUESTION),
    Column("topic", "what was searched for", allowed="empty where it is not known"),
    POSITION,
    Column(
        SECONDS,
        "for which the page was in view; where the browser did not count, from shown to submitted",
        "number",
        "0 or more; empty where it is not known",
    ),
    Column("pair", "two measures, the first and the second", allowed="joined by -"),
]
_CONTRAST = Column(
    "contrast",
    "how the pair's orders of the question's lists differ: they contradict each other, and tie as "
    "many pairs of lists that the other orders (balanced) or not (unbalanced); one ties lists that "
    "the other orders, and nothing more (ties_only); or they are the same (identical)",
    allowed=", ".join(CONTRASTS),
)


def long_table(of_d: str, body: Callable[[Content], Iterable[str]]) -> Table:
    """Return the table of a kind; ``of_d``: what the difference d of a response is."""
    d = Column("d", f"the first measure less the second: {of_d}", "number", "-1 to 1")
    key = [*ANSWER_KEY, "pair"]
    return Table(LONG, [*_COLUMNS, d, _CONTRAST], body, key, ANSWER_REFERENCES)


def end_of_line(pair: Pair, d: float, first: Ranking, second: Ranking) -> str:
    """Return the cells of a pair in a response's line; ``first``, ``second``: its orders."""
    return f"{csv_cell(str(pair))},{d + 0.0:.{DIFFERENCE_DIGITS}g},{contrast_part(first, second)}\n"


def start_of_line(
    participant: str, question: int, topic: str | None, position: int | None, seconds: float | None
) -> str:
    """Return the cells of a response, which its lines have in common."""
    return (
        f"{csv_cell(participant)},{question},{csv_cell(topic or '')},{cell_of(position)},"
        f"{cell_of(seconds)},"
    )


def script() -> str:
    """Return the text of analysis.R."""
    return files("survey.services.exchange").joinpath(SCRIPT).read_text(encoding="utf-8")
