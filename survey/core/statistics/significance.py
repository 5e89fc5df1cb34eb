"""Significance tests on plain numbers, their random numbers, and conditional logit.

The tests: t, signs, sign flips, bootstrap, Cochran's Q, Friedman, and Holm's correction. Each
result states its estimand, its sample size and why it is undefined. Monte Carlo p values
draw from a stream that is the same on every machine and with every numpy.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.random import PCG64
from numpy.typing import NDArray

Interval = tuple[float, float]
Table = NDArray[np.float64]

Terms = Callable[[NDArray[np.int64]], Table]
"""From the indices of some choices to the terms of their options, (choices, options, terms)."""

LEVEL = 0.05  # at which a test decides
REPLICATES = 10_000
SEED = 20_080_501
DRAWS_AT_ONCE = 32  # draws of 10,000 integers: 1.3 MB
RESAMPLES_AT_ONCE = 1000
MOST_CELLS_AT_ONCE = 5_000_000  # of resampled queries: 40 MB
BLOCKS_AT_ONCE = 2**16  # rows of a table that are ranked at once, so that memory stays flat
CHOICES_AT_ONCE = 10_000  # of which the terms are in memory: 15 MB of six options
HEADS = np.uint32(1 << 31)  # the upper half of 32 bits

# Up to this number every response is drawn by itself. Above it, responses with the same
# possible outcomes are drawn together, by one binomial number for each outcome.
MOST_SINGLE_DRAWS = 20_000

MOST_TOPICS = 100_000  # that a collection could need

LARGEST_CONVOLUTION = 20_000_000  # additions: a tenth of a second
LARGEST_EXACT = 2**53  # of the whole numbers that a float holds
SMALLEST = float(np.finfo(float).tiny)


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A statistic's frame; subclasses add the numbers, None where undefined.

    ``estimand``: what is estimated, and for which population; ``n``: the number of
    ``unit``s used; ``left_out``: reason → how many units were not used;
    ``why``: why numbers are None, else None itself.
    """

    estimand: str
    n: int
    unit: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class MeanTest(Statistic):
    """A t test of a mean against 0, with the mean's 95 % interval."""

    mean: float | None = None
    se: float | None = None
    t: float | None = None
    df: float | None = None
    p: float | None = None
    p_holm: float | None = None
    ci95: Interval | None = None


def without_zeros(left_out: Mapping[str, int]) -> dict[str, int]:
    """Drop the reasons that apply to no unit."""
    return {reason: count for reason, count in left_out.items() if count}


def t_tail(t: float, df: float) -> float:
    """Return the upper tail of Student's t at ``t``.

    ``scipy.stats.t.sf`` gives the same and checks its arguments for a millisecond; a page of
    results has a hundred of these.
    """
    return float(scipy.special.stdtr(df, -t))


def t_quantile(share: float, df: float) -> float:
    """Return the value of Student's t below which this share lies; see ``t_tail``."""
    return float(scipy.special.stdtrit(df, share))


def t_test(mean: float, se: float, df: float) -> dict[str, Any]:
    """Test a mean against 0; return mean, se, t, df, two-sided p and ci95."""
    t = mean / se
    reach = t_quantile(0.975, df) * se
    return {
        "mean": mean,
        "se": se,
        "t": t,
        "df": df,
        "p": 2 * t_tail(abs(t), df),
        "ci95": (mean - reach, mean + reach),
    }


def mean_ci95(values: Table) -> Interval | tuple[None, None]:
    """Return the 95 % t interval of a mean; nothing of fewer than two values, or equal ones."""
    if len(values) < 2 or not np.ptp(values):
        return None, None
    ends = t_test(
        float(values.mean()), float(values.std(ddof=1)) / len(values) ** 0.5, len(values) - 1
    )
    low, high = ends["ci95"]
    return low, high


def two_one_sided_tests(mean: float, se: float, df: float, margin: float) -> tuple[float, Interval]:
    """Test whether a mean is nearer to 0 than ``margin``; return p and the 90 % interval.

    p is the larger of the tests of "mean > -margin" and "mean < margin" (Schuirmann 1987): below
    .05 where the 90 % interval lies between the two.
    """
    p = t_tail((margin - abs(mean)) / se, df)
    reach = t_quantile(0.95, df) * se
    return p, (mean - reach, mean + reach)


def sign_test(first: int, second: int) -> float | None:
    """Return the exact two-sided p of two counts being equally likely; None where both are 0.

    McNemar's exact test is this one, on the two counts of discordant pairs.
    """
    decided = first + second
    return float(scipy.stats.binomtest(first, decided).pvalue) if decided else None


