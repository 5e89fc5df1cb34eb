"""Blinding: which measure stands behind Method1, and in which order things stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from survey.core.studies.questions import Question
from survey.core.studies.rankings import Ranking, identical_groups


@dataclass(frozen=True)
class Blinding:
    """One presentation of a question to one participant.

    ``label_order``: the measures behind Method1, Method2, …; ``column_order``: the
    label numbers from left to right; ``list_order``: the list letters from top to
    bottom. Each is a permutation; a ValueError says which is not.
    """

    label_order: tuple[str, ...]
    column_order: tuple[int, ...]
    list_order: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.label_order)) != len(self.label_order):
            raise ValueError(f"a measure stands behind two labels: {self.label_order}")
        if sorted(self.column_order) != list(range(1, len(self.label_order) + 1)):
            raise ValueError(f"columns {self.column_order} are no order of the labels")
        if len(set(self.list_order)) != len(self.list_order):
            raise ValueError(f"a list stands in two rows: {self.list_order}")

    def measure_behind(self, label: int) -> str:
        """Return the measure behind Method<label> in this presentation."""
        return self.label_order[label - 1]


def draw_blinding(
    measures: Sequence[str], letters: Sequence[str], chance: Random, *, shuffle_lists: bool = False
) -> Blinding:
    """Draw labels and columns (and rows, if asked for), each order equally likely.

    ``chance`` must be one that no participant can recompute: the source is open,
    so a seed derived from what a participant knows would undo the blinding. The
    survey passes ``secrets.SystemRandom()``.
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
    """Apply a presentation to a question; ``shown``: per label the values as printed.

    From here on labels stand for the measures.
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
