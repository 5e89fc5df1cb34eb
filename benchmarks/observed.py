"""What is looked at in one simulated study: which tests reject, which intervals cover."""

from collections.abc import Mapping

import numpy as np

from benchmarks.situations import MEASURES, SimulatedStudy
from survey.core.agreement.agreement import compare, share_intervals
from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import (
    ParticipantOrders,
    friedman_of_agreement,
    friedman_of_credits,
    means_of_participants,
)
from survey.core.agreement.credits import OTHER, Ballots, distinct_questions, tally_credits
from survey.core.agreement.differences import (
    Pair,
    Spread,
    by_participants,
    components,
    differences,
    two_way,
)
from survey.core.agreement.label_permutation import Redraws, cochran_q
from survey.core.agreement.verdicts import verdict
from survey.core.statistics.rater_agreement import tau_b
from survey.core.statistics.significance import MeanTest

LEVEL = 0.05

Happened = Mapping[str, bool | None]

TWO_WAY = "two-way t (T2)"
QUESTIONS_FLIP = "sign flips of questions (T2)"
QUESTIONS_SIGN = "sign test of questions (T2)"
PARTICIPANTS_T = "participants' t (T1)"
PARTICIPANTS_FLIP = "sign flips of participants (T1)"
LABELS = "label permutation"
MCNEMAR = "McNemar"
FORMERLY = "formerly: MNRO preferred"
FOR_ORDERS = "now: MNRO preferred"
OPEN = "now: MNRO preferred, for its order or for showing no ties"
FOR_TIES = "now: MNRO preferred for showing no ties"
NMRR_PREFERRED = "now: NMRR preferred"
VERDICT = "the verdict names a preference"
COMPONENTS = "variance components t (T2)"
PAIRWISE = (
    *(COMPONENTS, TWO_WAY, QUESTIONS_FLIP, QUESTIONS_SIGN),
    *(PARTICIPANTS_T, PARTICIPANTS_FLIP, LABELS, MCNEMAR, VERDICT),
)

Q_CHI2 = "Cochran's Q, chi-square"
Q_LABELS = "Cochran's Q, label permutation"
FRIEDMAN_CREDITS = "Friedman on credits"
FRIEDMAN_TAU = "Friedman on tau-b"

COVERS_KIND = "components' interval covers the difference in all questions (T2)"
COVERS_T2 = "two-way interval covers the difference in all questions (T2)"
COVERS_T1 = "participants' interval covers the difference in these questions (T1)"
MISREAD = "participants' interval covers the difference in all questions (T2)"

PLANTED = {"MNRO": 0.5, "NMRR": 0.3, "AP": 0.1, OTHER: 0.1}
RECOVERED = tuple(
    f"{name}: {what}"
    for name in PLANTED
    for what in (
        "distinct orders, two-way",
        "distinct orders, participants",
        "all questions, participants",
    )
)


def ballots_of(study: SimulatedStudy) -> Ballots:
    """Return what a simulated study's participants said."""
    return Ballots.of(Answers.of(study.responses), study.rankings, MEASURES)


def pairwise(study: SimulatedStudy) -> Happened:
    """Tell which tests of MNRO against NMRR reject at 5 %; one that is undefined does not.

    Without Holm's correction: the size of each test by itself.
    """
    found = compare(Redraws(tally_credits(ballots_of(study))))
    one = found[0]
    p = (
        one.components.p,
        one.two_way.p,
        one.questions.sign_flip_p,
        one.questions.sign_p,
        one.participants.p,
        one.participants.sign_flip_p,
        one.label_permutation.p,
        one.mcnemar.p,
    )
    said = verdict(one, len(study.rankings)).preferred
    rejected = [value is not None and value < LEVEL for value in p]
    return dict(zip(PAIRWISE, [*rejected, said is not None], strict=True))


def over_ties(study: SimulatedStudy) -> Happened:
    """Tell whether MNRO is preferred to NMRR for the kind: formerly, now, and for what.

    Formerly both intervals had to exclude 0, and the label permutation show more than random
    clicks give, nothing of it corrected.
    """
    found = compare(Redraws(tally_credits(ballots_of(study))))
    one = found[0]
    p = (one.two_way.p, one.participants.p, one.label_permutation.p)
    lead = one.lead - (one.label_permutation.null_mean or 0.0)
    formerly = all(value is not None and value < LEVEL for value in p) and lead > 0
    said = verdict(one, len(study.rankings))
    now = said.scope == "kind" and said.preferred == "MNRO"
    return {
        FORMERLY: formerly and (one.mean or 0.0) > 0,
        FOR_ORDERS: now and said.preferred_for == "orders",
        OPEN: now and said.preferred_for == "open",
        FOR_TIES: now and said.preferred_for == "ties",
        NMRR_PREFERRED: said.scope == "kind" and said.preferred == "NMRR",
    }


def all_measures(study: SimulatedStudy) -> Happened:
    """Tell which tests of all three measures at once reject at 5 %."""
    held, credits = ParticipantOrders(ballots_of(study)), tally_credits(ballots_of(study))
    q, taus = cochran_q(Redraws(credits)), means_of_participants(held, tau_b)
    p = {
        Q_CHI2: q.p,
        Q_LABELS: q.p_label_permutation,
        FRIEDMAN_CREDITS: friedman_of_credits(credits, study.asked).p,
        FRIEDMAN_TAU: friedman_of_agreement(held, taus, study.asked).p,
    }
    return {name: value is not None and value < LEVEL for name, value in p.items()}


def coverage(study: SimulatedStudy) -> Happened:
    """Tell which 95 % intervals of MNRO minus NMRR cover the true difference."""
    credits = tally_credits(ballots_of(study))
    d = differences(credits, Pair("MNRO", "NMRR"))
    spread = Spread.of(d, credits)
    over_participants = by_participants(spread)
    over_both = components(spread, over_participants)
    return {
        COVERS_KIND: _covers(over_both, study.difference),
        COVERS_T2: _covers(two_way(d, credits), study.difference),
        COVERS_T1: _covers(over_participants, study.difference_here),
        MISREAD: _covers(over_participants, study.difference),
    }


def recovery(study: SimulatedStudy) -> Happened:
    """Tell which intervals of the shares cover what was planted.

    Over the questions with distinct orders a measure's share is the planted one. Over
    all questions it is the mean of the planted shares of the measures of its order.
    """
    credits = tally_credits(ballots_of(study))
    distinct = distinct_questions(study.rankings)
    free = share_intervals(credits.subset(np.isin(credits.questions, distinct)))
    over_all = share_intervals(credits)
    covered = [
        _covers(test, share)
        for name, planted in PLANTED.items()
        for test, share in (
            (free[name].two_way, planted),
            (free[name].participants, planted),
            (over_all[name].participants, expected(study, name)),
        )
    ]
    return dict(zip(RECOVERED, covered, strict=True))


def expected(study: SimulatedStudy, name: str) -> float:
    """Return the exact expectation of a planted measure's share over a study's questions."""
    if name == OTHER:
        return PLANTED[OTHER]
    return float(
        np.mean(
            [
                sum(PLANTED[one] for one in MEASURES if orders[one] == orders[name])
                for orders in study.rankings.values()
            ]
        )
    )


def _covers(test: MeanTest, truth: float) -> bool | None:
    return test.ci95[0] <= truth <= test.ci95[1] if test.ci95 else None
