"""Everything of the paper that can be done again, by its name."""

from collections.abc import Callable, Mapping

from survey.services.paper.correlations import correlations
from survey.services.paper.descriptors import table5, table6, table7
from survey.services.paper.reproduction import Reproduction
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
    "correlations": correlations,
}
