"""Section 5.4: descriptors on three collections (Tables 5 to 8), and how alike means order them."""

from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from typing import Any

import scipy

from survey.core.statistics.rater_agreement import RankCorrelation, kendall, spearman_rho
from survey.paper.reproduction import (
    ROUNDING_NOTE,
    Check,
    Checks,
    PrintComparison,
    Reproduction,
    compare_deviation,
    exhibit_remarks,
    exhibit_sheet,
    float_cells,
    join_words,
    judge_claims,
    printed_rows,
)
from survey.services.analysis.sheets import Cell, Sheet

DESCRIPTOR_MEANS = ("MAP", "ANMRR", "AMNRO")
STAR_LEVELS = {"*": ".05", "**": ".01", "***": ".001"}
LEVELS_IN_TEXT = (  # of the three examples of Table 8
    "MAP .001; ANMRR .01; AMNRO .01",
    "MAP .001; ANMRR .001; AMNRO .01",
    "ANMRR .01 and .05; AMNRO .01",
)
HIGH_TAU = 0.7  # a convention, see the remarks of correlations.yaml


@dataclass(frozen=True)
class PaperCollection:
    """A collection of images: its table in the paper, its queries, and where these are named."""

    table: str
    name: str
    queries: int
    source: str


COLLECTIONS = (
    PaperCollection("table5", "Wang", 20, "line 925"),
    PaperCollection("table6", "UCID", 262, "line 936"),
    PaperCollection("table7", "ImageCLEF 2010 Wikipedia", 70, "line 940"),
)


def descriptors(collection: PaperCollection) -> Reproduction:
    """Return Table 5, 6 or 7 with ranks, its precisions compared with means of counts."""
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


table5, table6, table7 = (partial(descriptors, each) for each in COLLECTIONS)


def descriptor_names(table: str) -> tuple[str, ...]:
    """Return the descriptors of a table in its order."""
    return tuple(row["descriptor"] for row in printed_rows(table))


def scores(table: str) -> dict[str, tuple[float, ...]]:
    """Return each mean's values over the descriptors, negated where lower is better."""
    columns = zip(
        *(float_cells(row, *DESCRIPTOR_MEANS) for row in printed_rows(table)), strict=True
    )
    return {
        mean: tuple(value if mean == "MAP" else -value for value in column)
        for mean, column in zip(DESCRIPTOR_MEANS, columns, strict=True)
    }


def ranks(table: str) -> dict[str, list[int]]:
    """Return each mean's competition ranks of the descriptors, 1 for the best."""
    return {
        mean: scipy.stats.rankdata([-score for score in column], method="min").astype(int).tolist()
        for mean, column in scores(table).items()
    }


def _ranked_sheet(collection: PaperCollection) -> Sheet:
    places = ranks(collection.table)
    rows = tuple(
        (
            row["descriptor"],
            *(
                cell
                for mean in DESCRIPTOR_MEANS
                for cell in (float(row[mean]), places[mean][index])
            ),
            *float_cells(row, "P10", "P20"),
        )
        for index, row in enumerate(printed_rows(collection.table))
    )
    return Sheet(
        collection.table,
        f"Table {collection.table[-1]}. {collection.name}, as printed, with ranks (1: best)",
        (
            "descriptor",
            *(cell for mean in DESCRIPTOR_MEANS for cell in (mean, "rank")),
            "P(10)",
            "P(20)",
        ),
        rows,
        decimals=4,
    )


