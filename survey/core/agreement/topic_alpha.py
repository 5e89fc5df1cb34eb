"""How far annotators agree over several topics, each with the disagreement that chance gives in it.

Krippendorff's alpha, 1 - D_o/D_e, with both disagreements added up over topics: unlike shares of
relevant documents do not raise it. Grades are ordinal, and one metric serves all topics.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.reliability import RELIABLE, TENTATIVE
from survey.core.statistics.bootstrap import SAMPLES, percentile_interval
from survey.core.statistics.significance import (
    LEVEL,
    MOST_SINGLE_DRAWS,
    SEED,
    Interval,
    RandomStream,
    holm,
    monte_carlo_p,
    resample_counts,
)

FEWEST_TOPICS = 10  # of which samples are drawn; of fewer, documents are
PERMUTATIONS = 2000
FEWEST_UNITS = 6  # documents or topics of which samples are drawn: with fewer no p is below .05
FEWEST_ANNOTATORS = 3  # that can be told apart

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class TopicAlpha:
    """Alpha of a topic alone; None where all its labels are the same, or no document has two."""

    topic: str
    documents: int
    alpha: float | None
    ci95: Interval | None

    @property
    def is_chance(self) -> bool:
        """Whether it is no better than chance: the interval holds 0, and no useful alpha."""
        return word_of(self.ci95) == "chance"


@dataclass(frozen=True)
class AnnotatorKappa:
    """Cohen's kappa of an annotator's marks with the majority of the others.

    ``p``: how often kappa is as low if the labels of each document are exchanged among its
    annotators; ``p_holm``: corrected for all annotators. None where it is not defined.
    """

    annotator: str
    kappa: float | None
    p: float | None
    p_holm: float | None = None

    @property
    def differs(self) -> bool:
        """Whether kappa is lower than chance lets the best of equals be."""
        return self.p_holm is not None and self.p_holm < LEVEL


@dataclass(frozen=True)
class AlphaOverTopics:
    """Agreement over all topics, with its 95 % interval.

    ``sampled``: "topics", so that it holds for new ones, or "documents". ``documents``: with two
    labels or more; ``annotators``: who gave one of these. ``why``: why there is no alpha.
    """

    alpha: float | None
    ci95: Interval | None
    sampled: str
    documents: int
    annotators: int
    by_topic: tuple[TopicAlpha, ...]
    by_annotator: tuple[AnnotatorKappa, ...]
    why: str | None

    @property
    def word(self) -> str:
        """What the interval says: see ``word_of``."""
        return word_of(self.ci95)

    @property
    def merged(self) -> float | None:
        """The reliability of the mean of all annotators (Spearman and Brown 1910)."""
        if self.alpha is None or self.alpha < 0 or self.annotators < 2:
            return None
        return self.annotators * self.alpha / (1 + (self.annotators - 1) * self.alpha)

    @property
    def needed(self) -> int | None:
        """How many annotators have a mean whose reliability is .80."""
        if self.alpha is None or self.alpha <= 0:
            return None
        needed = RELIABLE * (1 - self.alpha) / ((1 - RELIABLE) * self.alpha)
        return max(1, math.ceil(needed - 1e-9))


def word_of(interval: Interval | None) -> str:
    """Return what an alpha with this interval is called.

    "reliable" or "tentative" where all of it is; "chance" where it holds 0 and nothing tentative;
    "low" below that; else "open".
    """
    if interval is None:
        return "open"
    low, high = interval
    if low >= TENTATIVE:
        return "reliable" if low >= RELIABLE else "tentative"
    if high >= TENTATIVE:
        return "open"
    return "chance" if low <= 0 else "low"


@dataclass(frozen=True)
class _Counts:
    """The documents of a topic that have two labels or more.

    ``levels``: how often each level was given, (documents, levels); ``observed``: the disagreement
    of each document, (documents,).
    """

    levels: Numbers
    observed: Numbers

    def totals(self, metric: Numbers) -> tuple[float, float]:
        """Return observed and expected disagreement of all documents."""
        observed, expected = self.sums(metric, np.ones(len(self.observed)))
        return float(observed), float(expected)

    def sums(self, metric: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
        """Return observed and expected disagreement of resamples; ``counts``: (..., documents)."""
        levels = counts @ self.levels
        expected = ((levels @ metric) * levels).sum(axis=-1)
        return counts @ self.observed, expected / np.maximum(levels.sum(axis=-1) - 1, 1)


def alpha_over_topics(annotators: Sequence[str], topics: Mapping[str, Numbers]) -> AlphaOverTopics:
    """Compute how far annotators agree.

    ``topics``: of each topic the grades, (documents, annotators), above 0 for marked; NaN where an
    annotator was not asked. The interval is of 2,000 samples of topics, of fewer than ten of
    documents within topics.
    """
    tables = [*topics.values()]
    known = [table[np.isfinite(table)] for table in tables]
    levels = np.unique(np.concatenate([np.zeros(0), *known]))
    counted = [_level_counts(table, levels) for table in tables]
    totals = sum((counts.sum(axis=0) for counts in counted), np.zeros(len(levels)))
    middles = np.cumsum(totals) - totals / 2
    metric = (middles[:, np.newaxis] - middles) ** 2
    if metric.max(initial=0.0):
        metric = metric / metric.max()
    parts = [_Counts(counts, _observed(counts, metric)) for counts in counted]
    whole = [part.totals(metric) for part in parts]
    observed, expected = (
        np.array([sums_of_topic[place] for sums_of_topic in whole]) for place in (0, 1)
    )
    documents = sum(len(part.observed) for part in parts)
    chance = RandomStream(SAMPLES)
    of_topics = [
        _samples(part, metric, place, chance) if len(part.observed) else None
        for place, part in enumerate(parts)
    ]
    is_of_topics = int((expected > 0).sum()) >= FEWEST_TOPICS
    alpha = _alpha(observed.sum(), expected.sum())
    if is_of_topics:
        used = expected > 0
        sums = [
            (counts @ observed[used], counts @ expected[used])
            for counts in resample_counts(int(used.sum()), SAMPLES)
        ]
        samples = tuple(np.concatenate(parts_of_sums) for parts_of_sums in zip(*sums, strict=True))
        units = int(used.sum())
    else:
        drawn = [sample for sample in of_topics if sample]
        samples = tuple(sum((sample[n] for sample in drawn), np.zeros(SAMPLES)) for n in (0, 1))
        units = documents
    by_topic = tuple(
        TopicAlpha(
            name,
            len(part.observed),
            of_topic := _alpha(*sums_of_topic),
            _interval(of_topic, drawn_of_topic, len(part.observed), sums_of_topic, part),
        )
        for name, part, drawn_of_topic, sums_of_topic in zip(
            topics, parts, of_topics, whole, strict=True
        )
    )
    pooled = _Counts(
        np.concatenate([np.zeros((0, len(levels))), *counted]),
        np.concatenate([np.zeros(0), *(part.observed for part in parts)]),
    )
    total = (float(observed.sum()), float(expected.sum()))
    answering = np.zeros(len(annotators), dtype=bool)
    for table in tables:
        paired = np.isfinite(table).sum(axis=1) > 1
        answering |= np.isfinite(table[paired]).any(axis=0)
    return AlphaOverTopics(
        alpha=alpha,
        ci95=_interval(alpha, samples, units, total, pooled),
        sampled="topics" if is_of_topics else "documents",
        documents=documents,
        annotators=int(answering.sum()),
        by_topic=by_topic,
        by_annotator=_annotators(annotators, tables),
        why=None if alpha is not None else _why(pooled),
    )


def _level_counts(table: Numbers, levels: Numbers) -> Numbers:
    """Return how often each level was given to each document with two labels or more."""
    counts = np.zeros((len(table), len(levels)))
    for place, level in enumerate(levels):
        counts[:, place] = (table == level).sum(axis=1)
    return np.asarray(counts[counts.sum(axis=1) > 1])


def _observed(counts: Numbers, metric: Numbers) -> Numbers:
    """Return the disagreement within each document, by its labels less one."""
    within = ((counts @ metric) * counts).sum(axis=1)
    return np.asarray(within / np.maximum(counts.sum(axis=1) - 1, 1))


def _alpha(observed: float, expected: float) -> float | None:
    return float(1 - observed / expected) if expected > 0 else None


def _samples(
    part: _Counts, metric: Numbers, place: int, chance: RandomStream
) -> tuple[Numbers, Numbers]:
    """Return both disagreements of samples of a topic's documents.

    Of very many documents those with the same labels are drawn together.
    """
    documents = len(part.observed)
    if documents <= MOST_SINGLE_DRAWS:
        resamples = resample_counts(documents, SAMPLES, SEED + place)
        drawn = [part.sums(metric, counts) for counts in resamples]
    else:
        _, first, times = np.unique(part.levels, axis=0, return_index=True, return_counts=True)
        sorts, left = _Counts(part.levels[first], part.observed[first]), documents
        counts, open_draws = np.zeros((SAMPLES, len(times))), np.full(SAMPLES, documents)
        for sort, number in enumerate(times.tolist()):
            counts[:, sort] = (
                open_draws if number == left else chance.binomial(open_draws, number / left)
            )
            open_draws, left = open_draws - counts[:, sort].astype(np.int64), left - number
        drawn = [sorts.sums(metric, counts)]
    observed, expected = (np.concatenate(batch) for batch in zip(*drawn, strict=True))
    return observed, expected


def _interval(
    alpha: float | None,
    samples: tuple[Numbers, ...] | None,
    units: int,
    sums: tuple[float, float],
    part: _Counts,
) -> Interval | None:
    """Return the interval of an alpha by samples; without any disagreement, by a binomial bound.

    Samples of documents on which all agree would say that it is 1 for sure. So many units without
    one are likely (.025) if one in 1 - .025^(1/n) has the largest possible disagreement.
    """
    if alpha is None or samples is None or units < FEWEST_UNITS:
        return None
    if alpha == 1:
        labels = float(part.levels.sum())
        return max(-1.0, 1 - (1 - 0.025 ** (1 / units)) * labels / sums[1]), 1.0
    observed, expected = samples
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(expected > 0, 1 - observed / expected, np.nan)
    return percentile_interval(values, units)


def _why(part: _Counts) -> str:
    if not len(part.observed):
        return "no two annotators did the same topic"
    is_one = np.count_nonzero(part.levels.sum(axis=0)) < 2
    if is_one:
        return "all labels are the same"
    return "within each topic all labels are the same"


def _annotators(names: Sequence[str], tables: Sequence[Numbers]) -> tuple[AnnotatorKappa, ...]:
    """Test each annotator's kappa with the majority of the others."""
    marks = np.concatenate([np.zeros((0, len(names))), *tables])
    asked = np.isfinite(marks)
    marked = asked & (marks > 0)
    answers, yes = asked.sum(axis=1), marked.sum(axis=1)
    chance = RandomStream(PERMUTATIONS)
    found = []
    for place, name in enumerate(names):
        mine = asked[:, place] & (answers > 1)
        own = marked[mine, place].astype(np.int64)
        sorts, counts = np.unique(
            np.column_stack([answers[mine], yes[mine], own]), axis=0, return_counts=True
        )
        kappa = _kappa(_table(sorts, counts))
        p = None
        if not np.isnan(kappa) and len(names) >= FEWEST_ANNOTATORS:
            permuted = _kappa(_permuted(sorts, counts, chance))
            p = monte_carlo_p(permuted <= kappa + 1e-12)
        found.append(AnnotatorKappa(name, None if np.isnan(kappa) else float(kappa), p))
    corrected = holm([annotator.p for annotator in found])
    return tuple(
        AnnotatorKappa(annotator.annotator, annotator.kappa, annotator.p, p)
        for annotator, p in zip(found, corrected, strict=True)
    )


