"""Table 4 again: the recount, the tests over its sets, and what its claims are worth."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from survey.core.agreement.verdicts import p_text
from survey.services.paper.recount import Recount, published_counts, recount_table4
from survey.services.paper.reproduction import Claim, Reproduction, listed
from survey.services.paper.set_level import OverSets, PairOverSets, SetLevel, set_level
from survey.services.paper.table4_claims import (
    Evidence,
    claims_of_table4,
    interval,
    percent,
    points,
    votes,
    whole,
)
from survey.services.reporting.sheets import Sheet
from survey.services.reporting.sheets import as_markdown as sheet_as_markdown
from survey.services.reports import counts_as_json, plain

LIMITS = (
    "The paper prints how many votes each set gave and not who cast them. So tests over "
    "participants, errors that count participants and sets alike, McNemar's test and "
    "Cochran's Q cannot be computed.",
    "Every test here takes the sets as its units: questions of this kind, with the same "
    "participants in all of them. How much participants differ is not in it.",
    "A chi-square or z test of the credits is not given: each participant voted in every "
    "set, and one vote for an order that two measures share is counted twice.",
    "The p in brackets is after Holm's correction over the three pairs. “p of as many” is the "
    "chance of as many or more, to one side.",
    "Blind clicks means one column ticked at random in each answer that is not OTHER. A measure "
    "whose order stands in two columns is then credited twice as often.",
    "Exchanging measures gives every order of a set the same chance, however many columns it "
    "stands in, and is exact.",
)


@dataclass(frozen=True)
class Reading(Evidence):
    """The evidence, with the claims judged by it."""

    claims: tuple[Claim, ...]

    @property
    def counts(self) -> tuple[Sheet, ...]:
        """The tables of the votes."""
        return (counted(self.recount), shared_out(self.recount))

    @property
    def tests(self) -> tuple[Sheet, ...]:
        """The tables of the tests."""
        return (leads(self.level), tests_over_sets(self.level), beside_chance(self.level))


@cache
def read_table4() -> Reading:
    """Count, test and judge; the numbers are the paper's, so once is enough."""
    found = Evidence(recount_table4(), set_level(published_counts()))
    return Reading(found.recount, found.level, claims_of_table4(found))


def table4() -> Reproduction:
    """Return the recount beside the print, the tests over its sets, and the claims."""
    found = read_table4()
    recount = found.recount
    return Reproduction(
        "table4",
        {
            **counts_as_json(
                recount.table, recount.shares, recount.first_or_tied, recount.first_outright
            ),
            "set_level": level_as_json(found.level),
        },
        (*found.counts, *found.tests),
        tuple(recount.comparisons),
        found.claims,
        LIMITS,
        documents={"table4-claims.md": as_markdown(found)},
    )


def level_as_json(level: SetLevel) -> dict[str, Any]:
    """Return the tests over the sets as plain values."""
    return {
        "pairs": [_pair(one) for one in level.pairs],
        "totals": {name: plain(one) for name, one in level.totals.items()},
        "first_places": {name: plain(one) for name, one in level.first.items()},
        "limits": list(LIMITS),
    }


def _pair(one: PairOverSets) -> dict[str, Any]:
    return {
        "pair": str(one.pair),
        "by_set": list(one.by_set),
        "lead": one.lead,
        "chance_lead": one.chance_lead,
        "structural_ties": list(one.structural_ties),
        "ties": one.ties,
        "lead_without_set": list(one.without),
        "exchange": plain(one.exchange),
        **{name: _scope(getattr(one, name)) for name in SCOPES},
    }


def _scope(over: OverSets) -> dict[str, Any]:
    return {
        "sets": list(over.sets),
        "t_test": plain(over.mean),
        "questions": plain(over.questions),
    }


def as_markdown(found: Reading) -> str:
    """Write the claims and the tests as a Markdown document."""
    claims = Sheet(
        "claims",
        "Claim by claim",
        ("where", "what is said", "verdict", "why"),
        tuple((one.place, one.said, one.verdict, one.why) for one in found.claims),
    )
    tables = map(sheet_as_markdown, (claims, *found.counts, *found.tests))
    limits = "\n".join(f"- {one}" for one in LIMITS)
    parts = ["# What Table 4 supports\n", *tables, f"## How far this goes\n\n{limits}\n"]
    return "\n".join(parts)


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


def counted(recount: Recount) -> Sheet:
    """Return Table 4 as printed, with its totals and its identical orders."""
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


def shared_out(recount: Recount) -> Sheet:
    """Return the shares of the votes, by what they are shares of."""
    return Sheet(
        "shares",
        "Shares, by what they are shares of",
        ("share", *recount.table.totals),
        tuple(
            (text, *(percent(share) for share in getattr(recount.shares, kind).values()))
            for kind, text in SHARES.items()
        ),
    )


def leads(level: SetLevel) -> Sheet:
    """Return each pair's lead beside what it would be by chance."""
    return Sheet(
        "leads",
        "Leads in votes, all sets together",
        (
            *("pair", "lead", "by blind clicks", "leaving one set out"),
            *("p by exchange (Holm)", "identical in sets"),
        ),
        tuple(
            (
                str(one.pair),
                votes(one.lead),
                votes(one.chance_lead),
                f"{votes(min(one.without))} to {votes(max(one.without))}",
                _p(one.exchange.p, one.exchange.p_holm),
                listed(one.structural_ties) if one.structural_ties else "none",
            )
            for one in level.pairs
        ),
    )


def tests_over_sets(level: SetLevel) -> Sheet:
    """Return each pair's tests, with and without sets of identical orders."""
    return Sheet(
        "tests",
        "Differences in share, with the sets as units",
        (
            *("pair", "sets where", "n", "won–lost–tied", "sign test p"),
            *("mean, points", "95 % interval", "t test p (Holm)", "sign flips p (Holm)"),
        ),
        tuple(
            (str(one.pair), text, *_tested(getattr(one, scope)))
            for one in level.pairs
            for scope, text in SCOPES.items()
        ),
    )


def _tested(over: OverSets) -> tuple[str, ...]:
    mean, questions = over.mean, over.questions
    return (
        str(mean.n),
        f"{questions.won}–{questions.lost}–{questions.tied}",
        _p(questions.sign_p),
        points(mean.mean),
        interval(mean),
        _p(mean.p, mean.p_holm),
        _p(questions.sign_flip_p, questions.sign_flip_p_holm),
    )


def beside_chance(level: SetLevel) -> Sheet:
    """Return each measure's votes and first places beside their null means."""
    return Sheet(
        "first",
        "Votes and first places, beside what exchanging the measures gives on average",
        (
            *("measure", "votes", "expected", "p of as many", "first or tied", "expected"),
            *("p of as many", "alone first", "expected", "p of as many"),
        ),
        tuple(
            (
                *(name, str(total.observed), f"{total.null_mean:.0f}", _p(total.p_upper)),
                *(str(first.or_tied), f"{first.expected:.1f}", _p(first.p_at_least)),
                *(str(first.outright), f"{first.expected_outright:.1f}"),
                _p(first.p_outright_at_least),
            )
            for (name, total), first in zip(level.totals.items(), level.first.values(), strict=True)
        ),
    )


def _p(p: float | None, corrected: float | None = None) -> str:
    if p is None:
        return "–"
    text = p_text(p).removeprefix("p ").removeprefix("= ")
    return text if corrected is None else f"{text} ({_p(corrected)})"
