"""The scores of runs as JSON.

The scores of runs as tables, for readers and for programs.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from survey.core.collections.bootstrap import LEVELS, Comparison
from survey.services.analysis.sheets import Cell, P, Sheet, Starred
from survey.services.collections.feedback_rounds import Feedback
from survey.services.collections.run_evaluation import Report


def as_json(report: Report) -> dict[str, Any]:
    """Return everything as plain lists; a p that is undefined is null and says why."""
    found, asked = report.evaluation, report.asked
    return {
        "queries": list(found.queries),
        "runs": {
            run: {
                "mean": {name: found.mean(run, name) for name in values},
                "per_query": {
                    query: {name: float(column[place]) for name, column in values.items()}
                    for place, query in enumerate(found.queries)
                },
            }
            for run, values in found.values.items()
        },
        "baseline": report.baseline,
        "significance": [_as_json(one) for one in report.comparisons],
        "mean_names": {measure.name: measure.mean_name for measure in found.measures},
        "better": {measure.name: measure.better for measure in found.measures},
        "settings": {
            "collection_size": asked.collection_size,
            "gmt": found.setting.gmt,
            "literal_eq15": asked.literal_eq15,
            "resamples": asked.resamples,
            "seed": asked.seed,
        },
        "notes": list(found.notes),
    }


def _as_json(one: Comparison) -> dict[str, Any]:
    found = {
        "run": one.run,
        "measure": one.measure,
        "difference": one.difference,
        "percent": one.percent,
        "p": one.p,
        "p_holm": one.p_holm,
        "stars": one.stars,
    }
    return found if one.why is None else {**found, "why": one.why}


DECIMALS = 4


def means_sheet(report: Report) -> Sheet:
    """The mean of each measure by its own name (MAP, ANMRR), a row for each run."""
    found = report.evaluation
    stars = {(one.run, one.measure): one.stars for one in report.comparisons}
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            run,
            *(
                Starred(found.mean(run, measure.name), stars.get((run, measure.name), ""))
                for measure in found.measures
            ),
        )
        for run in found.values
    )
    lower = [measure.mean_name for measure in found.measures if measure.better == "lower"]
    better = f"Lower is better in {', '.join(lower)}; elsewhere higher." if lower else ""
    return Sheet(
        name="means",
        title=f"Means over {_queries(report)}",
        columns=("run", *(measure.mean_name for measure in found.measures)),
        rows=rows,
        note=" ".join(
            [better, *([_stars(report)] if report.baseline else []), *found.notes]
        ).strip(),
        decimals=DECIMALS,
    )


def comparisons_sheet(report: Report, difference: str = "difference") -> Sheet:
    """Each run beside the baseline: the difference, also in per cent with stars, and p."""
    means = {measure.name: measure.mean_name for measure in report.evaluation.measures}
    return Sheet(
        name="comparisons",
        title=f"Differences from {report.baseline} over {_queries(report)}",
        columns=("run", "mean", difference, "in %", "p", "p (Holm)"),
        rows=tuple(
            (
                one.run,
                means[one.measure],
                one.difference,
                None if one.percent is None else Starred(one.percent, one.stars, 2),
                None if one.p is None else P(one.p),
                None if one.p_holm is None else P(one.p_holm),
            )
            for one in report.comparisons
        ),
        note=" ".join([_stars(report), *_undefined(report.comparisons)]),
        decimals=DECIMALS,
    )


def queries_sheet(report: Report) -> Sheet:
    """Each run's value of each measure for each query."""
    found = report.evaluation
    return Sheet(
        name="queries",
        title="Values for each query",
        columns=("run", "query", *(measure.name for measure in found.measures)),
        rows=tuple(
            (run, query, *(float(values[measure.name][place]) for measure in found.measures))
            for run, values in found.values.items()
            for place, query in enumerate(found.queries)
        ),
        decimals=DECIMALS,
    )


def long_sheet(report: Report) -> Sheet:
    """A row for each run and measure, for programs; the baseline's rows have no comparison."""
    found = report.evaluation
    compared = {(one.run, one.measure): one for one in report.comparisons}
    compared_in = ("difference", "percent", "p", "p_holm", "stars", "why")
    rows: list[tuple[Cell, ...]] = []
    for run in found.values:
        for measure in found.measures:
            one = compared.get((run, measure.name))
            cells: tuple[Cell, ...] = (
                (one.difference, one.percent, one.p, one.p_holm, one.stars, one.why)
                if one
                else (None,) * 6
            )
            mean = found.mean(run, measure.name)
            rows.append((run, measure.name, mean, len(found.queries), *cells))
    return Sheet(
        name="runs",
        title="",
        columns=("run", "measure", "mean", "queries", *compared_in),
        rows=tuple(rows),
    )


def long_queries_sheet(report: Report) -> Sheet:
    """A row for each run, query and measure, for programs."""
    found = report.evaluation
    return Sheet(
        name="queries",
        title="",
        columns=("run", "query", "measure", "value"),
        rows=tuple(
            (run, query, measure, float(value))
            for run, values in found.values.items()
            for place, query in enumerate(found.queries)
            for measure, value in ((name, column[place]) for name, column in values.items())
        ),
    )


def examples_sheet(feedback: Feedback) -> Sheet:
    """The examples of each round of feedback, a row for each query and round."""
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
    levels = ", ".join(
        f"{f'{level:g}'.removeprefix('0')} ({'*' * place})" for place, level in enumerate(LEVELS, 1)
    )
    return (
        f"Stars: better than {report.baseline} at {levels}, by a one-tailed paired bootstrap of "
        f"{report.asked.resamples} resamples (seed {report.asked.seed}), before Holm's correction."
    )


def _undefined(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Say where there is no p value, and why."""
    reasons: dict[str, list[str]] = {}
    for one in comparisons:
        if one.why is not None:
            reasons.setdefault(one.why, []).append(f"{one.measure} of {one.run}")
    for why, where in reasons.items():
        yield f"No p for {', '.join(where)}: {why}."
