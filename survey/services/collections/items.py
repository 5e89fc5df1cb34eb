"""Take in what a study's documents and topics stand for: pictures and texts."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from sqlalchemy.orm import Session

from survey.core.collections.items import Item, Shown, Topic, items_digest
from survey.core.collections.keywords import KEYWORD_COLUMNS as KEYWORD_COLUMNS
from survey.core.collections.runs import SORTS, sort_of
from survey.core.collections.vectors import VECTOR_FILES, read_vectors, vectors_digest
from survey.core.given_tables import (
    GZIPPED,
    LARGEST_TABLE,
    OTHER_NAMES_OF_TOPIC,
    SHOWABLE,
    Columns,
    GivenRow,
    GivenTable,
    heading_names,
    media_of,
    read_table,
)
from survey.core.preflight import NOTE, Warned, columns_not_read
from survey.core.studies.fields import is_storable
from survey.core.studies.provenance import LONGEST_SOURCE_NAME
from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    Json,
    is_steering,
    shortened,
    visible,
)
from survey.db import item_queries, queries
from survey.db.models import StoredPicture, Study
from survey.db.participant_queries import AnyStudy
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.collections.corpus import NeededRows, read_needed_rows
from survey.services.collections.item_files import (
    PICTURE_ENDING,
    FileNames,
    Files,
    Read,
    Refusal,
    check_work,
    file_content,
    files_in_folder,
    files_in_zip,
    is_junk,
    is_table_name,
    is_table_of,
    table_named,
)
from survey.services.collections.pictures import Picture, PictureError, make_picture
from survey.services.collections.reduced_html import MOST_NESTED, is_too_nested, reduce_html
from survey.services.studies import lifecycle

MOST_ITEMS = 20_000  # of a study
ENTRY_PICTURES, ENTRY_ROW = 18, 6  # on the entry page: at most, and in a row
ENTRY_BYTES = 26_000  # the page is light; see tests/accessibility/test_weight.py
LONGEST = {  # characters of an item's texts
    "title": 500,
    "url": 2_000,
    "snippet": 2_000,
    "text": 200_000,
    "html": 200_000,
    "alt": 300,
}
LONGEST_OF_TOPICS = {"description": 2_000, "narrative": 20_000}
LONGEST_QUERY = 2_000
LONGEST_KEYWORDS = 500
LONGEST_FILE_NAME = 200
# Of a language, like el or zh-Hant.
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}")
ITEMS_FILE, TOPICS_FILE = "items.csv", "topics.csv"
ITEM_COLUMNS = Columns(
    ("document",),
    ("file", *LONGEST, "lang", "keywords"),
    {
        **dict.fromkeys(("docno", "doc_id", "docid", "corpus-id", "_id", "id"), "document"),
        **dict.fromkeys(("contents", "body"), "text"),
    },
    bare=("document", "text"),
)
TOPIC_COLUMNS = Columns(
    ("topic",),
    ("text", "image", "cluster_type", "query", "title", *LONGEST_OF_TOPICS, "lang"),
    {**OTHER_NAMES_OF_TOPIC, **dict.fromkeys(("contents", "body"), "text")},
    bare=("topic", "text"),
)
PICTURES_AT_ONCE, ITEMS_AT_ONCE = 16, 200  # that are stored before progress is told
OTHERS_CAME = (
    "Other files of this study were taken in at the same time. Nothing of these was taken: add "
    "them again."
)
MOST_OF_A_CODE = 10  # warnings that are printed of each code


class StudyKey(NamedTuple):
    """A study's row id and slug, which stay known when a transaction ends."""

    id: int
    slug: str


@dataclass
class FileReport:
    """How a file was read, and how many of its rows were taken.

    ``not_needed``: rows of documents that are in no question of the study; ``first_not_needed``:
    the first of these documents. ``links_as_text`` and ``pictures_left_out``: of HTML.
    """

    file: str
    read_as: str
    rows: int
    taken: int = 0
    not_needed: int = 0
    columns_not_read: Sequence[str] = ()
    first_not_needed: str = ""
    links_as_text: int = 0
    pictures_left_out: int = 0

    def sentence(self) -> str:
        """Return it in sentences."""
        noun = "file" if self.read_as.startswith("files") else "row"
        counted = f"{self.rows:,} {noun}{'s' * (self.rows != 1)}, {self.taken:,} taken"
        first = f" (first: {self.first_not_needed})" * bool(self.first_not_needed)
        unneeded = f", {self.not_needed:,} not needed{first}" * bool(self.not_needed)
        columns = f" Columns not read: {', '.join(self.columns_not_read)}."
        sentence = f"{self.file}: {counted}{unneeded}.{columns * bool(self.columns_not_read)}"
        links, pictures = self.links_as_text, self.pictures_left_out
        became = f"{links:,} link{'s' * (links != 1)} became text" * bool(links)
        left_out = f"{pictures:,} picture{'s were' if pictures != 1 else ' was'} left out"
        lost = ", ".join(filter(None, (became, left_out * bool(pictures))))
        return f"{sentence} {self.file}: {lost}." if lost else sentence


