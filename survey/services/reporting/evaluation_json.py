"""The scores of runs as JSON."""

from typing import Any

from survey.core.runs.significance import Comparison
from survey.services.evaluating import Report


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
