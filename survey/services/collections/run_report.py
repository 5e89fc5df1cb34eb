"""The tables and graphs of an evaluation as files for a paper."""

import json
from collections.abc import Iterator

from survey import figures
from survey.core.collections.curves import curves_of
from survey.figures.curves import graph_exhibits
from survey.figures.exhibit import Exhibit
from survey.services.analysis.results import figure_files, sheet_files
from survey.services.analysis.sheets import SHEET_FORMATS, Sheet
from survey.services.collections.run_evaluation import (
    Report,
    all_runs_sheet,
    comparisons_sheet,
    evaluation_json,
    means_sheet,
    queries_sheet,
)


def graphs(report: Report) -> tuple[Exhibit, ...]:
    """Return the graphs of a report's runs; one that cannot be drawn gives the reason, ``why``."""
    size = report.request.collection_size
    return graph_exhibits(curves_of(report.truth, report.runs, report.evaluation.queries, size))


def tables(report: Report) -> list[Sheet]:
    """Return the tables of a report: means, comparisons where there are some, all values."""
    compared = [comparisons_sheet(report)] if report.comparisons else []
    compared += [all_runs_sheet(report)] if report.request.all_runs else []
    return [means_sheet(report), *compared, queries_sheet(report)]


def run_report_files(report: Report, drawn: tuple[Exhibit, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a report and of its graphs, each with its path in the folder."""
    content = json.dumps(evaluation_json(report), ensure_ascii=False, indent=2)
    yield "evaluation.json", f"{content}\n".encode()
    possible = [graph for graph in drawn if not graph.why]
    yield from sheet_files((*tables(report), *possible))
    yield from figure_files(possible)


def run_report_file_count(report: Report, drawn: tuple[Exhibit, ...]) -> int:
    """Return how many files ``run_report_files`` gives, for a progress bar."""
    possible = sum(not graph.why for graph in drawn)
    sheets = len(tables(report)) + possible
    return 1 + len(SHEET_FORMATS) * sheets + len(figures.FIGURE_FORMATS) * possible
