"""Tables 5 to 8: what descriptors reach on three collections, and how far pairs are apart."""

from dataclasses import dataclass
from functools import partial

import scipy

from survey.services.paper.reproduction import (
    NOTE,
    Claim,
    Comparison,
    Reproduction,
    as_numbers,
    compare,
    computed,
    printed,
)
from survey.services.reporting.sheets import Cell, Sheet

MEANS = ("MAP", "ANMRR", "AMNRO")


@dataclass(frozen=True)
class Collection:
    """A collection of images: its table in the paper, and how many queries were asked."""

    table: str
    name: str
    queries: int
    source: str


COLLECTIONS = (
    Collection("table5", "Wang", 20, "line 925"),
    Collection("table6", "UCID", 262, "line 936"),
    Collection("table7", "ImageCLEF 2010 Wikipedia", 70, "line 940"),
)


def names_of(table: str) -> tuple[str, ...]:
    """Return the descriptors of a table, in its order."""
    return tuple(row["descriptor"] for row in printed(table))


def agreement_scores(table: str) -> dict[str, tuple[float, ...]]:
    """Return each mean's values over the descriptors, turned so that higher is better."""
    columns = zip(*(as_numbers(row, *MEANS) for row in printed(table)), strict=True)
    return {
        name: tuple(value if name == "MAP" else -value for value in column)
        for name, column in zip(MEANS, columns, strict=True)
    }


def ranks(table: str) -> dict[str, list[int]]:
    """Return each mean's competition ranks of the descriptors, 1 for the best."""
    return {
        name: [int(one) for one in scipy.stats.rankdata([-score for score in scores], method="min")]
        for name, scores in agreement_scores(table).items()
    }


def descriptors(place: int) -> Reproduction:
    """Return Table 5, 6 or 7 with ranks, and its precisions checked for being counts."""
    known = COLLECTIONS[place]
    sheet = _ranked(known)
    return Reproduction(
        known.table,
        {
            "collection": known.name,
            "queries": known.queries,
            "rows": [dict(row) for row in printed(known.table)],
            "ranks": {
                name: dict(zip(names_of(known.table), places, strict=True))
                for name, places in ranks(known.table).items()
            },
        },
        (sheet,),
        precisions(known),
        remarks=(
            f"The means cannot be recomputed: rankings were not printed. P(10) and P(20) are "
            f"means of counts over {known.queries} queries ({known.source}), so each has to be "
            f"a whole number of 10·{known.queries}ths and 20·{known.queries}ths: recomputed is "
            "the nearest.",
        ),
        table=sheet,
    )


def _ranked(known: Collection) -> Sheet:
    places = ranks(known.table)
    rows = tuple(
        (
            row["descriptor"],
            *(cell for name in MEANS for cell in (float(row[name]), places[name][number])),
            *as_numbers(row, "P10", "P20"),
        )
        for number, row in enumerate(printed(known.table))
    )
    return Sheet(
        known.table,
        f"Table {known.table[-1]}. {known.name}, as printed, with ranks (1: best)",
        ("descriptor", *(cell for name in MEANS for cell in (name, "rank")), "P(10)", "P(20)"),
        rows,
        decimals=4,
    )


def precisions(known: Collection) -> tuple[Comparison, ...]:
    """Print the nearest mean of counts beside each printed precision."""
    return tuple(
        Comparison(
            row["descriptor"],
            f"P({cut}) as a mean of counts",
            nearest(float(row[f"P{cut}"]), cut * known.queries),
            row[f"P{cut}"],
        )
        for row in printed(known.table)
        for cut in (10, 20)
    )


def nearest(share: float, whole: int) -> str:
    """Print the multiple of 1/whole that is nearest to a share, to four decimals."""
    return f"{round(share * whole) / whole:.4f}"


table5, table6, table7 = (partial(descriptors, place) for place in range(3))


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
