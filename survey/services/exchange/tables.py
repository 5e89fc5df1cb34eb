"""A study as a bundle holds it, and the tables written from it, each column with its meaning.

A column that the database has too takes its meaning from the model; so does the page about what
the survey stores.
"""

import base64
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice
from operator import attrgetter, itemgetter
from textwrap import shorten
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from sqlalchemy import JSON, Boolean, CheckConstraint, Float, Integer
from sqlalchemy.orm import InstrumentedAttribute

from survey.core.collections import items as collection
from survey.core.kinds import KINDS
from survey.core.studies.fields import (
    CLOSING,
    LONGEST_ANSWER,
    MINUTES,
    PERSONAL,
    FieldAnswer,
    ParticipantRecord,
    PersonalField,
    is_storable,
    list_words,
    participant_columns,
)
from survey.core.studies.plan import ATTENTION_NAMES, FLAGS, Plan, TaskQuestion
from survey.core.studies.rankings import letters_for
from survey.core.text_input import Json, escaped, quoted
from survey.db.export_queries import EXPORTED
from survey.db.item_queries import Thumbnail
from survey.db.models import (
    Identity,
    Participant,
    Presentation,
    StoredItem,
    StoredPicture,
    StoredResponse,
    StoredTopic,
)
from survey.db.models.base import Base, Labels, UtcDateTime, WeakOrder
from survey.services.analysis.beside import beside_sheets
from survey.services.analysis.results import NOBODY, Results
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import (
    AnalysisOptions,
    Exclusions,
    LeftOut,
    minutes_taken,
)
from survey.services.exchange.input_files import CsvRow
from survey.services.studies.citation import Citation

Cell = str | int | float | Decimal | bool | datetime | None
Row = Sequence[Cell]
Item = TypeVar("Item")
MoveTime = Callable[[str, datetime | None], datetime | None]
"""What moves a time of a participant, whose id comes first."""

FORMAT = 2
STUDY_FILE = "study.json"
QUESTIONS_FILE = "questions.csv"
ITEMS_OF_LISTS = "list_items.csv"
ANALYSIS = "analysis.json"
SUMS = "SHA256SUMS"
PARTICIPANTS_FILE = "participants.csv"
FLAGS_FILE = "flags.csv"
CODEBOOK = "codebook.csv"
IDENTITIES = "identities.csv"
TIMES = ("opened_at", "closed_at", "unblinded_at")  # of a study
PACKAGES = "packages"  # measure → the package that brings it, with its version
LINES_AT_ONCE = 1_000
CACHED_TEXTS = 4_096  # in each cache, of different values
TWO_DIGITS = [f"{number:02}" for number in range(60)]


@dataclass(frozen=True)
class IdentityRecord:
    """A recruitment platform's id of a participant, with an address's parameters: personal.

    ``arrived_at``: when the participant came with them.
    """

    participant: str
    external_id: str | None
    parameters: Mapping[str, str]
    arrived_at: datetime | None = None


@dataclass(frozen=True)
class ConsentRecord:
    """One version of the consent text."""

    version: int
    text: str
    digest: str


@dataclass(frozen=True)
class UnansweredRecord:
    """A question that was shown to a participant, who has not answered it."""

    participant: str
    question: int
    position: int
    shown_at: datetime | None = None


class BesideRecord(NamedTuple):
    """What a participant answered to what a plan asks beside a question, by name."""

    participant: str
    question: int
    values: Mapping[str, FieldAnswer]


class TaskContent(Protocol):
    """What a kind of question reads of a study's answers, from a database or from files.

    Its records are read at each call, ordered by participant and question, so that memory does
    not have to hold a million of them.
    """

    def count(self) -> int:
        """Count the answers of all participants, left out or not."""

    def analyse(self, content: "Content", options: AnalysisOptions) -> Results:
        """Return the results of the answers."""

    def public(self, move: MoveTime) -> "TaskContent":
        """Return the answers as everyone may have them: without people's words, times moved."""

    def tried_sheet(self, content: "Content", number: int, drawn: object, answer: object) -> Sheet:
        """Return what measures or participants say of a question, beside someone's answer.

        ``drawn``: how that person, who only tries the question, was shown it.
        """

    def to_import(self, content: "Content") -> Iterator[tuple[Any, Any, object]]:
        """Yield each answer's record, presentation and answer, the last two of the kind's types.

        The record has participant, question, position, shown_at, submitted_at, active_seconds,
        revisions, asked and reason. The answer is None, and the record an ``UnansweredRecord``,
        where a bundle holds something of a question that has no answer.
        """


