"""A researcher's own ranked lists: their type, their bounds, and the table that holds them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from survey.core.given_tables import Columns, GivenRow, table_in
from survey.core.preflight import Warned
from survey.core.studies.fields import MOST_QUESTIONS
from survey.core.studies.provenance import Provenance
from survey.core.studies.questions import (
    MARK_TYPES,
    MarkedRow,
    MarkError,
    Marks,
    marks_of,
    sorted_with_marks,
)
from survey.core.studies.rankings import letters_for
from survey.core.text_input import FaultyFilesError, FileFaults, parse_whole, shortened

QUESTION_RANGE = (1, MOST_QUESTIONS)
LIST_RANGE = (2, 10)  # two suffice for own lists, say two systems' runs
COLLECTION_SIZE = (2, 100_000_000)

LIST_COLUMNS = ("question", "list", "ranks", "collection_size")  # MARK_TYPES may follow
TABLE = Columns(LIST_COLUMNS, MARK_TYPES)


@dataclass(frozen=True)
class OwnLists:
    """Ranked lists that a researcher uploads for a study.

    ``questions``: question → list (A, B, C, …) → sorted 1-based positions of its
    relevant items. ``marks``: of each question, empty where there are none. ``topics``:
    where the lists come from a test collection, the topic of each question; ``documents``:
    question → list → its first documents there; ``unreturned``: question → list → how many of the
    relevant documents the run did not return. All are empty elsewhere. ``warnings``: what is to be
    known of the files.
    """

    questions: tuple[tuple[tuple[int, ...], ...], ...]
    collection_size: int
    topics: tuple[str, ...] = ()
    marks: tuple[Marks, ...] = ()
    documents: tuple[tuple[tuple[str, ...], ...], ...] = ()
    provenance: Provenance | None = None
    unreturned: tuple[tuple[int, ...], ...] = ()
    warnings: tuple[Warned, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class _Row:
    """One row of the file; cells that are invalid are None or empty."""

    number: int
    question: int | None
    letter: str | None
    marked: MarkedRow
    size: int | None

    @property
    def ranks(self) -> tuple[int, ...]:
        return self.marked.ranks


Questions = Mapping[int, Mapping[str, _Row]]


class _RowFaults(FileFaults):
    """The faults of one CSV, raised in the order of its rows."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def add_cell(self, row: int, column: str, text: str) -> None:
        place = f", column {column}" if column else ""
        self.add(f"{self._file}, row {row}{place}: {text}", row)


def read_lists_csv(text: str, file: str = "the file") -> OwnLists:
    """Read a table, see ``table_in``, with the columns question, list, ranks and collection_size.

    One row for each list of each question, in any order. ``ranks``: 1-based positions
    separated by spaces, in any order. Questions are numbered 1…Q (at most 50), lists
    lettered A, B, C, … (2 to 10, equally many in each question). Within a question all
    lists have equally many ranks and no two are identical; all rows have the same
    collection_size (2 to 100,000,000).

    The columns grades, weights and clusters may follow, in every row or in none: a word for
    each rank, in the order of the ranks in the file. A cluster is a name in which _ means
    a space, several are joined by +, and - means none.

    Raises FaultyFilesError with every fault (20 at most), each naming ``file``, the row
    and the column, the cell's text and what is allowed. A column that is not known is a fault: it
    may be marks whose name is misspelt, and people would not see them.
    """
    table = table_in(text, file, TABLE)
    if unknown := table.columns_not_read:
        found = f"column{'s' * (len(unknown) > 1)} not known: {', '.join(unknown)[:300]}"
        allowed = f"Columns allowed: {', '.join((*LIST_COLUMNS, *MARK_TYPES))}"
        raise FaultyFilesError([f"{file}: {found}. {allowed}"])
    faults = _RowFaults(file)
    rows = [_read_row(row, faults) for row in table.rows]
    if not rows:
        below = "no row found below the heading"
        faults.add(f"{file}: {below}; a row for each list of each question is needed")
    questions = _by_question(rows, faults)
    # Where a cell of another row is faulty, that row may fill the gap.
    if sum(map(len, questions.values())) == len(rows):
        _check_numbering(questions, faults)
    for number, lists in questions.items():
        _check_ranks(number, lists.values(), faults)
    size = _collection_size(rows, faults)
    marks = _marks(questions, faults)
    faults.raise_any()
    return OwnLists(
        tuple(tuple(row.ranks for row in lists.values()) for lists in questions.values()),
        size,
        marks=marks if any(marks) else (),
    )


def _read_row(row: GivenRow, faults: _RowFaults) -> _Row:
    size = _number(row, "collection_size", COLLECTION_SIZE, faults)
    letter: str | None = row["list"]
    if letter not in (letters := letters_for(LIST_RANGE[1])):
        allowed = f"a letter from {letters[0]} to {letters[-1]} is allowed"
        faults.add_cell(row.number, "list", f"{shortened(row['list'])} found; {allowed}")
        letter = None
    return _Row(
        number=row.number,
        question=_number(row, "question", QUESTION_RANGE, faults),
        letter=letter,
        marked=_marked(row, size or COLLECTION_SIZE[1], faults),
        size=size,
    )


def _number(row: GivenRow, column: str, bounds: tuple[int, int], faults: _RowFaults) -> int | None:
    value = parse_whole(row[column], *bounds)
    if value is None:
        allowed = f"a whole number from {bounds[0]} to {bounds[1]} is allowed"
        found = shortened(row[column]) if row[column] else "nothing"
        faults.add_cell(row.number, column, f"{found} found; {allowed}")
    return value


