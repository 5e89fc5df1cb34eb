"""Bootstrap tests over queries: whether a run is better than a baseline by more than chance."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

from survey.core.collections.evaluation import Evaluation
from survey.core.measures import Measure, Values
from survey.core.measures.measure import COMPARED_DECIMALS
from survey.core.statistics.significance import REPLICATES, SEED, holm

LEVELS = (0.05, 0.01, 0.001)  # *, ** and ***, as in the MNRO paper's Table 8
CHUNK = 1000  # resamples in memory at a time

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """A run compared with the baseline in one measure.

    ``difference``: the run's mean less the baseline's; ``percent``: of the baseline's mean,
    None where that is 0; ``p``, ``p_holm``: None where undefined; ``why`` gives the reason.
    """

    run: str
    measure: str
    difference: float
    percent: float | None
    p: float | None
    p_holm: float | None = None
    why: str | None = None

    @property
    def stars(self) -> str:
        """A star for each of the levels .05, .01, .001 that p, before Holm, does not exceed."""
        return "*" * sum(self.p is not None and self.p <= level for level in LEVELS)


def compare(
    evaluation: Evaluation, baseline: str, *, resamples: int = REPLICATES, seed: int = SEED
) -> tuple[Comparison, ...]:
    """Compare every other run with the baseline in every measure.

    p: see ``bootstrap_p``, of the differences in the direction in which the run would be
    better than the baseline. p_holm: Holm's correction over all comparisons of this call.
    """
    pairs = [
        (run, measure)
        for run in evaluation.values
        if run != baseline
        for measure in evaluation.measures
    ]
    gains = [_gain(evaluation, run, baseline, measure) for run, measure in pairs]
    described = [
        _described(evaluation, run, baseline, measure.name, why_none(gain))
        for (run, measure), gain in zip(pairs, gains, strict=True)
    ]
    tested = [gain for gain in gains if why_none(gain) is None]
    values = iter(bootstrap_p(np.column_stack(tested), resamples, seed).tolist() if tested else ())
    p = [next(values) if comparison.why is None else None for comparison in described]
    return tuple(
        replace(comparison, p=value, p_holm=adjusted)
        for comparison, value, adjusted in zip(described, p, holm(p), strict=True)
    )


def _gain(evaluation: Evaluation, run: str, baseline: str, measure: Measure) -> Values:
    """Return by how much the run is better than the baseline, for each query."""
    values, base = (evaluation.values[name][measure.name] for name in (run, baseline))
    return values - base if measure.better == "higher" else base - values


def _described(
    evaluation: Evaluation, run: str, baseline: str, measure: str, why: str | None
) -> Comparison:
    mean, base = (evaluation.mean(name, measure) for name in (run, baseline))
    percent = 100 * (mean - base) / base if base else None
    return Comparison(run, measure, mean - base, percent, p=None, why=why)


def why_none(differences: Values) -> str | None:
    """Return the reason why differences have no p value, or None where they have one."""
    if len(differences) < 2:
        return "one query only; the bootstrap needs at least 2"
    rounded = np.round(differences, COMPARED_DECIMALS)
    if not rounded.any():
        return "the two runs have the same value for every query"
    if (rounded == rounded[0]).all():
        return "the difference is the same for every query, so its standard error is 0"
    return None


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
    for counts in _tallies(queries, resamples, seed):
        means = counts @ shifted / queries
        variances = (counts @ shifted**2 / queries - means**2) * queries / (queries - 1)
        # A float's error must decide neither a tie nor whether there is any spread.
        errors = np.sqrt(np.where(variances > 1e-12, variances, 0.0) / queries)
        means = np.where(np.abs(means) > 1e-12, means, 0.0)
        reached = means >= observed * errors - 1e-9
        beyond += np.where(errors > 0, reached, _without_spread(means, observed)).sum(axis=0)
    return np.asarray((beyond + 1) / (resamples + 1))


def _without_spread(means: Table, observed: Table) -> NDArray[np.bool_]:
    return np.where(means == 0, observed <= 0, means > 0)


def _tallies(queries: int, resamples: int, seed: int) -> Iterator[Table]:
    """Yield how often each query occurs in each resample: (up to CHUNK, queries)."""
    bits = PCG64(seed)
    for start in range(0, resamples, CHUNK):
        rows = min(CHUNK, resamples - start)
        words = bits.random_raw(rows * queries).reshape(rows, queries)
        # The upper half of a word times the bound, shifted: favours no query by more than 1e-6.
        drawn = ((words >> np.uint64(32)) * np.uint64(queries) >> np.uint64(32)).astype(np.int64)
        cells = drawn + queries * np.arange(rows)[:, np.newaxis]
        tallied = np.bincount(cells.ravel(), minlength=rows * queries)
        yield tallied.reshape(rows, queries).astype(np.float64)
