"""Three measures whose orders people like more or less: many studies at once, as arrays.

Each participant picks the order with the highest utility: that of the measure, plus how much the
participant and the question like it, plus chance (multinomial logit); or gives an order of their
own. The tests are those of the planner, which are the analysis' own formulas for many studies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.calibration.cells import Happened
from benchmarks.calibration.studies import DISTINCT, MEASURES, OWN, Study, study_of
from benchmarks.situations import Design, stock
from survey.core.agreement.power_model import Tests, replicates_beyond_clicks

PAIRS = tuple(combinations(range(len(MEASURES)), 2))  # AP-NMRR, AP-MNRO, NMRR-MNRO
# With each pair first, the pairs of the measures in an order that begins with its two.
WITH_FIRST = ((0, 1, 2), (1, 0, 2), (2, 0, 1))

KIND = "some pair is wrongly preferred, for questions of this kind"
EITHER = "some pair is wrongly preferred, for either scope"
THESE = "some pair is wrongly preferred, for these questions"
UNDOUBTED = "the same, and the sentence has no doubt of it"
UNGUARDED = "some pair would be preferred without the label permutation"

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]
Who = Callable[[Design, Generator], Mask]


def by_design(design: Design, chance: Generator) -> Mask:
    """Return who answers which question, (participants, questions), if everyone finishes.

    Of a pool each gets those dealt least often so far, by chance among equals: parts of questions
    in a random order, which the numbers have to allow.
    """
    people, asked, questions = design.participants, design.asked, design.questions
    if asked == questions:
        return np.ones((people, questions), dtype=bool)
    if questions % asked:
        raise ValueError(f"{design}: the pool is no multiple of the questions that each answers")
    in_order = np.tile(np.arange(questions), (-(-people * asked // questions), 1))
    dealt = chance.permuted(in_order, axis=1).reshape(-1, asked)[:people]
    answered = np.zeros((people, questions), dtype=bool)
    answered[np.arange(people)[:, np.newaxis], dealt] = True
    return answered


def leaving(share: float) -> Who:
    """Let each participant leave, with this chance, after a random part of the questions."""

    def who(design: Design, chance: Generator) -> Mask:
        answered = by_design(design, chance)
        for participant in np.flatnonzero(chance.random(design.participants) < share).tolist():
            asked = chance.permutation(np.flatnonzero(answered[participant]))
            answered[participant, asked[int(chance.integers(1, design.asked)) :]] = False
        return answered

    return who


def finishing(people: int) -> Who:
    """Let so many people answer everything, and all others one or two questions."""

    def who(design: Design, chance: Generator) -> Mask:
        answered = np.zeros((design.participants, design.questions), dtype=bool)
        answered[:people] = True
        for participant in range(people, design.participants):
            few = chance.permutation(design.questions)[: int(chance.integers(1, 3))]
            answered[participant, few] = True
        return answered

    return who


@dataclass(frozen=True)
class Tastes:
    """What participants like: ``utilities`` of the measures, and of an own ordering.

    ``people``, ``questions``: standard deviations of a measure's utility between participants and
    between questions; ``identical``: questions of the random generator, many with identical orders.
    """

    utilities: tuple[float, float, float] = (0.0, 0.0, 0.0)
    own: float = -1.9
    people: float = 0.0
    questions: float = 0.0
    identical: bool = False
    who: Who = by_design

    @property
    def true_nulls(self) -> list[int]:
        """The pairs whose measures are liked equally, by their place in ``PAIRS``."""
        liked = self.utilities
        return [place for place, (a, b) in enumerate(PAIRS) if liked[a] == liked[b]]


@dataclass(frozen=True)
class Studies:
    """Some studies of one design, stacked in the last axis but that of measures.

    ``picked``: the measure, or OWN; ``answered``: (studies, participants, questions); ``numbers``:
    of the questions in the stock, None where all orders are distinct.
    """

    picked: NDArray[np.int64]
    answered: Mask
    numbers: NDArray[np.int64] | None

    @classmethod
    def draw(cls, tastes: Tastes, design: Design, streams: Sequence[Generator]) -> "Studies":
        """Draw a study from each random stream."""
        drawn = [_draw(tastes, design, chance) for chance in streams]
        picked, answered, numbers = zip(*drawn, strict=True)
        known = np.array(numbers) if tastes.identical else None
        return cls(np.array(picked), np.array(answered), known)

    @property
    def same(self) -> Mask:
        """Which measures have the same order as which: (studies, questions, measures, measures)."""
        studies, _, questions = self.picked.shape
        if self.numbers is not None:
            return _same_orders()[self.numbers]
        alone = np.eye(len(MEASURES), dtype=bool)
        return np.broadcast_to(alone, (studies, questions, *alone.shape))

    @cached_property
    def ticked(self) -> Mask:
        """Which answers tick a measure's column, (studies, participants, questions)."""
        return self.answered & (self.picked < OWN)

    @cached_property
    def clicks(self) -> Numbers:
        """How many of the answers to a question tick a column, (questions, studies)."""
        clicks: Numbers = self.ticked.sum(axis=1).T.astype(float)
        return clicks

    def tests(self) -> tuple[Tests, Tests]:
        """Test each pair, and each pair less what redrawn labels give."""
        if self.numbers is None:
            tests = self._tests_of_distinct()
            return tests, tests
        studies, _, questions = self.picked.shape
        same, labels = self.same, np.minimum(self.picked, OWN - 1)
        place = np.arange(studies)[:, None, None], np.arange(questions)[None, None, :]
        ticked = self.ticked[..., np.newaxis]
        credits = (same[*place, labels] * ticked).astype(float)
        expected = same.mean(axis=2)[:, np.newaxis] * ticked
        return self._tests(credits), self._tests(credits - expected)

    def _tests(self, values: Numbers) -> Tests:
        """Test each pair of measures' values, (studies, participants, questions, measures)."""
        first, second = np.array(PAIRS).T
        d = values[..., first] - values[..., second]
        by_person, by_question = (d.sum(axis=axis).transpose(1, 2, 0) for axis in (2, 1))
        squares = (d**2).sum(axis=(1, 2)).T
        return Tests.of_sums(by_person, by_question, *self._counts, squares)

    def _tests_of_distinct(self) -> Tests:
        """Test each pair where an answer credits one measure at most."""
        first, second = np.array(PAIRS).T
        credited = [self.answered & (self.picked == measure) for measure in range(len(MEASURES))]
        by_person, by_question = (
            np.array([each.sum(axis=axis) for each in credited]).transpose(2, 0, 1)
            for axis in (2, 1)
        )
        of_person, of_question = (
            (sums[:, first] - sums[:, second]).astype(float) for sums in (by_person, by_question)
        )
        totals = by_question.sum(axis=0)
        squares = (totals[first] + totals[second]).astype(float)
        return Tests.of_sums(of_person, of_question, *self._counts, squares)

    @property
    def _counts(self) -> tuple[Numbers, Numbers]:
        """How many answers participants gave, and questions got, as ``Tests`` reads them."""
        people, questions = (
            self.answered.sum(axis=axis).T[:, np.newaxis].astype(float) for axis in (2, 1)
        )
        return people, questions

    def permitted(self, tests: Tests, pair: int) -> Mask:
        """Return in which studies the label permutation shows more than random clicks give."""
        orders = np.arange(len(MEASURES))[:, np.newaxis, np.newaxis]
        if self.numbers is not None:
            orders = self.same.argmax(axis=3).transpose(2, 1, 0)
        first, second = PAIRS[pair]
        [third] = {*range(len(MEASURES))} - {first, second}
        of_pair = with_first(tests, pair)
        return replicates_beyond_clicks(orders[[first, second, third]], self.clicks, of_pair)

    def study(self, place: int, chance: Generator) -> Study:
        """Return one of the studies as answers."""
        numbers = range(1, 1 + self.picked.shape[2])
        rankings = dict.fromkeys(numbers, DISTINCT)
        if self.numbers is not None:
            known = stock(distinct=False)
            drawn = [known[number].rankings for number in self.numbers[place].tolist()]
            rankings = {number: dict(of) for number, of in zip(numbers, drawn, strict=True)}
        return study_of(self.picked[place], self.answered[place], rankings, chance)


