"""Take in what a study's documents and topics stand for: pictures and texts."""

import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from sqlalchemy.orm import Session

from survey.core.collections.items import Item, Shown, Topic, items_digest
from survey.core.collections.vectors import VECTOR_FILES, read_vectors, vectors_digest
from survey.core.given_tables import Columns, Row, read_table
from survey.core.preflight import Warned, columns_not_read
from survey.core.studies.fields import is_storable
from survey.core.studies.provenance import LONGEST_NAME
from survey.core.text_input import FaultyFilesError, FileFaults, shortened
from survey.db import item_queries, queries
from survey.db.models import StoredPicture, Study
from survey.db.participant_queries import AnyStudy
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.collections.pictures import (
    LARGEST_FILE,
    Picture,
    PictureError,
    check_size,
    make_picture,
)
from survey.services.exchange.input_files import ZIP_ERRORS
from survey.services.studies import lifecycle

LARGEST_VECTORS = 200_000_000  # bytes of a file of vectors
MOST_ITEMS = 20_000  # of a study
MOST_FILES = 2_000  # in one zip
LONGEST_TEXT = 2_000
LONGEST_ALT = 300
LONGEST_FILE_NAME = 200
ITEMS_FILE, TOPICS_FILE = "items.csv", "topics.csv"
TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl")  # endings of tables, also before .gz
JUNK = ("thumbs.db", "desktop.ini", "ehthumbs.db")  # what systems put beside pictures
ITEM_COLUMNS = Columns(
    ("document",),
    ("file", "text", "alt", "title", "snippet"),
    {
        **dict.fromkeys(("docno", "doc_id", "docid", "corpus-id", "_id", "id"), "document"),
        **dict.fromkeys(("contents", "body"), "text"),
    },
    bare=("document", "text"),
)
TOPIC_COLUMNS = Columns(
    ("topic",),
    ("text", "image", "cluster_type", "query", "title"),
    {
        **dict.fromkeys(("topic_id", "query_id", "query-id", "qid", "_id", "id"), "topic"),
        **dict.fromkeys(("contents", "body"), "text"),
    },
    bare=("topic", "text"),
)
IS_ENCRYPTED = 0x1  # a flag of a zip's entry
AT_ONCE = 16  # pictures held in memory and stored in one transaction

Read = Callable[[], bytes]
Files = Mapping[str, Read]
"""Name of a file → what reads it."""


class Source(NamedTuple):
    """What is to be taken in: files, items, topics if there are some, and what cannot be.

    ``warnings``: about the tables that were read.
    """

    files: "Files"
    items: "list[Item]"
    topics: "list[Topic] | None"
    refusals: "list[Refusal]"
    warnings: "list[Warned]"


class StudyKey(NamedTuple):
    """A study's row id and slug, which stay known when a transaction ends."""

    id: int
    slug: str


class Refusal(NamedTuple):
    """A file or row that was not taken, and why; or what is to be known of one that was."""

    name: str
    reason: str


@dataclass
class Intake:
    """What was taken in, what was refused, and which files are the same picture as an earlier.

    ``warnings``: what a researcher should know of the files that were taken.
    """

    items: int = 0
    topics: int = 0
    vectors: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    repeated: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)


def files_in_folder(folder: Path) -> Files:
    """Return the files of a folder, without hidden ones and folders in it."""
    return {
        path.name: partial(file_content, path)
        for path in sorted(folder.iterdir())
        if path.is_file() and not is_junk(path.name)
    }


def is_junk(name: str) -> bool:
    """Return whether a file is none of the researcher's: hidden, or a system's own."""
    return name.startswith(".") or name.casefold() in JUNK


def file_content(path: Path, largest: int = 0) -> bytes:
    """Return a file's bytes; raises PictureError, before it is read, where it has too many."""
    check_size(path.stat().st_size, largest or _largest(path.name))
    return path.read_bytes()


def _largest(name: str) -> int:
    return LARGEST_VECTORS if name in VECTOR_FILES else LARGEST_FILE


