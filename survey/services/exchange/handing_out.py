"""Handing a study out: the bundle as a stream, or one of its files."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.orm import Session

from survey.db import export_queries, queries
from survey.db.engine import snapshot
from survey.db.models import Study
from survey.services.errors import NotFoundError, SurveyError
from survey.services.exchange.bundle import OnLines, file_of, files_of, names_of, zipped
from survey.services.exchange.export import content_of, identities_of

# What an answer takes in a zip, about; and all that does not grow with the answers.
BYTES_PER_ANSWER = 33
OTHER_BYTES = 15_000

# Lines of the files that do not grow with the answers.
OTHER_LINES = 1_600


def stream_bundle(
    session: Session,
    study: Study,
    *,
    with_identities: bool = False,
    include_test: bool = False,
    on_lines: OnLines = lambda _: None,
) -> Iterator[bytes]:
    """Give a study's bundle piece by piece, as the database is at this moment.

    ``on_lines`` is called with the number of lines written since; ``lines_in`` says about how
    many there will be. Identities are personal data: only on request.
    """
    snapshot(session)
    content = content_of(session, study, include_test=include_test)
    people = identities_of(session, study, include_test=include_test) if with_identities else None
    return zipped(files_of(content, people), on_lines)


def write_parquet(
    session: Session,
    study: Study,
    folder: Path,
    *,
    with_identities: bool = False,
    include_test: bool = False,
    on_lines: OnLines = lambda _: None,
) -> None:
    """Write a study's answers, people and questions into a folder, as Parquet files.

    As ``stream_bundle`` does; SurveyError where pyarrow is not installed.
    """
    try:
        from survey.services.exchange import parquet
    except ModuleNotFoundError as error:
        raise SurveyError(
            "Parquet files need pyarrow, which comes with the extra parquet: "
            "pip install '.[parquet]'"
        ) from error
    snapshot(session)
    content = content_of(session, study, include_test=include_test)
    people = identities_of(session, study, include_test=include_test) if with_identities else None
    parquet.write_folder(content, people, folder, on_lines)


def lines_in(session: Session, study: Study) -> int:
    """Estimate the lines of a study's bundle, for a progress bar."""
    answers = queries.answers_in(session, study.id)
    return OTHER_LINES + answers * (1 + len(study.plan.measures))


def bytes_in(session: Session, study: Study, *, include_test: bool = False) -> int:
    """Estimate the bytes of a study's zipped bundle, for a progress bar."""
    answers = queries.answers_in(session, study.id, include_test=include_test)
    return OTHER_BYTES + BYTES_PER_ANSWER * answers


def file_names(session: Session, study: Study) -> list[str]:
    """Return the names of the bundle's files but for the sums and identities."""
    return names_of(content_of(session, study))


def has_identities(session: Session, study: Study) -> bool:
    """Tell whether a platform sent any of the study's participants."""
    return export_queries.has_identities(session, study.id)


def stream_file(
    session: Session, study: Study, name: str, *, include_test: bool = False
) -> Iterator[str]:
    """Give one file of the bundle, many lines at a time; raises NotFoundError for another name."""
    snapshot(session)
    lines = file_of(content_of(session, study, include_test=include_test), name)
    if lines is None:
        raise NotFoundError(f"A bundle has no file {name!r}.")
    return iter(lines)
