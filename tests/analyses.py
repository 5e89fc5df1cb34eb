"""The analysis of an ordering study in a database, and its report."""

from survey.kinds.ordering.results import OrderingResults
from survey.services.analysis.report import as_html
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle import analyse_stored


def analyse_study(session, study, options=None):
    return analyse_stored(session, study, options or AnalysisOptions()).analysis


def report_of(analysis):
    return as_html(OrderingResults.of(analysis))