@dataclass
class Intake:
    """What was taken in, what was refused, and which files are the same picture as an earlier.

    ``warnings``: what a researcher should know of the files that were taken. ``items_report`` and
    ``topics_report``: of the files that hold items and topics, where there are some. ``replaced``:
    how many topics were there before those of a file. ``features``: the file of vectors, as it is
    called.
    """

    items: int = 0
    topics: int = 0
    vectors: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    repeated: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    items_report: FileReport | None = None
    topics_report: FileReport | None = None
    replaced: int = 0
    features: str = ""

    @property
    def files(self) -> list[FileReport]:
        """The reports of all files."""
        return [report for report in (self.items_report, self.topics_report) if report]


@dataclass
class Source:
    """What is to be taken in: files, items, and topics if there are some.

    ``intake``: what was refused, and is to be known, before anything is stored.
    """

    files: Files
    items: list[Item]
    topics: list[Topic] | None
    intake: Intake


class Needed(NamedTuple):
    """Which items are taken, and whether longer texts are cut.

    ``documents``: the ids that questions and topics name, by their composed forms; where there are
    none, all items are taken.
    """

    documents: Mapping[str, str] = {}
    cut_texts: bool = False

    def document(self, *names: str) -> str | None:
        """Return the first of an item's possible ids that is needed, None if it is not needed."""
        if not self.documents:
            return names[0] or None
        ids = (self.documents.get(_composed(name)) for name in names)
        return next((each for each in ids if each), None)


EVERYTHING = Needed()


def needed_items(session: Session, study: Study, *, cut_texts: bool = False) -> Needed:
    """Return the documents that a study's questions and topics name."""
    documents: set[str] = set(study.plan.further_documents)
    for row in study.questions:
        source = row.content.get("source") or row.content
        listed = source.get("documents", ())  # by list, or all of a topic
        lists = listed.values() if isinstance(listed, dict) else [listed]
        documents.update(each for some in lists for each in some)
    if documents:
        documents |= _images(item_queries.topics_of(session, study.id))
    return Needed(_by_composed_form(documents), cut_texts)


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _by_composed_form(names: Iterable[str]) -> dict[str, str]:
    return {_composed(name): name for name in names}


def _images(topics: Iterable[Topic] | None) -> set[str]:
    return {topic.image for topic in topics or () if topic.image}


def warning_sentences(warnings: Iterable[Warned]) -> list[str]:
    """Return the texts of warnings, of each code the first ten and how many there are more."""
    by_code: dict[str, list[str]] = {}
    for warned in warnings:
        text = f"Note: {warned.text}" if warned.level == NOTE else warned.text
        by_code.setdefault(warned.code, []).append(text)
    sentences: list[str] = []
    for texts in by_code.values():
        more = len(texts) - MOST_OF_A_CODE
        sentences += [*texts[:MOST_OF_A_CODE], *([f"and {more:,} more"] if more > 0 else [])]
    return sentences


@contextmanager
def open_source(
    source: Path | None,
    topics_file: Path | None,
    features: Path | None = None,
    needed: Needed = EVERYTHING,
    on_bytes: Callable[[int], object] = lambda _: None,
) -> Iterator[Source]:
    """Open a folder, a zip or a table of items, and a table of topics, for ``take_in``.

    Of a table the rows that are needed are read; ``on_bytes``: see ``read_needed_rows``. Pictures
    are beside the table that names them. ``features``: a CSV or .npy of vectors, the latter with a
    .txt of ids beside it. Raises SurveyError for what cannot be read.
    """
    with ExitStack() as stack:
        intake = Intake()
        opened = _opened(source, intake, needed)
        files = {} if opened is None else stack.enter_context(opened)
        tables = _tables_in(files)
        left = 0
        if topics_file is not None:
            tables["topics"] = topics_file.name, topics_file.read_bytes()
        if source is not None and opened is None:
            content, left = _read_corpus(source, tables.get("topics"), needed, on_bytes)
            tables["items"] = source.name, content
        items, topics, needed = _read_tables(tables, intake, needed)
        if intake.items_report:
            intake.items_report.rows += left
            intake.items_report.not_needed += left
        if items is None:
            items = items_of_files(files, source.name if source else "", intake, needed)
        elif source is not None and opened is None:
            files = files_in_folder(source.parent, [item.file for item in items if item.file])
        if topics_file is not None:
            files = {**files_in_folder(topics_file.parent, _images(topics)), **files}
        items = _with_files(items, FileNames(files), intake)
        if features is not None:  # not those that are beside the items
            others = {name: read for name, read in files.items() if name not in VECTOR_FILES}
            files, intake.features = others | _vector_files(features), features.name
        yield Source(files, items, topics, intake)


