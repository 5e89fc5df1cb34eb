"""What people answered to what a plan asks beside each question: a table for each field."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median, stdev
from typing import Any

from survey.core.studies.fields import AskedField, FieldAnswer
from survey.core.text_input import Json
from survey.services.analysis.sheets import Cell, Sheet

ALL = "all"
NUMBERS = ("mean", "sd", "median", "lowest", "highest")
UNDEFINED_NOTE = "a mean needs an answer, a standard deviation two"
NOTES = {
    "choice": "Numbers of answers.",
    "scale": "Mean and sd (n − 1) of the answers; then how many gave each number{ends}.",
    "number": "Of the answers; sd: n − 1.",
    "text": "How many answers hold a text; the texts are in beside.csv.",
}


def beside_sheets(
    fields: Iterable[AskedField], answers: Sequence[tuple[int, Mapping[str, FieldAnswer]]]
) -> tuple[Sheet, ...]:
    """Return a table for each field: its answers to each question, and to all of them.

    ``answers``: the question's number, and the values by field, of each answer that counts.
    """
    return tuple(_sheet(field, answers) for field in fields)


def _sheet(field: AskedField, answers: Sequence[tuple[int, Mapping[str, FieldAnswer]]]) -> Sheet:
    by_question = defaultdict[int, list[FieldAnswer]](list)
    for question, values in answers:
        given = [] if values.get(field.name) is None else [values[field.name]]
        by_question[question] += given
    rows = [
        (str(question), *_cells(field, by_question[question])) for question in sorted(by_question)
    ]
    everything = [value for given in by_question.values() for value in given]
    if rows:
        rows.append((ALL, *_cells(field, everything)))
    ends = ""
    if field.kind == "scale" and field.options:
        (first, last), (low, high) = field.bounds, field.options
        ends = f" ({first}: {low}, {last}: {high})"
    return Sheet(
        name=f"beside-{field.name}",
        title=field.label,
        columns=("question", "answers", *_columns(field)),
        rows=tuple(rows),
        note=NOTES[field.kind].format(ends=ends),
        totals=True,
        decimals=2,
    )


def _columns(field: AskedField) -> tuple[str, ...]:
    by_type = {
        "choice": field.options,
        "scale": (*NUMBERS[:2], *map(str, field.points)) if field.kind == "scale" else (),
        "number": NUMBERS,
    }
    return tuple(by_type.get(field.kind, ()))


def _cells(field: AskedField, given: Sequence[Any]) -> tuple[Cell, ...]:
    """Return how many answers there are, and what they are."""
    counts = Counter(given)
    if field.kind == "choice":
        return len(given), *(counts[option] for option in field.options)
    if field.kind == "text":
        return (len(given),)
    spread = (
        float(mean(given)) if given else None,
        float(stdev(given)) if len(given) > 1 else None,
    )
    if field.kind == "scale":
        return len(given), *spread, *(counts[point] for point in field.points)
    others = (float(median(given)), min(given), max(given)) if given else (None, None, None)
    return len(given), *spread, *others


def beside_json(sheets: Iterable[Sheet]) -> dict[str, Json]:
    """Return the tables as plain values, by field, with the reason of undefined figures."""
    return {
        sheet.name.partition("-")[2]: [
            {**row, **({"why": UNDEFINED_NOTE} if None in row.values() else {})}
            for row in (dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.rows)
        ]
        for sheet in sheets
    }
