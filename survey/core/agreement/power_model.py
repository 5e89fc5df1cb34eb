"""Power of a planned study, simulated: how often its verdict prefers the better of two measures.

The model. P participants answer k of S questions each: all of them (k = S, the design
``all``), or k of a pool of S (``pool``), dealt so that every question gets equally many
answers, to within one. A participant picks the order of one of the measures or holds an order of
their own. Where the orders of the two compared measures differ, a pick credits only the first
(d[p, s] = 1), only the second (-1) or neither (0):

    P(d = 1) - P(d = -1) = δ + u_s + v_p    P(d = 1) + P(d = -1) = π on average
    u_s ~ N(0, τ_s²) between questions      v_p ~ N(0, τ_p²) between participants

The spreads are of the difference between any two measures; each has half of the variance. Further
measures are liked as much as the two on average, as far as responses are left (1 - π): there the
correction for all pairs costs most. Chances below 0 count as 0, which at the default π and τ's
touches nothing that matters; near δ = π it makes the mean difference fall short of δ.

Questions are of types (``QuestionType``), in proportion as a generator draws them or a study has
them. An order that measures share credits them all. Where the compared orders are identical d is
0, so that the difference over all questions is smaller than δ. Where they differ by ties only, it
is as large as where they contradict each other.

Of the participants a share stops early, each after a random part, and a share clicks at random,
without looking; no test knows which.

The defaults. π = .68 and τ_s = .15 are those of MNRO and NMRR in Table 4 of the MNRO paper:
204 of 300 responses decide between the two, and the standard deviation between questions
is .151 after subtracting the spread of 30 votes. The paper prints no figures of single
participants, so τ_p cannot be read from it; .05 means that nineteen of twenty participants
lie within ten points of the average, that is, that people hardly differ in which of the two
measures they lean to.

The verdict is that of the analysis (``agreement.verdicts``) for questions of this kind: the test by
components of variance, corrected by the largest |t| but for a primary pair, the interval for these
questions, and the label permutation, whose p is computed by a normal distribution. What has no
spread has no test.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from survey.core.agreement.contrasts import expected_of_question
from survey.core.agreement.credits import Credits
from survey.core.agreement.differences import (
    NEGLIGIBLE,
    BallotSums,
    Pair,
    components,
    differences,
    t_by_participants,
)
from survey.core.statistics.components import TableSums, effective_df, variance_components
from survey.core.statistics.max_t import first_pair_rejected
from survey.core.statistics.rater_agreement import wilson
from survey.core.statistics.significance import LEVEL, t_quantile
from survey.core.studies.rankings import (
    CONTRADICTING,
    IDENTICAL,
    TIES_ONLY,
    Ranking,
    contrast,
    is_balanced,
)

DECIDED = 204 / 300  # π of three measures: Table 4, MNRO against NMRR
CREDITED = 280 / 300  # responses that credit any measure: Table 4 has 20 custom rankings
BETWEEN_QUESTIONS = 0.15
BETWEEN_PARTICIPANTS = 0.05

# A chunk has about ANSWERS_AT_ONCE answers, to stay in the processor's cache, but at least
# FEWEST_AT_ONCE replicates, since each chunk costs some hundred calls of numpy. Its size depends
# on the study alone, so that chunks, and results, are the same on any number of processors.
ANSWERS_AT_ONCE = 150_000
FEWEST_AT_ONCE = 20

Numbers = NDArray[np.float64]
Whole = NDArray[np.intp]
Mask = NDArray[np.bool_]
Singles = NDArray[np.float32]  # half the memory, and exact for whole numbers


class QuestionType(NamedTuple):
    """How the measures' orders in a question are alike; the compared measures come first.

    ``orders``: for each measure the index of the first measure with the same order;
    ``contrast``: of the first two, as ``rankings.contrast`` names it; ``balanced``: whether the
    first two, if they contradict each other, tie equally many lists (True if they do not
    contradict); ``expected``: for balanced kinds, the mean difference between the two in the
    answers of people with random orders without ties, in [-1, 1].
    """

    orders: tuple[int, ...]
    contrast: str
    balanced: bool = True
    expected: float = 0.0


QuestionTypes = tuple[tuple[QuestionType, int], ...]


def distinct_types(measures: int) -> QuestionTypes:
    """Return one type for all questions: all orders differ, the compared two contradict."""
    return ((QuestionType(tuple(range(measures)), CONTRADICTING), 1),)


DISTINCT_TYPES = distinct_types(3)
# Of the first 300 questions of the generator ``random``, seed 1: MNRO against NMRR, beside AP.
RANDOM_TYPES: QuestionTypes = (
    (QuestionType((0, 1, 2), CONTRADICTING, balanced=True, expected=-0.0152), 29),
    (QuestionType((0, 1, 2), CONTRADICTING, balanced=False), 22),
    (QuestionType((0, 1, 0), CONTRADICTING), 9),
    (QuestionType((0, 1, 0), CONTRADICTING, balanced=False), 5),
    (QuestionType((0, 1, 1), CONTRADICTING), 8),
    (QuestionType((0, 1, 2), TIES_ONLY), 91),
    (QuestionType((0, 1, 0), TIES_ONLY), 58),
    (QuestionType((0, 0, 2), IDENTICAL), 53),
    (QuestionType((0, 0, 0), IDENTICAL), 25),
)
# The share of those 300 questions that is contradicting and balanced, for the other two pairs.
RANDOM_BALANCED = {("AP", "NMRR"): 91 / 300, ("AP", "MNRO"): 203 / 300}


def smallest_lead(participants: int, questions: int, answered: float = 1.0) -> float | None:
    """Return the smallest true lead that 80 % of studies detect, for questions of this kind.

    ``questions``: number of them with orders that contradict each other; ``answered``: the share of
    these that each participant answers. Computed by t for one pair without correction, with the
    planner's spreads, so it is close to what ``sum_power`` simulates. None for fewer than two
    participants or questions, and where not even a lead of 1 is detected.
    """
    people = participants * answered
    if people < 2 or questions < 2:
        return None
    rest = (DECIDED - BETWEEN_PARTICIPANTS**2 - BETWEEN_QUESTIONS**2) / (people * questions)
    of_people = BETWEEN_PARTICIPANTS**2 / participants + rest
    of_questions = BETWEEN_QUESTIONS**2 / questions + rest
    variance = of_people + of_questions - rest
    dfs = np.array([participants - 1, questions - 1, (people - 1) * (questions - 1)])
    parts = np.array([of_people, of_questions, rest])
    df = max(variance**2 / float((parts**2 / dfs).sum()), float(dfs[:2].min()))
    lead = (t_quantile(0.975, df) + t_quantile(0.8, df)) * math.sqrt(variance)
    return lead if lead < 1 else None


def count_question_types(
    rankings: Mapping[int, Mapping[str, Ranking]], pair: Pair
) -> QuestionTypes:
    """Count the questions of each type; the pair's measures come first in ``orders``.

    ``rankings``: question → measure → ranking. ``expected`` is the mean over a type's questions.
    """
    expected: dict[QuestionType, list[float]] = {}
    for by_measure in rankings.values():
        first, second = by_measure[pair.first], by_measure[pair.second]
        others = [order for name, order in by_measure.items() if name not in pair]
        orders = [first, second, *others]
        alike = tuple(orders.index(order) for order in orders)
        how = contrast(first, second)
        balanced = how == CONTRADICTING and is_balanced(first, second)
        question_type = QuestionType(alike, how, balanced or how != CONTRADICTING)
        difference = expected_of_question(by_measure, pair) if balanced else 0.0
        expected.setdefault(question_type, []).append(difference)
    return tuple(
        (question_type._replace(expected=round(sum(of_kind) / len(of_kind), 4)), len(of_kind))
        for question_type, of_kind in expected.items()
    )


@dataclass(frozen=True)
class PlannedStudy:
    """A study to be simulated: P ``participants`` answer ``per_participant`` of ``questions``.

    ``difference``: δ, from 0 to ``decided``. ``decided``: π, the share of responses that credit
    only one of the two measures, where their orders differ. ``between_questions``,
    ``between_participants``: τ_s and τ_p. ``dropouts``: the share of participants who stop early;
    ``random_clickers``: who click at random. All as shares, in [0, 1]. ``question_types``: of the
    questions, with their numbers. ``primary``: whether the two are the plan's primary pair, which
    is tested by itself.
    Raises ValueError naming the field that is out of range, and what is allowed.
    """

    participants: int
    per_participant: int
    questions: int
    difference: float
    decided: float = DECIDED
    between_questions: float = BETWEEN_QUESTIONS
    between_participants: float = BETWEEN_PARTICIPANTS
    dropouts: float = 0.0
    random_clickers: float = 0.0
    question_types: QuestionTypes = DISTINCT_TYPES
    primary: bool = False

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
        if not (0 <= self.dropouts <= 1 and 0 <= self.random_clickers <= 1):
            raise ValueError("a share of the participants is not in 0 to 1")

    @property
    def measures(self) -> int:
        """Number of measures that the study compares."""
        return len(self.question_types[0][0].orders)

    @property
    def design(self) -> str:
        """``all``: everyone answers every question; ``pool``: some of them."""
        return "all" if self.per_participant == self.questions else "pool"

    @property
    def answers(self) -> int:
        """Number of responses that the study collects if everyone finishes."""
        return self.participants * self.per_participant


@dataclass(frozen=True, kw_only=True)
class Power(PlannedStudy):
    """A planned study with its simulated power.

    ``power``: the share of ``replicates`` in which the verdict, for questions of this kind, prefers
    the measure that is ahead (or, without a difference, either), in [0, 1]; ``interval``: its
    Monte Carlo 95 % interval (Wilson); ``for_order``: the share in which it prefers that measure's
    orders, and not only their fewer ties. ``equal``: the share in which the verdict is "equal to
    within the difference" if there is none; None for a difference of 0, or if it was not
    simulated. ``half_width``: mean half-width of the 95 % interval around the estimated
    difference, as a share; None where no replicate has one.
    """

    replicates: int
    power: float
    interval: tuple[float, float]
    for_order: float
    equal: float | None
    half_width: float | None


class Tally(NamedTuple):
    """Sums over a chunk's replicates, for one study.

    ``tested``: replicates that have a test; ``preferred``, ``for_order``, ``equal``: those with
    such a verdict, as in ``Power``; ``half_widths``: the sum of the intervals' half-widths.
    """

    replicates: int
    tested: int
    preferred: int
    for_order: int
    equal: int
    half_widths: float


@dataclass(frozen=True)
class Chunk:
    """Replicates that are simulated together, from a random stream of their own.

    ``studies``: one or several that differ in δ alone; they share their random numbers.
    ``equality``: whether they are simulated without a difference too.
    """

    studies: tuple[PlannedStudy, ...]
    number: int
    replicates: int
    equality: bool = True

    @property
    def cost(self) -> int:
        """Work of the chunk: answers to simulate."""
        return cost_of(self.studies, equality=self.equality) * self.replicates


def cost_of(studies: Sequence[PlannedStudy], *, equality: bool = True) -> int:
    """Return how many answers one replicate simulates, for studies that differ in δ alone."""
    return studies[0].answers * len(_differences(studies, equality=equality))


def _differences(studies: Sequence[PlannedStudy], *, equality: bool) -> set[float]:
    return {study.difference for study in studies} | ({0.0} if equality else set())


def decided_share(measures: int) -> float:
    """Return the π to plan with for a number of measures: .68 for three, as in Table 4.

    A response decides between a pair when it credits just one of the two: with equally
    credited measures a share 2/m of the responses, so π is scaled from three to m, up
    to the .93 of responses that credit any measure. An assumption, not a result.
    """
    return min(DECIDED * 3 / measures, CREDITED)


def estimated_shares(credits: Credits, pair: Pair) -> dict[str, float]:
    """Estimate ``decided`` and both spreads of ``PlannedStudy`` from the votes of a study.

    Only questions in which the pair's orders differ are used. Raises ValueError where they are too
    few.
    """
    rankings = credits.ballots.rankings
    differing = [
        number
        for number, by_measure in rankings.items()
        if by_measure[pair.first] != by_measure[pair.second]
    ]
    credits = credits.subset(np.isin(credits.questions, differing))
    d = differences(credits, pair)
    spread = BallotSums.of(d, credits)
    test = components(spread, t_by_participants(spread))
    if test.question is None or test.participant is None:
        raise ValueError(test.why)
    return {
        "decided": float(credits.counts @ np.abs(d)) / len(credits),
        "between_questions": math.sqrt(max(0.0, test.question)),
        "between_participants": math.sqrt(max(0.0, test.participant)),
    }


def chunks(
    studies: tuple[PlannedStudy, ...], replicates: int, *, equality: bool = True
) -> Iterator[Chunk]:
    """Split replicates into chunks; ``studies`` differ in δ alone."""
    size = max(FEWEST_AT_ONCE, ANSWERS_AT_ONCE // studies[0].answers)
    for number, start in enumerate(range(0, replicates, size)):
        yield Chunk(studies, number, min(size, replicates - start), equality)


def tally(chunk: Chunk, seed: int) -> tuple[Tally, ...]:
    """Simulate a chunk and count the verdicts in each of its studies.

    Its random stream is a child of ``seed`` (``SeedSequence``) named by P, k, S and its
    number: a study has the same power whatever else is simulated. Studies that share their
    random numbers differ by the effect of δ alone, and take less time.
    """
    study = chunk.studies[0]
    design = (study.participants, study.per_participant, study.questions)
    stream = Generator(PCG64(SeedSequence(seed, spawn_key=(*design, chunk.number))))
    table = deal(study, chunk.replicates, stream)
    leanings = draw_leanings(study, chunk.replicates, stream)
    drawn = stream.random((len(table.questions), chunk.replicates), dtype=np.float32)
    outcomes = {
        difference: PowerVerdict.of(
            table,
            pick(replace(study, difference=difference), table, leanings, drawn),
            primary=study.primary,
        )
        for difference in _differences(chunk.studies, equality=chunk.equality)
    }
    return tuple(
        _count(outcomes[each.difference], each.difference, outcomes.get(0.0))
        for each in chunk.studies
    )


def _count(outcome: "PowerVerdict", difference: float, without: "PowerVerdict | None") -> Tally:
    """Count the verdicts of a study with δ = ``difference``; ``without``: simulated with δ = 0."""
    preferred = outcome.preferred & ((outcome.tests.mean[0] > 0) | (not difference))
    half_width = outcome.half_width
    return Tally(
        replicates=len(preferred),
        tested=int((half_width > 0).sum()),
        preferred=int(preferred.sum()),
        for_order=int((preferred & outcome.for_order).sum()),
        equal=int(without.equal_within(difference).sum()) if without and difference else 0,
        half_widths=float(half_width.sum()),
    )


@dataclass(frozen=True)
class AnswerTable:
    """The answers of a chunk's replicates: by which participants, to questions of which types.

    ``participants``, ``questions``: numbers from 0, an entry for each answer, sorted by
    participant; participants numbered from ``clickers`` on click at random. Of each question's
    type: ``orders``, (measures, S, replicates or 1); ``contradicting``, ``balanced`` (and
    contradicting) and ``expected``, as in ``QuestionType``, (S, replicates or 1).
    """

    participants: Whole
    questions: Whole
    clickers: int
    orders: Whole
    contradicting: Mask
    balanced: Mask
    expected: Numbers

    @property
    def differ(self) -> Mask:
        """Where the compared orders differ, as ``contradicting``."""
        differ: Mask = self.orders[1] > 0
        return differ


def deal(study: PlannedStudy, replicates: int, stream: Generator) -> AnswerTable:
    """Deal each participant their questions, let some stop early, and draw the questions' types.

    From a pool each gets the questions dealt least often so far, at random among equals, as the
    survey does. Participants who stop early have answered a random part of theirs, at least one and
    not all; the sizes of the parts are evenly spread. All replicates have the same answers, but
    draw the questions' types separately.
    """
    people, asked = study.participants, study.per_participant
    dealt = np.zeros(study.questions)
    answered = np.full(people, asked)
    stopping = stream.permutation(people)[: round(study.dropouts * people)]
    if asked > 1:
        parts = (np.arange(len(stopping)) + 0.5) / max(1, len(stopping))
        answered[stopping] = 1 + (parts * (asked - 1)).astype(int)
    by_participant = []
    for count in answered.tolist():
        order = np.argsort(dealt + stream.random(study.questions))[:asked]
        dealt[order] += 1
        by_participant.append(order if count == asked else stream.permutation(order)[:count])
    question_types, counts = zip(*study.question_types, strict=True)
    known = np.repeat(np.arange(len(question_types)), counts)
    drawn = np.zeros((study.questions, 1), dtype=int)
    if len(question_types) > 1:
        # Without replacement, so that a study of these very questions has each of them.
        rounds = -(-study.questions // len(known))  # rounded up
        order = stream.random((rounds, len(known), replicates)).argsort(axis=1)
        drawn = known[order].reshape(-1, replicates)[: study.questions]
    return AnswerTable(
        participants=np.repeat(np.arange(people), answered),
        questions=np.concatenate(by_participant),
        clickers=people - round(study.random_clickers * people),
        orders=np.array([question_type.orders for question_type in question_types]).T[:, drawn],
        contradicting=np.array(
            [question_type.contrast == CONTRADICTING for question_type in question_types]
        )[drawn],
        balanced=np.array(
            [
                question_type.contrast == CONTRADICTING and question_type.balanced
                for question_type in question_types
            ]
        )[drawn],
        expected=np.array([question_type.expected for question_type in question_types])[drawn],
    )


class Leanings(NamedTuple):
    """How much more, or less, each measure is picked: by participant and by question.

    (measures, P, replicates) and (measures, S, replicates); over the measures they add up to 0.
    """

    of_participants: Singles
    of_questions: Singles


def draw_leanings(study: PlannedStudy, replicates: int, stream: Generator) -> Leanings:
    """Draw the leanings; u_s + v_p is the difference between two measures' leanings.

    So each measure's leaning has half of the variance.
    """

    def draw(spread: float, size: int) -> Singles:
        normal = stream.standard_normal((study.measures, size, replicates), dtype=np.float32)
        centred: Singles = (normal - normal.mean(axis=0)) * np.float32(spread / 2**0.5)
        return centred

    return Leanings(
        draw(study.between_participants, study.participants),
        draw(study.between_questions, study.questions),
    )


def pick(study: PlannedStudy, table: AnswerTable, leanings: Leanings, drawn: Singles) -> Singles:
    """Return which order each answer picks, 1 or 0: (measures, answers, replicates).

    An order that several measures share is picked under the first of them; an answer with an own
    order picks none. ``drawn``: uniform in [0, 1), (answers, replicates).
    """
    measures = study.measures
    usual = np.full(measures, study.decided / 2, dtype=np.float32)
    if measures > 2:
        usual[2:] = min(study.decided / 2, (1 - study.decided) / (measures - 2))
    usual[:2] += np.float32(study.difference / 2) * np.array([1, -1], dtype=np.float32)
    first_click = int(np.searchsorted(table.participants, table.clickers))
    # A measure is picked where ``drawn`` is between the sums of chances before and after its own.
    picked, reached = np.empty((measures, *drawn.shape), np.float32), np.zeros_like(drawn)
    below = np.zeros(drawn.shape, dtype=bool)
    for measure, share in enumerate(usual):
        alike = (table.orders == measure).sum(axis=0)
        # A measure that shares the order of one before it is not picked by itself.
        of_questions = np.where(alike, leanings.of_questions[measure] + share, np.float32(-1e9))
        chances = leanings.of_participants[measure].take(table.participants, axis=0)
        chances += of_questions.take(table.questions, axis=0)
        np.maximum(chances, 0, out=chances)
        chances[first_click:] = alike[table.questions[first_click:]] / measures
        reached += chances
        now = drawn < reached
        picked[measure] = now ^ below
        below = now
    return picked


@dataclass(frozen=True)
class Tests:
    """Tests of each pair's mean difference, in arrays of (pairs, replicates).

    ``se``, ``df``: standard error and degrees of freedom for questions of this kind; ``se_these``,
    ``df_these``: for these questions. The error is infinite where there is no test. ``least``,
    ``least_these``: the smallest p that the number of questions, or of participants, allows.
    ``n``: number of answers.
    """

    mean: Numbers
    se: Numbers
    df: Numbers
    se_these: Numbers
    df_these: Numbers
    least: Numbers
    least_these: Numbers
    n: Numbers

    @classmethod
    def of(
        cls, table: AnswerTable, credits: Singles, pairs: Sequence[tuple[int, int]], counted: Mask
    ) -> "Tests":
        """Test pairs of measures in the answers to some questions.

        ``credits``: (measures, answers, replicates), as ``_credits`` returns them; ``pairs``:
        indices of measures; ``counted``: the questions' mask, (S, replicates or 1).
        """
        mask = counted[np.newaxis].astype(np.float32)
        answers = mask[:, table.questions]
        if not counted.all():
            credits = credits * answers
        first, second = np.array(pairs).T
        rows, columns = _sums(table.participants, credits), _sums(table.questions, credits)
        by_row = np.moveaxis(rows[first] - rows[second], 1, 0)
        by_column = np.moveaxis(columns[first] - columns[second], 1, 0)
        row_counts = np.moveaxis(_sums(table.participants, answers), 1, 0)
        column_counts = np.moveaxis(_sums(table.questions, answers), 1, 0)
        differ = (table.orders[first] != table.orders[second])[:, np.unique(table.questions)]
        squares = ((columns[first] + columns[second]) * differ).sum(axis=1)
        return cls.of_sums(by_row, by_column, row_counts, column_counts, squares)

    @classmethod
    def of_sums(
        cls,
        by_row: Numbers,
        by_column: Numbers,
        row_counts: Numbers,
        column_counts: Numbers,
        squares: Numbers,
    ) -> "Tests":
        """Test the mean differences from sums over participants (rows) and questions (columns).

        ``by_row``, ``by_column``: sums of differences, (P, pairs, replicates) and (S, pairs,
        replicates); ``row_counts``, ``column_counts``: numbers of answers, of the same shapes, or
        with one pair; ``squares``: sums of squared differences, (pairs, replicates). See
        ``TableSums.of``.
        """
        with np.errstate(invalid="ignore", divide="ignore"):  # where there is nothing to test
            sums = TableSums.of(by_row, by_column, row_counts, column_counts, squares)
            mean = sums.total / sums.n
            # Jackknife: how far the mean moves without each participant.
            shifts = (by_row - row_counts * mean) / (sums.n - row_counts)
            variance_these = (sums.rows - 1) / sums.rows * (shifts**2).sum(axis=0)
            estimates = variance_components(sums)
            enough = (sums.rows > 1) & (sums.columns > 1) & (sums.rest_df > 0)
            people, questions = (
                np.where(enough, estimated, counted)
                for estimated, counted in zip(estimates.effective, sums.effective, strict=True)
            )
            # A zero that rounding made positive is no variance; the analysis has the same limit.
            least = NEGLIGIBLE * squares / sums.n**2
            se, se_these = (
                np.sqrt(np.where(variance > least, variance, np.inf))
                for variance in (np.where(enough, estimates.variance, 0), variance_these)
            )
            df = np.where(np.isfinite(se), estimates.df, 1.0)
            least, least_these = 2 ** (1 - questions), 2 ** (1 - people)
        df_these = effective_df(people)
        return cls(np.nan_to_num(mean), se, df, se_these, df_these, least, least_these, sums.n)

    @property
    def q(self) -> Numbers:
        """The p of the test for these questions, (pairs, replicates)."""
        p = 2 * scipy.special.stdtr(self.df_these, -np.abs(self.mean) / self.se_these)
        larger: Numbers = np.maximum(p, self.least_these)
        return larger

    def decisions(self, measures: int, *, primary: bool = False) -> tuple[Mask, Mask]:
        """Return the replicates in which the first pair's tests are significant, as two masks.

        The first is for questions of this kind, the second for these. They are corrected for all
        pairs of ``measures`` measures, unless the pair is ``primary``.
        """
        t, df, compared = self.mean / self.se, self.df, measures
        if primary:
            t, df, compared = t[:1], df[:1], 2
        significant: Mask = self.q[0] < LEVEL
        of_population = first_pair_rejected(t, df, compared, LEVEL)
        of_population &= (self.least[0] < LEVEL) & significant
        return of_population, significant if primary else _holm_of_first(self)

    def beyond(self, expected: Numbers) -> "Tests":
        """Return the tests with ``expected`` subtracted from the means; the errors are kept."""
        return replace(self, mean=self.mean - expected)


def _sums(owners: Whole, values: Singles) -> Numbers:
    """Add up the answers' values by participant or question: (…, groups, replicates).

    ``owners``: the number of each answer's participant or question; ``values``: (…, answers,
    replicates).
    """
    groups, index = np.unique(owners, return_inverse=True)
    entries = (np.ones(len(owners), np.float32), (index, np.arange(len(owners))))
    members = scipy.sparse.csr_array(entries, (len(groups), len(owners)))
    return np.array([members @ each for each in values], dtype=np.float64)


@dataclass(frozen=True)
class PowerVerdict:
    """The verdict on the first pair in each replicate.

    ``preferred``: it is a preference for questions of this kind; ``for_order``: a preference is
    between the orders, not only between more and fewer ties; ``decided``: it is a preference, for
    questions of this kind or for these only.
    """

    tests: Tests
    preferred: Mask
    for_order: Mask
    decided: Mask

    @classmethod
    def of(cls, table: AnswerTable, picked: Singles, *, primary: bool = False) -> "PowerVerdict":
        """Test the answers, and find the verdicts as ``agreement.verdicts`` does.

        ``primary``: the p of the first pair is not corrected.
        """
        measures = len(picked)
        credits = _credits(table, picked)
        everything = np.ones((len(table.contradicting), 1), dtype=bool)
        tests = Tests.of(table, credits, list(combinations(range(measures), 2)), everything)
        of_population, of_these = tests.decisions(measures, primary=primary)
        clicks = _sums(table.questions, picked).sum(axis=0)
        answered = np.unique(table.questions)
        permitted = replicates_beyond_clicks(table.orders[:, answered], clicks, tests)
        return cls(
            tests,
            preferred=permitted & of_population,
            for_order=_for_order(table, credits, tests),
            decided=permitted & (of_population | of_these),
        )

    @property
    def half_width(self) -> Numbers:
        """Half the width of the 95 % interval; 0 without a test.

        The wider of those for questions of this kind and for these, as in the analysis.
        """
        tests = self.tests
        widths = [
            -scipy.special.stdtrit(df, LEVEL / 2) * se[0]
            for se, df in ((tests.se, tests.df[0]), (tests.se_these, tests.df_these[0]))
        ]
        return np.where(np.isfinite(widths).all(axis=0), np.maximum(*widths), 0.0)

    def equal_within(self, margin: float) -> Mask:
        """Return where the verdict is "equal to within" a share, for questions of this kind."""
        tests = self.tests
        distance = margin - np.abs(tests.mean[0])
        equal = [
            scipy.special.stdtr(df, -distance / se[0]) < LEVEL
            for se, df in ((tests.se, tests.df[0]), (tests.se_these, tests.df_these[0]))
        ]
        within: Mask = equal[0] & equal[1] & (tests.least[0] < LEVEL) & ~self.decided
        return within


def _credits(table: AnswerTable, picked: Singles) -> Singles:
    """Return which measures each answer credits: all whose order was picked."""
    if (table.orders == np.arange(len(picked))[:, np.newaxis, np.newaxis]).all():
        return picked
    credits = np.zeros_like(picked)
    for credit, order in zip(credits, table.orders, strict=True):
        for measure, of_measure in enumerate(picked):
            if (shares := order == measure).any():
                credit += shares[table.questions] * of_measure
    return credits


def _holm_of_first(tests: Tests) -> Mask:
    """Return where the first pair passes Holm's correction for these questions."""
    ordered = np.sort(tests.q, axis=0)
    remaining = np.arange(len(ordered), 0, -1)[:, np.newaxis]
    passed = np.logical_and.accumulate(ordered * remaining < LEVEL, axis=0)
    first: Mask = (passed & (ordered >= tests.q[0])).any(axis=0)
    return first


