"""Three measures at once: how often some pair is wrongly called preferred, or rightly.

Studies are arrays in place of answers, so that thousands take seconds. Each participant picks the
order with the highest utility: that of the measure, plus how much the participant and the question
like it, plus chance (multinomial logit); or gives an order of their own. The tests are the
analysis' own formulas, for questions of this kind.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray
from scipy.special import stdtr

from benchmarks.experiments import Claim, Tally
from benchmarks.situations import MEASURES, Design, deal, stock
from survey.core.agreement.label_permutation import lead_distribution
from survey.core.statistics.components import (
    LEAST_PART_OF_REST,
    TableSums,
    VarianceComponents,
    effective_df,
    variance_components,
)
from survey.core.statistics.max_t import T, step_down
from survey.core.statistics.significance import holm

LEVEL = 0.05
PAIRS = tuple(combinations(range(len(MEASURES)), 2))[::-1]  # MNRO-NMRR, MNRO-AP, NMRR-AP
OWN_ORDER = len(MEASURES)

UNCORRECTED = "two-way t, uncorrected"
HOLM = "two-way t, Holm"
WHOLE_REST = "components, whole rest"
NOW = "now"
READING = "now, votes minus redraws"
METHODS = (UNCORRECTED, HOLM, WHOLE_REST, NOW, READING)

EQUAL_10 = "equal to within 10 points"

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Tastes:
    """What participants like: ``utilities`` of the measures, and of an own ordering.

    ``people``, ``questions``: standard deviations of a measure's utility between participants and
    between questions; ``identical``: questions with identical orders as often as random ones have
    them; ``leaving``: the share of participants who stop after a part of their questions.
    """

    name: str
    utilities: tuple[float, float, float] = (0.0, 0.0, 0.0)
    own: float = -1.9
    people: float = 0.0
    questions: float = 0.0
    identical: bool = False
    leaving: float = 0.0

    @property
    def true_nulls(self) -> list[int]:
        """The pairs whose measures are liked equally, by their place in ``PAIRS``."""
        liked = self.utilities
        return [place for place, (a, b) in enumerate(PAIRS) if liked[a] == liked[b]]


class Answers(NamedTuple):
    """Studies of one design: who answered what, and the credits.

    ``answered``: bool (studies, participants, questions); ``credits``, ``expected`` by redrawn
    labels: (studies, participants, questions, measures); ``same``: (studies, questions, labels,
    measures), whether a tick of a label credits a measure.
    """

    answered: NDArray[np.bool_]
    credits: Numbers
    expected: Numbers
    same: NDArray[np.bool_]


@dataclass(frozen=True)
class Family:
    """Tastes in a design, and what is counted; an experiment as in ``benchmarks.experiments``."""

    part: str
    situation: Tastes
    design: Design
    claims: Mapping[str, Claim]
    count: Callable[[Tastes, Answers], Tally]
    times: ClassVar[int] = 4  # as many replicates as of others, since they take so much less time

    def tally(self, seed: int, place: int, first: int, last: int) -> Tally:
        """Count what happened in the replicates from ``first`` to before ``last``."""
        studies = [
            draw_study(self.situation, self.design, SeedSequence(seed, spawn_key=(place, number)))
            for number in range(first, last)
        ]
        return self.count(self.situation, Answers(*map(np.array, zip(*studies, strict=True))))


@cache
def _same_orders() -> NDArray[np.bool_]:
    """Return for each question of the stock which measures have the same order as which."""
    orders = [[question.rankings[name] for name in MEASURES] for question in stock(distinct=False)]
    return np.array([[[a == b for b in of] for a in of] for of in orders])


def draw_study(
    tastes: Tastes, design: Design, stream: SeedSequence
) -> tuple[NDArray[np.bool_], Numbers, Numbers, NDArray[np.bool_]]:
    """Draw one study; return its entries of ``Answers``."""
    chance = Generator(PCG64(stream))
    shape = (design.participants, design.questions, len(MEASURES))
    utilities = np.array(tastes.utilities) + np.zeros(shape)
    utilities += chance.normal(0, tastes.people, (shape[0], 1, shape[2]))
    utilities += chance.normal(0, tastes.questions, (1, shape[1], shape[2]))
    own = np.full((*shape[:2], 1), tastes.own)
    picked = (
        np.concatenate([utilities, own], axis=2) + chance.gumbel(size=(*shape[:2], 4))
    ).argmax(axis=2)
    same = np.broadcast_to(np.eye(len(MEASURES), dtype=bool), (shape[1], shape[2], shape[2]))
    if tastes.identical:
        known = _same_orders()
        same = known[chance.choice(len(known), design.questions, replace=False)]
    answered = _answered(tastes, design, chance)
    ticked = answered & (picked < OWN_ORDER)
    labels = np.minimum(picked, OWN_ORDER - 1)
    credits = same[np.arange(design.questions), labels] * ticked[..., np.newaxis]
    expected = same.mean(axis=1) * ticked[..., np.newaxis]
    return answered, credits.astype(float), expected, same


def _answered(tastes: Tastes, design: Design, chance: Generator) -> NDArray[np.bool_]:
    answered = np.ones((design.participants, design.questions), dtype=bool)
    if design.asked < design.questions:
        answered[:] = False
        for participant, numbers in enumerate(deal(design, chance)):
            answered[participant, np.array(numbers) - 1] = True
    leaving = chance.random(design.participants) < tastes.leaving
    for participant in np.flatnonzero(leaving).tolist():
        asked = chance.permutation(np.flatnonzero(answered[participant]))
        answered[participant, asked[int(chance.integers(1, design.asked)) :]] = False
    return answered


class Tests(NamedTuple):
    """The tests of a mean difference, an entry for each study."""

    mean: Numbers
    components: VarianceComponents
    two_way: Numbers  # variance
    participants: Numbers  # variance


def mean_tests(d: Numbers, answered: NDArray[np.bool_]) -> Tests:
    """Test the mean of d, (studies, participants, questions), 0 where nothing was answered."""
    by_row, by_column = answered.sum(axis=2), answered.sum(axis=1)
    n, total = answered.sum(axis=(1, 2)), d.sum(axis=(1, 2))
    rows, columns = d.sum(axis=2), d.sum(axis=1)
    squares = (d**2).sum(axis=(1, 2))
    sums = TableSums.of(rows.T, columns.T, by_row.T, by_column.T, squares)
    mean = total / n

    def clustered(groups: Numbers, counts: NDArray[np.int_], number: Numbers) -> Numbers:
        residuals = groups - counts * mean[:, np.newaxis]
        variance: Numbers = number / (number - 1) * (residuals**2).sum(axis=1) / n**2
        return variance

    of_rows, of_columns = (
        clustered(rows, by_row, sums.rows),
        clustered(columns, by_column, sums.columns),
    )
    both = of_rows + of_columns - (squares - total**2 / n) / n / (n - 1)
    two_way = np.where(both > 1e-15, both, np.maximum(of_rows, of_columns))
    moved = (rows - by_row * mean[:, np.newaxis]) / (n[:, np.newaxis] - by_row)
    without_each = (sums.rows - 1) / sums.rows * (moved**2).sum(axis=1)
    return Tests(mean, variance_components(sums), two_way, without_each)


def _p(mean: Numbers, variance: Numbers, df: Numbers) -> Numbers:
    t = np.abs(mean) / np.sqrt(np.maximum(variance, 1e-15))
    p: Numbers = 2 * stdtr(df, -t)
    return p


def preferences(_: Tastes, answers: Answers) -> dict[str, NDArray[np.bool_]]:
    """Return by method which pairs get a verdict for questions of this kind: (studies, pairs)."""
    d = [answers.credits[..., b] - answers.credits[..., a] for a, b in PAIRS]
    above = [
        each - answers.expected[..., b] + answers.expected[..., a]
        for each, (a, b) in zip(d, PAIRS, strict=True)
    ]
    tests = [mean_tests(each, answers.answered) for each in d]
    readings = [mean_tests(each, answers.answered) for each in above]
    people = tests[0].components.sums.rows - 1
    fewest = np.minimum(people, tests[0].components.sums.columns - 1)
    two_way = np.stack([_p(each.mean, each.two_way, fewest) for each in tests], axis=1)
    of_these = effective_df(tests[0].components.effective[0])
    bounds = [2.0 ** (1 - each) < LEVEL for each in tests[0].components.effective]
    found = {
        UNCORRECTED: two_way < LEVEL,
        HOLM: np.array([holm(row) for row in two_way.tolist()]) < LEVEL,
        WHOLE_REST: _through(tests, 1.0),
        NOW: _through(tests, LEAST_PART_OF_REST),
        READING: _through(readings, LEAST_PART_OF_REST),
    }
    found[NOW] &= (bounds[0] & bounds[1])[:, np.newaxis]
    these = np.stack([_p(each.mean, each.participants, of_these) for each in tests], axis=1) < LEVEL
    some = these & np.any([found[method] for method in METHODS[:-1]], axis=0)
    permitted = np.zeros_like(these)
    for study, pair in zip(*np.nonzero(some), strict=True):
        permitted[study, pair] = _beyond_random_clicks(answers, int(study), PAIRS[pair])
    these_above = (
        np.stack([_p(each.mean, each.participants, of_these) for each in readings], axis=1) < LEVEL
    )
    return {
        **{method: found[method] & permitted for method in METHODS[:-1]},
        READING: found[READING] & these_above,
    }


def _through(tests: list[Tests], least_part: float) -> NDArray[np.bool_]:
    """Return which pairs the components reject, corrected by the largest |t|, stepping down."""
    names = [frozenset((MEASURES[a], MEASURES[b])) for a, b in PAIRS]
    parts = [variance_components(each.components.sums, least_part) for each in tests]
    # Of equal numbers in every answer there is no test.
    t = np.stack(
        [
            each.mean / np.sqrt(np.maximum(part.variance, 1e-15))
            for each, part in zip(tests, parts, strict=True)
        ],
        axis=1,
    )
    df = np.stack([part.df for part in parts], axis=1)
    p = 2 * stdtr(df, -np.abs(t))
    through: NDArray[np.bool_] = p < LEVEL / len(PAIRS)
    # Elsewhere the correction decides; it takes longer.
    for study in np.flatnonzero((p.min(axis=1) < LEVEL) & ~through.all(axis=1)):
        values = map(T, t[study].tolist(), df[study].tolist())
        corrected = step_down(MEASURES, dict(zip(names, values, strict=True)))
        through[study] = [corrected[name] < LEVEL for name in names]
    return through


def _beyond_random_clicks(answers: Answers, study: int, pair: tuple[int, int]) -> bool:
    """Tell whether the label permutation shows more than random clicks give, as verdicts ask."""
    a, b = pair
    same = answers.same[study].astype(float)
    clicks = answers.credits[study].any(axis=2).sum(axis=0)
    possible = [
        (of[:, b] - of[:, a], int(count)) for of, count in zip(same, clicks, strict=True) if count
    ]
    lead = float((answers.credits[study][..., b] - answers.credits[study][..., a]).sum())
    mean = sum(count * steps.mean() for steps, count in possible)
    totals, chances = lead_distribution(possible)
    p = chances[np.abs(totals - mean) >= abs(lead - mean) - 1e-9].sum()
    return bool((lead - mean) * lead > 0 and p < LEVEL)


def count_false(tastes: Tastes, answers: Answers) -> Tally:
    """Count studies in which a pair of equally liked measures gets a preference."""
    counted: Tally = Counter()
    for method, found in preferences(tastes, answers).items():
        counted[method, "of"] += len(found)
        counted[method, "times"] += int(found[:, tastes.true_nulls].any(axis=1).sum())
    return counted


def count_found(tastes: Tastes, answers: Answers) -> Tally:
    """Count the preferences of each pair, and studies with any."""
    counted: Tally = Counter()
    for method, found in preferences(tastes, answers).items():
        columns = [*found.T, found.any(axis=1)]
        names = [f"{MEASURES[b]}-{MEASURES[a]}" for a, b in PAIRS] + ["any"]
        for name, column in zip(names, columns, strict=True):
            counted[f"{method}: {name}", "of"] += len(found)
            counted[f"{method}: {name}", "times"] += int(column.sum())
    return counted


def count_equal(_: Tastes, answers: Answers) -> Tally:
    """Count studies that call MNRO and NMRR equal to within 10 points, for the kind."""
    test = mean_tests(answers.credits[..., 2] - answers.credits[..., 1], answers.answered)
    sums = test.components.sums
    within = [
        stdtr(df, -(0.1 - np.abs(test.mean)) / np.sqrt(np.maximum(variance, 1e-15))) < LEVEL
        for variance, df in (
            (test.components.variance, test.components.df),
            (test.participants, sums.rows - 1),
        )
    ]
    times = int((within[0] & within[1]).sum())
    return Counter({(EQUAL_10, "of"): len(test.mean), (EQUAL_10, "times"): times})


DESIGNS = (
    Design(15, 10, 10),
    Design(30, 10, 10),
    Design(100, 10, 10),
    Design(30, 30, 30),
    Design(30, 10, 30),
)

LIKE_THE_PAPER = partial(
    Tastes,
    utilities=(float(np.log(80)), float(np.log(95)), float(np.log(125))),
    own=float(np.log(20)),
    questions=0.35,
)
NULLS = (
    Tastes("blind clicks"),
    Tastes("people differ, .5", people=0.5),
    Tastes("people differ, 1", people=1.0),
    Tastes("questions differ, .35", questions=0.35),
    Tastes("questions differ, 1", questions=1.0),
    Tastes("both, .5 and .35", people=0.5, questions=0.35),
    Tastes("both, 1", people=1.0, questions=1.0),
    Tastes("partly: AP is liked less, both .5", (-0.7, 0.0, 0.0), people=0.5, questions=0.5),
    Tastes("partly: MNRO is liked more, people 1", (0.0, 0.0, 0.7), people=1.0),
    Tastes("blind clicks, 40 % leave early", leaving=0.4),
    Tastes("both, .5 and .35, 40 % leave early", people=0.5, questions=0.35, leaving=0.4),
    Tastes("blind clicks, identical orders", identical=True),
)
# The label permutation guards against blind clicks only, and these are not blind.
TASTES_AND_IDENTICAL_ORDERS = (
    Tastes("people differ, 1, identical orders", people=1.0, identical=True),
    Tastes("questions differ, 1, identical orders", questions=1.0, identical=True),
    Tastes("both, 1, identical orders", people=1.0, questions=1.0, identical=True),
)
EFFECTS = (
    LIKE_THE_PAPER("like the paper's, people alike"),
    LIKE_THE_PAPER("like the paper's, people differ, 1", people=1.0),
    Tastes("MNRO ahead by 10 points, all alike", (0.0, 0.0, 0.3)),
    Tastes("MNRO ahead by 20 points, questions .35", (0.0, 0.0, 0.57), people=0.2, questions=0.35),
    Tastes("MNRO ahead by 20 points, people 1", (0.0, 0.0, 0.7), people=1.0, questions=0.35),
)

FALSE = "False preferences among three measures"
TASTES = "False preferences where tastes differ and some orders are identical"
FOUND = "Preferences that are found among three measures"
EQUAL = "Equality"


def families() -> list[Family]:
    """List what is tried, in the order of the page."""
    kept: dict[str, Claim] = {NOW: "at most 6.5 %", READING: "at most 6.5 %"}
    return [
        *(Family(FALSE, each, design, kept, count_false) for each in NULLS for design in DESIGNS),
        *(
            Family(TASTES, each, design, {}, count_false)
            for each in TASTES_AND_IDENTICAL_ORDERS
            for design in DESIGNS
        ),
        *(Family(FOUND, each, design, {}, count_found) for each in EFFECTS for design in DESIGNS),
        *(
            Family(EQUAL, Tastes("no difference", questions=0.35), design, {}, count_equal)
            for design in (*DESIGNS[1:], Design(100, 10, 50))
        ),
    ]
