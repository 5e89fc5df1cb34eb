"""The table of whether answers change within people: by position, by time taken, or by habit."""

from collections.abc import Sequence

from survey.core.agreement.order_effects import (
    LATER,
    SAME_ORDER,
    CarryOver,
    OrderEffect,
)
from survey.core.statistics.significance import LEVEL, rounded
from survey.core.studies.fields import list_words
from survey.services.analysis.sheets import Cell, P, Sheet, Worded

NOT_TOLD = (
    f"Whether {LATER} differs was not tested: {SAME_ORDER}; `shuffle_questions: true` in the plan "
    "would show it."
)


def order_effects_sheet(effects: Sequence[OrderEffect], habit: CarryOver, votes: str) -> Sheet:
    """Tabulate the changes and the habit; ``votes``: what the difference of a pair is of."""
    rows: list[tuple[Cell, ...]] = [
        (
            each.contrast,
            Worded(str(each.pair), each.pair.title),
            each.participants,
            *_points(each),
            *_p(each.p, each.p_holm),
        )
        for each in effects
    ]
    of_habit = (*_points(habit), *_p(habit.p, None))
    rows.append(("the place ticked before", None, habit.participants, *of_habit))
    return Sheet(
        name="order-effects",
        title="Position in the study, time taken, and habit",
        columns=(
            *("what is compared", "pair", "participants", "points", "95 % from", "to", "p"),
            "p, Holm",
        ),
        rows=tuple(rows),
        note=" ".join(
            [
                *_told(effects, habit),
                "Of each participant with four answers: the mean difference "
                f"{votes} in the later half of the answers less that in the earlier half, and in "
                "the slower half less that in the faster; participants whose halves cannot be told "
                "apart, their times being equal, are left out. Last row: ticks in the place that "
                "the answer before ticked, less what chance gives, in points. t over participants.",
            ]
        ),
        decimals=1,
        part="checks",
    )


def _told(effects: Sequence[OrderEffect], habit: CarryOver) -> list[str]:
    """Return what the tests say, and which of them could not be made."""
    told = []
    changed = [
        f"{each.contrast}, {each.pair.title}: {rounded(100 * (each.mean or 0))} points"
        for each in effects
        if each.p_holm is not None and each.p_holm < LEVEL
    ]
    if changed:
        told.append(f"The answers change within people: {list_words(changed)}.")
    elif tested := dict.fromkeys(each.contrast for each in effects if each.p is not None):
        told.append(f"No change within people is shown ({list_words([*tested])}).")
    if any(each.why == SAME_ORDER for each in effects):
        told.append(NOT_TOLD)
    if habit.p is not None and habit.p < LEVEL and (habit.mean or 0) > 0:
        told.append("People tick the place that they ticked before more often than by chance.")
    return told


def _points(test: OrderEffect | CarryOver) -> tuple[float | None, ...]:
    low, high = test.ci95 or (None, None)
    return tuple(None if each is None else 100 * each for each in (test.mean, low, high))


def _p(*values: float | None) -> tuple[P | None, ...]:
    return tuple(None if value is None else P(value) for value in values)
