"""What the votes support, in words: one statement for each pair of measures.

A measure is called preferred only where a 95 % interval excludes zero: for these questions
alone where the participants' interval does (T1), for questions of this kind where the two-way
interval does besides (T2), since what holds of the kind must hold of these; in small studies
the two-way interval can be the shorter by chance. And only where the label permutation shows
more than random clicking gives, the advantage of identical orders included: the intervals alone
would name a preference among random clicks in 8 % of studies (benchmarks/calibration.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from survey.core.agreement.agreement import Difference
from survey.core.agreement.differences import T1, T2, Pair
from survey.core.statistics.significance import Interval, MeanTest

LEVEL = 0.05
NO_LEAD = 1e-9  # a mean of random clicks below this differs from 0 by rounding


@dataclass(frozen=True)
class Verdict:
    """What the votes support for one pair, as values and as a sentence.

    ``preferred``: a measure's name or None; ``population``: of the preference, or None;
    ``survives_holm``: whether the preference survives Holm's correction over all pairs, None
    without a preference.
    """

    pair: Pair
    preferred: str | None
    population: str | None
    survives_holm: bool | None
    sentence: str


def verdict(difference: Difference, comparisons: int, questions: int) -> Verdict:
    """State what the votes support for a pair, one of ``comparisons``, over ``questions``."""
    population, test = _decisive(difference)
    if test is None or not _beyond_random_clicks(difference, test):
        return Verdict(difference.pair, None, None, None, _undecided(difference, questions, test))
    mean = test.mean or 0.0
    first, second = difference.pair.first, difference.pair.second
    winner, loser = (first, second) if mean > 0 else (second, first)
    survives = test.p_holm is not None and test.p_holm < LEVEL
    if population == T2:
        where, unit = "For questions of this kind", "the responses"
    else:
        where, unit = _these(questions).capitalize(), "a participant's responses"
    sentence = (
        f"{where}, {winner} is preferred to {loser} by {_points(abs(mean))} of {unit} "
        f"(95 % interval {_interval(test.ci95, mean)}); {_holm(test, survives, comparisons)}. "
        f"{_elsewhere(difference, population, mean)}{_advantage(difference, questions)}"
    )
    return Verdict(difference.pair, winner, population, survives, sentence)


def _decisive(difference: Difference) -> tuple[str | None, MeanTest | None]:
    """Return the widest population for which the intervals exclude zero, and its test."""
    if not _excludes_zero(difference.participants):
        return None, None
    if _excludes_zero(difference.two_way):
        return T2, difference.two_way
    return T1, difference.participants


def _excludes_zero(test: MeanTest) -> bool:
    return test.ci95 is not None and (test.ci95[0] > 0 or test.ci95[1] < 0)


def _beyond_random_clicks(difference: Difference, decisive: MeanTest) -> bool:
    """Tell whether the lead is more than random clicking gives, identical orders included.

    The direction is that of the decisive mean, which may be opposite to the lead's where
    some participants answered fewer questions than others.
    """
    test = difference.label_permutation
    lead = difference.lead - (test.null_mean or 0.0)
    return lead * (decisive.mean or 0.0) > 0 and test.p is not None and test.p < LEVEL


def _undecided(difference: Difference, questions: int, decisive: MeanTest | None) -> str:
    first, second = difference.pair.first, difference.pair.second
    if difference.mean is None:
        return f"{first} and {second} cannot be compared: there are no responses."
    observed = (
        f"between {first} and {second}: the observed difference, {difference.pair.title}, "
        f"is {_points(difference.mean)} of the responses"
    )
    reach = _reach(difference, questions)
    if not reach:
        return (
            f"No preference can be inferred {observed}, and it has no interval: "
            f"{difference.participants.why}. {_advantage(difference, questions)}"
        )
    return (
        f"The votes do not decide {observed}, and its 95 % interval is {reach}"
        f"{_but(difference, decisive)}. {_advantage(difference, questions)}"
    )


def _but(difference: Difference, decisive: MeanTest | None) -> str:
    """Return the reason why an interval that excludes zero is not enough."""
    if decisive:
        permuted = p_text(difference.label_permutation.p)
        more = "does not show more than random clicking gives"
        return f", but the label permutation {more} ({permuted})"
    if _excludes_zero(difference.two_way):
        return ", and what holds of the kind would have to hold of these"
    return ""


def _reach(difference: Difference, questions: int) -> str:
    return " and ".join(
        f"{_interval(test.ci95, 1.0)} {where}"
        for test, where in (
            (difference.two_way, "for questions of this kind"),
            (difference.participants, _these(questions)),
        )
        if test.ci95
    )


def _these(questions: int) -> str:
    if questions == 1:
        return "for the one question of this study"
    return f"for these {questions} questions alone"


def _holm(test: MeanTest, survives: bool, comparisons: int) -> str:
    if comparisons == 1:
        return f"{p_text(test.p)}, the only comparison, so nothing has to be corrected"
    outcome = "this survives" if survives else "this does not survive"
    return f"{outcome} Holm's correction over {comparisons} comparisons ({p_text(test.p_holm)})"


def _elsewhere(difference: Difference, population: str | None, mean: float) -> str:
    if population == T2:
        return ""
    wide = difference.two_way.ci95
    if wide is None:
        return f"Of other questions nothing can be said: {difference.two_way.why}. "
    return (
        f"For questions of this kind it stays open: there the interval is {_interval(wide, mean)}. "
    )


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


def _interval(interval: Interval | None, mean: float) -> str:
    """Format an interval in points, with its sign reversed for a negative mean."""
    low, high = interval or (float("nan"), float("nan"))
    if mean < 0:
        low, high = -high, -low
    # With few questions a t interval can exceed what is possible.
    low, high = max(low, -1.0), min(high, 1.0)
    return f"{rounded(100 * low)} to {rounded(100 * high)}"


def rounded(value: float, decimals: int = 1) -> str:
    """Format with ``decimals``, or with more where rounding would turn the value into 0.

    An interval's end that is not 0 must not read as 0.
    """
    exact = round(value, 9) or 0.0  # without a float's error, and never "−0"
    for places in range(decimals, 10):
        text = f"{exact:.{places}f}"
        if float(text) or not exact:
            break
    return text.replace("-", "−")


def p_text(p: float | None) -> str:
    """Format a p value as papers do: p = .023, p < .001; never rounded up to the level."""
    if p is None:
        return "no p value"
    if p < 0.001:
        return "p < .001"
    if p >= 0.9995:
        return "p = 1"
    for decimals in range(3, 10):
        text = f"{p:.{decimals}f}"
        if (float(text) < LEVEL) == (p < LEVEL):
            break
    return f"p = {text.removeprefix('0')}"
