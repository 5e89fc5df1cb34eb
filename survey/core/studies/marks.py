"""Marks of the relevant items of a question's lists: grades, weights and clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from survey.core.measures import Lists, as_lists
from survey.core.numbers import parse_number

Row = tuple[tuple[str, ...], ...]

WEIGHT_DECIMALS = 4
NO_CLUSTER = "-"  # the word for an item without a cluster
NAME_RULE = r"(?!-$)[^\s+,()'][^\s+,()]{0,39}"  # of a cluster; an underscore means a space


@dataclass(frozen=True)
class Marks:
    """Marks of a question's relevant items: of each kind, a mark for each position of each list.

    ``grades``: how relevant, 1, 2, …; ``weights``: the share of annotators who chose the
    item, to four decimals; ``clusters``: the names of its sub-topics. A kind that is
    not known is empty. Participants see marks as text beside the positions.
    """

    grades: tuple[tuple[int, ...], ...] = ()
    weights: tuple[tuple[float, ...], ...] = ()
    clusters: tuple[Row, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kinds)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are not empty, of "grades", "weights", "clusters"."""
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
        """Return the text beside each position of a list: "2", "dolphin" or "2, dolphin"."""
        parts: list[list[str]] = [[] for _ in range(positions)]
        for kind in self.kinds:
            for position, mark in enumerate(getattr(self, kind)[index]):
                parts[position].append(mark_text(mark))
        return tuple(", ".join(part) for part in parts)

    def cells(self, index: int) -> dict[str, str]:
        """Return one list's marks as cells of a table, a word for each position."""
        return {
            kind: " ".join(_cell(mark) for mark in getattr(self, kind)[index])
            for kind in self.kinds
        }

    def of_list(self, index: int) -> "Marks":
        """Return the marks of one list alone, to compare lists that have equal ranks."""
        return Marks(*(getattr(self, kind)[index : index + 1] for kind in KINDS))

    def dealt(self, orders: Sequence[Sequence[int]]) -> "Marks":
        """Return marks of several lists: one list's marks, reordered by each of ``orders``."""

        def deal(rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
            return tuple(tuple(rows[0][item] for item in order) for order in orders if rows)

        return Marks(deal(self.grades), deal(self.weights), deal(self.clusters))

    def as_json(self) -> dict[str, Any]:
        """Return the marks as plain lists: kind → list → item."""
        return {kind: getattr(self, kind) for kind in self.kinds}

    def one_list_as_json(self) -> dict[str, Any]:
        """Return the marks of a single list as plain lists: kind → item."""
        return {kind: rows[0] for kind, rows in self.as_json().items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Marks":
        """Parse marks from plain lists, or words; raises TypeError or ValueError."""
        return cls(
            **{
                kind: tuple(tuple(_parse_mark(kind, item) for item in _items(row)) for row in rows)
                for kind, rows in stored.items()
            }
        )

    @classmethod
    def of_one_list(cls, stored: Mapping[str, Any]) -> "Marks":
        """Parse the marks of a single list, kind → items; raises TypeError or ValueError."""
        return cls.from_json({kind: [row] for kind, row in stored.items() if row})


NO_MARKS = Marks()
KINDS = tuple(field.name for field in fields(Marks))


def mark_text(mark: int | float | Sequence[str]) -> str:
    """Return one item's mark as participants read it: 2, 0.57, "harbour bridge + opera", -."""
    if isinstance(mark, int | float):
        return f"{mark:g}"
    return " + ".join(name.replace("_", " ") for name in mark) or NO_CLUSTER


def _cell(mark: int | float | Sequence[str]) -> str:
    """Return a mark as one word: 2, 0.5714285714285714, harbour_bridge+opera, - for none."""
    if isinstance(mark, int | float):
        return repr(mark)
    return "+".join(mark) or NO_CLUSTER


def _items(row: object) -> Sequence[object]:
    if isinstance(row, str):
        return row.split()
    if isinstance(row, int | float) and not isinstance(row, bool):
        return [row]
    if not isinstance(row, list | tuple):
        raise TypeError(f"{row!r} found; a list is needed")
    return row


def _parse_mark(kind: str, item: object) -> Any:
    """Parse one item's mark, from a value or from a word as ``_cell`` writes it."""
    if kind == "clusters":
        names = item.split("+") if isinstance(item, str) and item != NO_CLUSTER else item
        names = [] if names == NO_CLUSTER else names
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{item!r} found; names of clusters are needed")
        return tuple(sorted(set(names)))
    if isinstance(item, bool) or not isinstance(item, int | float | str):
        raise TypeError(f"{item!r} found; a number is needed")
    number = parse_number(str(item))
    if number is None or (kind == "grades" and not number.is_integer()):
        raise ValueError(f"{item!r} found; a number is needed")
    # Weights are rounded as pages show them: else measures would read others than participants.
    return int(number) if kind == "grades" else round(number, WEIGHT_DECIMALS)


@dataclass(frozen=True)
class MarkedRow:
    """A list from a file: sorted ranks, and the marks in the order of the ranks."""

    ranks: tuple[int, ...]
    marks: Mapping[str, tuple[Any, ...]]


class MarkError(ValueError):
    """An invalid cell of marks; ``kind`` is its column."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


def sorted_with_marks(ranks: Sequence[int], cells: Mapping[str, str]) -> MarkedRow:
    """Sort a list's ranks, and the words of its cells of marks along with them.

    ``cells``: kind → words, one for each rank in the order of the file; empty cells do not
    count. Raises MarkError naming the column.
    """
    order = sorted(range(len(ranks)), key=lambda index: ranks[index])
    marks = {}
    for kind in KINDS:
        if not (words := cells.get(kind, "").split()):
            continue
        if len(words) != len(ranks):
            count = f"{len(words)} {kind} found for {len(ranks)} ranks"
            raise MarkError(kind, f"{count}; one each is needed")
        try:
            parsed = [_parse_mark(kind, word) for word in words]
        except (OverflowError, ValueError):
            raise MarkError(
                kind, f"{' '.join(words)!r} found; numbers separated by spaces are allowed"
            ) from None
        marks[kind] = tuple(parsed[index] for index in order)
    return MarkedRow(tuple(ranks[index] for index in order), marks)


def marks_of(rows: Sequence[MarkedRow]) -> Marks:
    """Combine the marks of a question's lists; raises MarkError where a list lacks a kind."""
    kinds = [kind for kind in KINDS if any(kind in row.marks for row in rows)]
    for kind in kinds:
        if not all(kind in row.marks for row in rows):
            raise MarkError(kind, f"no {kind} found; every list needs them where one has them")
    return Marks(**{kind: tuple(row.marks[kind] for row in rows) for kind in kinds})
