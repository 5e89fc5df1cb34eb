"""Table 4 counted again from the printed votes."""

from dataclasses import dataclass

from survey.core.agreement.counts import (
    OTHER,
    Shares,
    Table4,
    distinct_questions,
    first_places,
    shares,
    table4,
)
from survey.core.agreement.published import PublishedCounts
from survey.services.paper.printed import MEASURES, Comparison, printed

# Below Table 4: "in set 3 and set 9, there is a tie between the values of AP and
# MNRO, while in set 4, there is a tie between NMRR and MNRO."
IDENTICAL = {3: ("AP", "MNRO"), 4: ("NMRR", "MNRO"), 9: ("AP", "MNRO")}
PARTICIPANTS = 30


def published_counts() -> PublishedCounts:
    """Return the counts of Table 4, with what the text below it says of identical orders."""
    names = (*MEASURES, OTHER)
    return PublishedCounts(
        measures=MEASURES,
        votes=tuple(tuple(int(row[name]) for name in names) for row in printed("table4")),
        identical=IDENTICAL,
        participants=PARTICIPANTS,
    )


@dataclass(frozen=True)
class Recount:
    """Table 4 counted again from the printed votes."""

    table: Table4
    shares: Shares
    first_or_tied: dict[str, int]
    first_outright: dict[str, int]
    comparisons: list[Comparison]


def recount_table4() -> Recount:
    """Recompute what the paper says of Table 4: totals, winners, percentages, first places."""
    rows, counts = printed("table4"), published_counts()
    credits, rankings = counts.credits(), counts.rankings()
    table = table4(credits, rankings)
    parts = shares(credits, distinct_questions(rankings))
    or_tied, outright = first_places(table)
    return Recount(table, parts, or_tied, outright, _said_of_table4(table, parts, or_tied, rows))


def _said_of_table4(
    table: Table4, parts: Shares, or_tied: dict[str, int], rows: tuple[dict[str, str], ...]
) -> list[Comparison]:
    """Compare with the numbers in the table and in the text around it (Section 5.3)."""
    of_credits = parts.of_credits or {}
    said = [
        Comparison(f"set {row.question}", "choice", _choice(row.choice), _choice(cells["choice"]))
        for row, cells in zip(table.rows, rows, strict=True)
    ]
    for name, votes in {"AP": "90", "NMRR": "109", "MNRO": "135", OTHER: "20"}.items():
        said.append(Comparison("total", name, str(table.totals[name]), votes))
    for name, part in {"AP": "25.42%", "NMRR": "30.79%", "MNRO": "38.14%", OTHER: "5.65%"}.items():
        said.append(Comparison("share of the 354", name, f"{of_credits[name]:.2%}", part))
    ahead = sum(row.votes["NMRR"] > row.votes["AP"] for row in table.rows)
    said.append(Comparison("NMRR exceeds AP", "sets", str(ahead), "7"))
    said.append(Comparison("first or tied", "MNRO", str(or_tied["MNRO"]), "9"))
    return said


def _choice(names: tuple[str, ...] | str) -> str:
    parts = names.split("-") if isinstance(names, str) else names
    return "-".join(sorted(parts))