def _draw(
    tastes: Tastes, design: Design, chance: Generator
) -> tuple[NDArray[np.int64], Mask, NDArray[np.int64]]:
    people, questions = design.participants, design.questions
    # Of independent waiting times with these rates the shortest is drawn by a multinomial logit.
    waiting = chance.standard_exponential((people, questions, 1 + len(MEASURES)))
    waiting *= np.exp(-np.array([*tastes.utilities, tastes.own]))
    if tastes.people:
        waiting[..., :OWN] *= np.exp(chance.normal(0, tastes.people, (people, 1, len(MEASURES))))
    if tastes.questions:
        size = (questions, len(MEASURES))
        waiting[..., :OWN] *= np.exp(chance.normal(0, tastes.questions, size))
    answered = tastes.who(design, chance)
    numbers = np.zeros(0, dtype=np.int64)
    if tastes.identical:
        numbers = chance.choice(len(_same_orders()), questions, replace=False)
    return waiting.argmin(axis=2), answered, numbers


@cache
def _same_orders() -> Mask:
    """Return for each question of the stock which measures have the same order as which."""
    orders = [[question.rankings[name] for name in MEASURES] for question in stock(distinct=False)]
    return np.array([[[a == b for b in of] for a in of] for of in orders])


def with_first(tests: Tests, pair: int) -> Tests:
    """Return the tests with a pair first."""
    order = list(WITH_FIRST[pair])
    values = (getattr(tests, each.name) for each in fields(tests))
    return Tests(*(value[order] if len(value) == len(order) else value for value in values))


