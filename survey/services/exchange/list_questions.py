"""Questions of ranked lists in a bundle: questions.csv, rankings.csv, and where lists come from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from survey.core.collections.runs import names_of_runs, read_judgements
from survey.core.measures import Setting
from survey.core.studies.fields import list_words
from survey.core.studies.own_lists import COLLECTION_SIZE, LIST_COLUMNS, LIST_RANGE, OwnLists
from survey.core.studies.plan import OBVIOUS, OTHER_TOPIC, REPEATED
from survey.core.studies.provenance import RUN, Provenance, QuestionSource
from survey.core.studies.questions import (
    MARK_TYPES,
    MarkedRow,
    MarkError,
    Marks,
    Question,
    build_question,
    marks_of,
    sorted_with_marks,
)
from survey.core.studies.rankings import Ranking, letters_for
from survey.core.text_input import FaultyFilesError, FileFaults
from survey.core.text_input import lines_of as text_lines
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Faults,
    Files,
    SourceFiles,
    parse_rows,
)
from survey.services.exchange.tables import (
    COUNTED_FROM_1,
    ITEM_COLUMNS,
    ITEMS_OF_LISTS,
    LIST,
    OF_QUESTION,
    QUESTION,
    QUESTIONS_FILE,
    STUDY_FILE,
    Cell,
    Column,
    Content,
    Row,
    Table,
    row_lines,
    spaced,
)
from survey.services.studies.plans import Reading, TextFile, from_trec


class PlanOfLists(Protocol):
    """What plans of questions with ranked lists have alike, whatever people do with the lists."""

    @property
    def collection_size(self) -> int:
        """The number of documents."""

    @property
    def controls(self) -> tuple[str, ...]:
        """What the questions after those that count are for."""

    @property
    def last_number(self) -> int:
        """The number of the last question."""

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of a question's lists."""

    @property
    def lists(self) -> int:
        """The number of lists in a question."""

    @property
    def marked(self) -> tuple[str, ...]:
        """The types of marks beside the positions."""

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""

    @property
    def own_lists(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The positions: topic or question → list → positions."""

    @property
    def own_marks(self) -> tuple[Marks, ...]:
        """The marks of each topic or question."""

    @property
    def provenance(self) -> Provenance | None:
        """Where lists from runs come from."""

    @property
    def setting(self) -> Setting:
        """The setting that the measures are computed in."""


def recompute_lists(
    plan: PlanOfLists, files: SourceFiles | None, *, paired: bool = False
) -> Iterator[str]:
    """Compare a plan's lists with the judgements and runs that they come from, if they are known.

    ``paired``: the lists are of pairs of runs. Yields a sentence for each check. Raises BundleError
    for a list that the files do not give, and for files that give the same lists but have another
    SHA-256.
    """
    provenance = plan.provenance
    if provenance is None:
        if files is not None:
            raise BundleError(
                f"{STUDY_FILE}, plan: these lists do not come from judgements and runs"
            )
        return
    if files is None or files.qrels is None:
        yield "not recomputed: the positions, as --qrels and --run do not name their files"
        return
    if "clusters" in plan.marked and files.clusters is None:
        yield "not recomputed: the positions, as --clusters does not name the file of their marks"
        return
    line_faults = FileFaults(error=lambda faults: BundleError("\n".join(faults)))
    judged = read_judgements(files.qrels.name, text_lines(files.qrels.text), line_faults)
    line_faults.raise_any()
    if missing := [topic for topic in provenance.topics if topic not in judged]:
        raise BundleError(
            f"{files.qrels.name} judges nothing for {len(missing)} of the study's "
            f"{len(provenance.topics)} topics, first {missing[0]!r}; the study's own file is needed"
        )
    runs = _runs_in_order(provenance, files.runs)
    lists = _lists_of(plan, files._replace(runs=runs), paired=paired)
    _compare_lists(plan, provenance, lists)
    count = len(provenance.topics)
    what = "topics" if paired else "questions"
    yield f"the positions of {count} {what} come out of {len(runs)} runs and judgements again"
    for source, file in zip(provenance.sources, files.in_order(runs), strict=True):
        if source.sha256 != file.sha256:
            raise BundleError(
                f"{file.name}: its SHA-256 is {file.sha256}, that of the study's {source.name} is "
                f"{source.sha256}; the positions are the same"
            )
    yield f"{len(provenance.sources)} files have the SHA-256 that the plan gives"


def _runs_in_order(provenance: Provenance, runs: Sequence[TextFile]) -> list[TextFile]:
    """Return the files of a study's runs in its order, by their SHA-256 or else their names."""
    digests = [source.sha256 for source in provenance.sources if source.role == RUN]
    by_digest = {run.sha256: run for run in runs}
    if len(runs) == len(digests) == len(by_digest) and {*digests} == {*by_digest}:
        in_order = [by_digest[digest] for digest in digests]
    else:
        try:
            names = names_of_runs(
                [run.name for run in runs],
                lambda index: text_lines(runs[index].text),
                [run.run for run in runs],
            )
        except FaultyFilesError as error:
            raise BundleError(str(error)) from None
        by_name = dict(zip(names, runs, strict=True))
        if {*by_name} != {*provenance.runs}:
            raise BundleError(
                f"the runs {list_words(sorted(by_name))} were read; the study's are "
                f"{list_words(provenance.runs)}, each named by its file, or as --run NAME=FILE"
            )
        in_order = [by_name[name] for name in provenance.runs]
    return [run._replace(run=name) for run, name in zip(in_order, provenance.runs, strict=True)]


def _lists_of(plan: PlanOfLists, files: SourceFiles, *, paired: bool) -> OwnLists:
    """Read a study's lists from its files, the runs in the plan's order; raises BundleError."""
    source, qrels = plan.provenance, files.qrels
    if qrels is None:
        raise BundleError("the study's judgements are needed beside its runs")
    reading = Reading(source.ids, source.distances, source.relevant_from) if source else Reading()
    try:
        return from_trec(
            qrels,
            files.runs,
            collection_size=str(plan.collection_size),
            topics=plan.provenance.topics if plan.provenance else (),
            missing_last=True,
            graded="grades" in plan.marked,
            clusters=files.clusters if "clusters" in plan.marked else None,
            paired=paired,
            reading=reading,
        )
    except FaultyFilesError as error:
        raise BundleError(str(error)) from None


def _compare_lists(plan: PlanOfLists, provenance: Provenance, lists: OwnLists) -> None:
    """Compare a plan's own lists with those read again; raise BundleError where they differ."""
    for index, topic in enumerate(provenance.topics):
        for run, name in enumerate(provenance.runs):
            place = f"topic {topic}, run {name}"
            planned, read = plan.own_lists[index][run], lists.questions[index][run]
            if planned != read:
                fault = f"the plan has the positions {spaced(planned)}; the files give"
                raise BundleError(f"{place}: {fault} {spaced(read)}")
            if provenance.documents[index][run] != lists.documents[index][run]:
                raise BundleError(f"{place}: the plan has other first documents than the run")
    if plan.own_marks != lists.marks:
        raise BundleError(f"the plan has other {list_words(plan.marked)} than the files")


VALUES = "values.csv"
COUNTED_ROLE = "counted"  # the role of a question whose answers are votes
MEASURE = Column("measure", "name of a measure in the registry", allowed="the study's measures")

RANKING = Column(
    "ranking",
    "the order that the measure gives the lists",
    allowed="best first, > between places, = inside a tie: B>A=C",
)

SPACED = "separated by spaces"


def list_tables(plan: PlanOfLists) -> list[Table]:
    """Return the files of a plan's lists, of their items, and of what measures say of them."""
    return [_questions_table(plan), _items_table(plan), RANKINGS_TABLE, VALUES_TABLE]


def _questions_table(plan: PlanOfLists) -> Table:
    """Return questions.csv, with marks, roles and sources where the plan has some."""
    marks = [_MARKS[mark_type] for mark_type in plan.marked]
    columns = [
        *(*_QUESTION_COLUMNS, *marks, *([_role(plan)] if plan.controls else [])),
        *([_TOPIC, *_SOURCE_COLUMNS] if plan.provenance else [replace(_TOPIC, since=2)]),
        *([_UNRETURNED] if _has_unreturned(plan) else []),
    ]
    return Table(QUESTIONS_FILE, columns, _questions, ["question", "list"])


def _has_unreturned(plan: PlanOfLists) -> bool:
    return bool(plan.provenance and plan.provenance.unreturned)


@row_lines
def _questions(content: Content) -> Iterator[Row]:
    plan: Any = content.plan
    is_counted = _has_unreturned(plan)
    roles = {plan.number_of(control): control for control in plan.controls}
    for question in content.questions:
        role = [roles.get(question.number, COUNTED_ROLE)] if roles else []
        for index, (letter, ranks) in enumerate(question.lists.items()):
            marks = question.marks.cells(index).values()
            yield (
                *(question.number, letter, spaced(ranks), plan.collection_size, *marks, *role),
                question.topic,
                *(_source_cells(question.source, letter) if plan.provenance else ()),
                *([question.unreturned.get(letter, 0)] if is_counted else []),
            )


def _source_cells(source: QuestionSource | None, letter: str) -> tuple[str | None, ...]:
    if source is None:  # an obvious question, whose lists are drawn
        return None, None
    return source.runs[letter], spaced(source.documents[letter])


@row_lines
def _rankings(content: Content) -> Iterator[Row]:
    for question in content.questions:
        for name, column in question.columns.items():
            values = " ".join(map(repr, column.values))
            yield question.number, name, str(column.ranking), values, spaced(column.shown)


_QUESTION_COLUMNS = [
    QUESTION,
    LIST,
    Column(
        *("ranks", "sorted positions of the relevant items, from 1", "whole numbers", SPACED),
        twin=ITEMS_OF_LISTS,
    ),
    Column("collection_size", "items in the collection", "whole number", "2, 3, …"),
]

_EACH = "separated by spaces, one for each rank"
_MARKS = {
    "grades": Column(
        *("grades", "how relevant the item at each rank is", "whole numbers", _EACH),
        twin=ITEMS_OF_LISTS,
    ),
    "weights": Column(
        *("weights", "the share of annotators who chose the item at each rank", "numbers", _EACH),
        twin=ITEMS_OF_LISTS,
    ),
    "clusters": Column(
        "clusters",
        "the sub-topics of the item at each rank, joined by +, _ for a space, - for none",
        allowed=_EACH,
        twin=ITEMS_OF_LISTS,
    ),
}


_MARKS_OF_ITEMS = {"weights": "number", "clusters": "text"}


def _role(plan: PlanOfLists) -> Column:
    others = f", {OTHER_TOPIC} (a list of another topic)" * (OTHER_TOPIC in plan.controls)
    return Column(
        "role",
        "what the question is for: its answers count as votes, or it controls how people answer",
        allowed=f"{COUNTED_ROLE}, {REPEATED} (an earlier question once more), {OBVIOUS}{others}",
    )


_TOPIC = Column(
    "topic", "id of what was searched for", allowed="empty for a question that was drawn"
)
_RUN = Column("run", "the system whose list it is", allowed="empty for a question that was drawn")
_SOURCE_COLUMNS = [
    _RUN,
    Column(
        *("documents", "ids of the first documents that the run returned"),
        allowed=SPACED,
        twin=ITEMS_OF_LISTS,
    ),
]

_UNRETURNED = Column(
    "unreturned",
    "how many of the last ranks are of documents that the run did not return",
    "whole number",
    "0, 1, …",
)

_VALUES = "the measure's own values (AP, not 1-AP), lists from A on"
_DISPLAYED = "the values as the page prints them (lower is better), lists from A on"
RANKINGS_TABLE = Table(
    "rankings.csv",
    [
        *(QUESTION, MEASURE, RANKING),
        Column("values", _VALUES, "numbers", SPACED, twin=VALUES),
        Column("displayed", _DISPLAYED, "numbers", SPACED, twin=VALUES),
    ],
    _rankings,
    ["question", "measure"],
    OF_QUESTION,
)


@row_lines
def _values(content: Content) -> Iterator[Row]:
    for question in content.questions:
        for name, column in question.columns.items():
            values = zip(sorted(question.lists), column.values, column.shown, strict=True)
            for letter, value, shown in values:
                place = column.ranking.places[letter]
                yield question.number, letter, name, value, place, Decimal(shown)


VALUES_TABLE = Table(
    VALUES,
    [
        *(QUESTION, LIST, MEASURE),
        Column("value", "the measure's own value of the list", "number", "any"),
        Column("place", "of the list among the question's, 1 for the best", *COUNTED_FROM_1),
        Column("displayed", "the value as the page prints it (lower is better)", "number", "any"),
    ],
    _values,
    ["question", "list", "measure"],
    OF_QUESTION,
    is_twin=True,
)


def _marks_of_ranks(
    ranks: Sequence[int], cells: Mapping[str, str]
) -> dict[int, dict[str, str | None]]:
    """Return the marks of the item at each rank by type, from cells with a word for each rank."""
    words = ([None if word == "-" else word for word in cell.split()] for cell in cells.values())
    return {
        rank: dict(zip(cells, row, strict=True)) for rank, *row in zip(ranks, *words, strict=True)
    }


def _items_table(plan: PlanOfLists) -> Table:
    """Return list_items.csv: of each list the relevant items, and the first documents of a run."""
    own = [
        replace(_MARKS[name], value_type=value_type, allowed="may be empty", twin="")
        for name, value_type in _MARKS_OF_ITEMS.items()
        if name in plan.marked
    ]
    marks = [column.name for column in own]

    def rows(content: Content) -> Iterator[Row]:
        for question in content.questions:
            for index, (letter, ranks) in enumerate(question.lists.items()):
                source = question.source
                documents = source.documents[letter] if source else ()
                marks_of = _marks_of_ranks(ranks, question.marks.cells(index))
                for position in sorted({*ranks, *range(1, len(documents) + 1)}):
                    known: Mapping[str, Cell] = marks_of.get(position, {"grades": 0})
                    yield (
                        *(question.number, letter, source and source.runs[letter], position),
                        documents[position - 1] if position <= len(documents) else None,
                        known.get("grades", 1),
                        *(known.get(name) for name in marks),
                    )

    columns = [QUESTION, LIST, _RUN, *ITEM_COLUMNS, *own]
    key = ["question", "list", "position"]
    return Table(ITEMS_OF_LISTS, columns, row_lines(rows), key, OF_QUESTION, is_twin=True)


def read_questions(files: Files, plan: PlanOfLists) -> tuple[Question, ...]:
    """Return a bundle's questions, with values and orders recomputed; raises BundleError."""
    return build_questions(read_lists(files, plan), plan.measures, plan.setting)


def check_rankings(
    files: Files, rankings: Mapping[int, Mapping[str, Ranking]], *, foreign: bool
) -> None:
    """Compare rankings.csv, if it exists, with the orders that the lists give.

    ``rankings``: question → measure → order; ``foreign``: whether the folder was made elsewhere,
    see ``read_rows``. Raises BundleError naming each order that disagrees or is missing.
    """
    if RANKINGS_TABLE.name not in files:
        return
    rows: dict[tuple[int, str], int] = {}

    def check(row: CsvRow) -> None:
        question, name = row.whole_number("question"), row.text("measure")
        if question not in rankings:
            raise row.fault("question", f"{QUESTIONS_FILE} has no such question")
        if name not in rankings[question]:
            raise row.fault("measure", f"compared are {' '.join(rankings[question])}")
        if rows.setdefault((question, name), row.number) != row.number:
            raise row.fault("measure", "each measure is allowed once for a question")
        order = rankings[question][name]
        if row.optional_ranking("ranking", order.letters) != order:
            raise row.fault("ranking", f"the lists in {QUESTIONS_FILE} give {order}")

    columns = ("question", "measure", "ranking")
    list(parse_rows(files, RANKINGS_TABLE.name, columns, check, foreign=foreign))  # reads all rows
    faults = Faults()
    for question, orders in rankings.items():
        for name in orders:
            if (question, name) not in rows:
                faults.add(f"{RANKINGS_TABLE.name}: no row for {name} in question {question} found")
    faults.raise_any()


class ListRow(NamedTuple):
    """A row of questions.csv: a list of a question."""

    row: CsvRow
    letter: str
    marked: MarkedRow
    collection_size: int

    @property
    def run(self) -> str | None:
        """The run that the list comes from, None where it comes from none."""
        return self.row.optional_text("run")


Lists = Mapping[int, Sequence[ListRow]]  # question → its lists, by letter


def read_lists(files: Files, plan: PlanOfLists | None) -> Lists:
    """Return question → its lists by letter, as questions.csv has them; raises BundleError.

    ``plan``: what the lists must agree with; None for a folder made elsewhere, which may number
    questions as it likes.
    """
    lists: dict[int, list[ListRow]] = {}

    def parse(row: CsvRow) -> None:
        lists.setdefault(row.whole_number("question", 1), []).append(_list_row(row, plan))

    for _ in parse_rows(files, QUESTIONS_FILE, LIST_COLUMNS, parse, foreign=plan is None):
        continue
    if not lists:
        raise BundleError(f"{QUESTIONS_FILE} holds no list; a row for each list is needed")
    if plan and list(lists) != list(range(1, plan.last_number + 1)):
        raise BundleError(
            f"{QUESTIONS_FILE} has not the questions 1 to {plan.last_number} in order"
        )
    faults = Faults()
    for number, rows in lists.items():
        _check_lists(number, rows, plan, faults)
    faults.raise_any()
    return {number: sorted(lists[number], key=lambda each: each.letter) for number in sorted(lists)}


def _list_row(row: CsvRow, plan: PlanOfLists | None) -> ListRow:
    letters, (smallest, largest) = letters_for(LIST_RANGE[1]), COLLECTION_SIZE
    letter, size = row.text("list"), row.whole_number("collection_size")
    if letter not in letters:
        raise row.fault("list", f"a letter from {letters[0]} to {letters[-1]} is needed")
    if plan and size != plan.collection_size:
        raise row.fault("collection_size", f"the plan says {plan.collection_size}")
    if not smallest <= size <= largest:
        raise row.fault("collection_size", f"{smallest} to {largest} are allowed")
    ranks = row.whole_numbers("ranks")
    if not ranks:
        raise row.fault("ranks", "at least one position is needed")
    for rank in ranks:
        if not 1 <= rank <= size:
            raise row.fault("ranks", f"{rank} is none of the positions 1 to {size}")
    if len(set(ranks)) < len(ranks):
        raise row.fault("ranks", "each position may occur once")
    try:
        marks = {mark_type: row.optional_text(mark_type) or "" for mark_type in MARK_TYPES}
        return ListRow(row, letter, sorted_with_marks(ranks, marks), size)
    except MarkError as error:
        raise row.fault(error.column, str(error)) from None


def _check_lists(
    number: int,
    lists: Sequence[ListRow],
    plan: PlanOfLists | None,
    faults: Faults,
) -> None:
    """Collect the faults of the lists of one question, which must fit one another."""
    first, rows = lists[0], dict[str, CsvRow]()
    size, length = first.collection_size, len(first.marked.ranks)
    alike = f"as in row {first.row.number}, of the same question,"
    for index, each in enumerate(lists):
        row = each.row
        with faults.collect(BundleError):
            if plan and plan.letters[index : index + 1] != (each.letter,):
                allowed = f"lists {' '.join(plan.letters)} are needed, in this order"
                raise row.fault("list", allowed)
            same_letter = rows.setdefault(each.letter, row)
            if same_letter is not row:
                allowed = f"row {same_letter.number} has this list of the question already"
                raise row.fault("list", allowed)
            if each.collection_size != size:
                raise row.fault("collection_size", f"{size} {alike} is needed")
            if len(each.marked.ranks) != length:
                raise row.fault("ranks", f"{length} positions {alike} are needed")
    question, letters = f"question {number}", tuple(sorted(rows))
    if plan and len(lists) < plan.lists:
        faults.add(
            f"{QUESTIONS_FILE}, {question}: {len(lists)} lists found; the plan says {plan.lists}"
        )
    elif not plan and letters != letters_for(len(letters)):
        allowed = f"has the lists {' '.join(letters)}; letters from A without gaps are needed"
        faults.add(str(lists[-1].row.fault("list", f"{question} {allowed}")))
    elif not plan and len(letters) < LIST_RANGE[0]:
        allowed = f"has no other list; {LIST_RANGE[0]} to {LIST_RANGE[1]} are needed"
        faults.add(str(lists[-1].row.fault("list", f"{question} {allowed}")))


def build_questions(
    lists: Lists, measures: tuple[str, ...], setting: Setting | None = None
) -> tuple[Question, ...]:
    """Build a question of each entry's lists; raises BundleError naming impossible ones.

    ``setting``: of the measures; by default each question's collection size alone.
    """
    faults = Faults()
    questions = []
    for number, rows in lists.items():
        try:
            ranks = [row.marked.ranks for row in rows]
            marks = marks_of([row.marked for row in rows])
            of_question = setting or Setting(rows[0].collection_size)
            source = _source(rows)
            questions.append(build_question(number, ranks, measures, of_question, marks, source))
        except ValueError as error:
            faults.add(f"{QUESTIONS_FILE}, question {number}: {error}")
    faults.raise_any()
    return tuple(questions)


def _source(rows: Sequence[ListRow]) -> QuestionSource | None:
    """Return the topic, runs and documents of a question's lists; None unless all are of runs."""
    if not all(each.run for each in rows):
        return None
    return QuestionSource(
        topic=" ".join(dict.fromkeys((each.row.optional_text("topic") or "") for each in rows)),
        runs={each.letter: each.row.text("run") for each in rows},
        documents={each.letter: each.row.words("documents") for each in rows},
        unreturned={
            each.letter: count
            for each in rows
            if (count := each.row.optional_whole_number("unreturned"))
        },
    )
