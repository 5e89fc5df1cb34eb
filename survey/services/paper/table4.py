"""Table 4 again: the recount, the tests over its sets, and what its claims are worth."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from survey.core.agreement.verdicts import p_text
from survey.services.analysis.sheets import Sheet, as_markdown
from survey.services.analysis.study_results import counts_as_json, plain
from survey.services.paper.recount import Recount, published_counts, recount_table4
from survey.services.paper.reproduction import Claim, Reproduction, join_words
from survey.services.paper.set_level import PairTests, ScopeTests, SetLevel, set_level
from survey.services.paper.table4_claims import (
    Evidence,
    claims_of_table4,
    interval,
    percent,
    points,
    votes,
    whole,
)

LIMITS = (
    "The paper prints how many votes each set gave, not how each participant voted. So tests over "
    "participants, errors that count participants and sets alike, McNemar's test and "
    "Cochran's Q cannot be computed.",
    "Every test here takes the sets as its units: questions of this kind, with the same "
    "participants in all of them. The tests do not include how much participants differ.",
    "A chi-square or z test of the credits is not given: each participant voted in every "
    "set, and one vote for an order that two measures share is counted twice.",
    "The p in brackets is after Holm's correction over the three pairs. “p (as many)” is the "
    "one-sided chance of as many or more.",
    "Random clicks means one column ticked at random in each answer that is not OTHER. A measure "
    "whose order is in two columns is then credited twice as often.",
    "Exchanging measures gives every order of a set the same chance, however many columns "
    "show it, and is exact.",
)
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


@dataclass(frozen=True)
class Reading(Evidence):
    """The evidence with the claims judged by it, as the page and the documents show them."""

    claims: tuple[Claim, ...]

    @property
    def counts(self) -> tuple[Sheet, ...]:
        """The tables of the votes."""
        return (_votes_sheet(self.recount), _shares_sheet(self.recount))

    @property
    def tests(self) -> tuple[Sheet, ...]:
        """The tables of the tests."""
        return (_leads_sheet(self.level), _tests_sheet(self.level), _chance_sheet(self.level))


@cache
def read_table4() -> Reading:
    """Count, test and judge Table 4; cached, since its numbers never change."""
    evidence = Evidence(recount_table4(), set_level(published_counts()))
    return Reading(evidence.recount, evidence.level, claims_of_table4(evidence))


def table4() -> Reproduction:
    """Return the recount beside the print, the tests over its sets, and the claims."""
    reading = read_table4()
    recount = reading.recount
    return Reproduction(
        "table4",
        {
            **counts_as_json(
                recount.table, recount.shares, recount.first_or_tied, recount.first_outright
            ),
            "set_level": level_as_json(reading.level),
        },
        (*reading.counts, *reading.tests),
        tuple(recount.comparisons),
        reading.claims,
        LIMITS,
        documents={"table4-claims.md": claims_document(reading)},
    )


def level_as_json(level: SetLevel) -> dict[str, Any]:
    """Return the tests over the sets as plain values."""
    return {
        "pairs": [_pair_as_json(tests) for tests in level.pairs],
        "totals": {name: plain(total) for name, total in level.totals.items()},
        "first_places": {name: plain(first) for name, first in level.first_places.items()},
        "limits": list(LIMITS),
    }


def _pair_as_json(tests: PairTests) -> dict[str, Any]:
    return {
        "pair": str(tests.pair),
        "by_set": list(tests.by_set),
        "lead": tests.lead,
        "chance_lead": tests.chance_lead,
        "structural_ties": list(tests.structural_ties),
        "ties": tests.ties,
        "lead_without_set": list(tests.lead_without),
        "exchange": plain(tests.exchange),
        **{name: _scope_as_json(getattr(tests, name)) for name in SCOPES},
    }


def _scope_as_json(scope: ScopeTests) -> dict[str, Any]:
    return {
        "sets": list(scope.sets),
        "t_test": plain(scope.mean),
        "questions": plain(scope.questions),
    }


def claims_document(reading: Reading) -> str:
    """Return the claims and the tests as a Markdown document."""
    claims = Sheet(
        "claims",
        "Claim by claim",
        ("source", "claim", "verdict", "why"),
        tuple((c.source, c.statement, c.verdict, c.why) for c in reading.claims),
    )
    tables = map(as_markdown, (claims, *reading.counts, *reading.tests))
    limits = "\n".join(f"- {limit}" for limit in LIMITS)
    return "\n".join(["# What Table 4 supports\n", *tables, f"## Limits\n\n{limits}\n"])


def _votes_sheet(recount: Recount) -> Sheet:
    totals = recount.table.totals
    rows = [
        (
            *(str(row.question), *(whole(count) for count in row.votes.values())),
            *(", ".join(row.choice), ", ".join(" = ".join(group) for group in row.identical)),
            whole(row.merged),
        )
        for row in recount.table.rows
    ]
    return Sheet(
        "votes",
        "Votes per set",
        ("set", *totals, "most votes", "identical orders", "sum, identical merged"),
        (*rows, ("total", *map(whole, totals.values()), "", "", "")),
    )


def _shares_sheet(recount: Recount) -> Sheet:
    return Sheet(
        "shares",
        "Shares under four denominators",
        ("share", *recount.table.totals),
        tuple(
            (text, *(percent(share) for share in getattr(recount.shares, kind).values()))
            for kind, text in SHARES.items()
        ),
    )


def _leads_sheet(level: SetLevel) -> Sheet:
    return Sheet(
        "leads",
        "Leads in votes, all sets together",
        (
            *("pair", "lead", "by random clicks", "leaving one set out"),
            *("p by exchange (Holm)", "identical in sets"),
        ),
        tuple(
            (
                str(tests.pair),
                votes(tests.lead),
                votes(tests.chance_lead),
                f"{votes(min(tests.lead_without))} to {votes(max(tests.lead_without))}",
                _p(tests.exchange.p, tests.exchange.p_holm),
                join_words(tests.structural_ties) if tests.structural_ties else "none",
            )
            for tests in level.pairs
        ),
    )


def _tests_sheet(level: SetLevel) -> Sheet:
    return Sheet(
        "tests",
        "Differences in share, with the sets as units",
        (
            *("pair", "sets where", "n", "won–lost–tied", "sign test p"),
            *("mean, points", "95 % interval", "t test p (Holm)", "sign flips p (Holm)"),
        ),
        tuple(
            (str(tests.pair), text, *_scope_cells(getattr(tests, scope)))
            for tests in level.pairs
            for scope, text in SCOPES.items()
        ),
    )


def _scope_cells(scope: ScopeTests) -> tuple[str, ...]:
    mean, questions = scope.mean, scope.questions
    return (
        str(mean.n),
        f"{questions.won}–{questions.lost}–{questions.tied}",
        _p(questions.sign_p),
        points(mean.mean),
        interval(mean),
        _p(mean.p, mean.p_holm),
        _p(questions.sign_flip_p, questions.sign_flip_p_holm),
    )


def _chance_sheet(level: SetLevel) -> Sheet:
    return Sheet(
        "first",
        "Votes and first places, beside their averages under exchange of the measures",
        (
            *("measure", "votes", "expected", "p (as many)", "first or tied", "expected"),
            *("p (as many)", "alone first", "expected", "p (as many)"),
        ),
        tuple(
            (
                *(name, str(total.observed), f"{total.null_mean:.0f}", _p(total.p_upper)),
                *(str(first.or_tied), f"{first.expected:.1f}", _p(first.p_at_least)),
                *(str(first.outright), f"{first.expected_outright:.1f}"),
                _p(first.p_outright_at_least),
            )
            for (name, total), first in zip(
                level.totals.items(), level.first_places.values(), strict=True
            )
        ),
    )


def _p(p: float | None, corrected: float | None = None) -> str:
    if p is None:
        return "–"
    text = p_text(p).removeprefix("p ").removeprefix("= ")
    return text if corrected is None else f"{text} ({_p(corrected)})"
