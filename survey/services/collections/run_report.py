"""An evaluation as files for a paper, and as trec_eval prints it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from survey.core.collections.curves import curves_of
from survey.core.collections.trec_eval import measures_named, topic_result, topics_of, value_lines
from survey.figures.curves import graph_exhibits, run_means
from survey.figures.exhibit import Exhibit
from survey.services.analysis.paper_files import (
    PAPER,
    PaperLook,
    figure_files,
    paper_file_count,
    sheet_files,
)
from survey.services.analysis.sheets import Sheet, count_of
from survey.services.collections.run_evaluation import (
    OnProgress,
    Report,
    Request,
    RequestError,
    all_runs_sheet,
    comparisons_sheet,
    evaluate_runs,
    evaluation_json,
    means_sheet,
    queries_sheet,
)

SLUG = "evaluation"  # in labels, where a study's address is


def graphs(report: Report) -> tuple[Exhibit, ...]:
    """Return the graphs of a report's runs; one that cannot be drawn gives the reason, ``why``."""
    size = report.request.collection_size
    curves = curves_of(report.truth, report.runs, report.evaluation.queries, size)
    return (*run_means(report.evaluation), *graph_exhibits(curves))


def tables(report: Report) -> list[Sheet]:
    """Return the tables of a report: means, comparisons where there are some, all values."""
    compared = [comparisons_sheet(report)] if report.comparisons else []
    compared += [all_runs_sheet(report)] if report.request.all_runs else []
    return [means_sheet(report), *compared, queries_sheet(report)]


def run_report_files(
    report: Report, drawn: tuple[Exhibit, ...], look: PaperLook = PAPER
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a report and of its graphs, each with its path in the folder."""
    content = json.dumps(evaluation_json(report), ensure_ascii=False, indent=2)
    yield "evaluation.json", f"{content}\n".encode()
    possible = [graph for graph in drawn if not graph.why]
    queries = count_of(len(report.evaluation.queries), "query", "queries")
    numbers = f"{count_of(len(report.runs), 'run')}, {queries}"
    yield from sheet_files((*tables(report), *possible), SLUG, look)
    yield from figure_files(possible, numbers, SLUG, look)


def run_report_file_count(report: Report, drawn: tuple[Exhibit, ...]) -> int:
    """Return how many files ``run_report_files`` gives, for a progress bar."""
    possible = sum(not graph.why for graph in drawn)
    return 1 + paper_file_count(len(tables(report)) + possible, drawn)


def evaluate_as_trec_eval(request: Request, on_progress: OnProgress = lambda *_: None) -> Report:
    """Score the run of a request, whose measures are trec_eval's; the report has ours.

    Raises what ``evaluate_runs`` does, and RequestError for several runs.
    """
    if len(request.runs) > 1:
        raise RequestError("trec_eval scores a single run; give one --run")
    try:
        measures = [name for measure in measures_named(request.measures) for name in measure.reads]
    except ValueError as error:
        raise RequestError(str(error)) from error
    needed = tuple(dict.fromkeys(measures)) or ("AP",)
    return evaluate_runs(replace(request, measures=needed), on_progress)


def trec_eval_lines(report: Report, names: Sequence[str], *, per_topic: bool) -> Iterator[str]:
    """Yield what trec_eval prints of the only run of a report.

    ``names``: of trec_eval's measures, the official ones without any; ``per_topic``: also the
    values of each topic (-q).
    """
    (name, run), *_ = report.runs.items()
    request, values = report.request, report.evaluation.values[name]
    by_topic = {
        topic: {measure: float(column[place]) for measure, column in values.items()}
        for place, topic in enumerate(report.evaluation.queries)
    }
    level, complete = request.relevant_from, request.complete
    results = {
        topic: topic_result(
            *(report.truth, run, topic, level, by_topic.get(topic, {})), complete=complete
        )
        for topic in topics_of(report.truth, run, complete=complete)
    }
    tag = report.tags.get(name) or name
    return value_lines(measures_named(names), results, tag, per_topic=per_topic)
