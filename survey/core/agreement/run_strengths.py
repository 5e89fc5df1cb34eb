"""Which run people prefer: each two runs compared by their strengths, over people and topics.

Strengths are Bradley and Terry's. Each answer moves them by its influence, so that the strengths'
differences are tested as the mean of these influences: by people, by topics and by both, as every
other mean of a study. Pairs of lists of one topic are not independent, so topics are the sample of
questions where they are known.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from survey.core.agreement.agreement import MeanTests, corrected_tests
from survey.core.agreement.credits import Credits, tally_values
from survey.core.agreement.differences import Pair, hull
from survey.core.agreement.verdicts import (
    Verdict,
    corrected_p,
    decide,
    stopped_by_looks,
    where_it_holds,
    why_undecided,
)
from survey.core.statistics.bradley_terry import Comparisons, bradley_terry
from survey.core.statistics.significance import LEVEL, Interval, rounded

TOO_FEW = "intervals need two people and two questions"
CONTRADICTED = "the answers to the pair itself say the opposite"
NO_SPREAD = "answers have no spread to make intervals of"

Sides = Mapping[int, tuple[str, str]]
"""Question number → the runs of list A and list B."""


@dataclass(frozen=True)
class StrengthDifference:
    """Two runs: ``difference`` of their strengths, the first minus the second.

    ``rate``: how often the first is preferred, in [0, 1], a tie counting one half, as the strengths
    of all runs give it; ``ci95``: its interval, by itself, the wider of those for both populations.
    ``wins``, ``losses``, ``ties``: of answers to questions with these two. ``tests``: of the
    difference, p corrected over all pairs; None, with the reason ``why``, where nothing fits.
    """

    pair: Pair
    wins: int
    losses: int
    ties: int
    difference: float | None = None
    rate: float | None = None
    ci95: Interval | None = None
    tests: MeanTests | None = None
    why: str | None = None

    @property
    def contradicted(self) -> bool:
        """Whether the answers to this pair prefer the run that is behind by all runs' strengths."""
        return (self.wins - self.losses) * (self.difference or 0.0) < 0

    @property
    def rates(self) -> tuple[str, float | None, Interval | None, Interval | None]:
        """ "A over B", the rate, and its intervals for topics of this kind and for these."""
        name = f"{self.pair.first} over {self.pair.second}"
        if self.tests is None:
            return name, None, None, None
        population, these = self.tests.kind.ci95, self.tests.these.ci95
        return name, self.rate, population and _rates(population), these and _rates(these)

    def verdict(self, sampled: int, noun: str, level: float = LEVEL) -> Verdict:
        """Return what the answers support.

        ``sampled``: the number of topics with an answer, ``noun``: "topics"; where topics are not
        known, of "questions".
        """
        counted = f"{self.wins} won, {self.losses} lost, {self.ties} tied"
        if self.tests is None or self.rate is None or self.difference is None:
            sentence = f"{self.pair.title} cannot be compared: {self.why}; {counted}."
            return Verdict.undecided(self.pair, sentence)
        decision = decide(self.tests, level)
        is_first = self.difference >= 0 or decision is None
        winner, loser = self.pair if is_first else self.pair[::-1]
        rate = self.rate if is_first else 1 - self.rate
        if not is_first:
            counted = f"{self.losses} won, {self.wins} lost, {self.ties} tied"
        reach = f"no interval: {self.why}"
        if self.ci95:
            low, high = self.ci95 if is_first else (1 - self.ci95[1], 1 - self.ci95[0])
            reach = f"{rounded(100 * low, 0)} to {rounded(100 * high, 0)}"
        share = f"{rounded(100 * rate, 0)} of 100 comparisons, a tie as half"
        if decision is None:
            tested = [f"95 % interval of this pair by itself {reach}" if self.ci95 else reach]
            p = self.tests.kind.p if self.tests.kind.p is not None else self.tests.these.p
            if p is not None:
                tested.append(corrected_p(p, self.tests.correction))
            sentence = (
                f"The answers do not decide between {winner} and {loser}: {winner} gets {share} "
                f"({'; '.join(tested)}){why_undecided(self.tests, level)}; {counted}."
            )
            return Verdict.undecided(self.pair, sentence, stopped_by_looks(self.tests))
        where = where_it_holds(decision.population, sampled, noun)
        if self.contradicted:
            sentence = (
                f"The answers do not decide between {winner} and {loser}: by the strengths of all "
                f"runs {winner} gets {share} ({reach}; "
                f"{corrected_p(decision.p, self.tests.correction)}), but the answers to this pair "
                f"say the opposite ({counted}), so no single order of the runs fits."
            )
            return Verdict.undecided(self.pair, sentence, CONTRADICTED)
        sentence = (
            f"People prefer {winner} to {loser}: {share} ({reach}; "
            f"{corrected_p(decision.p, self.tests.correction)}), {where}; {counted}."
        )
        return Verdict(self.pair, decision.scope, winner, None, decision.population, sentence)


