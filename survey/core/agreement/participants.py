"""Table 3: who took part, and how long it took them."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
