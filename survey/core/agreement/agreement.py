"""The whole analysis of a study's votes: every statistic once, and under other choices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import (
    Alpha,
    Friedman,
    HumanRates,
    Kappa,
    KendallW,
    MeanAgreement,
    ParticipantOrders,
    fleiss_kappa,
    friedman_of_agreement,
    friedman_of_credits,
    human_rates,
    kendall_w,
    krippendorff_alpha,
    mean_agreement,
    means_of_participants,
    participant_orders,
)
from survey.core.agreement.credits import (
    OTHER,
    Ballots,
    Credits,
    Rankings,
    Shares,
    Table4,
    distinct_questions,
    first_places,
    shares,
    table4,
    tally_credits,
)
from survey.core.agreement.differences import (
    CochranQ,
    LabelPermutation,
    McNemar,
    Pair,
    ParticipantsTest,
    QuestionsTest,
    Redraws,
    TwoWay,
    by_participants,
    by_questions,
    cochran_q,
    differences,
    label_permutation,
    mcnemar,
    mean_of,
    pairs,
    two_way,
)
from survey.core.agreement.quality import Bias, bias_of
from survey.core.statistics.rater_agreement import HALF, STRICT, agreement_rate, spearman, tau_b
from survey.core.statistics.significance import holm

# A vote that credits several measures gives each a whole credit, or an equal share of one,
# or the response is left out.
TIES: Mapping[str, Callable[[Credits], Credits]] = {
    "kept": lambda credits: credits,
    "split": Credits.split,
    "dropped": Credits.single,
}


@dataclass(frozen=True)
class ShareInterval:
    """A share of the responses with its interval over questions (T2) and participants (T1).

    The t of ``two_way`` and ``participants`` tests a share of 0 and means nothing; only
    their intervals are of use.
    """

    share: float | None
    two_way: TwoWay
    participants: ParticipantsTest


@dataclass(frozen=True)
class Difference:
    """One measure against another: ``lead`` in credits, ``mean`` per response.

    ``identical``: the questions in which the two order the lists alike, so that no vote
    can tell them apart; ``unequal``: those in which more measures share the order of one than
    that of the other, so that random clicks credit it more often.
    """

    pair: Pair
    identical: tuple[int, ...]
    unequal: tuple[int, ...]
    lead: float
    mean: float | None
    two_way: TwoWay
    participants: ParticipantsTest
    label_permutation: LabelPermutation
    mcnemar: McNemar
    questions: QuestionsTest


@dataclass(frozen=True)
class Concordance:
    """Participants' orders against the measures' and against one another's.

    ``tau_b_of_participants``: (participants, measures), each participant's mean, NaN where
    undefined.
    """

    tau_b: MeanAgreement
    tau_b_of_participants: NDArray[np.float64]
    tau_b_custom: MeanAgreement
    spearman: MeanAgreement
    strict: MeanAgreement
    half: MeanAgreement
    human: HumanRates
    human_half: HumanRates
    kendall_w: KendallW
    krippendorff_alpha: Alpha
    fleiss_kappa: Kappa


@dataclass(frozen=True)
class Agreement:
    """All statistics of a study's votes."""

    measures: tuple[str, ...]
    responses: int
    participants: int
    table4: Table4
    shares: Shares
    share_intervals: Mapping[str, ShareInterval]
    first_or_tied: Mapping[str, int]
    first_outright: Mapping[str, int]
    differences: tuple[Difference, ...]
    cochran_distinct: CochranQ
    cochran_all: CochranQ
    friedman_approvals: Friedman
    friedman_tau_b: Friedman
    concordance: Concordance
    bias: Bias


def analyse_answers(
    answers: Answers,
    rankings: Rankings,
    measures: Sequence[str],
    asked: int,
    *,
    ties: str = "kept",
) -> Agreement:
    """Compute every statistic; ``asked``: the questions each participant was to answer.

    ``ties``: a key of ``TIES``. Raises ValueError for an answer that does not belong to the
    study.
    """
    ballots = Ballots.of(answers, rankings, measures)
    credits = TIES[ties](tally_credits(ballots))
    distinct = distinct_questions(rankings)
    orders = participant_orders(ballots)
    taus = means_of_participants(orders, tau_b)
    table = table4(credits, rankings)
    or_tied, outright = first_places(table)
    redraws = Redraws(credits)
    return Agreement(
        measures=ballots.measures,
        responses=len(answers),
        participants=len(answers.people),
        table4=table,
        shares=shares(credits, distinct),
        share_intervals=share_intervals(credits),
        first_or_tied=or_tied,
        first_outright=outright,
        differences=compare(redraws),
        cochran_distinct=cochran_q(Redraws(credits.subset(np.isin(credits.questions, distinct)))),
        cochran_all=cochran_q(redraws),
        friedman_approvals=friedman_of_credits(credits, asked),
        friedman_tau_b=friedman_of_agreement(orders, taus, asked),
        concordance=_concordance(orders, taus, credits, distinct),
        bias=bias_of(answers, measures),
    )


