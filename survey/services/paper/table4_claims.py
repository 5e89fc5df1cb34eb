"""What the paper says around Table 4, and whether its counts support it.

Verdicts and reasons are computed from the recount and the tests over the sets; written by
hand are the paper's sentences and where they are: lines of its manuscript.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from survey.core.agreement.credits import OTHER, Table4Row
from survey.core.agreement.verdicts import p_text, rounded
from survey.core.statistics.significance import MeanTest
from survey.services.paper.recount import IDENTICAL, PARTICIPANTS, Recount
from survey.services.paper.reproduction import HOLDS, IN_PART, NOT_SUPPORTED, Claim, join_words
from survey.services.paper.set_level import PairTests, SetLevel

LEVEL = 0.05


@dataclass(frozen=True)
class Evidence:
    """Table 4 counted again, and tested with its sets as units."""

    recount: Recount
    level: SetLevel

    @property
    def rows(self) -> tuple[Table4Row, ...]:
        """The sets of Table 4."""
        return self.recount.table.rows

    @property
    def totals(self) -> dict[str, float]:
        """Votes over all sets, by measure and OTHER."""
        return self.recount.table.totals

    @property
    def responses(self) -> int:
        """The number of answers, one for each participant and set."""
        return PARTICIPANTS * len(self.rows)

    @property
    def credits(self) -> str:
        """The sum of all cells, as text."""
        return whole(sum(self.totals.values()))

    def pair(self, name: str) -> PairTests:
        """Return the tests of a pair, such as MNRO-AP."""
        return next(tests for tests in self.level.pairs if str(tests.pair) == name)

    def share(self, name: str, kind: str = "of_responses") -> float:
        """Return a measure's share of the votes; ``kind``: a field of ``Shares``."""
        share: float = getattr(self.recount.shares, kind)[name]
        return share


def claims_of_table4(evidence: Evidence) -> tuple[Claim, ...]:
    """Judge the three comparisons, then the paper's sentences in their order."""
    rules = (
        *(_closer_to_preferences, _totals, _majority, _ties, _percentages),
        *(_correlation_with_quality, _nmrr_exceeds_ap, _ap_first, _mnro_first, _reasons),
        *(_second_and_last, _precedence_over_nmrr, _further_research, _vast_majority),
    )
    return (*judge_comparisons(evidence), *(rule(evidence) for rule in rules))


def judge_comparisons(evidence: Evidence) -> list[Claim]:
    """Judge what the totals suggest: each measure is preferred to those with fewer votes."""
    totals = evidence.totals
    return [
        Claim(
            "Table 4, totals",
            f"{tests.pair.first} is preferred to {tests.pair.second}: "
            f"{whole(totals[tests.pair.first])} votes against "
            f"{whole(totals[tests.pair.second])}.",
            HOLDS if is_settled(tests) else NOT_SUPPORTED,
            _numbers(tests),
        )
        for tests in map(evidence.pair, ("MNRO-AP", "MNRO-NMRR", "NMRR-AP"))
    ]


def is_settled(tests: PairTests) -> bool:
    """Whether the lead survives Holm's correction in every test, identical orders in or out."""
    p = [tests.exchange.p_holm]
    for scope in (tests.all_sets, tests.free, tests.distinct):
        p += [scope.mean.p_holm, scope.questions.sign_flip_p_holm]
    return all(value is not None and value < LEVEL for value in p)


def _numbers(tests: PairTests) -> str:
    questions, mean = tests.all_sets.questions, tests.all_sets.mean
    distinct = tests.distinct.questions
    return (
        f"The lead is {votes(tests.lead)} votes, where random clicks would give "
        f"{votes(tests.chance_lead)}: {_won_and_lost(tests)}. The mean over the sets is "
        f"{points(mean.mean)} points of the participants (95 % interval {interval(mean)}). "
        f"Flipping the sets' signs gives {p_text(questions.sign_flip_p)}, after Holm's "
        f"correction over the three pairs {p_text(questions.sign_flip_p_holm)}; "
        f"in the {distinct.n} sets whose orders all differ "
        f"{p_text(distinct.sign_flip_p)}, after Holm {p_text(distinct.sign_flip_p_holm)}."
    )


