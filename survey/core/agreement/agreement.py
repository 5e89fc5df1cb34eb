"""The whole analysis of a study's votes: every statistic once, and under other choices."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import (
    Concordance,
    Friedman,
    ParticipantOrders,
    concordance_of,
    friedman_of_agreement,
    friedman_of_credits,
)
from survey.core.agreement.contrasts import ByContrast, by_contrast
from survey.core.agreement.credits import (
    OTHER,
    Ballots,
    Credits,
    Rankings,
    Shares,
    Table4,
    answered_questions,
    credits_per_question,
    distinct_questions,
    shares,
    tally_credits,
)
from survey.core.agreement.differences import (
    NO_RESPONSES,
    SAME_EVERYWHERE,
    BallotSums,
    Components,
    Correction,
    Effective,
    McNemar,
    Pair,
    ParticipantsTest,
    QuestionsTest,
    ScopeTest,
    TwoWay,
    by_participants,
    by_questions,
    components,
    differences,
    hull,
    least_p,
    mcnemar,
    mean_of,
    p_of_these,
    pairs,
    participants_counted_equally,
    t_by_participants,
    two_way,
)
from survey.core.agreement.equivalence import (
    Equivalence,
    corrected_equivalences,
    equivalence,
)
from survey.core.agreement.label_permutation import (
    CochranQ,
    LabelPermutation,
    Redraws,
    equal_credit_test,
    expected_by_redraws,
    label_permutation,
)
from survey.core.agreement.order_effects import CarryOver, OrderEffect, carry_over, order_effects
from survey.core.agreement.quality import Bias, bias_of
from survey.core.statistics.max_t import T, bonferroni_t, critical_t, step_down
from survey.core.statistics.significance import Interval, MeanTest, Statistic, holm, t_quantile
from survey.core.text_input import Json

Tests = TypeVar("Tests", bound="MeanTests")
Test = TypeVar("Test", bound=Statistic)

MOST_ABOVE = 2.0  # of a difference, less what random clicks give: both are within -1 and 1
ZERO_MEAN = "the difference is 0"
UNCORRECTED = Correction()

# A vote that credits several measures gives each a whole credit, or an equal share of one,
# or the response is left out.
TIES: Mapping[str, Callable[[Credits], Credits]] = {
    "kept": lambda credits: credits,
    "split": Credits.split,
    "dropped": Credits.single,
}

# The tests of a pair, each with the p that is corrected for several comparisons.
TESTS = {
    "components": "p",
    "two_way": "p",
    "participants": "p",
    "label_permutation": "p",
    "mcnemar": "p",
    "questions": "sign_flip_p",
}


@dataclass(frozen=True)
class ShareInterval:
    """A share of the responses with its interval over questions (T2) and participants (T1).

    The t of these tests is of a share of 0 and means nothing; only their intervals are of use.
    """

    share: float | None
    why: str | None
    components: Components
    two_way: TwoWay
    participants: MeanTest


@dataclass(frozen=True)
class MeanTests:
    """A mean difference per response, tested for both populations.

    ``kind``, ``these``: what is decided of questions of this kind (T2) and of these (T1), with p
    under ``correction``.
    """

    mean: float | None
    why: str | None
    components: Components
    participants: ParticipantsTest
    effective: Effective
    kind: ScopeTest
    these: ScopeTest
    correction: Correction

    @classmethod
    def of(cls, d: NDArray[np.float64], credits: Credits, bound: float = 1.0) -> "MeanTests":
        """Test the mean of d, (K,), by itself; ``bound``: of what is possible, on either side."""
        spread = BallotSums.of(d, credits)
        participants = by_participants(spread)
        of_population = components(spread, participants)
        tests = cls(
            spread.mean,
            None if len(spread.credits) else NO_RESPONSES,
            of_population,
            participants,
            spread.effective,
            ScopeTest(None),
            ScopeTest(None),
            UNCORRECTED,
        )
        p = p_of_these(participants, spread.effective)
        return decided(tests, of_population.p, p, bound=bound)


@dataclass(frozen=True)
class PairTests(MeanTests):
    """The same of a pair of measures, with the questions' signs."""

    questions: QuestionsTest

    @classmethod
    def of_pair(cls, d: NDArray[np.float64], credits: Credits, asked: int) -> "PairTests":
        """Test the mean of d, (K,); ``asked``: how many questions there are."""
        return cls(**vars(MeanTests.of(d, credits)), questions=by_questions(d, credits, asked))


