"""The files of a kind of question, written and read as its types declare their fields."""

import json
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from sys import intern
from typing import Any, ClassVar, Generic, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import seconds_taken
from survey.core.agreement.attention import Attention
from survey.core.agreement.plan_flags import RuleFlags, rule_flags
from survey.core.kind import AnswerT, Declaration, PlanT, PresentationT, QuestionT, is_typed
from survey.core.kinds import KINDS
from survey.core.studies.fields import (
    Choice,
    NotAllowedValueError,
    ParticipantRecord,
    Text,
    ValueField,
    Whole,
    value_fields,
)
from survey.core.studies.plan import Plan, TaskQuestion
from survey.core.text_input import parse_number, parse_whole
from survey.db import export_queries
from survey.db.models import Study
from survey.db.models.base import TaskTables
from survey.errors import SurveyError
from survey.services.analysis.attention_sheets import repeat_without
from survey.services.analysis.results import Results
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import AnalysisOptions, Exclusions, LeftOut
from survey.services.exchange.answer_columns import TOPIC, answer_table
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Faults,
    Files,
    Headings,
    SourceFiles,
    parse_rows,
)
from survey.services.exchange.tables import (
    CONTRADICTS,
    ITEM_COLUMNS,
    ITEMS_OF_LISTS,
    POSITION,
    QUESTION,
    SHARED_COLUMNS,
    Cell,
    Column,
    Content,
    MoveTime,
    Row,
    Table,
    asked_column,
    cell_of,
    check_contradicts,
    public_record,
    read_asked,
    read_reason,
    read_shared,
    reason_columns,
    row_lines,
    yes_or_no,
)

LIST_TYPES = (tuple[str, ...], Sequence[str])
NAMED_LISTS = Mapping[str, Sequence[str]]
COLUMN_TYPES: dict[object, str] = {
    **{bool: "whole number", int: "whole number", float: "number"},
    **dict.fromkeys((str, *LIST_TYPES, NAMED_LISTS), "text"),
}
ALLOWED_CELLS: dict[object, str] = {
    bool: "0 or 1",
    **dict.fromkeys(LIST_TYPES, "words separated by spaces"),
    NAMED_LISTS: 'lists by their names, {"red": ["a", "b"]}',
}


class Record(NamedTuple, Generic[PresentationT, AnswerT]):
    """An answer as database and files hold it; ``drawn``: how the question was shown."""

    participant: str
    question: int
    position: int
    drawn: PresentationT
    answer: AnswerT
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    asked: str | None
    reason: str | None


