"""What a researcher does to a study beside opening and closing it."""

from datetime import datetime

from sqlalchemy import delete as sql_delete
from sqlalchemy.orm import Session

from survey.core.stimuli.digests import text_digest
from survey.core.stimuli.faults import is_storable
from survey.core.stimuli.generators import GENERATOR_VERSION
from survey.core.stimuli.plan import Plan
from survey.db import queries, watching_queries
from survey.db.models import Participant, Researcher, StoredQuestion, Study
from survey.services import access, researchers, studies
from survey.services.clock import now
from survey.services.errors import NotAllowedError, ResultsHiddenError, SurveyError
from survey.services.recruitment import Recruitment


def make_study(
    session: Session,
    researcher: Researcher | None,
    slug: str,
    plan: Plan,
    recruitment: Recruitment,
) -> Study:
    """Store a new draft that belongs to a researcher (or to nobody yet).

    Raises as ``create_study`` does.
    """
    study = studies.create_study(session, slug, plan)
    study.recruitment = recruitment.as_json()
    if researcher is not None:
        access.share(session, study, researcher, "owner")
    access.log(session, study, researcher.name if researcher else access.COMMAND_LINE, "made")
    session.commit()
    return study


def make_for(
    session: Session, owner: str | None, slug: str, plan: Plan, recruitment: Recruitment
) -> Study:
    """Store a new draft for the named researcher, by default the only one there is."""
    known = researchers.all_researchers(session)
    only = known[0] if len(known) == 1 else None
    researcher = researchers.find_researcher(session, owner) if owner else only
    return make_study(session, researcher, slug, plan, recruitment)


def change_plan(session: Session, study: Study, plan: Plan, who: str) -> None:
    """Give a draft another plan and draw its questions anew.

    Raises NotAllowedError once the study was opened, and SurveyError for a design
    that leaves no questions to draw.
    """
    require_draft(study)
    if plan == study.plan:
        return
    slug = study.slug
    studies.refuse_giveaways(plan)
    session.rollback()  # nobody's answer waits while the questions are drawn
    questions = studies.draw(plan)
    study = queries.locked_study(session, studies.find_study(session, slug).id)
    require_draft(study)
    study.questions.clear()
    session.flush()  # the old numbers go before the new ones come
    study.questions = [StoredQuestion.of(question) for question in questions]
    study.generator_version = GENERATOR_VERSION
    study.plan_json = plan.as_json()
    text = study.consent_texts[0]
    text.text, text.digest, text.created_at = plan.consent, text_digest(plan.consent), now()
    access.log(session, study, who, "plan changed")
    session.commit()


def change_recruitment(session: Session, study: Study, recruitment: Recruitment, who: str) -> None:
    """Change how people come and go, at any time."""
    _require_own(study)
    if recruitment.as_json() != study.recruitment:
        study.recruitment = recruitment.as_json()
        access.log(session, study, who, "recruitment changed")
    session.commit()


def open_to_participants(session: Session, study: Study, who: str) -> None:
    """Freeze a draft and let participants in, or let them in again."""
    _require_own(study)
    reopened = study.status == "closed"
    studies.open_study(session, study)
    access.log(session, study, who, "reopened" if reopened else "opened", study.digest or "")
    session.commit()


def close_to_participants(session: Session, study: Study, who: str) -> None:
    """Let no more answers in."""
    studies.close_study(session, study)
    access.log(session, study, who, "closed")
    session.commit()


def copy_study(session: Session, study: Study, slug: str, researcher: Researcher) -> Study:
    """Make a draft with the same plan and settings, without participants."""
    return make_study(session, researcher, slug, study.plan, Recruitment(**study.recruitment))


def archive(session: Session, study: Study, who: str) -> None:
    """Put a study away: it is listed apart and cannot be opened until it is brought back."""
    if study.status == "open":
        raise NotAllowedError("The study is open; close it before you archive it.")
    study.archived_at = study.archived_at or now()
    access.log(session, study, who, "archived")
    session.commit()