def decided(
    tests: Tests,
    p_population: float | None,
    p_these: float | None,
    *,
    correction: Correction = UNCORRECTED,
    means: int = 2,
    bound: float = 1.0,
) -> Tests:
    """Return tests with what they decide of both populations.

    ``p_population``, ``p_these``: of components and participants, under ``correction``, for all
    comparisons of ``means`` means where there are more than two. ``bound``: of intervals.
    """
    of_population, of_these, effective = tests.components, tests.participants, tests.effective
    q = p_of_these(of_these, effective)
    p = None
    if q is not None and (p_population is not None or of_population.why == SAME_EVERYWHERE):
        p = max(p_population or 0.0, least_p(effective.questions), q)
    by_pairs = partial(bonferroni_t, correction.comparisons)
    together = _interval(of_these, by_pairs)
    population_together = _interval(
        of_population, partial(critical_t, means) if means > 2 else by_pairs
    )
    population = ScopeTest(
        p,
        _clipped(of_population.ci95, bound),
        _clipped(hull(population_together, together), bound) if population_together else None,
    )
    these = ScopeTest(p_these, _clipped(of_these.ci95, bound), _clipped(together, bound))
    return replace(
        tests,
        kind=_with_reason(population, of_population.why or of_these.why),
        these=_with_reason(these, of_these.why),
        correction=correction,
    )


def _with_reason(test: ScopeTest, why: str | None) -> ScopeTest:
    """Return a test with the reason why it lacks a p or an interval."""
    is_whole = None not in (test.p, test.ci95, test.ci95_simultaneous)
    return test if is_whole else replace(test, why=why or ZERO_MEAN)


def _interval(test: MeanTest, critical: Callable[[float], float]) -> Interval | None:
    if test.mean is None or test.se is None or test.df is None:
        return None
    reach = critical(test.df) * test.se
    return test.mean - reach, test.mean + reach


def _clipped(interval: Interval | None, bound: float) -> Interval | None:
    return (max(-bound, interval[0]), min(bound, interval[1])) if interval else None


@dataclass(frozen=True)
class Difference(PairTests):
    """One measure against another: ``lead`` in credits, ``mean`` per response.

    ``identical``: the answered questions in which the two order the lists alike, so that no vote
    can tell them apart; ``unequal``: those in which more measures share the order of one than
    that of the other, so that random clicks credit it more often; ``above_random_clicks``: the
    difference of the votes, minus what redrawn labels would give in each response;
    ``equivalence``: None where the plan names no smallest difference that matters.
    """

    pair: Pair
    identical: tuple[int, ...]
    unequal: tuple[int, ...]
    lead: float
    two_way: TwoWay
    label_permutation: LabelPermutation
    above_random_clicks: MeanTests
    by_contrast: ByContrast
    mcnemar: McNemar
    equivalence: Equivalence | None


@dataclass(frozen=True)
class Agreement:
    """All statistics of a study's votes."""

    measures: tuple[str, ...]
    responses: int
    participants: int
    table4: Table4
    shares: Shares
    share_intervals: Mapping[str, ShareInterval]
    differences: tuple[Difference, ...]
    cochran_distinct: CochranQ
    cochran_all: CochranQ
    friedman_approvals: Friedman
    friedman_tau_b: Friedman
    concordance: Concordance
    bias: Bias
    order_effects: tuple[OrderEffect, ...]
    carry_over: CarryOver


