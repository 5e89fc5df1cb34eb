"""Score lists that a user types in.

Without tables and statistics, which take a second to import: `survey measure` starts at once.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from survey.core.measures import Setting, measure_named
from survey.core.measures.measure import COMPARED_DECIMALS
from survey.core.studies.questions import (
    MarkedRow,
    MarkError,
    Question,
    build_question,
    marks_of,
    sorted_with_marks,
)
from survey.core.studies.rankings import printed
from survey.core.text_input import split_names as split_names  # for the command

THE_PAPERS = ("AP", "NMRR", "MNRO")


def score_lists(
    ranks: Sequence[Sequence[int]],
    collection_size: int,
    measures: Sequence[str] = THE_PAPERS,
    marks: Sequence[Mapping[str, str]] = (),
    gmt: int | None = None,
    *,
    literal_eq15: bool = False,
    columns: int | None = None,
) -> Question:
    """Score and order lists by measures, as a question of a study does.

    ``marks``: for each list its grades, weights and clusters as words, one for each rank;
    ``columns``: see ``Setting``.
    Raises ValueError naming the row and the fault.
    """
    setting = Setting(collection_size, gmt, literal_eq15, columns=columns)
    names = [measure_named(name).name for name in measures]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"measures are {', '.join(names) or 'none'}; different ones are needed")
    rows = [_marked(*row) for row in enumerate(zip(ranks, marks, strict=True), 1)] if marks else []
    return build_question(1, ranks, names, setting, marks_of(rows))


def _marked(number: int, row: tuple[Sequence[int], Mapping[str, str]]) -> MarkedRow:
    try:
        return sorted_with_marks(*row)
    except MarkError as error:
        raise ValueError(f"row {number}, {error.column}: {error}") from None


def printed_values(question: Question) -> dict[str, tuple[str, ...]]:
    """Return each measure's values as texts, with decimals enough that unequal values differ."""
    return {
        name: printed([Fraction(round(value, COMPARED_DECIMALS)) for value in column.values])
        for name, column in question.columns.items()
    }
