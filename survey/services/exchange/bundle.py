"""A study's bundle: its content, its files, each one streamed, and the zip of all of them.

What a kind of question adds is a matter of the kind.
"""

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain, starmap
from threading import Thread
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from survey.core.kinds import KINDS
from survey.core.studies.fields import ParticipantRecord, list_words
from survey.core.studies.plan import Plan
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import Json
from survey.db import export_queries, item_queries, queries
from survey.db.engine import snapshot
from survey.db.export_queries import EXPORTED, identities_of, people_of
from survey.db.models import Study
from survey.errors import NotFoundError, SurveyError
from survey.release import made_by
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.answer_columns import beside_tables
from survey.services.exchange.description import FileFacts, description_files
from survey.services.exchange.format_1 import former_tables
from survey.services.exchange.kind_files import AnyKindFiles
from survey.services.exchange.long_table import LONG, SCRIPT, script
from survey.services.exchange.registered import described
from survey.services.exchange.tables import ANALYSIS as ANALYSIS
from survey.services.exchange.tables import (
    CACHED_TEXTS,
    FORMAT,
    IDENTITIES_TABLE,
    PACKAGES,
    STUDY_FILE,
    TIMES,
    BesideRecord,
    ConsentRecord,
    Content,
    IdentityRecord,
    Table,
    batched,
    codebook_of,
    flags_tables,
    item_tables,
    listed_values,
    participants_table,
    time_or_month,
    with_left_out,
)
from survey.services.exchange.tables import SUMS as SUMS
from survey.services.exchange.tables import stable_json as stable_json
from survey.services.participation.own_data import require_none_due
from survey.services.participation.participants import PRACTICE
from survey.services.studies import publications
from survey.services.studies.lifecycle import (
    current_digest,
    questions_of,
    require_results,
)
from survey.services.studies.registration import REGISTRATION_FILE

LAST_LINE = "# SHA-256 of the lines above: "
QRELS = "qrels.txt"
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip can say a file was changed
ZIP_CHUNK = 64 * 1024  # bytes

# Of a bundle of many answers, level 6 takes three times as long to make a zip 15 % smaller.
COMPRESSION_LEVEL = 4

# Measured, for the estimates: what an answer takes in a zip, and all that does not grow with
# the answers.
BYTES_PER_ANSWER = 47
OTHER_BYTES = 20_000
OTHER_LINES = 4_200

# Columns in which people wrote what they liked: neither an id nor one of listed values.
FREE_TEXTS = [
    name
    for name, column in EXPORTED.items()
    if column.type.python_type is str and name != "public_id" and not listed_values(column)
]

# Where ``study_lines`` inserts the participants' texts. It is in study.json once: JSON escapes
# line breaks within strings, and no other key "texts" has this indentation.
NO_TEXTS = '\n  "texts": {}'

Lines = Iterable[str]  # each string holds a line or more
OnLines = Callable[[int], object]
Describe = Callable[[Mapping[str, FileFacts]], Iterable[tuple[str, Lines]]]
"""What yields files that describe those written before, by their sizes and sums."""


def stream_bundle(
    session: Session,
    study: Study,
    *,
    with_identities: bool = False,
    with_pictures: bool = False,
    include_test: bool = False,
    address: str = "",
    on_lines: OnLines = lambda _: None,
) -> Iterator[bytes]:
    """Yield the zip of a study's bundle in chunks, as the database is now.

    ``address``: of the study's public page, where it has one. ``on_lines``: called with the number
    of lines written since its last call, for a progress bar that ends at ``estimate_lines``.
    Identities are personal data, so they are left out by default;
    so are the pictures of items, in the small size.
    """
    snapshot(session)
    require_none_due(session, study)
    content = content_of(session, study, include_test=include_test, with_identities=with_identities)
    if with_pictures and content.items_digest:
        content = replace(
            content, thumbnails=partial(item_queries.thumbnails_of, session, study.id)
        )
    return stream_content(with_citation(session, study, content, address), on_lines)


def with_citation(session: Session, study: Study, content: Content, address: str) -> Content:
    """Return content that knows how its study is cited, where it is published at an address."""
    publication = publications.current_publication(session, study)
    if publication is None:
        return content
    return replace(content, citation=publications.citation_of(publication, address))


def stream_content(content: Content, on_lines: OnLines = lambda _: None) -> Iterator[bytes]:
    """Yield the zip of a bundle in chunks, with the files that describe the others."""
    describe = partial(description_files, content, csv_tables(content), versions=made_with())
    return stream_zip(bundle_files(content), on_lines, describe)