def analyse_answers(
    answers: Answers,
    rankings: Rankings,
    measures: Sequence[str],
    asked: int,
    *,
    ties: str = "kept",
    smallest_difference: float | None = None,
    primary: Pair | None = None,
) -> Agreement:
    """Compute every statistic; ``asked``: the questions each participant was to answer.

    ``ties``: a key of ``TIES``; ``smallest_difference``: that matters, a share; ``primary``: the
    pair that is tested first. Raises ValueError for an answer that does not belong to the study.
    """
    ballots = Ballots.of(answers, rankings, measures)
    credits = TIES[ties](tally_credits(ballots))
    distinct = distinct_questions(rankings)
    orders = ParticipantOrders(ballots)
    concordance = concordance_of(orders, credits, distinct)
    redraws = Redraws(credits)
    return Agreement(
        measures=ballots.measures,
        responses=len(answers),
        participants=len(answers.people),
        table4=credits_per_question(credits, rankings),
        shares=shares(credits, distinct),
        share_intervals=share_intervals(credits),
        differences=compare_measures(redraws, smallest_difference, primary),
        cochran_distinct=equal_credit_test(
            Redraws(credits.subset(np.isin(credits.questions, distinct)))
        ),
        cochran_all=equal_credit_test(redraws),
        friedman_approvals=friedman_of_credits(credits, asked),
        friedman_tau_b=friedman_of_agreement(orders, concordance.tau_b_of_participants, asked),
        concordance=concordance,
        bias=bias_of(answers, measures),
        order_effects=order_effects(answers, credits),
        carry_over=carry_over(answers, measures),
    )


def share_intervals(credits: Credits) -> dict[str, ShareInterval]:
    """Return the share of the responses of each measure and of OTHER, with intervals."""
    columns = np.column_stack([credits.votes, credits.other])
    intervals = {}
    for name, column in zip((*credits.measures, OTHER), columns.T, strict=True):
        spread = BallotSums.of(column, credits)
        participants = t_by_participants(spread)
        of_population = components(spread, participants)
        population, these = share_ends(of_population, participants, spread.effective)
        intervals[name] = ShareInterval(
            participants.mean,
            None if len(credits) else NO_RESPONSES,
            replace(of_population, ci95=population),
            two_way(column, credits),
            replace(participants, ci95=these),
        )
    return intervals


def share_ends(
    of_population: Components, of_these: MeanTest, effective: Effective
) -> tuple[Interval | None, Interval | None]:
    """Return the intervals of a share for questions of this kind and for these, within 0 and 1.

    Of half-width h they are logit(m) ± h / (m(1 - m)), transformed back. Of a share of 0 the upper
    end is that of a binomial share of as many answers as there are participants (or questions, if
    they are fewer) of equal weight; of a share of 1 likewise.
    """
    share = of_these.mean
    if share is None:
        return None, None
    if share in (0.0, 1.0):
        ends = []
        for number in (min(effective.participants, effective.questions), effective.participants):
            reach = 1 - 0.025 ** (1 / max(number, 1.0))
            ends.append((0.0, reach) if share == 0 else (1 - reach, 1.0))
        return ends[0], ends[1]
    population, these = (_share_interval(share, test) for test in (of_population, of_these))
    return (hull(population, these) if population else None), these


def _share_interval(share: float, test: MeanTest) -> Interval | None:
    if test.se is None or test.df is None:
        return None
    width = share * (1 - share)
    middle, reach = math.log(share / (1 - share)), t_quantile(0.975, test.df) * test.se / width
    low, high = (1 / (1 + math.exp(-(middle + sign * reach))) for sign in (-1, 1))
    return low, high


