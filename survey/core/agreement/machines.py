"""A machine's answers beside people's: how far they agree, and where the machine errs.

Nothing here counts an answer: people's results are the same with and without a machine.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.clusterings import Clustering, pairs_together
from survey.core.statistics.annotator_test import (
    Scores,
    equal_scores,
    rmse_scores,
    similarity_scores,
)
from survey.core.statistics.bootstrap import SAMPLES, draws, percentile_interval, sums_by_topic
from survey.core.statistics.rater_agreement import alpha_of_counts, signs, wilson
from survey.core.statistics.significance import SEED, Interval, sign_test

# How the answers of a kind of question are compared. EQUAL: the same or not; GRADED: by the squared
# difference; ONE_LIST: a list, or none; CLUSTERS: adjusted Rand index; ORDER: tau-b.
EQUAL, GRADED, ONE_LIST, CLUSTERS, ORDER = "equal", "graded", "one-list", "clusters", "order"
MOST_PEOPLE = 200  # of whom agreement is computed: of more, these are spread evenly over the names
MOST_PAIRS = 2000  # of them
PAIRS_AT_ONCE = 200
WORST = 10

Numbers = NDArray[np.float64]
Unit = Any  # a hashable name of what was judged: of a document in a topic, or of a question
Coefficient = Literal["kappa", "adjusted Rand index", "tau-b"]
PairSums = Callable[[NDArray[np.int64]], Numbers]


@dataclass(frozen=True)
class Comparison:
    """People's and a machine's answers to the same units, compared two by two.

    ``people``, ``units``: sorted; ``topics``: the topic of each unit, None without topics;
    ``answered``: (units, people + 1), the machine last, like every axis of raters; ``scores``: how
    near each is to the other people; ``categories``, ``answers``: of labels and preferences, the
    answers as numbers of categories, NaN where there is none; ``similarity``: of other kinds,
    (units, raters, raters) of the people whose agreement is computed, NaN where undefined.
    """

    people: tuple[str, ...]
    units: tuple[Unit, ...]
    topics: tuple[str, ...] | None
    coefficient: Coefficient
    answered: NDArray[np.bool_]
    scores: Scores
    is_graded: bool = False
    categories: tuple[Any, ...] = ()
    answers: Numbers | None = None
    similarity: Numbers | None = None

    @property
    def people_used(self) -> NDArray[np.int64]:
        """The numbers of the people of whom agreement is computed."""
        return _spread(len(self.people), MOST_PEOPLE)


def _spread(number: int, most: int) -> NDArray[np.int64]:
    if number <= most:
        return np.arange(number)
    return np.linspace(0, number - 1, most).round().astype(np.int64)


def compare_labels(
    people: Mapping[str, Mapping[Unit, Any]],
    machine: Mapping[Unit, Any],
    topics: Mapping[Unit, str] | None = None,
    *,
    graded: bool = False,
) -> Comparison:
    """Compare labels or preferences: equal or not; with ``graded``, by the squared difference.

    ``people``: each person's answer by unit; an answer that is None is missing. Raises ValueError
    for a unit without a topic where there are topics, and for a grade that is not a number.
    """
    names, units, of_units = _frame(people, machine, topics)
    answers = [people[name] for name in names] + [machine]
    known = {answer for each in answers for answer in each.values() if answer is not None}
    if graded and (faulty := [each for each in known if not isinstance(each, int | float)]):
        raise ValueError(f"{faulty[0]!r} found among the grades; a grade is a number")
    categories = tuple(sorted(known, key=None if graded else str))
    numbers = {category: place for place, category in enumerate(categories)}
    table = np.full((len(units), len(answers)), np.nan)
    for place, unit in enumerate(units):
        for rater, each in enumerate(answers):
            if each.get(unit) is not None:
                table[place, rater] = numbers[each[unit]]
    scores_of, scored = equal_scores, table
    if graded:
        values = np.array([*categories, np.nan], dtype=np.float64)
        scores_of = rmse_scores
        scored = values[np.where(np.isfinite(table), table, len(categories)).astype(np.int64)]
    return Comparison(
        *(names, units, of_units, "kappa", np.isfinite(table)),
        scores_of(scored[:, :-1], scored[:, -1]),
        is_graded=graded,
        categories=categories,
        answers=table,
    )


def compare_groupings(
    people: Mapping[str, Mapping[Unit, Clustering]], machine: Mapping[Unit, Clustering]
) -> Comparison:
    """Compare groupings of topics' documents by the adjusted Rand index; a topic is a unit."""

    def table(groupings: Sequence[Clustering | None]) -> Numbers:
        together = pairs_together(groupings)
        values = together[np.triu_indices(len(together), 1)].astype(np.float64)
        known = np.isfinite(values).astype(np.float64)
        shared = np.where(known > 0, values, 0.0)
        pairs, both = known.T @ known, shared.T @ shared
        of_first = shared.T @ known - both
        neither = pairs - both - of_first - of_first.T
        below = (both + of_first) * (of_first + neither)
        below += (both + of_first.T) * (of_first.T + neither)
        with np.errstate(invalid="ignore", divide="ignore"):
            index = 2 * (both * neither - of_first * of_first.T) / below
        index = np.where(of_first + of_first.T == 0, 1.0, index)
        return np.where(pairs > 0, index, np.nan)

    return _compare(people, machine, None, "adjusted Rand index", table)


