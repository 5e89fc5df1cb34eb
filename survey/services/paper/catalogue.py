"""Everything of the paper that can be done again, by its name."""

from collections.abc import Callable, Mapping

from survey.services.paper.reproduction import Reproduction
from survey.services.paper.table1 import table1
from survey.services.paper.table3 import table3
from survey.services.paper.table4.reading import table4

REPRODUCTIONS: Mapping[str, Callable[[], Reproduction]] = {
    "table1": table1,
    "table3": table3,
    "table4": table4,
}
