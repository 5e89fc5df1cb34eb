"""Participants' orders of the lists: agreement with the measures and with one another.

A participant's order in a response is the custom ranking; for ticked columns it is the mean
of the distinct ticked orders' midranks, ranked again. Agreement is Kendall's tau-b,
Spearman's rho and the agreement rate over the pairs of lists (Sakai & Zeng 2021). A ticked
order has tau 1 with itself by construction, so custom rankings are also reported alone.
Orders are midranks of the lists in alphabetical order: A=B>C is 1.5, 1.5, 3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.credits import Ballots, Credits
from survey.core.agreement.differences import DESCRIPTIVE, NO_RESPONSES, T1
from survey.core.statistics import rater_agreement
from survey.core.statistics.rater_agreement import (
    HALF_CREDIT,
    STRICT_CREDIT,
    Midranks,
    agreement_rate,
    rbo,
    signs,
    spearman,
    tau_ap_b,
    tau_b,
)
from survey.core.statistics.significance import Statistic, friedman_chi2, without_zeros
from survey.core.studies.rankings import Ranking

RBO_P = 0.9
FEWEST_FOR_RBO = 10  # lists: of five, a reversed order still overlaps by .74

CUSTOM_ONLY = "responses that tick a column"

Compare = Callable[[Midranks, Midranks], NDArray[np.float64]]


@dataclass(frozen=True)
class QuestionOrders:
    """The distinct orders of one question's ballots, and the measures' orders.

    ``ballots``: the ballots' indices among the study's; ``orders``: (ballots, lists);
    ``counts``: how many answers are each ballot; ``measures``: (measures, lists).
    """

    ballots: NDArray[np.int64]
    orders: Midranks
    counts: NDArray[np.int64]
    measures: Midranks


@dataclass(frozen=True)
class ParticipantOrders:
    """The orders in a study's ballots."""

    ballots: Ballots

    @cached_property
    def questions(self) -> Mapping[int, QuestionOrders]:
        """The orders of every question, answered or not, by its number."""
        numbers = sorted(self.ballots.rankings)
        return {number: _question_orders(self.ballots, number) for number in numbers}

    def against_measures(self, compare: Compare) -> NDArray[np.float64]:
        """Compare each ballot's order with each measure's, shape (K, measures)."""
        values = np.full((len(self.ballots), len(self.ballots.measures)), np.nan)
        for question in self.answered():
            values[question.ballots] = compare(question.orders[:, np.newaxis], question.measures)
        return values

    def answered(self) -> Iterator[QuestionOrders]:
        """Yield the questions that have an answer."""
        return (question for question in self.questions.values() if len(question.ballots))


def _question_orders(ballots: Ballots, number: int) -> QuestionOrders:
    rankings = ballots.rankings[number]
    measures = np.array([_midranks(rankings[name]) for name in ballots.measures])
    index = np.flatnonzero(ballots.questions == number)
    orders = np.array([_ballot_order(ballots, ballot, rankings) for ballot in index.tolist()])
    lists = measures.shape[1]
    return QuestionOrders(index, orders.reshape(-1, lists), ballots.counts[index], measures)


def _ballot_order(ballots: Ballots, ballot: int, rankings: Mapping[str, Ranking]) -> Midranks:
    own = ballots.owns[ballot]
    if own is not None:
        return _midranks(own)
    ticked = zip(ballots.measures, ballots.ticked[ballot].tolist(), strict=True)
    return combined_order(dict.fromkeys(rankings[name] for name, is_ticked in ticked if is_ticked))


def combined_order(rankings: Iterable[Ranking]) -> Midranks:
    """Return the order by the mean midranks of distinct rankings, ranked again if several."""
    orders = [_midranks(ranking) for ranking in rankings]
    if len(orders) == 1:
        return orders[0]
    # Sums, not means: equal sums of halves are equal exactly.
    ranked: Midranks = scipy.stats.rankdata(np.sum(orders, axis=0))
    return ranked


def _midranks(ranking: Ranking) -> Midranks:
    return np.array(list(ranking.midranks.values()))


@dataclass(frozen=True, kw_only=True)
class MeanAgreement(Statistic):
    """Mean agreement of responses with each measure, and how often it was undefined.

    ``means``: measure → mean over the responses where it is defined, or None;
    ``undefined``: measure → responses left out because one side ties all lists.
    """

    means: Mapping[str, float | None]
    undefined: Mapping[str, int]


