"""The alternative annotator test: may a machine take the place of one of several annotators?

For each person the others' answers are the yardstick: how near to them is the machine's answer, how
near is the person's? Arrays of scores are (units, people), NaN where there is nothing to compare.

Source: Calderon, Reichart and Dror 2025 (ACL).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from survey.core.statistics.significance import t_tail

LEAST_UNITS = 30  # of a person: with fewer the t test is not to be relied on
MOST_UNITS = 100_000  # that a plan could ask for
ROUNDING = 1e-12  # scores that differ by less are equal

Scores = tuple[NDArray[np.float64], NDArray[np.float64]]
"""How near the machine's and the person's answers are to the other people's, (units, people)."""


@dataclass(frozen=True)
class PersonTest:
    """Whether the machine is worse than this person by less than the margin.

    ``units``: compared; ``advantage_machine``, ``advantage_person``: in which share of them its
    (their) answer is at least as near to the others' as the other one's; ``mean``: the second less
    the first; ``spread``: the standard error of the mean times the square root of ``clusters``, of
    units or of topics; ``t``: None without any spread. All None for a person who is left out.
    """

    units: int
    clusters: int
    advantage_machine: float | None = None
    advantage_person: float | None = None
    mean: float | None = None
    spread: float | None = None
    t: float | None = None
    p: float | None = None
    rejected: bool = False

    @property
    def left_out(self) -> bool:
        """Whether the person has too few units to be tested."""
        return self.p is None


@dataclass(frozen=True)
class AnnotatorTest:
    """The tests of all people together; the rates are None where all are left out."""

    people: tuple[PersonTest, ...]
    epsilon: float
    q: float

    @property
    def tested(self) -> tuple[PersonTest, ...]:
        """The people who are not left out."""
        return tuple(person for person in self.people if not person.left_out)

    @property
    def winning_rate(self) -> float | None:
        """For which share of the people the machine is shown to be no worse."""
        return _mean([float(person.rejected) for person in self.tested])

    @property
    def advantage(self) -> float | None:
        """The average advantage probability: the mean over people of ``advantage_machine``."""
        return _mean([person.advantage_machine or 0.0 for person in self.tested])

    @property
    def passes(self) -> bool:
        """Whether the winning rate is one half or more."""
        return (self.winning_rate or 0.0) >= 0.5

    @property
    def clusters_needed(self) -> int | None:
        """With how many units (or topics) each the test would pass, mean and spread as they are.

        None where no number would do, up to MOST_UNITS: for most people the machine is worse by
        the margin or more.
        """

        def passes(number: int) -> bool:
            p = [
                _p(person.mean or 0.0, person.spread or 0.0, number, self.epsilon)[1]
                for person in self.tested
            ]
            return 2 * sum(benjamini_yekutieli(p, self.q)) >= len(p)

        if not self.tested or not passes(MOST_UNITS):
            return None
        low, high = 1, MOST_UNITS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if passes(middle) else (middle, high)
        return high


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def equal_scores(people: ArrayLike, machine: ArrayLike) -> Scores:
    """Return the shares of the other people who gave the same answer.

    ``people``: (units, people), a number for each answer, NaN where there is none; ``machine``:
    (units,).
    """
    codes, own = _codes(people, machine)
    known = np.isfinite(codes)
    others = known.sum(axis=1, keepdims=True) - 1
    as_machine = codes == own
    same = np.zeros(codes.shape)
    for value in np.unique(codes[known]):
        gave = codes == value
        same += np.where(gave, gave.sum(axis=1, keepdims=True) - 1, 0)
    of_machine = as_machine.sum(axis=1, keepdims=True) - as_machine
    usable = known & (others > 0) & np.isfinite(own)
    at_least = np.maximum(others, 1)
    return np.where(usable, of_machine / at_least, np.nan), np.where(
        usable, same / at_least, np.nan
    )


def rmse_scores(people: ArrayLike, machine: ArrayLike) -> Scores:
    """Return minus the root of the mean squared difference to the other people's grades.

    Arrays as in ``equal_scores``.
    """
    grades, own = _codes(people, machine)
    known = np.isfinite(grades)
    sums = np.zeros((2, *grades.shape))
    for place in range(grades.shape[1]):
        other = np.where(known[:, place], grades[:, place], np.nan)[:, np.newaxis]
        of_machine, of_person = (own - other) ** 2, (grades - other) ** 2
        is_other = known[:, place, np.newaxis] & (np.arange(grades.shape[1]) != place)
        sums[0] += np.where(is_other, of_machine, 0.0)
        sums[1] += np.where(is_other, of_person, 0.0)
    others = known.sum(axis=1, keepdims=True) - 1
    usable = known & (others > 0) & np.isfinite(own)
    machine_score, person_score = (
        np.where(usable, -np.sqrt(each / np.maximum(others, 1)), np.nan) for each in sums
    )
    return machine_score, person_score