@dataclass(frozen=True)
class RunStrengths:
    """The strength of each run, mean 0, with its interval; and every two runs compared.

    ``runs``: in the order of the plan; ``sampled``: topics with an answer, or questions where
    topics are not known; ``why``: why there are no strengths, or no intervals.
    """

    runs: tuple[str, ...]
    theta: tuple[float, ...] | None
    ci95: tuple[Interval | None, ...]
    pairs: tuple[StrengthDifference, ...]
    sampled: int
    why: str | None


def run_strengths(
    answers: Sequence[tuple[str, int, int]],
    sides: Sides,
    runs: Sequence[str],
    topics: Mapping[int, str],
) -> RunStrengths:
    """Compare runs by preferences: (participant, question, 1 for list A, -1 for B, 0 for neither).

    ``topics``: question → topic, of the questions whose topic is known.
    """
    credits, signs = tally_values([each for each in answers if each[1] in sides], runs)
    credits = in_topics(credits, topics)
    sampled = len({topics.get(number, number) for number in credits.questions.tolist()})
    index = {run: place for place, run in enumerate(runs)}
    both = np.array(
        [[index[run] for run in sides[number]] for number in credits.questions.tolist()],
        dtype=np.int64,
    ).reshape(-1, 2)
    score = 0.5 + 0.5 * np.array(signs, dtype=float)
    fit = bradley_terry(Comparisons(len(runs), both[:, 0], both[:, 1], score, credits.counts))
    counts = [(pair, *of_pair) for pair, of_pair in pair_counts(credits, sides, signs, runs)]
    if fit.theta is None or fit.influence is None:
        none = tuple(StrengthDifference(*each, why=fit.why) for each in counts)
        return RunStrengths(tuple(runs), None, (None,) * len(runs), none, sampled, fit.why)
    theta, influence = np.array(fit.theta), fit.influence
    tests = [
        MeanTests.of(
            influence[:, first] - influence[:, second] + theta[first] - theta[second],
            credits,
            bound=np.inf,
        )
        for first, second in combinations(range(len(runs)), 2)
    ]
    # ``pairs`` turns the measures round, which here keeps the plan's order.
    tests = corrected_tests(tests, runs[::-1], bound=np.inf)
    pairs = [_pair(each, test) for each, test in zip(counts, tests, strict=True)]
    of_runs = (influence + theta).T
    intervals = [MeanTests.of(values, credits, bound=np.inf).kind.ci95 for values in of_runs]
    why = None
    if not all(intervals):
        groups = min(len(credits.ballots.first_answer), sampled)
        why = NO_SPREAD if groups > 1 else TOO_FEW
    return RunStrengths(tuple(runs), fit.theta, tuple(intervals), tuple(pairs), sampled, why)


def in_topics(credits: Credits, topics: Mapping[int, str]) -> Credits:
    """Return credits in which the questions of a topic belong together, where topics are known."""
    names = [topics.get(number, number) for number in credits.questions.tolist()]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return credits.in_clusters(np.array([places[name] for name in names], dtype=np.int64))


def pair_counts(
    credits: Credits, sides: Sides, signs: Sequence[int], runs: Sequence[str]
) -> Iterator[tuple[Pair, tuple[int, int, int]]]:
    """Yield every two runs, with the answers that prefer the first, the second, and neither."""
    counted: dict[frozenset[str], Counter[str | None]] = {}
    numbers, times = credits.questions.tolist(), credits.counts.tolist()
    for number, sign, count in zip(numbers, signs, times, strict=True):
        first, second = sides[number]
        preferred = {1: first, -1: second}.get(sign)
        counted.setdefault(frozenset((first, second)), Counter())[preferred] += count
    for pair in (Pair(*both) for both in combinations(runs, 2)):
        counts = counted.get(frozenset(pair), Counter())
        yield pair, (counts[pair.first], counts[pair.second], counts[None])


def _pair(counted: tuple[Pair, int, int, int], tests: MeanTests) -> StrengthDifference:
    interval = hull(tests.kind.ci95, tests.these.ci95)
    return StrengthDifference(
        *counted,
        difference=tests.mean,
        rate=float(scipy.special.expit(tests.mean or 0.0)),
        ci95=interval and _rates(interval),
        tests=tests,
        why=None if interval else tests.kind.why,
    )


def _rates(interval: Interval) -> Interval:
    low, high = scipy.special.expit(interval).tolist()
    return low, high
