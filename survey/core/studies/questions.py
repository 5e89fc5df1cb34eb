"""A question of ranked lists: the measures' values and orders, and its blinded presentation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from survey.core.measures import Setting, measure_named
from survey.core.studies.marks import NO_MARKS, Marks
from survey.core.studies.rankings import Ranking, identical_groups, letters_for, printed


@dataclass(frozen=True)
class Column:
    """A measure's column of a question: its values as computed and as printed, and the order.

    ``values``: the measure's own values; ``shown``: the text a page prints (1-AP
    for AP, so that lower is better); both in the order of the lists' letters.
    """

    values: tuple[float, ...]
    shown: tuple[str, ...]
    ranking: Ranking


@dataclass(frozen=True)
class Question:
    """A set of ranked lists A, B, C, … with the columns of the study's measures.

    ``number``: 1, 2, …, or 0 for the practice question. ``lists``: for each
    letter the sorted positions of its relevant items. ``marks``: what is known of these,
    lists in the order of their letters.
    """

    number: int
    lists: Mapping[str, tuple[int, ...]]
    columns: Mapping[str, Column]
    marks: Marks = NO_MARKS

    @cached_property
    def positions(self) -> Mapping[str, tuple[tuple[int, str], ...]]:
        """Each list's positions, each with the text of its marks, which may be empty."""
        return {
            letter: tuple(zip(ranks, self.marks.texts(index, len(ranks)), strict=True))
            for index, (letter, ranks) in enumerate(sorted(self.lists.items()))
        }

    def written(self, letter: str) -> str:
        """Return a list's positions with their marks: 3 (2) 8 (1)."""
        return " ".join(
            f"{rank} ({text})" if text else str(rank) for rank, text in self.positions[letter]
        )

    @property
    def rankings(self) -> dict[str, Ranking]:
        """Each measure's order of the lists."""
        return {name: column.ranking for name, column in self.columns.items()}

    def as_json(self) -> dict[str, Any]:
        """Return all of it but its number as plain values, to be stored."""
        columns = {
            name: {
                "values": list(column.values),
                "shown": list(column.shown),
                "places": column.ranking.places,
            }
            for name, column in self.columns.items()
        }
        return {"lists": self._lists(), "columns": columns, "marks": self.marks.as_json() or None}

    @classmethod
    def from_json(cls, number: int, content: Mapping[str, Any]) -> "Question":
        """Make a question of what ``as_json`` wrote."""
        return cls(
            number=number,
            lists={letter: tuple(ranks) for letter, ranks in sorted(content["lists"].items())},
            columns={
                name: Column(
                    values=tuple(column["values"]),
                    shown=tuple(column["shown"]),
                    ranking=Ranking.by_key(column["places"]),
                )
                for name, column in content["columns"].items()
            },
            marks=Marks.from_json(content["marks"] or {}),
        )

    def as_shown(self) -> dict[str, Any]:
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
) -> Question:
    """Score lists with the measures, order them exactly and print the values.

    Raises ValueError where ``as_lists`` does, or for a measure that is not registered.
    """
    checked = marks.lists(lists, setting.collection_size)
    letters = letters_for(len(checked.ranks))
    columns = {}
    for measure in map(measure_named, measures):
        shown = measure.shown(checked, setting)
        columns[measure.name] = Column(
            values=tuple(measure.compute(checked, setting).tolist()),
            shown=printed(shown),
            ranking=Ranking.by_key(dict(zip(letters, shown, strict=True))),
        )
    rows = {letter: tuple(row) for letter, row in zip(letters, checked.ranks.tolist(), strict=True)}
    return Question(number, rows, columns, marks)


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

    def measure_behind(self, label: int) -> str:
        """Return the measure behind Method<label> in this presentation."""
        return self.label_order[label - 1]


def draw_blinding(
    measures: Sequence[str], letters: Sequence[str], chance: Random, *, shuffle_lists: bool = False
) -> Blinding:
    """Draw labels and columns (and rows, if asked for), each order equally likely.

    Pass ``secrets.SystemRandom()`` for participants. They can read the source, so they could
    recompute orders from a seed that they know.
    """
    return Blinding(
        label_order=tuple(chance.sample(list(measures), len(measures))),
        column_order=tuple(chance.sample(range(1, len(measures) + 1), len(measures))),
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
    ``agreeing``: groups of labels whose columns give the same order.
    """

    rows: tuple[tuple[str, tuple[tuple[int, str], ...]], ...]
    columns: tuple[BlindedColumn, ...]
    agreeing: tuple[tuple[int, ...], ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters from top to bottom."""
        return tuple(letter for letter, _ in self.rows)

    @property
    def labels(self) -> tuple[int, ...]:
        """The label numbers in ascending order."""
        return tuple(sorted(column.label for column in self.columns))

    def column(self, label: int) -> BlindedColumn:
        """Return the column of Method<label>."""
        return next(column for column in self.columns if column.label == label)


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
    )
