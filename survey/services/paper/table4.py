"""Table 4 again: its votes recounted and tested, and what the paper's claims about it are worth.

The paper's sentences and our reasons are in ``exhibits/table4.yaml``; verdicts and the numbers
of the reasons are computed from the recount and the tests over its sets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from survey.core.agreement.credits import (
    OTHER,
    Shares,
    Table4,
    Table4Row,
    distinct_questions,
    shares,
)
from survey.core.agreement.credits import table4 as tabulate
from survey.core.agreement.verdicts import p_text, rounded
from survey.core.statistics.significance import MeanTest
from survey.services.analysis.sheets import P, Sheet, as_markdown, text_of
from survey.services.analysis.study_results import counts_as_json
from survey.services.paper.reproduction import (
    MEASURES,
    NOT_SUPPORTED,
    Check,
    Checks,
    Claim,
    Comparison,
    Reproduction,
    exhibit_remarks,
    exhibit_sheet,
    join_words,
    judge_claims,
    printed_rows,
)
from survey.services.paper.set_level import (
    PairTests,
    PublishedCounts,
    SetLevel,
    set_level,
)

# Below Table 4: "in set 3 and set 9, there is a tie between the values of AP and
# MNRO, while in set 4, there is a tie between NMRR and MNRO."
IDENTICAL = {3: ("AP", "MNRO"), 4: ("NMRR", "MNRO"), 9: ("AP", "MNRO")}
PARTICIPANTS = 30
TOTALS_IN_TEXT = {"AP": "90", "NMRR": "109", "MNRO": "135", OTHER: "20"}
SHARES_IN_TEXT = {"AP": "25.42%", "NMRR": "30.79%", "MNRO": "38.14%", OTHER: "5.65%"}
LEVEL = 0.05

SCOPES = {
    "all_sets": "(all sets)",
    "free": "the two orders differ",
    "distinct": "all orders differ",
}
SHARES = {
    "of_credits": "of all credits and custom rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to sets whose orders all differ",
}


def published_counts() -> PublishedCounts:
    """Return the votes of Table 4 with the identical orders that the text below it names."""
    names = (*MEASURES, OTHER)
    return PublishedCounts(
        measures=MEASURES,
        votes=tuple(tuple(int(row[name]) for name in names) for row in printed_rows("table4")),
        identical=IDENTICAL,
        participants=PARTICIPANTS,
    )


def recount(counts: PublishedCounts) -> tuple[Table4, Shares]:
    """Return the counts as Table 4 and the four kinds of share."""
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
    tables = {
        "votes": _vote_rows(table),
        "shares": _share_rows(of_votes),
        "leads": _lead_rows(level),
        "tests": _test_rows(level),
        "first": _chance_rows(level),
    }
    sheets = tuple(exhibit_sheet("table4", name, rows) for name, rows in tables.items())
    return Reproduction(
        "table4",
        {
            **counts_as_json(table, of_votes),
            "set_level": {**level.as_json(), "limits": list(limits)},
        },
        sheets,
        _comparisons(table, of_votes, table.first_or_tied),
        claims,
        limits,
        documents={"table4-claims.md": _document(claims, sheets, limits)},
    )


def _comparisons(
    table: Table4, of_votes: Shares, or_tied: dict[str, int]
) -> tuple[Comparison, ...]:
    """Compare with the numbers in the table and in the text around it (Section 5.3)."""
    choices = [
        ("-".join(sorted(row.choice)), "-".join(sorted(cells["choice"].split("-"))))
        for row, cells in zip(table.rows, printed_rows("table4"), strict=True)
    ]
    of_credits = of_votes.of_credits or {}
    ahead = sum(row.votes["NMRR"] > row.votes["AP"] for row in table.rows)
    return (
        *(Comparison(f"set {n}", "choice", *choice) for n, choice in enumerate(choices, 1)),
        *(
            Comparison("total", name, str(table.totals[name]), votes)
            for name, votes in TOTALS_IN_TEXT.items()
        ),
        *(
            Comparison("share of the 354", name, f"{of_credits[name]:.2%}", share)
            for name, share in SHARES_IN_TEXT.items()
        ),
        Comparison("NMRR exceeds AP", "sets", str(ahead), "7"),
        Comparison("first or tied", "MNRO", str(or_tied["MNRO"]), "9"),
    )


def claims_of_table4(table: Table4, of_votes: Shares, level: SetLevel) -> tuple[Claim, ...]:
    """Judge the three comparisons of the totals, then the paper's sentences in their order."""
    rates = {name: percent(rate) for name, rate in (of_votes.of_responses or {}).items()}
    checks = {
        **_total_checks(table, of_votes, rates),
        **_set_checks(table, level),
        **_test_checks(table, level, rates),
    }
    return judge_claims("table4", checks, otherwise=NOT_SUPPORTED)