def mean_agreement(
    orders: ParticipantOrders, compare: Compare, *, custom_only: bool = False
) -> MeanAgreement:
    """Average an agreement with each measure over responses, or over custom rankings only."""
    ballots, values = orders.ballots, orders.against_measures(compare)
    counts = ballots.counts * ballots.custom if custom_only else ballots.counts
    n, undefined = int(counts.sum()), counts @ np.isnan(values)
    sums = counts @ np.nan_to_num(values)
    means = [
        float(total / known) if known else None
        for total, known in zip(sums, n - undefined, strict=True)
    ]
    why = "a side ties all lists in every response"
    if not n:
        why = "no response is a custom ranking" if custom_only else NO_RESPONSES
    return MeanAgreement(
        estimand=T1,
        n=n,
        unit="responses",
        left_out=without_zeros({CUSTOM_ONLY: int(ballots.counts.sum()) - n}),
        means=dict(zip(ballots.measures, means, strict=True)),
        undefined=dict(zip(ballots.measures, undefined.tolist(), strict=True)),
        why=why if None in means else None,
    )


def means_of_participants(orders: ParticipantOrders, compare: Compare) -> NDArray[np.float64]:
    """Average an agreement over each participant's responses where it is defined.

    Returns (participants, measures), NaN where it is defined in none.
    """
    return means_by_participant(orders.ballots, orders.against_measures(compare))


