"""A question of ranked lists: relevant items with their marks, values, orders, blinding.

Marks are what a list's relevant items have besides their ranks: grades, weights, clusters.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Any

from survey.core.measures import Lists, Setting, as_lists, measure_named
from survey.core.studies.rankings import Ranking, identical_groups, letters_for, printed, rescaled
from survey.core.text_input import Json, parse_number

if TYPE_CHECKING:  # `survey measure` would wait for what they bring along
    from survey.core.collections.items import Result, ShownItem
    from survey.core.studies.provenance import QuestionSource

WEIGHT_DECIMALS = 4
NO_CLUSTER = "-"  # the word for an item without a cluster
NAME_RULE = r"(?!-$)[^\s+,()'][^\s+,()]{0,39}"  # of a cluster; an underscore means a space


@dataclass(frozen=True)
class Marks:
    """Marks of a question's relevant items: of each type, a mark for each position of each list.

    ``grades``: how relevant, 1, 2, …; ``weights``: the share of annotators who chose the
    item, to four decimals; ``clusters``: the names of its sub-topics. A type that is
    not known is empty. Participants see marks as text beside the positions.
    """

    grades: tuple[tuple[int, ...], ...] = ()
    weights: tuple[tuple[float, ...], ...] = ()
    clusters: tuple[tuple[tuple[str, ...], ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.types)

    @property
    def types(self) -> tuple[str, ...]:
        """The types that are not empty, of "grades", "weights", "clusters"."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name))

    def lists(self, ranks: Sequence[Sequence[int]], collection_size: int) -> Lists:
        """Return lists with these marks as measures take them; raises what ``as_lists`` does."""
        known = {mark_type: getattr(self, mark_type) for mark_type in self.types}
        return as_lists(ranks, collection_size, **known)

    def texts(self, index: int, positions: int) -> tuple[str, ...]:
        """Return the text beside each position of a list: "2", "dolphin" or "2, dolphin"."""
        parts: list[list[str]] = [[] for _ in range(positions)]
        for mark_type in self.types:
            for position, mark in enumerate(getattr(self, mark_type)[index]):
                parts[position].append(mark_text(mark))
        return tuple(", ".join(part) for part in parts)

    def cells(self, index: int) -> dict[str, str]:
        """Return one list's marks as cells of a table, a word for each position."""
        return {
            mark_type: " ".join(_cell(mark) for mark in getattr(self, mark_type)[index])
            for mark_type in self.types
        }

    def of_list(self, index: int) -> "Marks":
        """Return the marks of one list alone, to compare lists that have equal ranks."""
        return Marks(*(getattr(self, mark_type)[index : index + 1] for mark_type in MARK_TYPES))

    def reordered(self, lists: Sequence[int]) -> "Marks":
        """Return the marks of lists in another order, which holds their indices."""
        rows = (getattr(self, mark_type) for mark_type in MARK_TYPES)
        return Marks(*(tuple(row[index] for index in lists) if row else () for row in rows))

    def dealt(self, orders: Sequence[Sequence[int]]) -> "Marks":
        """Return marks of several lists: one list's marks, reordered by each of ``orders``."""

        def deal(rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
            return tuple(tuple(rows[0][item] for item in order) for order in orders if rows)

        return Marks(*(deal(getattr(self, mark_type)) for mark_type in MARK_TYPES))

    def as_json(self) -> dict[str, tuple[tuple[float | tuple[str, ...], ...], ...]]:
        """Return the marks as plain lists: type → list → item."""
        return {mark_type: getattr(self, mark_type) for mark_type in self.types}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Marks":
        """Parse marks from plain lists, or words; raises TypeError or ValueError."""
        return cls(
            **{
                mark_type: tuple(
                    tuple(_parse_mark(mark_type, item) for item in _items(row)) for row in rows
                )
                for mark_type, rows in stored.items()
            }
        )


NO_MARKS = Marks()
MARK_TYPES = tuple(field.name for field in fields(Marks))


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


def _parse_mark(mark_type: str, item: object) -> Any:
    """Parse one item's mark, from a value or from a word as ``_cell`` writes it."""
    if mark_type == "clusters":
        names = item.split("+") if isinstance(item, str) and item != NO_CLUSTER else item
        names = [] if names == NO_CLUSTER else names
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{item!r} found; names of clusters are needed")
        return tuple(sorted(set(names)))
    if isinstance(item, bool) or not isinstance(item, int | float | str):
        raise TypeError(f"{item!r} found; a number is needed")
    number = parse_number(str(item))
    if number is None or (mark_type == "grades" and not number.is_integer()):
        raise ValueError(f"{item!r} found; a number is needed")
    # Weights are rounded as pages show them: else measures would read others than participants.
    return int(number) if mark_type == "grades" else round(number, WEIGHT_DECIMALS)


@dataclass(frozen=True)
class MarkedRow:
    """A list from a file: sorted ranks, and the marks in the order of the ranks."""

    ranks: tuple[int, ...]
    marks: Mapping[str, tuple[Any, ...]]


class MarkError(ValueError):
    """An invalid cell of marks, in ``column``."""

    def __init__(self, column: str, text: str) -> None:
        self.column = column
        super().__init__(text)


def sorted_with_marks(ranks: Sequence[int], cells: Mapping[str, str]) -> MarkedRow:
    """Sort a list's ranks, and the words of its cells of marks along with them.

    ``cells``: type → words, one for each rank in the order of the file; empty cells do not
    count. Raises MarkError naming the column.
    """
    order = sorted(range(len(ranks)), key=lambda index: ranks[index])
    marks = {}
    for mark_type in MARK_TYPES:
        if not (words := cells.get(mark_type, "").split()):
            continue
        if len(words) != len(ranks):
            count = f"{len(words)} {mark_type} found for {len(ranks)} ranks"
            raise MarkError(mark_type, f"{count}; one each is needed")
        parsed = [_parse_word(mark_type, word) for word in words]
        marks[mark_type] = tuple(parsed[index] for index in order)
    return MarkedRow(tuple(ranks[index] for index in order), marks)


def _parse_word(mark_type: str, word: str) -> Any:
    """Parse a word of a cell, or of an option of the command; raises MarkError."""
    try:
        return _parse_mark(mark_type, word)
    except (OverflowError, ValueError):
        number = "whole number" if mark_type == "grades" else "number"
        raise MarkError(mark_type, f"{word!r} found; a {number} for each rank is needed") from None


def marks_of(rows: Sequence[MarkedRow]) -> Marks:
    """Combine the marks of a question's lists; raises MarkError where a list lacks a type."""
    mark_types = [
        mark_type for mark_type in MARK_TYPES if any(mark_type in row.marks for row in rows)
    ]
    for mark_type in mark_types:
        if not all(mark_type in row.marks for row in rows):
            raise MarkError(
                mark_type, f"no {mark_type} found; every list needs them where one has them"
            )
    return Marks(
        **{mark_type: tuple(row.marks[mark_type] for row in rows) for mark_type in mark_types}
    )


@dataclass(frozen=True)
class MeasureColumn:
    """A measure's column of a question: its values as computed and as printed, and the order.

    ``values``: the measure's own values; ``shown``: the text a page prints (1-AP
    for AP, so that lower is better; or rescaled); both in the order of the lists' letters.
    """

    values: tuple[float, ...]
    shown: tuple[str, ...]
    ranking: Ranking


@dataclass(frozen=True)
class Question:
    """A set of ranked lists A, B, C, … with the columns of the study's measures.

    ``number``: 1, 2, …, or 0 for the practice question. ``lists``: for each
    letter the sorted positions of its relevant items. ``marks``: what is known of these,
    lists in the order of their letters. ``source``: of lists that come from runs.
    """

    number: int
    lists: Mapping[str, tuple[int, ...]]
    columns: Mapping[str, MeasureColumn]
    marks: Marks = NO_MARKS
    source: "QuestionSource | None" = None

    @property
    def topic(self) -> str:
        """The id of what the runs searched for, "" for lists that come from no run."""
        return self.source.topic if self.source else ""

    @cached_property
    def positions(self) -> Mapping[str, tuple[tuple[int, str], ...]]:
        """Each list's positions, each with the text of its marks, which may be empty."""
        return {
            letter: tuple(zip(ranks, self.marks.texts(index, len(ranks)), strict=True))
            for index, (letter, ranks) in enumerate(sorted(self.lists.items()))
        }

    @cached_property
    def ideal(self) -> tuple[tuple[int, str], ...]:
        """The best possible list, each position with its grade; empty where lists have no grades.

        Also where the lists do not share their grades, as then there is not one such list.
        """
        rows = {tuple(sorted(row, reverse=True)) for row in self.marks.grades}
        if len(rows) != 1:
            return ()
        [grades] = rows
        return tuple((rank, mark_text(grade)) for rank, grade in enumerate(grades, 1))

    @cached_property
    def cluster_names(self) -> tuple[str, ...]:
        """The clusters of its lists' items as pages write them, sorted."""
        names = {name for row in self.marks.clusters for item in row for name in item}
        return tuple(mark_text([name]) for name in sorted(names))

    def written(self, letter: str) -> str:
        """Return a list's positions with their marks: 3 (2) 8 (1), and what was not returned."""
        positions = self.positions[letter]
        missing = self.unreturned.get(letter, 0)
        returned = positions[: len(positions) - missing]
        words = [f"{rank} ({text})" if text else str(rank) for rank, text in returned]
        return " ".join([*words, *([f"({missing} not returned)"] if missing else [])])

    @property
    def unreturned(self) -> Mapping[str, int]:
        """How many of each list's last positions are of documents that its run did not return."""
        return self.source.unreturned if self.source else {}

    @property
    def rankings(self) -> dict[str, Ranking]:
        """Each measure's order of the lists."""
        return {name: column.ranking for name, column in self.columns.items()}

    def as_json(self) -> dict[str, Json]:
        """Return all of it but its number as plain values, to be stored."""
        columns: dict[str, Json] = {
            name: {
                "values": list(column.values),
                "shown": list(column.shown),
                "places": column.ranking.places,
            }
            for name, column in self.columns.items()
        }
        source = {"source": self.source.as_json()} if self.source else {}
        marks = self.marks.as_json() or None
        return {"lists": self._lists(), "columns": columns, "marks": marks, **source}

    @classmethod
    def from_json(cls, number: int, content: Mapping[str, Any]) -> "Question":
        """Make a question of what ``as_json`` wrote."""
        from survey.core.studies.provenance import QuestionSource

        source = content.get("source")
        return cls(
            number=number,
            lists={letter: tuple(ranks) for letter, ranks in sorted(content["lists"].items())},
            columns={
                name: MeasureColumn(
                    values=tuple(column["values"]),
                    shown=tuple(column["shown"]),
                    ranking=Ranking.by_key(column["places"]),
                )
                for name, column in content["columns"].items()
            },
            marks=Marks.from_json(content["marks"] or {}),
            source=None if source is None else QuestionSource.from_json(source),
        )

    def as_shown(self) -> dict[str, Json]:
        """Return what a study's digest covers: values as printed and orders, never floats."""
        marks = {"marks": self.marks.as_json()} if self.marks else {}
        return marks | {
            "number": self.number,
            "lists": self._lists(),
            "columns": {
                name: {"shown": list(column.shown), "ranking": str(column.ranking)}
                for name, column in self.columns.items()
            },
        }

    def _lists(self) -> dict[str, list[int]]:
        return {letter: list(ranks) for letter, ranks in self.lists.items()}


def build_question(
    number: int,
    lists: Sequence[Sequence[int]],
    measures: Sequence[str],
    setting: Setting,
    marks: Marks = NO_MARKS,
    source: "QuestionSource | None" = None,
) -> Question:
    """Score lists with the measures, order them exactly and print the values.

    Raises ValueError where ``as_lists`` does, or for a measure that is not registered.
    """
    checked = marks.lists(lists, setting.collection_size)
    letters = letters_for(len(checked.ranks))
    columns = {}
    for measure in map(measure_named, measures):
        shown = measure.shown(checked, setting)
        columns[measure.name] = MeasureColumn(
            values=tuple(measure.checked(checked, setting).tolist()),
            shown=printed(rescaled(shown), 0) if setting.rescaled else printed(shown),
            ranking=Ranking.by_key(dict(zip(letters, shown, strict=True))),
        )
    rows = {letter: tuple(row) for letter, row in zip(letters, checked.ranks.tolist(), strict=True)}
    return Question(number, rows, columns, marks, source)


def rankings_of(questions: Iterable[Question]) -> dict[int, Mapping[str, Ranking]]:
    """Return question → measure → order."""
    return {question.number: question.rankings for question in questions}


@dataclass(frozen=True)
class Blinding:
    """The random orders of a question for one participant.

    ``label_order``: the measures behind Method1, Method2, …; ``column_order``: the
    label numbers from left to right; ``list_order``: the list letters from top to
    bottom. Raises ValueError for an order that is no permutation.
    """

    label_order: tuple[str, ...]
    column_order: tuple[int, ...]
    list_order: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.label_order)) != len(self.label_order):
            raise ValueError(f"a measure has two labels: {self.label_order}")
        if sorted(self.column_order) != list(range(1, len(self.label_order) + 1)):
            raise ValueError(f"columns {self.column_order} are no order of the labels")
        if len(set(self.list_order)) != len(self.list_order):
            raise ValueError(f"a list has two rows: {self.list_order}")


