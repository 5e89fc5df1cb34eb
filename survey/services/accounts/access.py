"""Researchers' roles in studies, and the log of what they did to a study."""

from typing import Literal

from sqlalchemy.orm import Session

from survey.core.studies.texts import SLUG
from survey.db import queries
from survey.db.models import Event, Membership, Researcher, Study, now
from survey.db.participant_queries import AnyStudy

# For pages and commands too, which may import services but not survey.db.
from survey.db.queries import events_of as events_of
from survey.db.queries import members_of as members_of
from survey.db.queries import studies_of as studies_of
from survey.errors import NotAllowedError, NotFoundError, SurveyError

Role = Literal["owner", "viewer"]
COMMAND_LINE = "command line"


def study_of(session: Session, researcher: Researcher, slug: str) -> tuple[Study, str]:
    """Return a study and the researcher's role in it.

    Raises the same NotFoundError for a missing study and for a study of others, so that its
    text does not reveal which studies exist.
    """
    # PostgreSQL rejects some texts that are no slug: those with a NUL.
    match = queries.study_of_researcher(session, researcher.id, slug) if SLUG.match(slug) else None
    if match is None:
        raise NotFoundError("There is no such study among yours.")
    return match


def require_owner(role: str) -> None:
    """Raise NotAllowedError unless the role is owner."""
    if role != "owner":
        raise NotAllowedError("You may look at this study; only its owners may change it.")


def share(session: Session, study: Study, researcher: Researcher, role: Role) -> None:
    """Give a researcher a role in a study, or change it; the caller commits.

    Raises NotAllowedError if the study would lose its last owner.
    """
    member = queries.find(session, Membership, study_id=study.id, researcher_id=researcher.id)
    if member is None:
        session.add(Membership(study_id=study.id, researcher_id=researcher.id, role=role))
    elif member.role != role:
        if role != "owner":
            _require_other_owner(session, study, researcher)
        member.role = role
    session.flush()


def unshare(session: Session, study: Study, researcher: Researcher) -> None:
    """Remove a researcher from a study; the caller commits.

    Raises NotAllowedError if the study would lose its last owner.
    """
    member = queries.find(session, Membership, study_id=study.id, researcher_id=researcher.id)
    if member is not None:
        _require_other_owner(session, study, researcher)
        session.delete(member)


def member_of(session: Session, study: Study, researcher_id: int) -> Researcher:
    """Return a member of a study by id, or raise NotFoundError."""
    for member in members_of(session, study):
        if member.researcher_id == researcher_id:
            return member.researcher
    raise NotFoundError("This study has no such member.")


def researcher_named(session: Session, name: str) -> Researcher:
    """Return the researcher to share a study with.

    Raises SurveyError, naming the command that adds a researcher.
    """
    researcher = queries.researcher_by_name(session, " ".join(name.split()))
    if researcher is None:
        raise SurveyError(
            f"There is no researcher {name!r}. The administrator of the survey can add a "
            "researcher with `survey researcher add`."
        )
    return researcher


def log(session: Session, study: AnyStudy, who: str, kind: str, detail: str = "") -> None:
    """Add an event to the log of a study; the caller commits."""
    session.add(Event(slug=study.slug, who=who, at=now(), kind=kind, detail=detail))


def _require_other_owner(session: Session, study: Study, leaving: Researcher) -> None:
    members = members_of(session, study)
    if [m.researcher_id for m in members if m.role == "owner"] == [leaving.id]:
        raise NotAllowedError("A study needs an owner; make another member an owner first.")
