"""Votes for an analysis: of a study in the database, a bundle, or a folder made elsewhere."""

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.orm import Session

from survey.db.models import Study
from survey.services.analysis import study_facts
from survey.services.exchange.bundle import STUDY
from survey.services.exchange.content import Content, Given
from survey.services.exchange.export import content_of
from survey.services.exchange.foreign import foreign_votes
from survey.services.exchange.foreign_lists import check_rankings
from survey.services.exchange.opening import Files, open_files
from survey.services.exchange.reading import read_content
from survey.services.exchange.records import ResponseRecord, Votes, in_order

__all__ = [
    "ResponseRecord",
    "Votes",
    "read_votes",
    "votes_of_content",
    "votes_of_files",
    "votes_of_study",
]


def read_votes(source: Path) -> Votes:
    """Read a zip or folder: a bundle, or questions.csv and responses.csv made elsewhere.

    Raises BundleError: file, row and column of what cannot be, and what is allowed.
    """
    return votes_of_files(open_files(source, source.name or str(source)))


def votes_of_files(files: Files) -> Votes:
    """Read votes from files: as strictly as a bundle where there is study.json.

    rankings.csv, where there is one, must agree with the lists. Raises BundleError.
    """
    if STUDY not in files:
        return foreign_votes(files)
    votes = votes_of_content(read_content(files).content)
    check_rankings(files, votes.rankings)
    return votes


def votes_of_study(session: Session, study: Study, *, include_test: bool = True) -> Votes:
    """Return a study's votes, as its bundle gives them; ``include_test``: with test data.

    Call it in a session that is ``only_reading``.
    """
    return votes_of_content(content_of(session, study, include_test=include_test))


def votes_of_content(content: Content) -> Votes:
    """Return the votes in a study's content, times in whole seconds as files give them."""
    plan = content.plan
    return Votes(
        facts=study_facts(
            content.slug, content.status, content.digest, content.generator_version, plan
        ),
        measures=plan.measures,
        rankings=content.rankings,
        lists={question.number: question.lists for question in content.questions},
        responses=in_order([_record(one) for one in content.answers()]),
        asked=plan.asked,
    )


def _record(one: Given) -> ResponseRecord:
    shown = one.blinding
    return ResponseRecord(
        participant=one.participant,
        question=one.question,
        position=one.position,
        label_order=shown.label_order,
        column_order=shown.column_order,
        list_order=shown.list_order,
        clicked=one.clicked,
        own=one.own,
        shown_at=_in_seconds(one.shown_at),
        submitted_at=_in_seconds(one.submitted_at),
        active_seconds=one.active_seconds,
        revisions=one.revisions,
        is_test=one.is_test,
        excluded=one.excluded,
    )


def _in_seconds(moment: datetime | None) -> datetime | None:
    return moment and moment.astimezone(UTC).replace(microsecond=0)
