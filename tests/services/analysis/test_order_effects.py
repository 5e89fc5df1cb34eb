"""What the table of changes within people says of them."""

from survey.core.agreement.differences import Pair
from survey.core.agreement.order_effects import LATER, SAME_ORDER, SLOWER, CarryOver, OrderEffect
from survey.services.analysis.order_effects import order_effects_sheet

PAIR = Pair("MNRO", "AP")
NO_HABIT = CarryOver(0, why="it needs two participants who tick twice")


def effect(contrast, p):
    return OrderEffect(contrast, PAIR, 30, 0.2, 0.05, 29, p, p, (0.1, 0.3))


def note_of(*effects, habit=NO_HABIT):
    return order_effects_sheet(effects, habit, "of votes").note


def test_a_change_is_told_and_no_change_names_what_was_tested():
    assert note_of(effect(LATER, 0.01), effect(SLOWER, 0.4)).startswith(
        f"The answers change within people: {LATER}, MNRO − AP: 20.0 points."
    )
    said = "No change within people is shown (later less earlier and slower less faster)."
    assert note_of(effect(LATER, 0.3), effect(SLOWER, 0.4)).startswith(said)


def test_a_contrast_that_could_not_be_tested_is_named_with_what_would_test_it():
    untold = OrderEffect(LATER, PAIR, 30, why=SAME_ORDER)
    note = note_of(untold, effect(SLOWER, 0.4))
    assert note.startswith(
        "No change within people is shown (slower less faster). Whether later less earlier differs "
        "was not tested: all participants had the questions in the same order, so position cannot "
        "be told from question; `shuffle_questions: true` in the plan would show it."
    )
    table = order_effects_sheet([untold], NO_HABIT, "of votes")
    assert table.rows[0][3:] == (None,) * 5


def test_a_habit_is_told_in_its_direction():
    for mean, told in ((0.1, True), (-0.1, False)):
        habit = CarryOver(30, mean, 0.02, 29, 0.001, (mean - 0.04, mean + 0.04))
        assert ("People tick the place" in note_of(habit=habit)) == told