def _read_corpus(
    path: Path,
    topics: tuple[str, bytes] | None,
    needed: Needed,
    on_bytes: Callable[[int], object],
) -> NeededRows:
    """Read the rows of a table of items that lists, pools or ``topics`` name, or all of them."""
    if not needed.documents:
        on_bytes(path.stat().st_size)
        return NeededRows(path.read_bytes())
    images: set[str] = set()
    if topics:
        with suppress(SurveyError):  # which reading the table raises
            images = _images(read_topics(topics[1], topics[0], Intake(), needed))
    named = {**_by_composed_form(images), **needed.documents}
    return read_needed_rows(path, ITEM_COLUMNS, named.__contains__, on_bytes)


def _opened(
    source: Path | None, intake: Intake, needed: Needed
) -> AbstractContextManager[Files] | None:
    """Return the opened files of a folder or a zip, None for a table or nothing."""
    if source is None or is_table(source):
        return None
    if not source.is_dir():
        names_in = partial(_names_in, needed)
        return files_in_zip(source, source.name, intake.refusals, names_in)
    if files := files_in_folder(source):
        return nullcontext(files)
    raise SurveyError(f"{source} holds no file.")


def is_table(path: Path) -> bool:
    """Return whether a file is a table, by its name or as it is packed by gzip."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        is_packed = stream.read(len(GZIPPED)) == GZIPPED
    return is_packed or is_table_name(path.name) or path.suffix.lower() == ".txt"


def _tables_in(files: Files) -> dict[str, tuple[str, bytes]]:
    """Return name and content of the tables of items and topics among files, by what they hold."""
    tables = {}
    for stem in ("items", "topics"):
        if name := table_named(files, stem):
            try:
                tables[stem] = name, files[name]()
            except (PictureError, OSError) as error:
                raise SurveyError(f"{name}: {error}.") from None
    return tables


def _names_in(needed: Needed, files: Files, beside: Files | None = None) -> set[str]:
    """Return by which names the tables among files, and the study's questions, name files."""
    names = {*needed.documents}
    for stem, (name, content) in _tables_in({**(beside or {}), **files}).items():
        columns, column = (ITEM_COLUMNS, "file") if stem == "items" else (TOPIC_COLUMNS, "image")
        with suppress(FaultyFilesError):  # which reading the table names
            names |= {row[column] for row in read_table(content, name, columns).rows}
    return names - {""}


def _read_tables(
    tables: Mapping[str, tuple[str, bytes]],
    intake: Intake,
    needed: Needed,
    *,
    is_whole: bool = True,
) -> tuple[list[Item] | None, list[Topic] | None, Needed]:
    """Return items and topics of tables, None without a table, and the documents that are needed.

    Raises SurveyError with the faults of both tables.
    """
    items, topics, faults = None, None, []
    if table := tables.get("topics"):
        try:
            topics = read_topics(table[1], table[0], intake, needed)
        except SurveyError as error:
            faults.append(str(error))
    if needed.documents:
        of_topics = _by_composed_form(_images(topics))
        needed = needed._replace(documents={**of_topics, **needed.documents})
    if table := tables.get("items"):
        try:
            items = read_items(table[1], table[0], intake, needed, is_whole=is_whole)
        except SurveyError as error:
            faults.append(str(error))
    if faults:
        raise SurveyError("\n".join(faults))
    return items, topics, needed


def _with_files(items: Iterable[Item], names: FileNames, intake: Intake) -> list[Item]:
    """Return items with their files as they are called; refuse those of which several fit."""
    table = intake.items_report.file if intake.items_report else ITEMS_FILE
    taken = []
    for item in items:
        if item.file is not None:
            try:
                path = names.find(item.file)
            except PictureError as error:
                intake.refusals.append(Refusal(item.file, str(error)))
                continue
            if path not in (None, item.file):
                intake.warnings.append(_picture_found(table, item.file, str(path)))
                item = item._replace(file=path)
        taken.append(item)
    return taken


def _picture_found(table: str, name: str, path: str) -> Warned:
    is_same = unicodedata.normalize("NFC", path) == unicodedata.normalize("NFC", name)
    form = " (the same name in another Unicode form)" * is_same
    text = f"{table} names {name}; {path} was taken{form}"
    return Warned("picture-found", table, text, 1, 1, (name, path))


def _vector_files(features: Path) -> dict[str, Read]:
    """Return the files of vectors under the names by which ``take_in`` knows them."""
    ending = Path(features.name.removesuffix(".gz")).suffix
    if ending not in (".csv", ".jsonl", ".npy"):
        raise SurveyError(f"{features.name} found; vectors are in a .csv, .jsonl or .npy file")
    paths = [features, *([features.with_suffix(".txt")] if features.suffix == ".npy" else [])]
    for path in paths:
        if not path.is_file():
            raise SurveyError(f"There is no {path.name}: the ids of the rows, one per line.")
    names = [f"features{path.suffix}" for path in paths] if ending == ".npy" else [VECTOR_FILES[0]]
    return {
        name: partial(file_content, path, LARGEST_TABLE)
        for name, path in zip(names, paths, strict=True)
    }