def compare_measures(
    redraws: Redraws, smallest_difference: float | None = None, primary: Pair | None = None
) -> tuple[Difference, ...]:
    """Compare every pair of measures; corrected over the pairs, test by test.

    By Holm's method; the tests of components also by the largest |t| and stepping down. What is
    decided of a ``primary`` pair, and then of others, is as in ``corrected_tests``.
    """
    measures = redraws.credits.measures
    results = [_difference(redraws, pair, smallest_difference) for pair in pairs(measures)]
    for test, p in TESTS.items():
        corrected = with_holm([getattr(result, test) for result in results], p)
        results = [
            replace(result, **{test: each}) for result, each in zip(results, corrected, strict=True)
        ]
    equalities = [result.equivalence for result in results if result.equivalence]
    if equalities:
        corrected_for_equality = corrected_equivalences(equalities)
        results = [
            replace(result, equivalence=equality)
            for result, equality in zip(results, corrected_for_equality, strict=True)
        ]
    readings = [result.above_random_clicks for result in results]
    above = corrected_tests(readings, measures, MOST_ABOVE, primary)
    return tuple(
        replace(result, above_random_clicks=tests)
        for result, tests in zip(
            corrected_tests(results, measures, primary=primary), above, strict=True
        )
    )


def corrected_tests(
    tests: Sequence[Tests],
    measures: Sequence[str],
    bound: float = 1.0,
    primary: Pair | None = None,
) -> list[Tests]:
    """Correct the p of each pair's tests, in the order of ``pairs``, over all pairs.

    ``bound``: of what is possible, on either side of 0. The p of a ``primary`` pair is its own, and
    no other pair's is below it: they are tested in a fixed sequence, the primary pair first
    (Maurer, Hothorn and Lehmacher 1995).
    """
    of_population = _stepped(with_holm([each.components for each in tests], "p"), measures)
    of_these = with_holm([each.participants for each in tests], "p")
    q = holm([p_of_these(pair.participants, pair.effective) for pair in tests])
    correction = Correction(len(tests), str(primary or ""))
    corrected = [
        decided(
            replace(each, components=population, participants=these),
            *(population.p_step, p),
            correction=correction,
            means=len(measures),
            bound=bound,
        )
        for each, population, these, p in zip(tests, of_population, of_these, q, strict=True)
    ]
    if primary is None:
        return corrected
    place = pairs(measures).index(primary)
    of_primary = corrected[place]
    first = decided(
        of_primary,
        of_primary.components.p,
        p_of_these(of_primary.participants, of_primary.effective),
        correction=replace(correction, comparisons=1),
        bound=bound,
    )
    after = [
        replace(pair, kind=_after(pair.kind, first.kind), these=_after(pair.these, first.these))
        for pair in corrected
    ]
    return [*after[:place], first, *after[place + 1 :]]


def corrected_in_one_step(tests: Sequence[Tests], bound: float = 1.0) -> list[Tests]:
    """Correct tests of means that have nothing in common for all of them, by Bonferroni.

    p is below .05 where the interval of all together leaves 0 out, if there are enough participants
    and questions. ``bound``: of what is possible, on either side of 0.
    """
    number = len(tests)
    corrected = []
    for test in tests:
        these = p_of_these(test.participants, test.effective)
        these = None if these is None else min(1.0, number * these)
        population = test.components.p
        if population is not None:
            # What holds of the kind must hold of these: the interval of the kind has both.
            population = min(1.0, number * max(population, test.participants.p or 0.0))
        elif test.components.why == SAME_EVERYWHERE:
            population = these
        correction = Correction(number)
        corrected.append(decided(test, population, these, correction=correction, bound=bound))
    return corrected


def _after(test: ScopeTest, first: ScopeTest) -> ScopeTest:
    """Return a test that counts only after the primary pair's."""
    if test.p is None or first.p is None:
        why = f"the primary pair, which is tested first, has no p: {first.why}"
        return test if test.p is None else replace(test, p=None, why=why)
    return replace(test, p=max(test.p, first.p))


