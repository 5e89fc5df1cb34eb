"""Where a study departs from the one that the MNRO paper's Section 5.3 reports, and why."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from survey.kinds.ordering.plan import BEFORE, FOLDED, NEAREST, OrderingPlan


class Departure(NamedTuple):
    """A difference from the paper: what it did, what is done here and why, with what effect.

    ``applies``: whether a plan has it.
    """

    paper: str
    here: str
    effect: str
    applies: Callable[[OrderingPlan], object] = lambda _: True


DEPARTURES = (
    Departure(
        "Ten sets of five lists, not published",
        "Lists drawn again by the same rule, as those cannot be had",
        "How often the measures differ",
        lambda plan: plan.generator == "random",
    ),
    Departure(
        "Lists drawn at random, whatever the measures say of them",
        "Only lists on which the measures disagree: fewer people are needed",
        "No question is decided by ties; shares are not the paper's",
        lambda plan: plan.generator != "random",
    ),
    Departure(
        "The scenario as printed; the task is only reported",
        "The printed scenario; the task in words of our own",
        "Little",
        lambda plan: plan.ticks == NEAREST,
    ),
    Departure(
        "The scenario as printed, in terms of retrieval",
        "The same story in plain words, for lay people",
        "Fewer misunderstandings",
        lambda plan: plan.ticks != NEAREST,
    ),
    Departure(
        "Which ranking more closely matches one's own",
        "Which method gives the same order, so that all mean the same by a tick",
        "More own orders, fewer votes",
        lambda plan: plan.ticks != NEAREST,
    ),
    Departure(
        "No sentence on what is good",
        "A sentence on it",
        "People may follow the sentence, and so the measures that count as it says",
        lambda plan: plan.criterion or any("criterion" in arm for arm in plan.arm_settings),
    ),
    Departure(
        "No practice is reported",
        "A practice question and one that checks reading, for untrained people",
        "Fewer slips at first",
        lambda plan: plan.practice,
    ),
    Departure(
        "The values of each measure beside the lists",
        "No values, since they tell methods apart",
        "A method cannot be followed from question to question",
        lambda plan: not plan.show_values,
    ),
    Departure(
        "The values as computed, in view",
        "Values that are rescaled, or folded at first: they tell methods apart",
        "A method is harder to follow from question to question",
        lambda plan: plan.show_values and (plan.rescale_values or plan.scores == FOLDED),
    ),
    Departure(
        "Not reported: what the values mean",
        "A sentence says that lower is better, so that they can be read",
        "What people take from values",
        lambda plan: plan.show_values,
    ),
    Departure(
        "The order of the columns changes from set to set",
        "Method 1 always first: easier to find again",
        "None on the votes: which measure is Method 1 is drawn for each question",
        lambda plan: not plan.shuffle_columns,
    ),
    Departure(
        "The measures' rankings are in view from the start",
        "Some or all people order the lists before they see these, or never see them",
        "Own orders are not drawn towards a measure",
        lambda plan: {*plan.column_times} != {BEFORE},
    ),
    Departure(
        "All people meet the same pages",
        "Arms, which differ in what the plan says",
        "Each arm is a study of its own; results compare them",
        lambda plan: plan.arms,
    ),
    Departure(
        "Scores of one's own, typed into a last column",
        "Letters tapped in order, which a phone allows",
        "More own orders, as they cost less",
    ),
    Departure(
        "An own ranking counts as OTHER",
        "One that equals a measure's counts for that measure, as it agrees",
        "Fewer OTHER, more votes",
    ),
    Departure(
        "Not reported: questions asked back",
        "Asked once when ticked orders differ, or a list is below one that it beats everywhere",
        "Fewer slips; some changed answers",
    ),
    Departure(
        "Not reported: going back",
        "Back, and a page of all answers at the end, to mend slips",
        "Answers of one person are more alike",
    ),
    Departure(
        "Not reported: consent",
        "Consent, leaving, erasing one's data, as law and ethics ask",
        "Who is in the results",
    ),
    Departure(
        "A form, on devices not reported",
        "Any browser, so that more can take part",
        "A phone shows less at once",
    ),
    Departure(
        "Thirty students of one department",
        "The people whom a researcher invites",
        "Who judges",
    ),
)


def departures_of(plan: OrderingPlan) -> Sequence[tuple[str, str, str]]:
    """Return a plan's rows, without ``applies``; none of a study of other lists or measures."""
    if not plan.draws_as_the_paper and plan.generator != "discriminative":
        return ()
    return [row[:3] for row in DEPARTURES if row.applies(plan)]