def draw_blinding(
    measures: Sequence[str],
    letters: Sequence[str],
    chance: Random,
    *,
    shuffle_columns: bool = False,
    shuffle_lists: bool = False,
) -> Blinding:
    """Draw labels (and columns and rows, if asked for), each order equally likely.

    Pass ``secrets.SystemRandom()`` for participants. They can read the source, so they could
    recompute orders from a seed that they know.
    """
    labels = range(1, len(measures) + 1)
    return Blinding(
        label_order=tuple(chance.sample(list(measures), len(measures))),
        column_order=tuple(chance.sample(labels, len(labels)) if shuffle_columns else labels),
        list_order=tuple(chance.sample(list(letters), len(letters)) if shuffle_lists else letters),
    )


@dataclass(frozen=True)
class BlindedColumn:
    """A column as a participant sees it: label, printed values by letter, order."""

    label: int
    shown: Mapping[str, str]
    ranking: Ranking

    def __hash__(self) -> int:
        return hash((self.label, self.ranking))


@dataclass(frozen=True)
class BlindedQuestion:
    """All that a participant may see of a question; it holds no measure's name.

    ``rows``: (letter, positions) from top to bottom, each position with the text of its
    marks, which may be empty; ``columns``: from left to right;
    ``agreeing``: groups of labels whose columns give the same order. Where items are shown,
    ``results`` holds the first results of each row, and ``topic`` what was searched for.
    ``ideal``: the best possible list, and ``cluster_names``: see ``Question``. ``unreturned``: how
    many of each row's last positions are of documents that were not returned.
    """

    rows: tuple[tuple[str, tuple[tuple[int, str], ...]], ...]
    columns: tuple[BlindedColumn, ...]
    agreeing: tuple[tuple[int, ...], ...]
    results: "tuple[tuple[Result, ...], ...]" = ()
    topic: "ShownItem | None" = None
    ideal: tuple[tuple[int, str], ...] = ()
    cluster_names: tuple[str, ...] = ()
    unreturned: tuple[int, ...] = ()

    @property
    def opens_larger(self) -> bool:
        """Whether a result has a picture that can be enlarged, or a text that may be cut.

        In practice there are squares, which have neither.
        """
        items = [result.item for row in self.results for result in row]
        return any(item and (item.picture or item.name) for item in items)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters from top to bottom."""
        return tuple(letter for letter, _ in self.rows)

    @property
    def labels(self) -> tuple[int, ...]:
        """The label numbers in ascending order."""
        return tuple(sorted(column.label for column in self.columns))

    def reversed_by(self, ranking: Ranking) -> list[tuple[str, str]]:
        """Return the pairs (better, worse) of which a ranking puts the worse list first."""
        ranks = {letter: sorted(rank for rank, _ in items) for letter, items in self.rows}
        return reversed_pairs(ranks, ranking)

    def column(self, label: int) -> BlindedColumn:
        """Return the column of Method<label>."""
        return next(column for column in self.columns if column.label == label)


def reversed_pairs(lists: Mapping[str, Sequence[int]], ranking: Ranking) -> list[tuple[str, str]]:
    """Return the pairs (better, worse) of which a ranking puts the worse list first.

    One list is better than another if its positions are not later, one by one, and some are
    earlier.
    """
    return [
        (better, worse)
        for better, worse in permutations(sorted(lists), 2)
        if ranking.places[worse] < ranking.places[better]
        and len(lists[better]) == len(lists[worse])
        and lists[better] != lists[worse]
        and all(a <= b for a, b in zip(lists[better], lists[worse], strict=True))
    ]


def blind(
    question: Question, blinding: Blinding, shown: Sequence[Sequence[str]]
) -> BlindedQuestion:
    """Return a question with labels in the place of measures.

    ``shown``: for each label the values as printed.
    """
    rankings = {
        label: question.columns[measure].ranking
        for label, measure in enumerate(blinding.label_order, 1)
    }
    return BlindedQuestion(
        rows=tuple((letter, question.positions[letter]) for letter in blinding.list_order),
        columns=tuple(
            BlindedColumn(
                label=label,
                shown=dict(zip(rankings[label].letters, shown[label - 1], strict=True)),
                ranking=rankings[label],
            )
            for label in blinding.column_order
        ),
        agreeing=tuple(tuple(group) for group in identical_groups(rankings)),
        ideal=question.ideal,
        cluster_names=question.cluster_names,
        unreturned=tuple(question.unreturned.get(each, 0) for each in blinding.list_order),
    )