def stream_file(
    session: Session, study: Study, name: str, *, include_test: bool = False
) -> Iterator[str]:
    """Yield one file of the bundle, many lines at a time; raises NotFoundError for no such file."""
    snapshot(session)
    require_none_due(session, study)
    content = content_of(session, study, include_test=include_test)
    files = dict(bundle_files(content))
    if name not in files:
        raise NotFoundError(f"A bundle has no file {name!r}.")
    return iter(files[name])


def file_names(session: Session, study: Study) -> list[str]:
    """Return the names that ``stream_file`` accepts.

    These are all files but identities, SHA256SUMS, and those that describe the others.
    """
    return [name for name, _ in bundle_files(content_of(session, study))]


def has_identities(session: Session, study: Study) -> bool:
    """Return whether the database has a platform's parameters for any of the participants."""
    return export_queries.has_identities(session, study.id)


def estimate_lines(session: Session, study: Study) -> int:
    """Estimate the lines of a study's bundle, for a progress bar."""
    answers = queries.count_answers(session, study.id)
    return OTHER_LINES + answers * files_of_kind(study.plan).lines_per_answer(study.plan)


def estimate_bytes(session: Session, study: Study, *, include_test: bool = False) -> int:
    """Estimate the bytes of a study's zipped bundle, for a progress bar."""
    answers = queries.count_answers(session, study.id, include_test=include_test)
    return OTHER_BYTES + BYTES_PER_ANSWER * answers


def files_of_kind(plan: Plan) -> AnyKindFiles:
    """Return the files of a plan's kind of question."""
    files: AnyKindFiles = KINDS[plan.kind]
    return files


def analyse_stored(session: Session, study: Study, options: AnalysisOptions) -> Results:
    """Return a study's results; raises SurveyError for options that its kind does not have.

    Call it in a session after ``begin_reading``, so that answers do not wait for it.
    """
    require_options(study.plan, options)
    Thread(target=import_module, args=["scipy.stats"]).start()  # half a second, while others read
    content = content_of(session, study, include_test=True, with_items=False)
    content = replace(content, digest=study.digest or "")
    results = content.analysed(options)
    return with_left_out(results, content.participants, options)


def results_of(
    session: Session,
    study: Study,
    options: AnalysisOptions,
    *,
    registration: TextFile | None = None,
    in_full: bool = False,
) -> Results:
    """Return a study's results as ``analyse_stored``, with what only the database can add.

    ``registration``: to compare the analysis with, by default the study's own; ``in_full``: with
    what the methods of a paper need.
    """
    results = analyse_stored(session, study, options)
    content = content_of(session, study, include_test=options.include_test, with_items=False)
    results = files_of_kind(study.plan).add_stored(session, study, content, results)
    everyone = content_of(session, study, include_test=True, with_items=False)
    return described(results, everyone, options, registration, in_full=in_full)


def progress_sentences(session: Session, study: Study) -> list[str]:
    """Return what a study's kind says of its progress; test data count until people begin."""
    people = queries.has_real_answers(session, study.id)
    content = partial(content_of, session, study, include_test=not people, with_items=False)
    return [*files_of_kind(study.plan).progress(study.plan, content)]


def makes_judgements(plan: Plan) -> bool:
    """Return whether the results of a plan's kind have a file of judgements."""
    return files_of_kind(plan).makes_judgements


def has_options(plan: Plan) -> bool:
    """Return whether the analysis of a plan's kind has more options than ``include_test``."""
    return files_of_kind(plan).has_options


def require_options(plan: Plan, options: AnalysisOptions) -> None:
    """Refuse options that the analysis of a plan's kind does not have; raises SurveyError."""
    has_checks = bool(plan.checks)
    others = replace(options, exclude_flagged=False) if has_checks else options
    if has_options(plan) or others.as_planned:
        return
    default = AnalysisOptions()
    options_set = [
        f"--{each.name.replace('_', '-')}"
        for each in fields(options)
        if each.name != "include_test" and getattr(others, each.name) != getattr(default, each.name)
    ]
    raise SurveyError(
        f"The analysis of a study of kind {plan.kind!r} does not have {list_words(options_set)}; "
        f"of such options it has --include-test{' and --exclude-flagged' * has_checks} only."
    )