def _ranks(row: int, cell: str, highest: int, faults: _RowFaults) -> tuple[int, ...]:
    """Return the ranks of a cell, unsorted; none, and a fault, if it holds anything else."""
    words = cell.split()
    ranks = [parse_whole(word, 1, highest) for word in words]
    bad = [shortened(word) for word, rank in zip(words, ranks, strict=True) if rank is None]
    counts = Counter(rank for rank in ranks if rank is not None)
    twice = [str(rank) for rank, count in sorted(counts.items()) if count > 1]
    if not words:
        faults.add_cell(row, "ranks", "nothing found; at least one position is needed")
    if bad:
        allowed = f"whole numbers from 1 to {highest}, separated by spaces, are allowed"
        faults.add_cell(row, "ranks", f"{_first_five(bad)} found; {allowed}")
    if twice:
        allowed = "each position may occur once"
        faults.add_cell(row, "ranks", f"{_first_five(twice)} found more than once; {allowed}")
    return () if bad or twice else tuple(rank for rank in ranks if rank is not None)


def _marked(row: GivenRow, highest: int, faults: _RowFaults) -> MarkedRow:
    ranks = _ranks(row.number, row["ranks"], highest, faults)
    try:
        # A bundle puts an apostrophe before what a spreadsheet would run: "'- a b".
        plain = {mark_type: row[mark_type].removeprefix("'") for mark_type in MARK_TYPES}
        return sorted_with_marks(ranks, plain if ranks else {})
    except MarkError as error:
        faults.add_cell(row.number, error.column, str(error))
        return MarkedRow(tuple(sorted(ranks)), {})


def _marks(questions: Questions, faults: _RowFaults) -> tuple[Marks, ...]:
    """Return the marks of each question; all its lists, and all questions, need the same types."""
    rows = [row for lists in questions.values() for row in lists.values() if row.ranks]
    mark_types = [
        mark_type for mark_type in MARK_TYPES if any(mark_type in row.marked.marks for row in rows)
    ]
    for row in rows:
        for mark_type in mark_types:
            if mark_type not in row.marked.marks:
                allowed = "every row needs them where one has them"
                faults.add_cell(row.number, mark_type, f"nothing found; {allowed}")
    marks = []
    for lists in questions.values():
        marked = [row.marked for row in lists.values() if set(row.marked.marks) == set(mark_types)]
        marks.append(marks_of(marked))
    return tuple(marks)


def _first_five(words: Sequence[str]) -> str:
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return ", ".join(words[:5]) + more


def _by_question(rows: Iterable[_Row], faults: _RowFaults) -> Questions:
    questions: dict[int, dict[str, _Row]] = {}
    for row in rows:
        if row.question is None or row.letter is None:
            continue
        first = questions.setdefault(row.question, {}).setdefault(row.letter, row)
        if first is not row:
            text = f"list {row.letter} of question {row.question} is in row {first.number} too"
            faults.add_cell(row.number, "list", f"{text}; each list may occur once")
    return {number: dict(sorted(lists.items())) for number, lists in sorted(questions.items())}


def _check_numbering(questions: Questions, faults: _RowFaults) -> None:
    for number, lists in questions.items():
        rows = sorted(row.number for row in lists.values())
        if number > 1 and number - 1 not in questions:
            text = f"{number} found, but there is no question {number - 1}"
            faults.add_cell(rows[0], "question", f"{text}; numbers without gaps from 1 are allowed")
        expected = letters_for(len(lists))
        skipped = [letter for letter in expected if letter not in lists]
        usual = len(next(iter(questions.values())))
        if skipped:
            text = f"question {number} has the lists {', '.join(lists)}, but no {skipped[0]}"
            faults.add_cell(rows[-1], "list", f"{text}; letters without gaps from A are allowed")
        elif not LIST_RANGE[0] <= len(lists) <= LIST_RANGE[1]:
            text = f"lists found in question {number}: {len(lists)}"
            faults.add_cell(
                rows[-1], "list", f"{text}; {LIST_RANGE[0]} to {LIST_RANGE[1]} are allowed"
            )
        elif len(lists) != usual:
            text = f"question {number} has {len(lists)} lists, question {min(questions)} {usual}"
            faults.add_cell(rows[-1], "list", f"{text}; all questions need equally many")


def _check_ranks(number: int, rows: Iterable[_Row], faults: _RowFaults) -> None:
    readable = [row for row in rows if row.ranks]
    seen: dict[object, _Row] = {}
    for row in readable:
        looks = (row.ranks, *sorted(row.marked.marks.items()))
        first, same = readable[0], seen.setdefault(looks, row)
        if len(row.ranks) != len(first.ranks):
            text = f"{_ranks_in(row)} found, but {_ranks_in(first)} in row {first.number}"
            faults.add_cell(
                row.number, "ranks", f"{text}; all lists of a question need equally many"
            )
        elif same is not row:
            text = f"lists {same.letter} (row {same.number}) and {row.letter} of question {number}"
            faults.add_cell(row.number, "ranks", f"{text} are identical; no two may be")


def _ranks_in(row: _Row) -> str:
    return "1 rank" if len(row.ranks) == 1 else f"{len(row.ranks)} ranks"


def _collection_size(rows: Sequence[_Row], faults: _RowFaults) -> int:
    """Return the collection size of the file, 0 if no row has any."""
    sizes = [(row.number, row.size) for row in rows if row.size is not None]
    for number, size in sizes:
        if size != sizes[0][1]:
            text = f"{size} found, but {sizes[0][1]} in row {sizes[0][0]}"
            faults.add_cell(number, "collection_size", f"{text}; one for the whole file is allowed")
    return sizes[0][1] if sizes else 0
