"""The files of a study's answers: how each was shown, what was ticked, and what that credits.

They grow with the answers, so their lines are put together by hand, of parts that are the same
for many; ``lines_of`` would take several times as long.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from survey.core.agreement.credits import credited_measures
from survey.core.stimuli.rankings import Ranking
from survey.db.models import Participant, Presentation, StoredResponse
from survey.services.exchange.content import Content
from survey.services.exchange.question_tables import MEASURE, NOTATION, QUESTION, YES_NO
from survey.services.exchange.table import (
    SEEN,
    Column,
    Row,
    Table,
    cell_of,
    lines_of,
    moment_of,
    spaced,
    text_of,
    written,
)


def _responses(content: Content) -> Iterator[str]:
    """Write an answer: millions of them are shown and ticked in some thousand ways."""
    for one in content.answers():
        # Taken apart at once, which takes half as long as a name at a time.
        who, number, place, shown, clicked, own, shown_at, sent_at, seconds, changes, test, out = (
            one
        )
        yield (
            f"{text_of(who)},{number},{place},{_spaced(shown.label_order)},"
            f"{_spaced(shown.column_order)},{_spaced(shown.list_order)},"
            f"{_ticked(clicked)},{_notation(own)},{moment_of(shown_at)},{moment_of(sent_at)},"
            f"{cell_of(seconds)},{cell_of(changes)},{test:d},{out:d}\n"
        )


@lru_cache(SEEN)
def _spaced(order: tuple[object, ...]) -> str:
    return text_of(spaced(order))


@lru_cache(SEEN)
def _ticked(labels: frozenset[int]) -> str:
    return spaced(sorted(labels))


@lru_cache(SEEN)
def _notation(own: Ranking | None) -> str:
    return "" if own is None else text_of(str(own))


def _votes(content: Content) -> Iterator[str]:
    """Write the votes of an answer, one line a measure.

    After the participant, answers with the same labels and ticks say the same.
    """
    measures, rankings = content.plan.measures, content.rankings

    @lru_cache(SEEN)
    def said(question: int, label_order: tuple[str, ...], clicked: frozenset[int]) -> list[str]:
        rows = _votes_of(question, label_order, clicked, measures, rankings[question])
        return ["", *map(written, rows)]

    for participant, question, label_order, clicked in content.ballots():
        yield text_of(participant).join(said(question, label_order, clicked))


def _votes_of(
    question: int,
    label_order: tuple[str, ...],
    clicked: frozenset[int],
    measures: Sequence[str],
    orders: Mapping[str, Ranking],
) -> Iterator[Row]:
    credited = credited_measures(label_order, clicked, orders)
    for name in measures:
        label = label_order.index(name) + 1
        yield (
            *("", question, name, f"Method{label}", str(orders[name])),
            *(label in clicked, name in credited),
        )


@lines_of
def _first_rankings(content: Content) -> Iterator[Row]:
    for one in content.first_rankings():
        yield one.participant, one.question, str(one.ranking), one.given_at


PARTICIPANT = Column("participant", source=Participant.public_id)


RESPONSES = Table(
    "responses.csv",
    [
        PARTICIPANT,
        QUESTION,
        Column("position", source=Presentation.position),
        Column("label_order", source=Presentation.label_order),
        Column("column_order", source=Presentation.column_order),
        Column("list_order", source=Presentation.list_order),
        Column("clicked", source=StoredResponse.clicked),
        Column("custom_ranking", source=StoredResponse.own),
        Column("shown_at", source=Presentation.shown_at),
        Column("submitted_at", source=StoredResponse.submitted_at),
        Column("active_seconds", source=StoredResponse.active_seconds),
        Column("revisions", source=StoredResponse.revisions),
        Column("is_test", source=Participant.is_test),
        Column("excluded", source=Participant.excluded),
    ],
    _responses,
)
FIRST_RANKINGS = Table(
    "first_rankings.csv",
    [
        PARTICIPANT,
        QUESTION,
        Column("ranking", source=Presentation.ranked_first),
        Column("submitted_at", source=Presentation.ranked_at),
    ],
    _first_rankings,
)
VOTES = Table(
    "votes.csv",
    [
        PARTICIPANT,
        QUESTION,
        MEASURE,
        Column(
            "label",
            "the label the measure stood behind in this response",
            allowed="Method1, Method2, …",
        ),
        Column("ranking", "the order that the measure gives the lists", allowed=NOTATION),
        Column("clicked", "whether this label was ticked", *YES_NO),
        Column("credited", "whether the measure's order equals that of a ticked column", *YES_NO),
    ],
    _votes,
)
