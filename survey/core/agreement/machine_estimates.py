"""What many machine judgements add to few of people: a ranking of runs, and sentences of estimates.

The figures are those of survey.core.statistics.beside_people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.machines import UNDEFINED, Estimate
from survey.core.statistics.beside_people import ASSUMPTIONS
from survey.core.statistics.bootstrap import SAMPLES, percentile_interval
from survey.core.statistics.rater_agreement import tau_b
from survey.core.statistics.significance import (
    LEVEL,
    SEED,
    Interval,
    resample_counts,
    rounded,
    tukey_hsd_p,
)

LEAST_RUNS, LEAST_TOPICS = 5, 10
MOST_TOP = 10  # runs

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class RunRanking:
    """Whether the machine's judgements rank runs as people's do.

    ``all_runs``, ``top``: tau-b of the runs' means, over all runs and over people's best half, at
    most ten: ``top_runs`` of them; ``separated``: pairs of runs that people's judgements tell apart
    (a randomised test of honest differences, .05 over all pairs); ``reversed_pairs``: of these, the
    pairs of which the machine's judgements prefer the other run. ``why``: why there is no ranking.
    """

    runs: int
    topics: int
    all_runs: Estimate = UNDEFINED
    top: Estimate = UNDEFINED
    top_runs: int = 0
    separated: int = 0
    reversed_pairs: tuple[tuple[str, str], ...] = ()
    why: str | None = None


def rank_runs(
    runs: Sequence[str], people: Numbers, machine: Numbers, seed: int = SEED
) -> RunRanking:
    """Compare two rankings of runs; ``people``, ``machine``: a measure, (topics, runs).

    Intervals by a bootstrap of topics, SAMPLES draws from ``seed``; people's best half is that of
    all topics in every draw. Overall tau-b hides the top, where most evaluations are decided.

    Source: Clarke and Dietz 2024 (LLM-based relevance assessment).
    """
    topics = len(people)
    if people.shape != machine.shape or people.shape != (topics, len(runs)):
        raise ValueError(
            f"people: {people.shape}, machine: {machine.shape} found; both are topics × "
            f"{len(runs)} runs"
        )
    if len(runs) < LEAST_RUNS or topics < LEAST_TOPICS:
        why = (
            f"{len(runs)} runs and {topics} topics; a ranking needs {LEAST_RUNS} runs and "
            f"{LEAST_TOPICS} topics"
        )
        return RunRanking(len(runs), topics, why=why)
    means, machine_means = people.mean(axis=0), machine.mean(axis=0)
    order = np.argsort(-np.round(means, 12), kind="stable")
    top = order[: min(MOST_TOP, (len(runs) + 1) // 2)]
    every = np.arange(len(runs))
    samples: list[list[Numbers]] = [[], []]
    for counts in resample_counts(topics, SAMPLES, seed):
        drawn, of_machine = counts @ people / topics, counts @ machine / topics
        for which, chosen in zip(samples, (every, top), strict=True):
            which.append(_tau(drawn[:, chosen], of_machine[:, chosen]))
    taus = (float(_tau(means[chosen], machine_means[chosen])) for chosen in (every, top))
    all_runs, of_top = (
        UNDEFINED
        if np.isnan(tau)
        else Estimate(tau, percentile_interval(np.concatenate(which), topics))
        for tau, which in zip(taus, samples, strict=True)
    )
    firsts, seconds = np.triu_indices(len(runs), 1)
    apart = tukey_hsd_p(people)[firsts, seconds] < LEVEL
    ahead = np.sign(np.round(means[firsts] - means[seconds], 12))
    machine_ahead = np.sign(np.round(machine_means[firsts] - machine_means[seconds], 12))
    is_reversed = apart & (ahead * machine_ahead < 0)
    return RunRanking(
        *(len(runs), topics, all_runs, of_top, len(top), int(apart.sum())),
        tuple(
            (runs[first], runs[second]) if ahead[place] > 0 else (runs[second], runs[first])
            for place, (first, second) in enumerate(
                zip(firsts.tolist(), seconds.tolist(), strict=True)
            )
            if is_reversed[place]
        ),
    )


def _tau(first: Numbers, second: Numbers) -> Numbers:
    ranks = (scipy.stats.rankdata(np.round(-values, 12), axis=-1) for values in (first, second))
    return tau_b(*ranks)


def estimate_sentence(
    figures: Mapping[str, Any],
    *,
    human: int,
    machine: int,
    population: str = "pool",
    percent: bool = True,
) -> str:
    """Return the estimate with the machine beside people's own, or people's and what is missing.

    ``figures``: of prediction_powered_mean, relevant_count, preference_share or preference_crossed;
    ``human``, ``machine``: how many judgements of each there are; ``population``: "pool" or "kind";
    ``percent``: shares are printed in per cent, other values with three decimals.
    """
    estimate, alone = (_text(*each, percent) for each in estimate_values(figures, population))
    if figures["missing"]:
        missing = "; ".join(figures["missing"])
        return (
            f"With {human:,} human judgements {alone}. The machine's {machine:,} judgements add "
            f"nothing yet: {missing}."
        )
    return (
        f"With {human:,} human and {machine:,} machine judgements {estimate}; with people alone "
        f"{alone}."
    )


def assumptions(figures: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what an estimate rests on, which is printed with it."""
    sizes = {"n": f"{figures['n']:,}", "M": f"{figures['M']:,}"}
    return tuple(assumption.format(**sizes) for assumption in ASSUMPTIONS)


def estimate_values(
    figures: Mapping[str, Any], population: str
) -> tuple[tuple[float, Interval | None], tuple[float, Interval | None]]:
    """Return the estimate with its interval, with the machine and of people alone.

    ``figures``, ``population``: see ``estimate_sentence``.
    """
    alone = figures["people_alone"]
    if "with_machine" in figures:
        both = figures["with_machine"]
        return (both["estimate"], both["ci95"]), (alone["estimate"], alone["ci95"])
    if "estimate" in figures:
        own = alone["estimate"], alone[f"{population}_ci95"]
        return (figures["estimate"], figures[population]["ci95"]), own
    if "count" in figures:
        return (figures["share"], figures["ci95"]), (alone["share"], alone["ci95"])
    ends = figures[f"{population}_ci95"], figures[f"people_alone_{population}_ci95"]
    return (figures["share"], ends[0]), (alone, ends[1])


def _text(value: float, interval: Interval | None, percent: bool) -> str:
    def written(number: float) -> str:
        return rounded(100 * number, 0) if percent else rounded(number, 3).replace("0.", ".", 1)

    ends = ", without an interval"
    if interval is not None:
        ends = " ({} to {})".format(*map(written, interval))
    return f"{written(value)}{' %' if percent else ''}{ends}"