def judgements_of(session: Session, study: Study, *, include_test: bool = False) -> TextFile:
    """Return the judgements that a closed study's answers are; raises SurveyError without any."""
    require_results(study)
    files = content_of(session, study, include_test=include_test).results.files()
    judged = next((text for name, text in files if name == QRELS), "")
    if not judged:
        raise SurveyError(f"The study {study.slug!r} has no judgements: no query is done.")
    return TextFile(f"{study.slug}-{QRELS}", judged, sha256_of(judged.encode()))


def content_of(
    session: Session,
    study: Study,
    *,
    include_test: bool = False,
    with_identities: bool = False,
    with_items: bool = True,
) -> Content:
    """Return a study's content; call ``begin_reading`` for the session first.

    ``with_items``: False where their texts, which may be long, are not needed.
    """
    plan, questions = study.plan, questions_of(study, practice=True)
    rows = partial(people_of, session, study.id, include_test=include_test)
    identities = partial(identities_of, session, study.id, include_test=include_test)
    beside = partial(
        export_queries.beside_of,
        session,
        study.id,
        KINDS[plan.kind].tables,
        include_test=include_test,
    )
    return Content(
        slug=study.slug,
        status=study.status,
        digest=study.digest or current_digest(study),
        generator_version=study.generator_version,
        **{name: getattr(study, name) for name in TIMES},
        looks=study.looks,
        plan=plan,
        practice=next((each for each in questions if each.number == PRACTICE), None),
        questions=[each for each in questions if each.number != PRACTICE],
        consents=[
            ConsentRecord(each.version, each.text, each.digest) for each in study.consent_texts
        ],
        participants=lambda: starmap(ParticipantRecord, rows()),
        answers=files_of_kind(plan).stored(session, study.id, include_test=include_test),
        include_test=include_test,
        identities=(lambda: starmap(IdentityRecord, identities())) if with_identities else None,
        items=item_queries.items_of(session, study.id) if with_items else (),
        topics=item_queries.topics_of(session, study.id),
        vectors_digest=study.vectors_digest,
        packages=study.packages,
        beside=lambda: starmap(BesideRecord, beside() if plan.ask else ()),
        machines=KINDS[plan.kind].stored_machines(session, study.id) if with_items else (),
        registration=study.registration,
        created_at=None if study.opened_at else study.created_at,
    )


def bundle_files(content: Content) -> Iterator[tuple[str, Lines]]:
    """Yield name and lines of each file of a bundle, except SHA256SUMS and the descriptions."""
    tables = tables_in(content)
    for table in [*tables, codebook_of(tables)]:
        yield table.name, table.lines(content)
        if table.name == LONG:
            yield SCRIPT, [script()]
    yield from files_of_kind(content.plan).judgement_files(content)
    for machine in content.machines:
        yield from machine.files()
        figures = KINDS[content.plan.kind].machine_figures(content, machine)
        yield machine.figures_file, [stable_json(figures)]
    if content.registration:
        yield REGISTRATION_FILE, [content.registration]
    yield STUDY_FILE, study_lines(content)
    yield ANALYSIS, _analysis_lines(content)


def _analysis_lines(content: Content) -> Iterator[str]:
    yield stable_json(content.results.all_json())


def tables_in(content: Content) -> list[Table]:
    """Return the tables of a bundle in the order of their files."""
    plan, kind = content.plan, files_of_kind(content.plan)
    tables = [
        *kind.data_tables(plan),
        *beside_tables(plan, kind.questions_file),
        participants_table(plan),
        *flags_tables(plan),
        *kind.result_tables(plan),
        *([] if content.identities is None else [IDENTITIES_TABLE]),
        *item_tables(content),
    ]
    return tables if content.format == FORMAT else former_tables(tables)


def csv_tables(content: Content) -> list[Table]:
    """Return the tables of all CSV files of a bundle."""
    tables = tables_in(content)
    return [*tables, codebook_of(tables), *(machine.table for machine in content.machines)]


def study_lines(content: Content) -> Iterator[str]:
    """Yield study.json piece by piece, since a million participants may have written texts.

    The tables may hold these texts escaped; study.json has them unchanged.
    """
    before, after = stable_json(_study_metadata(content)).split(NO_TEXTS)
    yield before + NO_TEXTS.removesuffix("}")
    separator = ""
    pairs = ((each.public_id, cell_texts(each)) for each in content.participants())
    for batch in batched((public_id, texts) for public_id, texts in pairs if texts):
        yield separator + ",".join(starmap(_texts_json, batch))
        separator = ","
    yield ("\n  }" if separator else "}") + after