def with_holm(tests: Sequence[Test], p: str) -> list[Test]:
    """Correct the p values of the field ``p`` by Holm's method over the tests, as ``{p}_holm``."""
    corrected = holm([getattr(test, p) for test in tests])
    changes: list[dict[str, Any]] = [{f"{p}_holm": value} for value in corrected]
    return [replace(test, **change) for test, change in zip(tests, changes, strict=True)]


def _stepped(tests: Sequence[Components], measures: Sequence[str]) -> list[Components]:
    """Correct the p of each pair's test, in the order of ``pairs``, over all pairs."""
    compared = [frozenset(pair) for pair in pairs(measures)]
    values = {
        pair: None if test.t is None or test.df is None else T(test.t, test.df)
        for pair, test in zip(compared, tests, strict=True)
    }
    p = step_down(measures, values)
    return [replace(test, p_step=p.get(pair)) for pair, test in zip(compared, tests, strict=True)]


def _difference(redraws: Redraws, pair: Pair, smallest: float | None) -> Difference:
    credits, rankings = redraws.credits, redraws.credits.ballots.rankings
    d, permutation = differences(credits, pair), label_permutation(redraws, pair)
    answered = {number: rankings[number] for number in answered_questions(credits.ballots)}
    tests = MeanTests.of(d, credits)
    expected = expected_by_redraws(redraws, pair)
    return Difference(
        **vars(tests),
        questions=by_questions(d, credits, len(rankings)),
        pair=pair,
        identical=tuple(
            question
            for question, orders in answered.items()
            if orders[pair.first] == orders[pair.second]
        ),
        unequal=tuple(
            question
            for question, orders in answered.items()
            if len({list(orders.values()).count(orders[name]) for name in pair}) > 1
        ),
        lead=permutation.lead,
        two_way=two_way(d, credits),
        label_permutation=permutation,
        above_random_clicks=MeanTests.of(d - expected, credits, bound=MOST_ABOVE)
        if expected.any()
        else tests,
        by_contrast=by_contrast(d, credits, pair),
        mcnemar=mcnemar(credits, pair),
        equivalence=equivalence(
            smallest, tests.components, tests.participants, tests.effective.questions
        )
        if smallest
        else None,
    )


@dataclass(frozen=True)
class RunPlace:
    """A run's mean place among a question's lists, 1 best, in people's orderings.

    Of the tests only the intervals mean something. ``measures``: measure → the mean place that
    it gives the run, over the same answers.
    """

    run: str
    people: MeanTests
    measures: Mapping[str, float | None]


def run_places(
    answers: Answers, rankings: Rankings, measures: Sequence[str], runs: Mapping[int, Sequence[str]]
) -> tuple[RunPlace, ...]:
    """Average the place of each run over the answers; ``runs``: question → run of each letter.

    For ticked columns a person's ordering is the columns'.
    """
    ballots = Ballots.of(answers, rankings, measures)
    credits, questions = tally_credits(ballots), ParticipantOrders(ballots).questions
    results = []
    for run in sorted({run for names in runs.values() for run in names}):
        places = np.zeros((len(ballots), 1 + len(measures)))
        for number, question in questions.items():
            column = runs[number].index(run)
            places[question.ballots, 0] = question.orders[:, column]
            places[question.ballots, 1:] = question.measures[:, column]
        means = [mean_of(column, credits) for column in places.T]
        tests = MeanTests.of(places[:, 0], credits, bound=math.inf)
        results.append(RunPlace(run, tests, dict(zip(measures, means[1:], strict=True))))
    return tuple(results)


@dataclass(frozen=True)
class Effect:
    """A pair's mean difference per response, with the interval and p of its components (T2)."""

    pair: Pair
    mean: float | None
    ci95: Interval | None
    p: float | None
    why: str | None


