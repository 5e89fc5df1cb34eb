"""Table 4 again: its votes recounted and tested, and what the paper's claims about it are worth.

The paper's sentences and our reasons are in ``exhibits/table4.yaml``; verdicts and the numbers
of the reasons are computed from the recount and the tests over its sets.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from survey.core.agreement.agreement import counts_as_json
from survey.core.agreement.credits import OTHER, Shares, Table4, distinct_questions, shares
from survey.core.agreement.credits import credits_per_question as tabulate
from survey.core.statistics.significance import LEVEL, p_text
from survey.paper.claim_kinds import ALMOST_ALL, enough
from survey.paper.reproduction import (
    NOT_SUPPORTED,
    PAPER_MEASURES,
    Check,
    Checks,
    Claim,
    PrintComparison,
    Reproduction,
    claims_document,
    exhibit_remarks,
    exhibit_sheet,
    judge_claims,
    name_sets,
    printed_rows,
)
from survey.paper.set_level import (
    FirstPlaces,
    PublishedCounts,
    SetLevel,
    SetTests,
    most_points_apart,
    p_if_participants_differ,
    set_level,
)

# Below Table 4: "in set 3 and set 9, there is a tie between the values of AP and
# MNRO, while in set 4, there is a tie between NMRR and MNRO."
IDENTICAL = {3: ("AP", "MNRO"), 4: ("NMRR", "MNRO"), 9: ("AP", "MNRO")}
PAPER_PARTICIPANTS = 30
USUAL_SPREADS = (15, 20)  # of people's own leads, in points
TOTALS_IN_TEXT = {"AP": "90", "NMRR": "109", "MNRO": "135", OTHER: "20"}
SHARES_IN_TEXT = {"AP": "25.42%", "NMRR": "30.79%", "MNRO": "38.14%", OTHER: "5.65%"}

SCOPES = {
    "all_sets": "(all sets)",
    "free": "the two orders differ",
    "distinct": "all orders differ",
}
TABLE4_SHARES = {
    "of_credits": "of all credits and custom rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to sets whose orders all differ",
}


def published_counts() -> PublishedCounts:
    """Return the votes of Table 4 with the identical orders that the text below it names."""
    names = (*PAPER_MEASURES, OTHER)
    return PublishedCounts(
        measures=PAPER_MEASURES,
        votes=tuple(tuple(int(row[name]) for name in names) for row in printed_rows("table4")),
        identical=IDENTICAL,
        participants=PAPER_PARTICIPANTS,
    )


def recount(counts: PublishedCounts) -> tuple[Table4, Shares]:
    """Return the counts as Table 4 and the shares under four denominators."""
    credits, rankings = counts.credits(), counts.rankings()
    return tabulate(credits, rankings), shares(credits, distinct_questions(rankings))


@cache
def table4() -> Reproduction:
    """Return the recount beside the print, the tests over its sets, and the claims.

    Its numbers never change, so that the page about it computes them once.
    """
    counts = published_counts()
    (table, of_votes), level = recount(counts), set_level(counts)
    claims = claims_of_table4(table, of_votes, level)
    limits = exhibit_remarks("table4")
    sheets = tuple(
        exhibit_sheet("table4", name, rows)
        for name, rows in _sheet_rows(table, of_votes, level).items()
    )
    return Reproduction(
        "table4",
        {
            **counts_as_json(table, of_votes),
            "set_level": {**level.as_json(), "limits": list(limits)},
        },
        sheets,
        _comparisons(table, of_votes),
        claims,
        limits,
        documents={
            "table4-claims.md": claims_document("What Table 4 supports", claims, sheets, limits)
        },
    )


def _comparisons(table: Table4, of_votes: Shares) -> tuple[PrintComparison, ...]:
    """Compare the recount with the numbers in the table and in the text around it (Section 5.3)."""
    choices = [
        ("-".join(sorted(row.choice)), "-".join(sorted(cells["choice"].split("-"))))
        for row, cells in zip(table.rows, printed_rows("table4"), strict=True)
    ]
    of_credits = of_votes.of_credits or {}
    ahead = sum(row.votes["NMRR"] > row.votes["AP"] for row in table.rows)
    return (
        *(PrintComparison(f"set {n}", "choice", *choice) for n, choice in enumerate(choices, 1)),
        *(
            PrintComparison("total", name, str(table.totals[name]), votes)
            for name, votes in TOTALS_IN_TEXT.items()
        ),
        *(
            PrintComparison("share of the 354", name, f"{of_credits[name]:.2%}", share)
            for name, share in SHARES_IN_TEXT.items()
        ),
        PrintComparison("NMRR exceeds AP", "sets", str(ahead), "7"),
        PrintComparison("first or tied", "MNRO", str(table.first_or_tied["MNRO"]), "9"),
    )


def claims_of_table4(table: Table4, of_votes: Shares, level: SetLevel) -> tuple[Claim, ...]:
    """Judge the three comparisons of the totals, then the paper's sentences in their order."""
    checks = {
        **_total_checks(table, of_votes, level.first_places["MNRO"]),
        **_set_checks(table, of_votes, level),
        **_test_checks(table, of_votes, level),
    }
    return judge_claims("table4", checks, otherwise=NOT_SUPPORTED)


