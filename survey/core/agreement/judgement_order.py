"""Whether runs keep their order by one annotator's judgements (Voorhees 2000, IP&M 36)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from survey.core.statistics.rater_agreement import tau_b


@dataclass(frozen=True)
class OrderChange:
    """Runs by one annotator's judgements beside those by the judgements of all.

    ``tau_b``: None where either puts all runs in one place; ``swaps``: pairs of runs, the better by
    all first, that the annotator puts the other way round.
    """

    annotator: str
    tau_b: float | None
    swaps: tuple[tuple[str, str], ...]


def order_changes(
    by_all: Mapping[str, float], by_annotator: Mapping[str, Mapping[str, float]]
) -> tuple[OrderChange, ...]:
    """Compare orders of runs: run → its value by the merged judgements, and by each annotator's.

    Raises KeyError where an annotator lacks a run.
    """
    runs = sorted(by_all, key=lambda run: (-by_all[run], run))
    changes = []
    for annotator, values in by_annotator.items():
        tau = float(tau_b([by_all[run] for run in runs], [values[run] for run in runs]))
        swaps = [
            (better, worse)
            for better, worse in combinations(runs, 2)
            if by_all[better] > by_all[worse] and values[better] < values[worse]
        ]
        changes.append(OrderChange(annotator, None if np.isnan(tau) else tau, tuple(swaps)))
    return tuple(changes)