@dataclass(frozen=True)
class Content:
    """All that a bundle holds, but for its sums.

    ``format``: of its files. ``opened_at``, ``closed_at``: without a time, of its month only.

    ``questions``, ``practice`` and ``answers`` are of the types of the kind of question.
    ``participants`` and ``identities`` read their records at each call, in the order of the
    participants' ids; so does ``beside``, a record for each answer. ``identities`` and
    ``thumbnails`` are None where they are left out, as they are by default; items, which ``items``
    describes, may have pictures. ``packages``: of measures, by their names, when the lists were
    drawn. ``machines``: a ``MachineRecord`` of each that judged beside people. ``registration``:
    the text of its file, None where the study was not preregistered. ``citation``: None where the
    study is not published. ``is_public``: whether it is what everyone may have. ``created_at`` is
    known of a study that was never opened.
    """

    slug: str
    status: str
    digest: str
    generator_version: int
    opened_at: date | None
    closed_at: date | None
    unblinded_at: datetime | None
    looks: Sequence[Mapping[str, Json]]
    plan: Plan
    practice: Any
    questions: Sequence[Any]
    consents: Sequence[ConsentRecord]
    participants: Callable[[], Iterator[ParticipantRecord]]
    answers: Any
    include_test: bool
    identities: Callable[[], Iterable[IdentityRecord]] | None = None
    packages: Mapping[str, str] | None = None
    items: Sequence[collection.Item] = ()
    topics: Sequence[collection.Topic] = ()
    thumbnails: Callable[[], Iterable[Thumbnail]] | None = None
    vectors_digest: str | None = None
    beside: Callable[[], Iterator[BesideRecord]] = lambda: iter(())
    machines: Sequence[Any] = ()
    format: int = FORMAT
    registration: str | None = None
    citation: Citation | None = None
    is_public: bool = False
    created_at: date | None = None

    @property
    def items_digest(self) -> str | None:
        """The digest of items and topics, None where there are none."""
        return collection.items_digest(self.items, self.topics, self.vectors_digest)

    def question(self, number: int) -> Any:
        """Return the question of a number, not that of practice."""
        return next(each for each in self.questions if each.number == number)

    def names_of(self, documents: Iterable[str]) -> dict[str, str]:
        """Return what to call documents in a table: in words where there are some."""
        items = {each.document: each for each in self.items}
        words = {name: item.words for name, item in items.items()}
        return {
            each: f"{each}: {_first_words(words[each] or '')}" if words.get(each) else each
            for each in documents
        }

    def counted(self, options: AnalysisOptions) -> Iterator[ParticipantRecord]:
        """Yield the participants whose answers an analysis counts."""
        for each in self.participants():
            if not each.excluded and (options.include_test or not each.is_test):
                yield each

    @property
    def all_questions(self) -> list[TaskQuestion]:
        """The questions, the practice question first if there is one."""
        return [*([self.practice] if self.practice else []), *self.questions]

    def known(self, options: AnalysisOptions) -> dict[str, Any]:
        """Return what results of any kind know: facts of the study, and who is simulated."""
        tests = (each.public_id for each in self.counted(options) if each.is_test)
        return {
            "study": {
                "slug": self.slug,
                "title": self.plan.title,
                "language": self.plan.language,
                "digest": self.digest,
            },
            "simulated_ids": frozenset(tests if options.include_test else ()),
        }

    @cached_property
    def results(self) -> Any:
        """The results with the protocol's options, of the kind's type, computed once."""
        return self.analysed(AnalysisOptions(include_test=self.include_test))

    def analysed(self, options: AnalysisOptions) -> Any:
        """Return the results, of the kind's type, with what was answered beside the questions.

        Control questions are no part of it.
        """
        results = replace(self.answers.analyse(self, options), asked=asked_texts(self.plan))
        if not self.plan.ask:
            return results
        people = {each.public_id for each in self.counted(options)}
        if options.exclude_flagged and results.attention:
            people -= results.attention.flagged
        values = [
            (each.question, each.values)
            for each in self.beside()
            if each.participant in people and each.question <= self.plan.questions
        ]
        return replace(results, beside=beside_sheets(self.plan.ask, values))


