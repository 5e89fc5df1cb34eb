"""Section 5.4: whether MAP, ANMRR and AMNRO order the descriptors of Tables 5 to 7 alike."""

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from survey.core.statistics.rater_agreement import RankCorrelation, kendall, spearman_rho
from survey.services.analysis.sheets import Cell, Sheet
from survey.services.paper.reproduction import (
    DOES_NOT_HOLD,
    HOLDS,
    IN_PART,
    Claim,
    Reproduction,
    join_words,
)
from survey.services.paper.tables5_to_8 import COLLECTIONS, MEANS, descriptor_names, scores

HIGH = 0.7  # a convention, see the remarks
REMARKS = (
    "Kendall's tau-b and Spearman's rho, the means turned so that higher is better: 1 is the "
    "same order of the descriptors.",
    "Intervals by Fisher's z: standard error sqrt(.437/(n − 4)) for tau (Fieller, Hartley and "
    "Pearson 1957), sqrt((1 + rho²/2)/(n − 3)) for rho (Bonett and Wright 2000). In simulations "
    "of 15 normal pairs they covered the truth in 93 to 96 % of cases up to a rho of .9 (a tau "
    "of .7), and in as few as 78 % at a rho of .99 (a tau of .9). Here the correlations are as "
    "high, so the intervals are too short.",
    "They treat the descriptors as a random sample of some population, which they are not: the "
    "authors chose them, and several are related (CEDD, C.CEDD, FCTH, C.FCTH, JCD). So an "
    "interval mainly shows how little 11 or 15 items can decide.",
    "That a correlation of .7 and more is high is a convention; the paper names no threshold.",
    "Significance stars, as in Table 8, do not measure correlation: two measures can agree on "
    "every order and differ in how sure a test of each is.",
)


@dataclass(frozen=True)
class Agreement:
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
    sheet = _correlations_sheet(agreements)
    return Reproduction(
        "correlations",
        {
            "agreements": [agreement.as_json() for agreement in agreements],
            "remarks": list(REMARKS),
        },
        (sheet, _opposed_sheet(agreements)),
        claims=(_not_highly_correlated(agreements),),
        remarks=REMARKS,
        table=sheet,
    )


def compare_means() -> tuple[Agreement, ...]:
    """Compare each pair of means over each collection."""
    agreements = []
    for collection in COLLECTIONS:
        columns, names = scores(collection.table), descriptor_names(collection.table)
        for first, second in combinations(MEANS, 2):
            x, y = columns[first], columns[second]
            agreements.append(
                Agreement(
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


def _correlations_sheet(agreements: tuple[Agreement, ...]) -> Sheet:
    undefined = next((a.tau_b.why for a in agreements if a.tau_b.why), None)
    return Sheet(
        "correlations",
        "How alike the means order the descriptors",
        (
            *("collection", "means", "n", "tau-b", "tau from", "tau to"),
            *("rho", "rho from", "rho to", "pairs ordered differently"),
        ),
        tuple(
            (
                *(a.collection, f"{a.first}, {a.second}", a.tau_b.n),
                *_coefficient_cells(a.tau_b),
                *_coefficient_cells(a.rho),
                f"{len(a.opposed)} of {a.pairs}",
            )
            for a in agreements
        ),
        f"–: no interval, since {undefined}." if undefined else "",
    )


def _coefficient_cells(correlation: RankCorrelation) -> tuple[Cell, ...]:
    return (correlation.coefficient, *(correlation.ci95 or (None, None)))


def _opposed_sheet(agreements: tuple[Agreement, ...]) -> Sheet:
    rows = tuple(
        (a.collection, f"{a.first}, {a.second}", *pair) for a in agreements for pair in a.opposed
    )
    columns = ("collection", "means", "better by the first", "better by the second")
    return Sheet("opposed", "Descriptors that two means order differently", columns, rows)


def _not_highly_correlated(agreements: tuple[Agreement, ...]) -> Claim:
    """Judge the summary of Section 5.4 against the printed values, AMNRO's pairs only."""
    with_amnro = [a for a in agreements if a.second == "AMNRO"]
    high = [bool(a.tau_b.coefficient and a.tau_b.coefficient >= HIGH) for a in with_amnro]
    return Claim(
        "Section 5.4, lines 965–966",
        "“we observe that AMNRO is not directly highly correlated with any of the 2 other image "
        "retrieval performance measures.”",
        DOES_NOT_HOLD if all(high) else IN_PART if any(high) else HOLDS,
        " ".join(_describe(mean, [a for a in with_amnro if a.first == mean]) for mean in MEANS[:2]),
    )


def _describe(mean: str, agreements: list[Agreement]) -> str:
    values = [
        f"{a.tau_b.coefficient:.2f} ({len(a.opposed)} of {a.pairs} pairs ordered differently)"
        for a in agreements
    ]
    collections = join_words(a.collection for a in agreements)
    same = [a.collection for a in agreements if not a.opposed]
    alike = f" On {join_words(same)} the order is the same throughout." if same else ""
    return f"With {mean}, AMNRO has a tau-b of {join_words(values)} on {collections}.{alike}"