@dataclass(frozen=True)
class StudyAnswers(Generic[PlanT, QuestionT, PresentationT, AnswerT]):
    """The answers of a study, by participant and question; ``rows`` reads them at each call."""

    kind: "KindFiles[PlanT, QuestionT, PresentationT, AnswerT]"
    rows: Callable[[], Iterator[Record[PresentationT, AnswerT]]]

    def count(self) -> int:
        """Count the answers of all participants, left out or not."""
        return sum(1 for _ in self.rows())

    def analyse(self, content: Content, options: AnalysisOptions) -> Results:
        """Return the results of the answers of those who count.

        Raises SurveyError, with whose it is, for any error in the code of another package.
        """
        package = KINDS.packages.get(self.kind.name)
        if package is None:
            return self._results(content, options)
        try:
            return self._results(content, options)
        except Exception as error:
            text = f"the kind {self.kind.name!r} of {package} could not analyse the answers"
            cause = f"{type(error).__name__}: {error}"
            raise SurveyError(f"{text} ({cause}); tell whoever wrote that package") from error

    def _results(self, content: Content, options: AnalysisOptions) -> Results:
        """Return the results with those of the attention checks, and of the plan's other rules."""
        attention = self.attention(content, options)
        flagged = attention.flagged if attention else frozenset()
        without = flagged if options.exclude_flagged else frozenset()
        results = self._analysed(content, options, without)
        if attention is None:
            return results
        repeated = ""
        by_rule: dict[str, str] = {}
        if flagged and not without:
            analysed = partial(self._analysed, content, options)
            repeated, by_rule = repeat_without(results, attention, analysed)
        if without:
            flags = [(each.is_test, each.excluded) for each in content.participants()]
            people = Exclusions(*np.array(flags, dtype=bool).reshape(-1, 2).T)
            left_out = replace(LeftOut.of(people, options), flagged=len(without))
            results = replace(results, left_out=left_out)
        return replace(results, attention=attention, repeated=repeated, by_rule=by_rule)

    def attention(self, content: Content, options: AnalysisOptions) -> Attention | None:
        """Return whom attention checks and the plan's other rules flag, None without such."""
        plan = content.plan
        if not (plan.checks or plan.has_flag_rules):
            return None
        rules = self._rules(content, options) if plan.has_flag_rules else ()
        if not plan.checks:
            return Attention((), rules)
        people = (
            (person, {row.question: row for row in rows})
            for person, rows in groupby(self.counted(content, options), attrgetter("participant"))
        )
        are_right: Any = self.kind.are_right
        checked = Attention.of(plan, content.questions, people, are_right)
        return replace(checked, rules=rules)

    def _rules(self, content: Content, options: AnalysisOptions) -> tuple[RuleFlags, ...]:
        """Return whom the plan's rules flag, by the answers that count."""
        plan, kind = content.plan, self.kind
        questions: dict[int, Any] = {each.number: each for each in content.questions}
        ids, seconds, answers = [], [], {}
        for person, rows in groupby(self.counted(content, options), attrgetter("participant")):
            own: dict[Hashable, Hashable] = {}
            times = []
            for row in rows:
                if row.question <= plan.questions:
                    taken = seconds_taken(row.active_seconds, row.shown_at, row.submitted_at)
                    times += [] if taken is None else [taken]
                    if plan.flag_equal_answers:
                        own |= dict(kind.comparable(questions[row.question], row))
            ids.append(person)
            seconds.append(float(np.median(times)) if times else math.nan)
            answers[person] = own
        medians = np.array(ids, dtype=np.str_), np.array(seconds, dtype=np.float64)
        return rule_flags(plan, content.counted(options), medians, answers)

    def _analysed(
        self, content: Content, options: AnalysisOptions, without: Collection[str]
    ) -> Results:
        """Return the results without some participants, and without answers to checks."""
        last = content.plan.questions
        counted = (
            row
            for row in self.counted(content, options)
            if row.question <= last and row.participant not in without
        )
        return self.kind.analyse(content, self.to_analyse(counted), options)

    def to_analyse(self, counted: Iterable[Record[PresentationT, AnswerT]]) -> Any:
        """Return the answers that count for the kind's ``analyse``: as a list."""
        return [*counted]

    def counted(
        self, content: Content, options: AnalysisOptions
    ) -> Iterator[Record[PresentationT, AnswerT]]:
        """Yield the answers of those who count."""
        people = {each.public_id for each in content.counted(options)}
        return (row for row in self.rows() if row.participant in people)

    def public(self, move: MoveTime) -> "StudyAnswers[PlanT, QuestionT, PresentationT, AnswerT]":
        """Return the answers without what people wrote, all times moved by ``move``."""
        hidden: dict[str, None] = dict.fromkeys(self.kind.typed_fields)

        def rows() -> Iterator[Record[PresentationT, AnswerT]]:
            for row in self.rows():
                answer: Any = row.answer
                without = replace(answer, **hidden) if hidden else answer
                yield public_record(row._replace(answer=without), move)

        return StudyAnswers(self.kind, rows)

    def tried_sheet(
        self, content: Content, number: int, drawn: PresentationT, answer: AnswerT
    ) -> Sheet:
        """Return the table that is shown to someone who has tried a question."""
        options = AnalysisOptions(include_test=content.include_test)
        rows = [row for row in self.counted(content, options) if row.question == number]
        return self.kind.tried(content, number, rows, drawn, answer)

    def to_import(
        self, content: Content
    ) -> Iterator[tuple[Record[PresentationT, AnswerT], PresentationT, AnswerT]]:
        """Yield each answer's record, how the question was shown, and the answer."""
        return ((row, row.drawn, row.answer) for row in self.rows())


