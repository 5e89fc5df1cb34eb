"""Runs compared by preferences: symmetries, topics as the sample, and what cannot be fitted."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.credits import tally_values
from survey.core.agreement.run_strengths import in_topics, run_strengths
from survey.core.statistics.bradley_terry import SEPARATED

RUNS = ("alpha", "beta", "gamma")
PAIRS = [("alpha", "beta"), ("beta", "gamma"), ("alpha", "gamma")]


def a_study(rng, people=8, topics=7, strengths=(0.6, 0.0, -0.4), ties=0.2, spread=0.3):
    """Each pair of runs in each topic: (answers, sides, topics)."""
    strengths = dict(zip(RUNS, strengths, strict=True))
    sides, of_topic, answers = {}, {}, []
    for topic in range(topics):
        leaning = {run: rng.normal(0, spread) for run in RUNS}
        for pair in PAIRS:
            number = len(sides) + 1
            sides[number], of_topic[number] = pair, f"t{topic}"
            lead = sum(
                sign * (strengths[run] + leaning[run])
                for sign, run in zip((1, -1), pair, strict=True)
            )
            for person in range(people):
                sign = 1 if rng.random() < scipy.special.expit(lead) else -1
                answers.append((f"P{person}", number, 0 if rng.random() < ties else sign))
    return answers, sides, of_topic


def facts(pair):
    """The numbers of two runs compared, whichever comes first."""
    tests = pair.tests
    return {
        "difference": pair.difference,
        "rate": pair.rate,
        "ci95": pair.ci95,
        "counts": (pair.wins, pair.losses, pair.ties),
        "kind": tests.kind.p,
        "these": tests.these.p,
        "p_step": tests.components.p_step,
        "effective": (tests.effective.participants, tests.effective.questions),
    }


def assert_alike(found, other):
    for name, value in found.items():
        assert other[name] == pytest.approx(value, abs=1e-9), name


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sets(st.integers(1, 21)))
def test_questions_with_their_lists_turned_round_change_nothing(seed, turned):
    answers, sides, topics = a_study(np.random.default_rng(seed))
    mirrored = run_strengths(
        [(who, n, -sign if n in turned else sign) for who, n, sign in answers],
        {n: pair[::-1] if n in turned else pair for n, pair in sides.items()},
        RUNS,
        topics,
    )
    found = run_strengths(answers, sides, RUNS, topics)
    assert mirrored.theta == pytest.approx(found.theta)
    for pair, other in zip(found.pairs, mirrored.pairs, strict=True):
        assert_alike(facts(pair), facts(other))
    for interval, other in zip(found.ci95, mirrored.ci95, strict=True):
        assert other == pytest.approx(interval)


@pytest.mark.parametrize("seed", range(3))
def test_other_names_change_nothing(seed):
    answers, sides, topics = a_study(np.random.default_rng(seed))
    names = {"alpha": "z", "beta": "a", "gamma": "m"}
    renamed = run_strengths(
        answers,
        {n: (names[a], names[b]) for n, (a, b) in sides.items()},
        [names[run] for run in RUNS],
        {n: topic[::-1] for n, topic in topics.items()},
    )
    found = run_strengths(answers, sides, RUNS, topics)
    assert renamed.theta == pytest.approx(found.theta)
    for pair, other in zip(found.pairs, renamed.pairs, strict=True):
        assert tuple(other.pair) == tuple(names[run] for run in pair.pair)
        assert_alike(facts(pair), facts(other))


def test_runs_in_another_order_only_turn_pairs_round():
    answers, sides, topics = a_study(np.random.default_rng(4))
    found = run_strengths(answers, sides, RUNS, topics)
    other = run_strengths(answers, sides, RUNS[::-1], topics)
    assert other.theta[::-1] == pytest.approx(found.theta)
    of_pair = {frozenset(each.pair): each for each in other.pairs}
    for pair in found.pairs:
        turned = of_pair[frozenset(pair.pair)]
        assert tuple(turned.pair) == tuple(pair.pair)[::-1]
        assert turned.difference == pytest.approx(-pair.difference)
        assert turned.rate == pytest.approx(1 - pair.rate)
        assert turned.ci95 == pytest.approx((1 - pair.ci95[1], 1 - pair.ci95[0]))
        assert (turned.losses, turned.wins, turned.ties) == (pair.wins, pair.losses, pair.ties)
        for scope in ("kind", "these"):
            p, turned_p = getattr(pair.tests, scope).p, getattr(turned.tests, scope).p
            assert turned_p == pytest.approx(p)


def test_pairs_are_in_the_plans_order_with_what_was_counted():
    answers, sides, topics = a_study(np.random.default_rng(5))
    found = run_strengths(answers, sides, RUNS, topics)
    assert [tuple(each.pair) for each in found.pairs] == [
        ("alpha", "beta"),
        ("alpha", "gamma"),
        ("beta", "gamma"),
    ]
    for each in found.pairs:
        signs = [sign for _, number, sign in answers if {*sides[number]} == {*each.pair}]
        assert (each.wins, each.losses, each.ties) == tuple(map(signs.count, (1, -1, 0)))
        first, second = (RUNS.index(run) for run in each.pair)
        assert each.difference == pytest.approx(found.theta[first] - found.theta[second])
        assert each.rate == pytest.approx(scipy.special.expit(each.difference))


def test_the_tests_are_of_the_mean_influence_over_people_and_topics():
    """ψ = n·H⁺x(y - p), computed with numpy's pseudo-inverse; its clusters are the topics."""
    answers, sides, topics = a_study(np.random.default_rng(6))
    found = run_strengths(answers, sides, RUNS, topics)
    credits, signs = tally_values(answers, RUNS)
    numbers = credits.questions.tolist()
    x = np.array([[(run == sides[n][0]) - (run == sides[n][1]) for run in RUNS] for n in numbers])
    y, theta = 0.5 + 0.5 * np.array(signs), np.array(found.theta)
    chance = scipy.special.expit(x @ theta)
    information = (x.T * (credits.counts * chance * (1 - chance))) @ x
    psi = len(answers) * (x * (y - chance)[:, np.newaxis]) @ np.linalg.pinv(information)
    for each in found.pairs:
        first, second = (RUNS.index(run) for run in each.pair)
        d = psi[:, first] - psi[:, second] + each.difference
        clustered = MeanTests.of(d, in_topics(credits, topics), bound=np.inf)
        assert each.tests.mean == pytest.approx(each.difference)
        assert each.tests.components.se == pytest.approx(clustered.components.se)
        assert each.tests.components.df == pytest.approx(clustered.components.df)
        assert each.tests.participants.se == pytest.approx(clustered.participants.se)
        assert each.tests.effective == clustered.effective
        low, high = scipy.special.logit(each.ci95)
        assert low <= clustered.kind.ci95[0] + 1e-9
        assert high >= clustered.kind.ci95[1] - 1e-9


