"""Pairs of people whose answers coincide more often than each question's shares of answers allow.

The model has a share for each answer to a question and a number for each person: how strongly they
follow the majority. Careful people, who mostly give the usual answer, may so agree on all of it.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.001  # of the whole study, by Holm's method over all pairs
FEWEST_PEOPLE = 6  # with an answer to a question; the shares among fewer say little
MOST_STEPS = 2_000_000_000  # pairs × questions: some seconds
BLOCK = 256  # people whose pairs are in memory at once
# How strongly a person follows the majority: 0 not at all, 1 as often as the shares say.
CONFORMITY = np.concatenate([np.linspace(0, 3, 61), np.geomspace(3.2, 40, 20)])
SCREEN = 2.0  # standard deviations above the expected number; below it no p is near LEVEL


@dataclass(frozen=True)
class Coincidence:
    """Two people who gave equal answers to ``equal`` of ``common`` questions; ``expected``: mean.

    ``p``: how likely as many or more are by the model, before Holm's method.
    """

    first: str
    second: str
    equal: int
    common: int
    expected: float
    p: float


@dataclass(frozen=True)
class Coincidences:
    """The pairs that coincide too often, of ``pairs`` compared; ``why``: why none was, or ""."""

    found: tuple[Coincidence, ...]
    pairs: int
    people: int
    why: str = ""


def coincidences(answers: Mapping[str, Mapping[Hashable, Hashable]]) -> Coincidences:
    """Return the pairs of people whose answers coincide more than the questions' shares allow.

    Person i gives answer v to question q with the probability π_iqv ∝ p_qv^θ_i: p_qv is the share
    of v among all answers to q, and θ_i ≥ 0 fits person i (maximum likelihood). Two independent
    people then give equal answers with the probability Σ_v π_iqv π_jqv, and the number of equal
    answers has a Poisson binomial distribution. A pair is returned where the chance of as many or
    more is below LEVEL after Holm's method over all pairs with a question in common. Questions
    with fewer than FEWEST_PEOPLE answers are left out.

    Parameters
    ----------
    answers
        Of each person, by id: the answer to each question, both as hashable values.

    References
    ----------
    The index and its conditioning on how a person answers otherwise follow the tests for copied
    answers: Wollack 1997 (omega); van der Linden and Sotaridona 2006 (generalized binomial test).
    """
    people = sorted(answers)
    codes, shares = _coded([answers[person] for person in people])
    n, questions = codes.shape
    if n < FEWEST_PEOPLE or not questions:
        why = f"no question has the {FEWEST_PEOPLE} answers that the shares need"
        return Coincidences((), 0, n, why)
    if n * (n - 1) // 2 * questions > MOST_STEPS:
        return Coincidences((), 0, n, "there are too many pairs of people to compare")
    conformity = _conformity(codes, shares)
    pairs, candidates = 0, []
    for start in range(0, n, BLOCK):
        block = np.arange(start, min(start + BLOCK, n))
        equal, common, mean, variance = _compared(codes, shares, conformity, block)
        later = np.arange(n)[np.newaxis, :] > block[:, np.newaxis]
        pairs += int((later & (common > 0)).sum())
        unusual = later & (equal > mean + SCREEN * np.sqrt(variance))
        candidates += [(int(block[row]), int(col)) for row, col in np.argwhere(unusual)]
    rows = []
    for first, second in candidates:
        chances = _chances(codes, shares, conformity, first, second)
        both = (codes[first] >= 0) & (codes[second] >= 0)
        equal_count = int((codes[first][both] == codes[second][both]).sum())
        p = upper_tail(chances, equal_count)
        count, expected = int(both.sum()), float(chances.sum())
        names = people[first], people[second]
        rows.append(Coincidence(*names, equal_count, count, expected, p))
    rows.sort(key=lambda row: (row.p, row.first, row.second))
    found = []
    for rank, row in enumerate(rows):
        if row.p * (pairs - rank) >= LEVEL:
            break
        found.append(row)
    return Coincidences(tuple(found), pairs, n)


def upper_tail(chances: NDArray[np.float64], at_least: int) -> float:
    """Return P(X ≥ ``at_least``) of a sum X of independent events with these chances."""
    distribution = np.zeros(len(chances) + 1)
    distribution[0] = 1.0
    for chance in chances.tolist():
        distribution[1:] = distribution[1:] * (1 - chance) + distribution[:-1] * chance
        distribution[0] *= 1 - chance
    return float(distribution[at_least:].sum())


def _coded(
    answers: list[Mapping[Hashable, Hashable]],
) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    """Return the answers as numbers, −1 where there is none, and of each question the shares."""
    by_question: dict[Hashable, dict[int, Hashable]] = {}
    for person, of_person in enumerate(answers):
        for question, value in of_person.items():
            by_question.setdefault(question, {})[person] = value
    columns, shares = [], []
    for given in by_question.values():
        if len(given) < FEWEST_PEOPLE:
            continue
        numbers: dict[Hashable, int] = {}
        column = np.full(len(answers), -1)
        for person, value in given.items():
            column[person] = numbers.setdefault(value, len(numbers))
        columns.append(column)
        shares.append(np.bincount(column[column >= 0]) / len(given))
    codes = np.array(columns, dtype=np.int64).reshape(len(columns), len(answers)).T
    return codes, shares


def _tilted(shares: NDArray[np.float64], conformity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of a question's answers: (people, answers)."""
    logs = conformity[:, np.newaxis] * np.log(shares / shares.max())
    weights = np.exp(logs)
    tilted: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return tilted


def _conformity(codes: NDArray[np.int64], shares: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return of each person the θ at which the expected log share equals that of their answers."""
    people = len(codes)
    observed, expected = np.zeros(people), np.zeros((people, len(CONFORMITY)))
    for column, of_question in zip(codes.T, shares, strict=True):
        logs, known = np.log(of_question), column >= 0
        observed[known] += logs[column[known]]
        expected[known] += _tilted(of_question, CONFORMITY) @ logs
    return np.array(
        [
            np.interp(total, by_conformity, CONFORMITY)
            for total, by_conformity in zip(observed, expected, strict=True)
        ]
    )


def _compared(
    codes: NDArray[np.int64],
    shares: list[NDArray[np.float64]],
    conformity: NDArray[np.float64],
    block: NDArray[np.int64],
) -> tuple[NDArray[np.float64], ...]:
    """Return of the pairs of some people with all: equal, common, expected equal, its variance."""
    equal, common, mean, variance = np.zeros((4, len(block), len(codes)))
    for column, of_question in zip(codes.T, shares, strict=True):
        tilted = _tilted(of_question, conformity)
        known = column >= 0
        both = known[block][:, np.newaxis] & known
        chance = np.where(both, tilted[block] @ tilted.T, 0.0)
        equal += both & (column[block][:, np.newaxis] == column)
        common += both
        mean += chance
        variance += chance * (1 - chance)
    return equal, common, mean, variance


def _chances(
    codes: NDArray[np.int64],
    shares: list[NDArray[np.float64]],
    conformity: NDArray[np.float64],
    first: int,
    second: int,
) -> NDArray[np.float64]:
    """Return the chance of equal answers to each question that both answered."""
    both = (codes[first] >= 0) & (codes[second] >= 0)
    of_pair = conformity[[first, second]]
    chances = [
        float(np.prod(_tilted(of_question, of_pair), axis=0).sum())
        for of_question, is_common in zip(shares, both.tolist(), strict=True)
        if is_common
    ]
    return np.array(chances)
