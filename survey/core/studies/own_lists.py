"""A researcher's own ranked lists: their type, their bounds, and the CSV that holds them."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from survey.core.preflight import Warned
from survey.core.studies.provenance import Provenance
from survey.core.studies.questions import (
    KINDS,
    MarkedRow,
    MarkError,
    Marks,
    marks_of,
    sorted_with_marks,
)
from survey.core.studies.rankings import letters_for
from survey.core.text_input import FileFaults, parse_whole, shortened

QUESTIONS = (1, 50)
LISTS = (2, 10)  # two suffice for own lists, say two systems' runs
COLLECTION_SIZE = (2, 100_000_000)

COLUMNS = ("question", "list", "ranks", "collection_size")  # the columns of KINDS may follow


@dataclass(frozen=True)
class OwnLists:
    """Ranked lists that a researcher uploads for a study.

    ``questions``: question → list (A, B, C, …) → sorted 1-based positions of its
    relevant items. ``marks``: of each question, empty where there are none. ``topics``:
    where the lists come from a test collection, the topic of each question; ``documents``:
    question → list → its first documents there. Both are empty elsewhere. ``warnings``: what is
    to be known of the files.
    """

    questions: tuple[tuple[tuple[int, ...], ...], ...]
    collection_size: int
    topics: tuple[str, ...] = ()
    marks: tuple[Marks, ...] = ()
    documents: tuple[tuple[tuple[str, ...], ...], ...] = ()
    provenance: Provenance | None = None
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
    """Read a CSV (RFC 4180) with the columns question, list, ranks and collection_size.

    One row for each list of each question, in any order. ``ranks``: 1-based positions
    separated by spaces, in any order. Questions are numbered 1…Q (at most 50), lists
    lettered A, B, C, … (2 to 10, equally many in each question). Within a question all
    lists have equally many ranks and no two are identical; all rows have the same
    collection_size (2 to 100,000,000). A byte-order mark, any line ends, empty rows and ``;``
    between columns are accepted.

    The columns grades, weights and clusters may follow, in every row or in none: a word for
    each rank, in the order of the ranks in the file. A cluster is a name in which _ means
    a space, several are joined by +, and - means none.

    Raises FaultyFilesError with every fault (20 at most), each naming ``file``, the row
    (the header is row 1) and the column, the cell's text and what is allowed.
    """
    faults = _RowFaults(file)
    rows = [_read_row(number, cells, faults) for number, cells in _records(text, faults)]
    if not rows:
        faults.add_cell(2, "", "nothing found; a row for each list of each question is needed")
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


def _records(text: str, faults: _RowFaults) -> list[tuple[int, dict[str, str]]]:
    """Split the text into numbered rows of named cells; raise for rows of another length."""
    header, *lines = _cells(text, faults) or [[]]
    _check_header(header, faults)
    filled = [(number, cells) for number, cells in enumerate(lines, 2) if any(cells)]
    for number, cells in filled:
        if len(cells) != len(header):
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            allowed = f"{len(header)} are needed, with spaces between the ranks"
            faults.add_cell(number, "", f"{count} found; {allowed}")
    faults.raise_any()
    return [(number, dict(zip(header, cells, strict=True))) for number, cells in filled]


def _cells(text: str, faults: _RowFaults) -> list[list[str]]:
    text = text.removeprefix("\ufeff")
    top = re.split(r"[\r\n]", text, maxsplit=1)[0]
    delimiter = ";" if top.count(";") > top.count(",") else ","
    stream = io.StringIO(text, newline="")
    lines: list[list[str]] = []
    try:
        for line in csv.reader(stream, delimiter=delimiter, skipinitialspace=True, strict=True):
            lines.append([cell.strip() for cell in line])
    except csv.Error:
        most = csv.field_size_limit()
        allowed = f"quotation marks enclose a whole cell, of at most {most} characters"
        faults.add_cell(len(lines) + 1, "", f"this row cannot be read as CSV; {allowed}")
        faults.raise_any()
    return lines


def _check_header(header: Sequence[str], faults: _RowFaults) -> None:
    for name in COLUMNS:
        if name not in header:
            columns = ", ".join(map(shortened, header)) or "an empty row"
            needed = ", ".join(COLUMNS)
            faults.add_cell(
                1, name, f"this column is missing, {columns} found; needed are {needed}"
            )
    for index, name in enumerate(header):
        if name not in (*COLUMNS, *KINDS):
            allowed = f"only {', '.join((*COLUMNS, *KINDS))} are allowed"
            faults.add_cell(1, shortened(name), f"this column is not known; {allowed}")
        elif name in header[:index]:
            faults.add_cell(1, name, "this column occurs twice; once is allowed")
    faults.raise_any()


def _read_row(number: int, cells: Mapping[str, str], faults: _RowFaults) -> _Row:
    size = _number(number, "collection_size", cells, COLLECTION_SIZE, faults)
    letter: str | None = cells["list"]
    if letter not in (letters := letters_for(LISTS[1])):
        allowed = f"a letter from {letters[0]} to {letters[-1]} is allowed"
        faults.add_cell(number, "list", f"{shortened(cells['list'])} found; {allowed}")
        letter = None
    return _Row(
        number=number,
        question=_number(number, "question", cells, QUESTIONS, faults),
        letter=letter,
        marked=_marked(number, cells, size or COLLECTION_SIZE[1], faults),
        size=size,
    )


def _number(
    row: int, column: str, cells: Mapping[str, str], bounds: tuple[int, int], faults: _RowFaults
) -> int | None:
    value = parse_whole(cells[column], *bounds)
    if value is None:
        allowed = f"a whole number from {bounds[0]} to {bounds[1]} is allowed"
        faults.add_cell(row, column, f"{shortened(cells[column])} found; {allowed}")
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


def _marked(row: int, cells: Mapping[str, str], highest: int, faults: _RowFaults) -> MarkedRow:
    ranks = _ranks(row, cells["ranks"], highest, faults)
    try:
        # A bundle puts an apostrophe before what a spreadsheet would run: "'- a b".
        plain = {kind: cells.get(kind, "").removeprefix("'") for kind in KINDS}
        return sorted_with_marks(ranks, plain if ranks else {})
    except MarkError as error:
        faults.add_cell(row, error.kind, str(error))
        return MarkedRow(tuple(sorted(ranks)), {})


def _marks(questions: Questions, faults: _RowFaults) -> tuple[Marks, ...]:
    """Return the marks of each question; all its lists, and all questions, need the same kinds."""
    rows = [row for lists in questions.values() for row in lists.values() if row.ranks]
    kinds = [kind for kind in KINDS if any(kind in row.marked.marks for row in rows)]
    for row in rows:
        for kind in kinds:
            if kind not in row.marked.marks:
                allowed = "every row needs them where one has them"
                faults.add_cell(row.number, kind, f"nothing found; {allowed}")
    marks = []
    for lists in questions.values():
        marked = [row.marked for row in lists.values() if set(row.marked.marks) == set(kinds)]
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
        elif not LISTS[0] <= len(lists) <= LISTS[1]:
            text = f"lists found in question {number}: {len(lists)}"
            faults.add_cell(rows[-1], "list", f"{text}; {LISTS[0]} to {LISTS[1]} are allowed")
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