def sign_flip(values: Sequence[Fraction], index: NDArray[np.integer]) -> tuple[float, str]:
    """Return the two-sided p of a sum when every sign is equally likely, and the method.

    ``values``: the distinct ones; ``index``: which of them each summand is. Exact by
    convolution of their ±1/2 distributions; where their common denominator makes that too
    long, 10,000 random flips and (b + 1)/(B + 1).
    """
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [int(value * denominator) for value in values]
    counts = np.bincount(index, minlength=len(values)).tolist()
    reach = sum(abs(value) * count for value, count in zip(whole, counts, strict=True))
    total = sum(value * count for value, count in zip(whole, counts, strict=True))
    if reach * len(index) <= LARGEST_CONVOLUTION:
        return exact_p(_tail(whole, counts, total)), "exact"
    if reach > LARGEST_EXACT:
        floats = np.array([float(value) for value in values])
        return _random_flips(floats, index, float(Fraction(total, denominator))), "Monte Carlo"
    return _random_flips(np.array(whole, dtype=float), index, float(total)), "Monte Carlo"


def _tail(whole: Sequence[int], counts: Sequence[int], total: int) -> float:
    """Return the chance of a sum of whole numbers that is at least as far from 0."""
    chances = np.ones(1)
    for value, count in zip(whole, counts, strict=True):
        for _ in range(count if value else 0):
            wider = np.zeros(len(chances) + 2 * abs(value))
            wider[: len(chances)] = chances
            wider[-len(chances) :] += chances
            chances = wider / 2
    sums = np.arange(len(chances)) - len(chances) // 2
    return float(chances[np.abs(sums) >= abs(total)].sum())


def _random_flips(values: NDArray[np.float64], index: NDArray[np.integer], total: float) -> float:
    """Return the Monte Carlo p; with many summands, those of equal size are drawn together."""
    stream = RandomStream()
    totals = np.zeros(REPLICATES)
    if len(index) <= MOST_SINGLE_DRAWS:
        summands = iter(values[index])
        for halves in stream.halves(len(index)):
            some = np.fromiter(summands, dtype=float, count=len(halves))
            totals += 2 * (some @ (halves >= HEADS)) - some.sum()
    else:
        sizes, size_index = np.unique(np.abs(values), return_inverse=True)
        counts = np.bincount(size_index[index], minlength=len(sizes)).tolist()
        for size, count in zip(sizes.tolist(), counts, strict=True):
            heads = stream.binomial(np.full(REPLICATES, count), 0.5)
            totals += size * (2 * heads - count)
    return monte_carlo_p(np.abs(totals) >= abs(total) - 1e-12)


def bootstrap_p(differences: Table, resamples: int = REPLICATES, seed: int = SEED) -> Table:
    """Test whether mean differences are above 0, one-tailed, by a studentised bootstrap.

    With z_1 … z_n the differences of one comparison, t(z) = z̄ / (s/√n), s² having n − 1
    below. Under the null the mean is 0, so w_i = z_i − z̄ is resampled, n of n with
    replacement, ``resamples`` (B) times; p = (b + 1)/(B + 1), b counting the resamples with
    t(w*) ≥ t(z). A resample without spread has t = ±∞ by the sign of its mean, 0 where
    that is 0. All comparisons are resampled with the same queries.

    ``differences``: (queries, comparisons), at least 2 queries, none constant. Returns
    (comparisons,) in (0, 1]; small where the differences are above 0. Queries are drawn
    with PCG64's raw output under ``seed``, the same on every machine.

    Under the null, with symmetric differences of 10 to 50 queries, it rejects at .05 in 4 to
    5 % of experiments. With few queries, some of them strongly against the run, it
    rejects too often: with exponential differences to that side in 9 % (10 queries),
    7 % (20) and 5.7 % (50); to the other side too rarely.

    Source: Sakai 2006 (SIGIR, the paired test, of one tail); (b + 1)/(B + 1): Phipson and
    Smyth 2010. One tail and the levels: MNRO paper, Table 8.
    """
    queries = len(differences)
    mean, spread = differences.mean(axis=0), differences.std(axis=0, ddof=1)
    shifted = (differences - mean) / spread  # scaled too, which changes no t
    observed = np.sqrt(queries) * mean / spread
    beyond = np.zeros(differences.shape[1])
    for counts in resample_counts(queries, resamples, seed):
        means = counts @ shifted / queries
        variances = (counts @ shifted**2 / queries - means**2) * queries / (queries - 1)
        # A float's error must decide neither a tie nor whether there is any spread.
        errors = np.sqrt(np.where(variances > 1e-12, variances, 0.0) / queries)
        means = np.where(np.abs(means) > 1e-12, means, 0.0)
        reached = means >= observed * errors - 1e-9
        without_spread = np.where(means == 0, observed <= 0, means > 0)
        beyond += np.where(errors > 0, reached, without_spread).sum(axis=0)
    return np.asarray((beyond + 1) / (resamples + 1))


