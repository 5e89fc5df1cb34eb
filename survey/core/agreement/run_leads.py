"""Which run people prefer, and by how much: the lead of each run over each other in their answers.

An answer for the first run of a pair counts 1, for the second -1, for neither 0. Each pair of runs
has questions of its own, so the leads are not differences of a few means, and the distribution of
the largest |t| over such differences would find too much. Bonferroni's correction holds for any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import MeanTests, corrected_in_one_step
from survey.core.agreement.credits import Credits, tally_values
from survey.core.agreement.differences import T2, Pair
from survey.core.agreement.equivalence import (
    Equivalence,
    corrected_equivalences,
    equivalence,
)
from survey.core.agreement.headlines import Row
from survey.core.agreement.pooled_sites import PairOfSite
from survey.core.agreement.run_strengths import Sides, in_topics, pair_counts
from survey.core.agreement.verdicts import (
    Verdict,
    decide,
    interval_in_points,
    population_start,
    rests_on,
    stopped_by_looks,
    undecided_difference,
)
from survey.core.statistics.significance import LEVEL, Interval, p_text, rounded


@dataclass(frozen=True)
class RunLead:
    """Two runs: how many answers prefer the first, the second, and none of the two lists.

    ``tests``: of the lead of the first over the second, corrected for all pairs in one step, so
    that p is below .05 where the interval ``ci95_simultaneous`` leaves 0 out and there are enough
    people and topics. ``equality``: None where the plan names no smallest lead that matters.
    """

    pair: Pair
    wins: int
    losses: int
    neither: int
    tests: MeanTests
    equality: Equivalence | None = None

    @property
    def answers(self) -> int:
        """The number of answers."""
        return self.wins + self.losses + self.neither

    @property
    def ahead(self) -> Pair:
        """The pair with the run first that is ahead."""
        return self.pair if self.wins >= self.losses else Pair(*self.pair[::-1])

    @property
    def of_100_answers(self) -> tuple[int, int, int]:
        """How many of 100 answers prefer the run that is ahead, the other, and no list.

        They add up to 100: the largest remainders are rounded up.
        """
        won, lost = sorted((self.wins, self.losses), reverse=True)
        exact = [100 * count / max(1, self.answers) for count in (won, lost, self.neither)]
        whole = [int(share) for share in exact]
        by_remainder = sorted(range(3), key=lambda place: whole[place] - exact[place])
        for place in by_remainder[: 100 - sum(whole)] if self.answers else ():
            whole[place] += 1
        return whole[0], whole[1], whole[2]

    @property
    def shares_text(self) -> str:
        """Of 100 answers, how many prefer which."""
        ahead, behind = self.ahead
        won, lost, neither = self.of_100_answers
        return f"Of 100 answers {won} prefer {ahead}, {lost} {behind}, {neither} no list."

    def interval(self, scope: str) -> Interval | None:
        """The interval of the lead, of all pairs together, for a scope; for none the wider one."""
        tests = self.tests
        if scope == "these" or tests.kind.ci95_simultaneous is None:
            return tests.these.ci95_simultaneous
        return tests.kind.ci95_simultaneous

    def row(self, sampled: int, noun: str, level: float) -> Row:
        """Return the pair as a row; see ``verdict``."""
        verdict = self.verdict(sampled, noun, level)
        margin = self.equality.smallest_difference if self.equality else None
        return Row(verdict, self.tests.mean, self.interval(verdict.scope), margin=margin)

    def verdict(self, sampled: int, noun: str = "topics", level: float = LEVEL) -> Verdict:
        """Return what the answers support.

        ``sampled``: the number of topics with an answer; where topics are not known, ``noun`` and
        number are of questions. ``level``: below LEVEL where planned looks share it.
        """
        tests, mean = self.tests, self.tests.mean
        if mean is None:
            return Verdict.undecided(self.pair, f"No answer compares {' with '.join(self.pair)}.")
        ahead, behind = self.ahead
        # The decision's own interval is of this pair alone.
        if decision := decide(tests, level):
            decision = replace(decision, interval=self.interval(decision.scope))
            verb = "prefer" if decision.population == T2 else "preferred"
            sentence = (
                f"{population_start(decision.population, sampled, noun)}, people {verb} {ahead} to "
                f"{behind} by {_points(abs(mean))} of the answers"
                f"{rests_on(decision, mean, tests.correction, interval_in_points)}. "
                f"{self._counted}"
            )
            return Verdict(self.pair, decision.scope, ahead, None, decision.population, sentence)
        if self.equality and (population := self.equality.equal_for(level, together=True)):
            test = self.equality.kind if population == T2 else self.equality.these
            margin = f"{100 * self.equality.smallest_difference:.6g} points"
            sentence = (
                f"{population_start(population, sampled, noun)}, people find {self.pair.first} and "
                f"{self.pair.second} equally good, to within {margin}: the lead, "
                f"{self.pair.title}, is {_points(mean)} of the answers, and its 90 % interval, "
                f"{interval_in_points(test.ci90, 1.0)}, lies within (two one-sided tests, "
                f"{p_text(test.p_holm)}, {tests.correction}). {self._counted}"
            )
            return Verdict(self.pair, "equal", None, None, population, sentence)
        of_which = undecided_difference(tests, sampled, level, interval_in_points, noun)
        sentence = (
            f"The answers do not decide between {self.pair.first} and {self.pair.second}: the "
            f"lead, {self.pair.title}, is {_points(mean)} of the answers, and {of_which}. "
            f"{self._counted}"
        )
        return Verdict.undecided(self.pair, sentence, stopped_by_looks(tests))

    @property
    def _counted(self) -> str:
        return (
            f"Of {self.answers} answers {self.wins} prefer {self.pair.first}, {self.losses} "
            f"{self.pair.second}, {self.neither} no list."
        )


@dataclass(frozen=True)
class RunLeads:
    """Every two runs that were compared; ``sampled``: topics with an answer.

    Where topics are not known, the questions are sampled.
    """

    runs: tuple[str, ...]
    pairs: tuple[RunLead, ...]
    sampled: int

    def circle(self, level: float = LEVEL) -> tuple[tuple[str, str, str], str] | None:
        """Return three runs each of which is preferred to the next, and the last to the first.

        With the scope for which all three hold; None where there are none such.
        """
        scopes = {}
        for lead in self.pairs:
            if decision := decide(lead.tests, level):
                scopes[lead.ahead] = decision.scope
        for first, second, third in permutations(self.runs, 3):
            ring = [Pair(first, second), Pair(second, third), Pair(third, first)]
            if all(pair in scopes for pair in ring):
                narrow = any(scopes[pair] == "these" for pair in ring)
                return (first, second, third), "these" if narrow else "kind"
        return None


def run_leads(
    answers: Sequence[tuple[str, int, int]],
    sides: Sides,
    runs: Sequence[str],
    topics: Mapping[int, str],
    smallest_lead: float | None = None,
) -> RunLeads:
    """Compare runs by preferences: (participant, question, 1 for list A, -1 for B, 0 for neither).

    ``sides``: question → the runs of list A and list B; ``topics``: question → topic, of the
    questions whose topic is known; ``smallest_lead``: that matters, a share. Pairs of runs are in
    the order of ``runs``.
    """
    leads, sampled_topics = [], set()
    for pair, counts, d, credits in _compared(answers, sides, runs, topics):
        sampled_topics |= {topics.get(number, number) for number in credits.questions.tolist()}
        tests = MeanTests.of(d, credits)
        equality = None
        if smallest_lead:
            sampled = tests.effective.questions
            equality = equivalence(smallest_lead, tests.components, tests.participants, sampled)
        leads.append(RunLead(pair, *counts, tests, equality))
    corrected = corrected_in_one_step([lead.tests for lead in leads])
    equalities = corrected_equivalences([lead.equality for lead in leads if lead.equality])
    pairs = [replace(lead, tests=tests) for lead, tests in zip(leads, corrected, strict=True)]
    if equalities:
        pairs = [
            replace(lead, equality=equality)
            for lead, equality in zip(pairs, equalities, strict=True)
        ]
    return RunLeads(tuple(runs), tuple(pairs), len(sampled_topics))


def pairs_of_site(
    answers: Sequence[tuple[str, int, int]],
    sides: Sides,
    runs: Sequence[str],
    topics: Mapping[int, str],
) -> Iterator[PairOfSite]:
    """Yield every two runs as several studies are pooled; arguments as of ``run_leads``."""
    for pair, _, d, credits in _compared(answers, sides, runs, topics):
        if of_pair := PairOfSite.of(pair, MeanTests.of(d, credits), d, credits, topics):
            yield of_pair


def _compared(
    answers: Sequence[tuple[str, int, int]],
    sides: Sides,
    runs: Sequence[str],
    topics: Mapping[int, str],
) -> Iterator[tuple[Pair, tuple[int, int, int], NDArray[np.float64], Credits]]:
    """Yield every two runs with an answer: their counts, the values d, and whose answers count."""
    credits, signs = tally_values([answer for answer in answers if answer[1] in sides], runs)
    credits = in_topics(credits, topics)
    numbers = credits.questions.tolist()
    for pair, counts in pair_counts(credits, sides, signs, runs):
        if sum(counts):
            first = np.array([sides[number][0] == pair.first for number in numbers])
            of_pair = np.array([{*sides[number]} == {*pair} for number in numbers])
            yield pair, counts, np.where(first, 1.0, -1.0) * signs, credits.subset(of_pair)


def _points(lead: float) -> str:
    return f"{rounded(100 * lead)} points"
