"""Check a study before it opens: its questions, its texts and its digest."""

from collections.abc import Iterator

from survey.core.measures import mentioned_measure
from survey.core.studies.faults import Finding
from survey.core.tasks import ordering, task_of
from survey.core.tasks.ordering import QuestionCheck, pair_sentences
from survey.core.tasks.ordering_plan import OrderingPlan
from survey.db.models import Study
from survey.services.studies.lifecycle import current_digest, questions_of
from survey.services.studies.recruitment import recruitment_of

__all__ = [
    "Finding",
    "QuestionCheck",
    "chance_advantage",
    "check_study",
    "headings",
    "pair_sentences",
    "question_checks",
]


def check_study(study: Study) -> list[Finding]:
    """Return findings; one that has ``failed`` means that the study is broken."""
    findings = [*task_of(study.plan).findings(study.plan, questions_of(study))]
    findings += [
        Finding(None, f"the {what} holds the name of a measure ({measure}); participants see it")
        for what, text in _public_texts(study)
        if (measure := mentioned_measure(text))
    ]
    if not study.plan.contact:
        findings.append(Finding(None, "no contact is set, so participants do not know whom to ask"))
    if study.digest is not None and study.digest != current_digest(study):
        findings.append(
            Finding(None, "the content no longer has the digest it was opened with", failed=True)
        )
    return findings


def question_checks(study: Study) -> list[QuestionCheck]:
    """Compare the measures' orders question by question, practice first; none of another kind."""
    if not isinstance(study.plan, OrderingPlan):
        return []
    return ordering.question_checks(questions_of(study, practice=True))


def headings(study: Study) -> dict[str, str]:
    """Return the column heading of each measure's values: 1-AP for AP, so that lower is better."""
    plan = study.plan
    return ordering.headings(plan) if isinstance(plan, OrderingPlan) else {}


def chance_advantage(study: Study) -> dict[str, float]:
    """Return the expected credits per response if participants click columns at random."""
    if not isinstance(study.plan, OrderingPlan):
        return {}
    return ordering.chance_advantage(study.plan, questions_of(study))


def _public_texts(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the texts of pages, their sources and their addresses, each after its name.

    The slug is left out: ``refuse_slug`` has checked it.
    """
    yield from study.plan.public_texts()
    settings = recruitment_of(study)
    yield "return_url", settings.return_url
    yield "id_parameter", settings.id_parameter
    yield "capture", "\n".join(settings.capture)