def compare_orders(
    people: Mapping[str, Mapping[Unit, Sequence[float]]],
    machine: Mapping[Unit, Sequence[float]],
    topics: Mapping[Unit, str] | None = None,
) -> Comparison:
    """Compare orders, given as midranks, by tau-b.

    Where a side ties all, tau-b is undefined: 0 in the test, left out of agreement.
    """

    def table(orders: Sequence[Sequence[float] | None]) -> Numbers:
        lists = next(len(order) for order in orders if order is not None)
        ranks = [[np.nan] * lists if order is None else list(order) for order in orders]
        missing = [order is None for order in orders]
        pairs = signs(np.where(np.isnan(ranks), 0.0, ranks)).astype(np.float64)
        lengths = np.sqrt((pairs**2).sum(axis=1))
        pairs[missing] = np.nan
        with np.errstate(invalid="ignore"):
            return np.asarray(pairs @ pairs.T / np.outer(lengths, lengths))

    return _compare(people, machine, topics, "tau-b", table)


def _compare(
    people: Mapping[str, Mapping[Unit, Any]],
    machine: Mapping[Unit, Any],
    topics: Mapping[Unit, str] | None,
    coefficient: Coefficient,
    table: Callable[[Sequence[Any]], Numbers],
) -> Comparison:
    names, units, of_units = _frame(people, machine, topics)
    raters = [people[name] for name in names] + [machine]
    answered = np.array(
        [[rater.get(unit) is not None for rater in raters] for unit in units], dtype=bool
    ).reshape(len(units), len(raters))
    used = np.append(_spread(len(names), MOST_PEOPLE), len(names))
    similarity = np.zeros((len(units), len(used), len(used)))

    def tables() -> Iterator[Numbers]:
        for place, unit in enumerate(units):
            values = table([rater.get(unit) for rater in raters])
            similarity[place] = values[np.ix_(used, used)]
            both = np.outer(answered[place], answered[place])
            is_undefined = (
                both & np.isnan(values) if coefficient == "tau-b" else np.zeros_like(both)
            )
            yield np.where(is_undefined, 0.0, values)

    scores = similarity_scores(tables())
    empty = np.zeros((0, len(names)))
    return Comparison(
        *(names, units, of_units, coefficient, answered),
        scores if units else (empty, empty),
        similarity=similarity,
    )


