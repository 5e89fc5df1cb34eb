"""What the paper printed, as files, and a recomputed value beside it."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

MEASURES = ("AP", "NMRR", "MNRO")


@cache
def printed(table: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a printed table, as strings."""
    source = files("survey.services") / "published" / f"{table}.csv"
    return tuple(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))


@dataclass(frozen=True)
class Comparison:
    """A recomputed value beside the printed one. ``agrees``: to every printed digit."""

    row: str
    name: str
    computed: str
    printed: str

    @property
    def agrees(self) -> bool:
        """Whether both are the same text."""
        return self.computed == self.printed

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**vars(self), "agrees": self.agrees}
