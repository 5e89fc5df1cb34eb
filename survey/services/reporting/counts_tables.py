"""Tables of who took part and of the votes: Table 3, Table 4, shares, flags."""

from collections.abc import Iterator

from survey.core.agreement.counts import OTHER, Table4
from survey.core.agreement.participants import Spread, Table3
from survey.core.agreement.quality import RULES
from survey.services.analysis import Analysis
from survey.services.reporting.sheets import Cell, Sheet

SHARES = {
    "of_credits": "of all credits and custom rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to questions whose orders all differ",
}


def table3_sheet(table: Table3) -> Sheet:
    """Table 3 of the paper: who took part, and how long it took."""
    rows: list[tuple[Cell, ...]] = [
        ("People participating", table.participants),
        ("of them finished", table.completed),
        ("Questions for each", table.questions_per_participant),
    ]
    for name, numbers in table.numbers.items():
        rows += _spread(name, numbers)
    for name, counts in table.counts.items():
        rows += [(f"{name}: {option}", count) for option, count in counts.items() if count]
    rows += _spread("minutes taken", table.minutes)
    return Sheet("table3", "Participants", ("quantity", "value"), tuple(rows))


def _spread(name: str, found: Spread) -> Iterator[tuple[Cell, ...]]:
    yield f"{name}, mean", found.mean
    yield f"{name}, SD", found.sd


def table4_sheet(table: Table4) -> Sheet:
    """Table 4 of the paper: votes per question."""
    names = (*table.measures, OTHER)
    rows: list[tuple[Cell, ...]] = [
        (row.question, *(row.votes[name] for name in names), "-".join(row.choice) or None)
        for row in table.rows
    ]
    rows.append(("total", *(table.totals[name] for name in names), ""))
    return Sheet(
        name="table4",
        title="Votes per question",
        columns=("question", *names, "choice"),
        rows=tuple(rows),
        note=_identical(table),
        totals=True,
    )


def _identical(table: Table4) -> str:
    told = [
        f"{row.question} ({', '.join(' = '.join(group) for group in row.identical)})"
        for row in table.rows
        if row.identical
    ]
    count = f"Totals count credits, not people: {sum(table.totals.values()):.9g} in all."
    if not told:
        return f"{count} In every question all orders differ."
    return f"{count} Orders are identical in question{'s' * (len(told) > 1)} {', '.join(told)}."


def shares_sheet(analysis: Analysis) -> Sheet:
    """The four kinds of share, in %."""
    votes = analysis.agreement
    names = (*votes.measures, OTHER)
    parts = vars(votes.shares)
    return Sheet(
        name="shares",
        title="Shares in %, by what they are shares of",
        columns=("share", *names),
        rows=tuple(
            (text, *(100 * parts[kind][name] if parts[kind] else None for name in names))
            for kind, text in SHARES.items()
        ),
        decimals=1,
    )


def first_sheet(analysis: Analysis) -> Sheet:
    """In how many questions each measure got most credits."""
    votes = analysis.agreement
    return Sheet(
        name="first",
        title="Questions in which a measure got most votes",
        columns=("place", *votes.measures),
        rows=(
            ("first or tied", *votes.first_or_tied.values()),
            ("alone first", *votes.first_outright.values()),
        ),
    )


def flags_sheet(analysis: Analysis) -> Sheet:
    """Quality flags: who, which, and what was found."""
    return Sheet(
        name="flags",
        title="Quality flags",
        columns=("participant", "flag", "found"),
        rows=tuple((flag.participant, flag.kind, flag.reason) for flag in analysis.flags),
        note=" ".join(f"{kind.capitalize()}: {rule}." for kind, rule in RULES.items()),
    )