class KindFiles(Declaration[PlanT, QuestionT, PresentationT, AnswerT]):
    """Writes, reads and recomputes the files of a kind, as its types declare their fields.

    ``questions_file``, ``answers_file``: their names. ``column_order``: of the columns of an
    answer, where it is not as usual; ``topic_column``: of its topic. ``makes_judgements``: whether
    its results have a file of judgements, qrels.txt. ``foreign_files``: the tables of answers from
    elsewhere, with the headings allowed, that its ``analyse_foreign`` analyses. A kind whose
    columns are not its fields, one for one, says which there are: ``own_columns``, ``own_cells``,
    ``read_drawn``.
    """

    questions_file: ClassVar[str] = "questions.csv"
    answers_file: ClassVar[str] = "answers.csv"
    column_order: ClassVar[Sequence[str]] = ()
    topic_column: ClassVar[Column] = TOPIC
    has_options: ClassVar[bool] = False
    makes_judgements: ClassVar[bool] = False
    foreign_files: ClassVar[Mapping[str, Headings]] = {}

    @abstractmethod
    def analyse(
        self,
        content: Content,
        answers: Sequence[Record[PresentationT, AnswerT]],
        options: AnalysisOptions,
    ) -> Results:
        """Return the results of the answers that count; each kind has its own.

        ``content.known(options)`` are the arguments that the results of all kinds have.
        """

    def add_stored(
        self, session: Session, study: Study, content: Content, results: Results
    ) -> Results:
        """Return results with what only a study in the database has, such as a new ranking."""
        return results

    def progress(self, plan: PlanT, content: Callable[[], Content]) -> Iterable[str]:
        """Return sentences on how far a study is, beside the number of its participants.

        ``content``: reads the study, which takes time; nothing of what people chose is said.
        """
        return ()

    @property
    @abstractmethod
    def tables(self) -> TaskTables:
        """The kind's tables in the database."""

    @property
    def recomputed(self) -> Mapping[str, str]:
        """The questions' file, and how it agrees with the plan."""
        return {self.questions_file: f"the {self.noun} of the plan"}

    @property
    def can_contradict(self) -> bool:
        """Whether an answer may contradict itself, so that the page asks back about it."""
        return hasattr(self.answer, "contradicts")

    @property
    def typed_fields(self) -> list[str]:
        """The fields of an answer that hold what people wrote."""
        declared = value_fields(self.answer)
        return [each.name for each in declared if is_typed(each)]

    @property
    def typed(self) -> str:
        """What participants type beside reasons; "" for nothing."""
        return ", ".join(name.replace("_", " ") for name in self.typed_fields)

    def data_tables(self, plan: PlanT) -> list[Table]:
        """Return the files of the questions, and that of the answers."""
        return [*self.question_tables(plan), self.answers_table(plan)]

    def question_tables(self, plan: PlanT) -> list[Table]:
        """Return the file of the questions, number and fields, and that of their lists."""
        declared = value_fields(self.question)
        lists = [field for field in declared if field.type in LIST_TYPES]
        columns = [QUESTION, *map(column_of, declared)]
        has_topic = any(column.name == TOPIC.name for column in columns)
        columns = [
            replace(column, twin=ITEMS_OF_LISTS * (column.name in [field.name for field in lists]))
            for column in columns
        ]
        columns[1:1] = [] if has_topic else [TOPIC]

        def rows(content: Content) -> Iterator[Row]:
            for each in content.questions:
                values = [getattr(each, field.name) for field in declared]
                yield (each.number, *values) if has_topic else (each.number, None, *values)

        def items(content: Content) -> Iterator[Row]:
            for question in content.questions:
                for field in lists:
                    for position, item in enumerate(getattr(question, field.name) or (), 1):
                        yield question.number, field.name, None, position, item, None

        table = Table(self.questions_file, columns, row_lines(rows), ["question"])
        return [table, *([self._items_table(items)] if lists else [])]

    def _items_table(self, items: Callable[[Content], Iterator[Row]]) -> Table:
        """Return list_items.csv of the lists that are fields of questions."""
        columns = [
            QUESTION,
            Column("list", "the column of the question that holds the list"),
            Column("run", "empty: the lists are of no run"),
            *ITEM_COLUMNS,
        ]
        key, of_question = ["question", "list", "position"], {"question": self.questions_file}
        body = row_lines(items)
        return Table(ITEMS_OF_LISTS, columns, body, key, of_question, is_twin=True)

    def answers_table(self, plan: PlanT) -> Table:
        """Return the file with a row for each answer."""
        columns = [
            *(POSITION, *self.own_columns(plan), *SHARED_COLUMNS),
            *([asked_column(self.asks)] if self.asks else ()),
            *([CONTRADICTS] if self.can_contradict else ()),
            *reason_columns(plan),
        ]
        if self.column_order:
            columns.sort(key=lambda column: self.column_order.index(column.name))
        names = [column.name for column in columns]
        own = [column.name for column in self.own_columns(plan)]

        def rows(content: Content) -> Iterator[Row]:
            questions = {each.number: each for each in content.questions}
            for row in content.answers.rows():
                cells = row._asdict()
                own_cells = self.own_cells(plan, questions[row.question], row)
                cells |= zip(own, own_cells, strict=True)
                if self.can_contradict:
                    cells[CONTRADICTS.name] = yes_or_no(row.answer.contradicts)
                yield row.participant, row.question, *(cells[name] for name in names)

        return answer_table(
            *(self.answers_file, columns, rows),
            topic=self.topic_column,
            questions_file=self.questions_file,
        )

    def own_columns(self, plan: PlanT) -> list[Column]:
        """Return the columns that the kind adds: those of the presentation, then the answer's."""
        return [
            column_of(each)
            for owner in (self.presentation, self.answer)
            for each in value_fields(owner)
        ]

    def own_cells(
        self, plan: PlanT, question: QuestionT, row: Record[PresentationT, AnswerT]
    ) -> Sequence[Cell]:
        """Return the cells of ``own_columns`` in an answer's row."""
        return [
            getattr(owner, each.name)
            for owner in (row.drawn, row.answer)
            for each in value_fields(type(owner))
        ]

    def result_tables(self, plan: PlanT) -> list[Table]:
        """Return no files: all results are in analysis.json."""
        return []

    def judgement_files(self, content: Content) -> Iterable[tuple[str, Iterable[str]]]:
        """Return name and lines of files beside the tables, as `survey assess` reads them.

        A file for each assessor is in the folder JUDGEMENTS, under their public id.
        """
        return ()

    def lines_per_answer(self, plan: PlanT) -> int:
        """Return how many lines of the files an answer takes."""
        return 1

    def stored(
        self, session: Session, study_id: int, *, include_test: bool
    ) -> StudyAnswers[PlanT, QuestionT, PresentationT, AnswerT]:
        """Return the answers of a study in the database."""
        make_drawn: Any = self.presentation
        make_answer: Any = self.answer
        split = 3 + len(value_fields(self.presentation))
        end = split + len(value_fields(self.answer))

        def rows() -> Iterator[Record[PresentationT, AnswerT]]:
            found = export_queries.plain_answers(
                session, study_id, self.tables, include_test=include_test
            )
            for row in found:
                drawn, answer = make_drawn(*row[3:split]), make_answer(*row[split:end])
                yield Record._make((*row[:3], drawn, answer, *row[end:]))

        return StudyAnswers(self, rows)

    def read(
        self,
        files: Files,
        plan: PlanT,
        participants: Callable[[], Iterable[ParticipantRecord]],
    ) -> tuple[Sequence[QuestionT], StudyAnswers[PlanT, QuestionT, PresentationT, AnswerT]]:
        """Read questions and answers; raises BundleError with the place of each fault."""
        questions = self.read_questions(files, plan)
        reader = _Reader(self, plan, questions, {each.public_id for each in participants()})
        rows = parse_rows(files, self.answers_file, self.answers_table(plan).needed, reader.read)
        records = sorted(rows, key=attrgetter("participant", "question"))
        self._check_complete(plan, participants(), records)
        return questions, StudyAnswers(self, lambda: iter(records))

    def read_questions(self, files: Files, plan: PlanT) -> Sequence[QuestionT]:
        """Read the file of the questions."""

        def question(row: CsvRow) -> QuestionT:
            number = row.whole_number("question", 1)
            made: QuestionT = read_fields(row, self.question, number=number)
            return made

        declared = value_fields(self.question)
        names = [QUESTION.name, *(each.name for each in declared if not each.optional)]
        return [*parse_rows(files, self.questions_file, names, question)]

    def read_drawn(self, row: CsvRow, question: QuestionT) -> PresentationT:
        """Return how a question was shown, from an answer's row."""
        drawn: PresentationT = read_fields(row, self.presentation)
        return drawn

    def read_answer(self, row: CsvRow, plan: PlanT) -> AnswerT:
        """Return the answer of a row: all that the plan asks for, and nothing else."""
        answer: AnswerT = read_fields(row, self.answer)
        values = vars(answer)
        for each in value_fields(self.answer):
            is_asked = each.is_asked(plan, values)
            if not is_asked and values[each.name] is not None:
                raise row.fault(each.name, "this study asks for none there")
            if is_asked and values[each.name] is None and not isinstance(each.rule, Text):
                before, *allowed = each.rule.only_with
                where = f" where {before} is {' or '.join(map(str, allowed))}" if before else ""
                raise row.fault(each.name, f"this study asks for one{where}")
        return answer

    def _check_complete(
        self,
        plan: PlanT,
        participants: Iterable[ParticipantRecord],
        records: Iterable[Record[PresentationT, AnswerT]],
    ) -> None:
        """Refuse participants who are complete without an answer to each of their questions."""
        faults = Faults()
        counts = Counter(record.participant for record in records)
        for each in participants:
            count = counts[each.public_id]
            asks_all = plan.queue_arm is None or each.arm != plan.queue_arm
            sizes = {len(block) + len(plan.controls) for block in plan.blocks} or {plan.asked}
            if each.status == "complete" and asks_all and count not in sizes:
                place = f"participants.csv, participant {each.public_id}, column status"
                fault = f"{self.answers_file} has {count} answers of {plan.asked}"
                faults.add(f"{place}: 'complete' found; {fault}")
        faults.raise_any()

    def check_derived(self, files: Files, content: Content) -> None:
        """Nothing follows from the questions alone."""

    def check_questions(self, content: Content) -> str:
        """Compare the questions with the plan's."""
        asked = [each for each in content.plan.draw_questions() if each.number]
        if [*content.questions] != asked:
            raise BundleError(f"{self.questions_file} has other {self.noun} than the plan")
        return f"the {self.noun} are the plan's"

    def recompute_sources(self, content: Content, sources: SourceFiles | None) -> Iterable[str]:
        """Compare lists with the judgements and runs that they come from; return how they agree.

        Raises BundleError for files that questions of this kind do not come from.
        """
        if sources is not None:
            raise BundleError(f"the {self.noun} of this study are not made of judgements and runs")
        return ()

    def read_practice(self, study: Mapping[str, object], plan: PlanT) -> QuestionT | None:
        """Return the practice question of the plan, which no file has."""
        return next((each for each in plan.draw_questions() if not each.number), None)

    def study_entries(self, plan: PlanT, practice: QuestionT | None) -> dict[str, Any]:
        """Return what study.json holds of the practice question."""
        return {"practice": practice and practice.as_json()}

    def tried(
        self,
        content: Content,
        number: int,
        rows: Sequence[Record[PresentationT, AnswerT]],
        drawn: PresentationT,
        answer: AnswerT,
    ) -> Sheet:
        """Return how many participants gave each answer, beside the one that was tried.

        ``rows``: the answers to the question that count.
        """
        lines: list[tuple[str, str, str]] = []
        for each in value_fields(self.answer):
            if isinstance(each.rule, Text):
                continue
            counts = Counter(getattr(row.answer, each.name) for row in rows)
            own = getattr(answer, each.name)
            for value in each.rule.words or sorted(filter(None, {*counts, own})):
                word = each.rule.words.get(value, str(value))
                lines.append((word, str(counts[value]), "chosen" if value == own else ""))
        columns = ("answer", "participants", "you")
        return Sheet("tried", "What participants said", columns, tuple(lines))


