"""Other rules of ordering studies, the stars of evaluations, and tests that decide nothing."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.calibration.cells import Happened
from benchmarks.calibration.orders import PAIR, tests_of_pairs
from benchmarks.calibration.studies import DISTINCT, MEASURES, OWN, study_of
from benchmarks.calibration.tastes import KIND, PAIRS, Studies, Tastes, by_design, with_first
from benchmarks.situations import Design, Planted, Situation, simulate_study, stock
from survey.core.agreement.agreement import share_ends, share_intervals
from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import (
    ParticipantOrders,
    friedman_of_agreement,
    means_of_participants,
)
from survey.core.agreement.credits import (
    OTHER,
    Ballots,
    distinct_questions,
    tally_credits,
    tally_values,
)
from survey.core.agreement.differences import BallotSums, components, mcnemar, t_by_participants
from survey.core.agreement.order_effects import carry_over, order_effects
from survey.core.agreement.power_model import PowerVerdict
from survey.core.agreement.verdicts import decide
from survey.core.collections.evaluation import Evaluation, compare_runs
from survey.core.measures import Setting
from survey.core.measures.registry import measure_named
from survey.core.statistics.rater_agreement import tau_b
from survey.core.statistics.significance import LEVEL
from survey.kinds.ordering.bot import Preference

MARGIN = 0.1
PLANTED = {"MNRO": 0.5, "NMRR": 0.3, "AP": 0.1, OTHER: 0.1}
PLANTED_COVERED = "the interval of the share of {} holds what was planted"
DECIDED = 0.68  # for MNRO or NMRR alone: 204 of the 300 responses of Table 4
FOR_AP = 0.25

SAME_SCOPE = "all votes for MNRO, and all but one, are decided for the same scope"
FOUND = "MNRO is preferred to NMRR, for these questions"
EQUAL = "two measures that differ by the margin are called equal"
KIND_COVERED = "the interval for questions of this kind holds the true difference"
THESE_COVERED = "the interval for these questions holds the true difference"
SHARE_COVERED = "the interval of a share holds the true share"
SHARE_TOO_LOW = "the whole interval is below the true share"
SHARE_TOO_HIGH = "the whole interval is above the true share"
SOME_STAR = "some run gets a star"
SOME_EFFECT = "some pair is said to change with time or haste"
HABIT = "people are said to tick the place that they ticked before"
MCNEMAR = "McNemar's test finds a difference (p < .05)"
FRIEDMAN = "Friedman's test on tau-b finds a difference (p < .05)"

Look = Callable[[Generator], Mapping[str, bool | None]]
Looks = Callable[[Sequence[Generator]], Happened]


def few_questions(spread: float, design: Design) -> Looks:
    """Count studies in which something is decided for the kind, of measures liked equally over all.

    ``spread``: the standard deviation of a measure's utility between questions.
    """

    def simulate(streams: Sequence[Generator]) -> Happened:
        drawn = Studies.draw(Tastes(questions=spread), design, streams)
        tests, _ = drawn.tests()
        firsts = [with_first(tests, pair) for pair in range(len(PAIRS))]
        wrong = np.any([each.decisions(len(MEASURES))[0] for each in firsts], axis=0)
        # Where participants all have the same mean, exact tests stand in: the analysis has them.
        exact = ~np.isfinite([tests.se, tests.se_these]).all(axis=(0, 1))
        for place in np.flatnonzero(exact).tolist():
            credits = drawn.study(place, streams[place]).credits
            decisions = [decide(each) for each in tests_of_pairs(credits)]
            wrong[place] = any(each and each.scope == "kind" for each in decisions)
        return {KIND: wrong}

    return simulate


def all_but_one(design: Design) -> Look:
    """Tell whether one vote for another measure, anywhere, changes the scope of a decision."""
    shape = (design.participants, design.questions)
    rankings = dict.fromkeys(range(1, 1 + design.questions), DISTINCT)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        scopes = set()
        for others in (0, 1):
            picked = np.full(shape, MEASURES.index("MNRO"))
            where = chance.integers(shape)
            picked[*where] -= others * int(chance.integers(1, len(MEASURES)))
            credits = study_of(picked, by_design(design, chance), rankings, chance).credits
            # Of the pair that the other vote is about, and of the pair that it is not.
            scopes.add(tuple(_scope(each) for each in map(decide, tests_of_pairs(credits)[:2])))
        return {SAME_SCOPE: len(scopes) == 1}

    return study


def _scope(decision: object) -> str:
    return str(getattr(decision, "scope", "none"))


def found_for_these(tastes: Tastes, design: Design) -> Looks:
    """Count studies in which MNRO is preferred to NMRR for these questions."""
    pair = 2  # NMRR − MNRO

    def simulate(streams: Sequence[Generator]) -> Happened:
        tests, _ = Studies.draw(tastes, design, streams).tests()
        _, these = with_first(tests, pair).decisions(len(MEASURES))
        return {FOUND: these & (tests.mean[pair] < 0)}

    return simulate


def leaning(
    difference: float, design: Design, *, questions: float = 0.15, people: float = 0.05
) -> Looks:
    """Let MNRO be ahead of NMRR by a known difference; count what intervals and equality say.

    ``questions``, ``people``: standard deviations of the difference between them.
    """

    def simulate(streams: Sequence[Generator]) -> Happened:
        drawn = [_lean(difference, design, questions, people, chance) for chance in streams]
        picked, of_questions = map(np.array, zip(*drawn, strict=True))
        answered = np.ones(picked.shape, dtype=bool)
        tests = with_first(Studies(picked, answered, None).tests()[0], 2)
        none = np.zeros(len(streams), dtype=bool)
        outcome = PowerVerdict(tests, none, none, none)
        these = -scipy.special.stdtrit(tests.df_these[0], LEVEL / 2) * tests.se_these[0]
        ahead = -tests.mean[0]
        return {
            EQUAL: outcome.equal_within(MARGIN),
            KIND_COVERED: np.abs(ahead - difference) <= outcome.half_width,
            THESE_COVERED: np.abs(ahead - difference - of_questions) <= these,
        }

    return simulate


def _lean(
    difference: float, design: Design, questions: float, people: float, chance: Generator
) -> tuple[NDArray[np.int64], float]:
    of_questions = chance.normal(0, questions, design.questions)
    lean = difference + of_questions + chance.normal(0, people, (design.participants, 1))
    lean = np.clip(lean, -DECIDED, DECIDED)
    drawn = chance.random(lean.shape)
    nmrr, mnro = (DECIDED - lean) / 2, np.full(lean.shape, DECIDED)
    picked = np.select(
        [drawn < nmrr, drawn < mnro, drawn < DECIDED + FOR_AP],
        [MEASURES.index("NMRR"), MEASURES.index("MNRO"), MEASURES.index("AP")],
        OWN,
    )
    return picked, float(of_questions.mean())


def shares_covered(share: float, design: Design, people: float, questions: float) -> Look:
    """Tell whether the interval of a share, for the kind, holds the true share.

    ``people``, ``questions``: standard deviations of the logit between them.
    """
    spread = float(np.hypot(people, questions))
    middle = _logit_of(share, spread)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        logits = middle + chance.normal(0, people, (design.participants, 1))
        logits = logits + chance.normal(0, questions, design.questions)
        yes = chance.random(logits.shape) < scipy.special.expit(logits)
        answers = [
            (f"P{person:03}", number, value)
            for person, of_person in enumerate(yes.tolist())
            for number, value in enumerate(of_person)
        ]
        credits, values = tally_values(answers, ())
        spread_of = BallotSums.of(np.array(values, dtype=float), credits)
        of_these = t_by_participants(spread_of)
        ends, _ = share_ends(components(spread_of, of_these), of_these, spread_of.effective)
        if ends is None:
            return dict.fromkeys((SHARE_COVERED, SHARE_TOO_LOW, SHARE_TOO_HIGH))
        low, high = ends
        return {
            SHARE_COVERED: low <= share <= high,
            SHARE_TOO_LOW: high < share,
            SHARE_TOO_HIGH: low > share,
        }

    return study


def _logit_of(share: float, spread: float) -> float:
    """Return the mean logit of which, with this standard deviation, the mean share is this."""
    half = np.random.default_rng(1).normal(0, spread, 200_000)
    normal = np.concatenate([half, -half])
    excess = lambda middle: float(scipy.special.expit(middle + normal).mean()) - share  # noqa: E731
    return float(scipy.optimize.brentq(excess, -12, 12))


def equal_runs(runs: int, topics: int) -> Look:
    """Tell whether any of several runs that are equally good gets a star against the first."""
    measure = measure_named("AP")
    queries = tuple(f"topic {number}" for number in range(topics))

    def study(chance: Generator) -> Mapping[str, bool | None]:
        hard = chance.normal(0, 1, topics)
        values = {
            f"run {number}": {
                measure.name: scipy.special.expit(hard + chance.normal(-0.5, 0.7, topics))
            }
            for number in range(runs)
        }
        evaluation = Evaluation(queries, (measure,), values, Setting(100, None, False))
        compared = compare_runs(
            evaluation, "run 0", resamples=1_000, seed=int(chance.integers(2**31))
        )
        return {SOME_STAR: any(each.stars for each in compared)}

    return study


def without_effects(design: Design, *, shuffled: bool = True) -> Look:
    """Tell whether order, haste or habit is named where answers depend on none of them.

    ``shuffled``: whether each participant has the questions in an order of their own.
    """
    rankings = dict.fromkeys(range(1, 1 + design.questions), DISTINCT)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        drawn = Studies.draw(Tastes(people=0.5, questions=0.35), design, [chance])
        picked, answered = drawn.picked[0], drawn.answered[0]
        simulated = study_of(picked, answered, rankings, chance, shuffled=shuffled)
        effects = order_effects(simulated.answers, simulated.credits)
        habit = carry_over(simulated.answers, MEASURES).p
        return {
            SOME_EFFECT: any(each.p_holm is not None and each.p_holm < LEVEL for each in effects),
            HABIT: habit is not None and habit < LEVEL,
        }

    return study


def read_as_independent(design: Design) -> Look:
    """Tell whether McNemar's test finds a difference where there is none over all questions."""
    rankings = dict.fromkeys(range(1, 1 + design.questions), DISTINCT)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        picked, _ = _lean(0.0, design, 0.15, 0.05, chance)
        credits = study_of(picked, by_design(design, chance), rankings, chance).credits
        p = mcnemar(credits, PAIR).p
        return {MCNEMAR: p is not None and p < LEVEL}

    return study


