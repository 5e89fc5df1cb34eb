"""Claims about who came first in a set, and whether that is a majority."""

from survey.core.agreement.verdicts import p_text
from survey.services.paper.claim import HOLDS, IN_PART, NOT_SUPPORTED, Claim
from survey.services.paper.table4.evidence import Evidence, of_sets, percent
from survey.services.paper.table4.recount import PARTICIPANTS


def by_the_majority(found: Evidence) -> Claim:
    """Judge whether MNRO had a majority, which is more than the largest count."""
    over_half = [row for row in found.rows if row.votes["MNRO"] > PARTICIPANTS / 2]
    shared = [row for row in over_half if any("MNRO" in group for group in row.identical)]
    return Claim(
        "Section 5.3, lines 850–852",
        "MNRO “was selected by the majority of users in almost all the sets”.",
        HOLDS if len(over_half) >= len(found.rows) - 1 else NOT_SUPPORTED,
        f"More than half of the {PARTICIPANTS} chose MNRO's order in {len(over_half)} of "
        f"{len(found.rows)} sets ({of_sets(row.question for row in over_half)}); in "
        f"{len(shared)} of these it is also another measure's order. In the other "
        f"{len(found.rows) - len(over_half)} sets half of them or fewer did.",
    )


def nmrr_exceeds_ap(found: Evidence) -> Claim:
    """Judge in how many sets NMRR is ahead of AP."""
    tests = found.pair("NMRR-AP").all_sets.questions
    return Claim(
        "Section 5.3, line 863",
        "“NMRR exceeds AP in votes, in 7 of the 10 sets.”",
        HOLDS if tests.won == 7 else NOT_SUPPORTED,
        f"NMRR has more votes in {tests.won} sets, AP in {tests.lost}, and {tests.tied} "
        f"{'is' if tests.tied == 1 else 'are'} even. As a preference it is not settled "
        f"(sign test {p_text(tests.sign_p)}, sign flips {p_text(tests.sign_flip_p)}).",
    )


def ap_first(found: Evidence) -> Claim:
    """Judge where AP has the largest count."""
    first = [row for row in found.rows if "AP" in row.choice]
    with_mnro = [row for row in first if {"AP", "MNRO"} <= set(row.choice)]
    level = [row.question for row in first if len(row.choice) == 3]
    return Claim(
        "Section 5.3, lines 863–864",
        "“AP is in first place in only 2 sets, in which however, it is tied with MNRO.”",
        HOLDS if len(first) == len(with_mnro) == 2 else NOT_SUPPORTED,
        f"They are {of_sets(row.question for row in first)}, where AP and MNRO give the same "
        f"order, so that neither could have more votes than the other. In {of_sets(level)} "
        "NMRR has as many.",
    )


def mnro_first(found: Evidence) -> Claim:
    """Judge where MNRO has the largest count, tied or alone, beside what chance gives."""
    one = found.level.first["MNRO"]
    even = [row for row in found.rows if "MNRO" in row.choice and len(row.choice) > 1]
    identical = [row.question for row in even if row.identical]
    other = [row.question for row in even if not row.identical]
    as_said = one.or_tied == 9
    return Claim(
        "Section 5.3, lines 864–866",
        "MNRO “gains first place in participants selection in 90% of the sets, losing only in "
        "set 10”.",
        HOLDS if one.outright == 9 else IN_PART if as_said else NOT_SUPPORTED,
        f"It is first or tied in {one.or_tied} of {one.n} sets, but alone in {one.outright}: in "
        f"{of_sets(identical)} it shares the place with an identical order, in {of_sets(other)} "
        "the votes are even. Were measures exchanged among the orders of each set, "
        f"{one.expected:.1f} sets would be expected ({one.or_tied} or more: "
        f"{p_text(one.p_at_least)}), and alone {one.expected_outright:.1f} ({one.outright} or "
        f"more: {p_text(one.p_outright_at_least)}).",
    )


def vast_majority(found: Evidence) -> Claim:
    """Judge the conclusion against every kind of share."""
    kinds = ("of_credits", "of_responses", "split", "distinct_questions")
    shares = [found.share("MNRO", kind) for kind in kinds]
    return Claim(
        "Section 6",
        "“According to this experiment, in the vast majority of the cases the retrieval "
        "results of MNRO seem to be in agreement with what humans would select.”",
        HOLDS if min(shares) > 0.5 else NOT_SUPPORTED,
        f"Whatever it is divided by, MNRO has less than half: {percent(min(shares))} to "
        f"{percent(max(shares))}.",
    )