@dataclass(frozen=True)
class Variant:
    """The differences under another ``choice``, over ``responses``."""

    choice: str
    responses: int
    differences: tuple[Effect, ...]


def sensitivity(
    answers: Answers, rankings: Rankings, measures: Sequence[str], flagged: NDArray[np.bool_]
) -> tuple[Variant, ...]:
    """Recompute the differences under each choice that could have been made differently.

    With participants counted equally, whose responses weigh less the more they gave; without the
    ``flagged`` participants, a mask over them; with shared votes split, or dropped; and leaving out
    each question in turn.
    """
    ballots = Ballots.of(answers, rankings, measures)
    return tuple(
        Variant(choice, len(credits), tuple(_effect(credits, pair, of) for pair in pairs(measures)))
        for choice, credits, of in _choices(ballots, flagged)
    )


def _choices(
    ballots: Ballots, flagged: NDArray[np.bool_]
) -> Iterator[tuple[str, Credits, Callable[[BallotSums], MeanTest]]]:
    credits, questions = tally_credits(ballots), sorted(ballots.rankings)
    yield "every response", credits, _components
    yield "participants counted equally", credits, participants_counted_equally
    if flagged.any():
        counted = replace(credits, ballots=ballots.of_people(~flagged))
        yield "without flagged participants", counted, _components
    yield "shared votes split", credits.split(), _components
    yield "shared votes dropped", credits.single(), _components
    for question in questions if len(questions) > 1 else ():
        without = credits.subset(credits.questions != question)
        yield f"without question {question}", without, _components


def _effect(credits: Credits, pair: Pair, test_of: Callable[[BallotSums], MeanTest]) -> Effect:
    test = test_of(BallotSums.of(differences(credits, pair), credits))
    return Effect(pair, test.mean, test.ci95, test.p, test.why)


def _components(spread: BallotSums) -> MeanTest:
    return components(spread, t_by_participants(spread))


def json_values(value: object) -> Any:
    """Convert dataclasses and what they hold to JSON values; leave out each "why" of None."""
    if isinstance(value, Pair):
        return str(value)
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {
            name: json_values(content)
            for name, content in value.items()
            if name != "why" or content is not None
        }
    if isinstance(value, (list, tuple)):
        return [json_values(content) for content in value]
    return value


NOT_CORRECTED = "not corrected for several comparisons, since it decides nothing by itself"
NOT_FLIPPED = "t is defined, and sums that are no whole votes are not flipped"
REASONS = {  # of a figure that is undefined where the figures beside it are not
    **dict.fromkeys(("p_holm", "p_step", "sign_flip_p_holm"), NOT_CORRECTED),
    **dict.fromkeys(("sign_flip_p", "method"), NOT_FLIPPED),
    "by_pairs": "only the comparison by pairs of lists has parts",
    "share": "no preference counts that the measure does not tie",
    "satisfaction": "satisfaction was not asked",
    "side_p": "no answer prefers a list",
}


def explained(content: object) -> Any:
    """Return JSON values with the reason of REASONS, as "why", where they have none."""
    if isinstance(content, list | tuple):
        return [explained(value) for value in content]
    if not isinstance(content, Mapping):
        return content
    values = {name: explained(value) for name, value in content.items()}
    undefined = (REASONS[name] for name in values if values[name] is None and name in REASONS)
    if not values.get("why") and (why := next(undefined, None)):
        values["why"] = why
    return values


def counts_as_json(table: Table4, parts: Shares) -> dict[str, Json]:
    """Convert Table 4, the shares and the first places."""
    rows = [
        {
            "question": row.question,
            **row.votes,
            "choice": row.choice,
            "identical": row.identical,
            "merged": row.merged,
        }
        for row in table.rows
    ]
    content = {
        "table4": {"rows": rows, "totals": table.totals},
        "shares": parts,
        "first": {"or_tied": table.first_or_tied, "outright": table.first_outright},
    }
    return {name: json_values(value) for name, value in content.items()}