class RequestPart(NamedTuple):
    """Which part of the files that were chosen a request brings; by default all of them.

    ``elsewhere``: the paths of those in other requests; rows of items.csv with these are left out.
    ``is_later``: an earlier request brought the same items.csv, and took its rows without a file.
    """

    elsewhere: Collection[str] = ()
    is_later: bool = False
    is_whole: bool = True


ALL_FILES = RequestPart()
NO_TABLES: Mapping[str, str] = {}


@contextmanager
def open_uploads(
    uploads: Mapping[str, IO[bytes]],
    part: RequestPart = ALL_FILES,
    needed: Needed = EVERYTHING,
    tables_at: Mapping[str, str] = NO_TABLES,
) -> Iterator[Source]:
    """Open uploaded pictures, zips and tables, by their paths, for ``take_in``.

    ``tables_at``: the paths of the tables of items and topics, by their stems, where these have
    other names than items.csv and topics.csv.
    """
    with ExitStack() as stack:
        intake = Intake()
        files: dict[str, Read] = {
            path: partial(_stream_content, stream)
            for path, stream in uploads.items()
            if not path.lower().endswith(".zip") and not is_junk(path)
        }
        names_in = partial(_names_in, needed, beside={**files})
        for path, stream in uploads.items():
            if path.lower().endswith(".zip"):
                opened = stack.enter_context(files_in_zip(stream, path, intake.refusals, names_in))
                if twice := sorted(opened.keys() & files.keys()):
                    raise SurveyError(f"{path} holds {twice[0]}, which another file is called.")
                files |= opened
        tables = _tables_in(files)
        for stem, path in tables_at.items():
            tables[stem] = PurePosixPath(path).name, files.pop(path)()
        # What the first request reports of a table is not repeated.
        reading = Intake() if part.is_later and "items" in tables else intake
        items, topics, needed = _read_tables(tables, reading, needed, is_whole=part.is_whole)
        if items is None:
            items = items_of_files(files, "The upload", intake, needed, is_whole=part.is_whole)
        items = _with_files(items, FileNames([*files, *part.elsewhere]), reading)
        intake.items_report = reading.items_report
        items = [
            item
            for item in items
            if item.file not in part.elsewhere and (item.file in files or not part.is_later)
        ]
        check_work(files, [*_pictures_named(files, items, topics or ())])
        yield Source(files, items, topics, intake)


def _pictures_named(files: Files, items: Iterable[Item], topics: Iterable[Topic]) -> Iterator[str]:
    """Yield the file of each item and each topic that has one, as often as it is named."""
    names = FileNames(files)
    documents = {item.document for item in items}
    images = [topic.image for topic in topics if topic.image and topic.image not in documents]
    yield from (item.file for item in items if item.file and item.file in files)
    for image in images:
        with suppress(PictureError):  # refused where topics are taken
            if path := names.find(image):
                yield path


def _stream_content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


@contextmanager
def _faults_as_one() -> Iterator[None]:
    """Raise the faults of a table as one error that users read."""
    try:
        yield
    except FaultyFilesError as error:
        raise SurveyError("\n".join(error.faults)) from None


@_faults_as_one()
def read_items(
    content: bytes,
    file: str,
    intake: Intake,
    needed: Needed = EVERYTHING,
    *,
    is_whole: bool = True,
) -> list[Item]:
    """Return the items of a table that are needed, see ITEM_COLUMNS; raises SurveyError.

    ``is_whole``: whether these are all the files; else none needs to be needed.
    """
    table = read_table(content, file, ITEM_COLUMNS)
    cells = Cells(FileFaults(), [] if needed.cut_texts else None)
    lines: dict[str, int] = {}
    items = []
    not_needed = []
    links = pictures = 0
    _refuse_bare_heading(table)
    for row in table.rows:
        document = needed.document(_id_in(row, "document", lines, cells.faults))
        if document is None:
            not_needed.append(row["document"])
            continue
        item = Item(
            document=document,
            file=_checked(row, "file", row["file"], LONGEST_FILE_NAME, cells.faults),
            **{name: _text_in(row, name, longest, cells) for name, longest in LONGEST.items()},
            lang=_language_in(row, cells.faults),
            keywords=_checked(row, "keywords", row["keywords"], LONGEST_KEYWORDS, cells.faults),
        )
        if item.html and is_too_nested(item.html):
            fault = f"elements are nested more than {MOST_NESTED:,} deep; no more is allowed"
            cells.faults.add(row.fault("html", fault), row.number)
        elif item.html and len(item.html) <= LONGEST["html"]:
            reduced = reduce_html(item.html)
            item = item._replace(html=reduced.html or None)
            links, pictures = links + reduced.links, pictures + reduced.pictures
        if item.file is None and not item.has_text:
            fault = row.fault("file", "nothing found; a file or a text is needed")
            cells.faults.add(fault, row.number)
        items.append(item)
    cells.faults.raise_any()
    intake.items_report = _report_of(table, not_needed)
    intake.items_report.links_as_text = links
    intake.items_report.pictures_left_out = pictures
    intake.warnings += _table_warnings(table, cells)
    if not items:
        _refuse_unneeded(file, not_needed[0], needed, intake, is_whole=is_whole)
    return items