@contextmanager
def files_in_zip(source: Path | IO[bytes], name: str) -> Iterator[Files]:
    """Open a zip of files, or of one folder; raises SurveyError for one that cannot be read."""
    try:
        archive = zipfile.ZipFile(source)
    except ZIP_ERRORS as error:
        raise SurveyError(f"{name} is no zip that can be read ({error}).") from None
    with archive:
        files: dict[str, Read] = {}
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename)
            if entry.is_dir() or is_junk(path.name) or "__MACOSX" in path.parts:
                continue
            if path.name in files:
                raise SurveyError(f"{name} holds {path.name} twice, in two folders.")
            files[path.name] = partial(_entry_content, archive, entry)
        if len(files) > MOST_FILES:
            raise SurveyError(f"{name} holds {len(files)} files; {MOST_FILES} are allowed.")
        yield files


@contextmanager
def open_source(
    source: Path | None, topics_file: Path | None, features: Path | None = None
) -> Iterator[Source]:
    """Open a folder, a zip or a CSV of items, and a CSV of topics, for ``take_in``.

    Pictures are beside the CSV that names them. ``features``: a CSV or .npy of vectors, the
    latter with a .txt of ids beside it. Raises SurveyError for what cannot be read.
    """
    with ExitStack() as stack:
        files: dict[str, Read] = {}
        items: list[Item] = []
        refusals: list[Refusal] = []
        warnings: list[Warned] = []
        topics = None
        if topics_file is not None:
            files |= files_in_folder(topics_file.parent)
            topics = read_topics(topics_file.read_bytes(), topics_file.name, warnings)
        if source is not None and is_table(source):
            files |= files_in_folder(source.parent)
            items = read_items(source.read_bytes(), source.name, warnings)
        elif source is not None:
            if source.is_dir():
                of_items = files_in_folder(source)
                if not of_items:
                    raise SurveyError(f"{source} holds no file; folders in it are not read.")
            else:
                of_items = stack.enter_context(files_in_zip(source, source.name))
            items, refusals = items_in(of_items, warnings)
            if topics is None and (name := _named(of_items, TOPICS_FILE)):
                topics = read_topics(of_items[name](), name, warnings)
            files |= of_items
        if features is not None:  # not those that are beside the items
            for name in VECTOR_FILES:
                files.pop(name, None)
            files |= _vector_files(features)
        yield Source(files, items, topics, refusals, warnings)


