"""Runs scored and printed as trec_eval does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from survey.core.collections.trec_eval import measures_named, topic_result, topics_of, value_lines
from survey.services.collections.run_evaluation import (
    OnProgress,
    Report,
    Request,
    RequestError,
    evaluate_runs,
)


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
