"""What is tried in each situation, and what should come out of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from numpy.random import SeedSequence
from statsmodels.stats.proportion import proportion_confint

from benchmarks.observed import (
    COMPONENTS,
    COVERS_KIND,
    COVERS_T1,
    COVERS_T2,
    FRIEDMAN_CREDITS,
    FRIEDMAN_TAU,
    LABELS,
    LEVEL,
    MCNEMAR,
    MISREAD,
    PARTICIPANTS_FLIP,
    PARTICIPANTS_T,
    PLANTED,
    Q_CHI2,
    Q_LABELS,
    QUESTIONS_FLIP,
    QUESTIONS_SIGN,
    RECOVERED,
    TWO_WAY,
    VERDICT,
    Happened,
    all_measures,
    coverage,
    over_ties,
    pairwise,
    recovery,
)
from benchmarks.situations import (
    Blind,
    Design,
    Leaning,
    Planted,
    SimulatedStudy,
    Situation,
    StrictOrders,
    simulate_study,
)
from survey.services.planning.ordering_bot import Preference

Tally = Counter[tuple[str, str]]

Claim = Literal["5 %", "at most 5 %", "above 5 %", "95 %", "below 95 %", "at most 6.5 %"]


@dataclass(frozen=True)
class Experiment:
    """A situation in a design, what is looked at in each study, and what should come out.

    ``looks``: a study → name → whether it happened, None where it is undefined.
    ``claims``: name → what should come out; what has none is shown without a judgement.
    """

    part: str
    situation: Situation
    design: Design
    looks: tuple[Callable[[SimulatedStudy], Happened], ...]
    claims: Mapping[str, Claim]
    times: ClassVar[int] = 1

    def tally(self, seed: int, place: int, first: int, last: int) -> Tally:
        """Count what happened in the replicates from ``first`` to before ``last``.

        Each replicate has a stream of its own, from the seed, the experiment's place in
        the list and its own number: however they are shared out, the counts are the same.
        """
        counted: Tally = Counter()
        for number in range(first, last):
            stream = SeedSequence(seed, spawn_key=(place, number))
            study = simulate_study(self.situation, self.design, stream)
            for look in self.looks:
                for name, happened in look(study).items():
                    counted[name, "of"] += happened is not None
                    counted[name, "times"] += bool(happened)
        return counted


@dataclass(frozen=True)
class Rate:
    """How often something happened, with its Monte Carlo 95 % interval (Wilson 1927)."""

    times: int
    of: int
    claim: Claim | None = None

    @property
    def share(self) -> float:
        """The rate, in [0, 1]."""
        return self.times / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The Monte Carlo interval."""
        low, high = proportion_confint(self.times, self.of, method="wilson")
        return float(low), float(high)

    @property
    def holds(self) -> bool | None:
        """Whether the claim is within the interval; None without a claim."""
        low, high = self.interval
        inside = {
            "5 %": low <= LEVEL <= high,
            "at most 5 %": low <= LEVEL,
            "at most 6.5 %": low <= 0.065,
            "above 5 %": low > LEVEL,
            "95 %": low <= 1 - LEVEL <= high,
            "below 95 %": high < 1 - LEVEL,
        }
        return inside[self.claim] if self.claim else None


def rates(claims: Mapping[str, Claim], counted: Tally) -> dict[str, Rate]:
    """Return the rate of all that was looked at and defined, in the order in which it was."""
    names = [name for name, kind in counted if kind == "of" and counted[name, kind]]
    return {
        name: Rate(counted[name, "times"], counted[name, "of"], claims.get(name)) for name in names
    }


PAPER, POOL, SMALL = Design(30, 10, 10), Design(30, 10, 30), Design(12, 5, 5)
DESIGNS = (PAPER, POOL, SMALL)
MANY = Design(30, 30, 30)

IDENTICAL = "A. Blind clicks, identical orders among the questions"
DISTINCT = "B. Blind clicks, distinct orders only"
QUESTIONS_VARY = "C. No difference over all questions; questions and participants vary"
PEOPLE_VARY = "D. No difference over these questions; questions and participants vary"
POWER = "Power"
COVERAGE = "Coverage"
RECOVERY = "Recovery"
TIES = "Preferences that are about ties"

