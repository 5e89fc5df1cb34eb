"""Whether answers depend on where in a session they come, how long they took, or where one ticked.

Learning or tiredness would make later answers differ from earlier ones, and haste quick ones from
slow ones. A habit would make people tick the place that they ticked before. Each is tested over
participants.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, looked_up, sum_by_participant
from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import Pair, differences, pairs
from survey.core.statistics.significance import Interval, holm, t_test

LATER, SLOWER = "later less earlier", "slower less faster"
FEWEST = 4  # answers of a participant who counts
TOO_FEW = "it needs two participants with four answers, who differ"

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class OrderEffect:
    """How a pair's difference changes within participants.

    ``contrast``: LATER or SLOWER half of a participant's answers less the other, the middle one
    left out; ``mean`` over the ``participants`` with four answers, in votes per response;
    ``p_holm``: over all pairs and contrasts.
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
    by_contrast: dict[str, list[Numbers]] = {LATER: [], SLOWER: []}
    for block, ballots in _blocks(answers, credits):
        counted = credits.counted[ballots]
        for contrast, known, keys in (
            (LATER, block.position.known, _positions(block)),
            (SLOWER, ~np.isnan(block.seconds), block.seconds),
        ):
            weights = _halves(block, keys, known & counted)
            has_halves = np.add.reduceat(np.abs(weights), block.first_answer) > 0
            effects = [
                sum_by_participant(weights * of_pair[ballots], block.first_answer)[has_halves]
                for of_pair in d
            ]
            by_contrast[contrast].append(np.array(effects))
    results = [
        OrderEffect(contrast, pair, len(values), **_tested(values))
        for contrast, blocks in by_contrast.items()
        for pair, values in zip(
            compared, np.hstack([np.zeros((len(compared), 0)), *blocks]), strict=True
        )
    ]
    corrected = holm([each.p for each in results])
    return tuple(
        OrderEffect(**{**vars(each), "p_holm": p})
        for each, p in zip(results, corrected, strict=True)
    )


def carry_over(answers: Answers, measures: Sequence[str]) -> CarryOver:
    """Compare the place of each answer's ticks with that of the answer before, by position."""
    columns, sets = len(measures), 1 << len(measures)
    places = np.zeros((len(answers.column_order.values) + 1, sets), dtype=np.uint8)  # last: unknown
    for row, order in enumerate(answers.column_order.values):
        for place, label in enumerate(order):
            places[row] |= ((np.arange(sets) >> (label - 1) & 1) << place).astype(np.uint8)
    count = np.array([bits.bit_count() for bits in range(256)], dtype=np.float64)
    means = []
    for block in answers.blocks():
        in_order = np.lexsort((_positions(block), _people(block)))
        ticked = looked_up(places, block.column_order.codes, block.clicked)[in_order]
        known, people = block.position.known[in_order], _people(block)[in_order]
        valid = (people[1:] == people[:-1]) & known[1:] & known[:-1]
        valid &= (ticked[1:] > 0) & (ticked[:-1] > 0)
        now, before = ticked[1:][valid], ticked[:-1][valid]
        beyond = count[now & before] / count[now] - count[before] / columns
        of_person = np.bincount(people[1:][valid], minlength=len(block.people))
        sums = np.bincount(people[1:][valid], beyond, len(block.people))
        means.append(sums[of_person > 0] / of_person[of_person > 0])
    values = np.concatenate([np.zeros(0), *means])
    return CarryOver(len(values), **_tested(values, "it needs two participants who tick twice"))


def _blocks(answers: Answers, credits: Credits) -> Iterator[tuple[Answers, NDArray[np.int64]]]:
    """Yield some participants' answers at a time, with the ballot of each."""
    start = 0
    for block in answers.blocks():
        end = start + len(block)
        yield block, credits.ballots.ballot_index[start:end].astype(np.int64)
        start = end


def _people(answers: Answers) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(answers.people)), answers.answer_counts)


def _positions(answers: Answers) -> Numbers:
    of_codes: Numbers = np.array([*answers.position.values, 0], dtype=np.float64)
    return of_codes.take(answers.position.codes, mode="wrap")


def _halves(answers: Answers, keys: Numbers, counted: NDArray[np.bool_]) -> Numbers:
    """Return a weight for each answer: 1/h in the half with high keys, -1/h in the other, else 0.

    h is half the number of a participant's counted answers; with fewer than FEWEST all are 0.
    Equal keys keep the order of the answers.
    """
    weights = np.zeros(len(answers))
    rows = np.flatnonzero(counted)
    people = _people(answers)[rows]
    in_order = np.lexsort((keys[rows], people))
    counts = np.bincount(people, minlength=len(answers.people))
    first = np.cumsum(counts) - counts
    of_person = people[in_order]
    rank, number = np.arange(len(rows)) - first[of_person], counts[of_person]
    half = number // 2
    signs = np.where(rank >= number - half, 1.0, np.where(rank < half, -1.0, 0.0))
    weights[rows[in_order]] = np.where(number >= FEWEST, signs / np.maximum(half, 1), 0.0)
    return weights


def _tested(values: Numbers, why: str = TOO_FEW) -> dict[str, Any]:
    if len(values) < 2 or np.ptp(values) < 1e-12:
        return {"why": why}
    se = float(values.std(ddof=1)) / math.sqrt(len(values))
    test = t_test(float(values.mean()), se, len(values) - 1)
    return {name: test[name] for name in ("mean", "se", "df", "p", "ci95")}