AnyKindFiles = KindFiles[Plan, TaskQuestion, object, object]


class _Reader(Generic[PlanT, QuestionT, PresentationT, AnswerT]):
    """Reads the rows of answers; each participant may have one for each question."""

    def __init__(
        self,
        kind: KindFiles[PlanT, QuestionT, PresentationT, AnswerT],
        plan: PlanT,
        questions: Sequence[QuestionT],
        people: set[str],
    ) -> None:
        self._kind, self._plan, self._people = kind, plan, people
        self._questions = {each.number: each for each in questions}
        self._seen: set[tuple[str, int]] = set()

    def read(self, row: CsvRow) -> Record[PresentationT, AnswerT]:
        """Return the answer of a row; raises BundleError with its place."""
        person, number = row.text("participant"), row.whole_number("question", 1)
        question = self._questions.get(number)
        if person not in self._people or question is None:
            raise row.fault("participant", "no such participant or question")
        if (person, number) in self._seen:
            raise row.fault("question", "one answer of each participant to each is allowed")
        self._seen.add((person, number))
        kind, plan = self._kind, self._plan
        record = Record(
            participant=person,
            question=number,
            position=row.whole_number("position", 1),
            drawn=kind.read_drawn(row, question),
            answer=kind.read_answer(row, plan),
            **read_shared(row),
            asked=read_asked(row, kind.asks),
            reason=read_reason(row, plan),
        )
        if kind.can_contradict:
            answer: Any = record.answer
            check_contradicts(row, answer.contradicts)
        columns = kind.own_columns(plan)
        for column, cell in zip(columns, kind.own_cells(plan, question, record), strict=True):
            if column.since > 1 and row.cells.get(column.name, cell_of(cell)) != cell_of(cell):
                raise row.fault(column.name, f"recomputed {cell_of(cell)!r}")
        return record