def is_table(path: Path) -> bool:
    """Return whether a file is a table by its name, packed or not."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower() in TABLES and path.is_file()


def _named(files: Files, name: str) -> str | None:
    """Return the file of that name in any case, None without one."""
    return next((each for each in files if each.casefold() == name), None)


def _vector_files(features: Path) -> dict[str, Read]:
    """Return the files of vectors under the names by which ``take_in`` knows them."""
    if features.suffix not in (".csv", ".npy"):
        raise SurveyError(f"{features.name} found; vectors are in a .csv or a .npy file")
    paths = [features, *([features.with_suffix(".txt")] if features.suffix == ".npy" else [])]
    for path in paths:
        if not path.is_file():
            raise SurveyError(f"There is no {path.name}: the ids of the rows, one per line.")
    return {
        f"features{path.suffix}": partial(file_content, path, LARGEST_VECTORS) for path in paths
    }


@contextmanager
def open_uploads(
    uploads: Mapping[str, IO[bytes]], elsewhere: Collection[str] = (), *, is_later: bool = False
) -> Iterator[Source]:
    """Open uploaded pictures, zips and CSVs for ``take_in``.

    ``elsewhere``: names of files that come in other requests; their rows of items.csv are left out.
    ``is_later``: an earlier request brought the same items.csv, and took its rows without a file.
    """
    with ExitStack() as stack:
        files: dict[str, Read] = {}
        for name, stream in uploads.items():
            if name.lower().endswith(".zip"):
                files |= stack.enter_context(files_in_zip(stream, name))
            else:
                files[name] = stream.read
        warnings: list[Warned] = []
        items, refusals = items_in(files, [] if is_later else warnings)
        table = _named(files, TOPICS_FILE)
        topics = read_topics(files[table](), table, warnings) if table else None
        items = [
            each
            for each in items
            if each.file not in elsewhere and (each.file in files or not is_later)
        ]
        yield Source(files, items, topics, refusals, warnings)


def _entry_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    largest = _largest(PurePosixPath(entry.filename).name)
    check_size(entry.file_size, largest)  # before anything is unpacked
    if entry.flag_bits & IS_ENCRYPTED:
        raise PictureError("its entry in the zip has a password")
    try:
        with archive.open(entry) as file:
            return file.read(largest)
    except ZIP_ERRORS:
        raise PictureError("its entry in the zip is damaged") from None


@contextmanager
def _faults_as_one() -> Iterator[None]:
    """Raise the faults of a table as one error that users read."""
    try:
        yield
    except FaultyFilesError as error:
        raise SurveyError("\n".join(error.faults)) from None


@_faults_as_one()
def read_items(content: bytes, file: str, warnings: list[Warned]) -> list[Item]:
    """Read a table of items, see ITEM_COLUMNS; raises SurveyError."""
    faults, items = FileFaults(), []
    lines: dict[str, int] = {}
    for row in _rows(content, file, ITEM_COLUMNS, warnings):
        title, text = row["title"], row["text"] or row["snippet"]
        item = Item(
            document=_id_in(row, "document", lines, faults),
            file=_text_in(row, "file", LONGEST_FILE_NAME, faults),
            text=_checked(row, "text", "\n".join(filter(None, (title, text))), faults),
            alt=_text_in(row, "alt", LONGEST_ALT, faults),
        )
        if item.file is None and item.text is None:
            faults.add(row.fault("file", "nothing found; a file or a text is needed"), row.number)
        items.append(item)
    faults.raise_any()
    return items


@_faults_as_one()
def read_topics(content: bytes, file: str, warnings: list[Warned]) -> list[Topic]:
    """Read a table of topics, see TOPIC_COLUMNS; raises SurveyError."""
    faults, topics = FileFaults(), []
    lines: dict[str, int] = {}
    for row in _rows(content, file, TOPIC_COLUMNS, warnings):
        text = row["text"] or row["query"] or row["title"]
        topics.append(
            Topic(
                topic=_id_in(row, "topic", lines, faults),
                text=_checked(row, "text", text, faults),
                image=_text_in(row, "image", LONGEST_NAME, faults),
                cluster_type=_text_in(row, "cluster_type", LONGEST_FILE_NAME, faults),
            )
        )
    faults.raise_any()
    return topics


def _rows(content: bytes, file: str, columns: Columns, warnings: list[Warned]) -> Sequence[Row]:
    table = read_table(content, file, columns)
    warnings += columns_not_read(file, table.columns_not_read)
    return table.rows


def read_keywords(text: str, file: str) -> list[Topic]:
    """Return a topic for each line, a keyword; its id is the keyword with hyphens for blanks.

    Raises FaultyFilesError for a keyword that cannot be one, or is there twice.
    """
    faults = FileFaults()
    topics: dict[str, Topic] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if keyword := " ".join(line.split()):
            name = "-".join(line.split())
            fault = id_fault(name) or ("it is there twice" if name in topics else "")
            if fault:
                faults.add(f"{file}, line {number}: {keyword[:60]!r} found; {fault}")
            topics[name] = Topic(name, text=keyword)
    if not topics:
        faults.add(f"{file} has no keyword; one per line is needed")
    faults.raise_any()
    return [*topics.values()]


def topics_in(source: Path | None, topics_file: Path | None) -> list[Topic]:
    """Return the topics that come with items, or in a file of their own."""
    with open_source(source, topics_file) as opened:
        return [*(opened.topics or ())]


def _id_in(row: Row, column: str, lines: dict[str, int], faults: FileFaults) -> str:
    name = row[column]
    fault = id_fault(name) if name else "a value is needed"
    first = lines.setdefault(name, row.number)
    if not fault and first != row.number:
        fault = f"row {first} has it already"
    if fault:
        faults.add(row.fault(column, f"{name[:60]!r} found; {fault}"), row.number)
    return name


def _text_in(row: Row, column: str, longest: int, faults: FileFaults) -> str | None:
    return _checked(row, column, row[column], faults, longest)


def _checked(
    row: Row, column: str, text: str, faults: FileFaults, longest: int = LONGEST_TEXT
) -> str | None:
    """Return a text that can be stored, None where it is empty."""
    fault = "" if is_storable(text) else "it has a character that cannot be stored"
    if len(text) > longest:
        fault = f"a text of {longest:,} characters at most is allowed"
    if fault:
        faults.add(row.fault(column, f"{text[:60]!r} found; {fault}"), row.number)
    return text or None


def id_fault(name: str) -> str:
    """Return why a name cannot be the id of a document or topic in TREC files, "" if it can."""
    if name.split() != [name]:
        return "ids in runs and judgements have no blanks"
    if name.startswith("#"):
        return "an id begins with no #, with which comments begin in judgements and other files"
    if not is_storable(name):
        return "it has a character that cannot be stored"
    if len(name) > LONGEST_NAME:
        return f"an id of {LONGEST_NAME} characters at most is allowed"
    return ""


def items_in(files: Files, warnings: list[Warned]) -> tuple[list[Item], list[Refusal]]:
    """Return the items of items.csv, or without it an item for each file, named by its stem."""
    if table := _named(files, ITEMS_FILE):
        return read_items(files[table](), table, warnings), []
    items: dict[str, Item] = {}
    refusals = []
    for name in files:
        document = PurePosixPath(name).stem
        if name.casefold() == TOPICS_FILE or name in VECTOR_FILES:
            continue
        if document in items:
            reason = f"{items[document].file} is the document {document} already"
            refusals.append(Refusal(name, reason))
        elif (fault := id_fault(document)) or len(name) > LONGEST_FILE_NAME:
            refusals.append(Refusal(name, fault or "its name is too long"))
        else:
            items[document] = Item(document, name)
    return [*items.values()], refusals


def take_in(
    session: Session,
    study: Study,
    files: Files,
    items: Sequence[Item],
    who: str,
    *,
    topics: Sequence[Topic] | None = None,
    on_item: Callable[[int], object] = lambda _: None,
) -> Intake:
    """Store items, topics and vectors where there are some; return what was taken and what not.

    An item replaces one of the same document. Pictures are decoded without holding a lock, and
    some at a time, so memory stays flat and answers do not wait. Raises NotAllowedError once the
    study was opened, SurveyError for too many items.
    """
    lifecycle.require_draft(study)
    key = StudyKey(study.id, study.slug)
    known = {each.document: each for each in item_queries.items_of(session, key.id)}
    total = len({*known, *(each.document for each in items)})
    if total > MOST_ITEMS:
        raise SurveyError(f"The study would have {total} items; {MOST_ITEMS} are allowed.")
    first = {each.sha256: each.document for each in known.values() if each.sha256}
    intake = Intake()
    for start in range(0, len(items), AT_ONCE):
        session.rollback()
        _take_some(session, key, files, items[start : start + AT_ONCE], first, intake)
        on_item(min(AT_ONCE, len(items) - start))
    if topics is not None:
        session.rollback()
        _take_topics(session, key, files, topics, intake)
    session.rollback()
    _take_vectors(session, key, files, intake)
    _finish(session, key, who)
    return intake


def _take_some(
    session: Session,
    key: StudyKey,
    files: Files,
    items: Sequence[Item],
    first: dict[str, str],
    intake: Intake,
) -> None:
    """Make and store the pictures of some items; ``first``: digest → first document with it."""
    taken, pictures = [], []
    for item in items:
        picture = None
        if item.file is not None:
            try:
                picture = picture_in(files, item.file)
            except PictureError as error:
                intake.refusals.append(Refusal(item.file, str(error)))
                continue
            other = first.setdefault(picture.sha256, item.document)
            if other != item.document:
                intake.repeated.append(Refusal(item.file, f"the same picture as {other}"))
            intake.warnings += warnings_of(item.file, picture)
            pictures.append(picture)
        taken.append(item._replace(sha256=picture and picture.sha256))
    _locked_draft(session, key)
    item_queries.store_pictures(session, key.id, [each.columns() for each in pictures])
    item_queries.store_items(session, key.id, taken)
    session.commit()
    intake.items += len(taken)


def picture_in(files: Files, name: str) -> Picture:
    """Return the picture of a file; raises PictureError with the reason why it cannot be taken."""
    if name not in files:
        raise PictureError("there is no such file")
    try:
        return make_picture(files[name]())
    except OSError as error:
        raise PictureError(f"the file cannot be read: {error.strerror}") from None


def warnings_of(file: str, picture: Picture) -> list[Warned]:
    """Return the warnings of a picture with the name of its file."""
    return [Warned("picture", file, f"{file}: {warning}") for warning in picture.warnings]


def _take_topics(
    session: Session, key: StudyKey, files: Files, topics: Sequence[Topic], intake: Intake
) -> None:
    """Store topics; their pictures are items' or files."""
    items = {each.document: each for each in item_queries.items_of(session, key.id)}
    session.rollback()
    taken, pictures = [], []
    for topic in topics:
        sha256 = None
        if topic.image is not None and topic.image in items:
            sha256 = items[topic.image].sha256
        elif topic.image is not None:
            try:
                picture = picture_in(files, topic.image)
            except PictureError as error:
                reason = f"{shortened(topic.image)} is neither an item nor a picture: {error}"
                intake.refusals.append(Refusal(f"topic {topic.topic}", reason))
                continue
            warnings = warnings_of(topic.image, picture)
            intake.warnings += [each for each in warnings if each not in intake.warnings]
            pictures.append(picture)
            sha256 = picture.sha256
        taken.append(topic._replace(sha256=sha256))
    _locked_draft(session, key)
    item_queries.store_pictures(session, key.id, [each.columns() for each in pictures])
    item_queries.store_topics(session, key.id, taken)
    session.commit()
    intake.topics += len(taken)


