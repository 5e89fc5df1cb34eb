"""The discriminative generator: sets of lists on which every measure contradicts every other."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import Lists, Measure, Ranks, Setting, as_ranks, measure_named
from survey.core.stimuli.positions import Positions, most_draws
from survey.core.stimuli.questions import Question, build_question

# Added to the spawn key, so that a seed's random and discriminative lists are unrelated.
STREAM = 1

# How far neighbouring values of a measure must lie apart.
APART = Fraction(1, 200)

# Floats only sort out; what comes within their error of APART is decided on exact values.
FLOAT_SLACK = 1e-9

# The search gives up after so many draws, or fewer where a draw takes more than
# fifty positions: some seconds in any design.
MOST_DRAWS = 200_000
MOST_POSITIONS = 10_000_000

# Positions measured at once. It decides the speed only: sets are drawn one after another.
BATCH_POSITIONS = 10_000


def discriminative_question(
    number: int,
    *,
    seed: int,
    lists: int,
    relevant: int,
    measures: Sequence[str],
    setting: Setting,
) -> Question:
    """Draw sets as ``random_question`` does until one tells all measures apart.

    Accepted is the first set in which

    - neighbouring values differ by at least 0.005 in every measure (so the lists
      differ, and no measure ties any of them),
    - every two measures contradict each other: one puts X before Y, the other Y
      before X, for some lists X and Y (so no two orders are identical),
    - with three measures or more, the odd one out is measures[(number − 1) mod
      their count]. The odd one out is the measure with the most discordant list
      pairs, summed over the other measures; it must be a single one. The practice
      question, number 0, takes any set.

    So each measure is the odd one out equally often in a study whose number of
    questions is a multiple of theirs, and as nearly as can be in any other. Each
    question has a stream of its own, as with ``random_question``.

    Measured for the paper's design (5 lists, 5 relevant, N = 100; AP, NMRR, MNRO)
    on 4 million draws: 2.05 % satisfy the first two conditions. Of these AP is the
    odd one out in 20.7 %, NMRR in 4.4 %, MNRO in 6.6 %, and no single measure in
    68.3 %; that is one set in 236, 1122 and 736 draws.

    Raises ValueError when no such set comes up in ``most_draws`` draws, saying which
    condition was in the way. There is no fallback to sets that are less balanced.
    """
    chosen = [measure_named(name) for name in measures]
    wanted = (number - 1) % len(chosen) if number and len(chosen) > 2 else None
    most = most_draws(MOST_DRAWS, MOST_POSITIONS, lists, relevant, setting.collection_size)
    spread_out = complete = 0
    contradicted = np.zeros((len(chosen), len(chosen)), dtype=bool)
    for sets in _drawn(Positions(seed, number, STREAM), most, lists, relevant, setting):
        apart, discordant = _examined(sets, chosen, setting)
        spread_out += len(apart)
        contradicted |= (discordant > 0).any(axis=0)
        pairs = np.triu_indices(len(chosen), 1)
        contradicting = (discordant[:, *pairs] > 0).all(axis=1)
        complete += int(contradicting.sum())
        fitting = contradicting & _has_odd_one_out(discordant, wanted)
        for drawn in apart[fitting]:
            if _apart_exactly(drawn, chosen, setting):
                return build_question(number, drawn.tolist(), measures, setting)
    raise ValueError(
        f"no set of {lists} lists of {relevant} positions among {setting.collection_size} "
        f"came up in {most} draws "
        + _what_is_in_the_way(measures, wanted, spread_out, complete, contradicted)
        + ", or take the generator random"
    )


def _drawn(
    positions: Positions, most: int, lists: int, relevant: int, setting: Setting
) -> Iterator[Ranks]:
    """Draw ``most`` sets one after another, and give them in batches (sets, lists, relevant)."""
    batch = max(1, BATCH_POSITIONS // (lists * relevant))
    for start in range(0, most, batch):
        count = lists * min(batch, most - start)
        drawn = [positions.sample(relevant, setting.collection_size) for _ in range(count)]
        yield as_ranks(drawn, setting.collection_size).reshape(-1, lists, relevant)


def _examined(
    sets: Ranks, measures: Sequence[Measure], setting: Setting
) -> tuple[Ranks, NDArray[np.int64]]:
    """Return the sets whose values lie apart, and their discordant pairs.

    The latter has the shape (sets, measures, measures): on how many list pairs two
    measures contradict each other. Floats order these sets as exact values would,
    since no two of their values are near each other.
    """
    count, lists, relevant = sets.shape
    ranked = Lists(sets.reshape(-1, relevant))
    values = np.stack(
        [
            measure.compute(ranked, setting).reshape(count, lists)
            * (-1 if measure.better == "higher" else 1)
            for measure in measures
        ],
        axis=1,
    )
    gaps = np.diff(np.sort(values, axis=2), axis=2)
    apart = (gaps >= float(APART) - FLOAT_SLACK).all(axis=(1, 2))
    one, other = np.triu_indices(lists, 1)
    before = values[apart][:, :, one] < values[apart][:, :, other]
    discordant = (before[:, :, np.newaxis] != before[:, np.newaxis]).sum(axis=3)
    return sets[apart], discordant


def _has_odd_one_out(discordant: NDArray[np.int64], wanted: int | None) -> NDArray[np.bool_]:
    """Tell for each set whether the wanted measure, and no other, is least like the others."""
    if wanted is None:
        return np.ones(len(discordant), dtype=bool)
    sums = discordant.sum(axis=2)
    others = np.delete(sums, wanted, axis=1)
    return np.asarray(sums[:, wanted] > others.max(axis=1))


def _apart_exactly(drawn: Ranks, measures: Sequence[Measure], setting: Setting) -> bool:
    """Tell whether neighbouring values, as a page would show them, lie apart in every measure."""
    return all(
        high - low >= APART
        for measure in measures
        for low, high in pairwise(sorted(measure.shown(Lists(drawn), setting)))
    )


def _what_is_in_the_way(
    measures: Sequence[str],
    wanted: int | None,
    spread_out: int,
    complete: int,
    contradicted: NDArray[np.bool_],
) -> str:
    """Name the first condition that no draw satisfied, and what to change."""
    if not spread_out:
        return (
            f"in which neighbouring values differ by {float(APART)} in every measure; "
            "ask for fewer lists, for numbers nearer to the paper's 5 of 100"
        )
    for one, other in combinations(range(len(measures)), 2):
        if not contradicted[one, other]:
            return (
                f"on which {measures[one]} and {measures[other]} contradict each other "
                f"(neighbouring values must differ by {float(APART)}); "
                "leave one of them out, ask for more relevant items"
            )
    if not complete or wanted is None:
        return (
            "on which every two measures contradict each other "
            f"(neighbouring values must differ by {float(APART)}); "
            "ask for fewer lists, for more relevant items, for fewer measures"
        )
    return (
        f"in which {measures[wanted]} is the odd one out ({complete} tell all measures apart); "
        "change the seed, the lists or the relevant items, take fewer measures"
    )