def _frame(
    people: Mapping[str, Mapping[Unit, Any]],
    machine: Mapping[Unit, Any],
    topics: Mapping[Unit, str] | None,
) -> tuple[tuple[str, ...], tuple[Unit, ...], tuple[str, ...] | None]:
    """Return people, units and topics, sorted, so that no figure depends on a file's order."""
    every: dict[Hashable, None] = dict.fromkeys(machine)
    for answers in people.values():
        every |= dict.fromkeys(answers)
    units = tuple(sorted(every, key=str))
    if topics is None:
        return tuple(sorted(people)), units, None
    if missing := [unit for unit in units if unit not in topics]:
        raise ValueError(f"{missing[0]!r} was judged, and no topic is given for it")
    return tuple(sorted(people)), units, tuple(topics[unit] for unit in units)


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval; None where undefined."""

    value: float | None
    ci95: Interval | None


UNDEFINED = Estimate(None, None)


@dataclass(frozen=True)
class Agreement:
    """How far machine and person (``hm``) and two people (``hh``) agree, and hm less hh.

    Means over people, and over pairs of people. ``sampled``: "topics", or "units" where there are
    no topics: what the bootstrap draws, ``number`` of them. ``alpha``, ``alpha_with_machine``:
    Krippendorff's, of labels and preferences, of people and as if the machine were one of them.
    ``hm_alpha``, ``hh_alpha``: hm and hh of labels and preferences by Krippendorff's alpha.
    """

    coefficient: Coefficient
    hm: Estimate
    hh: Estimate
    difference: Estimate
    sampled: Literal["topics", "units"]
    number: int
    alpha: float | None
    alpha_with_machine: float | None
    hm_alpha: Estimate = UNDEFINED
    hh_alpha: Estimate = UNDEFINED


def agreement(comparison: Comparison, seed: int = SEED) -> Agreement:
    """Compute agreement with intervals by a bootstrap, SAMPLES draws from ``seed``.

    Cohen's kappa and Krippendorff's alpha, of grades with squared differences; or the mean adjusted
    Rand index or tau-b. A pair whose coefficient is undefined is left out.
    """
    used = len(comparison.people_used)
    figures = _mean_sums if comparison.answers is None else _kappa_and_alpha_sums
    pair_sums, coefficients = figures(comparison)
    firsts, seconds = np.triu_indices(used, 1)
    chosen = _spread(len(firsts), MOST_PAIRS)
    with_machine = np.column_stack([np.arange(used), np.full(used, used)])
    of_people = np.column_stack([firsts[chosen], seconds[chosen]])
    pairs = np.concatenate([with_machine, of_people])
    values, samples, number = _bootstrap(pairs, pair_sums, coefficients, comparison, seed)
    hm, hh = _mean(values[:, :used]), _mean(values[:, used:])
    hm_samples, hh_samples = _mean(samples[..., :used]), _mean(samples[..., used:])
    of_machine, of_pairs = (
        [_estimate(*each, number) for each in zip(means, drawn, strict=True)]
        for means, drawn in ((hm, hm_samples), (hh, hh_samples))
    )
    alpha, with_machine_alpha = _alphas(comparison)
    return Agreement(
        comparison.coefficient,
        of_machine[0],
        of_pairs[0],
        _estimate(hm[0] - hh[0], hm_samples[0] - hh_samples[0], number),
        "units" if comparison.topics is None else "topics",
        number,
        alpha,
        with_machine_alpha,
        *(each[1] for each in (of_machine, of_pairs) if len(each) > 1),
    )


def _mean(values: Numbers) -> Numbers:
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


def _estimate(value: Numbers, samples: Numbers, number: int) -> Estimate:
    if not np.isfinite(value):
        return UNDEFINED
    return Estimate(float(value), percentile_interval(samples, number))


def _bootstrap(
    pairs: NDArray[np.int64],
    pair_sums: PairSums,
    coefficients: Callable[[Numbers], Numbers],
    comparison: Comparison,
    seed: int,
) -> tuple[Numbers, Numbers, int]:
    """Return each pair's coefficients, those of each sample, and what number was drawn.

    Shapes (coefficients, pairs) and (coefficients, samples, pairs).
    """
    topics = comparison.topics
    groups = len(comparison.units) if topics is None else len({*topics})
    first, order, starts = _alike(comparison)
    drawn = [
        counts if starts is None else np.add.reduceat(counts[:, order], starts, axis=1)
        for counts in (draws(groups, seed) if groups else ())
    ]
    number = len(coefficients(pair_sums(pairs[:0]).sum(axis=0)))
    values = np.full((number, len(pairs)), np.nan)
    samples = np.full((number, SAMPLES, len(pairs)), np.nan)
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        sums = pair_sums(pairs[some])
        values[:, some] = coefficients(sums.sum(axis=0))
        sums = sums[first] if topics is None else sums_by_topic(sums, topics)
        flat, row = sums.reshape(len(sums), -1), 0
        for counts in drawn:
            of_pairs = (counts @ flat).reshape(len(counts), *sums.shape[1:])
            samples[:, row : row + len(counts), some] = coefficients(of_pairs)
            row += len(counts)
    return values, samples, groups


def _alike(
    comparison: Comparison,
) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64], NDArray[np.int64] | None]:
    """Return which units to compute, and how to add up the counts of units with the same answers.

    Of labels and preferences without topics; there are few patterns of answers, and many units.
    """
    if comparison.answers is None or comparison.topics is not None or not len(comparison.units):
        return slice(None), np.zeros(0, dtype=np.int64), None
    codes = np.where(np.isfinite(comparison.answers), comparison.answers, -1)
    _, first, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kind.ravel(), kind="stable")
    starts = np.flatnonzero(np.diff(kind.ravel()[order], prepend=-1))
    return first, order, starts


def _kappa_and_alpha_sums(
    comparison: Comparison,
) -> tuple[PairSums, Callable[[Numbers], Numbers]]:
    """Return what to add up over units for a pair, and how kappa and alpha follow from the sums."""
    if comparison.answers is None:
        raise ValueError("kappa is of labels and preferences, which these answers are not")
    answers = comparison.answers[:, [*comparison.people_used, -1]]
    categories = len(comparison.categories)
    cost = 1 - np.eye(categories)
    if comparison.is_graded:
        grades = np.array(comparison.categories, dtype=np.float64)
        cost = (grades[:, np.newaxis] - grades) ** 2
    answered = np.isfinite(answers)
    codes = np.where(answered, answers, 0).astype(np.int64)
    one_hot = np.eye(categories)[codes] if categories else np.zeros((*codes.shape, 0))

    def sums(pairs: NDArray[np.int64]) -> Numbers:
        first, second = pairs.T
        both = (answered[:, first] & answered[:, second])[..., np.newaxis]
        disagreement = cost[codes[:, first], codes[:, second]] if categories else both[..., 0]
        return np.concatenate(
            [
                both * disagreement[..., np.newaxis],
                both,
                both * one_hot[:, first],
                both * one_hot[:, second],
            ],
            axis=2,
        )

    def kappa_and_alpha(of_pairs: Numbers) -> Numbers:
        observed, number = of_pairs[..., 0], of_pairs[..., 1]
        rows, columns = of_pairs[..., 2 : 2 + categories], of_pairs[..., 2 + categories :]
        both = rows + columns
        expected = np.stack(
            [
                ((rows @ cost) * columns).sum(axis=-1),
                # Alpha's chance: any two of all 2n answers, whoever gave them.
                ((both @ cost) * both).sum(axis=-1) * number / (2 * (2 * number - 1)),
            ]
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1 - number * observed / expected, np.nan)

    return sums, kappa_and_alpha


def _mean_sums(comparison: Comparison) -> tuple[PairSums, Callable[[Numbers], Numbers]]:
    similarity = comparison.similarity
    if similarity is None:
        raise ValueError(
            "a mean similarity is of groupings and orders, which these answers are not"
        )

    def sums(pairs: NDArray[np.int64]) -> Numbers:
        values = similarity[:, pairs[:, 0], pairs[:, 1]]
        known = np.isfinite(values)
        return np.stack([np.where(known, values, 0.0), known], axis=2)

    def mean(of_pairs: Numbers) -> Numbers:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(of_pairs[..., 0] / of_pairs[..., 1])[np.newaxis]

    return sums, mean


def _alphas(comparison: Comparison) -> tuple[float | None, float | None]:
    """Return Krippendorff's alpha of people, and of people and machine; None of other kinds."""
    if comparison.answers is None:
        return None, None
    levels = range(len(comparison.categories))
    of_people, of_all = (
        np.array([(answers == level).sum(axis=1) for level in levels], dtype=np.float64)
        .reshape(len(levels), len(answers))
        .T
        for answers in (comparison.answers[:, :-1], comparison.answers)
    )
    graded = comparison.is_graded
    return alpha_of_counts(of_people, ordinal=graded), alpha_of_counts(of_all, ordinal=graded)


