"""Claims that one measure is preferred to another, held against the tests over the sets."""

from survey.core.agreement.set_level import PairOverSets
from survey.core.agreement.verdicts import p_text
from survey.services.paper.claim import HOLDS, IN_PART, NOT_SUPPORTED, Claim
from survey.services.paper.table4.evidence import (
    Evidence,
    interval,
    is_settled,
    of_sets,
    percent,
    points,
    votes,
    whole,
)


def the_three_comparisons(found: Evidence) -> list[Claim]:
    """Judge what the totals suggest: each measure is preferred to those with fewer votes."""
    totals = found.recount.table.totals
    return [
        Claim(
            "Table 4, totals",
            f"{one.pair.first} is preferred to {one.pair.second}: "
            f"{whole(totals[one.pair.first])} votes against {whole(totals[one.pair.second])}.",
            HOLDS if is_settled(one) else NOT_SUPPORTED,
            _why(one),
        )
        for one in (found.pair(name) for name in ("MNRO-AP", "MNRO-NMRR", "NMRR-AP"))
    ]


def _why(one: PairOverSets) -> str:
    questions, mean = one.all_sets.questions, one.all_sets.mean
    only = one.distinct.questions
    return (
        f"The lead is {votes(one.lead)} votes, where blind clicks would give "
        f"{votes(one.chance_lead)}: {_won_and_lost(one)}. The mean over the sets is "
        f"{points(mean.mean)} points of the participants (95 % interval {interval(mean)}). "
        f"Flipping the sets' signs gives {p_text(questions.sign_flip_p)}, after Holm's "
        f"correction over the three pairs {p_text(questions.sign_flip_p_holm)}; "
        f"in the {only.n} sets whose orders all differ "
        f"{p_text(only.sign_flip_p)}, after Holm {p_text(only.sign_flip_p_holm)}."
    )


def _won_and_lost(one: PairOverSets) -> str:
    free = one.free.questions
    said = f"{free.won} sets won, {free.lost} lost, {one.ties} even"
    if not one.structural_ties:
        return said
    return f"{said}; in {of_sets(one.structural_ties)} the two orders are identical"


def closer_to_preferences(found: Evidence) -> Claim:
    """Judge the sentence that announces the result."""
    over = {name: is_settled(found.pair(f"MNRO-{name}")) for name in ("AP", "NMRR")}
    said = [
        f"{'supported' if settled else 'not supported'} over {name}"
        for name, settled in over.items()
    ]
    return Claim(
        "Section 5, lines 677–678",
        "“Experimental results demonstrate that the proposed performance measure is closer to "
        "the user preferences than other performance measures.”",
        HOLDS if all(over.values()) else IN_PART if any(over.values()) else NOT_SUPPORTED,
        f"For MNRO this is {said[0]} and {said[1]}, as the comparisons above show.",
    )


def correlation_with_quality(found: Evidence) -> Claim:
    """Judge what is said of a correlation; counts per set cannot hold one."""
    nmrr, mnro = (found.pair(name).all_sets.questions for name in ("NMRR-AP", "MNRO-NMRR"))
    return Claim(
        "Section 5.3, lines 860–863",
        "The results “may confirm” a high correlation between NMRR and retrieval quality in "
        "subjective experiments, “further strengthened in MNRO”.",
        NOT_SUPPORTED,
        "Votes for orders are no correlation, and the orders that participants held were not "
        f"printed. NMRR was credited in {percent(found.share('NMRR'))} of the responses; neither "
        f"its lead over AP ({p_text(nmrr.sign_flip_p)}) nor MNRO's over NMRR "
        f"({p_text(mnro.sign_flip_p)}) is settled.",
    )


def second_and_last(found: Evidence) -> Claim:
    """Judge the order of the three."""
    totals = found.recount.table.totals
    as_said = totals["AP"] < totals["NMRR"] < totals["MNRO"]
    settled = [name for name in ("MNRO-NMRR", "NMRR-AP") if is_settled(found.pair(name))]
    nmrr = found.pair("NMRR-AP").all_sets.questions.sign_flip_p_holm
    return Claim(
        "Section 5.3, lines 879–881",
        "NMRR “is the second choice of participants while the early-precision-oriented MAP "
        "method comes last”.",
        HOLDS if as_said and len(settled) == 2 else IN_PART if as_said else NOT_SUPPORTED,
        f"It is the order of the totals ({whole(totals['MNRO'])}, {whole(totals['NMRR'])}, "
        f"{whole(totals['AP'])}). Between NMRR and AP it is not beyond chance "
        f"({p_text(nmrr)} after Holm's correction).",
    )


def precedence_over_nmrr(found: Evidence) -> Claim:
    """Judge the precedence that the paper goes on to explain."""
    one = found.pair("MNRO-NMRR")
    least, most = min(one.without), max(one.without)
    return Claim(
        "Section 5.3, lines 881–884",
        "What mainly contributed to “the precedence of the MNRO over the NMRR” is how results in "
        "late positions are evaluated.",
        HOLDS if is_settled(one) else NOT_SUPPORTED,
        f"The precedence is {votes(one.lead)} votes, of which blind clicks would give "
        f"{votes(one.chance_lead)}; it is {votes(least)} without set "
        f"{one.without.index(least) + 1} and {votes(most)} without set "
        f"{one.without.index(most) + 1}. What it comes from, counts cannot say.",
    )
