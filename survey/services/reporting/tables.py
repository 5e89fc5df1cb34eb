"""The tables of an analysis."""

from dataclasses import replace

from survey.services.analysis import Analysis, StudyAnalysis
from survey.services.reporting.concordance_tables import bias_sheet, concordance_sheet, raters_sheet
from survey.services.reporting.counts_tables import (
    first_sheet,
    shares_sheet,
    table3_sheet,
    table4_sheet,
)
from survey.services.reporting.inference_tables import (
    differences_sheet,
    other_tests_sheet,
    permutation_sheet,
    sensitivity_sheet,
)
from survey.services.reporting.sheets import Sheet


def tables_of(analysis: Analysis) -> list[Sheet]:
    """Return every table, in the order of a report; Table 3 only where people are known.

    Each says so where it counts simulated participants.
    """
    mark = simulated_told(analysis)
    return [replace(one, note=f"{one.note} {mark}".strip()) for one in _tables(analysis)]


def simulated_told(analysis: Analysis) -> str:
    """Say how many of those who are counted are simulated; nothing where none is."""
    if not analysis.simulated:
        return ""
    return f"{analysis.simulated} of {analysis.participants} participants are simulated."


def _tables(analysis: Analysis) -> list[Sheet]:
    votes = analysis.agreement
    return [
        *([table3_sheet(analysis.table3)] if isinstance(analysis, StudyAnalysis) else []),
        table4_sheet(votes.table4),
        shares_sheet(analysis),
        first_sheet(analysis),
        differences_sheet(votes.differences),
        permutation_sheet(votes.differences),
        other_tests_sheet(analysis),
        concordance_sheet(analysis),
        raters_sheet(analysis),
        bias_sheet(analysis),
        sensitivity_sheet(analysis),
    ]