@dataclass(frozen=True)
class PositionBias:
    """Whether the machine prefers a side.

    ``left``: the share of its preferences for the left list, of ``decided``; ``p``: exact sign test
    of one half; ``unchanged``: the share of questions with the same answer after the two lists
    changed sides, with Wilson's interval, of ``swapped``.
    """

    left: float | None
    decided: int
    p: float | None
    unchanged: float | None
    unchanged_ci95: Interval | None
    swapped: int


def position_bias(left: int, right: int, unchanged: int, swapped: int) -> PositionBias:
    """Count preferences for a side, and answers that the swap of sides left ``unchanged``."""
    for name, count in (("left", left), ("right", right), ("unchanged", unchanged)):
        if count < 0:
            raise ValueError(f"{name}: {count} found; it is a count, 0 or more")
    if unchanged > swapped:
        raise ValueError(f"unchanged: {unchanged} found; {swapped} questions were swapped")
    decided, share, interval = left + right, None, None
    if swapped:
        low, high = wilson(unchanged, swapped)
        share, interval = unchanged / swapped, (float(low), float(high))
    return PositionBias(
        left / decided if decided else None,
        decided,
        sign_test(left, right),
        share,
        interval,
        swapped,
    )


def confusion(comparison: Comparison) -> dict[tuple[Any, Any], int]:
    """Count people's answers by the machine's: (person's, machine's) → how often."""
    table: dict[tuple[Any, Any], int] = {}
    if comparison.answers is None:
        return table
    people, machine = comparison.answers[:, :-1], comparison.answers[:, -1:]
    for row, category in enumerate(comparison.categories):
        for column, other in enumerate(comparison.categories):
            table[category, other] = int(((people == row) & (machine == column)).sum())
    return table


