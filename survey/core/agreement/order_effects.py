"""Whether answers depend on where in a session they come, how long they took, or where one ticked.

Learning or tiredness would make later answers differ from earlier ones, and haste quick ones from
slow ones. A habit would make people tick the place that they ticked before. Each is tested over
participants.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, looked_up
from survey.core.agreement.credits import Ballots, Credits
from survey.core.agreement.differences import Pair, differences, pairs
from survey.core.statistics.significance import Interval, holm, t_test

LATER, SLOWER = "later less earlier", "slower less faster"
FEWEST = 4  # answers of a participant who counts
TOO_FEW_ANSWERS = "it needs two participants with four answers, who differ"
SAME_ORDER = (
    "all participants had the questions in the same order, so position cannot be told from question"
)
NO_HABIT = "it needs two participants who tick twice"

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Sessions:
    """The answers of some participants, in columns, those of a participant one after another.

    ``person``: the participant of each, from 0; ``question``: its index, from 0; ``position`` in
    the session and ``seconds`` taken: NaN where unknown.
    """

    person: NDArray[np.int64]
    question: NDArray[np.int64]
    position: Numbers
    seconds: Numbers


@dataclass(frozen=True)
class OrderEffect:
    """How a pair's difference changes within participants.

    ``contrast``: LATER or SLOWER half of a participant's answers less the other, the middle one
    left out; ``mean`` over the ``participants`` with four answers that can be halved, in votes per
    response; ``p_holm``: over all pairs and contrasts. Where no two participants answered any two
    questions in opposite orders, later answers are those to other questions, and nothing is told.
    """

    contrast: str
    pair: Pair
    participants: int
    mean: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    p_holm: float | None = None
    ci95: Interval | None = None
    why: str | None = None


@dataclass(frozen=True)
class CarryOver:
    """How much more often than by chance people tick the place that they ticked before.

    ``mean``: the share of an answer's ticks in places that the answer before ticked, less the
    share of places that these are; over the ``participants`` with two such answers.
    """

    participants: int
    mean: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    ci95: Interval | None = None
    why: str | None = None


def order_effects(answers: Answers, credits: Credits) -> tuple[OrderEffect, ...]:
    """Compare each participant's later and earlier answers, and the slower and the faster ones."""
    compared = pairs(credits.measures)
    d = np.array([differences(credits, pair) for pair in compared])
    return effects_of_ballots(answers, credits.ballots, compared, d, credits.counted)


def effects_of_ballots(
    answers: Answers, ballots: Ballots, compared: Sequence[Pair], d: Numbers, counted: Mask
) -> tuple[OrderEffect, ...]:
    """Compare the halves of each participant's answers, whose ballots have d, (pairs, K)."""
    parts = (
        (_sessions(block), d[:, of_block], counted[of_block])
        for block, of_block in _blocks(answers, ballots.ballot_index)
    )
    return effects_of(compared, parts, len(answers.question.values))


def effects_of(
    compared: Sequence[Pair], parts: Iterable[tuple[Sessions, Numbers, Mask]], questions: int
) -> tuple[OrderEffect, ...]:
    """Compare the halves of each participant's answers.

    ``parts``: some participants' answers, each pair's d of them, (pairs, answers), and which of
    them count; ``questions``: how many there are.
    """
    if not compared:
        return ()
    by_contrast: dict[str, list[Numbers]] = {LATER: [], SLOWER: []}
    before = np.zeros((questions, questions), dtype=bool)
    for sessions, d, counted in parts:
        _note_order(before, sessions, counted)
        people = int(sessions.person.max(initial=-1)) + 1
        for contrast, keys in ((LATER, sessions.position), (SLOWER, sessions.seconds)):
            weights = _halves(sessions.person, keys, counted & ~np.isnan(keys))
            has_halves = np.bincount(sessions.person, np.abs(weights), people) > 0
            effects = [
                np.bincount(sessions.person, weights * of_pair, people)[has_halves] for of_pair in d
            ]
            by_contrast[contrast].append(np.array(effects))
    results = [
        OrderEffect(contrast, pair, len(values), **_tested(values))
        for contrast, blocks in by_contrast.items()
        for pair, values in zip(
            compared, np.hstack([np.zeros((len(compared), 0)), *blocks]), strict=True
        )
    ]
    if not (before & before.T).any():
        results = [_without_test(effect) for effect in results]
    corrected = holm([effect.p for effect in results])
    return tuple(replace(each, p_holm=p) for each, p in zip(results, corrected, strict=True))


def _without_test(effect: OrderEffect) -> OrderEffect:
    """Return an effect of position without its test, where position is that of the question."""
    if effect.contrast != LATER or effect.p is None:
        return effect
    return OrderEffect(LATER, effect.pair, effect.participants, why=SAME_ORDER)