@_faults_as_one()
def read_topics(
    content: bytes, file: str, intake: Intake, needed: Needed = EVERYTHING
) -> list[Topic]:
    """Return the topics of a table, see TOPIC_COLUMNS; raises SurveyError."""
    table = read_table(content, file, TOPIC_COLUMNS)
    cells = Cells(FileFaults(), [] if needed.cut_texts else None)
    lines: dict[str, int] = {}
    topics = []
    _refuse_bare_heading(table)
    for row in table.rows:
        column = next((each for each in ("text", "query", "title") if row[each]), "text")
        topic = Topic(
            topic=_id_in(row, "topic", lines, cells.faults),
            text=_text_in(row, column, LONGEST_QUERY, cells),
            image=_checked(row, "image", row["image"], LONGEST_SOURCE_NAME, cells.faults),
            cluster_type=_checked(
                row, "cluster_type", row["cluster_type"], LONGEST_FILE_NAME, cells.faults
            ),
            **{
                name: _text_in(row, name, longest, cells)
                for name, longest in LONGEST_OF_TOPICS.items()
            },
            lang=_language_in(row, cells.faults),
        )
        topics.append(topic)
    cells.faults.raise_any()
    intake.topics_report = _report_of(table)
    intake.warnings += _table_warnings(table, cells)
    return topics


class Cells(NamedTuple):
    """The faults of a table's cells, and the rows of texts that are cut; None cuts none."""

    faults: FileFaults
    cut: list[int] | None


def _refuse_bare_heading(table: GivenTable) -> None:
    if not table.rows:
        fault = f"{table.file} has a heading but no rows; nothing was changed"
        raise FaultyFilesError([fault])


def _report_of(table: GivenTable, not_needed: Sequence[str] = ()) -> FileReport:
    return FileReport(
        *(table.file, table.read_as, len(table.rows)),
        not_needed=len(not_needed),
        columns_not_read=table.columns_not_read,
        first_not_needed=next(iter(not_needed), ""),
    )


def _table_warnings(table: GivenTable, cells: Cells) -> list[Warned]:
    warnings = columns_not_read(table.file, table.columns_not_read)
    if cells.cut:
        count = len(cells.cut)
        texts = f"{count:,} text{'s were' if count > 1 else ' was'} cut"
        text = f"{table.file}: {texts} at the longest that is allowed (first: row {cells.cut[0]})"
        warnings.append(Warned("texts-cut", table.file, text, count, len(table.rows)))
    return warnings


def _refuse_unneeded(
    file: str, document: str, needed: Needed, intake: Intake, *, is_whole: bool = True
) -> None:
    """Refuse a file of which no item is needed: all there is, or this part of it."""
    other = min(needed.documents.values())
    reason = (
        f"none of its documents is in a question of the study (it has “{document}”, the study "
        f"“{other}”)"
    )
    if is_whole:
        raise SurveyError(f"{file}: {reason}. Nothing was changed.")
    intake.refusals.append(Refusal(file, reason))


def keyword_topics(text: str, file: str) -> list[Topic]:
    """Return a topic for each line, a keyword; its id is the keyword with hyphens for blanks.

    Raises FaultyFilesError for a keyword that cannot be one, or is there twice, and for a file of
    another sort.
    """
    faults = FileFaults()
    if other := _other_sort([line for line in text.splitlines() if line.strip()]):
        takes = "--keywords takes a text file with one query per line"
        raise FaultyFilesError([f"{file} looks like {other}; {takes}"])
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


def _other_sort(lines: Sequence[str]) -> str:
    """Return what lines seem to be that are no keywords, "" where they can be."""
    for sort in ("judgements", "a run"):
        count = sum(sort_of([line]) == sort for line in lines)
        if count > 1 and count * 2 > len(lines):
            return f"{sort} ({count} lines of {SORTS[sort][0]})"
    needed = {*KEYWORD_COLUMNS.needed}
    if lines and heading_names(lines[0], KEYWORD_COLUMNS) >= needed:
        return f"a table of documents' keywords ({', '.join(KEYWORD_COLUMNS.needed)})"
    return ""


def topics_in(source: Path | None, topics_file: Path | None) -> list[Topic]:
    """Return the topics that come with items, or in a file of their own; long texts are cut."""
    if topics_file is not None or (source is not None and is_table(source)):
        source = None  # a corpus is read once, when it is taken in
    with open_source(source, topics_file, needed=Needed(cut_texts=True)) as opened:
        return [*(opened.topics or ())]


