"""Where a study's ranked lists come from: seeded generators with golden values."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from survey.core.measures import Setting
from survey.core.stimuli.discriminative import discriminative_question
from survey.core.stimuli.marks import NO_MARKS, Marks
from survey.core.stimuli.positions import Positions, most_draws
from survey.core.stimuli.questions import Question, build_question

# Part of the study digest. Raise it whenever a generator would draw other lists
# from the same seed; the golden values in the tests say when that is so.
GENERATOR_VERSION = 1

# A set that keeps being refused after so many draws will not come out at all.
# Nor after so many positions, where a draw takes thousands: some seconds in any design.
MOST_DRAWS = 10_000
MOST_POSITIONS = 1_000_000


def random_question(
    number: int,
    *,
    seed: int,
    lists: int,
    relevant: int,
    measures: Sequence[str],
    setting: Setting,
    marks: Marks = NO_MARKS,
    within: int | None = None,
    draws: int = MOST_DRAWS,
) -> Question:
    """Draw a question as the paper did: positions uniform, without replacement.

    ``marks``, of one list, are dealt to the positions of each, every order equally likely.
    ``within``: draw from the first so many positions only. ``draws``: give up after so many.

    Refused and drawn again are only a set in which a list occurs twice and a set
    in which some measure ties all its lists. Each question has a stream of its
    own, so question 3 of a seed is the same in a study of 5 and of 50 questions.

    Raises ValueError when the numbers leave no such set (MNRO paper, Section 5.3).
    """
    positions = Positions(seed, number)
    span = within or setting.collection_size
    most = most_draws(draws, MOST_POSITIONS, lists, relevant, span)
    for _ in range(most):
        drawn = [positions.sample(relevant, span) for _ in range(lists)]
        if len({tuple(row) for row in drawn}) < lists:
            continue
        orders = [positions.order(relevant) for _ in drawn] if marks else ()
        question = build_question(number, drawn, measures, setting, marks.dealt(orders))
        if not any(ranking.all_tied for ranking in question.rankings.values()):
            return question
    raise ValueError(
        f"no set of {lists} different lists of {relevant} positions among "
        f"{span} came up in {most} draws that every measure can order; "
        "ask for fewer lists, fewer relevant items or a larger collection"
    )


Generator = Callable[..., Question]

GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {"random": random_question, "discriminative": discriminative_question}
)
"""Generators by the name that ``survey study new --generator`` takes."""