def _majority(answers: NDArray[np.int64], yes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1 where more than half say yes, 0 where less, -1 for as many on either side."""
    return np.where(2 * yes == answers, -1, (2 * yes > answers).astype(np.int64))


def _table(sorts: NDArray[np.int64], counts: NDArray[np.int64]) -> Numbers:
    """Return how often an annotator says no or yes and so do the others, (2, 2).

    Documents on which the others are evenly split do not count.
    """
    answers, yes, own = sorts.T
    others = _majority(answers - 1, yes - own)
    table = np.zeros((2, 2))
    clear = others >= 0
    np.add.at(table, (own[clear], others[clear]), counts[clear])
    return table


def _permuted(sorts: NDArray[np.int64], counts: NDArray[np.int64], chance: RandomStream) -> Numbers:
    """Return the same tables after exchanging labels, (2, 2, PERMUTATIONS).

    Of the documents that c of n annotators marked, the annotator has a yes with chance c / n.
    """
    table = np.zeros((2, 2, PERMUTATIONS))
    alike, index = np.unique(sorts[:, :2], axis=0, return_inverse=True)
    totals = np.bincount(index.ravel(), counts).astype(np.int64)
    for (answers, yes), total in zip(alike.tolist(), totals.tolist(), strict=True):
        draws = np.full(PERMUTATIONS, total)
        of_yes = draws * (yes == answers)
        if 0 < yes < answers:
            of_yes = chance.binomial(draws, yes / answers)
        for own, number in ((1, of_yes), (0, draws - of_yes)):
            others = int(_majority(np.array(answers - 1), np.array(yes - own)))
            if others >= 0:
                table[own, others] += number
    return table


def _kappa(table: Numbers) -> NDArray[np.float64]:
    """Return Cohen's kappa of (2, 2, ...) tables; NaN where no disagreement is expected."""
    total = table.sum(axis=(0, 1))
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (table[0, 1] + table[1, 0]) / total
        expected = (rows[0] * columns[1] + rows[1] * columns[0]) / total**2
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))