def test_the_sample_is_topics_where_they_are_known():
    rng = np.random.default_rng(7)
    answers, sides, topics = a_study(rng, topics=7, spread=1.5)
    by_topic = run_strengths(answers, sides, RUNS, topics)
    by_question = run_strengths(answers, sides, RUNS, {})
    assert (by_topic.sampled, by_question.sampled) == (7, 21)
    assert by_topic.theta == pytest.approx(by_question.theta)
    for each, other in zip(by_topic.pairs, by_question.pairs, strict=True):
        assert each.tests.effective.questions <= 7 < other.tests.effective.questions
        assert each.tests.components.df < other.tests.components.df


def test_five_topics_decide_nothing_of_their_kind_though_there_are_fifteen_questions():
    rng = np.random.default_rng(8)
    answers, sides, topics = a_study(rng, people=30, topics=5, strengths=(2, 0, -2), spread=0)
    found = run_strengths(answers, sides, RUNS, topics)
    assert [each.tests.kind.p >= 2**-4 for each in found.pairs] == [True] * 3
    for each in found.pairs:
        assert each.verdict(found.sampled, "topics").scope == "these"


@pytest.mark.parametrize("winner", [1, -1])
def test_where_one_run_always_wins_nothing_fits_and_it_says_why(winner):
    sides, topics = {1: ("alpha", "beta"), 2: ("alpha", "beta")}, {1: "a", 2: "b"}
    answers = [(f"P{who}", number, winner) for who in range(4) for number in (1, 2)]
    found = run_strengths(answers, sides, RUNS[:2], topics)
    assert (found.theta, found.ci95, found.why) == (None, (None, None), SEPARATED)
    [pair] = found.pairs
    assert (pair.difference, pair.rate, pair.ci95, pair.tests) == (None,) * 4
    assert pair.why == SEPARATED
    won, lost = (8, 0) if winner == 1 else (0, 8)
    verdict = pair.verdict(found.sampled, "topics")
    assert (verdict.scope, verdict.preferred) == ("none", None)
    assert verdict.sentence == (
        f"alpha − beta cannot be compared: {SEPARATED}; {won} won, {lost} lost, 0 tied."
    )


def test_a_run_that_was_never_compared_with_some_others_leaves_nothing_to_fit():
    answers = [(f"P{who}", 1, sign) for who, sign in enumerate([1, -1, 1])]
    found = run_strengths(answers, {1: ("alpha", "beta"), 2: ("beta", "gamma")}, RUNS, {})
    assert found.why == SEPARATED
    assert [each.why for each in found.pairs] == [SEPARATED] * 3
    assert [(each.wins, each.losses) for each in found.pairs] == [(2, 1), (0, 0), (0, 0)]


