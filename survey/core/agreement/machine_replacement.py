"""Whether a machine may replace one annotator: conditions in order, and one sentence.

The alternative annotator test alone is too weak: where little is relevant, a machine that always
says "not relevant" is as near to the others as a person is (benchmarks/calibration.md). So people
must agree, the machine must agree with them by more than chance, and enough must be asked. Kappa
takes each one's shares of answers as given; alpha counts against a machine that it says "relevant"
far less often than people do, as a coin may, and so lets chance pass less often.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from survey.core.agreement.machines import Agreement, Comparison, Estimate
from survey.core.statistics.annotator_test import AnnotatorTest, annotator_test
from survey.core.statistics.significance import decimal_text

LEAST_PEOPLE = 3
LEAST_UNITS = 50  # of each person
LEAST_TOPICS = 10
MOST_MISSING = 0.05  # of the units that two people judged, without the machine's answer

MAY = "This machine may replace one annotator for items like these: {figures}."
NOT_SHOWN = "It is not shown that this machine may replace one annotator here: {figures}."


@dataclass(frozen=True)
class Replacement:
    """The decision: ``unmet`` names the first condition that does not hold, None where all hold.

    ``sentence``: the decision in words; ``more``: how many more answers of people would decide, in
    words, "" where all hold; ``more_answers``: their number, None where no number would do or where
    more people's answers are not what is missing. ``clustered``: the test with errors clustered by
    topic, None without topics.
    """

    unmet: str | None
    sentence: str
    more: str
    more_answers: int | None
    test: AnnotatorTest
    clustered: AnnotatorTest | None

    @property
    def may_replace(self) -> bool:
        """Whether all conditions hold."""
        return self.unmet is None


class _Unmet(NamedTuple):
    """A condition that does not hold, why, and what would decide."""

    name: str
    figures: str
    more: str
    more_answers: int | None = None


def replacement(
    comparison: Comparison,
    agreement: Agreement,
    epsilon: float,
    q: float = 0.05,
    units: str = "documents",
) -> Replacement:
    """Decide whether the machine may replace one annotator.

    All must hold, in this order: three people; 50 units each; at most 5 % of the units without the
    machine's answer; a winning rate of one half; the same with errors clustered by topic, of ten
    topics, where there are topics; lower ends of machine's and people's agreement above 0, of
    labels and preferences by kappa and by alpha.
    ``units``: what they are called, in the plural.
    """
    test = annotator_test(comparison.scores, epsilon, q)
    clustered = None
    if comparison.topics is not None:
        numbers = np.unique(comparison.topics, return_inverse=True)[1]
        clustered = annotator_test(comparison.scores, epsilon, q, numbers)
    unmet = next(_unmet(comparison, agreement, test, clustered, units), None)
    if unmet is None:
        figures = _figures(test, agreement, epsilon, units)
        return Replacement(None, MAY.format(figures=figures), "", None, test, clustered)
    sentence = NOT_SHOWN.format(figures=unmet.figures)
    return Replacement(unmet.name, sentence, unmet.more, unmet.more_answers, test, clustered)


def _unmet(
    comparison: Comparison,
    agreement: Agreement,
    test: AnnotatorTest,
    clustered: AnnotatorTest | None,
    units: str,
) -> Iterator[_Unmet]:
    answering = [person.units for person in test.people if person.units]
    if len(answering) < LEAST_PEOPLE:
        lacking = LEAST_PEOPLE - len(answering)
        yield _Unmet(
            "three people",
            f"{_count(len(answering), 'people')} cannot test it ({LEAST_PEOPLE} are needed)",
            *_ask(lacking * max([LEAST_UNITS, *answering]), f"by {_count(lacking, 'more people')}"),
        )
    tested = [person.units for person in test.tested]
    most = sorted(answering, reverse=True)[:LEAST_PEOPLE]
    least = min(tested) if len(tested) >= LEAST_PEOPLE else min(most, default=0)
    if least < LEAST_UNITS:
        lacks = [LEAST_UNITS - number for number in (tested if len(tested) >= 3 else most)]
        yield _Unmet(
            f"{LEAST_UNITS} {units} each",
            f"{_count(least, units)} cannot test it ({LEAST_UNITS} are needed)",
            *_ask(
                sum(max(0, lack) for lack in lacks),
                f"so that each person has {LEAST_UNITS} {units}",
            ),
        )
    judged = comparison.answered[:, :-1].sum(axis=1) > 1
    missing = int((judged & ~comparison.answered[:, -1]).sum())
    if missing > MOST_MISSING * judged.sum():
        yield _Unmet(
            "at most 5 % missing",
            f"the machine has no answer to {missing} of {judged.sum()} {units}, and 5 % may be "
            "missing",
            "What is missing are answers of the machine.",
        )
    if not test.passes:
        yield _fails("a winning rate of one half", "", test, units)
    if clustered is not None:
        topics = min((person.clusters for person in clustered.tested), default=0)
        if topics < LEAST_TOPICS:
            per_topic = max(tested) / max(topics, 1)
            yield _Unmet(
                "ten topics",
                f"{_count(topics, 'topics')} cannot test it ({LEAST_TOPICS} are needed)",
                *_ask(
                    math.ceil((LEAST_TOPICS - topics) * per_topic) * len(tested),
                    f"on {_count(LEAST_TOPICS - topics, 'more topics')}",
                ),
            )
        if not clustered.passes:
            name = "a winning rate of one half with errors clustered by topic"
            by_topic = "with errors clustered by topic, "
            yield _fails(name, by_topic, clustered, "topics")
    yield from _chance(comparison, agreement, sum(tested))


def _fails(name: str, start: str, test: AnnotatorTest, units: str) -> _Unmet:
    won, people = sum(person.rejected for person in test.tested), len(test.tested)
    figures = (
        f"{start}it is shown to do as well as {won} of {people} people, to within "
        f"{decimal_text(test.epsilon)}, and half are needed"
    )
    needed = test.clusters_needed
    if needed is None:
        means = sum((person.mean or 0.0) >= test.epsilon for person in test.tested)
        more = (
            f"No number of answers would decide if these differences are true: it is worse than "
            f"{means} of {people} people by that much or more."
        )
        return _Unmet(name, figures, more)
    each = [max(0, needed - person.clusters) for person in test.tested]
    answers = sum(
        math.ceil(lack * person.units / person.clusters)
        for lack, person in zip(each, test.tested, strict=True)
    )
    return _Unmet(
        name,
        figures,
        *_ask(answers, f"on {needed} {units} for each person, if these differences are true"),
    )


def _chance(comparison: Comparison, agreement: Agreement, answers: int) -> Iterator[_Unmet]:
    """Yield the kinds of agreement that chance alone may give."""
    machine_answers = () if comparison.answers is None else comparison.answers[:, -1]
    known = {answer for answer in machine_answers if np.isfinite(answer)}
    constant = ": it always gives the same answer" if len(known) == 1 else ""
    of_machine = ("HM", "machine and person", constant)
    of_people = ("HH", "people", "")
    agreed: list[tuple[tuple[str, str, str], str, Estimate]] = [
        (of_machine, agreement.coefficient, agreement.hm),
        (of_machine, "alpha", agreement.hm_alpha),
        (of_people, agreement.coefficient, agreement.hh),
        (of_people, "alpha", agreement.hh_alpha),
    ]
    for (name, whom, why), coefficient, estimate in agreed:
        if coefficient == "alpha" and comparison.answers is None:
            continue
        if estimate.ci95 is not None and estimate.ci95[0] > 0:
            continue
        figures = f"{whom} are not shown to agree by more than chance{why}"
        figures += f" ({coefficient} {_estimate(estimate)})"
        condition = f"lower end of {name} above 0"
        if estimate.value is None or estimate.ci95 is None or estimate.value <= 0:
            more = "No number of answers would decide if this agreement is the true one."
            yield _Unmet(condition, figures, more)
            continue
        # The reach below the estimate falls with the square root of what is sampled.
        times = ((estimate.value - estimate.ci95[0]) / estimate.value) ** 2
        number = max(agreement.number + 1, math.ceil(times * agreement.number))
        lacking = math.ceil((number / agreement.number - 1) * answers)
        yield _Unmet(
            condition,
            figures,
            *_ask(lacking, f"on {number} {agreement.sampled} in all, if this agreement is true"),
        )


def _ask(answers: int, how: str) -> tuple[str, int]:
    return f"About {answers:,} more answers of people would decide, {how}.", answers


def _figures(test: AnnotatorTest, agreement: Agreement, epsilon: float, units: str) -> str:
    won = sum(person.rejected for person in test.tested)
    return (
        f"it does as well as {won} of {len(test.tested)} people, to within {decimal_text(epsilon)} "
        f"({min(person.units for person in test.tested)} {units} or more each); machine and person "
        f"agree by {agreement.coefficient} {_estimate(agreement.hm)}, two people by "
        f"{_estimate(agreement.hh)}"
    )


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    value = decimal_text(estimate.value)
    if estimate.ci95 is None:
        return f"{value}, without an interval"
    low, high = (decimal_text(end) for end in estimate.ci95)
    return f"{value}, {low} to {high}"


SINGULAR = {"people": "person", "more people": "more person", "queries": "query"}


def _count(number: int, what: str) -> str:
    """Return "1 topic", "4 topics"."""
    return f"{number} {what if number != 1 else SINGULAR.get(what, what.removesuffix('s'))}"
