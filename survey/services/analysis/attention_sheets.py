"""What results say of attention checks: who fails, and how random answers would do."""

from collections.abc import Iterator

from survey.core.agreement.attention import Attention, Scores
from survey.core.text_input import Json
from survey.services.analysis.sheets import Cell, Sheet, count_of

CHECKS_NOTE = (
    "A participant is flagged who has more than a third of the answers to a check wrong (of two: "
    "both). A flag excludes no participant. What is asked only as a check counts nowhere else."
)
BY_CHANCE_NOTE = (
    "At random: how many of 100 random answers are right, and how many of 100 people who give only "
    "such would pass (binomial, with as many answers as people gave here)."
)


def attention_sentence(attention: Attention) -> str:
    """Return how many participants fail a check, and how many would by random answers."""
    asked, flagged = len(attention.counts), len(attention.flagged)
    verb = "fails" if flagged == 1 else "fail"
    sentence = f"{flagged} of {count_of(asked, 'participant')} {verb} an attention check"
    if not asked:
        return "No participant has answered an attention check yet."
    if (chance := attention.passed_by_chance) is None:
        return f"{sentence}."
    passing = f"about {100 * chance:.0f} would pass all"
    return f"{sentence}. Of 100 people who answer at random {passing}."


def attention_sheet(attention: Attention) -> Sheet:
    """Return the table of the checks: answers, right ones, flagged people, and random answers."""
    rules = [
        f"{scores.check.name.capitalize()}: {scores.check.text}; right: {scores.check.rule}."
        for scores in attention.scores
    ]
    return Sheet(
        name="attention",
        title="Attention checks",
        columns=(
            *("check", "people", "answers", "right", "flagged"),
            *("right at random, %", "pass at random, %"),
        ),
        rows=tuple(map(_row, attention.scores)),
        note=" ".join([*rules, CHECKS_NOTE, BY_CHANCE_NOTE]),
        decimals=0,
    )


def _row(scores: Scores) -> tuple[Cell, ...]:
    by_chance, passed = scores.check.by_chance, scores.passed_by_chance
    return (
        *(scores.check.name, len(scores.ids), int(scores.asked.sum()), int(scores.right.sum())),
        int(scores.failed.sum()),
        None if by_chance is None else 100 * by_chance,
        None if passed is None or not len(passed) else 100 * float(passed.mean()),
    )


def flags_sheet(attention: Attention) -> Sheet:
    """Return the table of flagged participants, in which flags of other sorts may be too."""
    rows = tuple((flag.participant, flag.kind, flag.reason) for flag in attention.flags)
    return Sheet("flags", "Quality flags", ("participant", "flag", "reason"), rows)


def attention_json(attention: Attention) -> dict[str, Json]:
    """Return the figures of the table, with the flags."""
    return {
        "checks": [dict(_figures(scores)) for scores in attention.scores],
        "flags": [
            {"participant": flag.participant, "kind": flag.kind, "reason": flag.reason}
            for flag in attention.flags
        ],
    }


def _figures(scores: Scores) -> Iterator[tuple[str, Json]]:
    names = ("check", "people", "answers", "right", "flagged", "right_by_chance", "pass_by_chance")
    for name, cell in zip(names, _row(scores), strict=True):
        yield name, cell / 100 if isinstance(cell, float) else cell


def without_flagged(flagged: int, headline: str) -> str:
    """Return a headline that holds without the flagged participants."""
    return f"Without the {count_of(flagged, 'flagged participant')}: {headline}"
