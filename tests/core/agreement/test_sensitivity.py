"""The differences with participants counted equally, against their definition, and planted."""

import numpy as np
import pytest

from survey.core.agreement.agreement import sensitivity
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import MEASURES, random_rankings, random_responses

FIRST = Ranking.by_key({"A": 0, "B": 1})
SECOND = Ranking.by_key({"A": 1, "B": 0})
TWO = ("AP", "MNRO")


def variants_of(responses, rankings, measures):
    answers = Answers.of(responses)
    found = sensitivity(answers, rankings, measures, np.zeros(len(answers.people), dtype=bool))
    return {each.choice: each for each in found}


@pytest.mark.parametrize("seed", range(4))
def test_each_participants_mean_has_the_same_weight(seed):
    rng = np.random.default_rng(seed)
    rankings = random_rankings(rng, 6)
    responses = random_responses(rng, rankings, 12, answered=0.6)
    equally = variants_of(responses, rankings, MEASURES)["participants counted equally"]
    credits = tally_credits(Ballots.of(Answers.of(responses), rankings, MEASURES))
    behind = credits.ballots.ballot_index
    people = np.repeat(np.arange(len(credits.answer_counts)), credits.ballots.answer_counts)
    for each in equally.differences:
        first, second = (credits.votes[behind, MEASURES.index(name)] for name in each.pair)
        means = [np.mean((first - second)[people == who]) for who in range(people.max() + 1)]
        assert each.mean == pytest.approx(np.mean(means))
        half = 1.96 * np.std(means, ddof=1) / np.sqrt(len(means))  # t is wider
        assert each.ci95[0] <= each.mean - half
        assert each.ci95[1] >= each.mean + half
    weights = credits.question_weights_of_people()
    by_hand = [
        np.mean(
            [
                np.mean(credits.questions[behind][people == who] == question)
                for who in range(people.max() + 1)
            ]
        )
        for question in sorted(rankings)
    ]
    assert weights == pytest.approx(by_hand)


def test_where_all_answered_equally_many_it_changes_nothing():
    rng = np.random.default_rng(5)
    rankings = random_rankings(rng, 5)
    responses = random_responses(rng, rankings, 9)
    variants = variants_of(responses, rankings, MEASURES)
    all_of, equally = variants["every response"], variants["participants counted equally"]
    for each, other in zip(all_of.differences, equally.differences, strict=True):
        assert (each.mean, each.why) == (other.mean, other.why)
        assert (each.p, each.ci95) == (pytest.approx(other.p), pytest.approx(other.ci95))


def test_one_response_cannot_be_tested_and_says_why():
    rankings = {1: {"AP": FIRST, "MNRO": SECOND}}
    only = variants_of([Response("P1", 1, TWO, frozenset([2]))], rankings, TWO)
    (effect,) = only["participants counted equally"].differences
    assert (effect.mean, effect.p) == (1.0, None)
    assert effect.why


def test_a_few_who_answer_all_do_not_decide_for_those_who_answer_once():
    """Three of thirty answer all thirty questions, the others two; people differ, none prefers."""
    rng, wrong, studies = np.random.default_rng(6), 0, 300
    rankings = {number: {"AP": FIRST, "MNRO": SECOND} for number in range(1, 31)}
    for _ in range(studies):
        responses = []
        for who in range(30):
            lean = 1 / (1 + np.exp(-rng.normal()))
            asked = range(1, 31) if who < 3 else (1 + rng.permutation(30)[:2]).tolist()
            responses += [
                Response(f"P{who}", number, TWO, frozenset([1 + int(rng.random() < lean)]))
                for number in asked
            ]
        (effect,) = variants_of(responses, rankings, TWO)[
            "participants counted equally"
        ].differences
        wrong += effect.p < 0.05
    assert wrong <= 0.065 * studies
