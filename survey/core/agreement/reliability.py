"""How reliable annotators are: Krippendorff's alpha of yes and no, overall, by topic and by person.

A unit is what annotators say yes or no to: a document of a topic, or a pair of its documents. What
is missing was not asked of that annotator. Intervals leave out one unit at a time.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.statistics.significance import Interval, rounded, t_quantile
from survey.core.studies.fields import and_join

RELIABLE, TENTATIVE = 0.8, 0.667  # alpha from which on (Krippendorff 2004, Content Analysis)

Word = Literal["reliable", "tentative", "low", "open"]
Numbers = NDArray[np.float64]

WORDS: tuple[Word, ...] = ("low", "open", "tentative", "reliable")  # the lowest first
SENTENCES: dict[Word, str] = {
    "reliable": "{people} agree well: {figure}",
    "tentative": "{people} agree well enough for tentative conclusions: {figure}",
    "low": "{people} do not agree well enough to rely on: {figure}",
    "open": "whether {people} agree well enough to rely on is not decided: {figure}",
}
NO_INTERVAL = "there is no interval"
MOST_NAMED = 5  # topics


@dataclass(frozen=True)
class TopicReliability:
    """Alpha of a topic's units alone, at most 1; None where all gave the same, or one answered."""

    topic: str
    alpha: float | None
    ci95: Interval | None

    @property
    def may_be_chance(self) -> bool:
        """Whether the interval reaches 0, which is what chance gives."""
        return self.ci95 is not None and self.ci95[0] <= 0


@dataclass(frozen=True)
class AssessorReliability:
    """How an annotator agrees with the others.

    ``alpha``: 1 less the mean disagreement with the others, divided by what chance gives;
    ``alpha_of_others``: alpha without this annotator; ``differs``: whether that rise is more than
    chance, corrected for the number of annotators; of three or more.
    """

    assessor: str
    alpha: float | None
    alpha_of_others: float | None
    differs: bool


@dataclass(frozen=True)
class Reliability:
    """Reliability of annotators; ``word``: by Krippendorff's scale, of the lower of both alphas.

    ``alpha_within_topics``: with the disagreement that chance gives within each topic, so that
    unlike shares of yes among topics do not raise it. ``merged``: of the mean of all annotators
    (Spearman and Brown 1910); ``needed``: how many annotators have a mean of .8.
    """

    alpha: float | None
    ci95: Interval | None
    word: Word
    alpha_within_topics: float | None
    within_topics_ci95: Interval | None
    within_topics_word: Word
    merged: float | None
    needed: int | None
    by_topic: tuple[TopicReliability, ...]
    by_assessor: tuple[AssessorReliability, ...]
    why: str | None

    @property
    def lower(self) -> tuple[float | None, Interval | None, Word]:
        """The alpha that a headline tells, the one with the lower word, with its interval."""
        overall = (self.alpha, self.ci95, self.word)
        within = (self.alpha_within_topics, self.within_topics_ci95, self.within_topics_word)
        ranks = [WORDS.index(each[2]) for each in (overall, within)]
        if within[0] is None or ranks[0] < ranks[1]:
            return overall
        return within if ranks[1] < ranks[0] or within[0] < (overall[0] or 0.0) else overall

    def sentence(self, annotators: int) -> str:
        """Return whether annotators agree well enough, topics at chance, and who differs."""
        alpha, interval, word = self.lower
        people = f"the {annotators} annotators" if annotators > 1 else "annotators"
        if alpha is None or interval is None:
            return f"Whether {people} agree well enough is open: {self.why or NO_INTERVAL}."
        figure = f"alpha {_text(alpha)} ({_text(interval[0])} to {_text(interval[1])})"
        if interval[0] <= 0:
            said = f"The {annotators} annotators agree no better than chance: {figure}"
        else:
            said = SENTENCES[word].format(people=people, figure=figure)
            said = f"{said[0].upper()}{said[1:]}"
        chance = [each.topic for each in self.by_topic if each.may_be_chance]
        differ = [each.assessor for each in self.by_assessor if each.differs]
        more = len(chance) - MOST_NAMED
        if chance:
            named = f"{', '.join(chance[:MOST_NAMED])} and {more} more" if more > 0 else ""
            which = named or and_join(chance)
            said += f"; topic{'s' * (len(chance) > 1)} {which} may be chance"
        if differ:
            said += f"; {and_join(differ)} differ{'s' * (len(differ) == 1)}"
        return f"{said}."

    def more_annotators(self, annotators: int) -> str:
        """Return what all annotators together give, and how many it takes for .8; else ""."""
        if self.merged is None or annotators < 2:
            return ""
        needed = (
            f" For .80 you need {self.needed} annotators."
            if self.needed is not None and self.merged < RELIABLE
            else ""
        )
        return f"All {annotators} merged: {_text(self.merged)}.{needed}"


