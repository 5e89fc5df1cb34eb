"""Tables 5 to 7: what descriptors reach on three collections, by each mean."""

from dataclasses import dataclass
from functools import partial

import scipy

from survey.services.paper.printed import Comparison, printed
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.rounding import as_numbers
from survey.services.reporting.sheets import Sheet

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
