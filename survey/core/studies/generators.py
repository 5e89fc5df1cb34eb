"""Seeded generators of a study's ranked lists: random, or contradicting by measures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

from survey.core.measures import Lists, Measure, Ranks, Setting, as_ranks, measure_named
from survey.core.studies.questions import NO_MARKS, Marks, Question, build_question

# Part of the study digest. Raise it whenever a generator would draw other lists
# from the same seed; the golden values in the tests say when that is so.
GENERATOR_VERSION = 1

# The search for a random set gives up after this many draws, or fewer where a draw takes
# more than a hundred positions, so that it ends within seconds in any design.
MOST_DRAWS = 10_000
MOST_POSITIONS = 1_000_000

# The same limits for discriminative sets.
MOST_DISCRIMINATIVE_DRAWS = 200_000
MOST_DISCRIMINATIVE_POSITIONS = 10_000_000

# The limit for discriminative sets that may have ties: such a set comes up sooner, or never.
MOST_TIED_DRAWS = 50_000

# Added to the spawn key, so that lists that one seed draws in different ways are unrelated.
STREAM = 1
OBVIOUS_STREAM = 2
LETTER_STREAM = 3
TIED_STREAM = 4

# The smallest difference that neighbouring values of a measure may have in a discriminative set.
APART = Fraction(1, 200)

# Differences within a float's error of APART are decided by exact values.
FLOAT_SLACK = 1e-9

# Positions scored at once. It changes the speed only: sets are drawn one after another.
BATCH_POSITIONS = 10_000


class Positions:
    """A seeded stream of positions, the same on every machine.

    It reads the raw 64-bit output of PCG64, which numpy keeps stable from release to
    release, and not the methods of ``Generator``, which it does not: a study's
    lists must be reproducible from its seed in ten years' time as well.

    ``generator``: further spawn keys, so that generators have different streams.
    """

    def __init__(self, seed: int, question: int, *generator: int) -> None:
        self._words = _words_of(PCG64(SeedSequence(seed, spawn_key=(question, *generator))))

    def below(self, bound: int) -> int:
        """Draw a whole number from 0…bound−1, each equally likely."""
        limit = 2**64 - 2**64 % bound  # raw numbers above would make small remainders likelier
        while True:
            raw = next(self._words)
            if raw < limit:
                return raw % bound

    def sample(self, relevant: int, collection_size: int) -> list[int]:
        """Draw ``relevant`` distinct positions from 1…collection_size, sorted."""
        drawn: set[int] = set()
        while len(drawn) < relevant:
            drawn.add(1 + self.below(collection_size))
        return sorted(drawn)

    def order(self, items: int) -> list[int]:
        """Draw an order of 0…items−1, each equally likely (Fisher and Yates)."""
        drawn = list(range(items))
        for last in range(items - 1, 0, -1):
            other = self.below(last + 1)
            drawn[last], drawn[other] = drawn[other], drawn[last]
        return drawn


def letter_order(seed: int, number: int, lists: int) -> list[int]:
    """Draw for each letter of a question the index of its list, each order equally likely."""
    return Positions(seed, number, LETTER_STREAM).order(lists)


def random_question(
    number: int,
    *,
    seed: int,
    lists: int,
    relevant: int,
    measures: Sequence[str],
    setting: Setting,
    marks: Marks = NO_MARKS,
    within: int | None = None,
    draws: int = MOST_DRAWS,
) -> Question:
    """Draw a question as the paper did: positions uniform, without replacement.

    ``marks``, of one list, are dealt to the positions of each list, every order equally
    likely. ``within``: the last position to draw from, the collection's by default.
    ``draws``: the number of draws after which the search gives up.

    A set is drawn again where a list occurs twice, or some measure ties all lists. Each
    question has a stream of its own, so question 3 of a seed is the same in a study of 5 and
    of 50 questions.

    Raises ValueError when no such set comes up (MNRO paper, Section 5.3).
    """
    positions = Positions(seed, number)
    span = within or setting.collection_size
    most = most_draws(draws, MOST_POSITIONS, lists, relevant, span)
    for _ in range(most):
        drawn = [positions.sample(relevant, span) for _ in range(lists)]
        if len({tuple(row) for row in drawn}) < lists:
            continue
        orders = [positions.order(relevant) for _ in drawn] if marks else ()
        question = build_question(number, drawn, measures, setting, marks.dealt(orders))
        if not any(ranking.all_tied for ranking in question.rankings.values()):
            return question
    raise ValueError(
        f"no set of {lists} different lists of {relevant} positions among "
        f"{span} came up in {most} draws that every measure can order; "
        "ask for fewer lists, fewer relevant items or a larger collection"
    )


def discriminative_question(
    number: int,
    *,
    seed: int,
    lists: int,
    relevant: int,
    measures: Sequence[str],
    setting: Setting,
) -> Question:
    """Draw sets as ``random_question`` does until all measures contradict one another on one.

    The first set is accepted in which

    - neighbouring values differ by at least 0.005 in every measure (so the lists
      differ, and no measure ties any of them),
    - every two measures contradict each other: one puts X before Y, the other Y
      before X, for some lists X and Y (so no two orders are identical),
    - with three measures or more, the odd one out is measures[(number − 1) mod
      their count]. The odd one out is the measure with the most discordant list
      pairs, summed over the other measures; it must be a single one. The practice
      question, number 0, takes any set that fulfils the other conditions.

    So each measure is the odd one out equally often in a study whose number of
    questions is a multiple of theirs, and as equally as possible in any other. Each
    question has a stream of its own, as with ``random_question``.

    Measured for the paper's design (5 lists, 5 relevant, N = 100; AP, NMRR, MNRO)
    on 4 million draws: 2.05 % satisfy the first two conditions. Of these AP is the
    odd one out in 20.7 %, NMRR in 4.4 %, MNRO in 6.6 %, and no single measure in
    68.3 %; that is one set in 236, 1122 and 736 draws.

    If no draw has that odd one out, the first set is accepted that fulfils the other conditions.

    Measures of few values, such as P@5, tie most lists, so that ``most_draws`` draws may bring no
    such set. Then, or if none came up for question 1, sets are drawn again by weaker conditions:

    - neighbouring values may also be equal,
    - two measures contradict each other only if each ties as many pairs of lists that the other
      does not tie (``rankings.is_balanced``),
    - each list is drawn from a first part of the collection, of a length drawn for it, since such
      measures see no more of it,
    - if in no draw all measures contradict one another, the set is accepted in which most pairs
      do, first of all pairs with measures[(number − 1) mod their count].

    Raises ValueError naming two measures that contradict each other in no draw.
    """
    design = (seed, lists, relevant, tuple(measures), setting)
    result = _first_comes_up_untied(*design) and _discriminative(number, False, *design)
    if not isinstance(result, Question):
        result = _discriminative(number, True, *design)
    if isinstance(result, Question):
        return result
    raise ValueError(
        f"no set of {lists} lists of {relevant} positions among {setting.collection_size} "
        f"came up {result}, or take the generator random"
    )


@lru_cache(maxsize=32)
def _first_comes_up_untied(*design: Any) -> bool:
    """Whether question 1 can be drawn without ties; cached, as a vain search takes seconds."""
    return isinstance(_discriminative(1, False, *design), Question)


def _discriminative(
    number: int,
    ties: bool,
    seed: int,
    lists: int,
    relevant: int,
    measures: tuple[str, ...],
    setting: Setting,
) -> Question | str:
    """Return the first discriminative set, or a text that says why none came up.

    ``ties``: whether the weaker conditions of ``discriminative_question`` hold.
    """
    chosen = [measure_named(name) for name in measures]
    wanted = (number - 1) % len(chosen) if number and len(chosen) > 2 else None
    most = most_draws(
        MOST_TIED_DRAWS if ties else MOST_DISCRIMINATIVE_DRAWS,
        MOST_DISCRIMINATIVE_POSITIONS,
        lists,
        relevant,
        setting.collection_size,
    )
    positions = Positions(seed, number, TIED_STREAM if ties else STREAM)
    pairs = np.triu_indices(len(chosen), 1)
    best_score, best = 0, None
    contradicted = np.zeros((len(chosen), len(chosen)), dtype=bool)
    for sets in _drawn(positions, most, lists, relevant, setting, early=ties):
        apart, discordant, balanced = _compare(sets, chosen, setting, ties)
        decided = (discordant > 0) & balanced
        contradicted |= decided.any(axis=0)
        complete = decided[:, *pairs].all(axis=1)
        is_odd = _has_odd_one_out(discordant, wanted)
        perfect = np.flatnonzero(complete & is_odd)
        # Sets are compared by the wanted measure's contradicting pairs, then by all pairs, then by
        # whether it is the odd one out: each weight is larger than all that comes after it.
        score = decided[:, *pairs].sum(axis=1) * 2 + is_odd
        if wanted is not None:
            score += decided[:, wanted].sum(axis=1) * len(chosen) ** 2 * 2
        if not ties:
            score[~complete] = 0
        for index in np.flatnonzero(score > best_score):
            drawn = apart[index].tolist()
            if score[index] > best_score and _is_exactly_apart(drawn, chosen, setting, ties):
                best_score = score[index]
                best = build_question(number, drawn, measures, setting)
                if index in perfect:
                    return best
    if best and np.all(contradicted[pairs]):
        return best
    return f"in {most} draws " + _failed_condition(measures, contradicted)


def obvious_question(
    number: int,
    *,
    seed: int,
    lists: int,
    relevant: int,
    measures: Sequence[str],
    setting: Setting,
) -> Question:
    """Draw lists of which each beats the next at every position, lettered at random.

    The k-th best list has its positions in the k-th of as many equal parts of the collection, or
    of its first 4 × ``relevant`` × ``lists`` positions where it is larger. Raises ValueError where
    a part has fewer positions than a list.
    """
    part = min(setting.collection_size // lists, 4 * relevant)
    if part < relevant:
        raise ValueError(
            f"an obvious question needs a collection of {lists * relevant} positions, "
            f"{relevant} for each of {lists} lists; it has {setting.collection_size}"
        )
    positions = Positions(seed, number, OBVIOUS_STREAM)
    parts = [
        [part * index + rank for rank in positions.sample(relevant, part)] for index in range(lists)
    ]
    drawn = [parts[index] for index in positions.order(lists)]
    return build_question(number, drawn, measures, setting)


def _drawn(
    positions: Positions, most: int, lists: int, relevant: int, setting: Setting, *, early: bool
) -> Iterator[Ranks]:
    """Draw ``most`` sets one after another; yield them in batches (sets, lists, relevant).

    ``early``: draw each list from a first part of the collection: the whole, a half, a quarter and
    so on, each equally likely.
    """
    batch = max(1, BATCH_POSITIONS // (lists * relevant))
    spans = [setting.collection_size]
    while early and (shorter := spans[-1] // 2) > relevant:
        spans.append(shorter)
    for start in range(0, most, batch):
        count = lists * min(batch, most - start)
        within = (spans[positions.below(len(spans))] if early else spans[0] for _ in range(count))
        drawn = [positions.sample(relevant, span) for span in within]
        yield as_ranks(drawn, setting.collection_size).reshape(-1, lists, relevant)


def _compare(
    sets: Ranks, measures: Sequence[Measure], setting: Setting, ties: bool
) -> tuple[Ranks, NDArray[np.int64], NDArray[np.bool_]]:
    """Return the sets whose neighbouring values differ enough, and compare measures in each.

    With ``ties``, neighbouring values may also be equal, but no measure ties all lists. The second
    array is the number of discordant pairs of lists, the third a mask of balanced orders, both
    (sets, measures, measures). Floats order these sets as exact values would, since values that
    differ do so by much more than a float's error.
    """
    count, lists, relevant = sets.shape
    ranked = Lists(sets.reshape(-1, relevant))
    values = np.stack(
        [
            measure.checked(ranked, setting).reshape(count, lists)
            * (-1 if measure.better == "higher" else 1)
            for measure in measures
        ],
        axis=1,
    )
    gaps = np.diff(np.sort(values, axis=2), axis=2)
    least = float(APART) - FLOAT_SLACK
    equal: NDArray[np.bool_] = gaps <= (FLOAT_SLACK if ties else -1)  # below −1: none
    fitting = np.logical_or(gaps >= least, equal).all(axis=(1, 2)) & ~np.any(
        np.all(equal, axis=2), axis=1
    )
    sets, values = sets[fitting], values[fitting]
    first, second = np.triu_indices(lists, 1)
    between = values[:, :, first] - values[:, :, second]
    signs = np.where(np.abs(between) <= FLOAT_SLACK, 0, np.sign(between))
    one, other = signs[:, :, np.newaxis], signs[:, np.newaxis]
    discordant = (one * other < 0).sum(axis=3)
    alone = ((one == 0) & (other != 0)).sum(axis=3)
    return sets, discordant, alone == alone.transpose(0, 2, 1)


def _is_exactly_apart(
    drawn: Sequence[Sequence[int]], measures: Sequence[Measure], setting: Setting, ties: bool
) -> bool:
    """Whether all lists differ, and neighbouring exact values differ by APART or may tie."""
    shown = (sorted(measure.shown(Lists(np.array(drawn)), setting)) for measure in measures)
    gaps = [high - low for values in shown for low, high in pairwise(values)]
    differ = len({tuple(row) for row in drawn}) == len(drawn)
    return differ and all(gap >= APART or (ties and not gap) for gap in gaps)


def _has_odd_one_out(discordant: NDArray[np.int64], wanted: int | None) -> NDArray[np.bool_]:
    if wanted is None:
        return np.ones(len(discordant), dtype=bool)
    sums = discordant.sum(axis=2)
    others = np.delete(sums, wanted, axis=1)
    return np.asarray(sums[:, wanted] > others.max(axis=1))


def _failed_condition(measures: Sequence[str], contradicted: NDArray[np.bool_]) -> str:
    """Return the first condition that no draw fulfilled, and what to change."""
    apart = f"values that are not equal must differ by {float(APART)}"
    for first, second in combinations(range(len(measures)), 2):
        if contradicted.any() and not contradicted[first, second]:
            return (
                f"on which {measures[first]} and {measures[second]} contradict each other, each "
                f"tying as many pairs of lists as the other ({apart}); "
                "leave one of them out, ask for more relevant items"
            )
    return (
        f"in which the measures contradict one another ({apart}); "
        "ask for fewer lists, for numbers nearer to the paper's 5 of 100"
    )


def _words_of(bits: PCG64) -> Iterator[int]:
    """Yield the raw 64-bit numbers; 256 are read at a time, since each read is a call of numpy."""
    while True:
        yield from bits.random_raw(256).tolist()


def most_draws(draws: int, positions: int, lists: int, relevant: int, collection_size: int) -> int:
    """Return how many sets are drawn before a search gives up, the same on every machine.

    At most ``draws``, and as many as take ``positions`` positions on average. Positions
    that are drawn twice in a list count, which are many where nearly all of a collection
    is relevant.
    """
    per_list = sum(collection_size / (collection_size - k) for k in range(relevant))
    return max(1, min(draws, int(positions / (lists * per_list))))


Generator = Callable[..., Question]

GENERATORS: Mapping[str, Generator] = {
    "random": random_question,
    "discriminative": discriminative_question,
}
"""Name, as ``survey study new --generator`` takes it → generator."""
