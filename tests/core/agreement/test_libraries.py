"""Each statistic against another library, or its textbook formula, on random answers."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.regression.linear_model import OLS
from statsmodels.stats import contingency_tables
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_table

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.concordance import (
    ParticipantOrders,
    choice_kappa,
    friedman,
    friedman_of_credits,
    question_kendall_w,
)
from survey.core.agreement.credits import distinct_questions
from survey.core.agreement.differences import (
    BallotSums,
    Pair,
    by_participants,
    by_questions,
    differences,
    mcnemar,
    two_way,
)
from survey.core.agreement.label_permutation import Redraws, equal_credit_test
from survey.core.agreement.quality import Layouts, conditional_logit
from survey.core.statistics.rater_agreement import rbo, tau_ap_b
from survey.core.statistics.significance import sign_flip
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import (
    MEASURES,
    ballots_of,
    credits_of,
    of_each,
    random_rankings,
    random_responses,
)

SEEDS = (1, 2, 3)
DISTINCT = dict(zip(MEASURES, map(Ranking.parse, ("A>B>C", "B>A>C", "C>B>A")), strict=True))
PAIR = Pair("MNRO", "AP")


def close(expected, within=1e-9):
    return pytest.approx(expected, rel=within, abs=within)


def votes(seed, *, questions=6, participants=9, **chances):
    """Random answers: the credits, the rankings, the responses."""
    rng = np.random.default_rng(seed)
    rankings = random_rankings(rng, questions, identical=chances.pop("identical", 0.3))
    responses = random_responses(rng, rankings, participants, **chances)
    return credits_of(responses, rankings), rankings, responses


@pytest.mark.parametrize("seed", SEEDS)
def test_sign_flips_are_those_of_scipy(seed):
    credits, _, _ = votes(seed, participants=8, answered=0.8)
    d = differences(credits, PAIR)
    of_questions = [
        (credits.counts * d)[credits.questions == number].sum()
        for number in np.unique(credits.questions)
    ]
    for sums, found in (
        (sums_of(d, credits), by_participants(BallotSums.of(d, credits)).sign_flip_p),
        (of_questions, by_questions(d, credits, len(of_questions)).sign_flip_p),
    ):
        expected = stats.permutation_test(
            (sums,), np.sum, permutation_type="samples", n_resamples=np.inf
        )
        assert found == close(expected.pvalue)


def test_random_sign_flips_come_close_to_all_of_them():
    rng = np.random.default_rng(4)
    # Denominators without common factors, so that the exact distribution would take too long.
    values = [Fraction(int(rng.integers(-5, 9)), int(rng.integers(7, 40))) for _ in range(70)]
    p, method = sign_flip(values, np.arange(70))
    assert method == "Monte Carlo"
    floats = [float(value) for value in values]
    tail = 2 * stats.norm.sf(abs(np.sum(floats)) / np.sqrt(np.sum(np.square(floats))))
    assert p == pytest.approx(tail, abs=0.01)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_t_test_over_participants_leaves_each_out_in_turn(seed):
    credits, _, _ = votes(seed, answered=0.7)
    d = differences(credits, PAIR)
    found = by_participants(BallotSums.of(d, credits))
    each, who = of_each(credits, d)
    people = len(set(who.tolist()))
    without = [OLS(each[who != one], np.ones((who != one).sum())).fit() for one in set(who)]
    moved = np.array([fit.params[0] for fit in without]) - each.mean()
    se = np.sqrt((people - 1) / people * (moved**2).sum())
    df = BallotSums.of(d, credits).effective.participants - 1
    assert people / 2 < df < people - 1
    assert (found.mean, found.se, found.df) == (close(each.mean()), close(se), close(df))
    assert found.p == close(2 * stats.t.sf(abs(each.mean() / se), df))
    assert found.ci95 == close(stats.t.interval(0.95, df, each.mean(), se))


@pytest.mark.parametrize("seed", SEEDS)
def test_where_all_answered_equally_many_it_is_scipys_t_of_the_participants_means(seed):
    credits, _, _ = votes(seed)
    d = differences(credits, PAIR)
    found = by_participants(BallotSums.of(d, credits))
    expected = stats.ttest_1samp(np.array(sums_of(d, credits)) / 6, 0)
    assert (found.t, found.p) == (close(expected.statistic), close(expected.pvalue))
    assert found.ci95 == close(tuple(expected.confidence_interval()))


def sums_of(d, credits):
    """Each participant's sum, answer by answer."""
    each, who = of_each(credits, d)
    return [each[who == one].sum() for one in np.unique(who)]


