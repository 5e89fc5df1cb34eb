"""Everything of the paper that can be done again, by its name."""

from collections.abc import Callable, Mapping

from survey.services.paper.correlations import correlations
from survey.services.paper.descriptors import table5, table6, table7
from survey.services.paper.figures.figure1 import figure1
from survey.services.paper.figures.figure2 import figure2
from survey.services.paper.figures.figure3 import figure3
from survey.services.paper.figures.figure4 import figure4
from survey.services.paper.figures.figure5 import figure5
from survey.services.paper.figures.figure6 import figure6
from survey.services.paper.figures.figure7 import figure7
from survey.services.paper.figures.figure8 import figure8
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.slips.listing import slips
from survey.services.paper.table1 import table1
from survey.services.paper.table2 import table2
from survey.services.paper.table3 import table3
from survey.services.paper.table4.reading import table4
from survey.services.paper.table8 import table8

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
