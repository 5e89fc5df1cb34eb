"""What arms change: against scipy and statsmodels, and where there is no test."""

import numpy as np
import pytest
import scipy
from statsmodels.stats.multitest import multipletests

from survey.core.agreement.arm_effects import AGREEMENT, SHARE, ArmAnswers, arm_effects

MEASURES = ("AP", "NMRR", "MNRO")


def answers(values, name):
    """Answers of people, (people, questions, measures)."""
    people, questions, measures = values.shape
    names = np.array([f"{name}{number:02}" for number in range(people)])
    return ArmAnswers(
        names.repeat(questions),
        np.tile(np.arange(1, questions + 1), people),
        values.reshape(-1, measures),
    )


@pytest.fixture
def groups():
    """Three arms of other sizes, all with ten questions."""
    rng = np.random.default_rng(5)
    sizes = {"plain": 14, "early": 9, "practised": 21}
    return {name: answers(rng.random((size, 10, 3)), name[0]) for name, size in sizes.items()}


def test_people_who_answer_all_alike_are_compared_by_welchs_test():
    rng = np.random.default_rng(3)
    # A participant gives the same to each question, so nothing differs between questions.
    values = {
        name: rng.random((size, 1, 3)).repeat(8, axis=1) for name, size in (("a", 7), ("b", 12))
    }
    found = arm_effects(
        {name: answers(each, name) for name, each in values.items()}, MEASURES, SHARE
    )
    means = {name: each.mean(axis=1) for name, each in values.items()}
    for column, effect in enumerate(found.effects[:3]):
        b, a = (means[name][:, column] for name in "ba")
        welch = scipy.stats.ttest_ind(b, a, equal_var=False)
        assert effect.mean == pytest.approx(b.mean() - a.mean())
        assert effect.p == pytest.approx(welch.pvalue)
        assert effect.df == pytest.approx(welch.df)
        assert effect.ci95 == pytest.approx(welch.confidence_interval(0.95))


def test_each_arm_is_compared_with_the_first_and_corrected_for_all_rows(groups):
    found = arm_effects(groups, MEASURES, SHARE)
    rows = [(effect.arm, effect.reference, effect.of) for effect in found.effects]
    of = ["AP", "NMRR", "MNRO", "MNRO-NMRR", "MNRO-AP", "NMRR-AP"]
    assert rows == [(arm, "plain", each) for arm in ("early", "practised") for each in of]
    p = [effect.p for effect in found.effects]
    corrected = multipletests(p, method="holm")[1]
    assert [effect.p_holm for effect in found.effects] == pytest.approx(corrected)
    for effect in found.effects:
        half = scipy.stats.t.ppf(1 - 0.025 / 12, effect.df) * effect.se
        assert effect.ci95_simultaneous == pytest.approx((effect.mean - half, effect.mean + half))


def test_what_changes_a_lead_is_what_changes_the_two_measures(groups):
    effects = {
        (each.arm, each.of): each.mean for each in arm_effects(groups, MEASURES, SHARE).effects
    }
    for arm in ("early", "practised"):
        lead = effects[arm, "MNRO"] - effects[arm, "AP"]
        assert effects[arm, "MNRO-AP"] == pytest.approx(lead)


def test_the_means_are_those_of_the_answers(groups):
    for means in arm_effects(groups, MEASURES, SHARE).arms:
        of_arm = groups[means.arm]
        assert means.answers == len(of_arm.people) == 10 * means.participants
        assert [*means.means.values()] == pytest.approx(of_arm.values.mean(axis=0))


def test_undefined_values_are_left_out(groups):
    holes = dict(groups)
    early = groups["early"]
    values = early.values.copy()
    values[::7, 0] = np.nan
    holes["early"] = ArmAnswers(early.people, early.questions, values)
    effects = arm_effects(holes, MEASURES, AGREEMENT).effects
    first = next(each for each in effects if (each.arm, each.of) == ("early", "AP"))
    change = np.nanmean(values[:, 0]) - groups["plain"].values[:, 0].mean()
    assert first.mean == pytest.approx(change)
    untouched = next(each for each in effects if (each.arm, each.of) == ("early", "NMRR"))
    assert untouched == next(
        each for each in arm_effects(groups, MEASURES, AGREEMENT).effects if each == untouched
    )


def test_sentences_say_the_direction_and_whether_it_is_decided(groups):
    moved = dict(groups)
    early = groups["early"]
    values = early.values + np.array([0.5, 0, -0.5])
    moved["early"] = ArmAnswers(early.people, early.questions, values)
    found = arm_effects(moved, MEASURES, SHARE)
    said = {(each.arm, each.of): found.sentence(each) for each in found.effects}
    assert said["early", "AP"].startswith("With “early” AP's share of the votes is ")
    assert " points higher than with “plain” (" in said["early", "AP"]
    assert said["early", "AP"].endswith(
        "corrected for 12 comparisons), for questions of this kind and such people."
    )
    assert " points lower than with “plain” (" in said["early", "MNRO-AP"]
    assert said["practised", "AP"].endswith(", for all 12 comparisons together): not decided.")
    # The interval is of the change in the direction that the sentence names.
    lowered = next(each for each in found.effects if (each.arm, each.of) == ("early", "MNRO"))
    low, high = lowered.ci95
    assert f"({-100 * high:.1f} to {-100 * low:.1f};" in said["early", "MNRO"]


def test_one_participant_cannot_be_tested(groups):
    alone = {"plain": groups["plain"], "early": answers(np.ones((1, 10, 3)), "x")}
    found = arm_effects(alone, MEASURES, SHARE)
    assert {each.why for each in found.effects} == {"a test needs two participants on each side"}
    assert found.sentence(found.effects[0]) == (
        "What “early” changes in AP's share of the votes cannot be told: a test needs two "
        "participants on each side."
    )


def test_few_questions_decide_nothing():
    far = {name: answers(np.full((20, 3, 3), value), name) for name, value in (("a", 0), ("b", 1))}
    rng = np.random.default_rng(1)
    noisy = {
        name: ArmAnswers(each.people, each.questions, each.values + rng.normal(0, 0.01, (60, 3)))
        for name, each in far.items()
    }
    effects = arm_effects(noisy, MEASURES, SHARE).effects
    assert all(each.p < 0.01 for each in effects[:3])
    assert not any(each.is_decided() for each in effects)


def test_arms_without_answers_are_left_out(groups):
    nobody_yet = ArmAnswers(np.array([], dtype=str), np.array([], dtype=int), np.zeros((0, 3)))
    found = arm_effects({**groups, "late": nobody_yet}, MEASURES, SHARE)
    assert [each.arm for each in found.arms] == ["plain", "early", "practised"]
    assert arm_effects({"plain": nobody_yet}, MEASURES, SHARE).effects == ()
