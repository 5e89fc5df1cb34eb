"""Table 3: who took part, and how long it took them."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Coded


@dataclass(frozen=True)
class People:
    """Participants in columns, an entry each, by ``ids``.

    ``minutes``: from "begin" to "finish", NaN of those who have not finished; ``personal``:
    what they said about themselves, by field.
    """

    ids: NDArray[np.str_]
    is_test: NDArray[np.bool_]
    excluded: NDArray[np.bool_]
    complete: NDArray[np.bool_]
    minutes: NDArray[np.float64]
    personal: Coded[Any]

    def __len__(self) -> int:
        return len(self.ids)

    def within(self, places: NDArray[np.int64]) -> "People":
        """Return some of them, by their places."""
        return People(
            ids=self.ids[places],
            is_test=self.is_test[places],
            excluded=self.excluded[places],
            complete=self.complete[places],
            minutes=self.minutes[places],
            personal=self.personal.within(places),
        )

    def places_of(self, ids: NDArray[np.str_]) -> NDArray[np.int64]:
        """Return where these stand, −1 for those who are not among them."""
        if np.array_equal(ids, self.ids):
            return np.arange(len(ids))
        places = {one: place for place, one in enumerate(self.ids.tolist())}
        return np.array([places.get(one, -1) for one in ids.tolist()], dtype=np.int64)

    def said(self, field: str) -> list[Any]:
        """Return the answers to a field of those who gave one."""
        answers = [said.get(field) for said in self.personal.values]
        given = [field in said for said in self.personal.values]
        return [answers[code] for code in self.personal.codes.tolist() if given[code]]


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n − 1) of so many values; None where undefined."""

    n: int
    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class Table3:
    """The paper's Table 3: participants, their personal fields, and minutes taken.

    ``numbers``: number fields (age) → spread; ``counts``: choice fields (education)
    → option → participants. ``minutes``: server time from "begin" to "finish", of
    those who finished.
    """

    participants: int
    completed: int
    questions_per_participant: int
    numbers: Mapping[str, Spread]
    counts: Mapping[str, Mapping[str, int]]
    minutes: Spread


def spread(values: Sequence[float]) -> Spread:
    """Summarise values; a mean needs one of them, a standard deviation two."""
    finite = [value for value in values if math.isfinite(value)]
    return Spread(
        n=len(finite),
        mean=statistics.fmean(finite) if finite else None,
        sd=statistics.stdev(finite) if len(finite) > 1 else None,
    )


def option_counts(answers: Sequence[str], options: Sequence[str]) -> dict[str, int]:
    """Count answers to a choice field, options in the study's order, none left out."""
    counted = Counter(answers)
    return {option: counted[option] for option in options}
