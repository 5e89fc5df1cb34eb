"""What a ranked list is worth: AP, NMRR, MNRO, and the registry that names them.

Adding a measure: one module with its function, one entry in ``registry``, one
test case. See README, "Add a measure".
"""

from survey.core.measures.average_precision import average_precision
from survey.core.measures.mnro import mnro
from survey.core.measures.naming import measure_in
from survey.core.measures.nmrr import nmrr
from survey.core.measures.ranks import Ranks, Values, as_ranks
from survey.core.measures.registry import (
    MEASURES,
    Measure,
    Setting,
    mean_score,
    measure_named,
    score,
)

__all__ = [
    "MEASURES",
    "Measure",
    "Ranks",
    "Setting",
    "Values",
    "as_ranks",
    "average_precision",
    "mean_score",
    "measure_in",
    "measure_named",
    "mnro",
    "nmrr",
    "score",
]
