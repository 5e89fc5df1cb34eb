"""What the votes support, in words: one statement for each pair of measures.

The rules. A measure is called preferred only where a 95 % interval excludes zero: for
these questions alone where the participants' does (T1), for questions of this kind where
the two-way one does besides (T2), since what holds of the kind must hold of these; in
small studies the two-way interval can be the shorter one by chance. And only where the
label permutation shows more than blind clicks give, the advantage of identical orders
included: the intervals alone would name a preference among blind clicks in 8 % of studies
(benchmarks/calibration.md).
"""

from dataclasses import dataclass

from survey.core.agreement.agreement import Difference
from survey.core.agreement.differences import MeanTest
from survey.core.statistics.results import T1, T2, Interval

LEVEL = 0.05


@dataclass(frozen=True)
class Verdict:
    """``preferred``: a measure's name or None; ``population``: of the preference, or None.

    ``survives_holm``: whether the preference does, over all pairs; None without one.
    """

    pair: str
    preferred: str | None
    population: str | None
    survives_holm: bool | None
    sentence: str


def verdict(difference: Difference, comparisons: int, questions: int) -> Verdict:
    """State what the votes support for one of so many pairs, over so many questions."""
    population, test = _decisive(difference)
    if test is None or not _beyond_blind_clicks(difference, test):
        return Verdict(
            str(difference.pair), None, None, None, _undecided(difference, questions, test)
        )
    mean = test.mean or 0.0
    winner, loser = _ordered(difference, mean)
    survives = test.p_holm is not None and test.p_holm < LEVEL
    sentence = (
        f"{_place(population, questions)}, {winner} is preferred to {loser} by "
        f"{_points(abs(mean))} of {_whose(population)} "
        f"(95 % interval {_interval(test.ci95, mean)}); {_holm(test, survives, comparisons)}. "
        f"{_elsewhere(difference, population, mean)}{_advantage(difference, questions)}"
    )
    return Verdict(str(difference.pair), winner, population, survives, sentence)


def _decisive(difference: Difference) -> tuple[str | None, MeanTest | None]:
    """Return the widest population for which the intervals exclude zero, and its test."""
    if not _excludes_zero(difference.participants):
        return None, None
    if _excludes_zero(difference.two_way):
        return T2, difference.two_way
    return T1, difference.participants


def _excludes_zero(test: MeanTest) -> bool:
    return test.ci95 is not None and (test.ci95[0] > 0 or test.ci95[1] < 0)


def _beyond_blind_clicks(difference: Difference, decisive: MeanTest) -> bool:
    """Whether the lead is more than blind clicks give, identical orders included.

    It is measured in the direction of the decisive mean. Over participants' means that
    may be another than the lead's, where some answered fewer questions than others.
    """
    test = difference.label_permutation
    lead = difference.lead - (test.null_mean or 0.0)
    return lead * (decisive.mean or 0.0) > 0 and test.p is not None and test.p < LEVEL


def _undecided(difference: Difference, questions: int, decisive: MeanTest | None) -> str:
    first, second = difference.pair.first, difference.pair.second
    if difference.mean is None:
        return f"{first} and {second} cannot be compared: there are no responses."
    observed = (
        f"between {first} and {second}: the observed difference, {first} minus {second}, "
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
    """Say what is missing where an interval does exclude zero."""
    if decisive:
        permuted = p_text(difference.label_permutation.p)
        return f", but the label permutation does not show more than blind clicks give ({permuted})"
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


def _ordered(difference: Difference, mean: float) -> tuple[str, str]:
    first, second = difference.pair.first, difference.pair.second
    return (first, second) if mean > 0 else (second, first)


def _place(population: str | None, questions: int) -> str:
    return "For questions of this kind" if population == T2 else _these(questions).capitalize()


def _whose(population: str | None) -> str:
    return "the responses" if population == T2 else "a participant's responses"


def _these(questions: int) -> str:
    return (
        "for the one question of this study"
        if questions == 1
        else (f"for these {questions} questions alone")
    )


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
    """Say what identical orders give, always, in the points of the rest of the sentence."""
    test = difference.label_permutation
    if test.null_mean is None or not test.n:
        return "What identical orders give is not known."
    alike = _alike(difference, questions)
    if not _tells(test.null_mean):
        return f"Identical orders give neither an advantage{alike}."
    first, second = difference.pair.first, difference.pair.second
    ahead, behind = (first, second) if test.null_mean > 0 else (second, first)
    observed = rounded(100 * (difference.mean or 0.0) * (1 if test.null_mean > 0 else -1))
    return (
        f"By blind clicks identical orders alone would give {ahead} a lead of "
        f"{_points(abs(test.null_mean) / test.n)} over {behind}; observed are {observed}{alike}."
    )


def _alike(difference: Difference, questions: int) -> str:
    """Name the questions that cannot tell the two apart."""
    count = len(difference.identical)
    if not count:
        return ""
    which = ", ".join(map(str, difference.identical))
    if count == questions:
        return "; they order the lists alike in every question, so no vote can tell them apart"
    return f"; they order the lists alike in question{'s' * (count > 1)} {which} of {questions}"


def _tells(head_start: float) -> bool:
    return abs(head_start) > 1e-9


def _points(share: float) -> str:
    return f"{rounded(100 * share)} points"


def _interval(interval: Interval | None, mean: float) -> str:
    """Print an interval in points, turned round for a difference that is read in reverse.

    It is cut where no difference can be: few questions can give a t interval beyond that.
    """
    low, high = interval or (float("nan"), float("nan"))
    if mean < 0:
        low, high = -high, -low
    low, high = max(low, -1.0), min(high, 1.0)
    return f"{rounded(100 * low)} to {rounded(100 * high)}"


def rounded(value: float, decimals: int = 1) -> str:
    """Print so many decimals, more where rounding would make zero of an interval's end."""
    exact = round(value, 9) or 0.0  # no error of a float, no minus before zero
    for places in range(decimals, 10):
        text = f"{exact:.{places}f}"
        if float(text) or not exact:
            break
    return text.replace("-", "−")


def p_text(p: float | None) -> str:
    """Print a p value as papers do: p = .023, p < .001; never rounded up to the level."""
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
