"""Section 5.4: whether MAP, ANMRR and AMNRO order the descriptors of Tables 5 to 7 alike."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from survey.core.agreement.rank_correlation import RankCorrelation, kendall, spearman_rho
from survey.services.paper.reproduction import (
    DOES_NOT_HOLD,
    HOLDS,
    IN_PART,
    Claim,
    Reproduction,
    listed,
)
from survey.services.paper.tables5_to_8 import COLLECTIONS, MEANS, agreement_scores, names_of
from survey.services.reporting.sheets import Cell, Sheet

HIGH = 0.7
REMARKS = (
    "Kendall's tau-b and Spearman's rho, the means turned so that higher is better: 1 is the "
    "same order of the descriptors.",
    "Intervals by Fisher's z: standard error sqrt(.437/(n − 4)) for tau (Fieller, Hartley and "
    "Pearson 1957), sqrt((1 + rho²/2)/(n − 3)) for rho (Bonett and Wright 2000). In simulations "
    "of 15 normal pairs they covered the truth in 93 to 96 % of cases up to a rho of .9 (a tau "
    "of .7), and in as few as 78 % at a rho of .99 (a tau of .9). Here the correlations are as "
    "high, so the intervals are too short.",
    "They treat the descriptors as a random sample of some population, which they are not: the "
    "authors chose them, and several are kin (CEDD, C.CEDD, FCTH, C.FCTH, JCD). So read an "
    "interval as a scale for how little 11 or 15 items say.",
    "That a correlation of .7 and more is high is a convention; the paper names no bar.",
    "Significance stars, as in Table 8, do not measure correlation: two measures can agree on "
    "every order and differ in how sure a test of each is.",
)


@dataclass(frozen=True)
class Agreement:
    """How alike two means order a collection's descriptors.

    ``opposed``: pairs of descriptors that they order differently, the better by ``first``
    named first; ``pairs``: how many pairs there are.
    """

    table: str
    collection: str
    first: str
    second: str
    tau_b: RankCorrelation
    rho: RankCorrelation
    opposed: tuple[tuple[str, str], ...]
    pairs: int


def agreements() -> tuple[Agreement, ...]:
    """Compare each pair of means over each collection."""
    return tuple(_agreements())


def _agreements() -> Iterator[Agreement]:
    for known in COLLECTIONS:
        scores, names = agreement_scores(known.table), names_of(known.table)
        for one, other in combinations(MEANS, 2):
            x, y = scores[one], scores[other]
            yield Agreement(
                *(known.table, known.name, one, other),
                kendall(x, y),
                spearman_rho(x, y),
                opposed(names, x, y),
                len(names) * (len(names) - 1) // 2,
            )


def opposed(
    names: tuple[str, ...], x: tuple[float, ...], y: tuple[float, ...]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs that two scores order differently, the better by ``x`` first."""
    return tuple(
        (names[i], names[j]) if x[i] > x[j] else (names[j], names[i])
        for i, j in combinations(range(len(names)), 2)
        if (x[i] - x[j]) * (y[i] - y[j]) < 0
    )


def correlations() -> Reproduction:
    """Return the rank correlations of the three means, and what they say of Section 5.4."""
    found = agreements()
    sheet = _as_sheet(found)
    return Reproduction(
        "correlations",
        {"agreements": [_as_json(one) for one in found], "remarks": list(REMARKS)},
        (sheet, _opposed_sheet(found)),
        claims=(not_highly_correlated(found),),
        remarks=REMARKS,
        table=sheet,
    )


def _as_json(one: Agreement) -> dict[str, Any]:
    content = asdict(one)
    for name in ("tau_b", "rho"):
        if content[name]["why"] is None:
            del content[name]["why"]
    return content


def _as_sheet(found: tuple[Agreement, ...]) -> Sheet:
    undefined = next((one.tau_b.why for one in found if one.tau_b.why), None)
    return Sheet(
        "correlations",
        "How alike the means order the descriptors",
        (
            *(
                "collection",
                "means",
                "n",
                "tau-b",
                "tau from",
                "tau to",
                "rho",
                "rho from",
                "rho to",
            ),
            "pairs ordered differently",
        ),
        tuple(_row(one) for one in found),
        f"–: no interval, since {undefined}." if undefined else "",
    )


def _row(one: Agreement) -> tuple[Cell, ...]:
    def cells(found: RankCorrelation) -> tuple[Cell, ...]:
        return (found.coefficient, *(found.ci95 or (None, None)))

    means, differing = f"{one.first}, {one.second}", f"{len(one.opposed)} of {one.pairs}"
    return (one.collection, means, one.tau_b.n, *cells(one.tau_b), *cells(one.rho), differing)


def _opposed_sheet(found: tuple[Agreement, ...]) -> Sheet:
    rows = tuple(
        (one.collection, f"{one.first}, {one.second}", *pair)
        for one in found
        for pair in one.opposed
    )
    columns = ("collection", "means", "better by the first", "better by the second")
    return Sheet("opposed", "Descriptors that two means order differently", columns, rows)


def not_highly_correlated(found: tuple[Agreement, ...]) -> Claim:
    """Judge the summary of Section 5.4 against the printed values, AMNRO's pairs only."""
    mine = [one for one in found if one.second == "AMNRO"]
    high = [bool(one.tau_b.coefficient and one.tau_b.coefficient >= HIGH) for one in mine]
    return Claim(
        "Section 5.4, lines 965–966",
        "“we observe that AMNRO is not directly highly correlated with any of the 2 other image "
        "retrieval performance measures.”",
        DOES_NOT_HOLD if all(high) else IN_PART if any(high) else HOLDS,
        " ".join(_told(name, [one for one in mine if one.first == name]) for name in MEANS[:2]),
    )


def _told(name: str, each: list[Agreement]) -> str:
    values = [
        f"{one.tau_b.coefficient:.2f} ({len(one.opposed)} of {one.pairs} pairs ordered differently)"
        for one in each
    ]
    places = [one.collection for one in each]
    same = [one.collection for one in each if not one.opposed]
    alike = f" On {listed(same)} the order is the same throughout." if same else ""
    return f"With {name}, AMNRO has a tau-b of {listed(values)} on {listed(places)}.{alike}"
