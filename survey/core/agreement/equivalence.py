"""Whether two measures are equal to within the smallest difference that matters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from survey.core.agreement.differences import (
    SAME_MEANS,
    T1,
    T2,
    Components,
    ParticipantsTest,
    least_p,
)
from survey.core.statistics.significance import (
    LEVEL,
    Interval,
    MeanTest,
    holm,
    two_one_sided_tests,
)

TOO_FEW_QUESTIONS = "equality for questions of this kind needs six questions"


@dataclass(frozen=True)
class EqualityTest:
    """Two one-sided tests: ``p``, the larger, with the 90 % interval that they are read from.

    ``p_holm``: corrected for all pairs, for who says of several that they are equal.
    """

    estimand: str
    p: float | None
    ci90: Interval | None
    why: str | None
    p_holm: float | None = None


@dataclass(frozen=True)
class Equivalence:
    """Tests of equality to within ``smallest_difference``, a share, for both populations.

    Measures equal for questions of the ``kind`` must be so for ``these`` as well, so p is the
    larger, and the interval holds both. Nor is it smaller than what so few questions can show: with
    too few for any p below the level nothing is said of the population.
    """

    smallest_difference: float
    kind: EqualityTest
    these: EqualityTest

    def equal_for(self, level: float, *, together: bool = False) -> str | None:
        """Return the widest population for which equality is shown at a level, or None.

        ``together``: of all pairs, by corrected p.
        """
        for test in (self.kind, self.these):
            p = test.p_holm if together else test.p
            if p is not None and p < level:
                return test.estimand
        return None


def equivalence(
    smallest_difference: float,
    components: Components,
    participants: ParticipantsTest,
    questions: float = math.inf,
) -> Equivalence:
    """Test the mean difference for being nearer to 0 than ``smallest_difference``, a share.

    ``questions``: how many of equal weight there are.
    """
    these = _equality(participants, smallest_difference, T1)
    population = _equality(components, smallest_difference, T2)
    p_these, ci_these = these.p, these.ci90
    if participants.why == SAME_MEANS and participants.mean is not None:
        # Nothing varies between participants, so that the mean of these questions is exact.
        p_these = float(abs(participants.mean) >= smallest_difference)
        ci_these = (participants.mean, participants.mean)
    if population.p is not None and p_these is not None and population.ci90 and ci_these:
        ends = zip(population.ci90, ci_these, strict=True)
        low, high = (pick(both) for pick, both in zip((min, max), ends, strict=True))
        least = least_p(questions)
        if least < LEVEL:
            population = EqualityTest(T2, max(population.p, p_these, least), (low, high), None)
        else:
            population = EqualityTest(T2, None, (low, high), TOO_FEW_QUESTIONS)
    return Equivalence(smallest_difference, population, these)


def corrected_equivalences(tests: Sequence[Equivalence]) -> list[Equivalence]:
    """Correct the p of each pair's equality over all pairs, by Holm's method, as ``p_holm``."""
    of_population = holm([pair.kind.p for pair in tests])
    of_these = holm([pair.these.p for pair in tests])
    return [
        replace(
            each,
            kind=replace(each.kind, p_holm=population),
            these=replace(each.these, p_holm=these),
        )
        for each, population, these in zip(tests, of_population, of_these, strict=True)
    ]


def _equality(test: MeanTest, margin: float, estimand: str) -> EqualityTest:
    if test.mean is None or test.se is None or test.df is None:
        return EqualityTest(estimand, None, None, test.why)
    p, ci90 = two_one_sided_tests(test.mean, test.se, test.df, margin)
    return EqualityTest(estimand, p, ci90, None)