def _id_in(row: GivenRow, column: str, lines: dict[str, int], faults: FileFaults) -> str:
    name = row[column]
    fault = id_fault(name) if name else "a value is needed"
    first = lines.setdefault(name, row.number)
    if not fault and first != row.number:
        fault = f"row {first} has it already"
    if fault:
        faults.add(row.fault(column, f"{name[:60]!r} found; {fault}"), row.number)
    return name


def _text_in(row: GivenRow, column: str, longest: int, cells: Cells) -> str | None:
    """Return a text of at most so many characters, cut where longer ones are to be cut."""
    text = row[column]
    if len(text) > longest and cells.cut is not None:
        cells.cut.append(row.number)
        text = text[:longest]
    return _checked(row, column, text, longest, cells.faults, "; `--cut-texts` cuts longer ones")


def _language_in(row: GivenRow, faults: FileFaults) -> str | None:
    if row["lang"] and not LANGUAGE_TAG.fullmatch(row["lang"]):
        fault = "the tag of a language is needed, like en, el or zh-Hant"
        faults.add(row.fault("lang", f"{row['lang'][:60]!r} found; {fault}"), row.number)
    return row["lang"] or None


def _checked(
    row: GivenRow, column: str, text: str, longest: int, faults: FileFaults, remedy: str = ""
) -> str | None:
    """Return a text that can be stored, None where it is empty."""
    fault = "" if is_storable(text) else "it has a character that cannot be stored"
    if len(text) > longest:
        fault = f"{len(text):,} characters are too many; {longest:,} are allowed{remedy}"
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
    if is_steering(name):
        return f"it has a sign that cannot be seen ({visible(name[:60])}); take it out"
    if len(name) > LONGEST_SOURCE_NAME:
        return f"an id of {LONGEST_SOURCE_NAME} characters at most is allowed"
    return ""


def items_of_files(
    files: Files, name: str, intake: Intake, needed: Needed = EVERYTHING, *, is_whole: bool = True
) -> list[Item]:
    """Return an item for each picture that is needed, named by its file.

    ``name``: of the folder or zip. ``is_whole``: whether these are all the files.
    """
    items: dict[str, Item] = {}
    paths = [path for path in files if not _is_beside_pictures(path)]
    documents = {path: needed.document(*ids_of(path)) for path in paths}
    not_needed = []
    for path, document in documents.items():
        if needed.documents and document is None and PICTURE_ENDING.search(path):
            not_needed.append(path)
            continue
        document = document or ids_of(path)[0]  # what is no picture is refused as such
        if refusal := _refusal_of(path, document, items):
            intake.refusals += [refusal] * (refusal not in intake.refusals)
        else:
            items[document] = Item(document, path)
    if paths:
        read_as = "files of a zip" if name.lower().endswith(".zip") else "files"
        intake.items_report = FileReport(
            *(name, read_as, len(paths)),
            not_needed=len(not_needed),
            first_not_needed=next(iter(not_needed), ""),
        )
    if not_needed and is_whole and not any(documents.values()):
        _refuse_unneeded(name, ids_of(not_needed[0])[0], needed, intake)
    return [*items.values()]


