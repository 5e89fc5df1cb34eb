"""What the paper says around Table 4, and whether its counts support it.

Reasons, and the verdicts that counts can decide, are made from the recount and the tests
over the sets; written by hand is what the paper says, and where: lines of its manuscript.
"""

from survey.core.agreement.counts import OTHER
from survey.services.paper.claim import HOLDS, IN_PART, NOT_SUPPORTED, Claim
from survey.services.paper.table4.evidence import (
    Evidence,
    interval,
    listed,
    of_sets,
    percent,
    whole,
)
from survey.services.paper.table4.first_places import (
    ap_first,
    by_the_majority,
    mnro_first,
    nmrr_exceeds_ap,
    vast_majority,
)
from survey.services.paper.table4.preferences import (
    closer_to_preferences,
    correlation_with_quality,
    precedence_over_nmrr,
    second_and_last,
    the_three_comparisons,
)
from survey.services.paper.table4.recount import IDENTICAL, PARTICIPANTS


def claims_of_table4(found: Evidence) -> tuple[Claim, ...]:
    """Judge the three comparisons, then the paper's sentences in their order."""
    sentences = (
        *(closer_to_preferences, _totals, by_the_majority, _ties, _percentages),
        *(correlation_with_quality, nmrr_exceeds_ap, ap_first, mnro_first, _reasons),
        *(second_and_last, precedence_over_nmrr, _further_research, vast_majority),
    )
    return (*the_three_comparisons(found), *(judge(found) for judge in sentences))


def _totals(found: Evidence) -> Claim:
    totals = found.recount.table.totals.values()
    agree = all(one.agrees for one in found.recount.comparisons if one.row == "total")
    return Claim(
        "Table 4 and line 852",
        "In total AP has 90 votes, NMRR 109, MNRO 135 and OTHER 20.",
        HOLDS if agree else NOT_SUPPORTED,
        f"The columns add up to {listed(map(whole, totals))}. Their sum, {found.credits}, counts "
        f"credits, not people: there were {found.responses} responses, and one for an order "
        "that two measures share counts for both.",
    )


def _ties(found: Evidence) -> Claim:
    tied = [row for row in found.rows if row.identical]
    as_said = {row.question for row in tied} == set(IDENTICAL)
    merged = all(row.merged == PARTICIPANTS for row in found.rows)
    sums = listed(whole(sum(row.votes.values())) for row in tied)
    return Claim(
        "Section 5.3, lines 852–856",
        f"Some rows exceed {PARTICIPANTS} because AP and MNRO tie in sets 3 and 9, and NMRR and "
        "MNRO in set 4.",
        HOLDS if as_said and merged else NOT_SUPPORTED,
        f"The rows of {of_sets(row.question for row in tied)} add up to {sums}; with tied "
        f"measures counted once, every row is {PARTICIPANTS}. The lists were not printed, so "
        "that their orders are identical is taken from the text.",
    )


def _percentages(found: Evidence) -> Claim:
    agree = all(one.agrees for one in found.recount.comparisons if "share" in one.row)
    rates = {name: percent(found.share(name)) for name in ("AP", "NMRR", "MNRO", OTHER)}
    return Claim(
        "Section 5.3, lines 857–859",
        "AP was chosen “25.42% of the times, NMRR 30.79% and the MNRO 38.14%”; 5.65% agreed "
        "with none.",
        IN_PART if agree else NOT_SUPPORTED,
        f"These are shares of the {found.credits} credits. Of the {found.responses} responses "
        f"AP was credited in {rates['AP']}, NMRR in {rates['NMRR']}, MNRO in {rates['MNRO']}, "
        f"none in {rates[OTHER]}. With shared votes split MNRO has "
        f"{percent(found.share('MNRO', 'split'))}, and in the sets whose orders all differ "
        f"{percent(found.share('MNRO', 'distinct_questions'))}.",
    )


def _reasons(found: Evidence) -> Claim:
    return Claim(
        "Section 5.3, lines 867–869",
        "MNRO “was selected by the majority of the participants mainly due to the common way "
        "that a human judge and our method deal with non-relevant results in the early "
        "positions” (an assumption, the paper says).",
        NOT_SUPPORTED,
        "Counts do not say why an order was chosen. How many participants mostly chose MNRO is "
        f"not known either: it was credited in {percent(found.share('MNRO'))} of the responses.",
    )


def _further_research(found: Evidence) -> Claim:
    one = found.pair("MNRO-NMRR").all_sets.mean
    wide = one.ci95 is not None and one.ci95[0] < 0 < one.ci95[1]
    return Claim(
        "Section 5.3, lines 893–896",
        "As participants are few and alike, “further research and additional experiments are "
        "required” to validate the observations.",
        HOLDS if wide else NOT_SUPPORTED,
        f"With {one.n} sets, the 95 % interval of MNRO's lead over NMRR is {interval(one)} points "
        f"of the participants, so it {'stays open' if wide else 'is decided'} which of the two "
        "they prefer.",
    )
