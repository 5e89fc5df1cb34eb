"""Table 4 read again: the recount, the tests over its sets, and what its claims are worth."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from survey.core.agreement.set_level import OverSets, PairOverSets, SetLevel, set_level
from survey.services.paper.claim import Claim
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.table4.claims import claims_of_table4
from survey.services.paper.table4.evidence import Evidence
from survey.services.paper.table4.recount import published_counts, recount_table4
from survey.services.paper.table4.sheets import (
    SCOPES,
    beside_chance,
    counted,
    leads,
    shared_out,
    tests_over_sets,
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