def asked_texts(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return what participants were asked: heading and text."""
    questions = f"{plan.questions}, the same for everyone"
    if plan.per_participant:
        questions = f"{plan.questions}; each person is asked {plan.per_participant}"
    texts = {"Scenario": plan.story, "Task": plan.question_text, "Questions": questions}
    words: dict[str, object] = {**plan.numbers}
    if "letters" in plan.placeholder_names:
        words["letters"] = list_words(letters_for(plan.numbers["lists"]))
    return tuple((heading, text.format_map(words)) for heading, text in texts.items() if text)


def with_left_out(
    results: Results, everyone: Callable[[], Iterable[ParticipantRecord]], options: AnalysisOptions
) -> Results:
    """Return results that know who is left out, if no answer counts.

    ``everyone``: reads the participants, with those who are left out.
    """
    if not results.nothing or results.left_out != NOBODY:
        return results
    flags = [(each.is_test, each.excluded) for each in everyone()]
    people = Exclusions(*np.array(flags, dtype=bool).reshape(-1, 2).T)
    return replace(results, left_out=LeftOut.of(people, options))


def _first_words(text: str) -> str:
    """Return a text's first words, in at most 60 characters; of one long word its beginning."""
    words = shorten(text, 60)
    return words if words != "[...]" else f"{text.strip()[:59]}…"


@dataclass(frozen=True)
class Column:
    """A column: its meaning, the type of its values, and which are allowed.

    ``source``: the database's column, from which all three are taken where it is set; of
    ``value_type`` and ``allowed`` only where the latter is empty. ``optional``: whether a file may
    lack it; so may one of which the database's column may be empty. ``since``: the first format of
    a bundle that has it; ``former``: its name in format 1, where that is another. ``twin``: the
    file that has a row for each item of the list in its cells. ``values``: all that a cell may
    hold, where they are a few.
    """

    name: str
    meaning: str = ""
    value_type: str = "text"
    allowed: str = ""
    source: InstrumentedAttribute[Any] | None = None
    optional: bool = False
    since: int = 1
    former: str = ""
    twin: str = ""
    values: Sequence[object] = ()

    @property
    def is_needed(self) -> bool:
        """Whether each file has it: another version's may lack what may be empty."""
        stored = self.source is not None and self.source.property.columns[0].nullable
        return not (self.optional or stored or self.since > 1)


@dataclass(frozen=True)
class Table:
    """A file: its columns, and what makes the lines below the heading from a study's content.

    ``key``: the columns that tell its rows apart. ``references``: column → the file that has a row
    with each of its values, in the column of the same name. ``is_twin``: whether its rows are the
    items of lists in other tables' cells; format 1 has no such tables.
    """

    name: str
    columns: Sequence[Column]
    body: Callable[[Content], Iterable[str]]
    key: Sequence[str] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    is_twin: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns: the heading."""
        return [column.name for column in self.columns]

    @property
    def needed(self) -> list[str]:
        """The names of the columns that a file cannot lack."""
        return [column.name for column in self.columns if column.is_needed]

    def lines(self, content: Content) -> Iterator[str]:
        """Yield the file's text, many lines at a time; the same content gives the same bytes."""
        yield row_line(self.names)
        yield from map("".join, batched(self.body(content)))


def row_lines(rows: Callable[[Content], Iterable[Row]]) -> Callable[[Content], Iterator[str]]:
    """Return the body of a table that has a line for each of these rows."""
    return lambda content: map(row_line, rows(content))


def row_line(row: Row) -> str:
    """Return a row's line: missing values empty, texts escaped so that no spreadsheet runs them."""
    return ",".join(map(cell_of, row)) + "\n"


def cell_of(cell: Cell) -> str:
    """Return a cell's text in a line."""
    if isinstance(cell, str):
        return csv_cell(cell)
    if cell is None or cell != cell:  # NaN alone differs from itself
        return ""
    if isinstance(cell, int):
        return str(int(cell))  # 0 and 1 for no and yes
    if isinstance(cell, datetime):
        return time_of(cell)
    if isinstance(cell, list | tuple):
        return csv_cell(spaced(cell))
    if isinstance(cell, Mapping):
        return csv_cell(json.dumps(cell, ensure_ascii=False))
    return str(cell)


@lru_cache(CACHED_TEXTS)  # most texts are among a few, or like the one in the row above
def csv_cell(cell: str) -> str:
    """Return a text escaped so that no spreadsheet runs it, in quotes where it needs them."""
    return quoted(escaped(cell))


def time_of(cell: datetime | None) -> str:
    """Return a time in UTC, to the second; empty for None."""
    if cell is None:
        return ""
    # Put together by hand: four times as fast as strftime.
    t = cell.astimezone(UTC)
    return f"{_day(t.date())}T{TWO_DIGITS[t.hour]}:{TWO_DIGITS[t.minute]}:{TWO_DIGITS[t.second]}Z"


def time_or_month(moment: date | None) -> str:
    """Return a time as ``time_of`` does, of a date without a time its month, like 2026-01."""
    if moment is None or isinstance(moment, datetime):
        return time_of(moment)
    return f"{moment:%Y-%m}"


@lru_cache(CACHED_TEXTS)
def _day(day: date) -> str:
    return day.isoformat()


def spaced(parts: Iterable[object]) -> str:
    """Join values with spaces: how a cell holds a list."""
    return " ".join(map(str, parts))


def batched(items: Iterable[Item], number: int = LINES_AT_ONCE) -> Iterator[Sequence[Item]]:
    """Yield the items in lists of ``number``, the last one shorter."""
    iterator = iter(items)
    while batch := [*islice(iterator, number)]:
        yield batch


def stable_json(content: object) -> str:
    """Return content as JSON with sorted keys: the same content gives the same text."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


YES_OR_NO = "yes, no"
PARTICIPANT = Column("participant", source=Participant.public_id)
QUESTION = Column("question", "number of the question in the study", "whole number", "1, 2, …")
POSITION = Column(
    "position", value_type="whole number", allowed="1, 2, …", source=Presentation.position
)
OF_QUESTION = {"question": QUESTIONS_FILE}
COUNTED_FROM_1 = ("whole number", "1, 2, …")
LIST = Column("list", "letter of the ranked list", allowed="A, B, …")
ITEM_COLUMNS = [  # of the items of lists, a row each
    Column("position", "of the item in its list", *COUNTED_FROM_1),
    Column("document", "id of the item", allowed="empty where it is not known"),
    Column(
        "relevance", "its grade, or 1 for relevant", "whole number", "0, 1, …; empty if not known"
    ),
]
REASON = Column("reason", source=StoredResponse.reason)
CONTRADICTS = Column(
    "contradicts",
    "whether the answer contradicts itself, after the page asked back about it",
    allowed=YES_OR_NO,
    optional=True,
)
SHARED_COLUMNS = [  # of the answers of every kind
    Column("shown_at", source=Presentation.shown_at),
    Column("submitted_at", source=StoredResponse.submitted_at),
    Column("active_seconds", source=StoredResponse.active_seconds),
    Column("revisions", source=StoredResponse.revisions),
]


def reason_columns(plan: Plan) -> list[Column]:
    """Return the last column of a table of answers: their reasons, where the plan asks for them."""
    return [REASON] if plan.reason_question else []


def read_reason(row: CsvRow, plan: Plan) -> str | None:
    """Return the reason of an answer's row, None where it has none or the plan asks for none."""
    reason = row.optional_text(REASON.name) if plan.reason_question else None
    if reason is not None and (len(reason) > LONGEST_ANSWER or not is_storable(reason)):
        raise row.fault(REASON.name, f"a text of {LONGEST_ANSWER} characters at most is needed")
    return reason


def asked_column(doubts: Sequence[str]) -> Column:
    """Return the column of what the page asked back before it saved an answer, one of these."""
    allowed = f"{', '.join(doubts)}; empty where nothing was asked"
    return Column("asked", source=StoredResponse.asked, allowed=allowed)


def read_asked(row: CsvRow, doubts: Sequence[str]) -> str | None:
    """Return what was asked back; None where nothing was, or in a file that does not tell."""
    asked = row.optional_text("asked")
    if asked not in (*doubts, None):
        raise row.fault("asked", f"{', '.join(doubts)} or nothing is allowed")
    return asked


def yes_or_no(value: bool | None) -> str | None:
    """Return the cell of a switch; empty where it is unknown."""
    return None if value is None else "yes" if value else "no"


def read_yes_or_no(row: CsvRow, column: str) -> bool | None:
    """Return the switch in a cell; None where it is empty or the file lacks the column."""
    text = row.optional_text(column)
    if text not in ("yes", "no", None):
        raise row.fault(column, "yes, no or nothing is allowed")
    return None if text is None else text == "yes"


def check_contradicts(row: CsvRow, expected: bool) -> None:
    """Compare a cell of CONTRADICTS, where it is, with what follows from the row."""
    if read_yes_or_no(row, CONTRADICTS.name) not in (expected, None):
        raise row.fault(CONTRADICTS.name, f"{yes_or_no(expected)} follows from the answer")


def read_shared(row: CsvRow) -> dict[str, Any]:
    """Return the values of SHARED_COLUMNS in an answer's row, by their names."""
    return {
        "shown_at": row.optional_time("shown_at"),
        "submitted_at": row.optional_time("submitted_at"),
        "active_seconds": row.optional_number("active_seconds"),
        "revisions": row.optional_whole_number("revisions"),
    }


def public_record(record: Any, move: MoveTime) -> Any:
    """Return an answer's record, a named tuple, without its reason and with its times moved."""
    shown_at = move(record.participant, record.shown_at)
    submitted_at = move(record.participant, record.submitted_at)
    return record._replace(shown_at=shown_at, submitted_at=submitted_at, reason=None)


def participants_table(plan: Plan) -> Table:
    """Return participants.csv, with a column for each personal field and closing question."""
    asked = {PERSONAL: plan.personal_fields, CLOSING: plan.asked_at_end}
    columns = []
    for name, of_record in participant_columns():
        if of_record == LINE and not plan.machine_line:
            continue
        if of_record in asked:
            columns += [personal_column(field) for field in asked[of_record]]
        else:
            columns.append(_COMPUTED.get(of_record) or Column(name, source=EXPORTED[of_record]))
    columns += ATTENTION_COLUMNS if tells_attention(plan) else []
    columns += [FLAGS_COLUMN] if plan.has_flag_rules else []
    return Table(PARTICIPANTS_FILE, columns, _participants, ["participant"])


@row_lines
def _participants(content: Content) -> Iterator[Row]:
    names = participants_table(content.plan).names
    cells, empty = itemgetter(*names), dict.fromkeys(names)
    # By column, so that a personal field may be called as a field of the record: "closing".
    columns = {name: field for name, field in participant_columns() if field not in _NOT_OF_RECORD}
    values = attrgetter(*columns.values())
    attention = None
    if tells_attention(content.plan) or content.plan.has_flag_rules:
        attention = content.results.attention
    for person in content.participants():
        known = dict(zip(columns, values(person), strict=True))
        answers = {**person.personal, **(person.closing or {})}
        if attention and person.public_id in attention.counts:
            right, asked = attention.counts[person.public_id]
            row = (right, asked, person.public_id in attention.flagged)
            known |= zip(ATTENTION_NAMES, row, strict=True)
        if attention:
            known[FLAGS] = attention.flags_of(person.public_id) or None
        yield cells({**empty, **known, MINUTES: minutes_taken(person), **answers})


def tells_attention(plan: Plan) -> bool:
    """Return whether participants.csv says how participants answered attention checks.

    Where the analysis has flags of other sorts too, they are in analysis.json alone.
    """
    return bool(plan.checks) and not KINDS[plan.kind].has_options


_CHECKS = ("answers to attention checks that are right", "answers to attention checks")
_FLAGGED = "whether more than a third of the answers to a check are wrong (of two: both)"
_NO_CHECK = "empty without an answer to a check, and for the excluded"
ATTENTION_COLUMNS = [
    Column(name, meaning, "whole number", f"{allowed}; {_NO_CHECK}", optional=True)
    for name, meaning, allowed in zip(
        ATTENTION_NAMES, (*_CHECKS, _FLAGGED), ("0, 1, …", "0, 1, …", "0 or 1"), strict=True
    )
]
FLAGS_COLUMN = Column(
    FLAGS,
    "which attention checks and rules of the plan flag the participant, joined by semicolons",
    "text",
    "names of checks and rules; empty for no flag, and for the excluded",
    optional=True,
    twin=FLAGS_FILE,
)
_NOT_OF_RECORD = (PERSONAL, CLOSING, MINUTES)
LINE = "machine_line"  # a column where the plan has the line for programs


def flags_tables(plan: Plan) -> list[Table]:
    """Return flags.csv, a row for each flag of a participant, where the plan has such rules."""
    columns = [PARTICIPANT, Column("flag", "which attention check or rule of the plan flags them")]

    def rows(content: Content) -> Iterator[Row]:
        attention = content.results.attention
        by_flag = attention.flagged_by.items() if attention else ()
        return iter(sorted((person, flag) for flag, people in by_flag for person in people))

    of_participant = {"participant": PARTICIPANTS_FILE}
    names = [column.name for column in columns]
    table = Table(FLAGS_FILE, columns, row_lines(rows), names, of_participant, is_twin=True)
    return [table] if plan.has_flag_rules else []


def personal_column(field: PersonalField) -> Column:
    """Return the column of a field that a plan asks for."""
    allowed = {
        "choice": "; ".join(field.options),
        "number": bounds_of(field),
        "scale": ": ".join(filter(None, (bounds_of(field), " to ".join(field.options)))),
        "text": f"up to {field.longest} characters",
    }[field.kind]
    value_type = "whole number" if field.kind in ("number", "scale") else "text"
    needed = "" if field.required else "; may be empty"
    meaning = f"asked: {field.label}"
    options = field.options if field.kind == "choice" else ()
    return Column(field.name, meaning, value_type, allowed + needed, values=options)


def bounds_of(field: PersonalField) -> str:
    """Return the numbers that a field allows as text, "18 to 99"; "any" where it has no bound."""
    lowest, highest = ("any" if end is None else end for end in field.bounds)
    return f"{lowest} to {highest}"


# Columns of participants.csv that are no columns of the table of participants.
_COMPUTED = {
    "consent_version": Column(
        "consent_version",
        "version of the consent text agreed to (in study.json)",
        "whole number",
        "1, 2, …; may be empty",
    ),
    MINUTES: Column(
        MINUTES,
        "from the beginning to the end, breaks included",
        "number",
        "0 or more; empty if not finished",
    ),
}


@row_lines
def _identities(content: Content) -> Iterator[Row]:
    for person in content.identities() if content.identities else ():
        parameters = json.dumps(person.parameters, sort_keys=True)
        yield person.participant, person.external_id, parameters, person.arrived_at


IDENTITIES_TABLE = Table(
    IDENTITIES,
    [
        Column("participant", "random id of the participant"),
        Column("external_id", "the recruitment platform's id of the person"),
        Column("parameters", "all that was kept of the address, as JSON"),
        Column(
            "arrived_at",
            "when the participant came with this address; each time with other parameters has a "
            "row, the latest last",
            source=Identity.arrived_at,
        ),
    ],
    _identities,
    ["participant", "external_id", "parameters"],
    {"participant": PARTICIPANTS_FILE},
)


def item_tables(content: Content) -> list[Table]:
    """Return items.csv, topics.csv and thumbnails.csv, each where there is something in it."""
    tables = [(ITEMS_TABLE, content.items), (TOPICS_TABLE, content.topics)]
    return [
        *(table for table, rows in tables if rows),
        *([] if content.thumbnails is None else [THUMBNAILS_TABLE]),
    ]


@row_lines
def _thumbnails(content: Content) -> Iterator[Row]:
    for each in content.thumbnails() if content.thumbnails else ():
        picture = base64.b64encode(each.thumbnail).decode()
        yield each.sha256, each.width, each.height, picture


_SHA256 = Column("sha256", source=StoredItem.sha256)
_ALT = Column("alt", source=StoredItem.alt)
ITEMS_TABLE = Table(
    "items.csv",
    [
        *(Column("document", source=StoredItem.document), Column("file", source=StoredItem.file)),
        *(_SHA256, Column("text", source=StoredItem.text), _ALT),
        *(Column(name, source=getattr(StoredItem, name)) for name in collection.LATER_OF_ITEMS),
    ],
    row_lines(lambda content: iter(content.items)),
    ["document"],
)
TOPICS_TABLE = Table(
    "topics.csv",
    [
        *(Column("topic", source=StoredTopic.topic), Column("text", source=StoredTopic.text)),
        *(Column("image", source=StoredTopic.image), _SHA256),
        Column("cluster_type", source=StoredTopic.cluster_type),
        *(Column(name, source=getattr(StoredTopic, name)) for name in collection.LATER_OF_TOPICS),
    ],
    row_lines(lambda content: iter(content.topics)),
    ["topic"],
)
THUMBNAILS_TABLE = Table(
    "thumbnails.csv",
    [
        _SHA256,
        Column("width", source=StoredPicture.width),
        Column("height", source=StoredPicture.height),
        Column("thumbnail", "the picture, small, as WebP in base64"),
    ],
    _thumbnails,
    ["sha256"],
)


def codebook_of(tables: Sequence[Table]) -> Table:
    """Return codebook.csv, a row for each column of these tables and of itself."""

    @row_lines
    def rows(_: Content) -> Iterator[Row]:
        for table in [*tables, codebook]:
            for column in table.columns:
                yield table.name, column.name, *describe_column(column)

    columns = [
        Column("file", "name of a file of the bundle"),
        Column("column", "name of a column of the file"),
        Column("type", "what stands in it"),
        Column("allowed", "which values may stand in it"),
        Column("meaning", "what it means"),
    ]
    codebook = Table(CODEBOOK, columns, rows, ["file", "column"])
    return codebook


def describe_column(column: Column) -> tuple[str, str, str]:
    """Return a column's type, allowed values and meaning, taken from the database's if set."""
    if column.source is None:
        allowed = "; ".join(
            filter(None, (column.allowed, column.twin and f"also in {column.twin}"))
        )
        return column.value_type, allowed, column.meaning
    stored = column.source.property.columns[0]
    if column.allowed:
        return column.value_type, column.allowed, stored.doc or ""
    value_type, allowed = next(
        (described for types, described in _TYPES.items() if isinstance(stored.type, types)),
        ("text", ""),
    )
    listed = ", ".join(listed_values(column.source))
    empty = "may be empty" if stored.nullable else ""
    return value_type, "; ".join(filter(None, (listed or allowed, empty))), stored.doc or ""


# Type of the database's column → type and allowed values of the exported one.
_TYPES = {
    UtcDateTime: ("time", "ISO 8601, UTC"),
    Boolean: ("whole number", "0 or 1"),
    Integer: ("whole number", "0, 1, …"),
    Float: ("number", "0 or more"),
    Labels: ("whole numbers", "label numbers separated by spaces; empty with an own ranking"),
    WeakOrder: ("text", "best first, > between places, = inside a tie: B>A=C"),
    JSON: ("text", "separated by spaces"),
}


def listed_values(source: InstrumentedAttribute[object]) -> tuple[str, ...]:
    """Return the values that a CHECK constraint lists for the column, empty without one."""
    stored = source.property.columns[0]
    for constraint in stored.table.constraints:
        if isinstance(constraint, CheckConstraint):
            match = re.match(rf"{stored.name} IN \((.*)\)\Z", str(constraint.sqltext))
            if match:
                return tuple(value.strip(" '") for value in match.group(1).split(","))
    return ()


# The people whom a table is about, in the order of the page; the tables of each kind follow.
ABOUT = {
    "Participants": (
        *("participant", "browser", "identity", "guest", "erasure"),
        *("presentation", "response", "revision"),
    ),
    "Studies": (
        *("study", "question", "consent_text", "item", "topic", "picture", "vector"),
        *("slot_count", "publication", "read_token", "machine", "event"),
    ),
    "Collections with secret judgements": ("collection", "collection_group", "submission"),
    "Researchers": ("researcher", "membership", "sign_in", "sign_in_link", "sign_in_throttle"),
}


@dataclass(frozen=True)
class StoredTable:
    """A table of the database: what a row is, how long it is stored, each field's purpose."""

    name: str
    meaning: str
    retention: str
    fields: tuple[tuple[str, str], ...]


def stored_tables() -> dict[str, list[StoredTable]]:
    """Return all tables of the database, grouped by the people whom they are about."""
    own = [table for kind in KINDS.values() for table in kind.tables.all]
    models = {mapper.class_.__tablename__: mapper.class_ for mapper in Base.registry.mappers}
    about = ABOUT | {"Participants": (*ABOUT["Participants"], *(table.name for table in own))}
    tables = Base.metadata.tables | {table.name: table for table in own}

    def described(name: str) -> StoredTable:
        model, table = models.get(name), tables[name]
        meaning = (inspect.getdoc(model) if model else table.info["meaning"]) or ""
        return StoredTable(
            name=name,
            meaning=meaning.partition("\n\n")[0].replace("``", ""),
            retention=model.retention if model else table.info["retention"],
            fields=tuple((column.name, column.doc or "") for column in table.columns),
        )

    return {group: [*map(described, names)] for group, names in about.items()}
