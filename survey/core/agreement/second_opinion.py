"""A second opinion on each pair of measures: a crossed mixed logit of the answers that decide.

An answer decides between two measures where it credits one of them alone. The odds that it is the
first are modelled with effects of participants and of questions, so the opinion rests on other
assumptions than the verdict does, and it says how far participants differ. It is descriptive: no
verdict rests on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import DESCRIPTIVE, Pair, differences, pairs
from survey.core.statistics.mixed_logit import MixedLogit, fit_mixed_logit
from survey.core.statistics.rater_agreement import QUANTILE, wilson
from survey.core.statistics.significance import Interval, Statistic, without_zeros

# Participants × questions with an answer that decides. The largest take a second for three pairs.
MOST_CELLS = 5_000


@dataclass(frozen=True)
class ParticipantDifference:
    """How much more often a participant's answers credit the first measure alone than the second.

    Of the answers that decide; in [-1, 1]. ``difference``, ``ci95``: of these answers by
    themselves (Wilson); ``shrunken``, ``shrunken_ci95``: drawn towards the others' by the model.
    """

    participant: str
    first: int
    second: int
    difference: float
    ci95: Interval
    shrunken: float
    shrunken_ci95: Interval


@dataclass(frozen=True, kw_only=True)
class SecondOpinion(Statistic):
    """The posterior of a mixed logit; numbers are None where it is not fitted.

    ``first``, ``second``: answers that credit that measure alone; ``log_odds``: posterior median
    for an average participant and question, with its 95 % credible interval; ``first_ahead``:
    probability that it is above 0; ``participants_sd``, ``questions_sd``: by how much the log odds
    differ, posterior means; ``participants``: sorted by their own difference.
    """

    pair: Pair
    first: int
    second: int
    log_odds: float | None = None
    ci95: Interval | None = None
    first_ahead: float | None = None
    participants_sd: float | None = None
    questions_sd: float | None = None
    participants: tuple[ParticipantDifference, ...] = ()


def second_opinions(credits: Credits, people: Sequence[str]) -> tuple[SecondOpinion, ...]:
    """Return the opinion on every pair; ``people``: the ids of the participants."""
    return tuple(_opinion(credits, pair, np.asarray(people)) for pair in pairs(credits.measures))


def _opinion(credits: Credits, pair: Pair, people: NDArray[np.str_]) -> SecondOpinion:
    d = differences(credits, pair)
    counts = [int(credits.counts @ chosen) for chosen in (d > 0, d < 0)]
    result = partial(
        SecondOpinion,
        pair=pair,
        first=counts[0],
        second=counts[1],
        estimand=DESCRIPTIVE,
        n=sum(counts),
        unit="answers",
        left_out=without_zeros({"credit both or neither": len(credits) - sum(counts)}),
    )
    too_many = result(
        why=f"it is fitted to at most {MOST_CELLS:,} participants × questions, since in larger "
        "studies the tests leave little open"
    )
    if sum(counts) > MOST_CELLS:  # so that those of a million participants are not even tabulated
        return too_many
    who, first, second = _decided(credits, d)
    if min(first.shape) < 2:
        return result(why="it needs answers of two participants to two questions that decide")
    if first.size > MOST_CELLS:
        return too_many
    fit = fit_mixed_logit(first, second)
    return result(
        log_odds=fit.beta,
        ci95=fit.ci95,
        first_ahead=fit.above_zero,
        participants_sd=fit.row_sd,
        questions_sd=fit.column_sd,
        participants=_participants(people[who].tolist(), first, second, fit),
    )


def _decided(
    credits: Credits, d: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Count the answers that decide by participant and question, for the first and the second.

    Returns the indices of the participants, and two tables, (participants, questions), in which
    each row and column has an answer.
    """
    ballots = credits.ballots
    signs = (np.sign(d) * credits.counted)[ballots.ballot_index]
    decides = np.flatnonzero(signs)
    people = np.repeat(np.arange(len(ballots.answer_counts)), ballots.answer_counts)
    who, rows = np.unique(people[decides], return_inverse=True)
    numbers, columns = np.unique(
        ballots.questions[ballots.ballot_index[decides]], return_inverse=True
    )
    first, second = np.zeros((2, len(who), len(numbers)))
    for table, sign in ((first, 1), (second, -1)):
        chosen = signs[decides] == sign
        np.add.at(table, (rows[chosen], columns[chosen]), 1)
    return who, first, second


def _participants(
    people: Sequence[str], first: NDArray[np.float64], second: NDArray[np.float64], fit: MixedLogit
) -> tuple[ParticipantDifference, ...]:
    won, lost = first.sum(axis=1), second.sum(axis=1)
    own = (won - lost) / (won + lost)
    low, high = (2 * end - 1 for end in wilson(won, won + lost))
    shrunken, *reaches = (fit.differences(reach).tolist() for reach in (0.0, -QUANTILE, QUANTILE))
    columns = (
        *(people, won.astype(int).tolist(), lost.astype(int).tolist(), own.tolist()),
        *(zip(low.tolist(), high.tolist(), strict=True), shrunken, zip(*reaches, strict=True)),
    )
    rows = [ParticipantDifference(*row) for row in zip(*columns, strict=True)]
    # Equal but for rounding must come in the same order on every machine.
    return tuple(
        sorted(rows, key=lambda row: (row.difference, round(row.shrunken, 9), row.participant))
    )
