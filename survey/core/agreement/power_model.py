"""Power of a planned study, simulated: how often its test would find a difference.

The model. P participants answer k of S questions each: all of them (k = S, the design
``all``), or k of a pool of S (``pool``), dealt so that every question gets equally many
answers, to within one. In a response participant p credits of the two compared measures
only the first (d[p, s] = 1), only the second (-1), or both or neither (0):

    P(d = 1) - P(d = -1) = δ + u_s + v_p    P(d = 1) + P(d = -1) = π
    u_s ~ N(0, τ_s²) between questions      v_p ~ N(0, τ_p²) between participants

with δ + u_s + v_p clipped to [-π, π], the possible range. At the default π and τ's that
touches nothing that matters; near δ = π it makes the mean difference fall short of δ.

The defaults. π = .68 and τ_s = .15 are those of MNRO and NMRR in Table 4 of the MNRO paper:
204 of 300 responses decide between the two, and the standard deviation between questions
is .151 after subtracting the spread of 30 votes. The paper prints no figures of single
participants, so τ_p cannot be read from it; .05 means that nineteen of twenty participants
lie within ten points of the average, that is, that people hardly differ in which of the two
measures they lean to.

Results. At δ = .10 with 30 participants, 100,000 replicates: `all` of 10 questions
.27, 10 of a pool of 30 .43, of 50 .47. So the .27 → .43 on which this project planned is a
pool of 30 under exactly these defaults. τ_p = 0 gives .28 → .44, .10 gives .26 → .40, .20
gives .22 → .33; τ_s = .10 gives .35 → .48, .20 gives .21 → .38.

The test is the one of the analysis: the two-way cluster-robust t of the mean of d, two-sided
at α = .05 (Cameron, Gelbach & Miller 2011). Under δ = 0 it rejects in 5 to 6 % with 20
participants and 10 questions or more, in 7 % at 8 × 8 and in 3.4 % at 30 × 3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray
from scipy.special import stdtrit

ALPHA = 0.05
DECIDED = 204 / 300  # π of three measures: Table 4, MNRO against NMRR
CREDITED = 280 / 300  # responses that credit any measure: Table 4 has 20 custom rankings
BETWEEN_QUESTIONS = 0.15
BETWEEN_PARTICIPANTS = 0.05
NORMAL_95 = 1.959963984540054

# A chunk of replicates has about this number of answers, to stay in the processor's cache,
# but enough replicates to be worth its calls. Its size depends on the study alone, so that
# every executor computes the same chunks.
ANSWERS_AT_ONCE = 25_000
FEWEST_AT_ONCE = 20

Questions = NDArray[np.intp]
Differences = NDArray[np.int8]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class PlannedStudy:
    """A study to be simulated: P ``participants`` answer ``per_participant`` of ``questions``.

    ``difference``: δ, from 0 to ``decided``. ``decided``: π, the share of responses that
    credit only one of the two measures. ``between_questions``, ``between_participants``: τ_s
    and τ_p. All as shares, in [0, 1].
    Raises ValueError naming the field that is out of range, and what is allowed.
    """

    participants: int
    per_participant: int
    questions: int
    difference: float
    decided: float = DECIDED
    between_questions: float = BETWEEN_QUESTIONS
    between_participants: float = BETWEEN_PARTICIPANTS

    def __post_init__(self) -> None:
        if self.participants < 2 or self.per_participant < 1 or self.questions < 2:
            raise ValueError("a study needs 2 participants and 2 questions at least")
        if self.per_participant > self.questions:
            raise ValueError(
                f"each participant answers {self.per_participant} of a pool of {self.questions} "
                f"questions; 1 to {self.questions} are allowed"
            )
        if self.answers < self.questions:
            raise ValueError(
                f"{self.participants} participants × {self.per_participant} questions are "
                f"{self.answers} answers; {self.questions} questions need one each at least"
            )
        if not 0 < self.decided <= 1:
            raise ValueError(f"decided is {self.decided:g}; shares above 0, up to 1, are allowed")
        if not 0 <= self.difference <= self.decided:
            raise ValueError(
                f"the difference is {self.difference:g}; where {self.decided:g} of the responses "
                f"decide between two measures, 0 to {self.decided:g} are possible"
            )
        if min(self.between_questions, self.between_participants) < 0:
            raise ValueError("a standard deviation is below 0; 0 or more is allowed")

    @property
    def design(self) -> str:
        """``all``: everyone answers every question; ``pool``: some of them."""
        return "all" if self.per_participant == self.questions else "pool"

    @property
    def answers(self) -> int:
        """Number of responses that the study collects."""
        return self.participants * self.per_participant

    @property
    def cost(self) -> int:
        """Work of a replicate: participants × questions, answered or not."""
        return self.participants * self.questions


@dataclass(frozen=True, kw_only=True)
class Power(PlannedStudy):
    """A planned study with its simulated power.

    ``power``: the share of ``replicates`` in which the test finds a difference, in either
    direction, in [0, 1]; ``interval``: its Monte Carlo 95 % interval (Wilson).
    ``half_width``: mean half-width of the 95 % interval around the estimated difference, as
    a share; None where no replicate has one.
    """

    replicates: int
    power: float
    interval: tuple[float, float]
    half_width: float | None


class Tally(NamedTuple):
    """One chunk's sums: replicates, those with a test, those that reject, half-widths."""

    replicates: int
    tested: int
    rejected: int
    half_widths: float


