"""A bundle's files from a study's content, and the zip they travel in.

Handing a study out: the bundle as a stream, or one of its files.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlalchemy.orm import Session

from survey.db import export_queries, study_queries
from survey.db.engine import snapshot
from survey.db.models import Study
from survey.errors import NotFoundError
from survey.services.analysis.results_json import as_json
from survey.services.exchange import ordering_tables
from survey.services.exchange.bundle_tables import identities_table, participants_table
from survey.services.exchange.codebook import codebook_of
from survey.services.exchange.content import Content, IdentityRecord, content_of, identities_of
from survey.services.exchange.csv_tables import Table
from survey.services.exchange.study_file import STUDY, as_text, study_lines

SUMS = "SHA256SUMS"
LAST_LINE = "# SHA-256 of the lines above: "
ANALYSIS = "analysis.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
PIECE = 64 * 1024

# Of a bundle of many answers, level 6 takes three times as long to make a zip 15 % smaller.
LEVEL = 4

Lines = Iterable[str]  # each one line or many
OnLines = Callable[[int], object]


def files_of(
    content: Content, identities: Iterable[IdentityRecord] | None = None
) -> Iterator[tuple[str, Lines]]:
    """Give the files of a bundle but for its sums: (name, lines)."""
    tables = tables_in(content, identities)
    for table in [*tables, codebook_of(tables)]:
        yield table.name, table.lines(content)
    yield STUDY, study_lines(content)
    yield ANALYSIS, (as_text(as_json(one.analysis)) for one in [content])  # counted when read


def tables_in(content: Content, identities: Iterable[IdentityRecord] | None = None) -> list[Table]:
    """Return the tables of a bundle in the order of their files, identities.csv if wanted."""
    plan = content.plan
    return [
        *ordering_tables.question_tables(plan),
        *ordering_tables.answer_tables(plan),
        participants_table(plan),
        *ordering_tables.result_tables(plan),
        *([] if identities is None else [identities_table(identities)]),
    ]


def file_of(content: Content, name: str) -> Lines | None:
    """Return the lines of one file of the bundle, None when it has none of that name."""
    return next((lines for one, lines in files_of(content) if one == name), None)


def names_of(content: Content) -> list[str]:
    """Return the names of a bundle's files but for its sums."""
    return [name for name, _ in files_of(content)]


def sums_text(sums: dict[str, str]) -> str:
    """Write the sums as sha256sum does, and a comment with the sum of these lines.

    The comment tells a changed SHA256SUMS from a changed file; sha256sum ignores it.
    """
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return f"{lines}{LAST_LINE}{sum_of(lines.encode())}\n"


def sum_of(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def zipped(
    files: Iterable[tuple[str, Lines]], on_lines: OnLines = lambda _: None
) -> Iterator[bytes]:
    """Zip files piece by piece, with their sums as the last; nothing in it tells when.

    ``on_lines`` is called with the number of lines written since.
    """
    sink = _Sink()
    sums: dict[str, str] = {}
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in files:
            summed = hashlib.sha256()
            with archive.open(_entry(name), "w", force_zip64=True) as file:
                for some in lines:
                    encoded = some.encode()
                    summed.update(encoded)
                    file.write(encoded)
                    on_lines(encoded.count(b"\n"))
                    if sink.size > PIECE:
                        yield sink.taken()
            sums[name] = summed.hexdigest()
        archive.writestr(_entry(SUMS), sums_text(sums))
    yield sink.taken()


def zipped_bytes(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Zip whole files one after another; nothing in it tells when."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(_entry(name), content)
            yield sink.taken()
    yield sink.taken()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    # An archive's level is for entries that it names itself; theirs has no other name before 3.13.
    entry._compresslevel = LEVEL  # type: ignore[attr-defined]
    entry.create_system = 3  # Unix, wherever it was made: the same bytes
    entry.external_attr = 0o644 << 16
    return entry


class _Sink(io.RawIOBase):
    """Takes what the zip writes, and gives it away piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        """Tell the zip that it may write, and nothing else."""
        return True

    def write(self, piece: Any) -> int:
        """Take a piece."""
        self._pieces.append(bytes(piece))
        self.size += len(piece)
        return len(piece)

    def taken(self) -> bytes:
        """Give away what was written since."""
        given = b"".join(self._pieces)
        self._pieces, self.size = [], 0
        return given


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


def lines_in(session: Session, study: Study) -> int:
    """Estimate the lines of a study's bundle, for a progress bar."""
    answers = study_queries.answers_in(session, study.id)
    return OTHER_LINES + answers * (1 + len(study.plan.measures))


def bytes_in(session: Session, study: Study, *, include_test: bool = False) -> int:
    """Estimate the bytes of a study's zipped bundle, for a progress bar."""
    answers = study_queries.answers_in(session, study.id, include_test=include_test)
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
