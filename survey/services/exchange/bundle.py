"""A bundle's files from a study's content, and the zip they travel in."""

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

from survey import __version__
from survey.core.measures import MEASURES
from survey.core.stimuli.questions import Question
from survey.services.exchange.codebook import codebook_of
from survey.services.exchange.content import Content, Identified
from survey.services.exchange.table import Column, Table
from survey.services.exchange.tables import tables_of
from survey.services.reports import as_json

FORMAT = 1
SUMS = "SHA256SUMS"
LAST_LINE = "# SHA-256 of the lines above: "
STUDY = "study.json"
PACKAGES = "packages"  # measure → the package that brings it, with its version
ANALYSIS = "analysis.json"
IDENTITIES = "identities.csv"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
PIECE = 64 * 1024

Lines = Iterable[str]
OnLine = Callable[[], object]


def files_of(
    content: Content, identities: Iterable[Identified] | None = None
) -> Iterator[tuple[str, Lines]]:
    """Give the files of a bundle but for its sums: (name, lines)."""
    tables = tables_of(content)
    if identities is not None:
        tables.append(_identities(identities))
    for table in [*tables, codebook_of(tables)]:
        yield table.name, table.lines(content)
    yield STUDY, [study_json(content)]
    yield ANALYSIS, (as_text(as_json(one.analysis)) for one in [content])  # counted when read


def file_of(content: Content, name: str) -> Lines | None:
    """Return the lines of one file of the bundle, None when it has none of that name."""
    return next((lines for one, lines in files_of(content) if one == name), None)


def names_of(content: Content) -> list[str]:
    """Return the names of a bundle's files but for its sums."""
    return [name for name, _ in files_of(content)]


def study_json(content: Content) -> str:
    """Write what the tables do not say, and as they are the texts that they may hold escaped."""
    plan = content.plan
    return as_text(
        {
            "format": FORMAT,
            "slug": content.slug,
            "title": plan.title,
            "status": content.status,
            "digest": content.digest,
            "generator": plan.generator,
            "generator_version": content.generator_version,
            "seed": plan.seed,
            "measures": list(plan.measures),
            "opened_at": _moment(content.opened_at),
            "closed_at": _moment(content.closed_at),
            "unblinded_at": _moment(content.unblinded_at),
            "include_test": content.include_test,
            "plan": plan.as_json(),
            "practice": lists_of(content.practice),
            **_practice_marks(content.practice),
            "consent": [vars(one) for one in content.consents],
            "texts": {one.public_id: texts for one in content.people() if (texts := one.texts)},
            "versions": {
                "survey": __version__,
                "python": ".".join(map(str, sys.version_info[:2])),
                "numpy": np.__version__,
            },
            **_packages_of(plan.measures),
        }
    )


def _packages_of(measures: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the packages of those measures that are not the survey's own."""
    packages = {name: package for name in measures if (package := MEASURES.package(name))}
    return {PACKAGES: packages} if packages else {}


def _practice_marks(practice: Question | None) -> dict[str, Any]:
    return {"practice_marks": practice.marks.as_json()} if practice and practice.marks else {}


def lists_of(question: Question | None) -> dict[str, list[int]] | None:
    """Return a question's lists as plain values."""
    if question is None:
        return None
    return {letter: list(ranks) for letter, ranks in question.lists.items()}


def as_text(content: Any) -> str:
    """Write JSON so that the same content gives the same bytes."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def sums_text(sums: dict[str, str]) -> str:
    """Write the sums as sha256sum does, and a comment with the sum of these lines.

    The comment tells a changed SHA256SUMS from a changed file; sha256sum ignores it.
    """
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return f"{lines}{LAST_LINE}{sum_of(lines.encode())}\n"


def sum_of(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def zipped(files: Iterable[tuple[str, Lines]], on_line: OnLine = lambda: None) -> Iterator[bytes]:
    """Zip files piece by piece, with their sums as the last; nothing in it tells when.

    ``on_line`` is called for every line written.
    """
    sink = _Sink()
    sums: dict[str, str] = {}
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in files:
            summed = hashlib.sha256()
            with archive.open(_entry(name), "w", force_zip64=True) as file:
                for line in lines:
                    encoded = line.encode()
                    summed.update(encoded)
                    file.write(encoded)
                    on_line()
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


def _identities(identities: Iterable[Identified]) -> Table:
    columns = [
        Column("participant", "random id of the participant"),
        Column("external_id", "the recruitment platform's id of the person"),
        Column("parameters", "all that was kept of the address, as JSON"),
    ]
    return Table(
        IDENTITIES,
        columns,
        lambda _: (
            (one.participant, one.external_id, json.dumps(one.parameters, sort_keys=True))
            for one in identities
        ),
    )


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