def replicates_beyond_clicks(orders: Whole, clicks: Numbers, tests: Tests) -> Mask:
    """Return where the label permutation shows more than random clicks give.

    A random click credits the measures behind one label. The lead after many clicks is nearly
    normal. ``orders``: of the answered questions, as in ``AnswerTable``; ``clicks``: how many each
    of them got, (S, replicates).
    """
    differ = orders[0] != orders[1]
    first, second = ((orders == orders[compared]).mean(axis=0) for compared in (0, 1))
    step, square = (first - second) * differ, (first + second) * differ
    mean = (step * clicks).sum(axis=0)
    variance = ((square - step**2) * clicks).sum(axis=0)
    beyond = tests.mean[0] * tests.n[0] - mean
    p = 2 * scipy.special.ndtr((0.5 - np.abs(beyond)) / np.sqrt(np.maximum(variance, NEGLIGIBLE)))
    more: Mask = (p < LEVEL) & (beyond * tests.mean[0] > 0)
    return more


def _for_order(table: AnswerTable, credits: Singles, tests: Tests) -> Mask:
    """Return where a preference is for the orders, not only for fewer ties.

    Either all questions in which the orders differ are balanced. Or the balanced ones alone show
    a difference beyond the one that random orders without ties would give.
    """
    no_ties = (table.balanced | ~table.differ).all(axis=0)
    if no_ties.all():
        return np.broadcast_to(table.differ.any(axis=0), tests.mean[0].shape)
    part = Tests.of(table, credits, [(0, 1)], table.balanced)
    weights = table.balanced[table.questions]
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (table.expected[table.questions] * weights).sum(axis=0) / weights.sum(axis=0)
    above = part.beyond(np.nan_to_num(expected))
    shown = np.abs(above.mean[0]) / above.se[0] > -scipy.special.stdtrit(above.df[0], LEVEL / 2)
    same = (part.mean[0] * tests.mean[0] > 0) & (above.mean[0] * tests.mean[0] > 0)
    for_order: Mask = no_ties | (shown & same)
    return for_order


def sum_power(study: PlannedStudy, tallies: Sequence[Tally], *, equality: bool = True) -> Power:
    """Return a study's power from the tallies of its chunks.

    ``equality``: whether the chunks were simulated without a difference too.
    """
    total = Tally(*map(sum, zip(*tallies, strict=True)))
    low, high = wilson(total.preferred, total.replicates)
    return Power(
        **vars(study),
        replicates=total.replicates,
        power=total.preferred / total.replicates,
        interval=(float(low), float(high)),
        for_order=total.for_order / total.replicates,
        equal=total.equal / total.replicates if study.difference and equality else None,
        half_width=total.half_widths / total.tested if total.tested else None,
    )
