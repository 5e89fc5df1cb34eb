"""Figures 2 and 7: all 190 pairs of ranks, in the order of the paper's pseudo code."""

from survey.core.agreement.exhibits import Exhibit
from survey.services.paper.claim import Claim, computed
from survey.services.paper.figures.curves import SIZE, pairs
from survey.services.paper.figures.illustration import (
    Series,
    columns_as_series,
    every,
    illustrated,
)
from survey.services.paper.reproduction import Reproduction

STEP = 10


def combined(name: str, title: str, names: tuple[str, ...], told: str) -> Exhibit:
    """Return measures over Combined_Rank, which counts the pairs."""
    known = pairs()
    columns = [known.values[one].tolist() for one in names]
    count = range(1, len(known.i) + 1)
    return Exhibit(
        name,
        title,
        ("Combined_Rank", "Rank(i)", "Rank(j)", *names),
        tuple(zip(count, known.i.tolist(), known.j.tolist(), *columns, strict=True)),
        told,
        "Combined_Rank counts the pairs: Rank(i) from 2 to 20, and for each Rank(j) from 1 to "
        "Rank(i) − 1. K = 8 for NMRR and MNRO.",
        decimals=4,
    )


def over_pairs(exhibit: Exhibit, claims: tuple[Claim, ...]) -> Reproduction:
    """Return a figure over Combined_Rank, its table shortened for reading."""
    series: tuple[Series, ...] = columns_as_series(exhibit, 3)
    return illustrated(exhibit, series, claims, every(exhibit, STEP, exhibit.title))


def figure2() -> Reproduction:
    """Return 1 − AP and NMRR for all pairs."""
    exhibit = combined(
        "figure2",
        "Figure 2. 1-AP and NMRR for NG = 2, N = 20",
        ("1-AP", "NMRR"),
        "Nineteen teeth, one for each Rank(i), rising with Rank(j). NMRR starts below 1-AP and "
        "reaches 1 from Rank(i) = 10 on.",
    )
    return over_pairs(exhibit, (combinations_tested(),))


def combinations_tested() -> Claim:
    """Judge the number of pairs."""
    known = pairs()
    places = set(zip(known.i.tolist(), known.j.tolist(), strict=True))
    return computed(
        "Section 3, lines 436–439",
        "“In total, 190 ordering combinations are tested”, each with a Combined_Rank of its own.",
        len(known.i) == len(places) == 190,
        f"With i≤{SIZE} and j≤i-1 the loops give {SIZE}·{SIZE - 1}/2 = {len(places)}.",
    )
