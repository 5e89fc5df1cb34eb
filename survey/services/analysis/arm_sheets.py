"""The tables of what arms change, of any kind of question that has measures."""

from collections.abc import Iterator

from survey.core.agreement.arm_effects import AGREEMENT, SHARE, ArmEffect, ArmEffects
from survey.core.statistics.significance import LEVEL
from survey.services.analysis.results import Listing, More, Section, Sentence, Sentences
from survey.services.analysis.sheets import P, Sheet, Worded, count_of

MEANS = {SHARE: "each measure's share of the votes", AGREEMENT: "agreement with each measure"}
ARMS_TITLE = "What the arms change"
ARMS_NOTE = (
    "Each arm less the first one. Differences are tested over participants, who are others in each "
    "arm, and questions, which are the same. Interval and p are of a row by itself; the corrected "
    "p decides (Holm over these rows; six questions or more)."
)


def arm_sheets(effects: ArmEffects) -> Iterator[Sheet]:
    """Yield the table of the arms' means, and that of what each arm changes."""
    measures = [*effects.arms[0].means] if effects.arms else []
    yield Sheet(
        name="arms",
        title=f"The arms: {MEANS[effects.statistic]}",
        columns=("arm", "participants", "answers", *measures),
        rows=tuple(
            (each.arm, each.participants, each.answers, *each.means.values())
            for each in effects.arms
        ),
    )
    yield Sheet(
        name="arm-effects",
        title="What each arm changes, against the first",
        columns=(
            *("arm", "measure or pair", "difference", "95 % from", "to", "p", "p, corrected"),
        ),
        rows=tuple(
            (
                each.arm,
                _named(each),
                each.mean,
                *(each.ci95 or (None, None)),
                *(None if p is None else P(p) for p in (each.p, each.p_holm)),
            )
            for each in effects.effects
        ),
        note=ARMS_NOTE,
    )


def arms_json(effects: ArmEffects) -> dict[str, object]:
    """Return the arms' means, and each effect with its sentence."""
    return {
        "statistic": effects.statistic,
        "arms": [vars(each) for each in effects.arms],
        "effects": [
            {
                "of": each.of,
                **vars(each),
                "over": each.over or "",
                "sentence": effects.sentence(each),
            }
            for each in effects.effects
        ],
    }


def arms_section(effects: ArmEffects, level: float = LEVEL) -> Section:
    """Return the part of a report on arms: a sentence for each row, and the numbers on demand."""
    decided = [each.is_decided(level) for each in effects.effects]
    sentences = Sentences(
        [
            Sentence(effects.sentence(each, level), is_decided=is_decided)
            for each, is_decided in zip(effects.effects, decided, strict=True)
        ]
    )
    numbers = More("The numbers", [*map(Listing, arm_sheets(effects))])
    gist = f"{sum(decided)} of {count_of(len(decided), 'comparison')} decided"
    return Section("arms", ARMS_TITLE, "Arms", [sentences, numbers], gist)


def _named(effect: ArmEffect) -> str:
    if effect.over is None:
        return effect.measure
    return Worded(effect.of, f"{effect.measure} − {effect.over}")