def _total_checks(table: Table4, of_votes: Shares, rates: Mapping[str, str]) -> Checks:
    """Check what the paper says of the votes in all sets together."""
    totals = table.totals
    kinds = {kind: getattr(of_votes, kind) for kind in SHARES}
    of_mnro = [kind["MNRO"] for kind in kinds.values()]
    credits, responses = sum(totals.values()), PARTICIPANTS * len(table.rows)
    printed = {name: f"{share:.2%}" for name, share in kinds["of_credits"].items()}
    numbers = {"credits": credits, "responses": responses, "rates": rates}
    return {
        "totals": Check(
            {name: str(total) for name, total in totals.items()} == TOTALS_IN_TEXT,
            **numbers,
            totals=join_words(totals.values()),
        ),
        "percentages": Check(
            [printed == SHARES_IN_TEXT, False],  # they are no shares of the times
            **numbers,
            split=percent(kinds["split"]["MNRO"]),
            distinct=percent(kinds["distinct_questions"]["MNRO"]),
        ),
        "reasons": Check(False, **numbers),  # no count shows a reason
        "vast_majority": Check(
            min(of_mnro) > 0.5, least=percent(min(of_mnro)), most=percent(max(of_mnro))
        ),
    }


def _set_checks(table: Table4, level: SetLevel) -> Checks:
    """Check what the paper says of the single sets."""
    rows = table.rows
    over_half = [row for row in rows if row.votes["MNRO"] > PARTICIPANTS / 2]
    shared = [row for row in over_half if any("MNRO" in group for group in row.identical)]
    tied = [row for row in rows if row.identical]
    ap_first = [row for row in rows if "AP" in row.choice]
    mnro_tied = [row for row in rows if "MNRO" in row.choice and len(row.choice) > 1]
    first = level.first_places["MNRO"]
    return {
        "majority": Check(
            len(over_half) >= len(rows) - 1,
            over_half=len(over_half),
            sets=len(rows),
            which=name_sets(over_half),
            shared=len(shared),
            others=len(rows) - len(over_half),
        ),
        "ties": Check(
            {row.question for row in tied} == set(IDENTICAL)
            and all(row.merged == PARTICIPANTS for row in rows),
            which=name_sets(tied),
            sums=join_words(sum(row.votes.values()) for row in tied),
        ),
        "ap_first": Check(
            len(ap_first) == 2 and all("MNRO" in row.choice for row in ap_first),
            which=name_sets(ap_first),
            level=name_sets(row for row in ap_first if len(row.choice) == 3),
        ),
        "mnro_first": Check(
            [first.or_tied == 9, first.outright == 9],
            first=first,
            identical=name_sets(row for row in mnro_tied if row.identical),
            even=name_sets(row for row in mnro_tied if not row.identical),
            p=p_text(first.p_at_least),
            p_outright=p_text(first.p_outright_at_least),
        ),
    }


