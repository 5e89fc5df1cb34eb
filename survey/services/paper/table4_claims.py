"""What the paper says around Table 4, and whether its counts support it.

Reasons, and the verdicts that counts can decide, are made from the recount and the tests
over the sets; written by hand is what the paper says, and where: lines of its manuscript.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from survey.core.agreement.counts import OTHER, Table4Row
from survey.core.agreement.differences import MeanTest
from survey.core.agreement.verdicts import p_text, rounded
from survey.services.paper.recount import IDENTICAL, PARTICIPANTS, Recount
from survey.services.paper.reproduction import HOLDS, IN_PART, NOT_SUPPORTED, Claim, listed
from survey.services.paper.set_level import PairOverSets, SetLevel

LEVEL = 0.05


@dataclass(frozen=True)
class Evidence:
    """Table 4 counted again, and tested with its sets as units."""

    recount: Recount
    level: SetLevel

    @property
    def rows(self) -> tuple[Table4Row, ...]:
        """The rows of Table 4."""
        return self.recount.table.rows

    @property
    def responses(self) -> int:
        """Answers, one for each participant and set."""
        return PARTICIPANTS * len(self.rows)

    @property
    def credits(self) -> str:
        """The sum of all cells."""
        return whole(sum(self.recount.table.totals.values()))

    def pair(self, name: str) -> PairOverSets:
        """Return a pair by its name, such as MNRO-AP."""
        return next(one for one in self.level.pairs if str(one.pair) == name)

    def share(self, name: str, kind: str = "of_responses") -> float:
        """Return a measure's share of the votes, by what it is a share of."""
        share: float = getattr(self.recount.shares, kind)[name]
        return share


def is_settled(one: PairOverSets) -> bool:
    """Whether the lead survives Holm's correction in every test, identical orders in or out."""
    p = [one.exchange.p_holm]
    for scope in (one.all_sets, one.free, one.distinct):
        p += [scope.mean.p_holm, scope.questions.sign_flip_p_holm]
    return all(value is not None and value < LEVEL for value in p)


def percent(share: float) -> str:
    """Print a share: 45.0 %."""
    return f"{100 * share:.1f} %"


def whole(count: float) -> str:
    """Print a count that is a whole number."""
    return f"{count:.0f}"


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


def of_sets(numbers: Iterable[int]) -> str:
    """Name sets: set 4; sets 3 and 9."""
    known = tuple(numbers)
    return "no set" if not known else f"set{'s' if len(known) > 1 else ''} {listed(known)}"


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