def _take_vectors(session: Session, key: StudyKey, files: Files, intake: Intake) -> None:
    """Store the vectors of ``features.csv`` or ``features.npy``, or none where one has a fault."""
    if not {*VECTOR_FILES} & files.keys():
        return
    known = {each.document for each in item_queries.items_of(session, key.id)}
    known |= {each.image for each in item_queries.topics_of(session, key.id) if each.image}
    session.rollback()
    try:
        vectors = read_vectors(files, known)
    except (FaultyFilesError, PictureError) as error:
        faults = error.faults if isinstance(error, FaultyFilesError) else [str(error)]
        intake.refusals += [Refusal("vectors", fault) for fault in faults]
        return
    study = _locked_draft(session, key)
    item_queries.store_vectors(session, key.id, vectors)
    study.vectors_digest = vectors_digest(vectors)
    session.commit()
    intake.vectors = len(vectors)


def _locked_draft(session: Session, key: StudyKey) -> Study:
    study = queries.locked(session, Study, id=key.id, slug=key.slug)
    lifecycle.require_draft(study)
    return study


def _finish(session: Session, key: StudyKey, who: str) -> None:
    """Store the digest of all items and topics, and log who added some first."""
    study = _locked_draft(session, key)
    item_queries.remove_unused_pictures(session, key.id)
    digest = digest_of(session, key.id)
    if digest != study.items_digest:
        if study.items_digest is None:
            accounts.log(session, study, who, "items added")
        study.items_digest = digest
    session.commit()


