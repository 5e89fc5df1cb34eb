"""Table 4, its shares, and the tests over its sets as tables to be read."""

from survey.core.agreement.set_level import OverSets, SetLevel
from survey.core.agreement.verdicts import p_text
from survey.services.paper.table4.evidence import interval, listed, percent, points, votes, whole
from survey.services.paper.table4.recount import Recount
from survey.services.reporting.sheets import Sheet

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
