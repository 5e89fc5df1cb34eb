"""Deleting what identifies people on the day a study has announced."""

from datetime import date

from sqlalchemy.orm import Session

from survey.db import personal_queries, queries
from survey.db.engine import reading, scrub
from survey.db.models import Study
from survey.services import access
from survey.services.clock import now

KEEPER = "the survey itself"


def drop_due(session: Session) -> list[str]:
    """Delete what identifies people in every study whose day has passed; return their slugs.

    What they said about themselves, their platform's ids and parameters, and the guest
    list. Answers stay. Safe to repeat at any time.
    """
    session.rollback()
    reading(session)
    due = [one.slug for one in queries.all_studies(session) if _is_due(session, one)]
    session.rollback()
    for slug in due:
        study = queries.study_by_slug(session, slug)
        if study is not None:
            personal_queries.delete_personal(session, study.id)
            access.log(
                session, study, KEEPER, "personal data deleted", study.plan.personal_until or ""
            )
            session.commit()
    if due:
        scrub(session)
    return due


def _is_due(session: Session, study: Study) -> bool:
    until = study.plan_json.get("personal_until")
    passed = until is not None and now().date() > date.fromisoformat(until)
    return passed and personal_queries.has_personal(session, study.id)