def shown(session: Session, study: AnyStudy) -> Shown:
    """Return what pages show of a study's documents and topics."""
    return item_queries.shown(session, study.id)


def find_named_picture(
    session: Session, study: AnyStudy, name: str, *, larger: bool
) -> bytes | None:
    """Return a study's picture in one of its sizes, by the random name of its address."""
    return item_queries.named_picture(session, study.id, name, larger=larger)


def find_picture(session: Session, study: Study, sha256: str) -> StoredPicture | None:
    """Return a study's picture by the digest of its file; None where it has no such one."""
    return queries.find(session, StoredPicture, study_id=study.id, sha256=sha256)


def items_and_topics(session: Session, study: Study) -> tuple[list[Item], list[Topic]]:
    """Return a study's items and topics."""
    return item_queries.items_of(session, study.id), item_queries.topics_of(session, study.id)


def digest_of(session: Session, study_id: int) -> str | None:
    """Return the digest of a study's items and topics, None without any."""
    return items_digest(
        item_queries.items_of(session, study_id),
        item_queries.topics_of(session, study_id),
        item_queries.vectors_digest_of(session, study_id),
    )


def remove_all(session: Session, study: Study, who: str) -> None:
    """Remove a draft's items, topics and pictures."""
    study = _locked_draft(session, StudyKey(study.id, study.slug))
    item_queries.remove_items(session, study.id)
    study.items_digest = study.vectors_digest = None
    accounts.log(session, study, who, "items removed")
    session.commit()


def pictured(session: Session, study: Study, items: Iterable[Item]) -> list[Item]:
    """Return those of a study's items whose pictures are in the database."""
    nothing = {*item_queries.absent_pictures(session, study.id), None}
    return [each for each in items if each.sha256 not in nothing]


def summary(session: Session, study: Study) -> dict[str, Any]:
    """Return how many items, pictures and topics a study has, and their digest.

    ``absent``: how many pictures are known by their digest only, from a bundle without pictures.
    """
    items = item_queries.items_of(session, study.id)
    return {
        "items": len(items),
        "pictures": len({each.sha256 for each in items if each.sha256}),
        "absent": len(item_queries.absent_pictures(session, study.id)),
        "topics": len(item_queries.topics_of(session, study.id)),
        "items_digest": study.items_digest,
    }
