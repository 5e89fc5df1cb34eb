"""What is known of the relevant items of a question's lists beside their positions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from survey.core.measures import Lists, as_lists

Row = tuple[tuple[str, ...], ...]

WEIGHT_DECIMALS = 4
NAME_RULE = r"(?!-$)[^\s+,()'][^\s+,()]{0,39}"  # of a cluster; an underscore stands for a space


@dataclass(frozen=True)
class Marks:
    """Marks of a question's relevant items: for each list, for each of its positions, one.

    ``grades``: how relevant, 1, 2, …; ``weights``: the share of annotators who chose the
    item, to four decimals; ``clusters``: the names of its sub-topics. Each is empty where
    nothing is known. Participants see marks beside the positions, as text.
    """

    grades: tuple[tuple[int, ...], ...] = ()
    weights: tuple[tuple[float, ...], ...] = ()
    clusters: tuple[Row, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kinds)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which marks there are: "grades", "weights", "clusters"."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name))

    def lists(self, ranks: Sequence[Sequence[int]], collection_size: int) -> Lists:
        """Return lists with these marks as measures take them; raises what ``as_lists`` does."""
        return as_lists(
            ranks,
            collection_size,
            grades=self.grades or None,
            weights=self.weights or None,
            clusters=self.clusters or None,
        )

    def texts(self, index: int, positions: int) -> tuple[str, ...]:
        """Return what stands beside each position of a list: "2", "dolphin", "2, dolphin"."""
        parts: list[list[str]] = [[] for _ in range(positions)]
        for kind in self.kinds:
            for place, mark in enumerate(getattr(self, kind)[index]):
                parts[place].append(written(mark))
        return tuple(", ".join(each) for each in parts)

    def cells(self, index: int) -> dict[str, str]:
        """Return one list's marks as cells of a table, a word for each position."""
        return {
            kind: " ".join(_cell(mark) for mark in getattr(self, kind)[index])
            for kind in self.kinds
        }

    def of_list(self, index: int) -> "Marks":
        """Return the marks of one list alone; lists with equal ranks and marks look the same."""
        return Marks(*(getattr(self, kind)[index : index + 1] for kind in KINDS))

    def dealt(self, orders: Sequence[Sequence[int]]) -> "Marks":
        """Return one list's marks dealt to several: for each, which item stands where."""

        def deal(rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
            return tuple(tuple(rows[0][item] for item in order) for order in orders if rows)

        return Marks(deal(self.grades), deal(self.weights), deal(self.clusters))

    def as_json(self) -> dict[str, Any]:
        """Return the marks there are as plain lists: kind → list → item."""
        return {kind: getattr(self, kind) for kind in self.kinds}

    def one_list_as_json(self) -> dict[str, Any]:
        """Return the marks of one list: kind → item."""
        return {kind: rows[0] for kind, rows in self.as_json().items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Marks":
        """Make marks from plain lists, or words; raises TypeError or ValueError for others."""
        return cls(
            **{
                kind: tuple(tuple(_mark(kind, item) for item in _items(row)) for row in rows)
                for kind, rows in stored.items()
            }
        )

    @classmethod
    def of_one_list(cls, stored: Mapping[str, Any]) -> "Marks":
        """Make the marks of a single list; raises TypeError or ValueError."""
        return cls.from_json({kind: [row] for kind, row in stored.items() if row})


NO_MARKS = Marks()
KINDS = tuple(field.name for field in fields(Marks))


def written(mark: int | float | Sequence[str]) -> str:
    """Write one item's mark as participants read it: 2, 0.57, "harbour bridge + opera", -."""
    if isinstance(mark, int | float):
        return f"{mark:g}"
    return " + ".join(name.replace("_", " ") for name in mark) or "-"


def _cell(mark: int | float | Sequence[str]) -> str:
    """Write a mark as one word: 2, 0.5714285714285714, harbour_bridge+opera, - for none."""
    if isinstance(mark, int | float):
        return repr(mark)
    return "+".join(mark) or "-"


def _items(row: object) -> Sequence[object]:
    if isinstance(row, str):
        return row.split()
    if isinstance(row, int | float) and not isinstance(row, bool):
        return [row]
    if not isinstance(row, list | tuple):
        raise TypeError(f"{row!r} found; a list is needed")
    return row


def _mark(kind: str, item: object) -> Any:
    """Read one item's mark, from a value or from a word as ``_cell`` writes it."""
    if kind == "clusters":
        names = item.split("+") if isinstance(item, str) and item != "-" else item
        names = [] if names == "-" else names
        if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
            raise TypeError(f"{item!r} found; names of clusters are needed")
        return tuple(sorted(set(names)))
    if isinstance(item, bool) or not isinstance(item, int | float | str):
        raise TypeError(f"{item!r} found; a number is needed")
    number = float(item)
    if not isfinite(number) or (kind == "grades" and not number.is_integer()):
        raise ValueError(f"{item!r} found; a number is needed")
    # Weights as participants read them: what a page shows and what is counted must agree.
    return int(number) if kind == "grades" else round(number, WEIGHT_DECIMALS)


@dataclass(frozen=True)
class MarkedRow:
    """One list as a file has it: sorted ranks, and the marks in the order of these."""

    ranks: tuple[int, ...]
    marks: Mapping[str, tuple[Any, ...]]


class MarkError(ValueError):
    """A cell of marks that cannot be; ``kind`` is its column."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


def sorted_with_marks(ranks: Sequence[int], cells: Mapping[str, str]) -> MarkedRow:
    """Sort a list's ranks, and the words of its cells of marks along with them.

    ``cells``: kind → words, one for each rank as they stand in the file; empty cells do not
    count. Raises MarkError naming the column.
    """
    order = sorted(range(len(ranks)), key=lambda place: ranks[place])
    marks = {}
    for kind in KINDS:
        if not (words := cells.get(kind, "").split()):
            continue
        if len(words) != len(ranks):
            found = f"{len(words)} {kind} found for {len(ranks)} ranks"
            raise MarkError(kind, f"{found}; one each is needed")
        try:
            read = [_mark(kind, word) for word in words]
        except (OverflowError, ValueError):
            raise MarkError(
                kind, f"{' '.join(words)!r} found; numbers separated by spaces are allowed"
            ) from None
        marks[kind] = tuple(read[place] for place in order)
    return MarkedRow(tuple(ranks[place] for place in order), marks)


def marks_of(rows: Sequence[MarkedRow]) -> Marks:
    """Put the marks of a question's lists together; raises MarkError where a list lacks some."""
    kinds = [kind for kind in KINDS if any(kind in row.marks for row in rows)]
    for kind in kinds:
        if not all(kind in row.marks for row in rows):
            raise MarkError(kind, f"no {kind} found; every list needs them where one has them")
    return Marks(**{kind: tuple(row.marks[kind] for row in rows) for kind in kinds})
