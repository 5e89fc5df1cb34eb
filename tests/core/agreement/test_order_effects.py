"""Changes within participants: by position, by time, and the place of ticks."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.order_effects import LATER, SLOWER, carry_over, order_effects
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "MNRO")
ORDERS = {"AP": Ranking.parse("A>B"), "MNRO": Ranking.parse("B>A")}


def answers_of(rng, people=20, questions=6, *, drift=0.0, haste=0.0, habit=0.0):
    """Answers in a random order of questions; the numbers make them depend on what is tested."""
    responses = []
    for who in range(people):
        before = None
        for position, question in enumerate(rng.permutation(questions).tolist(), 1):
            seconds = float(rng.integers(5, 60))
            chance = 0.5 + drift * (position > questions / 2) + haste * (seconds > 30)
            label_order = tuple(rng.permutation(MEASURES).tolist())
            columns = tuple((rng.permutation(2) + 1).tolist())
            label = label_order.index(MEASURES[int(rng.random() < chance)]) + 1
            if before is not None and rng.random() < habit:
                label = columns[before]
            before = columns.index(label)
            responses.append(
                Response(
                    f"p{who:03}",
                    question,
                    label_order,
                    frozenset({label}),
                    column_order=columns,
                    position=position,
                    seconds=seconds,
                )
            )
    responses.sort(key=lambda each: (each.participant, each.question))
    return responses


def found(responses):
    answers = Answers.of(responses)
    rankings = dict.fromkeys({each.question for each in responses}, ORDERS)
    credits = tally_credits(Ballots.of(answers, rankings, MEASURES))
    return order_effects(answers, credits), carry_over(answers, MEASURES)


def vote(response):
    return {"MNRO": 1, "AP": -1}[response.label_order[min(response.clicked) - 1]]


def test_they_are_the_differences_of_each_participants_halves():
    responses = answers_of(np.random.default_rng(1), questions=7)
    effects, _ = found(responses)
    for effect, key in zip(effects, (lambda r: r.position, lambda r: r.seconds), strict=True):
        of_people = []
        for who in sorted({each.participant for each in responses}):
            mine = sorted((each for each in responses if each.participant == who), key=key)
            keys, votes = [*map(key, mine)], [vote(each) for each in mine]
            if keys[2] == keys[3] or keys[3] == keys[4]:
                continue
            of_people.append(np.mean(votes[4:]) - np.mean(votes[:3]))
        assert effect.participants == len(of_people) > 15
        test = stats.ttest_1samp(of_people, 0)
        assert effect.mean == pytest.approx(np.mean(of_people), abs=1e-12)
        assert effect.p == pytest.approx(test.pvalue)
        assert effect.ci95 == pytest.approx(tuple(test.confidence_interval()))
    assert [effect.contrast for effect in effects] == [LATER, SLOWER]


def test_the_habit_is_the_share_of_ticks_in_the_place_before_less_chance():
    responses = answers_of(np.random.default_rng(2), people=9)
    _, habit = found(responses)
    shares = []
    for who in sorted({each.participant for each in responses}):
        mine = sorted((r for r in responses if r.participant == who), key=lambda r: r.position)
        places = [each.column_order.index(min(each.clicked)) for each in mine]
        same = [now == before for before, now in pairwise(places)]
        shares.append(np.mean(same) - 1 / 2)
    assert habit.participants == 9
    assert habit.mean == pytest.approx(np.mean(shares))
    assert habit.p == pytest.approx(stats.ttest_1samp(shares, 0).pvalue)


@pytest.mark.parametrize(
    ("change", "which"), [({"drift": 0.4}, LATER), ({"haste": 0.4}, SLOWER), ({"habit": 0.5}, None)]
)
def test_what_changes_is_found(change, which):
    effects, habit = found(answers_of(np.random.default_rng(3), people=40, questions=8, **change))
    shown = {effect.contrast for effect in effects if effect.p_holm < 0.01}
    assert shown == ({which} if which else set())
    assert (habit.p < 0.01 and habit.mean > 0) == (which is None)


def in_fixed_order(responses):
    return [replace(each, position=each.question + 1) for each in responses]


def test_position_is_not_told_from_question_where_all_have_the_same_order():
    responses = in_fixed_order(answers_of(np.random.default_rng(5), people=40, questions=8))
    later, slower = found(responses)[0]
    assert (later.mean, later.p, later.p_holm, later.ci95) == (None, None, None, None)
    assert "same order" in later.why
    assert later.participants == 40
    assert slower.p is not None
    # A participant with two neighbouring questions in the opposite order is enough.
    turned = [
        replace(each, position=9 - each.position) if each.participant == "p000" else each
        for each in responses
    ]
    later, _ = found(turned)[0]
    assert later.p is not None


def test_in_parts_of_a_pool_the_order_counts_as_the_same_where_none_is_opposite():
    responses = in_fixed_order(answers_of(np.random.default_rng(6), people=40, questions=10))
    rng = np.random.default_rng(7)
    kept = {
        each: set(rng.choice(10, 6, replace=False)) for each in {r.participant for r in responses}
    }
    of_pool = [each for each in responses if each.question in kept[each.participant]]
    assert "same order" in found(of_pool)[0][0].why
    gaps = [replace(each, position=2 * each.position) for each in of_pool]
    assert "same order" in found(gaps)[0][0].why


def test_equal_times_in_the_middle_are_in_neither_half():
    responses = answers_of(np.random.default_rng(8), people=20, questions=8, drift=0.4)
    instant = [replace(each, seconds=0.0) for each in responses]
    later, slower = found(instant)[0]
    assert later.p < 0.05
    assert (slower.participants, slower.p) == (0, None)
    # Of eight only the fourth and the fifth have to differ.
    halves = [replace(each, seconds=float(each.question > 3)) for each in responses]
    assert found(halves)[0][1].participants == 20


def test_without_a_change_five_percent_of_studies_show_one():
    shown = habits = 0
    for seed in range(300):
        effects, habit = found(answers_of(np.random.default_rng(seed), people=12, questions=4))
        shown += any(effect.p_holm is not None and effect.p_holm < 0.05 for effect in effects)
        habits += habit.p is not None and habit.p < 0.05
    # 5.5 % of 300, and 3 standard errors of 1.3 points
    assert max(shown, habits) / 300 < 0.055 + 3 * 0.013


def test_who_answered_three_questions_does_not_count_and_too_few_say_why():
    responses = answers_of(np.random.default_rng(4), people=3, questions=3)
    effects, _ = found(responses)
    assert {(effect.participants, effect.p) for effect in effects} == {(0, None)}
    assert all("four answers" in effect.why for effect in effects)
    empty_effects, habit = found(responses[:1])
    assert habit.participants == 0
    assert "tick twice" in habit.why
    assert {effect.mean for effect in empty_effects} == {None}


def test_answers_without_position_time_or_columns_say_nothing():
    label_order = MEASURES
    responses = [
        Response(f"p{who}", question, label_order, frozenset({1}))
        for who, question in product(range(3), range(5))
    ]
    effects, habit = found(responses)
    assert {effect.participants for effect in effects} == {0}
    assert habit.participants == 0
