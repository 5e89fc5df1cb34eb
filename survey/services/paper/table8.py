"""Table 8: how far pairs of descriptors are apart on the Wang collection, by each mean."""

from survey.services.paper.claim import Claim, computed
from survey.services.paper.descriptors import MEANS
from survey.services.paper.printed import Comparison, printed
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.rounding import NOTE, compare
from survey.services.reporting.sheets import Cell, Sheet

LEVELS = {"*": ".05", "**": ".01", "***": ".001"}
SAID = (  # lines 951–964: the level that the text gives for each mean
    (1, "lines 951–955", {"MAP": ".001", "ANMRR": ".01", "AMNRO": ".01"}),
    (2, "lines 956–959", {"MAP": ".001", "ANMRR": ".001", "AMNRO": ".01"}),
    (3, "lines 960–964", {"ANMRR": ".01 and .05", "AMNRO": ".01"}),
)


def table8() -> Reproduction:
    """Recompute the percentages of Table 8 from Table 5."""
    sheet = bases()
    return Reproduction(
        "table8",
        {
            "printed": [dict(row) for row in printed("table8")],
            "bases": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
        },
        (sheet,),
        percentages(),
        tuple(_stars(*one) for one in SAID),
        (
            NOTE,
            "The base of every percentage is the smaller of the two values: for MAP that is the "
            "worse descriptor, for ANMRR and AMNRO the better one. So the percentages of a row "
            "are not of the same thing; the last column has all of them from descriptor 1.",
            "The stars cannot be recomputed: they test differences query by query, and what each "
            "query gave was not printed.",
        ),
    )


def values_of(descriptor: str) -> dict[str, str]:
    """Return a descriptor's row of Table 5."""
    return next(row for row in printed("table5") if row["descriptor"] == descriptor)


def percentages() -> tuple[Comparison, ...]:
    """Recompute each printed percentage from the smaller of the two values."""
    return tuple(_compared(row, name, *_least_last(row, name)) for row, name in _cells())


def from_the_greater() -> tuple[Comparison, ...]:
    """Recompute each printed percentage from the greater value, which none comes from."""
    return tuple(_compared(row, name, *_least_last(row, name)[::-1]) for row, name in _cells())


def _cells() -> list[tuple[dict[str, str], str]]:
    return [(row, name) for row in printed("table8") for name in MEANS]


def _compared(row: dict[str, str], name: str, *values: str) -> Comparison:
    value, base = values
    pair = f"{row['example']} {row['descriptor1']}, {row['descriptor2']}"
    return compare(pair, name, value, base, row[name])


def _least_last(row: dict[str, str], name: str) -> tuple[str, str]:
    one, other = (values_of(row[f"descriptor{n}"])[name] for n in (1, 2))
    return (one, other) if float(one) > float(other) else (other, one)


def bases() -> Sheet:
    """Return, for each percentage, the values behind it, its base, and what it is from the other.

    The other base shows that the printed percentages have the smaller value as theirs.
    """
    rows: list[tuple[Cell, ...]] = []
    for row in printed("table8"):
        first, second = (values_of(row[f"descriptor{n}"]) for n in (1, 2))
        for name in MEANS:
            one, other = float(first[name]), float(second[name])
            base = first if one < other else second
            signed = 100 * (other / one - 1)
            cells = (one, other, row[name], row[f"{name}_stars"], base["descriptor"])
            rows.append((row["example"], name, *cells, signed))
    return Sheet(
        "bases",
        "Table 8. As printed, with the values of Table 5 behind it",
        (
            *("example", "mean", "descriptor 1", "descriptor 2", "printed", "stars"),
            *("its base", "from 1 to 2, %"),
        ),
        tuple(rows),
        decimals=4,
    )


def _stars(example: int, place: str, said: dict[str, str]) -> Claim:
    row = printed("table8")[example - 1]
    found = {name: LEVELS[row[f"{name}_stars"]] for name in MEANS}
    told = "; ".join(f"{name} {level}" for name, level in said.items())
    stars = "; ".join(f"{name} {level}" for name, level in found.items())
    return computed(
        f"Section 5.4, {place}",
        f"Example {example} is significant at these levels: {told}.",
        said == found,
        f"The table's stars say: {stars}.",
    )
