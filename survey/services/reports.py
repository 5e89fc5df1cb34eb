"""Analyses as plain values, under the keys that scripts rely on."""

from collections.abc import Mapping
from typing import Any

from survey.core.agreement.counts import Shares, Table4
from survey.core.agreement.participants import Spread, Table3
from survey.services.analysis import Analysis


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Return an analysis under the keys that scripts rely on."""
    return {
        "study": dict(analysis.study),
        "n": {
            "participants": analysis.participants,
            "questions": analysis.questions,
            "responses": analysis.responses,
            "missing": analysis.missing,
            "excluded": analysis.left_out.excluded,
            "test_left_out": analysis.left_out.test,
        },
        "table3": table3_as_json(analysis.table3),
        **counts_as_json(
            analysis.table4, analysis.shares, analysis.first_or_tied, analysis.first_outright
        ),
    }


def table3_as_json(table: Table3) -> dict[str, Any]:
    """Return Table 3 as plain values."""
    return {
        "participants": table.participants,
        "completed": table.completed,
        "questions_per_participant": table.questions_per_participant,
        "numbers": {name: _spread(spread) for name, spread in table.numbers.items()},
        "counts": {name: dict(counts) for name, counts in table.counts.items()},
        "minutes": _spread(table.minutes),
    }


def counts_as_json(
    table: Table4, parts: Shares, or_tied: Mapping[str, int], outright: Mapping[str, int]
) -> dict[str, Any]:
    """Return Table 4, the shares and the first places under the keys that scripts rely on."""
    return {
        "table4": {
            "rows": [
                {
                    "question": row.question,
                    **row.votes,
                    "choice": list(row.choice),
                    "identical": [list(group) for group in row.identical],
                    "merged": row.merged,
                }
                for row in table.rows
            ],
            "totals": table.totals,
        },
        "shares": _shares(parts),
        "first": {"or_tied": dict(or_tied), "outright": dict(outright)},
    }


def _shares(parts: Shares) -> dict[str, Any]:
    content: dict[str, Any] = {name: part and dict(part) for name, part in vars(parts).items()}
    if parts.of_responses is None:
        content["why"] = "there are no responses"
    elif parts.distinct_questions is None:
        content["why"] = "no response was given to a question whose orders all differ"
    return content


def _spread(spread: Spread) -> dict[str, Any]:
    content: dict[str, Any] = dict(vars(spread))
    if spread.sd is None:
        content["why"] = "a mean needs one value, a standard deviation two"
    return content
