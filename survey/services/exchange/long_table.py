"""long.csv, from which other programs decide between measures anew, and analysis.R, which does.

Of the responses from which the survey decides, each has a row for each two measures. A kind of
question that compares measures has the table among its results; then the script is beside it.
"""

from collections.abc import Callable, Iterable
from importlib.resources import files

from survey.core.agreement.contrasts import CONTRASTS, contrast_part
from survey.core.agreement.differences import Pair
from survey.core.studies.rankings import Ranking
from survey.services.exchange.answer_columns import (
    ANSWER_KEY,
    ANSWER_REFERENCES,
    COUNTING,
    EARLIER_TOPIC,
    STUDY,
    AnswerCells,
)
from survey.services.exchange.tables import (
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
    *(STUDY, PARTICIPANT, QUESTION, EARLIER_TOPIC, POSITION),
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
    columns = [*_COLUMNS, d, _CONTRAST, *COUNTING]
    return Table(LONG, columns, body, key, ANSWER_REFERENCES)


def pair_cells(pair: Pair, d: float, first: Ranking, second: Ranking) -> str:
    """Return the cells of a pair in a response's line; ``first``, ``second``: its orders."""
    return f"{csv_cell(str(pair))},{d + 0.0:.{DIFFERENCE_DIGITS}g},{contrast_part(first, second)}"


def response_lines(
    cells: AnswerCells,
    participant: str,
    question: int,
    position: int | None,
    seconds: float | None,
    pairs: Iterable[str],
) -> str:
    """Return the lines of a response, one for the ``pair_cells`` of each pair."""
    start, end = cells.of(participant)
    start += f"{cells.questions[question]},{cell_of(position)},{cell_of(seconds)},"
    return f"{start}{f'{end}{start}'.join(pairs)}{end}"


def script() -> str:
    """Return the text of analysis.R."""
    return files("survey.services.exchange").joinpath(SCRIPT).read_text(encoding="utf-8")