def resample_counts(queries: int, resamples: int, seed: int = SEED) -> Iterator[Table]:
    """Yield how often each query occurs in each resample: (up to RESAMPLES_AT_ONCE, queries).

    How many at once changes no number.
    """
    bits = PCG64(seed)
    at_once = min(RESAMPLES_AT_ONCE, max(1, MOST_CELLS_AT_ONCE // max(1, queries)))
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        words = bits.random_raw(rows * queries).reshape(rows, queries)
        # The upper half of a word times the bound, shifted: favours no query by more than 1e-6.
        drawn = ((words >> np.uint64(32)) * np.uint64(queries) >> np.uint64(32)).astype(np.int64)
        cells = drawn + queries * np.arange(rows)[:, np.newaxis]
        tallied = np.bincount(cells.ravel(), minlength=rows * queries)
        yield tallied.reshape(rows, queries).astype(np.float64)


def cochran_q(
    sums: NDArray[np.int64], squares: NDArray[np.int64] | int, treatments: int
) -> NDArray[np.float64]:
    """Compute Cochran's Q of yes and no, NaN where no block tells the treatments apart.

    ``sums``: (…, treatments), how many blocks say yes to each; ``squares``: (…), the squares
    of the numbers of yes in each block, added up. Q = (k - 1)(k ΣC² - N²)/(kN - ΣR²), with
    column sums C, row sums R, their total N (Cochran 1950); chi-square with k - 1 df.
    """
    total = sums.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        q: NDArray[np.float64] = np.divide(
            (treatments - 1) * (treatments * (sums**2).sum(axis=-1) - total**2),
            treatments * total - squares,
        )
    return q


def friedman_chi2(table: NDArray[np.float64]) -> float | None:
    """Compute Friedman's chi-square of a table (blocks, treatments); None where all tie.

    χ² = (k - 1) Σ(R - n(k + 1)/2)² / (Σr² - nk(k + 1)²/4), with n blocks, k treatments,
    midranks r and their sums R: tie-corrected, and defined for two treatments, which
    scipy's friedmanchisquare refuses.
    """
    blocks, treatments = table.shape
    if not np.ptp(table, axis=1).any():
        return None
    sums, squares = np.zeros(treatments), 0.0
    for start in range(0, blocks, BLOCKS_AT_ONCE):  # sums of halves and of quarters are exact
        ranks = scipy.stats.rankdata(table[start : start + BLOCKS_AT_ONCE], axis=1)
        sums += ranks.sum(axis=0)
        squares += float((ranks**2).sum())
    middle = (treatments + 1) / 2
    between = float(((sums - blocks * middle) ** 2).sum())
    within = squares - blocks * treatments * middle**2
    return float((treatments - 1) * between / within)


def paired_t_p(differences: Table) -> Table:
    """Test whether mean differences are above 0, one-tailed, by Student's paired t test.

    ``differences``: (queries, comparisons), at least 2 queries, none constant. Returns
    (comparisons,) in (0, 1).
    """
    test = scipy.stats.ttest_1samp(differences, 0, axis=0, alternative="greater")
    return np.asarray(test.pvalue)


def randomisation_p(differences: Table, resamples: int = REPLICATES, seed: int = SEED) -> Table:
    """Test whether mean differences are above 0, one-tailed, by exchanging the pairs of values.

    Under the null each difference could as well have the other sign (Fisher 1935). p is the
    share of all 2^n choices of signs whose sum is the observed one or more; where these are more
    than ``resamples`` (B), (b + 1)/(B + 1) of B random choices, which are the same for all
    comparisons. ``differences``, ``seed``: see ``bootstrap_p``. Returns (comparisons,) in (0, 1].

    Source: Smucker, Allan and Carterette 2007.
    """
    queries = len(differences)
    # A float's error must not decide a tie.
    least = differences.sum(axis=0) - 1e-12 * np.abs(differences).sum(axis=0)
    if 2**queries <= resamples:
        choices = np.arange(2**queries)[:, np.newaxis] >> np.arange(queries) & 1
        return np.asarray(((2 * choices - 1) @ differences >= least).mean(axis=0))
    bits, beyond = PCG64(seed), np.zeros(differences.shape[1])
    for start in range(0, resamples, RESAMPLES_AT_ONCE):
        rows = min(RESAMPLES_AT_ONCE, resamples - start)
        drawn = bits.random_raw(rows * queries).reshape(rows, queries) >> np.uint64(63)
        beyond += ((2.0 * drawn - 1) @ differences >= least).sum(axis=0)
    return np.asarray((beyond + 1) / (resamples + 1))


def tukey_hsd_p(values: Table, resamples: int = REPLICATES, seed: int = SEED) -> Table:
    """Compare every two of several runs at once, by a randomised test of honest differences.

    Under the null the values of a query could be any run's, so they are exchanged within each
    query, ``resamples`` (B) times; p of a pair is (b + 1)/(B + 1), b counting how often the
    largest difference between any two means is as large as the pair's. So in all pairs together a
    difference is named wrongly as often as the level says. ``values``: (queries, runs); ``seed``:
    see ``bootstrap_p``. Returns (runs, runs) in (0, 1], two-sided.

    Source: Carterette 2012 (ACM TOIS 30, 1); Sakai 2018 (Laboratory Experiments in IR, 4.5).
    """
    queries, runs = values.shape
    means = values.mean(axis=0)
    observed = np.abs(means[:, np.newaxis] - means) - 1e-12 * np.abs(values).max(initial=0.0)
    bits, beyond = PCG64(seed), np.zeros((runs, runs))
    for start in range(0, resamples, RESAMPLES_AT_ONCE):
        rows = min(RESAMPLES_AT_ONCE, resamples - start)
        keys = bits.random_raw(rows * queries * runs).reshape(rows, queries, runs)
        exchanged = np.take_along_axis(values[np.newaxis], keys.argsort(axis=2), axis=2)
        largest = np.ptp(exchanged.mean(axis=1), axis=1)
        beyond += (largest[:, np.newaxis, np.newaxis] >= observed).sum(axis=0)
    return np.asarray((beyond + 1) / (resamples + 1))


def topics_needed(mean: float, spread: float, power: float = 0.8) -> int | None:
    """Return with how many topics a paired t test finds a difference like this, two-sided at .05.

    ``mean``, ``spread``: of the differences of the topics, the latter their standard deviation;
    ``power``: how often it is to be found. 2 to MOST_TOPICS; None where that is not enough.

    Source: Sakai 2016 (Information Retrieval Journal 19, topic set size design), by the noncentral
    t distribution.
    """
    if not mean or spread <= 0:
        return None

    def found(topics: int) -> bool:
        critical = t_quantile(1 - LEVEL / 2, topics - 1)
        noncentral = abs(mean) / spread * math.sqrt(topics)
        return bool(scipy.stats.nct.sf(critical, topics - 1, noncentral) >= power)

    if not found(MOST_TOPICS):
        return None
    low, high = 1, MOST_TOPICS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p values by Holm's (1979) step-down method, in the same order; None stays None.

    The i-th smallest of m is multiplied by m - i + 1, and made no smaller than those
    before it. An undefined p counts in m: its comparison was meant to be made, and what
    is undefined in these answers must not make the others easier to pass.
    (statsmodels' multipletests collects garbage at each call: 50 ms.)
    """
    known = sorted((value, index) for index, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for before, (value, index) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(p) - before)))
        adjusted[index] = largest
    return adjusted


def fit_conditional_logit(
    terms_of: Terms, term_count: int, chosen: NDArray[np.bool_], counts: NDArray[np.int64]
) -> tuple[Table, Table] | None:
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
            for first in range(0, len(alike), CHOICES_AT_ONCE):
                some = alike[first : first + CHOICES_AT_ONCE]
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
    terms: Table, chosen: NDArray[np.bool_], counts: NDArray[np.int64], beta: Table
) -> tuple[Table, Table]:
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
    score: Table = counts @ (observed - expected)
    return score, second - (expected.T * counts) @ expected


def exact_p(p: float) -> float:
    """Clip an exact p to (0, 1]: with hundreds of equal answers it is below every float."""
    return min(1.0, max(p, SMALLEST))


def monte_carlo_p(beyond: NDArray[np.bool_]) -> float:
    """Return (b + 1)/(B + 1), a Monte Carlo p that is never 0 (Phipson & Smyth 2010).

    ``beyond``: for each replicate whether it is as far out as what was observed.
    """
    return float((beyond.sum() + 1) / (len(beyond) + 1))


class RandomStream:
    """Random numbers from PCG64's raw output, which numpy promises never to change."""

    def __init__(self, replicates: int = REPLICATES) -> None:
        self._bits = PCG64(SEED)
        self._replicates = replicates

    def halves(self, draws: int) -> Iterator[NDArray[np.uint32]]:
        """Yield ``draws`` rows of 10,000 numbers of 32 bits, some rows at a time.

        Each number of 64 bits gives two. h * bound >> 32 is an integer below a small
        ``bound``; no integer is favoured by more than 1e-8.
        """
        for first in range(0, draws, DRAWS_AT_ONCE):
            count = min(DRAWS_AT_ONCE, draws - first)
            drawn = self._bits.random_raw(count * REPLICATES // 2)
            yield drawn.astype("<u8", copy=False).view("<u4").reshape(count, REPLICATES)

    def tallies(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Count ``draws`` random integers below ``bound``, 10,000 times: (10,000, bound).

        h * bound >> 32 is v or more where h is at least v/bound of 2^32, rounded up, so
        counting three integers takes two comparisons of 32 bits.
        """
        at_least = np.zeros((bound + 1, REPLICATES), dtype=np.int64)
        at_least[0] = draws
        for halves in self.halves(draws):
            for value in range(1, bound):
                reached = halves >= np.uint32(-(-(value << 32) // bound))
                at_least[value] += np.add.reduce(reached.view(np.uint8), axis=0, dtype=np.uint8)
        return (at_least[:-1] - at_least[1:]).T

    def binomial(self, draws: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
        """Draw the number of successes among ``draws``, which differs by replicate.

        A binomial number of n is the sum of those of the powers of two that make up n, so
        only the distributions of the powers of two are inverted, each once.
        """
        counts = np.zeros(self._replicates, dtype=np.int64)
        for bit in range(int(draws.max(initial=0)).bit_length()):
            has_bit = draws >> bit & 1
            if has_bit.any():
                least, at_most = _distribution(1 << bit, chance)
                counts += has_bit * (least + np.searchsorted(at_most, self._uniform()))
        return counts

    def multinomial(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Count with the distribution of ``tallies``, by one binomial for each integer."""
        counts = np.zeros((REPLICATES, bound), dtype=np.int64)
        left: NDArray[np.int64] = np.full(REPLICATES, draws)
        for value in range(bound - 1):
            counts[:, value] = self.binomial(left, 1 / (bound - value))
            left = left - counts[:, value]
        counts[:, -1] = left
        return counts

    def _uniform(self) -> NDArray[np.float64]:
        """Draw a number between 0 and 1 for each replicate."""
        drawn = (self._bits.random_raw(self._replicates) >> np.uint64(11)).astype(np.float64)
        return (drawn + 0.5) * 2.0**-53


@cache
def _distribution(draws: int, chance: float) -> tuple[int, NDArray[np.float64]]:
    """Return the least plausible number of successes, and the chances of at most that, one more, …

    Numbers beyond ten standard deviations are left out: 64 random bits cannot reach them.
    """
    mean, reach = draws * chance, 10 * math.sqrt(draws * chance * (1 - chance)) + 10
    least, most = max(0, int(mean - reach)), min(draws, int(mean + reach))
    return least, np.asarray(scipy.stats.binom.cdf(np.arange(least, most), draws, chance))


def rounded(value: float, decimals: int = 1) -> str:
    """Format with ``decimals``, or with more where rounding would turn the value into 0.

    An interval's end that is not 0 must not read as 0.
    """
    exact = round(value, 9) or 0.0  # without a float's error, and never "−0"
    for places in range(decimals, 10):
        text = f"{exact:.{places}f}"
        if float(text) or not exact:
            break
    return text.replace("-", "−")


def decimal_text(value: float, decimals: int = 2) -> str:
    """Format a number from -1 to 1 without the zero before its point, as alpha is quoted: .82."""
    return rounded(value, decimals).replace("0.", ".", 1)


def ends_text(low: float, high: float) -> str:
    """Format the ends of an interval within -1 and 1: .71 to .93."""
    return f"{decimal_text(low)} to {decimal_text(high)}"


def p_text(p: float | None) -> str:
    """Format a p value as papers do: p = .023, p < .001; never rounded up to the level.

    A power of one half, the smallest p that few people or questions can show, is not rounded
    down: p = .0625 beside "no p is below .0625".
    """
    if p is None:
        return "no p value"
    if p < 0.001:
        return "p < .001"
    if p >= 0.9995:
        return "p = 1"
    for decimals in range(3, 10):
        text = f"{p:.{decimals}f}"
        if (float(text) < LEVEL) == (p < LEVEL):
            break
    if math.frexp(p)[0] == 0.5 and float(text) < p:
        text = f"{p:.4f}"
    return f"p = {text.removeprefix('0')}"