def near_orders(design: Design) -> Look:
    """Tell whether Friedman's test on tau-b finds a difference among random clicks."""
    known = stock(distinct=True)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        drawn = chance.choice(len(known), design.questions, replace=False)
        rankings = {number: dict(known[place].rankings) for number, place in enumerate(drawn, 1)}
        shape = (design.participants, design.questions)
        picked = chance.integers(len(MEASURES), size=shape)
        ballots = study_of(picked, by_design(design, chance), rankings, chance).ballots
        orders = ParticipantOrders(ballots)
        p = friedman_of_agreement(orders, means_of_participants(orders, tau_b), design.asked).p
        return {FRIEDMAN: p is not None and p < LEVEL}

    return study


def planted(design: Design) -> Look:
    """Tell whether shares' intervals hold what bots of ``survey simulate --prefer`` prefer.

    In the questions in which all orders are distinct: there a share is the planted one.
    """
    situation = Situation(Planted(Preference(PLANTED)), distinct=False)

    def study(chance: Generator) -> Mapping[str, bool | None]:
        drawn = simulate_study(situation, design, chance)
        answers = Answers.of(drawn.responses)
        credits = tally_credits(Ballots.of(answers, drawn.rankings, MEASURES))
        distinct = distinct_questions(drawn.rankings)
        intervals = share_intervals(credits.subset(np.isin(credits.questions, distinct)))
        held = {}
        for name, share in PLANTED.items():
            ends = intervals[name].participants.ci95
            held[PLANTED_COVERED.format(name)] = ends and bool(ends[0] <= share <= ends[1])
        return held

    return study
