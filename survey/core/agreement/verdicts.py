"""What the votes support, in words: one statement for each pair of measures.

A measure is called preferred only where the test, corrected for all comparisons, says so: for
questions of this kind the test by components of variance (T2), where the interval for these
questions excludes zero besides, since what holds of the kind must hold of these; for these
questions alone the participants' test (T1). Where answers have no spread, exact tests stand in. And
only where the label permutation shows more than random clicking gives, the advantage of identical
orders included: the tests alone would name a preference among random clicks in up to a fifth of
studies (benchmarks/calibration.md).

A preference that comes from questions alone in which one measure breaks the other's ties is called
a preference for showing no ties (or for showing them), never one between the orders. It is one
between the orders where the questions in which they contradict each other show it by themselves;
else the verdict says that it stays open.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from survey.core.agreement.agreement import Difference, MeanTests
from survey.core.agreement.contrasts import Beyond, ByContrast
from survey.core.agreement.differences import T1, T2, Correction, Pair, least_p
from survey.core.agreement.equivalence import Equivalence
from survey.core.agreement.label_permutation import LabelPermutation
from survey.core.statistics.significance import LEVEL, Interval, p_text, rounded
from survey.core.studies.fields import list_words

# The key and number, in files, of the rules by which verdicts and their tests were made: changed
# rules get another number, so that who replicates knows which ones a bundle follows.
VERDICT_RULES, RULES_NOW = "verdict_rules", 2

NO_LEAD = 1e-9  # a mean of random clicks below this differs from 0 by rounding

# What keeps a corrected p below LEVEL from deciding, after "but".
BY_CHANCE = "random clicks may give as much"
BY_LOOKS = "planned looks leave a lower level"

InWords = Callable[[Interval, float], str]
Scope = Literal["kind", "these", "none", "equal"]
PreferredFor = Literal["orders", "ties", "open"]


@dataclass(frozen=True)
class Verdict:
    """What the votes support for one pair, as values and as a sentence.

    ``scope``: of a preference, "equal" for equality, "none" for neither. ``preferred``: a
    measure's name or None; ``preferred_for``: "orders", or "ties" where the questions in which the
    two contradict each other say nothing or the opposite, or "open" where they say the same, but
    not beyond chance; ``population``: of the preference or equality. ``doubted``: identical orders
    may have made the lead, as the sentence says. ``stopped``: in few words, what keeps a corrected
    p below LEVEL from deciding, else "".
    """

    pair: Pair
    scope: Scope
    preferred: str | None
    preferred_for: PreferredFor | None
    population: str | None
    sentence: str
    doubted: bool = False
    stopped: str = ""

    @classmethod
    def undecided(cls, pair: Pair, sentence: str, stopped: str = "") -> "Verdict":
        """Return the verdict that neither a preference nor equality is shown."""
        return cls(pair, "none", None, None, None, sentence, stopped=stopped)


@dataclass(frozen=True)
class Decision:
    """What a test says of a population: its corrected p, and the interval that it goes with.

    ``exact_test``: where participants do not differ there is no interval, and this test decides.
    """

    population: str
    p: float
    interval: Interval | None = None
    exact_test: str = ""

    @property
    def scope(self) -> Scope:
        """The scope of a verdict that rests on it."""
        return "kind" if self.population == T2 else "these"


SEEN_AGAIN = "seen again"
"""The reason of a further look at results that may be seen already."""


def verdict(difference: Difference, questions: int, level: float = LEVEL) -> Verdict:
    """State what the votes support for a pair, over ``questions``.

    ``level``: below LEVEL where planned looks at results share it.
    """
    pair, equality = difference.pair, difference.equivalence
    if difference.mean is None:
        sentence = f"{pair.first} and {pair.second} cannot be compared: there are no responses."
        return Verdict.undecided(pair, sentence)
    decision = decide(difference, level)
    advantage = _end(difference, questions)
    if decision and beyond_random_clicks(difference.label_permutation, difference.mean):
        return _preference(difference, decision, questions, level)
    reading = _other_reading(difference, None, level)
    if equality and (population := equality.equal_for(level)):
        equal = _equal(difference, equality, population)
        sentence = f"{population_start(population, questions)}, {equal} {reading}{advantage}"
        return Verdict(pair, "equal", None, None, population, sentence)
    not_equal = ""
    if equality:
        not_equal = f"Nor is it shown that they are equal to within {_margin(equality)} points. "
    undecided = _undecided(difference, decision, questions, level)
    sources = _sources(difference.by_contrast, pair, "Of the difference")
    sentence = f"{undecided} {not_equal}{sources}{reading}{advantage}"
    stopped = BY_CHANCE if decision else stopped_by_looks(difference)
    return Verdict.undecided(pair, sentence, stopped)


def stopped_by_looks(tests: MeanTests) -> str:
    """Return what keeps tests that do not decide at a lower level from deciding, else ""."""
    return BY_LOOKS if decide(tests) else ""


def where_it_holds(population: str | None, questions: int, noun: str = "questions") -> str:
    """Return "for questions of this kind", or "for these 10 questions alone"."""
    return f"for {noun} of this kind" if population == T2 else these_questions(questions, noun)


def rests_on(decision: Decision, mean: float, correction: Correction, in_words: InWords) -> str:
    """Return what a decision rests on; ``in_words``: as of ``undecided_difference``."""
    p = corrected_p(decision.p, correction)
    if decision.interval:
        return f" (95 % interval {in_words(decision.interval, mean)}; {p})"
    why = "All participants have the same mean"
    return f". {why}, so there is no interval; by {decision.exact_test} {p}"


def _preference(
    difference: Difference, decision: Decision, questions: int, level: float
) -> Verdict:
    pair, mean = difference.pair, difference.mean or 0.0
    winner, loser = pair if mean > 0 else pair[::-1]
    points = _points(abs(mean))
    what_for = preferred_for(difference.by_contrast, decision.population, mean)
    other_reading = _other_reading(difference, decision, level)
    for_ties, stays_open = _for_ties(difference.by_contrast, winner == pair.first), ""
    if what_for == "open":
        stays_open = f"Whether for its order or {for_ties} stays open"
        if not difference.by_contrast.balanced.responses:
            stays_open += (
                ": wherever the two contradict each other, one also ties lists that the other "
                "orders"
            )
        stays_open += ". "
    sentence = (
        f"{population_start(decision.population, questions)}, {winner} is preferred to {loser}"
        f"{f' {for_ties},' if what_for == 'ties' else ''} by {points} of the responses"
        f"{rests_on(decision, mean, difference.correction, interval_in_points)}. {stays_open}"
        f"{_sources(difference.by_contrast, pair, 'Of these points', mean)}"
        f"{_small(difference, decision.population, level)}"
        f"{_elsewhere(difference, decision, questions, level)}"
        f"{other_reading}"
        f"{_end(difference, questions)}"
    )
    population, doubted = decision.population, bool(other_reading)
    return Verdict(pair, decision.scope, winner, what_for, population, sentence, doubted)


def preferred_for(parts: ByContrast, population: str, mean: float) -> PreferredFor:
    """Return what a preference is for, by balanced questions in which the two contradict.

    ``population``, ``mean``: of the preference.
    """
    if not parts.contradicting.responses:
        return "ties"
    balanced, above = parts.balanced, parts.balanced.above_random_orders
    if not parts.ties_only.responses and not parts.unbalanced.responses:
        return "orders"
    if not balanced.responses:
        return "open"
    if (above.mean or 0.0) * mean <= 0:
        return "ties"
    p = uncorrected_p(above, population)
    beyond_chance = p is not None and p < LEVEL and (balanced.mean or 0.0) * mean > 0
    return "orders" if beyond_chance else "open"


def uncorrected_p(tests: Beyond | MeanTests, population: str) -> float | None:
    """Return p of a population, by itself: of t, or exact where participants have no spread."""
    of_these = tests.participants
    if population == T2 and of_these.p is not None:
        return tests.components.p
    return of_these.sign_flip_p if of_these.p is None else of_these.p


def decide(tests: MeanTests, level: float = LEVEL) -> Decision | None:
    """Return the decision for the widest population for which a corrected test decides."""
    if not tests.mean:
        return None
    decisions = (_of_population(tests), _of_these(tests))
    return next((each for each in decisions if each and each.p < level), None)


def _of_population(tests: MeanTests) -> Decision | None:
    """Return what is decided for questions of this kind (T2), None where nothing can be."""
    if tests.kind.p is None:
        return None
    return Decision(T2, tests.kind.p, tests.kind.ci95, "the signs of participants and questions")


def _of_these(tests: MeanTests) -> Decision | None:
    """Return what is decided for these questions (T1), None where nothing can be."""
    if tests.these.p is None:
        return None
    return Decision(T1, tests.these.p, tests.these.ci95, "exact sign flips of participants")


def beyond_random_clicks(test: LabelPermutation, mean: float | None) -> bool:
    """Tell whether a lead, of this mean, is more than random clicking gives.

    The advantage of identical orders is included.
    """
    lead = test.lead - (test.null_mean or 0.0)
    return lead * (mean or 0.0) > 0 and test.p is not None and test.p < LEVEL


def _undecided(
    difference: Difference,
    decision: Decision | None,
    questions: int,
    level: float,
) -> str:
    first, second = difference.pair.first, difference.pair.second
    observed = (
        f"between {first} and {second}: the observed difference, {difference.pair.title}, "
        f"is {_points(difference.mean or 0.0)} of the responses"
    )
    reach = _reach(difference, questions, interval_in_points)
    reason = why_undecided(difference, level)
    if decision:
        permuted = p_text(difference.label_permutation.p)
        more = "does not show more than random clicking gives"
        reason = f", but the label permutation {more} ({permuted})"
    if not reach:
        no_interval = f"it has no interval, as {difference.participants.why}"
        return f"No preference can be inferred {observed}, and {no_interval}{reason}."
    return f"The votes do not decide {observed}, and its 95 % interval is {reach}{reason}."


def why_undecided(tests: MeanTests, level: float) -> str:
    """Return why tests whose interval leaves zero out, or that have none, do not decide; else "".

    It begins with a comma, or a semicolon where there is no interval that it could contradict.
    """
    interval = tests.these.ci95
    if not tests.mean or (interval and interval[0] <= 0 <= interval[1]):
        return ""
    p = [
        f"{p_text(each.p)} {where}"
        for each, where in (
            (_of_population(tests), "for the kind"),
            (_of_these(tests), "for these"),
        )
        if each
    ]
    if not p:
        return ""
    is_alone = tests.correction.comparisons == 1
    corrected = "" if is_alone else f"{tests.correction} "
    below = ", and planned looks leave no level before someone has finished"
    if level:
        below = f", not below {_level_text(level)}, which planned looks leave"
    but = ", but " if interval else "; "
    bounds = _bounds(tests, level)
    return f"{but}{corrected}{' and '.join(p)}{below * (level < LEVEL)}{bounds}"


def _bounds(tests: MeanTests, level: float) -> str:
    """Return a clause on what so few participants and questions can show at all, or "".

    Of these questions p is corrected for all comparisons, so that is what its bound is.
    """
    people, comparisons = tests.effective.participants, tests.correction.comparisons
    of_population, of_people = tests.kind.p is not None, least_p(people)
    begin = "no p is below"
    if comparisons > 1:
        begin = "no p for these is below"
        if of_population and of_people >= level:
            begin = f"no p is below {_least_text(of_people)} for the kind and, for these, below"
    bounds = [_bound(people, "participants", level, comparisons, begin)]
    if of_population and least_p(tests.effective.questions) > of_people:
        bounds.insert(0, _bound(tests.effective.questions, "questions", level))
    named = [bound.removeprefix(": ") for bound in bounds if bound]
    return f": {'; '.join(named)}" if named else ""


def _bound(
    effective: float,
    what: str,
    level: float,
    comparisons: int = 1,
    begin: str = "no p is below",
) -> str:
    """Return a clause on what so few participants or questions can show at all, or "".

    ``comparisons``: for which the p is corrected.
    """
    least = min(1.0, comparisons * least_p(effective))
    if not level or least < level:
        return ""
    needed = math.floor(1 + math.log2(comparisons / level)) + 1
    count = f"{effective:.3g}"
    what = what.removesuffix("s") if count == "1" else what
    return f": with {count} {what} {begin} {_least_text(least)}; it takes {needed}"


def _least_text(least: float) -> str:
    """Format a bound of p so that none that is printed beside it is less."""
    texts = (f"{least:.3g}".removeprefix("0"), p_text(least).removeprefix("p = "))
    return texts[0] if least < 0.001 else min(texts, key=float)


def early_looks(looks: Sequence[Mapping[str, object]], level: float) -> str:
    """Return what is to be said of results that could be seen before the last answers came, or "".

    ``looks``: each with the number of participants who had finished, and a reason; ``level``: at
    which a corrected test decides, below LEVEL where looks were planned.
    """
    counts: list[str] = []
    for each in looks:
        number = each["participants"]
        if counts and each["reason"] == SEEN_AGAIN:
            counts[-1] = f"{counts[-1].removesuffix(')')}; again when {number} had)"
        else:
            people = f"{number} participant{'s' * (number != 1)}"
            counts.append(f"when {people} had finished ({each['reason']})")
    so = (
        "A study that may stop at a result that pleases finds one too often; the tests do not "
        "account for it."
    )
    if level < LEVEL:
        decides = "no test decides before someone has finished"
        if level:
            decides = f"a corrected test decides below p = {_level_text(level)}"
        so = f"Looks were planned, so {decides}."
    seen = f"Results could be seen before the last answers came: {list_words(counts)}."
    if looks:
        return f"{seen} {so}"
    return so if level < LEVEL else ""


def _level_text(level: float) -> str:
    """Format a level below .05 with four decimals, or more where these are all 0."""
    decimals = max(4, math.ceil(-math.log10(level)))
    return f"{level:.{decimals}f}".removeprefix("0")


def _reach(tests: MeanTests, questions: int, in_words: InWords, noun: str = "questions") -> str:
    """Return the intervals of all comparisons together, for both populations."""
    intervals = [
        f"{in_words(test.ci95_simultaneous, 1.0)} {where}"
        for test, where in (
            (tests.kind, f"for {noun} of this kind"),
            (tests.these, these_questions(questions, noun)),
        )
        if test.ci95_simultaneous
    ]
    comparisons = tests.correction.comparisons
    together = f" (for all {comparisons} comparisons together)" * (comparisons > 1)
    return " and ".join(intervals) + together * bool(intervals)


def undecided_difference(
    tests: MeanTests, questions: int, level: float, in_words: InWords, noun: str = "questions"
) -> str:
    """Return how far a difference that nothing decides reaches, and why nothing decides it.

    ``in_words``: formats an interval, for a mean above or below 0; ``noun``: what is sampled.
    """
    reach = _reach(tests, questions, in_words, noun)
    interval = f"its 95 % interval is {reach}"
    if not reach:
        interval = f"it has no interval, as {tests.participants.why}"
    return f"{interval}{why_undecided(tests, level)}"


def population_start(population: str, questions: int, noun: str = "questions") -> str:
    """Return the start of a sentence about a population."""
    return f"F{where_it_holds(population, questions, noun)[1:]}"


def these_questions(questions: int, noun: str = "questions") -> str:
    """Return "for these 10 questions alone"."""
    if questions == 1:
        return f"for the one {noun.removesuffix('s')} that was answered"
    return f"for these {questions} {noun} alone"


def corrected_p(p: float | None, correction: Correction) -> str:
    """Return "p = .023, corrected for 3 comparisons"."""
    return f"{p_text(p)}, {correction}"


def _elsewhere(
    difference: Difference,
    decision: Decision,
    questions: int,
    level: float,
) -> str:
    """Return a sentence on questions of this kind, for a preference on these alone."""
    if decision.population == T2:
        return ""
    of_population = _of_population(difference)
    if of_population is None:
        return f"Of other questions nothing can be said: {difference.kind.why}. "
    if bound := _bound(difference.effective.questions, "questions", level):
        others = "other questions" if questions == 1 else "questions of this kind"
        return f"Of {others} nothing can be said{bound}. "
    rests_on = f"by {of_population.exact_test}"
    if of_population.interval:
        interval = interval_in_points(of_population.interval, difference.mean or 0.0)
        rests_on = f"there the interval is {interval},"
    return (
        f"For questions of this kind it stays open: {rests_on} "
        f"{corrected_p(of_population.p, difference.correction)}. "
    )


def _for_ties(parts: ByContrast, first_wins: bool) -> str:
    """Return what a measure is preferred for where contradictions do not support it."""
    unbalanced = parts.unbalanced.first_ties_fewer
    breaks = (
        parts.first_breaks_ties + unbalanced,
        parts.second_breaks_ties + parts.unbalanced.questions - unbalanced,
    )
    by_winner, by_loser = breaks if first_wins else breaks[::-1]
    if by_winner and not by_loser:
        return "for showing no ties"
    if by_loser and not by_winner:
        return "for showing ties"
    return "where one only breaks ties of the other"


def _sources(parts: ByContrast, pair: Pair, of_what: str, towards: float = 1.0) -> str:
    """Return a sentence on the questions from which a difference comes; empty without ties.

    ``towards``: below 0 for a lead of the second measure, whose points then count as positive.
    """
    ties, contradicting = parts.ties_only, parts.contradicting
    if ties.contribution is None:
        return ""
    sign = -1 if towards < 0 else 1
    if not parts.second_breaks_ties:
        breaking = f"{pair.first} only breaks {pair.second}'s ties"
    elif not parts.first_breaks_ties:
        breaking = f"{pair.second} only breaks {pair.first}'s ties"
    else:
        breaking = "one only breaks ties of the other"
    from_ties = (
        f"{of_what}, {rounded(100 * sign * ties.contribution)} come from "
        f"{ties.questions} question{'s' * (ties.questions != 1)} in which {breaking}"
    )
    if contradicting.contribution is None:
        return f"{from_ties}; in none do the two contradict each other. "
    return (
        f"{from_ties}; from the {contradicting.questions} in which they contradict each other: "
        f"{rounded(100 * sign * contradicting.contribution)}. "
    )


def _other_reading(difference: Difference, decision: Decision | None, level: float) -> str:
    """Return a sentence where the votes minus what redrawn labels give say something else."""
    if not difference.unequal:
        return ""
    above = difference.above_random_clicks
    mean = above.mean or 0.0
    counted = "With what random clicking gives taken from each vote"
    if decision is None:
        decision_above = decide(above, level)
        if decision_above is None or decision_above.interval is None:
            return ""
        ahead = difference.pair.first if mean > 0 else difference.pair.second
        return (
            f"{counted}, {ahead} leads by {_points(abs(mean))} (95 % interval "
            f"{interval_in_points(decision_above.interval, mean)}): identical orders may hide a "
            "preference. "
        )
    p = (above.kind if decision.population == T2 else above.these).p
    same_sign = mean * (difference.mean or 0.0) > 0
    if p is None or (p < level and same_sign):
        return ""
    lead = _points(mean if (difference.mean or 0.0) > 0 else -mean)
    return (
        f"{counted}, the lead is {lead} and not beyond chance "
        f"({corrected_p(p, above.correction)}): identical orders may have made it. "
    )


def _equal(difference: Difference, equality: Equivalence, population: str) -> str:
    """Return what is equal, to within how much, after "For questions of this kind, "."""
    pair = difference.pair
    test = equality.kind if population == T2 else equality.these
    of_this_pair = f", {p_text(test.p)}"
    if test.p_holm != test.p:
        p_holm = p_text(test.p_holm).removeprefix("p = ")
        of_this_pair = f" of this pair by itself, {p_text(test.p)}; {p_holm} corrected"
    return (
        f"{pair.first} and {pair.second} are equal to within "
        f"{_margin(equality)} points: the difference, {pair.title}, "
        f"is {_points(difference.mean or 0.0)} of the responses, and its 90 % interval, "
        f"{interval_in_points(test.ci90, 1.0)}, lies within "
        f"(two one-sided tests{of_this_pair})."
    )


def _small(difference: Difference, population: str, level: float) -> str:
    """Return a sentence on a preference that is shown to be smaller than what matters."""
    equality = difference.equivalence
    if equality is None or equality.equal_for(level) not in (population, T2):
        return ""
    return f"That is less than the {_margin(equality)} points which, by the plan, matter. "


def _margin(equality: Equivalence) -> str:
    return f"{100 * equality.smallest_difference:.6g}"


def _end(difference: Difference, questions: int) -> str:
    """Return what identical orders give, and whether a few people gave most answers."""
    uneven = difference.effective.uneven
    return f"{_advantage(difference, questions)}{f' {uneven}' if uneven else ''}"


def _advantage(difference: Difference, questions: int) -> str:
    """Return the sentence on the lead that identical orders give; every verdict has one."""
    test = difference.label_permutation
    if test.null_mean is None or not test.n:
        return "What identical orders give is not known."
    if abs(test.null_mean) < NO_LEAD:
        return f"Identical orders give neither an advantage{_alike(difference, questions)}."
    first, second = difference.pair.first, difference.pair.second
    ahead, sign = (first, 1) if test.null_mean > 0 else (second, -1)
    lead = rounded(100 * abs(test.null_mean) / test.n)
    article = "an" if lead.startswith("8") or lead.partition(".")[0] in ("11", "18") else "a"
    same = difference.identical
    alike = f"; {first} and {second} are alike in {_in_words(same, questions)}" if same else ""
    return (
        f"Orders are identical in {_in_words(difference.unequal, questions)}, so random clicking "
        f"alone gives {ahead} {article} {lead}-point lead; "
        f"observed: {rounded(100 * (difference.mean or 0.0) * sign)}{alike}."
    )


def _in_words(numbers: Sequence[int], questions: int) -> str:
    """Return "every question", "question 7" or "questions 7, 8 and 9"."""
    if len(numbers) == questions > 1:
        return "every question"
    *others, last = map(str, numbers)
    return f"questions {', '.join(others)} and {last}" if others else f"question {last}"


def _alike(difference: Difference, questions: int) -> str:
    """Return a clause that names the questions in which the two orders are identical."""
    count = len(difference.identical)
    if not count:
        return ""
    which = ", ".join(map(str, difference.identical))
    if count == questions:
        return "; they order the lists alike in every question, so no vote can tell them apart"
    return f"; they order the lists alike in question{'s' * (count > 1)} {which} of {questions}"


def _points(share: float) -> str:
    return f"{rounded(100 * share)} points"


def interval_in_points(interval: Interval | None, mean: float) -> str:
    """Format an interval in points, with its sign reversed for a negative mean."""
    low, high = interval or (float("nan"), float("nan"))
    if mean < 0:
        low, high = -high, -low
    # With few questions a t interval can exceed what is possible.
    low, high = max(low, -1.0), min(high, 1.0)
    return f"{rounded(100 * low)} to {rounded(100 * high)}"
