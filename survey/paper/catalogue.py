"""The names of ``survey paper``: every table, figure and passage that is recomputed."""

from collections.abc import Callable, Mapping

from survey.paper import (
    figures1_to_8,
    generality,
    slips,
    table4,
    tables1_to_3,
    tables5_to_8,
)
from survey.paper.reproduction import Reproduction

REPRODUCTIONS: Mapping[str, Callable[[], Reproduction]] = {
    "table1": tables1_to_3.table1,
    "table2": tables1_to_3.table2,
    "table3": tables1_to_3.table3,
    "table4": table4.table4,
    "table5": tables5_to_8.table5,
    "table6": tables5_to_8.table6,
    "table7": tables5_to_8.table7,
    "table8": tables5_to_8.table8,
    "figure1": figures1_to_8.figure1,
    "figure2": figures1_to_8.figure2,
    "figure3": figures1_to_8.figure3,
    "figure4": figures1_to_8.figure4,
    "figure5": figures1_to_8.figure5,
    "figure6": figures1_to_8.figure6,
    "figure7": figures1_to_8.figure7,
    "figure8": figures1_to_8.figure8,
    "correlations": tables5_to_8.correlations,
    "slips": slips.slips,
    "generality": generality.generality,
}
