"""Conditional logit: which of several options are chosen, given how many are."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 10_000  # choices whose terms are in memory together: 15 MB of six options

# From the indices of some choices to the terms of their options, (choices, options, terms).
Terms = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def fit_conditional_logit(
    terms_of: Terms, term_count: int, chosen: NDArray[np.bool_], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return coefficients and standard errors, or None where no finite maximum is unique.

    ``chosen``: (choices, options), some options of each but not all; ``counts``: how many
    observations are that choice. P(chosen set C) is proportional to exp(Σ_{j in C} x_j β),
    conditional on the number chosen (McFadden 1974; Chamberlain 1980). Newton's method, since
    statsmodels' ConditionalLogit stops at four digits and does not see a separated term.
    """
    beta = np.zeros(term_count)
    for _ in range(50):
        score, information = np.zeros(term_count), np.zeros((term_count, term_count))
        numbers_chosen = chosen.sum(axis=1)
        for number in range(1, chosen.shape[1]):
            alike = np.flatnonzero(numbers_chosen == number)
            for first in range(0, len(alike), AT_ONCE):
                some = alike[first : first + AT_ONCE]
                part = _score_and_information(terms_of(some), chosen[some], counts[some], beta)
                score += part[0]
                information += part[1]
        if np.linalg.cond(information) > 1e10:
            return None
        step = np.linalg.solve(information, score)
        beta = beta + step
        if np.abs(beta).max() > 15:  # odds of millions to one: a term separates the choices
            return None
        if np.abs(step).max() < 1e-10:
            return beta, np.sqrt(np.diag(np.linalg.inv(information)))
    return None


def _score_and_information(
    terms: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    counts: NDArray[np.int64],
    beta: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log likelihood's first derivative, (terms,), and minus its second.

    All choices have equally many options chosen. From the chance of each set of that size
    come the chances that an option is in it, and that two are: E Σ x = Σ_j P(j) x_j, and
    E (Σ x)(Σ x)ᵀ = Σ_jk P(j, k) x_j x_kᵀ.
    """
    options = chosen.shape[1]
    possible = combinations(range(options), int(chosen[0].sum()))
    sets = np.array([np.isin(range(options), members) for members in possible], dtype=np.float64)
    odds = np.exp((terms @ beta) @ sets.T)
    chances = odds / odds.sum(axis=1, keepdims=True)
    both = sets[:, :, np.newaxis] * sets[:, np.newaxis]
    of_two = np.tensordot(chances, both, axes=1)
    expected = ((chances @ sets)[:, np.newaxis] @ terms)[:, 0]
    weighed = terms * counts[:, np.newaxis, np.newaxis]
    second = np.tensordot(weighed, of_two @ terms, axes=([0, 1], [0, 1]))
    observed = (chosen[:, np.newaxis] @ terms)[:, 0]
    score: NDArray[np.float64] = counts @ (observed - expected)
    return score, second - (expected.T * counts) @ expected