def _total_checks(table: Table4, of_votes: Shares, first: FirstPlaces) -> Checks:
    """Check what the paper says of the votes in all sets together."""
    totals = table.totals
    of_mnro = [getattr(of_votes, denominator)["MNRO"] for denominator in TABLE4_SHARES]
    printed = {name: f"{share:.2%}" for name, share in (of_votes.of_credits or {}).items()}
    numbers: dict[str, Any] = {
        "credits": sum(totals.values()),
        "responses": PAPER_PARTICIPANTS * len(table.rows),
        "shares": of_votes,
    }
    return {
        "totals": Check(
            {name: str(total) for name, total in totals.items()} == TOTALS_IN_TEXT,
            totals=totals.values(),
            **numbers,
        ),
        # Never supported in the second case: they are shares of credits, not "of the times".
        "percentages": Check([printed == SHARES_IN_TEXT, False], **numbers),
        "reasons": Check(False, **numbers),  # no count shows a reason
        "vast_majority": Check(
            [_in_almost_all(first), min(of_mnro) > 0.5],
            first=first,
            of_responses=of_votes.of_responses,
            least=min(of_mnro),
            most=max(of_mnro),
        ),
    }


def _in_almost_all(first: FirstPlaces) -> bool:
    """Whether a measure is first or tied in all sets but one."""
    return first.or_tied >= enough(ALMOST_ALL, first.n)


def _set_checks(table: Table4, of_votes: Shares, level: SetLevel) -> Checks:
    """Check what the paper says of the single sets."""
    rows, first = table.rows, level.first_places["MNRO"]
    over_half = [row for row in rows if row.votes["MNRO"] > PAPER_PARTICIPANTS / 2]
    tied = [row for row in rows if row.identical]
    ap_first = [row for row in rows if "AP" in row.choice]
    mnro_tied = [row for row in rows if "MNRO" in row.choice and len(row.choice) > 1]
    return {
        "majority": Check(
            [_in_almost_all(first), len(over_half) >= enough(ALMOST_ALL, len(rows))],
            first=first,
            of_responses=of_votes.of_responses,
            rows=rows,
            over_half=over_half,
            shared=[row for row in over_half if any("MNRO" in group for group in row.identical)],
            others=[row for row in rows if row not in over_half],
        ),
        "ties": Check(
            {row.question for row in tied} == set(IDENTICAL)
            and all(row.merged == PAPER_PARTICIPANTS for row in rows),
            tied=tied,
            sums=[sum(row.votes.values()) for row in tied],
        ),
        "ap_first": Check(
            len(ap_first) == 2 and all("MNRO" in row.choice for row in ap_first),
            ap_first=ap_first,
            level=[row for row in ap_first if len(row.choice) == 3],
        ),
        "mnro_first": Check(
            [first.or_tied == 9, first.outright == 9],
            first=first,
            identical=[row for row in mnro_tied if row.identical],
            even=[row for row in mnro_tied if not row.identical],
        ),
    }


