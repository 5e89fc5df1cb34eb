"""The second opinion: what it counts, participants' own differences, and when it is not fitted."""

import json
from collections import Counter

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from survey.core.agreement import second_opinion
from survey.core.agreement.agreement import json_values
from survey.core.agreement.differences import differences, mcnemar
from survey.core.agreement.second_opinion import second_opinions
from tests.core.agreement.random_votes import (
    credits_of,
    of_each,
    random_rankings,
    random_responses,
)


@pytest.fixture
def credits():
    """Twelve participants answer eight questions, not all of them, and lean to MNRO."""
    rng = np.random.default_rng(1)
    rankings = random_rankings(rng, 8)
    return credits_of(random_responses(rng, rankings, 12, answered=0.9, leaning=0.3), rankings)


def opinions_of(credits):
    return second_opinions(credits, [f"P{n}" for n in range(len(credits.ballots.answer_counts))])


@pytest.mark.parametrize("ties", ["kept", "dropped"])
def test_it_counts_the_answers_that_credit_one_alone(credits, ties):
    credits = credits if ties == "kept" else credits.single()
    for opinion in opinions_of(credits):
        matched = mcnemar(credits, opinion.pair)
        assert (opinion.first, opinion.second) == (matched.n10, matched.n01)
        assert opinion.n + opinion.left_out.get("credit both or neither", 0) == len(credits)
        assert (opinion.first_ahead > 0.5) == (opinion.log_odds > 0)


def test_a_participants_own_difference_is_of_their_answers_alone(credits):
    for opinion in opinions_of(credits):
        d, who = of_each(credits, differences(credits, opinion.pair))
        first, second = Counter(who[d > 0].tolist()), Counter(who[d < 0].tolist())
        assert len(opinion.participants) == len(first.keys() | second.keys())
        for each in opinion.participants:
            number = int(each.participant[1:])
            assert (each.first, each.second) == (first[number], second[number])
            interval = proportion_confint(each.first, each.first + each.second, method="wilson")
            assert each.ci95 == pytest.approx([2 * end - 1 for end in interval], abs=1e-9)
            assert each.shrunken_ci95[0] < each.shrunken < each.shrunken_ci95[1]
        own, shrunken = (
            [getattr(each, name) for each in opinion.participants]
            for name in ("difference", "shrunken")
        )
        assert own == sorted(own)
        assert np.std(shrunken) < np.std(own)


def test_it_is_the_same_at_each_fit(credits):
    once, again = (json.dumps(json_values(opinions_of(credits))) for _ in range(2))
    assert once == again


def test_where_too_few_answers_decide_or_too_many_it_says_so(credits, monkeypatch):
    few = credits.subset(credits.questions == credits.questions[0])
    assert "two questions" in opinions_of(few)[0].why
    monkeypatch.setattr(second_opinion, "MOST_CELLS", 20)
    opinion = opinions_of(credits)[0]
    assert "at most 20 participants × questions" in opinion.why
    assert (opinion.log_odds, opinion.participants) == (None, ())
    assert opinion.first > 0
