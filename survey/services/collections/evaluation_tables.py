"""The scores of runs as tables and as JSON."""

from collections.abc import Iterable, Iterator
from typing import Any

from survey.core.collections.evaluation import LEVELS, Comparison
from survey.services.analysis.sheets import Cell, P, Sheet, Starred
from survey.services.collections.run_evaluation import Feedback, Report

DECIMALS = 4


def evaluation_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON; ``why`` gives the reason of a p that is undefined."""
    evaluation, request = report.evaluation, report.request
    return {
        "queries": list(evaluation.queries),
        "runs": {
            run: {
                "mean": {name: evaluation.mean(run, name) for name in values},
                "per_query": {
                    query: {name: float(column[index]) for name, column in values.items()}
                    for index, query in enumerate(evaluation.queries)
                },
            }
            for run, values in evaluation.values.items()
        },
        "baseline": report.baseline,
        "significance": [_comparison_json(comparison) for comparison in report.comparisons],
        "mean_names": {measure.name: measure.mean_name for measure in evaluation.measures},
        "better": {measure.name: measure.better for measure in evaluation.measures},
        "settings": {
            "collection_size": request.collection_size,
            "gmt": evaluation.setting.gmt,
            "literal_eq15": request.literal_eq15,
            "resamples": request.resamples,
            "seed": request.seed,
        },
        "notes": list(evaluation.notes),
    }


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    figures = {
        "run": comparison.run,
        "measure": comparison.measure,
        "difference": comparison.difference,
        "percent": comparison.percent,
        "p": comparison.p,
        "p_holm": comparison.p_holm,
        "stars": comparison.stars,
    }
    return figures if comparison.why is None else {**figures, "why": comparison.why}


def means_sheet(report: Report) -> Sheet:
    """Return the means under their own names (MAP, ANMRR), a row for each run."""
    evaluation = report.evaluation
    stars = {
        (comparison.run, comparison.measure): comparison.stars for comparison in report.comparisons
    }
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            run,
            *(
                Starred(evaluation.mean(run, measure.name), stars.get((run, measure.name), ""))
                for measure in evaluation.measures
            ),
        )
        for run in evaluation.values
    )
    lower = [measure.mean_name for measure in evaluation.measures if measure.better == "lower"]
    better = f"Lower is better in {', '.join(lower)}; elsewhere higher." if lower else ""
    return Sheet(
        name="means",
        title=f"Means over {_queries(report)}",
        columns=("run", *(measure.mean_name for measure in evaluation.measures)),
        rows=rows,
        note=" ".join(
            [better, *([_stars(report)] if report.baseline else []), *evaluation.notes]
        ).strip(),
        decimals=DECIMALS,
    )


def comparisons_sheet(report: Report, difference: str = "difference") -> Sheet:
    """Return each run's differences from the baseline, also in per cent with stars, and their p."""
    means = {measure.name: measure.mean_name for measure in report.evaluation.measures}
    return Sheet(
        name="comparisons",
        title=f"Differences from {report.baseline} over {_queries(report)}",
        columns=("run", "mean", difference, "in %", "p", "p (Holm)"),
        rows=tuple(
            (
                comparison.run,
                means[comparison.measure],
                comparison.difference,
                _percent(comparison),
                None if comparison.p is None else P(comparison.p),
                None if comparison.p_holm is None else P(comparison.p_holm),
            )
            for comparison in report.comparisons
        ),
        note=" ".join([_stars(report), *_undefined(report.comparisons)]),
        decimals=DECIMALS,
    )


def queries_sheet(report: Report) -> Sheet:
    """Return all values, a row for each run and query and a column for each measure."""
    evaluation = report.evaluation
    return Sheet(
        name="queries",
        title="Values for each query",
        columns=("run", "query", *(measure.name for measure in evaluation.measures)),
        rows=tuple(
            (run, query, *(float(values[measure.name][index]) for measure in evaluation.measures))
            for run, values in evaluation.values.items()
            for index, query in enumerate(evaluation.queries)
        ),
        decimals=DECIMALS,
    )


def long_sheet(report: Report) -> Sheet:
    """Return means and comparisons for programs, a row for each run and measure."""
    evaluation = report.evaluation
    compared = {
        (comparison.run, comparison.measure): comparison for comparison in report.comparisons
    }
    compared_in = ("difference", "percent", "p", "p_holm", "stars", "why")
    rows: list[tuple[Cell, ...]] = []
    for run in evaluation.values:
        for measure in evaluation.measures:
            comparison = compared.get((run, measure.name))
            cells: tuple[Cell, ...] = tuple(
                getattr(comparison, field) if comparison else None for field in compared_in
            )
            mean = evaluation.mean(run, measure.name)
            rows.append((run, measure.name, mean, len(evaluation.queries), *cells))
    return Sheet(
        name="runs",
        title="",
        columns=("run", "measure", "mean", "queries", *compared_in),
        rows=tuple(rows),
    )


def long_queries_sheet(report: Report) -> Sheet:
    """Return all values for programs, a row for each run, query and measure."""
    evaluation = report.evaluation
    return Sheet(
        name="queries",
        title="",
        columns=("run", "query", "measure", "value"),
        rows=tuple(
            (run, query, measure, float(value))
            for run, values in evaluation.values.items()
            for index, query in enumerate(evaluation.queries)
            for measure, value in ((name, column[index]) for name, column in values.items())
        ),
    )


def examples_sheet(feedback: Feedback) -> Sheet:
    """Return the examples of feedback, a row for each query and round."""
    return Sheet(
        name="examples",
        title="Examples given before each round",
        columns=("query", "round", "examples"),
        rows=tuple(
            (query, number, " ".join(examples) or None)
            for query, rounds in feedback.examples.items()
            for number, examples in enumerate(rounds, 1)
        ),
    )


def _queries(report: Report) -> str:
    count = len(report.evaluation.queries)
    return "1 query" if count == 1 else f"{count} queries"


def _stars(report: Report) -> str:
    request = report.request
    levels = ", ".join(
        f"{f'{level:g}'.removeprefix('0')} ({'*' * stars})" for stars, level in enumerate(LEVELS, 1)
    )
    return (
        f"Stars: better than {report.baseline} at {levels}, by a one-tailed paired bootstrap of "
        f"{request.resamples} resamples (seed {request.seed}), before Holm's correction."
    )


def _undefined(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Yield sentences on comparisons without a p value, with the reason."""
    reasons: dict[str, list[str]] = {}
    for comparison in comparisons:
        if comparison.why is not None:
            undefined = f"{comparison.measure} of {comparison.run}"
            reasons.setdefault(comparison.why, []).append(undefined)
    for reason, names in reasons.items():
        yield f"No p for {', '.join(names)}: {reason}."


def _percent(comparison: Comparison) -> Cell:
    if comparison.percent is None:
        return None
    return Starred(comparison.percent, comparison.stars, 2)
