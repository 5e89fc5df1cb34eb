"""A machine's judgements beside people's: as good as a person's, and of use for an estimate?

Estimates are prediction-powered: the machine judged all M units of a pool, people n of them. What
the machine says of all of them narrows the interval as far as it agrees with people where both
judged; a bad machine gets the weight 0. Each estimate rests on ``ASSUMPTIONS``.

Sources: Angelopoulos, Duchi and Zrnic 2023 (PPI++, the weight); Cochran 1977 (Sampling Techniques,
chapter 7, the regression estimator for a sample of a finite pool). Figures are dictionaries, as
results print them.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.statistics.annotator_test import (
    ROUNDING,
    annotator_test,
    equal_scores,
    rmse_scores,
)
from survey.core.statistics.bootstrap import percentile_interval, resampled_sums
from survey.core.statistics.components import (
    LEAST_PART_OF_REST,
    TableSums,
    VarianceComponents,
    variance_components,
)
from survey.core.statistics.pooling import pooled as pooled
from survey.core.statistics.pooling import pooled_shared_questions as pooled_shared_questions
from survey.core.statistics.rater_agreement import QUANTILE, wilson
from survey.core.statistics.significance import SEED, Interval, t_quantile

ASSUMPTIONS = (
    "The {n} units that people judged are a simple random sample of the {M}, drawn by the plan's "
    "seed.",
    "The machine judged all {M} without people's answers; examples in its prompt come from "
    "elsewhere.",
    "All drawn units were answered.",
)

# Below these an estimate is not better than people's alone, or its interval holds too rarely.
LEAST_UNITS = 20  # of a mean that people judged
LEAST_POOL = 2  # times as many units judged by the machine
LEAST_JUDGED = 100  # of a count
LEAST_SHARE = 0.05  # relevant, of a count
LEAST_QUESTIONS, LEAST_PEOPLE = 30, 6  # of preferences

NO_SPREAD = 1e-12  # of the largest value: below it a machine's values are all the same but rounding

Figures = dict[str, Any]
Numbers = NDArray[np.float64]
Values = Sequence[float] | NDArray[Any]


def alternative_annotator_test(
    *,
    score: Literal["equal", "rmse"],
    epsilon: float,
    q: float,
    people: Mapping[str, Mapping[Hashable, Any]],
    machine: Mapping[Hashable, Any],
    may_replace: bool | None = None,
    unmet: str = "",
) -> Figures:
    """Test whether the machine may take the place of one of the people: see ``annotator_test``.

    ``score``: how near two answers are: "equal", or "rmse" for grades; ``epsilon``: by how much
    worse the machine may be; ``people``: each person's answer by unit; ``machine``: its own. By
    itself the test is too weak: a machine that always says "no" passes where little is relevant.
    ``may_replace``, ``unmet``: the decision by all conditions, returned as given
    (survey.core.agreement.machines makes it).
    """
    if score not in ("equal", "rmse"):
        raise ValueError(f"score: {score!r} found; it is 'equal' or 'rmse'")
    _number("epsilon", epsilon, 0, 1)
    _number("q", q, 0, 1)
    if len(people) < 2:
        raise ValueError(f"people: {len(people)} found; the test compares two or more")
    units = list(machine)
    codes: dict[Any, float] = {}

    def number(field: str, unit: Hashable, value: Any) -> float:
        if value is None:
            return math.nan
        if score == "equal":
            return codes.setdefault(value, float(len(codes)))
        return _number(f"{field}, {unit}", value)

    own = [number("machine", unit, machine[unit]) for unit in units]
    table = [
        [number(f"people, {name}", unit, answers.get(unit)) for name, answers in people.items()]
        for unit in units
    ]
    scores_of = equal_scores if score == "equal" else rmse_scores
    scores = scores_of(np.array(table).reshape(len(units), len(people)), np.array(own))
    result = annotator_test(scores, epsilon, q)
    by_person: list[Figures] = []
    for name, test in zip(people, result.people, strict=True):
        row: Figures = {"person": name, "items": test.units, "left_out": test.left_out}
        if not test.left_out:
            row |= {
                "rho_machine": test.advantage_machine,
                "rho_person": test.advantage_person,
                "mean_d": test.mean,
                "t": test.t,
                "p": test.p,
                "rejected": test.rejected,
            }
        by_person.append(row)
    return {
        "by_person": by_person,
        "winning_rate": result.winning_rate if result.tested else 0.0,
        "average_advantage_probability": result.advantage,
        "passes": result.passes,
        "may_replace": may_replace,
        "unmet": unmet,
    }


@dataclass(frozen=True)
class _Regression:
    """People's values y of the sample corrected by the machine's f: y + weight · (F − f).

    ``shift``: F − f̄, the pool's mean less the sample's; ``residual``: the variance about it;
    ``leverage``: what the shift's own uncertainty adds; ``lost``: degrees of freedom, 1 or 2.
    """

    weight: float
    shift: float
    residual: float
    leverage: float
    lost: int


def _regression(
    y: Numbers, f: Numbers, pool_mean: float, weight: float | None = None, most: float = 1.0
) -> _Regression:
    """Fit the weight S_fY / S_ff, limited to 0 and ``most``, unless it is given."""
    around = f - f.mean()
    s_ff = float(around @ around)
    is_constant = np.ptp(f) <= NO_SPREAD * float(np.abs(f).max())
    if weight is None:
        weight = 0.0 if is_constant else min(most, max(0.0, float(around @ (y - y.mean())) / s_ff))
    rest = y - y.mean() - weight * around
    lost = 2 if weight > 0 else 1
    shift = pool_mean - float(f.mean())
    leverage = shift**2 / s_ff if weight > 0 and not is_constant else 0.0
    residual = float(rest @ rest) / (len(y) - lost) if len(y) > lost else math.nan
    return _Regression(weight, shift, residual, leverage, lost)


def _variances(fit: _Regression, y: Numbers, pool: int) -> tuple[float, float]:
    """Return the variance of the estimate for the pool, and for units of this kind."""
    of_pool = fit.residual * (1 / len(y) - 1 / pool + fit.leverage)
    return of_pool, of_pool + float(y.var(ddof=1)) / pool


def _interval(middle: float, variance: float, df: float) -> Interval:
    reach = t_quantile(0.975, df) * math.sqrt(variance)
    return middle - reach, middle + reach


def prediction_powered_mean(
    *,
    labelled: Sequence[int],
    people: Values | None = None,
    machine: Values | None = None,
    people_a: Values | None = None,
    people_b: Values | None = None,
    machine_a: Values | None = None,
    machine_b: Values | None = None,
) -> Figures:
    """Estimate the mean of a run over topics, or the mean difference of two runs, a − b.

    ``machine``: (M,), the measure by the machine's judgements for all topics; ``labelled``: the
    numbers, from 0, of the n topics that people judged; ``people``: (n,), the measure by people's
    judgements in that order. With f̄, Ȳ of the sample and F the pool's mean of f: Ȳ + λ(F − f̄),
    λ = S_fY/S_ff in [0, 1]. ``pool``: the interval for these M topics; ``kind``: for topics of this
    kind; ``people_alone``: without the machine; ``published``: the interval of the package
    ppi-python, with its weight for infinite pools, which covers too rarely with few topics.
    """
    both = people_a is not None or machine_a is not None
    names = (("people_a", people_a), ("people_b", people_b)) if both else (("people", people),)
    y, *others = (_array(name, value) for name, value in names)
    y = y - others[0] if others and _same_length(names) else y
    names = (
        (("machine_a", machine_a), ("machine_b", machine_b)) if both else (("machine", machine),)
    )
    f, *others = (_array(name, value) for name, value in names)
    f = f - others[0] if others and _same_length(names) else f
    sample = _sample(labelled, len(f), len(y), names[0][0])
    n, pool = len(y), len(f)
    fit = _regression(y, f[sample], float(f.mean()))
    alone = _regression(y, np.zeros(n), 0.0)
    estimate, df = float(y.mean()) + fit.weight * fit.shift, n - fit.lost
    variances, alone_variances = _variances(fit, y, pool), _variances(alone, y, pool)
    intervals = [_interval(estimate, variance, df) for variance in variances]
    alone_intervals = [_interval(float(y.mean()), each, n - 1) for each in alone_variances]
    return {
        "n": n,
        "M": pool,
        "weight": fit.weight,
        "df": df,
        "estimate": estimate,
        "residual_variance": fit.residual,
        "leverage": fit.leverage,
        "pool": {"se": math.sqrt(variances[0]), "ci95": intervals[0]},
        "kind": {"se": math.sqrt(variances[1]), "ci95": intervals[1]},
        "people_alone": {
            "estimate": float(y.mean()),
            "pool_ci95": alone_intervals[0],
            "kind_ci95": alone_intervals[1],
        },
        "published": _published(y, f, sample),
        "missing": [*_too_few(n, LEAST_UNITS, "topics that people judged"), *_small_pool(n, pool)],
    }


def _published(y: Numbers, f: Numbers, sample: NDArray[np.int64]) -> Figures | None:
    """Return what ppi-python 0.2.3 gives, its method ``ppi_mean_ci``; None without other topics."""
    others = np.delete(f, sample)
    if not len(others):
        return None
    own, ratio = f[sample], len(y) / len(others)
    weight = _regression(y, own, 0.0, most=1 + ratio).weight / (1 + ratio)
    rest = y - weight * own
    estimate = weight * float(others.mean()) + float(rest.mean())
    variance = float((weight * others).var()) / len(others) + float(rest.var()) / len(y)
    reach = QUANTILE * math.sqrt(variance)
    return {
        "ppi_python_weight": weight,
        "ppi_python_estimate": estimate,
        "ppi_python_ci95": (estimate - reach, estimate + reach),
    }


def relevant_count(
    *, pool: Sequence[int], judged: Sequence[int], relevant: Sequence[int], strata: str = ""
) -> Figures:
    """Estimate how many documents of a pool are relevant, by strata of the machine's answers.

    For each stratum ``pool``: its documents, ``judged``: how many of them people judged,
    ``relevant``: how many of these are relevant; ``strata``: their names, parted by "; ". The
    share is Σ W_h p_h, W_h = M_h/M; its limits are p less √Σ W_h²(p_h − l_h)² and plus
    √Σ W_h²(u_h − p_h)², with [l_h, u_h] Wilson's interval of n_h/(1 − n_h/M_h) answers: a stratum
    judged in full adds nothing, one without an answer has p = ½ and the interval [0, 1].
    ``people_alone``: the same without strata, which is right only where all documents had the same
    chance to be judged.

    Source: the combination of limits, MOVER: Zou and Donner 2008.
    """
    sizes, numbers, found = (
        _counts(name, values)
        for name, values in (("pool", pool), ("judged", judged), ("relevant", relevant))
    )
    for name, values in (("judged", numbers), ("relevant", found)):
        if len(values) != len(sizes):
            raise ValueError(f"{name}: {len(values)} strata found; pool has {len(sizes)}")
    for place in range(len(sizes)):
        if numbers[place] > sizes[place]:
            raise ValueError(
                f"judged: {numbers[place]:g} found in stratum {place + 1}; its pool has "
                f"{sizes[place]:g}"
            )
        if found[place] > numbers[place]:
            raise ValueError(
                f"relevant: {found[place]:g} found in stratum {place + 1}; {numbers[place]:g} were "
                "judged"
            )
    names = strata.split("; ") if strata else [""] * len(sizes)
    if len(names) != len(sizes):
        raise ValueError(f"strata: {len(names)} names found; pool has {len(sizes)} strata")
    total = float(sizes.sum())
    if not total:
        raise ValueError("pool: no document found; a share needs one or more")
    if not numbers.sum():
        raise ValueError("judged: no document found; a share needs one or more")
    n = int(numbers.sum())
    share, interval = _stratified(sizes, numbers, found)
    alone, alone_interval = _stratified(
        *(each.sum(keepdims=True) for each in (sizes, numbers, found))
    )
    missing = _too_few(n, LEAST_JUDGED, "documents that people judged")
    if share < LEAST_SHARE:
        missing.append(f"{LEAST_SHARE:.0%} of relevant documents are needed, {share:.1%} are")
    return {
        "share": share,
        "ci95": interval,
        "count": share * total,
        "count_ci95": tuple(end * total for end in interval),
        "n": n,
        "M": int(total),
        "strata": [
            {"stratum": name, "pool": int(size), "judged": int(number), "relevant": int(some)}
            for name, size, number, some in zip(names, sizes, numbers, found, strict=True)
        ],
        "people_alone": {
            "share": alone,
            "ci95": alone_interval,
            "count": alone * total,
            "count_ci95": tuple(end * total for end in alone_interval),
        },
        "missing": missing,
    }


def _stratified(sizes: Numbers, numbers: Numbers, found: Numbers) -> tuple[float, Interval]:
    some = sizes > 0
    sizes, numbers, found = sizes[some], numbers[some], found[some]
    weights = sizes / sizes.sum()
    is_judged, is_full = numbers > 0, numbers == sizes
    shares = np.where(is_judged, found / np.maximum(numbers, 1), 0.5)
    open_part = np.where(is_full, 1.0, 1 - numbers / sizes)
    low, high = wilson(shares * numbers / open_part, np.maximum(numbers, 1) / open_part)
    low = np.where(is_full, shares, np.where(is_judged, low, 0.0))
    high = np.where(is_full, shares, np.where(is_judged, high, 1.0))
    share = float(weights @ shares)
    below = math.sqrt(float(((weights * (shares - low)) ** 2).sum()))
    above = math.sqrt(float(((weights * (high - shares)) ** 2).sum()))
    return share, (max(0.0, share - below), min(1.0, share + above))


def preference_share(
    *,
    people_agree: Values,
    people_prefer: Values,
    machine_agree: Values,
    machine_prefer: Values,
    labelled: Sequence[int],
) -> Figures:
    """Estimate the share of preferences that a measure agrees with; these people, questions drawn.

    For each question A, the share of the people whose preference the measure agrees with, and D,
    the share who have one: ``people_agree``, ``people_prefer``, (n,), of the questions
    ``labelled``; ``machine_agree``, ``machine_prefer``, (M,), by the machine, of all questions. The
    share is (Ā + λ(F^A − f̄^A)) / (D̄ + λ(F^D − f̄^D)); its variance is that of A − θD, divided by the
    squared denominator (Cochran 1977, chapter 6).
    """
    agree, prefer = (
        _array("people_agree", people_agree, 0, 1),
        _array("people_prefer", people_prefer, 0, 1),
    )
    if len(prefer) != len(agree):
        raise ValueError(f"people_prefer: {len(prefer)} found; people_agree has {len(agree)}")
    f_agree = _array("machine_agree", machine_agree, 0, 1)
    f_prefer = _array("machine_prefer", machine_prefer, 0, 1)
    if len(f_prefer) != len(f_agree):
        raise ValueError(f"machine_prefer: {len(f_prefer)} found; machine_agree has {len(f_agree)}")
    sample = _sample(labelled, len(f_agree), len(agree), "machine_agree", "people_agree")
    if not prefer.any():
        raise ValueError("people_prefer: only 0 found; a share needs a preference or more")
    alone = float(agree.mean() / prefer.mean())
    f = f_agree - alone * f_prefer
    weight = _regression(agree - alone * prefer, f[sample], float(f.mean())).weight
    of_agree, of_prefer = (
        float(values.mean()) + weight * float(machine.mean() - machine[sample].mean())
        for values, machine in ((agree, f_agree), (prefer, f_prefer))
    )
    n, pool = len(agree), len(f_agree)
    alone_figures = _ratio_intervals(
        alone, agree - alone * prefer, np.zeros(pool), sample, 0.0, float(prefer.mean())
    )
    share = of_agree / of_prefer
    f = f_agree - share * f_prefer
    figures = _ratio_intervals(share, agree - share * prefer, f, sample, weight, of_prefer)
    return {
        "n": n,
        "M": pool,
        "weight": weight,
        "share": share,
        **figures,
        "people_alone": alone,
        "people_alone_pool_ci95": alone_figures["pool_ci95"],
        "people_alone_kind_ci95": alone_figures["kind_ci95"],
        "missing": [
            *_too_few(n, LEAST_QUESTIONS, "questions that people answered"),
            *_small_pool(n, pool),
        ],
    }


def _ratio_intervals(
    share: float, y: Numbers, f: Numbers, sample: NDArray[np.int64], weight: float, below: float
) -> Figures:
    """Return the intervals of a ratio from y less the ratio times what stands ``below``."""
    fit = _regression(y, f[sample], float(f.mean()), weight)
    df = len(y) - fit.lost
    of_pool, of_kind = (each / below**2 for each in _variances(fit, y, len(f)))
    return {
        "df": df,
        "pool_ci95": _interval(share, of_pool, df),
        "kind_ci95": _interval(share, of_kind, df),
    }


def preference_crossed(
    *,
    people: Sequence[Sequence[float | None]],
    machine: Values,
    labelled: Sequence[int],
) -> Figures:
    """Estimate a mean over people and questions, both drawn, such as of two measures' agreement.

    ``people``: (people, n), None where a person did not answer; ``machine``: (M,); ``labelled``:
    the numbers of the n questions. The weight is that of the questions' means; the variance is that
    of crossed components (Henderson's method I) of y − λf, for questions and people of this kind.
    With λ > 0 the questions' mean square is multiplied by (Q − 1)/(Q − 2), Q − 2 degrees of
    freedom, and the variance gains L(σ_Q² + σ_E²/P) − σ_Q²/M + σ_Q²(y)/M.
    """
    rows = [
        [math.nan if value is None else _number(f"people, row {number}", value) for value in row]
        for number, row in enumerate(people, start=1)
    ]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        raise ValueError(
            f"people: rows of {sorted({len(row) for row in rows})} answers found; two rows or more "
            "are needed, with a value or None for each question"
        )
    y = np.array(rows)
    f = _array("machine", machine)
    sample = _sample(labelled, len(f), y.shape[1], "machine")
    known = np.isfinite(y)
    for axis, what in ((1, "row"), (0, "question")):
        if not known.any(axis=axis).all():
            place = int(np.flatnonzero(~known.any(axis=axis))[0]) + 1
            raise ValueError(f"people: no answer found in {what} {place}; it takes one or more")
    if known.sum() - sum(known.shape) + 1 < 1 or y.shape[1] < 3:
        raise ValueError(
            f"people: {known.sum()} answers of {len(y)} people to {y.shape[1]} questions found; "
            "components need three questions, and more answers than people and questions"
        )
    counts = known.sum(axis=0)
    means = np.where(known, y, 0.0).sum(axis=0) / counts
    own = f[sample]
    fit = _regression(means, own, float(f.mean()))
    alone = _components(y, known, 1.0)
    questions = y.shape[1]
    scale = (questions - 1) / (questions - 2) if fit.weight > 0 else 1.0
    parts = _components(y - fit.weight * own, known, scale)
    column = max(float(parts.column), 0.0)
    added = fit.leverage * (column + float(parts.rest) / len(y))
    added += (max(float(alone.column), 0.0) - column) / len(f)
    mean = float(np.nanmean(y))
    estimate = float(np.nanmean(y - fit.weight * own)) + fit.weight * float(f.mean())
    return {
        "n": questions,
        "M": len(f),
        "weight": fit.weight,
        "leverage": fit.leverage,
        "people_alone": _crossed_figures(mean, alone, 0.0, 1),
        "with_machine": _crossed_figures(estimate, parts, added, fit.lost),
        "missing": [
            *_too_few(questions, LEAST_QUESTIONS, "questions that people answered"),
            *_too_few(len(y), LEAST_PEOPLE, "people"),
            *_small_pool(questions, len(f)),
        ],
    }


def _components(values: Numbers, known: NDArray[np.bool_], scale: float) -> VarianceComponents:
    """Estimate components; ``scale`` multiplies the columns' mean square."""
    filled = np.where(known, values, 0.0)
    sums = TableSums.of(
        filled.sum(axis=1),
        filled.sum(axis=0),
        known.sum(axis=1),
        known.sum(axis=0),
        float((filled**2).sum()),
    )
    more = (scale - 1) * (sums.by_column - sums.total**2 / sums.n)
    return variance_components(
        replace(sums, by_column=sums.by_column + more, squares=sums.squares + more)
    )


def _crossed_figures(
    estimate: float, parts: VarianceComponents, added: float, lost: int
) -> Figures:
    rest = float(parts.rest) / float(parts.sums.n)
    variance = max(float(parts.variance) + added, LEAST_PART_OF_REST * rest)
    df = float(parts.df_of(variance, lost)) if variance else None
    return {
        "estimate": estimate,
        "person": float(parts.row),
        "question": float(parts.column),
        "rest": float(parts.rest),
        "se": math.sqrt(variance),
        "df": df,
        "ci95": None if df is None else _interval(estimate, variance, df),
    }


def calibration(
    *,
    samples_equal: Sequence[int],
    people_share: Values,
    samples: int = 5,
    topics: Sequence[Hashable] | None = None,
    seed: int = SEED,
) -> Figures:
    """Compare how often a machine's samples agree with how many people give the same answer.

    For each unit ``samples_equal``: how many of the ``samples`` gave the most frequent answer, b of
    k; ``people_share``: the share of people who gave it. ``ece``: expected calibration error,
    Σ_b (n_b/n)|mean share − b/k| (Naeini, Cooper and Hauskrecht 2015), in [0, 1]; ``ece_ci95``: by
    a bootstrap of ``topics``, the topic of each unit, else of units.
    """
    if samples < 2:
        raise ValueError(f"samples: {samples} found; it takes two or more")
    equal = _array("samples_equal", samples_equal, 1, samples)
    shares = _array("people_share", people_share, 0, 1)
    if len(shares) != len(equal):
        raise ValueError(f"people_share: {len(shares)} found; samples_equal has {len(equal)}")
    if (equal % 1).any():
        raise ValueError(f"samples_equal: {equal[equal % 1 > 0][0]:g} found; it is a whole number")
    if topics is not None and len(topics) != len(equal):
        raise ValueError(f"topics: {len(topics)} found; samples_equal has {len(equal)}")
    bins = equal[:, np.newaxis] == np.arange(1, samples + 1)
    off = (shares - equal / samples)[:, np.newaxis]
    values = np.hstack([bins * off, np.ones((len(equal), 1))])
    drawn, units = resampled_sums(values, topics, seed)
    ece = np.abs(drawn[:, :-1]).sum(axis=1) / drawn[:, -1]
    return {
        "ece": float(np.abs(values[:, :-1].sum(axis=0)).sum()) / len(equal),
        "ece_ci95": percentile_interval(ece, units),
        "mean_confidence": float(equal.mean()) / samples,
        "mean_agreement": float(shares.mean()),
        "n": len(equal),
        "bins": [
            {
                "samples_equal": number,
                "n": int(chosen.sum()),
                "confidence": number / samples,
                "agreement": float(shares[chosen].mean()) if chosen.any() else None,
            }
            for number, chosen in zip(range(1, samples + 1), bins.T, strict=True)
        ],
    }


def planned_width(*, n: int, pool: int, correlation: float, spread: float) -> Figures:
    """Return the half-width to expect of a mean's interval, and the answers that it saves.

    ``n``: units that people judge, four or more; ``pool``: that the machine judges; ``correlation``
    of the two; ``spread``: the standard deviation of people's values. ``people_needed``: how many
    units people alone would have to judge for that half-width; ``saved``: ``n`` less of it. For the
    units of the pool.
    """
    if not 4 <= n <= pool:
        raise ValueError(f"n: {n} found; it is 4 to {pool}, the pool's size")
    _number("correlation", correlation, -1, 1)
    _number("spread", spread, 0)

    def alone(number: int) -> float:
        variance = spread**2 * (1 / number - 1 / pool)
        return t_quantile(0.975, number - 1) * math.sqrt(variance)

    explained = max(correlation, 0.0) ** 2
    part = 1 / n - 1 / pool
    # The pool's mean is as far from the sample's as chance makes it: the leverage to expect.
    variance = spread**2 * (1 - explained) * part * (1 + 1 / (n - 3))
    with_machine = t_quantile(0.975, n - 2) * math.sqrt(variance)
    half_width = min(alone(n), with_machine)
    low, high = n, pool
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if alone(middle) <= half_width + ROUNDING else (middle + 1, high)
    return {
        "half_width": half_width,
        "people_alone": alone(n),
        "people_needed": low,
        "saved": low - n,
    }


def _too_few(found: int, least: int, what: str) -> list[str]:
    return [f"{least} {what} are needed, there are {found}"] if found < least else []


def _small_pool(n: int, pool: int) -> list[str]:
    least = LEAST_POOL * n
    return _too_few(pool, least, "units that the machine judged") if pool < least else []


def _number(field: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number; raise ValueError naming the field, the value and what is allowed."""
    is_number = isinstance(value, int | float | np.number) and math.isfinite(value)
    if not is_number or not least <= value <= most:
        allowed = "a number"
        if math.isfinite(least):
            allowed += (
                f" from {least:g} to {most:g}" if math.isfinite(most) else f", {least:g} or more"
            )
        raise ValueError(f"{field}: {value!r} found; it is {allowed}")
    return float(value)


def _array(
    field: str, values: Values | None, least: float = -math.inf, most: float = math.inf
) -> Numbers:
    if values is None:
        raise ValueError(f"{field}: not given; it is a list of numbers")
    if len(values) < 1:
        raise ValueError(f"{field}: no number found; it takes one or more")
    try:
        array = np.asarray(values, dtype=np.float64)
        is_valid = array.ndim == 1 and bool(((array >= least) & (array <= most)).all())
        is_valid = is_valid and bool(np.isfinite(array).all())
    except (TypeError, ValueError):
        is_valid = False
    if is_valid:
        return array
    for place, value in enumerate(values, start=1):
        _number(f"{field}, entry {place}", value, least, most)
    raise ValueError(f"{field}: {type(values).__name__} found; it is a list of numbers")


def _counts(field: str, values: Sequence[int]) -> Numbers:
    array = _array(field, values, 0)
    if (array % 1).any():
        raise ValueError(f"{field}: {array[array % 1 > 0][0]:g} found; it is a whole number")
    return array


def _same_length(names: Sequence[tuple[str, Values | None]]) -> bool:
    (first, values), (second, others) = names
    sizes = [0 if each is None else len(each) for each in (values, others)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"{second}: {sizes[1]} found; {first} has {sizes[0]}")
    return True


def _sample(
    labelled: Sequence[int], pool: int, n: int, machine: str, people: str = "people"
) -> NDArray[np.int64]:
    """Return the numbers of the sampled units, checked."""
    if len(labelled) != n:
        raise ValueError(f"labelled: {len(labelled)} found; {people} has {n}")
    if n < 3:
        raise ValueError(f"labelled: {n} found; three units or more are needed")
    used: set[int] = set()
    for number in labelled:
        if not isinstance(number, int | np.integer) or not 0 <= number < pool:
            raise ValueError(
                f"labelled: {number!r} found; it is a whole number from 0 to {pool - 1}, since "
                f"{machine} has {pool}"
            )
        if number in used:
            raise ValueError(f"labelled: {number} found twice; each unit is drawn once")
        used.add(int(number))
    return np.asarray(labelled, dtype=np.int64)