def precisions(collection: PaperCollection) -> tuple[PrintComparison, ...]:
    """Compare each printed precision with the nearest mean of counts."""
    return tuple(
        PrintComparison(
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
        judge_claims("table8", _table8_checks()),
        (ROUNDING_NOTE, *exhibit_remarks("table8")),
    )


def percentages(*, of_greater: bool = False) -> tuple[PrintComparison, ...]:
    """Compare each printed percentage with the deviation from the smaller (or greater) value.

    All nine agree with the smaller value as base, none with the greater.
    """
    comparisons = []
    for row in printed_rows("table8"):
        pair = f"{row['example']} {row['descriptor1']}, {row['descriptor2']}"
        for mean in DESCRIPTOR_MEANS:
            values = (_table5_row(row[f"descriptor{n}"])[mean] for n in (1, 2))
            value, base = sorted(values, key=float, reverse=not of_greater)
            comparisons.append(compare_deviation(pair, mean, value, base, row[mean]))
    return tuple(comparisons)


def _table5_row(descriptor: str) -> dict[str, str]:
    return next(row for row in printed_rows("table5") if row["descriptor"] == descriptor)


def _bases_sheet() -> Sheet:
    """Return each percentage with both values, its base, and the deviation from descriptor 1."""
    rows: list[tuple[Cell, ...]] = []
    for row in printed_rows("table8"):
        first, second = (_table5_row(row[f"descriptor{n}"]) for n in (1, 2))
        for mean in DESCRIPTOR_MEANS:
            before, after = float(first[mean]), float(second[mean])
            base = first if before < after else second
            from_first = 100 * (after / before - 1)
            cells = (before, after, row[mean], row[f"{mean}_stars"], base["descriptor"])
            rows.append((row["example"], mean, *cells, from_first))
    return exhibit_sheet("table8", "bases", rows)


def _table8_checks() -> Checks:
    checks = {}
    for row, in_text in zip(printed_rows("table8"), LEVELS_IN_TEXT, strict=True):
        example = row["example"]
        in_table = "; ".join(
            f"{mean} {STAR_LEVELS[row[f'{mean}_stars']]}" for mean in DESCRIPTOR_MEANS
        )
        checks[f"example{example}"] = Check(
            in_text == in_table, example=example, in_text=in_text, in_table=in_table
        )
    return checks


@dataclass(frozen=True)
class MeansAgreement:
    """How alike two means order a collection's descriptors.

    ``opposed``: pairs of descriptors that they order differently, the better by ``first``
    named first; ``pairs``: the number of all pairs.
    """

    table: str
    collection: str
    first: str
    second: str
    tau_b: RankCorrelation
    rho: RankCorrelation
    opposed: tuple[tuple[str, str], ...]
    pairs: int

    def as_json(self) -> dict[str, Any]:
        """Return plain values; a coefficient's ``why`` only where something is undefined."""
        content = asdict(self)
        for name in ("tau_b", "rho"):
            if content[name]["why"] is None:
                del content[name]["why"]
        return content


def correlations() -> Reproduction:
    """Return the rank correlations of the three means, and what they say of Section 5.4."""
    agreements = compare_means()
    sheets, remarks = _correlation_sheets(agreements), exhibit_remarks("correlations")
    return Reproduction(
        "correlations",
        {"agreements": [agreement.as_json() for agreement in agreements], "remarks": list(remarks)},
        sheets,
        claims=judge_claims("correlations", _correlation_checks(agreements)),
        remarks=remarks,
        table=sheets[0],
    )


def compare_means() -> tuple[MeansAgreement, ...]:
    """Compare each pair of means over each collection."""
    agreements = []
    for collection in COLLECTIONS:
        columns, names = scores(collection.table), descriptor_names(collection.table)
        for first, second in combinations(DESCRIPTOR_MEANS, 2):
            x, y = columns[first], columns[second]
            agreements.append(
                MeansAgreement(
                    collection.table,
                    collection.name,
                    first,
                    second,
                    kendall(x, y),
                    spearman_rho(x, y),
                    opposed_pairs(names, x, y),
                    len(names) * (len(names) - 1) // 2,
                )
            )
    return tuple(agreements)


def opposed_pairs(
    names: tuple[str, ...], x: tuple[float, ...], y: tuple[float, ...]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs that two scores order differently, the better by ``x`` first."""
    return tuple(
        (names[i], names[j]) if x[i] > x[j] else (names[j], names[i])
        for i, j in combinations(range(len(names)), 2)
        if (x[i] - x[j]) * (y[i] - y[j]) < 0
    )


def _correlation_sheets(agreements: tuple[MeansAgreement, ...]) -> tuple[Sheet, Sheet]:
    correlations = (
        (
            *(a.collection, f"{a.first}, {a.second}", a.tau_b.n),
            *(a.tau_b.coefficient, *(a.tau_b.ci95 or (None, None))),
            *(a.rho.coefficient, *(a.rho.ci95 or (None, None))),
            f"{len(a.opposed)} of {a.pairs}",
        )
        for a in agreements
    )
    opposed = (
        (a.collection, f"{a.first}, {a.second}", *pair) for a in agreements for pair in a.opposed
    )
    undefined = next((a.tau_b.why for a in agreements if a.tau_b.why), None)
    return (
        exhibit_sheet("correlations", "correlations", correlations, undefined=undefined),
        exhibit_sheet("correlations", "opposed", opposed),
    )


def _correlation_checks(agreements: tuple[MeansAgreement, ...]) -> Checks:
    """Test the summary of Section 5.4 on the printed values, AMNRO's pairs only."""
    with_amnro = [a for a in agreements if a.second == "AMNRO"]
    low = [a.tau_b.coefficient is None or a.tau_b.coefficient < HIGH_TAU for a in with_amnro]
    descriptions = " ".join(
        _describe(mean, [a for a in with_amnro if a.first == mean]) for mean in DESCRIPTOR_MEANS[:2]
    )
    return {"not_highly_correlated": Check(low, descriptions=descriptions)}


def _describe(mean: str, agreements: list[MeansAgreement]) -> str:
    values = [
        f"{a.tau_b.coefficient:.2f} ({len(a.opposed)} of {a.pairs} pairs ordered differently)"
        for a in agreements
    ]
    collections = join_words(a.collection for a in agreements)
    same = [a.collection for a in agreements if not a.opposed]
    alike = f" On {join_words(same)} the order is the same throughout." if same else ""
    return f"With {mean}, AMNRO has a tau-b of {join_words(values)} on {collections}.{alike}"