def _text(alpha: float) -> str:
    return rounded(alpha, 2).replace("0.", ".", 1)


@dataclass(frozen=True)
class _Counts:
    """Of each unit with two answers or more: answers no and yes, and the topic's number."""

    no: Numbers
    yes: Numbers
    topic: NDArray[np.int64]

    @classmethod
    def of(cls, values: Numbers, topic: NDArray[np.int64]) -> "_Counts":
        """Count values, (units, assessors), NaN where missing."""
        yes, answers = np.nansum(values, axis=1), np.isfinite(values).sum(axis=1)
        counted = answers > 1
        return cls((answers - yes)[counted], yes[counted], topic[counted])

    @property
    def disagreement(self) -> Numbers:
        """Of each unit twice the pairs of unlike answers, divided by its answers less 1."""
        return 2 * self.no * self.yes / (self.no + self.yes - 1)

    def alphas(self) -> tuple[float | None, Numbers]:
        """Return alpha, and alpha without each unit."""
        no, yes, observed = self.no.sum(), self.yes.sum(), self.disagreement.sum()
        without = _alpha(no - self.no, yes - self.yes, observed - self.disagreement)
        alpha = float(_alpha(no, yes, observed))
        return (None if math.isnan(alpha) else alpha), without

    def alphas_within_topics(self) -> tuple[float | None, Numbers]:
        """Return alpha with the disagreement expected within topics, and without each unit."""
        size = int(self.topic.max(initial=-1)) + 1
        no, yes = (
            np.bincount(self.topic, each, size).astype(float) for each in (self.no, self.yes)
        )
        expected = _expected(no, yes)
        observed = self.disagreement.sum()
        own_no, own_yes = no[self.topic] - self.no, yes[self.topic] - self.yes
        total = expected.sum() - expected[self.topic] + _expected(own_no, own_yes)
        with np.errstate(invalid="ignore", divide="ignore"):
            without = 1 - (observed - self.disagreement) / total
            alpha = float(1 - observed / expected.sum())
        return (alpha if math.isfinite(alpha) else None), without


def _expected(no: Numbers, yes: Numbers) -> Numbers:
    """Return twice the pairs of unlike answers that chance gives, divided by the answers less 1."""
    expected: Numbers = 2 * no * yes / np.maximum(no + yes - 1, 1)
    return expected


def _alpha(no: Numbers, yes: Numbers, observed: Numbers) -> Numbers:
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Numbers = np.where(no * yes > 0, 1 - observed / _expected(no, yes), np.nan)
    return alpha


def reliability_of(
    assessors: Sequence[str], topics: Mapping[str, NDArray[np.float64]]
) -> Reliability:
    """Compute the reliability of assessors.

    ``topics``: topic → values, (units, assessors), 1 for yes, 0 for no, NaN where not asked.
    """
    values = np.concatenate([np.zeros((0, len(assessors))), *topics.values()])
    sizes = [len(each) for each in topics.values()]
    topic = np.repeat(np.arange(len(sizes)), sizes)
    every = _Counts.of(values, topic)
    alpha, without = every.alphas()
    within, within_without = every.alphas_within_topics()
    interval, within_interval = _interval(alpha, without), _interval(within, within_without)
    by_topic = []
    for name, of_topic in topics.items():
        of_units, rest = _Counts.of(of_topic, np.zeros(len(of_topic), dtype=np.int64)).alphas()
        by_topic.append(TopicReliability(name, of_units, _interval(of_units, rest)))
    spread = alpha if within is None or (alpha is not None and alpha < within) else within
    answering = int(np.isfinite(values).any(axis=0).sum())
    return Reliability(
        alpha=alpha,
        ci95=interval,
        word=word_of(interval),
        alpha_within_topics=within,
        within_topics_ci95=within_interval,
        within_topics_word=word_of(within_interval),
        merged=_merged(spread, answering),
        needed=_needed(spread),
        by_topic=tuple(by_topic),
        by_assessor=tuple(
            _assessor(name, place, values, topic, every) for place, name in enumerate(assessors)
        ),
        why=None if alpha is not None else _why(every),
    )