def _test_checks(table: Table4, level: SetLevel, rates: Mapping[str, str]) -> Checks:
    """Check which preferences the tests over the sets support."""
    totals = table.totals
    tests = {str(each.pair): each for each in level.pairs}
    over_ap, over_nmrr, nmrr_over_ap = (tests[name] for name in ("MNRO-AP", "MNRO-NMRR", "NMRR-AP"))
    settled = {name: is_settled(each) for name, each in tests.items()}
    words = {name: "supported" if case else "not supported" for name, case in settled.items()}
    of_nmrr, mean = nmrr_over_ap.all_sets.questions, over_nmrr.all_sets.mean
    as_printed = totals["AP"] < totals["NMRR"] < totals["MNRO"]
    least, most = min(over_nmrr.lead_without), max(over_nmrr.lead_without)
    is_open = mean.ci95 is not None and mean.ci95[0] < 0 < mean.ci95[1]
    return {
        "mnro_over_ap": _preference(over_ap, totals),
        "mnro_over_nmrr": _preference(over_nmrr, totals),
        "nmrr_over_ap": _preference(nmrr_over_ap, totals),
        "closer_to_preferences": Check(
            [settled["MNRO-AP"], settled["MNRO-NMRR"]],
            over_ap=words["MNRO-AP"],
            over_nmrr=words["MNRO-NMRR"],
        ),
        "correlation_with_quality": Check(
            False,  # votes are no correlation
            rates=rates,
            over_ap=p_text(of_nmrr.sign_flip_p),
            over_nmrr=p_text(over_nmrr.all_sets.questions.sign_flip_p),
        ),
        "nmrr_exceeds_ap": Check(
            of_nmrr.won == 7,
            tests=of_nmrr,
            sign_p=p_text(of_nmrr.sign_p),
            flip_p=p_text(of_nmrr.sign_flip_p),
        ),
        "second_and_last": Check(
            [as_printed, as_printed and settled["MNRO-NMRR"] and settled["NMRR-AP"]],
            totals=totals,
            p=p_text(of_nmrr.sign_flip_p_holm),
        ),
        "precedence_over_nmrr": Check(
            settled["MNRO-NMRR"],
            lead=votes(over_nmrr.lead),
            chance_lead=votes(over_nmrr.chance_lead),
            least=votes(least),
            least_without=over_nmrr.lead_without.index(least) + 1,
            most=votes(most),
            most_without=over_nmrr.lead_without.index(most) + 1,
        ),
        "further_research": Check(
            is_open,
            sets=mean.n,
            interval=interval(mean),
            state="stays open" if is_open else "is decided",
        ),
    }


def _preference(tests: PairTests, totals: Mapping[str, float]) -> Check:
    """Check what the totals suggest: that more votes mean a preference."""
    free, questions, mean = tests.free.questions, tests.all_sets.questions, tests.all_sets.mean
    distinct = tests.distinct.questions
    won_and_lost = f"{free.won} sets won, {free.lost} lost, {tests.ties} even"
    if tests.structural_ties:
        won_and_lost += f"; in {name_sets(tests.structural_ties)} the two orders are identical"
    return Check(
        is_settled(tests),
        pair=tests.pair,
        first=totals[tests.pair.first],
        second=totals[tests.pair.second],
        lead=votes(tests.lead),
        chance_lead=votes(tests.chance_lead),
        won_and_lost=won_and_lost,
        mean=points(mean.mean),
        interval=interval(mean),
        p=p_text(questions.sign_flip_p),
        p_holm=p_text(questions.sign_flip_p_holm),
        distinct=distinct.n,
        p_distinct=p_text(distinct.sign_flip_p),
        p_holm_distinct=p_text(distinct.sign_flip_p_holm),
    )


def is_settled(tests: PairTests) -> bool:
    """Whether the lead survives Holm's correction in every test, identical orders in or out."""
    p = [tests.exchange.p_holm]
    for scope in tests.scopes.values():
        p += [scope.mean.p_holm, scope.questions.sign_flip_p_holm]
    return all(value is not None and value < LEVEL for value in p)