def _test_checks(table: Table4, of_votes: Shares, level: SetLevel) -> Checks:
    """Check which preferences the tests over the sets support."""
    totals = table.totals
    tests = {str(each.pair): each for each in level.pairs}
    over_nmrr, of_nmrr = tests["MNRO-NMRR"], tests["NMRR-AP"].scopes["all_sets"].questions
    settled = {name: is_settled(each) for name, each in tests.items()}
    of_sets, leads = over_nmrr.scopes["all_sets"], over_nmrr.lead_without
    mean = of_sets.mean
    over_ap = _condition(tests["MNRO-AP"])
    as_printed = totals["AP"] < totals["NMRR"] < totals["MNRO"]
    is_open = mean.ci95 is not None and mean.ci95[0] < 0 < mean.ci95[1]
    return {
        "mnro_over_ap": _preference(tests["MNRO-AP"], totals),
        "mnro_over_nmrr": _preference(over_nmrr, totals),
        "nmrr_over_ap": _preference(tests["NMRR-AP"], totals),
        "closer_to_preferences": Check(
            [settled["MNRO-AP"], settled["MNRO-NMRR"]],
            words={name: f"{'' if case else 'not '}supported" for name, case in settled.items()},
            over_ap=f" Over AP it holds {over_ap}, which counts do not show." if over_ap else "",
        ),
        # Never supported: votes are not a correlation.
        "correlation_with_quality": Check(
            False, shares=of_votes, over_ap=of_nmrr, over_nmrr=of_sets.questions
        ),
        "nmrr_exceeds_ap": Check(of_nmrr.won == 7, tests=of_nmrr),
        "second_and_last": Check(
            [as_printed, as_printed and settled["MNRO-NMRR"] and settled["NMRR-AP"]],
            totals=totals,
            tests=of_nmrr,
        ),
        "precedence_over_nmrr": Check(
            settled["MNRO-NMRR"],
            tests=over_nmrr,
            least=min(leads),
            most=max(leads),
            least_without=leads.index(min(leads)) + 1,
            most_without=leads.index(max(leads)) + 1,
        ),
        "further_research": Check(
            is_open, mean=mean, state="stays open" if is_open else "is decided"
        ),
    }


def _preference(tests: SetTests, totals: Mapping[str, float]) -> Check:
    """Check what the totals suggest: that more votes mean a preference."""
    ties = f"; in {name_sets(tests.structural_ties)} the two orders are identical"
    return Check(
        is_settled(tests),
        tests=tests,
        condition=_condition(tests),
        if_they_differ=_if_they_differ(tests),
        first=totals[tests.pair.first],
        second=totals[tests.pair.second],
        identical=ties if tests.structural_ties else "",
    )


def _condition(tests: SetTests) -> str:
    """Return up to which spread of people's own leads a settled lead holds, in words.

    "" for a lead that is not settled.
    """
    most = most_points_apart(tests, PAPER_PARTICIPANTS) if is_settled(tests) else None
    if most is None:
        return ""
    return f"if people's own leads differ by a standard deviation of at most {most} points"


def _if_they_differ(tests: SetTests) -> str:
    """Return the p of a settled lead for several spreads of people's own leads, in words.

    "" for a lead that is not settled.
    """
    most = most_points_apart(tests, PAPER_PARTICIPANTS) if is_settled(tests) else None
    if most is None:
        return ""
    figures = [
        f"{p_text(p_if_participants_differ(tests, points / 100, PAPER_PARTICIPANTS))} at {points}"
        for points in sorted({*USUAL_SPREADS, most, most + 1})
    ]
    first, *others = figures
    listed = ", ".join([f"{first} points", *(each.removeprefix("p = ") for each in others)])
    return f"By this product's test {listed}. "


def is_settled(tests: SetTests) -> bool:
    """Whether the lead survives Holm's correction in every test, identical orders in or out."""
    p = [tests.exchange.p_holm]
    for scope in tests.scopes.values():
        p += [scope.mean.p_holm, scope.questions.sign_flip_p_holm]
    return all(value is not None and value < LEVEL for value in p)


def _sheet_rows(
    table: Table4, of_votes: Shares, level: SetLevel
) -> dict[str, list[dict[str, Any]]]:
    """Return for each sheet what its cells are filled from, row by row."""
    sets = [
        {
            "set": row.question,
            "votes": row.votes,
            "choice": ", ".join(row.choice),
            "identical": ", ".join(" = ".join(group) for group in row.identical),
            "merged": row.merged,
        }
        for row in table.rows
    ]
    total = {"set": "total", "votes": table.totals, "choice": "", "identical": "", "merged": ""}
    return {
        "votes": [*sets, total],
        "shares": [
            {"kind": text, "shares": getattr(of_votes, denominator)}
            for denominator, text in TABLE4_SHARES.items()
        ],
        "leads": [
            {"tests": tests, "least": min(tests.lead_without), "most": max(tests.lead_without)}
            for tests in level.pairs
        ],
        "tests": [
            {"pair": tests.pair, "where": SCOPES[name], "mean": scope.mean, "sets": scope.questions}
            for tests in level.pairs
            for name, scope in tests.scopes.items()
        ],
        "first": [
            {"measure": name, "total": votes, "first": level.first_places[name]}
            for name, votes in level.totals.items()
        ],
    }
