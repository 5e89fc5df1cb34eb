"""What the table of a question shows as filled in, whether it was stored or comes from a form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from survey.core.stimuli.rankings import Ranking

OWN = "own"


@dataclass(frozen=True)
class FilledIn:
    """Ticks and places; a table with the same of both looks the same.

    ``ticked``: labels "1", "2", …, or "own"; ``chosen``: each letter with its place, None for
    none as yet; ``unplaced``: the letters that are marked because they still need one.
    """

    ticked: tuple[str, ...]
    chosen: tuple[tuple[str, int | None], ...]
    unplaced: tuple[str, ...] = ()

    @classmethod
    def answer(cls, stored: Any, letters: Iterable[str]) -> "FilledIn":
        """Show an answer as it is stored; None where there is none yet."""
        if stored is None or stored.own is not None:
            return cls.ranking(stored and stored.own, letters, (OWN,) if stored else ())
        return cls.ranking(None, letters, tuple(str(label) for label in sorted(stored.clicked)))

    @classmethod
    def ranking(
        cls, own: Ranking | None, letters: Iterable[str], ticked: tuple[str, ...] = ()
    ) -> "FilledIn":
        """Show places of one's own, or none."""
        places: Mapping[str, int] = own.places if own else {}
        return cls(ticked, tuple((letter, places.get(letter)) for letter in sorted(letters)))

    @property
    def places(self) -> dict[str, int | None]:
        """The places by letter."""
        return dict(self.chosen)

    @property
    def ordering(self) -> Ranking | None:
        """The own ranking as far as it can be written out: once every list has a place."""
        complete = None not in self.places.values()
        return Ranking.by_key(self.places) if complete else None  # type: ignore[arg-type] # no None