def column_of(field: ValueField) -> Column:
    """Return the column of a declared field."""
    before, *values = field.rule.only_with
    condition = f"only where {before} is {' or '.join(map(str, values))}" if before else ""
    empty = "may be empty" if field.optional else ""
    allowed = "; ".join(filter(None, (allowed_in(field), condition, empty)))
    return Column(
        field.name,
        field.doc,
        COLUMN_TYPES[field.type],
        allowed,
        optional=field.optional,
        values=[*field.rule.allowed] if isinstance(field.rule, Choice) else (),
    )


def allowed_in(field: ValueField) -> str:
    """Return in words which values a field may have."""
    rule = field.rule
    if isinstance(rule, Choice):
        return ", ".join(map(str, rule.allowed))
    if isinstance(rule, Whole):
        return f"{rule.lowest} to {rule.highest}"
    if isinstance(rule, Text):
        return f"up to {rule.longest} characters"
    return ALLOWED_CELLS.get(field.type, "")


def read_value(row: CsvRow, field: ValueField) -> object:
    """Return the value of a declared field in a row, None for an empty cell."""
    cell = row.optional_text(field.name)
    if cell is None:
        return None
    if field.type is bool:
        return row.flag(field.name)
    if field.type is str:
        return cell
    if field.type in LIST_TYPES:
        return tuple(map(intern, cell.split()))
    if field.type == NAMED_LISTS:
        return _named_lists(row, field.name, cell)
    number = parse_number(cell) if field.type is float else parse_whole(cell, signed=True)
    if number is None:
        raise row.fault(field.name, f"a {COLUMN_TYPES[field.type]} is needed")
    return number