def similarity_scores(tables: Iterable[NDArray[np.float64]]) -> Scores:
    """Return the mean similarities to the other people.

    ``tables``: for each unit the similarity of every two, (people + 1, people + 1), the machine
    last; NaN where one of them did not answer.
    """
    machine_rows: list[NDArray[np.float64]] = []
    person_rows: list[NDArray[np.float64]] = []
    for table in tables:
        between = table[:-1, :-1].copy()
        np.fill_diagonal(between, np.nan)
        to_machine = np.broadcast_to(table[-1, :-1], between.shape)
        both = np.isfinite(between) & np.isfinite(to_machine)
        with np.errstate(invalid="ignore"):
            for rows, values in ((machine_rows, to_machine), (person_rows, between)):
                rows.append(np.where(both, values, 0.0).sum(axis=1) / both.sum(axis=1))
    return np.array(machine_rows), np.array(person_rows)


def _codes(people: ArrayLike, machine: ArrayLike) -> Scores:
    codes = np.asarray(people, dtype=np.float64)
    return codes, np.asarray(machine, dtype=np.float64)[:, np.newaxis]


def annotator_test(
    scores: Scores,
    epsilon: float,
    q: float = 0.05,
    topics: NDArray[np.integer] | None = None,
    least_units: int = LEAST_UNITS,
) -> AnnotatorTest:
    """Test for each person whether the machine is worse by less than ``epsilon``.

    With W_f = 1 where the machine's score is at least the person's, W_h = 1 where the person's is
    at least the machine's, else 0, and d = W_h − W_f: a one-sided t test of mean d ≥ ε over the
    person's n units, n − 1 degrees of freedom. Without spread p is 0 for a mean below ε, else 1.
    The hypotheses rejected are those of Benjamini and Yekutieli at ``q``.

    ``topics``: (units,), the topic of each. With it the variance of the mean is that of T topics
    whose units may err together, T/(T − 1) Σ_t (Σ_{i in t} (d_i − d̄))² / n², T − 1 degrees of
    freedom (Bell and McCaffrey 2002; Cameron and Miller 2015). ``least_units``: a person with fewer
    is left out.
    """
    machine, person = scores
    with np.errstate(invalid="ignore"):
        wins = np.where(np.isfinite(machine), machine >= person - ROUNDING, np.nan)
        losses = np.where(np.isfinite(machine), person >= machine - ROUNDING, np.nan)
    known = np.isfinite(wins)
    tests = []
    for place in range(machine.shape[1]):
        rows = known[:, place]
        units = int(rows.sum())
        own_topics = None if topics is None else np.unique(topics[rows], return_inverse=True)[1]
        clusters = units if own_topics is None else int(own_topics.max(initial=-1)) + 1
        if units < max(least_units, 2) or clusters < 2:
            tests.append(PersonTest(units, clusters))
            continue
        won, lost = wins[rows, place], losses[rows, place]
        d = lost - won
        mean = float(d.mean())
        if own_topics is None:
            spread = float(d.std(ddof=1)) if np.ptp(d) else 0.0
        else:
            sums = np.bincount(own_topics, d - mean)
            spread = clusters * math.sqrt(float((sums**2).sum()) / (clusters - 1)) / units
            spread = spread if spread > ROUNDING else 0.0
        t, p = _p(mean, spread, clusters, epsilon)
        advantages = float(won.mean()), float(lost.mean())
        tests.append(PersonTest(units, clusters, *advantages, mean, spread, t, p))
    rejected = iter(benjamini_yekutieli([test.p for test in tests if test.p is not None], q))
    people = (test if test.p is None else replace(test, rejected=next(rejected)) for test in tests)
    return AnnotatorTest(tuple(people), epsilon, q)


def _p(mean: float, spread: float, number: int, epsilon: float) -> tuple[float | None, float]:
    """Return t and the one-sided p of a mean at or above ``epsilon``."""
    if not spread:
        return None, 0.0 if mean < epsilon - ROUNDING else 1.0
    t = (mean - epsilon) * math.sqrt(number) / spread
    return t, t_tail(-t, number - 1)


def benjamini_yekutieli(p: Sequence[float], q: float) -> list[bool]:
    """Return which hypotheses are rejected, in the same order.

    Those with the k smallest p, k the largest with p_(k) ≤ k q / (m c), c = Σ_{i ≤ m} 1/i: the
    false discovery rate is at most ``q`` whatever the dependence (Benjamini and Yekutieli 2001).
    """
    c = sum(1 / number for number in range(1, len(p) + 1))
    ordered = sorted(range(len(p)), key=p.__getitem__)
    last = 0
    for place, index in enumerate(ordered, start=1):
        if p[index] <= place * q / (len(p) * c):
            last = place
    rejected = {*ordered[:last]}
    return [index in rejected for index in range(len(p))]