def bring_back(session: Session, study: Study, who: str) -> None:
    """Take a study out of the archive."""
    study.archived_at = None
    access.log(session, study, who, "brought back")
    session.commit()


def delete(session: Session, study: Study, who: str) -> None:
    """Delete a study with all its answers, for good; what was done to it stays logged."""
    if study.status == "open":
        raise NotAllowedError("The study is open; close it before you delete it.")
    access.log(session, study, who, "deleted", study.digest or "")
    # Participants first: what was shown to them refers to the questions.
    session.execute(sql_delete(Participant).where(Participant.study_id == study.id))
    session.delete(study)
    session.commit()


def unblind(session: Session, study: Study, who: str, reason: str) -> datetime:
    """Show results of a study that still runs; who did so, and why, is logged."""
    reason = _given(reason, "Say why the results are needed before the study is closed.")
    study.unblinded_at = study.unblinded_at or now()
    access.log(session, study, who, "unblinded", reason)
    session.commit()
    return study.unblinded_at


def note_early_look(session: Session, study: Study, who: str, what: str) -> bool:
    """Write down that results of a study were taken while people still vote; tell whether so.

    Once there are answers of participants who count, the study is unblinded by that, and
    its bundle says when. Test data alone tell nothing.
    """
    is_early = study.status == "open" and not shows_results(study)
    if is_early:
        access.log(session, study, who, "unblinded", f"{what}, before the study was closed")
        if watching_queries.has_real_answers(session, study.id):
            study.unblinded_at = now()
    session.commit()
    return is_early


def shows_results(study: Study) -> bool:
    """Tell whether results per measure may be looked at: closed, or deliberately unblinded."""
    return study.status == "closed" or study.unblinded_at is not None


def require_results(study: Study) -> None:
    """Raise ResultsHiddenError while there are no results, or while they must stay hidden."""
    if study.status == "draft":
        raise ResultsHiddenError("The study is a draft, so there is no bundle yet.")
    if not shows_results(study):
        raise ResultsHiddenError(
            "A bundle holds the votes per measure, which stay hidden until the study is closed. "
            "The page “Results” says how to see them earlier."
        )


def _given(reason: str, missing: str) -> str:
    """Return a reason as it is stored, or raise SurveyError where there is none."""
    if not reason.strip():
        raise SurveyError(missing)
    if not is_storable(reason):
        raise SurveyError("The reason holds a character that cannot be stored; type it anew.")
    return reason.strip()


def exclude(
    session: Session, study: Study, participant: Participant, who: str, reason: str
) -> None:
    """Exclude a participant from the count; the answers stay stored."""
    _require_own(study)
    reason = _given(reason, "Say why this participant is excluded; the reason is exported.")
    participant.excluded, participant.exclude_reason = True, reason
    access.log(session, study, who, "excluded", f"{participant.public_id}: {reason}")
    session.commit()


def restore(session: Session, study: Study, participant: Participant, who: str) -> None:
    """Include a participant again who was excluded."""
    _require_own(study)
    participant.excluded, participant.exclude_reason = False, None
    access.log(session, study, who, "included again", participant.public_id)
    session.commit()


def require_draft(study: Study) -> None:
    """Raise NotAllowedError for a study that is frozen."""
    if study.status != "draft":
        raise NotAllowedError(
            "The study was opened, so its content is frozen. Copy it to change something."
        )


def require_run_here(study: Study) -> None:
    """Raise NotAllowedError for a study that was imported."""
    if study.imported_from is not None:
        raise NotAllowedError(
            "This study was imported; it can be looked at, not run. To run it with people of "
            "your own, copy it on its overview."
        )


def _require_own(study: Study) -> None:
    require_run_here(study)
    if study.archived_at is not None:
        raise NotAllowedError("This study is in the archive; bring it back first.")