DIFFERENCES = (0.05, 0.10, 0.15, 0.20)

EXACT: dict[str, Claim] = dict.fromkeys(
    (QUESTIONS_FLIP, QUESTIONS_SIGN, PARTICIPANTS_FLIP, LABELS), "at most 5 %"
)


def experiments() -> Iterator[Experiment]:
    """List what is tried. Add at the end: an experiment's place is part of its chance."""
    yield from _blind()
    for design in DESIGNS:
        yield _questions_vary(design)
    for design in DESIGNS:
        yield _people_vary(design)
    for difference in DIFFERENCES:
        situation = Situation(Leaning(difference), True, difference)
        for design in DESIGNS:
            yield Experiment(POWER, situation, design, (pairwise,), {})
    situation = Situation(Leaning(0.10), True, 0.10)
    for design in DESIGNS:
        claims: dict[str, Claim] = {
            COVERS_T2: "95 %",
            COVERS_KIND: "95 %",
            COVERS_T1: "95 %",
            MISREAD: "below 95 %",
        }
        yield Experiment(COVERAGE, situation, design, (coverage,), claims)
    yield _recovery()
    for late_hits in (False, True):
        for discriminative in (False, True):
            voters = StrictOrders(late_hits)
            situation = Situation(voters, False, discriminative=discriminative)
            yield Experiment(TIES, situation, PAPER, (over_ties,), {})
    yield Experiment(TIES, Situation(StrictOrders(), False), MANY, (over_ties,), {})


def _blind() -> Iterator[Experiment]:
    shifted: dict[str, Claim] = dict.fromkeys(
        (PARTICIPANTS_T, PARTICIPANTS_FLIP, MCNEMAR), "above 5 %"
    )
    kept: dict[str, Claim] = {LABELS: "at most 5 %", VERDICT: "at most 5 %"}
    for design in DESIGNS:
        # Five questions are too few for the tests over questions to see the shift.
        wide: dict[str, Claim] = {} if design == SMALL else {TWO_WAY: "above 5 %"}
        yield Experiment(
            IDENTICAL, Situation(Blind(), False), design, (pairwise,), shifted | kept | wide
        )
    fair: dict[str, Claim] = {
        **EXACT,
        **dict.fromkeys((MCNEMAR, Q_LABELS, VERDICT), "at most 5 %"),
        **dict.fromkeys((TWO_WAY, PARTICIPANTS_T, Q_CHI2, FRIEDMAN_CREDITS, FRIEDMAN_TAU), "5 %"),
    }
    looks = (pairwise, all_measures)
    yield Experiment(DISTINCT, Situation(Blind(), True), PAPER, looks, fair)


def _questions_vary(design: Design) -> Experiment:
    claims: dict[str, Claim] = {
        TWO_WAY: "5 %",
        COMPONENTS: "at most 5 %",
        **dict.fromkeys((QUESTIONS_FLIP, QUESTIONS_SIGN), "at most 5 %"),
        **dict.fromkeys((PARTICIPANTS_T, PARTICIPANTS_FLIP, MCNEMAR), "above 5 %"),
    }
    return Experiment(QUESTIONS_VARY, Situation(Leaning(), True), design, (pairwise,), claims)


def _people_vary(design: Design) -> Experiment:
    voters = Leaning(between_participants=0.15, balanced=True)
    claims: dict[str, Claim] = {PARTICIPANTS_T: "5 %", PARTICIPANTS_FLIP: "at most 5 %"}
    return Experiment(PEOPLE_VARY, Situation(voters, True), design, (pairwise,), claims)


def _recovery() -> Experiment:
    situation = Situation(Planted(Preference(PLANTED)), False)
    claims: dict[str, Claim] = dict.fromkeys(RECOVERED, "95 %")
    return Experiment(RECOVERY, situation, PAPER, (recovery,), claims)