def _note_order(before: Mask, sessions: Sessions, counted: Mask) -> None:
    """Enter which question, the row, someone answered before which, the column.

    Nothing more is entered once two participants had two questions in opposite orders.
    """
    rows = np.flatnonzero(counted & ~np.isnan(sessions.position))
    rows = rows[np.lexsort((sessions.position[rows], sessions.person[rows]))]
    person, question = sessions.person[rows], sessions.question[rows]
    position = sessions.position[rows]
    most = int(np.bincount(person).max(initial=0))
    for apart in range(1, most):
        if (before & before.T).any():
            return
        both = (person[apart:] == person[:-apart]) & (position[apart:] > position[:-apart])
        before[question[:-apart][both], question[apart:][both]] = True


def carry_over(answers: Answers, measures: Sequence[str]) -> CarryOver:
    """Compare the place of each answer's ticks with that of the answer before, by position."""
    sets = 1 << len(measures)
    places = np.zeros((len(answers.column_order.values) + 1, sets), dtype=np.uint8)  # last: unknown
    for row, order in enumerate(answers.column_order.values):
        for place, label in enumerate(order):
            places[row] |= ((np.arange(sets) >> (label - 1) & 1) << place).astype(np.uint8)
    return habit_of(
        (
            (_sessions(block), looked_up(places, block.column_order.codes, block.clicked))
            for block in answers.blocks()
        ),
        len(measures),
    )


def habit_of(parts: Iterable[tuple[Sessions, NDArray[np.uint8]]], columns: int) -> CarryOver:
    """Compare the places of ticks with those of the answer before.

    ``parts``: some participants' answers, and the sum of 2^place over the places that each ticks.
    """
    count = np.array([bits.bit_count() for bits in range(256)], dtype=np.float64)
    means = []
    for sessions, ticked in parts:
        in_order = np.lexsort((sessions.position, sessions.person))
        known = ~np.isnan(sessions.position[in_order]) & (ticked[in_order] > 0)
        person, ticks = sessions.person[in_order], ticked[in_order]
        valid = (person[1:] == person[:-1]) & known[1:] & known[:-1]
        now, before, who = ticks[1:][valid], ticks[:-1][valid], person[1:][valid]
        beyond = count[now & before] / count[now] - count[before] / columns
        of_person = np.bincount(who)
        means.append(np.bincount(who, beyond)[of_person > 0] / of_person[of_person > 0])
    values = np.concatenate([np.zeros(0), *means])
    return CarryOver(len(values), **_tested(values, NO_HABIT))


def _blocks(
    answers: Answers, ballot_index: NDArray[np.integer]
) -> Iterator[tuple[Answers, NDArray[np.int64]]]:
    """Yield some participants' answers at a time, with the ballot of each."""
    start = 0
    for block in answers.blocks():
        end = start + len(block)
        yield block, ballot_index[start:end].astype(np.int64)
        start = end


def _sessions(answers: Answers) -> Sessions:
    of_codes: Numbers = np.array([*answers.position.values, np.nan], dtype=np.float64)
    return Sessions(
        np.repeat(np.arange(len(answers.people)), answers.answer_counts),
        answers.question.codes.astype(np.int64),
        of_codes.take(answers.position.codes, mode="wrap"),
        answers.seconds,
    )


def _halves(person: NDArray[np.int64], keys: Numbers, counted: Mask) -> Numbers:
    """Return a weight for each answer: 1/h in the half with high keys, -1/h in the other, else 0.

    h is half the number of a participant's counted answers. All are 0 with fewer than FEWEST, and
    where a half would begin or end between answers with equal keys.
    """
    weights = np.zeros(len(keys))
    rows = np.flatnonzero(counted)
    rows = rows[np.lexsort((keys[rows], person[rows]))]
    of_answer = person[rows]
    counts = np.bincount(of_answer)
    first = np.cumsum(counts) - counts
    half, sorted_keys = counts // 2, keys[rows]
    can_be_halved = counts >= FEWEST
    for edge in (half, counts - half):
        at = (first + edge)[can_be_halved]
        can_be_halved[can_be_halved] = sorted_keys[at] > sorted_keys[at - 1]
    rank, number = np.arange(len(rows)) - first[of_answer], counts[of_answer]
    half = half[of_answer]
    signs = np.where(rank >= number - half, 1.0, np.where(rank < half, -1.0, 0.0))
    weights[rows] = np.where(can_be_halved[of_answer], signs / np.maximum(half, 1), 0.0)
    return weights


def _tested(values: Numbers, why: str = TOO_FEW_ANSWERS) -> dict[str, Any]:
    if len(values) < 2 or np.ptp(values) < 1e-12:
        return {"why": why}
    se = float(values.std(ddof=1)) / math.sqrt(len(values))
    test = t_test(float(values.mean()), se, len(values) - 1)
    return {name: test[name] for name in ("mean", "se", "df", "p", "ci95")}