def test_one_person_gives_strengths_without_intervals():
    sides = {number: PAIRS[number % 3] for number in range(1, 7)}
    answers = [("P1", number, 1 if number % 2 else -1) for number in sides]
    found = run_strengths(answers, sides, RUNS, {})
    assert found.theta is not None
    assert found.ci95 == (None,) * 3
    assert found.why == "intervals need two people and two questions"
    for each in found.pairs:
        assert (each.ci95, each.tests.kind.p) == (None, None)
        assert each.why


def test_all_ties_are_no_difference():
    answers = [(f"P{who}", number, 0) for who in range(4) for number in (1, 2)]
    found = run_strengths(answers, dict.fromkeys((1, 2), ("alpha", "beta")), RUNS[:2], {})
    [pair] = found.pairs
    assert (pair.difference, pair.rate) == (pytest.approx(0), pytest.approx(0.5))
    verdict = pair.verdict(2, "questions")
    assert verdict.scope == "none"
    assert verdict.sentence == (
        "The answers do not decide between alpha and beta: alpha gets 50 of 100 comparisons, a tie "
        f"as half (no interval: {pair.why}); 0 won, 0 lost, 8 tied."
    )


def verdict_of(seed, level=0.05, **more):
    answers, sides, topics = a_study(np.random.default_rng(seed), **more)
    found = run_strengths(answers, sides, RUNS, topics)
    return found.pairs, [each.verdict(found.sampled, "topics", level) for each in found.pairs]


def test_a_verdict_has_the_numbers_of_its_pair():
    pairs, verdicts = verdict_of(9, people=20, topics=10, strengths=(-1.0, 0.0, 1.0))
    pair, verdict = pairs[1], verdicts[1]
    assert (verdict.scope, verdict.preferred, verdict.preferred_for) == ("kind", "gamma", None)
    low, high = (round(100 * (1 - end)) for end in pair.ci95[::-1])
    assert verdict.sentence == (
        f"People prefer gamma to alpha: {round(100 * (1 - pair.rate))} of 100 comparisons, a tie "
        f"as half ({low} to {high}; p = .002, corrected for 3 comparisons), for topics of this "
        f"kind; {pair.losses} won, {pair.wins} lost, {pair.ties} tied."
    )


def test_an_undecided_verdict_names_interval_p_and_the_bound():
    pairs, verdicts = verdict_of(10, people=5, topics=5, strengths=(0, 0, 0))
    for pair, verdict in zip(pairs, verdicts, strict=True):
        assert verdict.scope == "none"
        low, high = (round(100 * end) for end in pair.ci95)
        assert verdict.sentence.startswith(
            f"The answers do not decide between {pair.pair.first} and {pair.pair.second}: "
            f"{pair.pair.first} gets {round(100 * pair.rate)} of 100 comparisons, a tie as half "
            f"(95 % interval of this pair by itself {low} to {high}; p = "
        )
        assert verdict.sentence.endswith(f"{pair.wins} won, {pair.losses} lost, {pair.ties} tied.")


def test_runs_that_are_alike_are_seldom_told_apart():
    decided = sum(
        any(each.preferred for each in verdict_of(seed, strengths=(0, 0, 0), people=10)[1])
        for seed in range(60)
    )
    assert decided <= 8  # 5 % of 60 is 3, and at most 8 in 99 of 100 such samples


def counted_answers(rates, people=20, topics=20):
    """Each pair in each topic; ``rates``: of a pair, how often its first is preferred."""
    rng = np.random.default_rng(3)
    sides, of_topic, answers = {}, {}, []
    for topic in range(topics):
        for pair, rate in rates.items():
            number = len(sides) + 1
            sides[number], of_topic[number] = pair, f"t{topic}"
            answers += [
                (f"P{who:02}", number, 1 if rng.random() < rate else -1) for who in range(people)
            ]
    return answers, sides, RUNS, of_topic


def test_no_run_is_preferred_where_the_answers_to_the_pair_say_the_opposite():
    rates = {("alpha", "beta"): 0.9, ("beta", "gamma"): 0.9, ("alpha", "gamma"): 0.35}
    found = run_strengths(*counted_answers(rates))
    [pair] = [each for each in found.pairs if tuple(each.pair) == ("alpha", "gamma")]
    assert pair.rate > 0.5
    assert pair.contradicted
    verdict = pair.verdict(20, "topics")
    assert (verdict.scope, verdict.preferred) == ("none", None)
    assert verdict.stopped == "the answers to the pair itself say the opposite"
    assert "say the opposite (" in verdict.sentence
    assert "no single order of the runs fits" in verdict.sentence