def _won_and_lost(tests: PairTests) -> str:
    free = tests.free.questions
    counts = f"{free.won} sets won, {free.lost} lost, {tests.ties} even"
    if not tests.structural_ties:
        return counts
    return f"{counts}; in {name_sets(tests.structural_ties)} the two orders are identical"


def _closer_to_preferences(evidence: Evidence) -> Claim:
    settled = [is_settled(evidence.pair(name)) for name in ("MNRO-AP", "MNRO-NMRR")]
    over_ap, over_nmrr = ("supported" if case else "not supported" for case in settled)
    return Claim(
        "Section 5, lines 677–678",
        "“Experimental results demonstrate that the proposed performance measure is closer to "
        "the user preferences than other performance measures.”",
        HOLDS if all(settled) else IN_PART if any(settled) else NOT_SUPPORTED,
        f"For MNRO this is {over_ap} over AP and {over_nmrr} over NMRR, as the comparisons above "
        "show.",
    )


def _totals(evidence: Evidence) -> Claim:
    agree = all(c.agrees for c in evidence.recount.comparisons if c.row == "total")
    return Claim(
        "Table 4 and line 852",
        "In total AP has 90 votes, NMRR 109, MNRO 135 and OTHER 20.",
        HOLDS if agree else NOT_SUPPORTED,
        f"The columns add up to {join_words(map(whole, evidence.totals.values()))}. Their sum, "
        f"{evidence.credits}, counts credits, not people: there were {evidence.responses} "
        "responses, and one for an order that two measures share counts for both.",
    )


def _majority(evidence: Evidence) -> Claim:
    rows = evidence.rows
    over_half = [row for row in rows if row.votes["MNRO"] > PARTICIPANTS / 2]
    shared = [row for row in over_half if any("MNRO" in group for group in row.identical)]
    return Claim(
        "Section 5.3, lines 850–852",
        "MNRO “was selected by the majority of users in almost all the sets”.",
        HOLDS if len(over_half) >= len(rows) - 1 else NOT_SUPPORTED,
        f"More than half of the {PARTICIPANTS} chose MNRO's order in {len(over_half)} of "
        f"{len(rows)} sets ({name_sets(row.question for row in over_half)}); in "
        f"{len(shared)} of these it is also another measure's order. In the other "
        f"{len(rows) - len(over_half)} sets half of them or fewer did.",
    )


def _ties(evidence: Evidence) -> Claim:
    tied = [row for row in evidence.rows if row.identical]
    as_printed = {row.question for row in tied} == set(IDENTICAL)
    merged = all(row.merged == PARTICIPANTS for row in evidence.rows)
    sums = join_words(whole(sum(row.votes.values())) for row in tied)
    return Claim(
        "Section 5.3, lines 852–856",
        f"Some rows exceed {PARTICIPANTS} because AP and MNRO tie in sets 3 and 9, and NMRR and "
        "MNRO in set 4.",
        HOLDS if as_printed and merged else NOT_SUPPORTED,
        f"The rows of {name_sets(row.question for row in tied)} add up to {sums}; with tied "
        f"measures counted once, every row is {PARTICIPANTS}. The lists were not printed, so "
        "that their orders are identical is taken from the text.",
    )