def _named_lists(row: CsvRow, name: str, cell: str) -> dict[str, list[str]]:
    """Return the lists of words, by name, that a cell holds as JSON."""
    try:
        lists = json.loads(cell)
    except ValueError:
        lists = None
    if not isinstance(lists, dict) or not all(
        isinstance(words, list) and all(isinstance(word, str) for word in words)
        for words in lists.values()
    ):
        raise row.fault(
            name, f"a {COLUMN_TYPES[NAMED_LISTS]} is needed: {ALLOWED_CELLS[NAMED_LISTS]}"
        )
    return lists


def read_fields(row: CsvRow, make: Any, **known: object) -> Any:
    """Return what is made of the declared fields in a row, beside those that are known."""
    declared = value_fields(make)
    values = {each.name: read_value(row, each) for each in declared}
    for each in declared:
        may_be_none = each.optional and not each.rule.only_with[0]
        is_list = each.type in LIST_TYPES and not may_be_none
        if is_list and values[each.name] is None and each.is_asked(None, values):
            values[each.name] = ()  # an empty cell is an empty list where there has to be one
        if values[each.name] is None and not each.optional:
            raise row.fault(each.name, "a value is needed")
    try:
        return make(**known, **values)
    except NotAllowedValueError as error:
        for each in declared:
            if each.breach(values[each.name]):
                raise row.fault(each.name, f"allowed: {allowed_in(each)}") from None
        raise row.fault(error.field, error.text) from None
    except ValueError as error:
        raise row.fault(declared[0].name if declared else "question", str(error)) from None