def means_by_participant(ballots: Ballots, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average columns of values, one for each ballot, over each participant's answers.

    ``values``: (K, columns), NaN where undefined. Returns (participants, columns).
    """
    add_up = ballots.sum_by_participant
    with np.errstate(invalid="ignore"):
        means = [add_up(np.nan_to_num(column)) / add_up(~np.isnan(column)) for column in values.T]
    stacked: NDArray[np.float64] = np.column_stack(means)
    return stacked


@dataclass(frozen=True, kw_only=True)
class HumanRates(Statistic):
    """The human ceiling: how well one participant's orders predict the others'.

    Each participant's rate is the mean, over their responses and over the other
    participants who answered that question, of the agreement rate of the two orders.
    """

    best: float | None = None
    median: float | None = None
    worst: float | None = None


def human_rates(orders: ParticipantOrders, credit: NDArray[np.float64]) -> HumanRates:
    """Compare each participant's orders with the other participants'.

    ``credit``: of the agreement rate, STRICT_CREDIT or HALF_CREDIT.
    """
    ballots = orders.ballots
    rates = np.zeros(len(ballots))
    compared = np.zeros(len(ballots), dtype=bool)
    for question in orders.answered():
        if question.counts.sum() > 1:
            rates[question.ballots] = _rates_with_others(question, credit)
            compared[question.ballots] = True
    answers = ballots.sum_by_participant(compared)
    each = ballots.sum_by_participant(rates)[answers > 0] / answers[answers > 0]
    left_out = {"participants whose questions nobody else answered": len(answers) - len(each)}
    result = partial(HumanRates, estimand=T1, n=len(each), unit="participants")
    result = partial(result, left_out=without_zeros(left_out))
    if not len(each):
        return result(why="no question was answered by two participants")
    return result(best=float(each.max()), median=float(np.median(each)), worst=float(each.min()))


def _rates_with_others(
    question: QuestionOrders, credit: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return for each order the mean agreement with all the other participants' orders.

    For each pair of lists it depends only on how many participants put the pair which way.
    """
    own = signs(question.orders) + 1
    counts = np.array([question.counts @ (own == sign) for sign in range(3)])
    of_pairs = (credit @ counts)[own, np.arange(own.shape[1])]
    # Every participant agrees with themselves, which is taken away.
    rates: NDArray[np.float64] = (of_pairs.mean(axis=1) - 1) / (question.counts.sum() - 1)
    return rates


@dataclass(frozen=True, kw_only=True)
class Friedman(Statistic):
    """Friedman's test over participants (blocks) and measures; ``w`` = chi2/(n(k - 1))."""

    chi2: float | None = None
    df: int | None = None
    p: float | None = None
    w: float | None = None


def friedman(
    table: NDArray[np.float64], left_out: Mapping[str, int], estimand: str = T1
) -> Friedman:
    """Test whether participants rank the measures alike; ``table``: (participants, measures)."""
    participants, measures = table.shape
    result = partial(Friedman, estimand=estimand, n=participants, unit="participants")
    result = partial(result, left_out=without_zeros(left_out))
    if participants < 2:
        return result(why="it needs two participants whose answers are complete")
    chi2 = friedman_chi2(table)
    if chi2 is None:
        return result(why="every participant ties all measures")
    return result(
        chi2=chi2,
        df=measures - 1,
        p=float(scipy.stats.chi2.sf(chi2, measures - 1)),
        w=chi2 / (participants * (measures - 1)),
    )


def friedman_of_credits(credits: Credits, asked: int) -> Friedman:
    """Run Friedman's test on the credits of the participants who answered every question."""
    # Whole units: sums of shared votes that are equal tie.
    sums = np.column_stack([credits.units_by_participant(votes) for votes in credits.votes.T])
    complete = credits.answer_counts[credits.answered] == asked
    return friedman(
        sums[credits.answered][complete], {"incomplete participants": int((~complete).sum())}
    )


def friedman_of_agreement(
    orders: ParticipantOrders, means: NDArray[np.float64], asked: int
) -> Friedman:
    """Run Friedman's test on the mean agreement of those who answered every question.

    ``means``: (participants, measures), of ``means_of_participants``. Descriptive: a measure
    whose order is like another's agrees better with whatever is ticked, so seven of ten
    studies with random clicks are "significant" (benchmarks/calibration.md).
    """
    complete, defined = orders.ballots.answer_counts == asked, ~np.isnan(means).any(axis=1)
    left_out = {
        "incomplete participants": int((~complete).sum()),
        "participants without a defined mean": int((complete & ~defined).sum()),
    }
    # Means that are equal must tie.
    return friedman(np.round(means[complete & defined], 12), left_out, DESCRIPTIVE)


@dataclass(frozen=True, kw_only=True)
class KendallW(Statistic):
    """Kendall's W, tie-corrected, in [0, 1]; ``by_question`` in the questions' order."""

    mean: float | None = None
    by_question: Sequence[float | None] = field(default_factory=list)


def question_kendall_w(orders: ParticipantOrders) -> KendallW:
    """Compute Kendall's W of the participants' orders for each question, and its mean.

    Lists of different questions are different things, so questions are never pooled.
    """
    values = [
        rater_agreement.kendall_w(question.orders, question.counts)
        for question in orders.questions.values()
    ]
    known = [value for value in values if value is not None]
    return KendallW(
        estimand=T1,
        n=len(known),
        unit="questions",
        left_out=without_zeros(
            {"questions with fewer than two orders, or all tied": len(values) - len(known)}
        ),
        mean=float(np.mean(known)) if known else None,
        by_question=values,
        why=_why_undefined(values, "fewer than two participants answered, or all tie all"),
    )


def _why_undefined(values: Sequence[float | None], reason: str) -> str | None:
    if not values:
        return "there are no questions"
    undefined = sum(value is None for value in values)
    if not undefined:
        return None
    return f"undefined for {undefined} question{'s' * (undefined > 1)}: {reason}"


@dataclass(frozen=True, kw_only=True)
class Alpha(Statistic):
    """Krippendorff's alpha for ordinal data, at most 1; 0 is what chance would give."""

    pooled: float | None = None
    by_question: Sequence[float | None] = field(default_factory=list)


def krippendorff_alpha(orders: ParticipantOrders) -> Alpha:
    """Compute Krippendorff's alpha (ordinal) of midranks; the units are lists.

    ``pooled`` takes the lists of all questions as units, participants who did not
    answer as missing; ``by_question`` one question's lists.
    """
    most = max((question.measures.shape[1] for question in orders.questions.values()), default=0)
    tables = [_midrank_counts(question, most) for question in orders.questions.values()]
    units = np.vstack([np.zeros((0, 2 * most + 1)), *tables])
    values = [rater_agreement.alpha_of_counts(table) for table in tables]
    judged = int((units.sum(axis=1) > 0).sum())
    pairing = int((units.sum(axis=1) > 1).sum())
    return Alpha(
        estimand=T1,
        n=pairing,
        unit="lists",
        left_out=without_zeros({"lists judged by fewer than two": judged - pairing}),
        pooled=rater_agreement.alpha_of_counts(units),
        by_question=values,
        why=_why_undefined(values, "fewer than two participants answered, or no two ranks differ"),
    )


def _midrank_counts(question: QuestionOrders, most: int) -> NDArray[np.float64]:
    """Count how often each list got each midrank, in steps of 1/2: (lists, 2 * most + 1)."""
    halves = (2 * question.orders).astype(np.int64)
    lists, levels = question.measures.shape[1], 2 * most + 1
    counts = np.zeros((lists, levels))
    for unit, levels_of_list in zip(counts, halves.T, strict=False):
        unit += np.bincount(levels_of_list, question.counts, levels)
    return counts


@dataclass(frozen=True, kw_only=True)
class Kappa(Statistic):
    """Fleiss' kappa on single choices, at most 1; ``questions``: those it is computed from."""

    kappa: float | None = None
    questions: Sequence[int] = field(default_factory=list)


def choice_kappa(credits: Credits, distinct: Sequence[int]) -> Kappa:
    """Compute Fleiss' kappa of single choices among the measures and OTHER.

    Over the questions whose orders all differ and which every participant answered with
    one tick or a custom ranking; elsewhere a choice is not one category.
    """
    participants = np.count_nonzero(credits.answer_counts)
    choices = np.column_stack([credits.credited, credits.other])
    table, used = [], []
    for question in distinct:
        counts = credits.counts * (credits.questions == question)
        if counts.sum() == participants and np.all(credits.ballots.clicks[counts > 0] <= 1):
            table.append(counts @ choices)
            used.append(question)
    left_out = {
        "distinct questions not answered by everyone with one choice": len(distinct) - len(used)
    }
    result = partial(Kappa, estimand=DESCRIPTIVE, n=len(used), unit="questions", questions=used)
    result = partial(result, left_out=without_zeros(left_out))
    if not used or participants < 2:
        everyone = "everyone (two at least) with one choice"
        return result(why=f"no question with distinct orders was answered by {everyone}")
    by_category = np.array(table, dtype=float)
    if np.count_nonzero(by_category.sum(axis=0)) < 2:
        return result(why="everyone chose the same every time, so chance explains all")
    return result(kappa=rater_agreement.kappa_of_counts(by_category))


@dataclass(frozen=True)
class Concordance:
    """Participants' orders against the measures' and against one another's.

    ``tau_b_of_participants``: (participants, measures), each participant's mean, NaN where
    undefined. ``tau_ap_b_custom``, ``rbo_custom``: of custom rankings, with more weight at the top;
    the latter None where a question has fewer than FEWEST_FOR_RBO lists.
    """

    tau_b: MeanAgreement
    tau_b_of_participants: NDArray[np.float64]
    tau_b_custom: MeanAgreement
    tau_ap_b_custom: MeanAgreement
    rbo_custom: MeanAgreement | None
    spearman: MeanAgreement
    strict: MeanAgreement
    half: MeanAgreement
    human: HumanRates
    human_half: HumanRates
    kendall_w: KendallW
    krippendorff_alpha: Alpha
    fleiss_kappa: Kappa


def concordance_of(
    orders: ParticipantOrders, credits: Credits, distinct: Sequence[int]
) -> Concordance:
    """Compute every coefficient; ``distinct``: the questions whose measures' orders all differ."""
    fewest = min((question.measures.shape[1] for question in orders.questions.values()), default=0)
    overlap = partial(rbo, p=RBO_P)
    return Concordance(
        tau_b=mean_agreement(orders, tau_b),
        tau_b_of_participants=means_of_participants(orders, tau_b),
        tau_b_custom=mean_agreement(orders, tau_b, custom_only=True),
        tau_ap_b_custom=mean_agreement(orders, tau_ap_b, custom_only=True),
        rbo_custom=mean_agreement(orders, overlap, custom_only=True)
        if fewest >= FEWEST_FOR_RBO
        else None,
        spearman=mean_agreement(orders, spearman),
        strict=mean_agreement(orders, lambda x, y: agreement_rate(x, y, STRICT_CREDIT)),
        half=mean_agreement(orders, lambda x, y: agreement_rate(x, y, HALF_CREDIT)),
        human=human_rates(orders, STRICT_CREDIT),
        human_half=human_rates(orders, HALF_CREDIT),
        kendall_w=question_kendall_w(orders),
        krippendorff_alpha=krippendorff_alpha(orders),
        fleiss_kappa=choice_kappa(credits, distinct),
    )