def _concordance(
    orders: ParticipantOrders,
    taus: NDArray[np.float64],
    credits: Credits,
    distinct: Sequence[int],
) -> Concordance:
    return Concordance(
        tau_b=mean_agreement(orders, tau_b),
        tau_b_of_participants=taus,
        tau_b_custom=mean_agreement(orders, tau_b, custom_only=True),
        spearman=mean_agreement(orders, spearman),
        strict=mean_agreement(orders, lambda x, y: agreement_rate(x, y, STRICT)),
        half=mean_agreement(orders, lambda x, y: agreement_rate(x, y, HALF)),
        human=human_rates(orders, STRICT),
        human_half=human_rates(orders, HALF),
        kendall_w=kendall_w(orders),
        krippendorff_alpha=krippendorff_alpha(orders),
        fleiss_kappa=fleiss_kappa(credits, distinct),
    )


def share_intervals(credits: Credits) -> dict[str, ShareInterval]:
    """Return the share of the responses of each measure and of OTHER, with intervals."""
    columns = np.column_stack([credits.votes, credits.other])
    return {
        name: ShareInterval(
            share=mean_of(column, credits) if len(credits) else None,
            two_way=two_way(column, credits),
            participants=by_participants(column, credits),
        )
        for name, column in zip((*credits.measures, OTHER), columns.T, strict=True)
    }


def compare(redraws: Redraws) -> tuple[Difference, ...]:
    """Compare every pair of measures; Holm's correction over the pairs, test by test."""
    results = [_difference(redraws, pair) for pair in pairs(redraws.credits.measures)]
    corrected = (
        holm([result.two_way.p for result in results]),
        holm([result.participants.p for result in results]),
        holm([result.label_permutation.p for result in results]),
        holm([result.mcnemar.p for result in results]),
        holm([result.questions.sign_flip_p for result in results]),
    )
    return tuple(_corrected(result, *p) for result, *p in zip(results, *corrected, strict=True))


def _corrected(
    result: Difference,
    two_way: float | None,
    participants: float | None,
    label_permutation: float | None,
    mcnemar: float | None,
    questions: float | None,
) -> Difference:
    return replace(
        result,
        two_way=replace(result.two_way, p_holm=two_way),
        participants=replace(result.participants, p_holm=participants),
        label_permutation=replace(result.label_permutation, p_holm=label_permutation),
        mcnemar=replace(result.mcnemar, p_holm=mcnemar),
        questions=replace(result.questions, sign_flip_p_holm=questions),
    )


def _difference(redraws: Redraws, pair: Pair) -> Difference:
    credits, rankings = redraws.credits, redraws.credits.ballots.rankings
    d, permutation = differences(credits, pair), label_permutation(redraws, pair)
    return Difference(
        pair=pair,
        identical=tuple(
            question
            for question, orders in sorted(rankings.items())
            if orders[pair.first] == orders[pair.second]
        ),
        unequal=tuple(
            question
            for question, orders in sorted(rankings.items())
            if len({list(orders.values()).count(orders[name]) for name in vars(pair).values()}) > 1
        ),
        lead=permutation.lead,
        mean=mean_of(d, credits) if len(credits) else None,
        two_way=two_way(d, credits),
        participants=by_participants(d, credits),
        label_permutation=permutation,
        mcnemar=mcnemar(credits, pair),
        questions=by_questions(d, credits, len(rankings)),
    )


@dataclass(frozen=True)
class Effect:
    """A pair's mean difference per response, and its two-way test."""

    pair: Pair
    mean: float | None
    two_way: TwoWay


@dataclass(frozen=True)
class Variant:
    """The differences under another choice, which ``name`` says, over ``responses``."""

    name: str
    responses: int
    effects: tuple[Effect, ...]


def sensitivity(
    answers: Answers,
    rankings: Rankings,
    measures: Sequence[str],
    flagged: NDArray[np.bool_],
) -> tuple[Variant, ...]:
    """Recompute the differences under each choice that could have been made differently.

    Without the ``flagged`` participants, a mask over them; with shared votes split, or
    dropped; and leaving out each question in turn.
    """
    ballots = Ballots.of(answers, rankings, measures)
    return tuple(
        Variant(name, len(credits), _effects(credits))
        for name, credits in _choices(ballots, flagged)
    )


def _choices(ballots: Ballots, flagged: NDArray[np.bool_]) -> Iterator[tuple[str, Credits]]:
    credits, questions = tally_credits(ballots), sorted(ballots.rankings)
    yield "every response", credits
    if flagged.any():
        yield (
            "without flagged participants",
            replace(credits, ballots=ballots.of_people(~flagged)),
        )
    for ties in TIES:
        if ties != "kept":
            yield f"shared votes {ties}", TIES[ties](credits)
    for question in questions if len(questions) > 1 else ():
        yield f"without question {question}", credits.subset(credits.questions != question)


def _effects(credits: Credits) -> tuple[Effect, ...]:
    effects = []
    for pair in pairs(credits.measures):
        d = differences(credits, pair)
        mean = mean_of(d, credits) if len(credits) else None
        effects.append(Effect(pair, mean, two_way(d, credits)))
    return tuple(effects)
