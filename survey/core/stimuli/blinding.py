"""Blinding: which measure stands behind Method1, and in which order things stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random


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