def _why(counts: _Counts) -> str:
    if not len(counts.yes):
        return "no two annotators did the same topic"
    return "nobody chose a document" if not counts.yes.sum() else "everybody chose every document"


def word_of(interval: Interval | None) -> Word:
    """Return what an alpha with this interval is called."""
    if interval is None:
        return "open"
    if interval[0] >= RELIABLE:
        return "reliable"
    if interval[0] >= TENTATIVE:
        return "tentative"
    return "low" if interval[1] < TENTATIVE else "open"


def _interval(value: float | None, without: Numbers) -> Interval | None:
    """Return the interval of a value by what it is without each unit, within -1 and 1."""
    if value is None or (se := _jackknife_se(without)) is None:
        return None
    reach = t_quantile(0.975, len(without) - 1) * se
    return max(-1.0, value - reach), min(1.0, value + reach)


def _jackknife_se(without: Numbers) -> float | None:
    number = len(without)
    if number < 2 or not np.isfinite(without).all():
        return None
    squares = float(((without - without.mean()) ** 2).sum())
    return math.sqrt(squares * (number - 1) / number)


def _assessor(
    name: str, place: int, values: Numbers, topic: NDArray[np.int64], every: _Counts
) -> AssessorReliability:
    own, others = values[:, place], np.delete(values, place, axis=1)
    yes, answers = np.nansum(others, axis=1), np.isfinite(others).sum(axis=1)
    both = np.isfinite(own) & (answers > 0)
    unlike = np.where(own == 1, answers - yes, yes)[both]
    no_of_all, yes_of_all = every.no.sum(), every.yes.sum()
    alpha = None
    if both.any() and no_of_all * yes_of_all:
        expected = _expected(no_of_all, yes_of_all) / (no_of_all + yes_of_all)
        alpha = float(1 - (unlike / answers[both]).mean() / expected)
    left = _Counts.of(others, topic)
    of_others, _ = left.alphas()
    differs = False
    if values.shape[1] > 2 and of_others is not None:
        differs = _differs(values, others, len(values[0]))
    return AssessorReliability(name, alpha, of_others, differs)


def _differs(values: Numbers, others: Numbers, assessors: int) -> bool:
    """Return whether alpha rises without an assessor by more than chance."""
    rises = _without_each(others) - _without_each(values)
    rise = float(rises[-1])
    units = rises[:-1][np.isfinite(values).sum(axis=1) > 1]
    se = _jackknife_se(units)
    if not se or not math.isfinite(rise):
        return False
    return rise / se > t_quantile(1 - 0.025 / assessors, len(units) - 1)


def _without_each(values: Numbers) -> Numbers:
    """Return alpha without each unit of values, (units,), and at the end that of all."""
    yes, answers = np.nansum(values, axis=1), np.isfinite(values).sum(axis=1)
    counted = answers > 1
    no, yes = np.where(counted, answers - yes, 0.0), np.where(counted, yes, 0.0)
    observed = 2 * no * yes / np.maximum(no + yes - 1, 1)
    everything = _alpha(no.sum(), yes.sum(), observed.sum())
    without = _alpha(no.sum() - no, yes.sum() - yes, observed.sum() - observed)
    return np.append(without, everything)


def _merged(alpha: float | None, annotators: int) -> float | None:
    """Return the reliability of the mean of some annotators (Spearman and Brown).

    None of an alpha below 0, of which the formula makes anything, and divides by 0.
    """
    if alpha is None or alpha < 0 or annotators < 2:
        return None
    return annotators * alpha / (1 + (annotators - 1) * alpha)


def _needed(alpha: float | None) -> int | None:
    """Return how many annotators have a mean whose reliability is .8."""
    if alpha is None or alpha <= 0:
        return None
    return max(1, math.ceil(RELIABLE * (1 - alpha) / ((1 - RELIABLE) * alpha) - 1e-9))