def cell_texts(participant: ParticipantRecord) -> dict[str, str]:
    """Return the texts among a participant's cells, which participants.csv escapes, by column."""
    answers = {**participant.personal, **(participant.closing or {})}
    cells = {**answers, **{name: getattr(participant, name) for name in FREE_TEXTS}}
    return {name: cell for name, cell in cells.items() if isinstance(cell, str)}


def _texts_json(public_id: str, texts: Mapping[str, str]) -> str:
    value = _indented_json(frozenset(texts.items()))
    return f"\n    {json.dumps(public_id, ensure_ascii=False)}: {value}"


@lru_cache(CACHED_TEXTS)  # most are the options of a choice, the same for many
def _indented_json(texts: frozenset[tuple[str, str]]) -> str:
    return stable_json(dict(texts)).rstrip("\n").replace("\n", "\n    ")


def _study_metadata(content: Content) -> dict[str, Json]:
    plan, kind = content.plan, files_of_kind(content.plan)
    return {
        "format": content.format,
        "slug": content.slug,
        "title": plan.title,
        "status": content.status,
        "digest": content.digest,
        "generator_version": content.generator_version,
        "seed": plan.seed,
        **{name: time_or_month(getattr(content, name)) or None for name in TIMES},
        **({"created_at": time_or_month(content.created_at)} if content.created_at else {}),
        **({"public": True} if content.is_public else {}),
        **({"publication": content.citation.as_json()} if content.citation else {}),
        **({"looks": content.looks} if content.looks else {}),
        "include_test": content.include_test,
        **({"items_digest": digest} if (digest := content.items_digest) else {}),
        **({"vectors_digest": content.vectors_digest} if content.vectors_digest else {}),
        "plan": plan.as_json(),
        "consent": [vars(consent) for consent in content.consents],
        "texts": {},
        "versions": made_with(),
        **({PACKAGES: content.packages} if content.packages else {}),
        **kind.study_entries(plan, content.practice),
    }


def made_with() -> dict[str, Json]:
    """Return which versions of the software make a bundle now."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {**made_by(), "python": python, "numpy": np.__version__}


def sums_text(sums: dict[str, str]) -> str:
    """Return the sums as sha256sum writes them, and a comment with the sum of these lines.

    The comment tells a changed SHA256SUMS from a changed file; sha256sum ignores it.
    """
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return f"{lines}{LAST_LINE}{sha256_of(lines.encode())}\n"


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def stream_zip(
    files: Iterable[tuple[str, Lines]],
    on_lines: OnLines = lambda _: None,
    describe: Describe = lambda _: (),
) -> Iterator[bytes]:
    """Yield a zip of files and their SHA256SUMS in chunks; the same files give the same bytes.

    ``on_lines`` is called with the number of lines written since its last call. ``describe``
    yields files that come last.
    """
    buffer = _Buffer()
    facts: dict[str, FileFacts] = {}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in chain(files, describe(facts)):
            digest, size = hashlib.sha256(), 0
            with archive.open(_entry(name), "w", force_zip64=True) as file:
                for text in lines:
                    encoded = text.encode()
                    digest.update(encoded)
                    size += len(encoded)
                    file.write(encoded)
                    on_lines(encoded.count(b"\n"))
                    if buffer.size > ZIP_CHUNK:
                        yield buffer.take()
            facts[name] = FileFacts(size, digest.hexdigest())
        sums = {name: file.sha256 for name, file in facts.items()}
        archive.writestr(_entry(SUMS), sums_text(sums))
    yield buffer.take()


def stream_zip_of_bytes(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield a zip of whole files, without SHA256SUMS, one file at a time.

    The same files give the same bytes.
    """
    buffer = _Buffer()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(_entry(name), content)
            yield buffer.take()
    yield buffer.take()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    # ZipFile's level is not used for an entry with a ZipInfo, which has no public one before 3.13.
    entry._compresslevel = COMPRESSION_LEVEL  # type: ignore[attr-defined]
    entry.create_system = 3  # Unix, on any system: the same bytes
    entry.external_attr = 0o644 << 16
    return entry


class _Buffer(io.RawIOBase):
    """A file that the zip is written into, emptied again and again."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        """Allow writing, which a raw file does not by default."""
        return True

    def write(self, chunk: Any) -> int:
        """Append bytes; return how many."""
        self._chunks.append(bytes(chunk))
        self.size += len(chunk)
        return len(chunk)

    def take(self) -> bytes:
        """Remove and return what was written since the last call."""
        content = b"".join(self._chunks)
        self._chunks, self.size = [], 0
        return content
