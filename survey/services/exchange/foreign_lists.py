"""Reading questions.csv and rankings.csv of a folder made elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass

from survey.core.stimuli.marks import MarkedRow, MarkError, sorted_with_marks
from survey.core.stimuli.own_lists import COLLECTION_SIZE, LISTS
from survey.core.stimuli.rankings import Ranking, letters_for
from survey.services.exchange.faults import Faults
from survey.services.exchange.foreign_sheets import filled_rows, from_one
from survey.services.exchange.opening import Files
from survey.services.exchange.sheets import BundleError, SheetRow

QUESTIONS = "questions.csv"
RANKINGS = "rankings.csv"


@dataclass(frozen=True)
class ForeignList:
    """A ranked list and the row it stands in; its ranks are sorted."""

    row: SheetRow
    letter: str
    marked: MarkedRow
    collection_size: int

    @property
    def ranks(self) -> tuple[int, ...]:
        """The sorted positions."""
        return self.marked.ranks


ForeignLists = Mapping[int, Mapping[str, ForeignList]]


def read_lists(files: Files) -> ForeignLists:
    """Read questions.csv: question → letter → list, both in order.

    What can be analysed may stand there, which is more than what a study may ask:
    questions with any numbers from 1 on, 2 to 10 lists in each, of which two may be
    alike. Raises BundleError with the faults of all rows.
    """
    faults = Faults()
    questions: dict[int, dict[str, ForeignList]] = {}
    columns = ("question", "list", "ranks", "collection_size")
    for row in filled_rows(files, QUESTIONS, columns, faults):
        with faults.noted():
            _add(_list(row), questions.setdefault(from_one(row, "question"), {}))
    faults.stop_if_any()
    if not questions:
        raise BundleError(f"{QUESTIONS} holds no list; a row for each list is needed")
    for number, lists in questions.items():
        with faults.noted():
            _check_letters(number, lists)
    faults.stop_if_any()
    return {number: dict(sorted(lists.items())) for number, lists in sorted(questions.items())}


def _list(row: SheetRow) -> ForeignList:
    letters, (smallest, largest) = letters_for(LISTS[1]), COLLECTION_SIZE
    letter, size, ranks = row.text("list"), row.whole("collection_size"), row.wholes("ranks")
    if letter not in letters:
        raise row.fault("list", f"a letter from {letters[0]} to {letters[-1]} is needed")
    if not smallest <= size <= largest:
        raise row.fault("collection_size", f"{smallest} to {largest} are allowed")
    if not ranks:
        raise row.fault("ranks", "at least one position is needed")
    for rank in ranks:
        if not 1 <= rank <= size:
            raise row.fault("ranks", f"{rank} is none of the positions 1 to {size}")
    if len(set(ranks)) < len(ranks):
        raise row.fault("ranks", "each position may occur once")
    try:
        return ForeignList(row, letter, sorted_with_marks(ranks, row.marks), size)
    except MarkError as error:
        raise row.fault(error.kind, str(error)) from None


def _add(one: ForeignList, lists: dict[str, ForeignList]) -> None:
    """Add a list to those of its question, which it must fit."""
    if one.letter in lists:
        there = lists[one.letter].row.number
        raise one.row.fault("list", f"row {there} has this list of the question already")
    for other in list(lists.values())[:1]:
        if one.collection_size != other.collection_size:
            allowed = f"{other.collection_size} as in row {other.row.number}, of the same question"
            raise one.row.fault("collection_size", f"{allowed}, is needed")
        if len(one.ranks) != len(other.ranks):
            allowed = f"{len(other.ranks)} positions as in row {other.row.number}"
            raise one.row.fault("ranks", f"{allowed}, of the same question, are needed")
    lists[one.letter] = one


def _check_letters(number: int, lists: Mapping[str, ForeignList]) -> None:
    last = list(lists.values())[-1].row
    if tuple(sorted(lists)) != letters_for(len(lists)):
        raise last.fault(
            "list",
            f"question {number} has the lists {' '.join(sorted(lists))}; letters from A without "
            "gaps are needed",
        )
    if len(lists) < LISTS[0]:
        raise last.fault(
            "list", f"question {number} has no other list; {LISTS[0]} to {LISTS[1]} are needed"
        )


def check_rankings(files: Files, rankings: Mapping[int, Mapping[str, Ranking]]) -> None:
    """Compare rankings.csv, where there is one, with the orders that the lists give.

    ``rankings``: question → measure → order. Raises BundleError with what disagrees.
    """
    if RANKINGS not in files:
        return
    faults = Faults()
    seen: set[tuple[int, str]] = set()
    for row in filled_rows(files, RANKINGS, ("question", "measure", "ranking"), faults):
        with faults.noted():
            _check_ranking(row, rankings, seen)
    faults.stop_if_any()
    for question, orders in rankings.items():
        for name in orders:
            if (question, name) not in seen:
                raise BundleError(f"{RANKINGS}: no row for {name} in question {question} found")


def _check_ranking(
    row: SheetRow,
    rankings: Mapping[int, Mapping[str, Ranking]],
    seen: set[tuple[int, str]],
) -> None:
    question, name = row.whole("question"), row.text("measure")
    if question not in rankings:
        raise row.fault("question", f"{QUESTIONS} has no such question")
    if name not in rankings[question]:
        raise row.fault("measure", f"compared are {' '.join(rankings[question])}")
    if (question, name) in seen:
        raise row.fault("measure", "each measure is allowed once for a question")
    seen.add((question, name))
    order = rankings[question][name]
    if row.ranking("ranking", order.letters) != order:
        raise row.fault("ranking", f"the lists in {QUESTIONS} give {order}")