@dataclass(frozen=True)
class UnitError:
    """How far the machine's and a person's answer are from the other people's, means over people.

    1 less the similarity; of grades, the root of the mean squared difference. ``people``: in how
    many people's place.
    """

    unit: Unit
    topic: str | None
    machine: float
    person: float
    people: int


@dataclass(frozen=True)
class GroupError:
    """The mean errors of a group of units; ``name``: a topic, or how far people agree."""

    name: str
    units: int
    machine: float
    person: float


AGREED = ("people agree", "people differ, by up to .5", "people differ by more")


def unit_errors(comparison: Comparison) -> tuple[UnitError, ...]:
    """Return the errors of all units with two people's answers and the machine's."""
    start = 0.0 if comparison.is_graded else 1.0
    machine, person = (start - scores for scores in comparison.scores)
    topics = comparison.topics or (None,) * len(comparison.units)
    errors = []
    for place, (unit, topic) in enumerate(zip(comparison.units, topics, strict=True)):
        known = np.isfinite(machine[place])
        if known.any():
            of_machine, of_person = (float(each[place, known].mean()) for each in (machine, person))
            errors.append(UnitError(unit, topic, of_machine, of_person, int(known.sum())))
    return tuple(errors)


def errors_by_topic(errors: Iterable[UnitError]) -> tuple[GroupError, ...]:
    """Return the mean errors of each topic, sorted by name; none without topics."""
    return _grouped((error.topic, error) for error in errors if error.topic is not None)


def errors_by_agreement(errors: Iterable[UnitError]) -> tuple[GroupError, ...]:
    """Return the mean errors of units on which people agree, differ a little, and differ more."""
    groups = _grouped(
        (AGREED[0 if error.person == 0 else 1 if error.person <= 0.5 else 2], error)
        for error in errors
    )
    return tuple(sorted(groups, key=lambda group: AGREED.index(group.name)))


def _grouped(errors: Iterable[tuple[str, UnitError]]) -> tuple[GroupError, ...]:
    groups: dict[str, list[UnitError]] = {}
    for name, error in errors:
        groups.setdefault(name, []).append(error)
    return tuple(
        GroupError(
            name,
            len(some),
            sum(error.machine for error in some) / len(some),
            sum(error.person for error in some) / len(some),
        )
        for name, some in sorted(groups.items())
    )


def worst_units(errors: Iterable[UnitError], most: int = WORST) -> tuple[UnitError, ...]:
    """Return the units in which the machine is further from people than people from each other.

    The worst first; of equal ones, those on which people agree more.
    """
    worse = [error for error in errors if error.machine > error.person + 1e-12]
    order = sorted(
        worse,
        key=lambda error: (
            *(round(error.person - error.machine, 9), round(error.person, 9)),
            str(error.unit),
        ),
    )
    return tuple(order[:most])
