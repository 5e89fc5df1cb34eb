"""Looking at a study's questions before anyone else does."""

from dataclasses import dataclass

from survey.core.measures import Setting
from survey.core.measures.mnro import mnro_horizon
from survey.core.measures.nmrr import nmrr_horizon
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import Question
from survey.core.stimuli.rankings import identical_groups
from survey.core.stimuli.words import and_join
from survey.db.models import Study
from survey.services.studies import current_digest, questions_of


@dataclass(frozen=True)
class Finding:
    """One remark on a study. ``question``: its number, None where it is about the whole.

    ``failed``: the study is broken, not merely worth a second look.
    """

    question: int | None
    text: str
    failed: bool = False


def check_study(study: Study) -> list[Finding]:
    """Remark on identical orders, printed ties, the measures' K, and on a changed digest."""
    questions = questions_of(study)
    findings = [*_about_horizons(study.plan), *_about_identical(questions)]
    if not study.plan.contact:
        findings.append(Finding(None, "no contact is given, so participants can ask nobody"))
    for question in questions:
        findings += _about_printing(question)
    if study.digest is not None and study.digest != current_digest(study):
        findings.append(
            Finding(None, "the content no longer has the digest it was opened with", failed=True)
        )
    return findings


def _about_horizons(plan: Plan) -> list[Finding]:
    setting: Setting = plan.setting
    horizons = {
        "NMRR": nmrr_horizon(plan.relevant, setting.gmt),
        "MNRO": mnro_horizon(
            plan.relevant, setting.collection_size, literal_eq15=setting.literal_eq15
        ),
    }
    return [
        Finding(
            None,
            f"{name}: K = {horizon:g} of {plan.collection_size} positions"
            + (
                ", so every position counts as retrieved" if horizon >= plan.collection_size else ""
            ),
        )
        for name, horizon in horizons.items()
        if name in plan.measures
    ]


def _about_identical(questions: list[Question]) -> list[Finding]:
    findings, agreeing = [], 0
    for question in questions:
        groups = identical_groups(question.rankings)
        agreeing += bool(groups)
        for group in groups:
            findings.append(
                Finding(
                    question.number,
                    f"{and_join(group)} order the lists alike "
                    f"({question.rankings[group[0]]}): a vote for one counts for each",
                )
            )
    summary = (
        f"{agreeing} of {len(questions)} questions have identical orders and cannot tell "
        "those measures apart"
        if agreeing
        else "in every question all the measures' orders differ"
    )
    return [Finding(None, summary), *findings]


def _about_printing(question: Question) -> list[Finding]:
    findings = []
    for name, column in question.columns.items():
        places = column.ranking.places
        longer = [
            letter
            for letter, text in zip(places, column.shown, strict=True)
            if len(text.partition(".")[2]) > 4
        ]
        tied = ["=".join(group) for group in column.ranking.groups if len(group) > 1]
        if longer:
            findings.append(
                Finding(
                    question.number,
                    f"{name}: {and_join(longer)} would print alike at 4 decimals though they rank "
                    "apart, so they are printed with more",
                )
            )
        if tied:
            findings.append(Finding(question.number, f"{name} ties {and_join(tied)}"))
    return findings
