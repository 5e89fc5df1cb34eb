"""A question: lettered ranked lists, and what each measure makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from survey.core.measures import Setting, measure_named
from survey.core.studies.marks import NO_MARKS, Marks
from survey.core.studies.rankings import Ranking, letters_for, printed


@dataclass(frozen=True)
class Column:
    """One measure's column of a question, as computed, as printed, and as an order.

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
        """Write a list's positions with their marks: 3 (2) 8 (1)."""
        return " ".join(
            f"{rank} ({text})" if text else str(rank) for rank, text in self.positions[letter]
        )

    @property
    def rankings(self) -> dict[str, Ranking]:
        """Each measure's order of the lists."""
        return {name: column.ranking for name, column in self.columns.items()}


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
