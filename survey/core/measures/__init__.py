"""Measures of ranked lists, and the registry that holds them by name.

Adding a measure takes one function, one entry in ``catalogue`` and one test case, or a
package of your own with an entry point. See docs/add-a-measure.md.
"""

from survey.core.measures.lists import Lists, Ranks, RankSum, Values, as_lists, as_ranks
from survey.core.measures.measure import Measure, Setting, Summed
from survey.core.measures.nmrr_mnro import mnro, nmrr
from survey.core.measures.precision import average_precision
from survey.core.measures.registry import (
    MEASURES,
    measure_named,
    mentioned_measure,
    name_faults,
)
from survey.core.measures.scoring import mean_score, score

__all__ = [
    "MEASURES",
    "Lists",
    "Measure",
    "RankSum",
    "Ranks",
    "Setting",
    "Summed",
    "Values",
    "as_lists",
    "as_ranks",
    "average_precision",
    "mean_score",
    "measure_named",
    "mentioned_measure",
    "mnro",
    "name_faults",
    "nmrr",
    "score",
]