def wrong_preferences(tastes: Tastes, design: Design) -> Callable[[Sequence[Generator]], Happened]:
    """Count studies in which a pair of equally liked measures gets a preference, as verdicts do."""

    def simulate(streams: Sequence[Generator]) -> Happened:
        studies = Studies.draw(tastes, design, streams)
        tests, above = studies.tests()
        happened = {what: np.zeros(len(streams), dtype=bool) for what in (KIND, EITHER, UNDOUBTED)}
        happened[UNGUARDED] = np.zeros(len(streams), dtype=bool)
        for pair in tastes.true_nulls:
            kind, these = with_first(tests, pair).decisions(len(MEASURES))
            kind_above, _ = with_first(above, pair).decisions(len(MEASURES))
            same_sign = tests.mean[pair] * above.mean[pair] > 0
            permitted = studies.permitted(tests, pair)
            happened[KIND] |= kind & permitted
            happened[EITHER] |= (kind | these) & permitted
            happened[UNDOUBTED] |= kind & permitted & kind_above & same_sign
            happened[UNGUARDED] |= kind
        return happened

    return simulate


def wrong_in_sequence(
    tastes: Tastes, design: Design, primary: int = 0
) -> Callable[[Sequence[Generator]], Happened]:
    """Count studies in which some pair of equally liked measures is preferred, a pair first.

    ``primary``: its place; other pairs count only where its own test decides.
    """

    def simulate(streams: Sequence[Generator]) -> Happened:
        studies = Studies.draw(tastes, design, streams)
        tests, _ = studies.tests()
        first, _ = with_first(tests, primary).decisions(len(MEASURES), primary=True)
        wrong = first & studies.permitted(tests, primary)
        for pair in {*tastes.true_nulls} - {primary}:
            kind, _ = with_first(tests, pair).decisions(len(MEASURES))
            wrong |= kind & first & studies.permitted(tests, pair)
        return {KIND: wrong}

    return simulate


def wrong_tests(tastes: Tastes, design: Design) -> Callable[[Sequence[Generator]], Happened]:
    """Count studies in which a corrected test rejects for two equally liked measures."""

    def simulate(streams: Sequence[Generator]) -> Happened:
        tests, _ = Studies.draw(tastes, design, streams).tests()
        happened = {what: np.zeros(len(streams), dtype=bool) for what in (KIND, THESE)}
        for pair in tastes.true_nulls:
            kind, these = with_first(tests, pair).decisions(len(MEASURES))
            happened[KIND] |= kind
            happened[THESE] |= these
        return happened

    return simulate