@dataclass(frozen=True)
class Chunk:
    """Replicates that are simulated together, from a random stream of their own.

    ``studies``: one or several that differ in δ alone; they share their random numbers.
    """

    studies: tuple[PlannedStudy, ...]
    number: int
    replicates: int

    @property
    def cost(self) -> int:
        """Work of the chunk, in the unit of ``PlannedStudy.cost``."""
        return sum(study.cost for study in self.studies) * self.replicates


def decided_share(measures: int) -> float:
    """Return the π to plan with for a number of measures: .68 for three, as in Table 4.

    A response decides between a pair when it credits just one of the two: with equally
    credited measures a share 2/m of the responses, so π is scaled from three to m, up
    to the .93 of responses that credit any measure. An assumption, not a result.
    """
    return min(DECIDED * 3 / measures, CREDITED)


def chunks(studies: tuple[PlannedStudy, ...], replicates: int) -> Iterator[Chunk]:
    """Split replicates into chunks; ``studies`` differ in δ alone."""
    size = max(FEWEST_AT_ONCE, ANSWERS_AT_ONCE // studies[0].cost)
    for number, start in enumerate(range(0, replicates, size)):
        yield Chunk(studies, number, min(size, replicates - start))


def tally(chunk: Chunk, seed: int) -> tuple[Tally, ...]:
    """Simulate a chunk and count what the test finds in each of its studies.

    Its random stream is a child of ``seed`` (``SeedSequence``) named by P, k, S and its
    number: a study has the same power whatever else is simulated. Studies that share their
    random numbers differ by the effect of δ alone, and take less time.
    """
    study = chunk.studies[0]
    design = (study.participants, study.per_participant, study.questions)
    stream = Generator(PCG64(SeedSequence(seed, spawn_key=(*design, chunk.number))))
    asked = draw_questions(study, chunk.replicates, stream)
    leanings = draw_leanings(study, asked, stream)
    drawn = stream.random(asked.shape)
    return tuple(_test(each, differences(each, leanings, drawn), asked) for each in chunk.studies)


def _test(study: PlannedStudy, d: Differences, asked: Questions) -> Tally:
    means, variances = two_way(d, asked, study.questions)
    critical = stdtrit(min(study.participants, study.questions) - 1, 1 - ALPHA / 2)
    half_widths = critical * np.sqrt(variances)
    # A mean without any spread has no test and so does not reject, as in the analysis.
    tested = variances > 0
    return Tally(
        replicates=len(d),
        tested=int(tested.sum()),
        rejected=int((tested & (np.abs(means) > half_widths)).sum()),
        half_widths=float(half_widths.sum()),
    )


def draw_questions(study: PlannedStudy, replicates: int, stream: Generator) -> Questions:
    """Deal each participant their questions; returns (replicates, P, k), values 0 to S - 1.

    From a pool each gets the questions dealt least often so far, at random among
    equals, as the survey does: counts differ by at most 1.
    """
    shape = (replicates, study.participants, study.per_participant)
    if study.design == "all":
        return np.broadcast_to(np.arange(study.questions), shape)
    asked = np.empty(shape, dtype=np.intp)
    dealt = np.zeros((replicates, study.questions))
    rows = np.arange(replicates)[:, None]
    for participant in range(study.participants):
        order = dealt + stream.random(dealt.shape)
        least = np.argpartition(order, study.per_participant - 1)[:, : study.per_participant]
        asked[:, participant] = least
        dealt[rows, least] += 1
    return asked


def draw_leanings(study: PlannedStudy, asked: Questions, stream: Generator) -> Numbers:
    """Draw u_s + v_p for each answer; returns (replicates, P, k), as ``asked``."""
    replicates, participants, _ = asked.shape
    of_questions = stream.normal(0, study.between_questions, (replicates, study.questions))
    of_participants = stream.normal(0, study.between_participants, (replicates, participants))
    leanings: Numbers = of_questions[np.arange(replicates)[:, None, None], asked]
    leanings += of_participants[:, :, None]
    return leanings


def differences(study: PlannedStudy, leanings: Numbers, drawn: Numbers) -> Differences:
    """Return d, credit of the first measure minus credit of the second: -1, 0 or 1.

    ``drawn``: uniform in [0, 1), of the shape of ``leanings``.
    """
    leaning = np.clip(leanings + study.difference, -study.decided, study.decided)
    first = drawn < (study.decided + leaning) / 2
    second = drawn >= 1 - (study.decided - leaning) / 2
    difference: Differences = first.view(np.int8) - second.view(np.int8)
    return difference


def two_way(d: NDArray[np.number], asked: Questions, questions: int) -> tuple[Numbers, Numbers]:
    """Return each replicate's mean of d and its two-way cluster-robust variance.

    d, asked: (replicates, P, k); every question has an answer. The variance is that of the
    analysis, ``agreement.differences.two_way``, and 0 where that has none.
    """
    replicates, participants, per_participant = d.shape
    n = participants * per_participant
    means = d.mean(axis=(1, 2))
    residuals = np.subtract(d, means[:, None, None], dtype=np.float64)
    # With consecutive numbers for the questions of all replicates, one bincount sums them all.
    numbered = asked + questions * np.arange(replicates)[:, None, None]
    of_questions: Numbers = np.bincount(  # type: ignore[assignment] # weighed counts are floats
        numbered.ravel(), residuals.ravel(), replicates * questions
    ).reshape(replicates, questions)
    squares = (residuals**2).sum(axis=(1, 2))
    v_p = _clustered(residuals.sum(axis=2), n)
    v_s = _clustered(of_questions, n)
    v_0 = squares / n**2 * n / (n - 1)
    # A zero that rounding made positive is no variance; the analysis has the same limit.
    negligible = 1e-12 * squares / n**2
    both, larger = v_p + v_s - v_0, np.maximum(v_p, v_s)
    positive = np.where(larger > negligible, larger, 0.0)
    return means, np.where(both > negligible, both, positive)


def _clustered(sums: Numbers, n: int) -> Numbers:
    groups = sums.shape[1]
    variance: Numbers = (sums**2).sum(axis=1) * groups / (groups - 1) / n**2
    return variance


def power(study: PlannedStudy, tallies: Sequence[Tally]) -> Power:
    """Add up a study's chunks and return its power."""
    total = Tally(*map(sum, zip(*tallies, strict=True)))
    return Power(
        **vars(study),
        replicates=total.replicates,
        power=total.rejected / total.replicates,
        interval=wilson(total.rejected, total.replicates),
        half_width=total.half_widths / total.tested if total.tested else None,
    )


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share ``successes`` / ``n``, in [0, 1] (Wilson 1927)."""
    share, z2 = successes / n, NORMAL_95**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = NORMAL_95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)