def _is_beside_pictures(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in VECTOR_FILES or is_table_of(path, "topics")


def _refusal_of(path: str, document: str, items: Mapping[str, Item]) -> Refusal | None:
    """Return why a file cannot be the picture of a document, None where it can."""
    if not document:
        folder = PurePosixPath(path).parent
        return Refusal(str(folder), f"it is one folder too deep; give the folder {folder.parent}")
    if document in items:
        return Refusal(path, f"{items[document].file} is the document {document} already")
    fault = id_fault(document) or "its name is too long" * (len(path) > LONGEST_FILE_NAME)
    return Refusal(path, fault) if fault else None


def ids_of(path: str) -> list[str]:
    """Return the ids that a picture's document can have, first the one that it gets by default.

    That is the file's name without its ending, after the folder's as ``survey collect`` has it; ""
    for a file in deeper folders.
    """
    parts = PurePosixPath(_composed(path))
    folder = "/".join(parts.parts[:-1])
    inner = [parts.stem, parts.name]
    if not folder:
        return inner
    by_folder = "" if "/" in folder else document_of(folder, parts.stem)
    return [by_folder, *inner, f"{folder}/{parts.stem}", f"{folder}/{parts.name}"]


def document_of(group: str, stem: str) -> str:
    """Return the id of a picture in the folder of a class."""
    return _composed("-".join(f"{group} {stem}".split()))


def _named_otherwise(items: Iterable[Item]) -> list[Warned]:
    """Return the warnings about documents that have not the names of their files without ending."""
    examples: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for item in items:
        path = str(item.file)
        if item.document != _composed(PurePosixPath(path).stem) and PICTURE_ENDING.search(path):
            is_collect = item.document == ids_of(path)[0]
            by = "`survey collect`" if is_collect else "the study"
            is_file = item.document == _composed(PurePosixPath(path).name)
            part = "extension" if is_file else "folder"
            examples.setdefault((part, by), []).append((path, item.document))
    warnings = []
    for (part, by), named in examples.items():
        path, document = named[0]
        count = len(named)
        are, their, them, of = ("s are", "their", "them", "first: ")
        if count == 1:
            are, their, them, of = (" is", "its", "it", "")
        first = path if path == document else f"{path} is {document}"
        taken = f"{count:,} picture{are} taken with {their} {part}, as {by} names {them}"
        text = f"{taken} ({of}{first})"
        warnings.append(Warned("document-named", path, text, count, count, named[0]))
    return warnings


def take_in(
    session: Session,
    study: Study,
    files: Files,
    items: Sequence[Item],
    who: str,
    *,
    topics: Sequence[Topic] | None = None,
    on_item: Callable[[int], object] = lambda _: None,
    intake: Intake | None = None,
) -> Intake:
    """Store items, topics and vectors where there are some; return what was taken and what not.

    An item replaces one of the same document. Items, topics and vectors are stored in one
    transaction, so that a stop leaves the study as it was. Pictures are decoded and stored some at
    a time before it, so that memory stays flat and answers do not wait; of a stop they are left
    unused, until files are taken in again. Raises NotAllowedError once the study was opened,
    SurveyError for too many items, and where others' files took the place of these meanwhile.
    ``on_item``: called with the number of items done since its last call. ``intake``: of the
    source, which is completed.
    """
    lifecycle.require_draft(study)
    key = StudyKey(study.id, study.slug)
    known = {each.document: each for each in item_queries.items_of(session, key.id)}
    earlier = item_queries.topics_of(session, key.id)
    searched = earlier if topics is None else topics
    absent = item_queries.absent_pictures(session, key.id)
    session.rollback()
    total = len({*known, *(each.document for each in items)})
    if total > MOST_ITEMS:
        raise SurveyError(f"The study would have {total} items; {MOST_ITEMS} are allowed.")
    intake = intake or Intake()
    given = len(topics or ())
    items = _with_pictures(session, key, files, items, known, intake, on_item)
    if intake.items_report and intake.items_report.read_as.startswith("files"):
        intake.warnings += _named_otherwise(items)
    known |= {item.document: item for item in items}
    if topics is not None:
        topics = _topics_with_pictures(session, key, files, topics, known, intake)
        searched = topics
    vectors = _vectors_in(files, {*known, *_images(searched)}, intake)
    study = _locked_draft(session, key)
    for start in range(0, len(items), ITEMS_AT_ONCE):
        some = items[start : start + ITEMS_AT_ONCE]
        item_queries.store_items(session, key.id, some)
        on_item(sum(item.file is None for item in some))
    if topics is not None:
        item_queries.store_topics(session, key.id, topics)
    if vectors is not None:
        item_queries.store_vectors(session, key.id, vectors)
        study.vectors_digest = vectors_digest(vectors)
    if item_queries.absent_pictures(session, key.id) - absent:
        session.rollback()
        raise SurveyError(OTHERS_CAME)
    item_queries.remove_unused_pictures(session, key.id)
    _renew_digest(session, study, who)
    session.commit()
    lifecycle.follow_items(session, study, who)
    intake.items, intake.topics, intake.vectors = len(items), len(topics or ()), len(vectors or ())
    intake.replaced = 0 if topics is None else len(earlier)
    if intake.items_report:
        intake.items_report.taken = intake.items
    if intake.topics_report and topics is not None:
        intake.topics_report.taken = intake.topics_report.rows - given + intake.topics
    return intake


def _with_pictures(
    session: Session,
    key: StudyKey,
    files: Files,
    items: Sequence[Item],
    known: Mapping[str, Item],
    intake: Intake,
    on_item: Callable[[int], object],
) -> list[Item]:
    """Make and store the pictures of items; return the items without those that are refused."""
    first = {each.sha256: each.document for each in known.values() if each.sha256}
    taken: list[Item] = []
    pictures: list[Picture] = []
    done = 0
    for item in items:
        if item.file is None:
            taken.append(item._replace(sha256=None))
            continue
        done += 1
        try:
            picture = picture_in(files, item.file)
        except PictureError as error:
            intake.refusals.append(Refusal(item.file, str(error)))
            continue
        other = first.setdefault(picture.sha256, item.document)
        if other != item.document:
            intake.repeated.append(Refusal(item.file, f"the same picture as {other}"))
        intake.warnings += picture_warnings(item.file, picture)
        pictures.append(picture)
        taken.append(item._replace(sha256=picture.sha256))
        if len(pictures) == PICTURES_AT_ONCE:
            _store_pictures(session, key, pictures)
            on_item(done)
            pictures, done = [], 0
    _store_pictures(session, key, pictures)
    on_item(done)
    return taken


def _store_pictures(session: Session, key: StudyKey, pictures: Sequence[Picture]) -> None:
    if pictures:
        _locked_draft(session, key)
        item_queries.store_pictures(session, key.id, [each.columns() for each in pictures])
        session.commit()


def picture_in(files: Files, name: str) -> Picture:
    """Return the picture of a file; raises PictureError with the reason why it cannot be taken."""
    if media := media_of(name):
        raise PictureError(f"{PurePosixPath(name).name} is {media}. {SHOWABLE}")
    if name not in files:
        is_address = "; it is an address: download the picture and put it beside the table"
        raise PictureError(f"there is no such file{is_address * ('://' in name)}")
    try:
        return make_picture(files[name]())
    except OSError as error:
        raise PictureError(f"the file cannot be read: {error.strerror}") from None


def picture_warnings(file: str, picture: Picture) -> list[Warned]:
    """Return the warnings of a picture with the name of its file."""
    return [Warned("picture", file, f"{file}: {warning}") for warning in picture.warnings]


def _topics_with_pictures(
    session: Session,
    key: StudyKey,
    files: Files,
    topics: Sequence[Topic],
    items: Mapping[str, Item],
    intake: Intake,
) -> list[Topic]:
    """Store the pictures of topics, which are items' or files; return those that can be taken."""
    by_file = {item.file: item for item in items.values() if item.file}
    names = FileNames([*files, *by_file])
    table = intake.topics_report.file if intake.topics_report else TOPICS_FILE
    taken, pictures = [], []
    for topic in topics:
        sha256 = None
        if topic.image is not None and topic.image in items:
            sha256 = items[topic.image].sha256
        elif topic.image is not None:
            try:
                path = names.find(topic.image) or topic.image
                picture = picture_in(files, path) if path in files or path not in by_file else None
            except PictureError as error:
                reason = f"{shortened(topic.image)} is neither an item nor a picture: {error}"
                intake.refusals.append(Refusal(f"topic {topic.topic}", reason))
                continue
            if path != topic.image:
                intake.warnings.append(_picture_found(table, topic.image, path))
            if picture is not None:
                warnings = picture_warnings(path, picture)
                intake.warnings += [each for each in warnings if each not in intake.warnings]
                pictures.append(picture)
            sha256 = picture.sha256 if picture else by_file[path].sha256
        taken.append(topic._replace(sha256=sha256))
    _store_pictures(session, key, pictures)
    return taken


def _vectors_in(files: Files, known: Collection[str], intake: Intake) -> Mapping[str, bytes] | None:
    """Return the vectors of ``features.csv`` or ``features.npy``; None where one has a fault."""
    if not {*VECTOR_FILES} & files.keys():
        return None
    try:
        return read_vectors(files, known)
    except (FaultyFilesError, PictureError) as error:
        faults = error.faults if isinstance(error, FaultyFilesError) else [str(error)]
        stem = PurePosixPath(intake.features).stem or "features"
        named = [fault.replace("features.", f"{stem}.") for fault in faults]
        intake.refusals += [Refusal("vectors", fault) for fault in named]
    return None


def _locked_draft(session: Session, key: StudyKey) -> Study:
    study = queries.locked(session, Study, id=key.id, slug=key.slug)
    lifecycle.require_draft(study)
    return study


def _renew_digest(session: Session, study: Study, who: str) -> None:
    """Store the digest of all items and topics, and log who added some first."""
    digest = digest_of(session, study.id)
    if digest != study.items_digest:
        if study.items_digest is None:
            accounts.log(session, study, who, "items added")
        study.items_digest = digest


def shown(session: Session, study: AnyStudy) -> Shown:
    """Return what pages show of a study's documents and topics."""
    return item_queries.shown(session, study.id)


def find_named_picture(
    session: Session, study: AnyStudy, name: str, *, larger: bool
) -> bytes | None:
    """Return a study's picture in one of its sizes, by the random name of its address."""
    return item_queries.named_picture(session, study.id, name, larger=larger)


def entry_pictures(session: Session, study: AnyStudy) -> list[str]:
    """Return the names of the pictures on the entry page, always the same ones, or none.

    They are drawn at random, up to three rows of six, and as many as 26 kB hold; a row is whole.
    """
    names, total = [], 0
    for name, size in item_queries.some_pictures(session, study.id, ENTRY_PICTURES):
        total += size
        if total > ENTRY_BYTES:
            break
        names.append(name)
    return names[: len(names) // ENTRY_ROW * ENTRY_ROW]


def find_named_texts(session: Session, study: AnyStudy, name: str) -> Item | None:
    """Return the texts of a study's item, without ids, by the random name of their address."""
    return item_queries.named_texts(session, study.id, name)


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


def items_summary(session: Session, study: Study) -> dict[str, Json]:
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