def _percentages(evidence: Evidence) -> Claim:
    agree = all(c.agrees for c in evidence.recount.comparisons if "share" in c.row)
    rates = {name: percent(evidence.share(name)) for name in ("AP", "NMRR", "MNRO", OTHER)}
    return Claim(
        "Section 5.3, lines 857–859",
        "AP was chosen “25.42% of the times, NMRR 30.79% and the MNRO 38.14%”; 5.65% agreed "
        "with none.",
        IN_PART if agree else NOT_SUPPORTED,
        f"These are shares of the {evidence.credits} credits. Of the {evidence.responses} "
        f"responses AP was credited in {rates['AP']}, NMRR in {rates['NMRR']}, MNRO in "
        f"{rates['MNRO']}, none in {rates[OTHER]}. With shared votes split MNRO has "
        f"{percent(evidence.share('MNRO', 'split'))}, and in the sets whose orders all differ "
        f"{percent(evidence.share('MNRO', 'distinct_questions'))}.",
    )


def _correlation_with_quality(evidence: Evidence) -> Claim:
    nmrr, mnro = (evidence.pair(name).all_sets.questions for name in ("NMRR-AP", "MNRO-NMRR"))
    return Claim(
        "Section 5.3, lines 860–863",
        "The results “may confirm” a high correlation between NMRR and retrieval quality in "
        "subjective experiments, “further strengthened in MNRO”.",
        NOT_SUPPORTED,
        "Votes for orders are not a correlation, and the orders that participants held were not "
        f"printed. NMRR was credited in {percent(evidence.share('NMRR'))} of the responses; "
        f"neither its lead over AP ({p_text(nmrr.sign_flip_p)}) nor MNRO's over NMRR "
        f"({p_text(mnro.sign_flip_p)}) is settled.",
    )


def _nmrr_exceeds_ap(evidence: Evidence) -> Claim:
    tests = evidence.pair("NMRR-AP").all_sets.questions
    return Claim(
        "Section 5.3, line 863",
        "“NMRR exceeds AP in votes, in 7 of the 10 sets.”",
        HOLDS if tests.won == 7 else NOT_SUPPORTED,
        f"NMRR has more votes in {tests.won} sets, AP in {tests.lost}, and {tests.tied} "
        f"{'is' if tests.tied == 1 else 'are'} even. As a preference it is not settled "
        f"(sign test {p_text(tests.sign_p)}, sign flips {p_text(tests.sign_flip_p)}).",
    )


def _ap_first(evidence: Evidence) -> Claim:
    first = [row for row in evidence.rows if "AP" in row.choice]
    with_mnro = [row for row in first if {"AP", "MNRO"} <= set(row.choice)]
    level = [row.question for row in first if len(row.choice) == 3]
    return Claim(
        "Section 5.3, lines 863–864",
        "“AP is in first place in only 2 sets, in which however, it is tied with MNRO.”",
        HOLDS if len(first) == len(with_mnro) == 2 else NOT_SUPPORTED,
        f"They are {name_sets(row.question for row in first)}, where AP and MNRO give the same "
        f"order, so that neither could have more votes than the other. In {name_sets(level)} "
        "NMRR has as many.",
    )


def _mnro_first(evidence: Evidence) -> Claim:
    """Judge where MNRO has the largest count, beside what chance gives."""
    first = evidence.level.first_places["MNRO"]
    even = [row for row in evidence.rows if "MNRO" in row.choice and len(row.choice) > 1]
    identical = [row.question for row in even if row.identical]
    other = [row.question for row in even if not row.identical]
    return Claim(
        "Section 5.3, lines 864–866",
        "MNRO “gains first place in participants selection in 90% of the sets, losing only in "
        "set 10”.",
        HOLDS if first.outright == 9 else IN_PART if first.or_tied == 9 else NOT_SUPPORTED,
        f"It is first or tied in {first.or_tied} of {first.n} sets, but alone in "
        f"{first.outright}: in {name_sets(identical)} it shares the place with an identical "
        f"order, in {name_sets(other)} the votes are even. Were measures exchanged among the "
        f"orders of each set, {first.expected:.1f} sets would be expected ({first.or_tied} or "
        f"more: {p_text(first.p_at_least)}), and alone {first.expected_outright:.1f} "
        f"({first.outright} or more: {p_text(first.p_outright_at_least)}).",
    )


