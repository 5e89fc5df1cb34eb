"""Who may see and change which study, and the log of what was done to it."""

from typing import Literal

from sqlalchemy.orm import Session

from survey.clock import now
from survey.core.studies.texts import SLUG
from survey.db import account_queries as queries
from survey.db.models import Event, Membership, Researcher, Study
from survey.db.records import AnyStudy
from survey.errors import NotAllowedError, NotFoundError, SurveyError

Role = Literal["owner", "viewer"]
COMMAND_LINE = "command line"


def studies_of(session: Session, researcher: Researcher) -> list[tuple[Study, str]]:
    """Return the studies a researcher may see, newest first, with the role in each."""
    return queries.studies_of_researcher(session, researcher.id)


def study_of(session: Session, researcher: Researcher, slug: str) -> tuple[Study, str]:
    """Return a study and the researcher's role in it.

    Raises NotFoundError for one that is not there and for one of other people alike.
    """
    found = queries.study_of_researcher(session, researcher.id, slug) if SLUG.match(slug) else None
    if found is None:
        raise NotFoundError("There is no such study among yours.")
    return found


def require_owner(role: str) -> None:
    """Raise NotAllowedError for a viewer."""
    if role != "owner":
        raise NotAllowedError("You may look at this study; only its owners may change it.")


def share(session: Session, study: Study, researcher: Researcher, role: Role) -> None:
    """Give a researcher a role in a study, or another one; the caller commits.

    Raises NotAllowedError when nobody would own the study any more.
    """
    member = queries.membership_of(session, study.id, researcher.id)
    if member is None:
        session.add(Membership(study_id=study.id, researcher_id=researcher.id, role=role))
    elif member.role != role:
        if role != "owner":
            _keep_an_owner(session, study, researcher)
        member.role = role
    session.flush()


def unshare(session: Session, study: Study, researcher: Researcher) -> None:
    """Take a researcher's role in a study away; the caller commits."""
    member = queries.membership_of(session, study.id, researcher.id)
    if member is not None:
        _keep_an_owner(session, study, researcher)
        session.delete(member)


def members_of(session: Session, study: Study) -> list[Membership]:
    """Return who may see a study, owners first."""
    return list(queries.members_of(session, study.id))


def member_of(session: Session, study: Study, researcher_id: int) -> Researcher:
    """Return who may see a study, by number; raises NotFoundError for anybody else."""
    for member in queries.members_of(session, study.id):
        if member.researcher_id == researcher_id:
            return member.researcher
    raise NotFoundError("Nobody of that number may see this study.")


def researcher_named(session: Session, name: str) -> Researcher:
    """Return the researcher to share with, or raise SurveyError saying how to make one."""
    found = queries.researcher_by_name(session, " ".join(name.split()))
    if found is None:
        raise SurveyError(
            f"There is no researcher {name!r} here. Whoever runs the survey can add one with "
            "`survey researcher add`."
        )
    return found


def log(session: Session, study: AnyStudy, who: str, kind: str, detail: str = "") -> None:
    """Write down what was done to a study; the caller commits."""
    session.add(Event(slug=study.slug, who=who, at=now(), kind=kind, detail=detail))


def events_of(session: Session, study: Study) -> list[Event]:
    """Return what was done to a study, newest first."""
    return list(queries.events_of(session, study))


def _keep_an_owner(session: Session, study: Study, leaving: Researcher) -> None:
    owners = [one for one in queries.members_of(session, study.id) if one.role == "owner"]
    if [one.researcher_id for one in owners] == [leaving.id]:
        raise NotAllowedError("A study needs an owner; make someone else an owner first.")
