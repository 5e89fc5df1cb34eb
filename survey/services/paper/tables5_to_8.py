"""Tables 5 to 8: the means of descriptors on three collections, and the pairs compared."""

from dataclasses import dataclass
from functools import partial

import scipy

from survey.services.analysis.sheets import Cell, Sheet
from survey.services.paper.reproduction import (
    ROUNDING_NOTE,
    Claim,
    Comparison,
    Reproduction,
    compare_deviation,
    float_cells,
    judge,
    printed_rows,
)

MEANS = ("MAP", "ANMRR", "AMNRO")
LEVELS = {"*": ".05", "**": ".01", "***": ".001"}
LEVELS_IN_TEXT = (  # example, lines, and the level that the text gives for each mean
    (1, "lines 951–955", {"MAP": ".001", "ANMRR": ".01", "AMNRO": ".01"}),
    (2, "lines 956–959", {"MAP": ".001", "ANMRR": ".001", "AMNRO": ".01"}),
    (3, "lines 960–964", {"ANMRR": ".01 and .05", "AMNRO": ".01"}),
)


@dataclass(frozen=True)
class Collection:
    """A collection of images: its table in the paper, its queries, and where these are named."""

    table: str
    name: str
    queries: int
    source: str


COLLECTIONS = (
    Collection("table5", "Wang", 20, "line 925"),
    Collection("table6", "UCID", 262, "line 936"),
    Collection("table7", "ImageCLEF 2010 Wikipedia", 70, "line 940"),
)


def descriptors(index: int) -> Reproduction:
    """Return Table 5, 6 or 7 with ranks, its precisions compared with means of counts."""
    collection = COLLECTIONS[index]
    table, queries = collection.table, collection.queries
    sheet = _ranked_sheet(collection)
    return Reproduction(
        table,
        {
            "collection": collection.name,
            "queries": queries,
            "rows": [dict(row) for row in printed_rows(table)],
            "ranks": {
                mean: dict(zip(descriptor_names(table), places, strict=True))
                for mean, places in ranks(table).items()
            },
        },
        (sheet,),
        precisions(collection),
        remarks=(
            f"The means cannot be recomputed: rankings were not printed. P(10) and P(20) are "
            f"means of counts over {queries} queries ({collection.source}), so each has to be "
            f"a whole number of 10·{queries}ths and 20·{queries}ths: recomputed is the nearest.",
        ),
        table=sheet,
    )


table5, table6, table7 = (partial(descriptors, index) for index in range(3))


def descriptor_names(table: str) -> tuple[str, ...]:
    """Return the descriptors of a table in its order."""
    return tuple(row["descriptor"] for row in printed_rows(table))


def scores(table: str) -> dict[str, tuple[float, ...]]:
    """Return each mean's values over the descriptors, negated where lower is better."""
    columns = zip(*(float_cells(row, *MEANS) for row in printed_rows(table)), strict=True)
    return {
        mean: tuple(value if mean == "MAP" else -value for value in column)
        for mean, column in zip(MEANS, columns, strict=True)
    }


def ranks(table: str) -> dict[str, list[int]]:
    """Return each mean's competition ranks of the descriptors, 1 for the best."""
    return {
        mean: scipy.stats.rankdata([-score for score in column], method="min").astype(int).tolist()
        for mean, column in scores(table).items()
    }


def _ranked_sheet(collection: Collection) -> Sheet:
    places = ranks(collection.table)
    rows = tuple(
        (
            row["descriptor"],
            *(cell for mean in MEANS for cell in (float(row[mean]), places[mean][index])),
            *float_cells(row, "P10", "P20"),
        )
        for index, row in enumerate(printed_rows(collection.table))
    )
    return Sheet(
        collection.table,
        f"Table {collection.table[-1]}. {collection.name}, as printed, with ranks (1: best)",
        ("descriptor", *(cell for mean in MEANS for cell in (mean, "rank")), "P(10)", "P(20)"),
        rows,
        decimals=4,
    )


def precisions(collection: Collection) -> tuple[Comparison, ...]:
    """Compare each printed precision with the nearest mean of counts."""
    return tuple(
        Comparison(
            row["descriptor"],
            f"P({cut}) as a mean of counts",
            nearest_share(float(row[f"P{cut}"]), cut * collection.queries),
            row[f"P{cut}"],
        )
        for row in printed_rows(collection.table)
        for cut in (10, 20)
    )


def nearest_share(share: float, whole: int) -> str:
    """Return the multiple of 1/whole nearest to a share, to four decimals."""
    return f"{round(share * whole) / whole:.4f}"


def table8() -> Reproduction:
    """Recompute the percentages of Table 8 from Table 5, and find what each is a share of."""
    sheet = _bases_sheet()
    return Reproduction(
        "table8",
        {
            "printed": [dict(row) for row in printed_rows("table8")],
            "bases": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
        },
        (sheet,),
        percentages(),
        tuple(_stars_in_text(*levels) for levels in LEVELS_IN_TEXT),
        (
            ROUNDING_NOTE,
            "The base of every percentage is the smaller of the two values: for MAP that is the "
            "worse descriptor, for ANMRR and AMNRO the better one. So the percentages of a row "
            "have different bases; the last column has all of them from descriptor 1.",
            "The stars cannot be recomputed: they test differences query by query, and the values "
            "of single queries were not printed.",
        ),
    )


def percentages(*, of_greater: bool = False) -> tuple[Comparison, ...]:
    """Compare each printed percentage with the deviation from the smaller (or greater) value.

    All nine agree with the smaller value as base, none with the greater.
    """
    return tuple(
        _percentage(row, mean, of_greater) for row in printed_rows("table8") for mean in MEANS
    )


def _percentage(row: dict[str, str], mean: str, of_greater: bool) -> Comparison:
    values = (_table5_row(row[f"descriptor{n}"])[mean] for n in (1, 2))
    value, base = sorted(values, key=float, reverse=not of_greater)
    pair = f"{row['example']} {row['descriptor1']}, {row['descriptor2']}"
    return compare_deviation(pair, mean, value, base, row[mean])


def _table5_row(descriptor: str) -> dict[str, str]:
    return next(row for row in printed_rows("table5") if row["descriptor"] == descriptor)


def _bases_sheet() -> Sheet:
    """Return each percentage with both values, its base, and the deviation from descriptor 1."""
    rows: list[tuple[Cell, ...]] = []
    for row in printed_rows("table8"):
        first, second = (_table5_row(row[f"descriptor{n}"]) for n in (1, 2))
        for mean in MEANS:
            before, after = float(first[mean]), float(second[mean])
            base = first if before < after else second
            from_first = 100 * (after / before - 1)
            cells = (before, after, row[mean], row[f"{mean}_stars"], base["descriptor"])
            rows.append((row["example"], mean, *cells, from_first))
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


def _stars_in_text(example: int, lines: str, levels: dict[str, str]) -> Claim:
    row = printed_rows("table8")[example - 1]
    stars = {mean: LEVELS[row[f"{mean}_stars"]] for mean in MEANS}
    in_text, in_table = (
        "; ".join(f"{mean} {level}" for mean, level in source.items()) for source in (levels, stars)
    )
    return judge(
        f"Section 5.4, {lines}",
        f"Example {example} is significant at these levels: {in_text}.",
        levels == stars,
        f"The table's stars say: {in_table}.",
    )
