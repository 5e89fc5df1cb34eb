"""long.csv, from which other programs decide between measures anew, and analysis.R, which does.

Of the responses from which the survey decides, each has a row for each two measures. A kind of
question that compares measures has the table among its results; then the script is beside it.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import ParticipantOrders
from survey.core.agreement.contrasts import CONTRASTS, contrast_part
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.differences import Pair, pairs
from survey.core.agreement.own_orderings import pairs_in_order
from survey.core.studies.rankings import Ranking
from survey.services.analysis.study_results import Analysis
from survey.services.exchange.tables import (
    PARTICIPANT,
    POSITION,
    QUESTION,
    Column,
    Content,
    Table,
    cell_of,
    text_of,
)

LONG = "long.csv"
SCRIPT = "analysis.R"
SECONDS = "seconds"
DIGITS = 12  # of a difference

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
    return Table(LONG, [*_COLUMNS, d, _CONTRAST], body)


def end_of_line(pair: Pair, d: float, first: Ranking, second: Ranking) -> str:
    """Return the cells of a pair in a response's line; ``first``, ``second``: its orders."""
    return f"{text_of(str(pair))},{d + 0.0:.{DIGITS}g},{contrast_part(first, second)}\n"


def start_of_line(
    participant: str, question: int, topic: str | None, position: int | None, seconds: float | None
) -> str:
    """Return the cells of a response, which its lines have in common."""
    return (
        f"{text_of(participant)},{question},{text_of(topic or '')},{cell_of(position)},"
        f"{cell_of(seconds)},"
    )


def ordering_lines(content: Content) -> Iterator[str]:
    """Yield the lines of an ordering study, a string for each response."""
    analysis: Analysis = content.results.analysis
    votes = analysis.votes
    ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
    ends = [*_ends_of_ballots(ballots, _values_of_ballots(analysis, ballots))]
    topics = {each.number: each.source.topic for each in content.questions if each.source}
    start = 0
    for block in votes.answers.blocks():
        of_block = ballots.ballot_index[start : start + len(block)].tolist()
        start += len(block)
        for ballot, (participant, question, position, seconds) in zip(
            of_block, _responses(block), strict=True
        ):
            line = start_of_line(participant, question, topics.get(question), position, seconds)
            yield "".join([line + end for end in ends[ballot]])


def _values_of_ballots(analysis: Analysis, ballots: Ballots) -> NDArray[np.float64]:
    """Return what a response of each ballot has for each measure, whose differences are tested."""
    if analysis.own_orderings is not None:
        return ParticipantOrders(ballots).against_measures(pairs_in_order)
    return tally_credits(ballots).votes


def _ends_of_ballots(ballots: Ballots, values: NDArray[np.float64]) -> Iterator[list[str]]:
    for question, of_ballot in zip(ballots.questions.tolist(), values.tolist(), strict=True):
        of_measure = dict(zip(ballots.measures, of_ballot, strict=True))
        orders = ballots.rankings[question]
        yield [
            end_of_line(
                pair,
                of_measure[pair.first] - of_measure[pair.second],
                *(orders[pair.first], orders[pair.second]),
            )
            for pair in pairs(ballots.measures)
        ]


def _responses(answers: Answers) -> Iterator[tuple[Any, ...]]:
    """Yield participant, question, position and seconds of each answer, None where unknown."""
    positions = (*answers.position.values, None)  # the last has the code −1
    return zip(
        np.repeat(answers.people, answers.answer_counts).tolist(),
        map(answers.question.values.__getitem__, answers.question.codes.tolist()),
        map(positions.__getitem__, answers.position.codes.tolist()),
        answers.seconds.tolist(),
        strict=True,
    )


def script() -> str:
    """Return the text of analysis.R."""
    return files("survey.services.exchange").joinpath(SCRIPT).read_text(encoding="utf-8")
