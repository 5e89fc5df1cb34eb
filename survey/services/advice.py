"""What a grid of simulated studies advises: how large, and what helps most."""

from collections.abc import Iterator, Sequence

from survey.core.agreement.planning import Power
from survey.services.planning import ENOUGH, asked, percent, points


def advice(powers: Sequence[Power]) -> list[str]:
    """Say for each difference which study is large enough, and whether people or questions help.

    Everything is computed from ``powers``, which is a whole grid.
    """
    differences = sorted({found.difference for found in powers if found.difference})
    grids = ([one for one in powers if one.difference == difference] for difference in differences)
    return [" ".join([_large_enough(here), *_what_helps(here)]) for here in grids]


def _large_enough(here: Sequence[Power]) -> str:
    what = f"A difference of {points(here[0].difference)}"
    enough = [found for found in here if found.power >= ENOUGH]
    if enough:
        least = min(enough, key=lambda found: (found.answers, found.participants, -found.power))
        return (
            f"{what}: of these studies, {_study(least)} is the smallest that finds it in "
            f"{100 * ENOUGH:.0f} % of cases or more: in {percent(least)}."
        )
    best = max(here, key=lambda found: found.power)
    return (
        f"{what}: none of these studies finds it in {100 * ENOUGH:.0f} % of cases; "
        f"the best is {_study(best)}: in {percent(best)}."
    )


def _what_helps(here: Sequence[Power]) -> Iterator[str]:
    """Compare the smallest study with more participants and with more questions."""
    start = min(
        here, key=lambda found: (found.participants, found.per_participant, found.questions)
    )
    alike = [found for found in here if found.per_participant == start.per_participant]
    people = [found for found in alike if found.questions == start.questions and found != start]
    questions = [
        found for found in here if found.participants == start.participants and found != start
    ]
    if not people or not questions:
        return
    more_people = max(people, key=lambda found: found.participants)
    more_questions = max(questions, key=lambda found: found.power)
    yield (
        f"{_study(start)} find it in {percent(start)}; "
        f"{_study(more_people)} in {percent(more_people)}; "
        f"{_study(more_questions)} in {percent(more_questions)}. "
        f"{_conclusion(more_people, more_questions)}"
    )


def _conclusion(people: Power, questions: Power) -> str:
    if questions.interval[0] > people.interval[1]:
        return "Here more questions help more than more participants."
    if people.interval[0] > questions.interval[1]:
        return "Here more participants help more than more questions."
    return "Here neither more participants nor more questions helps clearly more."


def _study(found: Power) -> str:
    return f"{found.participants} participants × {asked(found)} questions ({found.answers} answers)"