def _document(claims: Sequence[Claim], sheets: Sequence[Sheet], limits: Sequence[str]) -> str:
    """Return the claims and the tables as a Markdown document."""
    listing = Sheet(
        "claims",
        "Claim by claim",
        ("source", "claim", "verdict", "why"),
        tuple((claim.source, claim.statement, claim.verdict, claim.why) for claim in claims),
    )
    tables = map(as_markdown, (listing, *sheets))
    listed = "\n".join(f"- {limit}" for limit in limits)
    return "\n".join(["# What Table 4 supports\n", *tables, f"## Limits\n\n{listed}\n"])


def _vote_rows(table: Table4) -> Iterator[tuple[str, ...]]:
    for row in table.rows:
        identical = ", ".join(" = ".join(group) for group in row.identical)
        cells = (*map(str, row.votes.values()), ", ".join(row.choice), identical)
        yield str(row.question), *cells, str(row.merged)
    yield "total", *map(str, table.totals.values()), "", "", ""


def _share_rows(of_votes: Shares) -> Iterator[tuple[str, ...]]:
    for kind, text in SHARES.items():
        yield text, *map(percent, getattr(of_votes, kind).values())


def _lead_rows(level: SetLevel) -> Iterator[tuple[str, ...]]:
    for tests in level.pairs:
        yield (
            tests.pair.title,
            votes(tests.lead),
            votes(tests.chance_lead),
            f"{votes(min(tests.lead_without))} to {votes(max(tests.lead_without))}",
            _p(tests.exchange.p, tests.exchange.p_holm),
            join_words(tests.structural_ties) if tests.structural_ties else "none",
        )


def _test_rows(level: SetLevel) -> Iterator[tuple[str, ...]]:
    for tests in level.pairs:
        for name, scope in tests.scopes.items():
            mean, questions = scope.mean, scope.questions
            yield (
                tests.pair.title,
                SCOPES[name],
                str(mean.n),
                f"{questions.won}–{questions.lost}–{questions.tied}",
                _p(questions.sign_p),
                points(mean.mean),
                interval(mean),
                _p(mean.p, mean.p_holm),
                _p(questions.sign_flip_p, questions.sign_flip_p_holm),
            )


def _chance_rows(level: SetLevel) -> Iterator[tuple[str, ...]]:
    for name, total in level.totals.items():
        first = level.first_places[name]
        yield (
            *(name, str(total.observed), f"{total.null_mean:.0f}", _p(total.p_upper)),
            *(str(first.or_tied), f"{first.expected:.1f}", _p(first.p_at_least)),
            *(str(first.outright), f"{first.expected_outright:.1f}", _p(first.p_outright_at_least)),
        )


def _p(p: float | None, corrected: float | None = None) -> str:
    text = text_of(None if p is None else P(p))
    return text if corrected is None else f"{text} ({_p(corrected)})"


def percent(share: float) -> str:
    """Print a share: 45.0 %."""
    return f"{100 * share:.1f} %"


def points(share: float | None) -> str:
    """Print a difference of shares in percentage points, a dash where it is undefined."""
    return "–" if share is None else rounded(100 * share)


def votes(count: float) -> str:
    """Print a lead in votes with its sign: +26, −8.7, 0."""
    text = f"{count:+.1f}".removesuffix(".0").replace("-", "−")
    return "0" if text in {"+0", "−0"} else text


def interval(test: MeanTest) -> str:
    """Print a 95 % interval in points: −6.1 to 23.5."""
    return f"{points(test.ci95[0])} to {points(test.ci95[1])}" if test.ci95 else "–"


def name_sets(sets: Iterable[int | Table4Row]) -> str:
    """Name sets in a sentence: set 4; sets 3 and 9; no set."""
    numbers = [each.question if isinstance(each, Table4Row) else each for each in sets]
    return f"set{'s' if len(numbers) > 1 else ''} {join_words(numbers)}" if numbers else "no set"
