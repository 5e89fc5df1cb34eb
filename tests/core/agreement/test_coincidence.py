"""Pairs whose answers coincide: copies are found, independent people are not, however careful."""

import numpy as np
import pytest
from scipy.stats import binom

from survey.core.agreement.coincidence import FEWEST_PEOPLE, coincidences, upper_tail


def a_study(seed, people=30, questions=20, answers=5, skills=None):
    """Answers drawn from each question's shares; with ``skills``, right with that chance."""
    chance = np.random.default_rng(seed)
    drawn = np.empty((people, questions), dtype=int)
    for question in range(questions):
        shares = chance.dirichlet(np.ones(answers))
        drawn[:, question] = chance.choice(answers, people, p=shares)
        if skills is not None:
            knows = chance.random(people) < skills
            drawn[knows, question] = chance.integers(answers)
    return drawn


def found(drawn):
    rows = {f"P{person:02}": dict(enumerate(row.tolist())) for person, row in enumerate(drawn)}
    return [(each.first, each.second) for each in coincidences(rows).found]


@pytest.mark.parametrize("questions", [10, 20, 60])
@pytest.mark.parametrize("people", [8, 30])
def test_independent_people_are_not_flagged(people, questions):
    studies = range(60)
    assert not any(found(a_study(seed, people, questions)) for seed in studies)


@pytest.mark.slow
def test_fewer_than_one_study_in_a_thousand_flags_independent_people():
    flagged = sum(bool(found(a_study(seed, 12, 20, 3 + seed % 4))) for seed in range(3_000))
    assert flagged <= 3


def test_careful_people_agree_on_all_and_are_not_flagged():
    """Half of them are right 97 times in 100, so pairs of these share 19 of 20 answers."""
    skills = np.where(np.arange(30) % 2, 0.97, 0.3)
    for seed in range(40):
        drawn = a_study(seed, questions=40, skills=skills)
        assert (drawn[1] == drawn[3]).mean() > 0.8
        assert found(drawn) == []


def test_people_who_all_say_the_same_are_not_flagged():
    assert found(np.ones((12, 30), dtype=int)) == []


def test_copied_answers_are_found():
    for seed in range(20):
        drawn = a_study(seed, questions=30)
        drawn[7] = drawn[3]
        assert found(drawn) == [("P03", "P07")]


def test_answers_copied_with_some_changes_are_found_too():
    hits = 0
    for seed in range(20):
        drawn = a_study(seed, questions=40)
        drawn[7, 4:] = drawn[3, 4:]
        hits += found(drawn) == [("P03", "P07")]
    assert hits >= 18


def test_questions_that_not_both_answered_are_not_compared():
    drawn = a_study(1, questions=30)
    drawn[7] = drawn[3]
    rows = {f"P{person:02}": dict(enumerate(row.tolist())) for person, row in enumerate(drawn)}
    for question in range(25):
        del rows["P03"][question]
    result = coincidences(rows)
    assert (result.found, result.pairs, result.people) == ((), 30 * 29 // 2, 30)


def test_shares_need_people():
    result = coincidences({f"P{each}": {1: "a", 2: "b"} for each in range(FEWEST_PEOPLE - 1)})
    assert (result.pairs, result.why) == (0, "no question has the 6 answers that the shares need")
    assert coincidences({}).pairs == 0
    many = coincidences({f"P{each}": dict.fromkeys(range(50), 1) for each in range(10_000)})
    assert many.why == "there are too many pairs of people to compare"


def test_the_tail_of_equal_chances_is_a_binomial_one():
    for at_least in range(12):
        assert upper_tail(np.full(11, 0.3), at_least) == pytest.approx(
            binom.sf(at_least - 1, 11, 0.3)
        )
    assert upper_tail(np.array([0.5, 0.2]), 2) == pytest.approx(0.1)
