"""What simulated studies say in words: how to read them, how large is enough, what helps."""

from collections.abc import Iterator, Sequence

from survey.core.agreement.planning import Power

ENOUGH = 0.8  # the power that studies are usually planned for
NOT_COVERED = (
    "One pair of measures and one test at 5 %: where three pairs are tested and Holm's "
    "correction is applied, the power for each is lower.",
    "Nobody leaves and nothing is left out: invite more people than planned.",
    "The share that decides and the spread between questions come from the ten questions of "
    "the MNRO paper, one of which cannot tell MNRO and NMRR apart. Yours may differ: try "
    "others. The spread between participants is an assumption; the paper does not print it.",
    "With few participants or questions the test's own 5 % is approximate: ask for a "
    "difference of 0 to see how often it finds what is not there.",
)


def reading(found: Power) -> str:
    """Say in a sentence what was found of a study."""
    reach = 50 * (found.interval[1] - found.interval[0])
    margin = f"±{reach:.0f}" if reach >= 0.5 else "less than ±1"
    who = f"With {found.participants} participants answering {asked(found)} questions"
    how_often = f"is found in {percent(found)} of studies ({margin})"
    if not found.difference:
        return f"{who}, a difference that is not there {how_often}."
    return f"{who}, a difference of {points(found.difference)} {how_often}."


def asked(found: Power) -> str:
    """Say what each participant answers: "all of 10", "10 of 30"."""
    answered = "all" if found.design == "all" else str(found.per_participant)
    return f"{answered} of {found.questions}"


def percent(found: Power) -> str:
    """Print a power for reading, never rounded up to what is enough."""
    for decimals in range(4):
        text = f"{100 * found.power:.{decimals}f}"
        if (float(text) < 100 * ENOUGH) == (found.power < ENOUGH):
            break
    return f"{text} %"


def points(share: float) -> str:
    """Print a difference of shares in points: 10 points."""
    return f"{100 * share:g} point{'' if share == 0.01 else 's'}"


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
