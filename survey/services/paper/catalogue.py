"""The names of ``survey paper``: every table, figure and passage that is recomputed."""

from collections.abc import Callable, Mapping

from survey.services.paper.figures1_to_8 import (
    figure1,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    figure7,
    figure8,
)
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.slips import slips
from survey.services.paper.table4 import table4
from survey.services.paper.tables1_to_3 import table1, table2, table3
from survey.services.paper.tables5_to_8 import correlations, table5, table6, table7, table8

REPRODUCTIONS: Mapping[str, Callable[[], Reproduction]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "table5": table5,
    "table6": table6,
    "table7": table7,
    "table8": table8,
    "figure1": figure1,
    "figure2": figure2,
    "figure3": figure3,
    "figure4": figure4,
    "figure5": figure5,
    "figure6": figure6,
    "figure7": figure7,
    "figure8": figure8,
    "correlations": correlations,
    "slips": slips,
}