def _reasons(evidence: Evidence) -> Claim:
    return Claim(
        "Section 5.3, lines 867–869",
        "MNRO “was selected by the majority of the participants mainly due to the common way "
        "that a human judge and our method deal with non-relevant results in the early "
        "positions” (an assumption, the paper says).",
        NOT_SUPPORTED,
        "Counts do not show why an order was chosen. How many participants mostly chose MNRO is "
        f"not known either: it was credited in {percent(evidence.share('MNRO'))} of the responses.",
    )


def _second_and_last(evidence: Evidence) -> Claim:
    totals = evidence.totals
    as_printed = totals["AP"] < totals["NMRR"] < totals["MNRO"]
    settled = all(is_settled(evidence.pair(name)) for name in ("MNRO-NMRR", "NMRR-AP"))
    nmrr = evidence.pair("NMRR-AP").all_sets.questions.sign_flip_p_holm
    return Claim(
        "Section 5.3, lines 879–881",
        "NMRR “is the second choice of participants while the early-precision-oriented MAP "
        "method comes last”.",
        HOLDS if as_printed and settled else IN_PART if as_printed else NOT_SUPPORTED,
        f"It is the order of the totals ({whole(totals['MNRO'])}, {whole(totals['NMRR'])}, "
        f"{whole(totals['AP'])}). Between NMRR and AP it is not beyond chance "
        f"({p_text(nmrr)} after Holm's correction).",
    )


def _precedence_over_nmrr(evidence: Evidence) -> Claim:
    tests = evidence.pair("MNRO-NMRR")
    least, most = min(tests.lead_without), max(tests.lead_without)
    return Claim(
        "Section 5.3, lines 881–884",
        "What mainly contributed to “the precedence of the MNRO over the NMRR” is how results in "
        "late positions are evaluated.",
        HOLDS if is_settled(tests) else NOT_SUPPORTED,
        f"The precedence is {votes(tests.lead)} votes, of which random clicks would give "
        f"{votes(tests.chance_lead)}; it is {votes(least)} without set "
        f"{tests.lead_without.index(least) + 1} and {votes(most)} without set "
        f"{tests.lead_without.index(most) + 1}. Counts cannot show where it comes from.",
    )


def _further_research(evidence: Evidence) -> Claim:
    mean = evidence.pair("MNRO-NMRR").all_sets.mean
    is_open = mean.ci95 is not None and mean.ci95[0] < 0 < mean.ci95[1]
    return Claim(
        "Section 5.3, lines 893–896",
        "As participants are few and alike, “further research and additional experiments are "
        "required” to validate the observations.",
        HOLDS if is_open else NOT_SUPPORTED,
        f"With {mean.n} sets, the 95 % interval of MNRO's lead over NMRR is {interval(mean)} "
        f"points of the participants, so it {'stays open' if is_open else 'is decided'} which of "
        "the two they prefer.",
    )


def _vast_majority(evidence: Evidence) -> Claim:
    kinds = ("of_credits", "of_responses", "split", "distinct_questions")
    shares = [evidence.share("MNRO", kind) for kind in kinds]
    return Claim(
        "Section 6",
        "“According to this experiment, in the vast majority of the cases the retrieval "
        "results of MNRO seem to be in agreement with what humans would select.”",
        HOLDS if min(shares) > 0.5 else NOT_SUPPORTED,
        f"Under each of the four denominators MNRO has less than half: {percent(min(shares))} to "
        f"{percent(max(shares))}.",
    )


def percent(share: float) -> str:
    """Print a share: 45.0 %."""
    return f"{100 * share:.1f} %"


def whole(count: float) -> str:
    """Print a count without decimals."""
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


def name_sets(numbers: Iterable[int]) -> str:
    """Name sets in a sentence: set 4; sets 3 and 9; no set."""
    sets = tuple(numbers)
    return f"set{'s' if len(sets) > 1 else ''} {join_words(sets)}" if sets else "no set"