def clustered(d, *groups):
    """The variance of a mean, clustered by one grouping: G/(G - 1) Σ (Σ residuals)²/n²."""
    keys = list(zip(*groups, strict=True))
    sums = [
        sum(e for e, key in zip(d - d.mean(), keys, strict=True) if key == one) for one in set(keys)
    ]
    return len(sums) / (len(sums) - 1) * np.square(sums).sum() / len(d) ** 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_two_way_test_on_unbalanced_answers(seed):
    credits, _, _ = votes(seed, questions=7, participants=12, answered=0.6)
    d = differences(credits, PAIR)
    found = two_way(d, credits)
    where, who = (one.tolist() for one in of_each(credits, credits.questions))
    d, _ = of_each(credits, d)
    groups = np.column_stack([np.unique(who, return_inverse=True)[1], where])
    expected = OLS(d, np.ones(len(d))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    assert (found.se, found.t, found.p) == close(
        (expected.bse[0], expected.tvalues[0], expected.pvalues[0])
    )
    assert found.ci95 == close(tuple(expected.conf_int()[0]))
    assert found.df == min(len(set(who)), len(set(where))) - 1
    by_hand = clustered(d, who) + clustered(d, where) - clustered(d, who, where)
    assert (found.variance, found.se**2) == ("two-way", close(by_hand))


def test_where_the_two_way_variance_is_not_positive_the_larger_one_way_stands_in():
    who = np.repeat(["a", "b", "c", "d"], 4)
    where = np.tile([1, 2, 3, 4], 4)
    against = np.where((np.arange(16) // 4 + np.arange(16)) % 2, 1.0, -1.0)
    against[0] = 0.0  # sums of participants and questions all but cancel
    assert clustered(against, who) + clustered(against, where) < clustered(against, who, where)
    responses = [
        Response(person, number, MEASURES, frozenset([2 + int(sign)]))
        for person, number, sign in zip(who, where.tolist(), against, strict=True)
    ]
    rankings = random_rankings(np.random.default_rng(1), 4)
    credits = credits_of(responses, rankings)
    # Which measure was ticked, from 0 on, stands for d.
    found = two_way(credits.ballots.ticked.argmax(axis=1).astype(float), credits)
    one_way = [
        OLS(against, np.ones(16)).fit(cov_type="cluster", cov_kwds={"groups": group}).bse[0]
        for group in (np.unique(who, return_inverse=True)[1], where)
    ]
    assert (found.variance, found.df, found.se) == ("larger one-way", 3, close(max(one_way)))


@pytest.mark.parametrize("seed", SEEDS)
def test_cochrans_q_and_mcnemar_are_those_of_statsmodels(seed):
    credits, _, _ = votes(seed)
    found, expected = (
        equal_credit_test(Redraws(credits)),
        contingency_tables.cochrans_q(of_each(credits, credits.credited)[0].astype(int)),
    )
    assert (found.q, found.df, found.p) == (
        close(expected.statistic),
        expected.df,
        close(expected.pvalue),
    )
    credited, _ = of_each(credits, credits.credited)
    first, second = credited[:, 2].tolist(), credited[:, 0].tolist()
    table = [
        [sum((a, b) == (x, y) for a, b in zip(first, second, strict=True)) for y in (True, False)]
        for x in (True, False)
    ]
    matched = mcnemar(credits, PAIR)
    assert (matched.n10, matched.n01) == (table[0][1], table[1][0])
    assert matched.p == close(contingency_tables.mcnemar(table, exact=True).pvalue)


@pytest.mark.parametrize("is_aligned", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_conditional_logit_is_at_the_maximum_of_statsmodels_likelihood(seed, is_aligned):
    _, _, responses = votes(seed, questions=8, participants=15, several=0.3)
    if is_aligned:  # a column is its label then, and has no term of its own
        responses = [replace(one, column_order=(1, 2, 3)) for one in responses]
    found = conditional_logit(Layouts.of(Answers.of(responses), MEASURES), MEASURES)
    rows, ticked, group = [], [], []
    for number, one in enumerate(responses):
        for label, measure in enumerate(one.label_order, 1):
            column = one.column_order.index(label) + 1
            rows.append(
                [
                    *(measure == name for name in MEASURES[1:]),
                    *(label == n for n in (2, 3)),
                    *(column == n for n in (2, 3) if not is_aligned),
                ]
            )
            ticked.append(label in one.clicked)
            group.append(number)
    chosen = np.isin(group, [n for n, one in enumerate(responses) if one.clicked])
    model = ConditionalLogit(
        np.array(ticked)[chosen].astype(int),
        np.array(rows, dtype=float)[chosen],
        groups=np.array(group)[chosen],
    )
    coef = np.array(found.coef)
    columns = () if is_aligned else ("column 2", "column 3")
    assert found.terms == ("NMRR", "MNRO", "Method2", "Method3", *columns)
    assert model.score(coef) == pytest.approx(np.zeros(len(coef)), abs=1e-7)
    covariance = np.linalg.inv(-model.hessian(coef))
    assert found.se == pytest.approx(tuple(np.sqrt(np.diag(covariance))), rel=1e-5)


def test_undefined_taus_are_counted_and_left_out_of_the_mean():
    rankings = {
        1: dict(zip(MEASURES, map(Ranking.parse, ("A>B>C", "A=B=C", "C>B>A")), strict=True))
    }
    responses = [
        one
        for seed in range(4)
        for one in random_responses(np.random.default_rng(seed), rankings, 5, custom=0)
    ]
    responses = [one for one in responses if one.label_order.index("NMRR") + 1 not in one.clicked]
    found = analyse_answers(Answers.of(responses), rankings, MEASURES, asked=1).concordance.tau_b
    both = sum(len(one.clicked) == 2 for one in responses)
    assert both > 0
    assert found.undefined == {"AP": both, "NMRR": len(responses), "MNRO": both}
    assert found.means["NMRR"] is None
    assert found.means["AP"] == close(-found.means["MNRO"])


@pytest.mark.parametrize(("lists", "is_long"), [(5, False), (10, True)])
def test_own_orders_are_compared_with_more_weight_at_the_top(lists, is_long):
    rng = np.random.default_rng(lists)
    rankings = random_rankings(rng, 3, lists=lists)
    responses = random_responses(rng, rankings, 8, custom=0.7)
    found = analyse_answers(Answers.of(responses), rankings, MEASURES, asked=3).concordance
    own = [one for one in responses if one.own]
    pairs = [(one.own, rankings[one.question]["MNRO"]) for one in own]
    sides = [[[*side.midranks.values()] for side in pair] for pair in pairs]
    taus = np.array([tau_ap_b(*pair) for pair in sides])
    assert found.tau_ap_b_custom.n == len(own) > 5
    assert found.tau_ap_b_custom.means["MNRO"] == close(np.nanmean(taus))
    assert found.tau_ap_b_custom.undefined["MNRO"] == np.isnan(taus).sum()
    assert (found.rbo_custom is not None) == is_long
    if found.rbo_custom:
        assert found.rbo_custom.means["MNRO"] == close(np.mean([rbo(*pair, 0.9) for pair in sides]))


@pytest.mark.parametrize("seed", SEEDS)
def test_kendalls_w_is_friedmans_chi_square_over_its_maximum(seed):
    _, rankings, responses = votes(seed, questions=3)
    held = ParticipantOrders(ballots_of(responses, rankings))
    for w, here in zip(question_kendall_w(held).by_question, held.questions.values(), strict=True):
        orders = np.repeat(here.orders, here.counts, axis=0)
        chi2 = stats.friedmanchisquare(*zip(*orders, strict=True)).statistic
        assert w == close(chi2 / (len(orders) * 4))


def test_kendalls_w_of_two_lists_is_one_when_all_agree_and_less_with_a_dissenter():
    rng = np.random.default_rng(1)
    rankings = {1: dict.fromkeys(MEASURES, Ranking.parse("A>B"))}
    alike = random_responses(rng, rankings, 3, custom=0)
    assert question_kendall_w(ParticipantOrders(ballots_of(alike, rankings))).mean == 1
    rankings[1]["AP"] = Ranking.parse("B>A")
    split = [
        next(
            one
            for one in random_responses(rng, rankings, 60, custom=0, several=0)
            if one.label_order[next(iter(one.clicked)) - 1] == name
        )
        for name in ("AP", "NMRR", "MNRO")
    ]
    # Rank sums 5 and 4: (2·(5² + 4²) - 3²·3²)/(3²·1) = 1/9.
    assert question_kendall_w(ParticipantOrders(ballots_of(split, rankings))).mean == close(1 / 9)


def test_fleiss_kappa_leaves_out_questions_with_several_ticks_or_missing_answers():
    credits, rankings, _ = votes(6, questions=8, several=0.03, answered=0.99)
    distinct = distinct_questions(rankings)
    found = choice_kappa(credits, distinct)
    assert 0 < len(found.questions) < len(distinct)
    table = []
    for number in found.questions:
        times = credits.counts * (credits.questions == number)
        assert times.sum() == 9
        assert credits.ballots.clicks[times > 0].max() == 1
        table.append([*times @ credits.credited, times @ credits.other])
    assert found.kappa == close(fleiss_of_table(np.array(table)))


@pytest.mark.parametrize("seed", SEEDS)
def test_human_rates_leave_each_participants_own_answer_out(seed):
    _, rankings, responses = votes(seed, participants=5, answered=0.7)
    human = analyse_answers(Answers.of(responses), rankings, MEASURES, asked=6).concordance.human
    held = ParticipantOrders(ballots_of(responses, rankings))
    kinds, people = held.ballots.ballot_index, np.repeat(np.arange(5), held.ballots.answer_counts)

    def rate(one, other):
        return np.mean(
            [
                np.sign(one[i] - one[j]) == np.sign(other[i] - other[j])
                for i, j in combinations(range(5), 2)
            ]
        )

    everyone = []
    for who in range(5):
        mine = []
        for here in held.answered():
            answers = [
                (person, here.orders[here.ballots == kind][0])
                for kind, person in zip(kinds, people, strict=True)
                if kind in here.ballots
            ]
            others = [order for person, order in answers if person != who]
            mine += [
                np.mean([rate(order, other) for other in others])
                for person, order in answers
                if person == who and others
            ]
        everyone.append(np.mean(mine))
    assert (human.best, human.median, human.worst) == (
        close(max(everyone)),
        close(np.median(everyone)),
        close(min(everyone)),
    )


def test_equal_sums_of_split_votes_tie_in_friedmans_test():
    # 1/2 + 1/3 + 1/3 + 1/3 and 1/3 + 1/3 + 1/3 + 1/2 differ as floats.
    ap, nmrr, everything = {1, 3}, {2, 3}, {1, 2, 3}
    ticks = {
        "P1": (ap, everything, everything, everything, nmrr),
        "P2": (nmrr, everything, everything, everything, ap),
    }
    responses = [
        Response(who, number, MEASURES, frozenset(clicked))
        for who, answers in ticks.items()
        for number, clicked in enumerate(answers, 1)
    ]
    credits = credits_of(responses, dict.fromkeys(range(1, 6), DISTINCT)).split()
    assert friedman_of_credits(credits, asked=5).w == close(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_friedman_is_that_of_scipy_with_ties(seed):
    table = np.random.default_rng(seed).integers(0, 4, (9, 3)).astype(float)
    found, expected = friedman(table, {}), stats.friedmanchisquare(*table.T)
    assert (found.chi2, found.p) == (close(expected.statistic), close(expected.pvalue))


def test_friedman_of_two_measures_is_the_squared_sign_test():
    table = np.array([[1.0, 0.0]] * 7 + [[0.0, 1.0]] * 2 + [[1.0, 1.0]])
    # Ties drop out: (7 - 2)² / 9, McNemar's statistic.
    assert friedman(table, {}).chi2 == close(25 / 9)


def test_friedman_needs_two_participants():
    assert friedman(np.array([[1.0, 2.0, 3.0]]), {}).why.startswith("it needs two participants")


def test_a_question_that_nobody_answered_is_neither_won_nor_lost():
    rankings = dict.fromkeys((1, 2, 3), DISTINCT)
    credits = credits_of([Response("P1", n, MEASURES, frozenset([3])) for n in (1, 2)], rankings)
    found = by_questions(differences(credits, PAIR), credits, asked=3)
    assert (found.won, found.lost, found.tied, found.n) == (2, 0, 1, 3)
