"""How reliable annotators are: Krippendorff's alpha of yes and no, overall, by topic and by person.

A unit is what annotators say yes or no to: a document of a topic, or a pair of its documents. What
is missing was not asked of that annotator. Intervals leave out one document at a time; with it
leave all its pairs, which are not independent (Arvesen 1969, Annals of Mathematical Statistics).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.statistics.significance import Interval, decimal_text, ends_text, t_quantile
from survey.core.studies.fields import list_words

RELIABLE, TENTATIVE = 0.8, 0.667  # alpha from which on (Krippendorff 2004, Content Analysis)

Word = Literal["reliable", "tentative", "low", "open"]
Numbers = NDArray[np.float64]
Same = tuple[str, str]
SAME_MARKS: Same = ("nobody chose a document", "everybody chose every document")
SAME_GROUPS: Same = (
    "nobody put two documents together",
    "everybody put all documents together",
)

RELIABILITY_WORDS: tuple[Word, ...] = ("low", "open", "tentative", "reliable")  # the lowest first
SENTENCES: dict[Word, str] = {
    "reliable": "{people} agree well: {figure}",
    "tentative": "{people} agree well enough for tentative conclusions: {figure}",
    "low": "{people} do not agree well enough to rely on: {figure}",
    "open": "whether {people} agree well enough to rely on is not decided: {figure}",
}
NO_INTERVAL = "there is no interval"
MOST_CHANCE_TOPICS = 5  # topics


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
        ranks = [RELIABILITY_WORDS.index(each[2]) for each in (overall, within)]
        if within[0] is None or ranks[0] < ranks[1]:
            return overall
        return within if ranks[1] < ranks[0] or within[0] < (overall[0] or 0.0) else overall

    @property
    def _name(self) -> str:
        """What the alpha that a headline tells is called."""
        overall = (self.alpha, self.ci95, self.word)
        return "alpha" if self.lower == overall else "alpha within topics"

    def sentence(self, annotators: int, role: str = "annotators") -> str:
        """Return whether annotators agree well enough, topics at chance, and who differs.

        ``role``: what they are called.
        """
        alpha, interval, word = self.lower
        people = f"the {annotators} {role}" if annotators > 1 else role
        if alpha is None or interval is None:
            return f"Whether {people} agree well enough is open: {self.why or NO_INTERVAL}."
        figure = f"{self._name} {decimal_text(alpha)} ({ends_text(*interval)})"
        if interval[0] <= 0 and word == "low":
            text = f"The {annotators} {role} are not shown to agree better than chance: {figure}"
        else:
            text = SENTENCES[word].format(people=people, figure=figure)
            text = f"{text[0].upper()}{text[1:]}"
        chance = [each.topic for each in self.by_topic if each.may_be_chance]
        differ = [each.assessor for each in self.by_assessor if each.differs]
        more = len(chance) - MOST_CHANCE_TOPICS
        if chance:
            named = f"{', '.join(chance[:MOST_CHANCE_TOPICS])} and {more} more" if more > 0 else ""
            which = named or list_words(chance)
            text += f"; topic{'s' * (len(chance) > 1)} {which} may be chance"
        if differ:
            text += f"; {list_words(differ)} differ{'s' * (len(differ) == 1)}"
        return f"{text}."

    def alike(self, role: str = "annotator") -> str:
        """Return that no annotator differs, where that was tested; else ""."""
        tested = any(assessor.alpha_of_others is not None for assessor in self.by_assessor)
        if not tested or any(assessor.differs for assessor in self.by_assessor):
            return ""
        return f"No {role} differs from the others by more than chance."


@dataclass(frozen=True)
class _Counts:
    """What each document adds to the counts of units with two answers or more.

    ``no``, ``yes``: answers; ``observed``: twice the pairs of unlike answers of a unit, divided by
    its answers less 1; ``topic``: its number; ``size``: how many documents a unit has.
    """

    no: Numbers
    yes: Numbers
    observed: Numbers
    topic: NDArray[np.int64]
    size: int

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Whether a document is in a unit with two answers or more."""
        return self.no + self.yes > 0

    @property
    def totals(self) -> tuple[float, float, float]:
        """Answers no, answers yes, and observed disagreement, in which a unit counts once."""
        no, yes, observed = (
            float(each.sum()) / self.size for each in (self.no, self.yes, self.observed)
        )
        return no, yes, observed

    def alphas(self) -> tuple[float | None, Numbers]:
        """Return alpha, and alpha without each document."""
        no, yes, observed = self.totals
        without = _alpha(no - self.no, yes - self.yes, observed - self.observed)
        alpha = float(_alpha(np.asarray(no), np.asarray(yes), np.asarray(observed)))
        return (None if math.isnan(alpha) else alpha), without

    def alphas_within_topics(self) -> tuple[float | None, Numbers]:
        """Return alpha with the disagreement expected within topics, and without each document."""
        length = int(self.topic.max(initial=-1)) + 1
        no, yes = (
            np.bincount(self.topic, each, length) / self.size for each in (self.no, self.yes)
        )
        expected, observed = _expected(no, yes), self.totals[2]
        own_no, own_yes = no[self.topic] - self.no, yes[self.topic] - self.yes
        total = expected.sum() - expected[self.topic] + _expected(own_no, own_yes)
        with np.errstate(invalid="ignore", divide="ignore"):
            without = 1 - (observed - self.observed) / total
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
    assessors: Sequence[str],
    topics: Iterable[tuple[str, NDArray[np.floating]]],
    same: Same = SAME_MARKS,
) -> Reliability:
    """Compute the reliability of assessors.

    ``topics``: of each topic its name and values, 1 for yes, 0 for no, NaN where not asked, of
    shape (documents, assessors), or of pairs (documents, documents, assessors): symmetric, NaN for
    a document with itself. ``same``: what to say where all answers are no, and where all are yes.
    """
    names: list[str] = []
    sums = [np.zeros((1 + len(assessors), 3, 0))]
    unlike, size = np.zeros((len(assessors), 2)), 1
    for name, values in topics:
        names.append(name)
        of_topic, unlike_of_topic = _sums(values)
        sums.append(of_topic)
        unlike += unlike_of_topic
        size = values.ndim - 1
    topic = np.repeat(np.arange(len(names)), [each.shape[-1] for each in sums[1:]])
    every, *others = (
        _Counts(no, yes, observed, topic, size)
        for no, yes, observed in np.concatenate(sums, axis=-1)
    )
    alpha, without = every.alphas()
    within, within_without = every.alphas_within_topics()
    interval = _interval(alpha, without[every.counted])
    within_interval = _interval(within, within_without[every.counted])
    lowest = alpha if within is None or (alpha is not None and alpha < within) else within
    answering = int((unlike[:, 1] > 0).sum())
    return Reliability(
        alpha=alpha,
        ci95=interval,
        word=word_of(interval),
        alpha_within_topics=within,
        within_topics_ci95=within_interval,
        within_topics_word=word_of(within_interval),
        merged=_merged(lowest, answering),
        needed=_needed(lowest),
        by_topic=tuple(
            _of_topic(name, part[0], size) for name, part in zip(names, sums[1:], strict=True)
        ),
        by_assessor=tuple(
            _of_assessor(name, every, of_others, of_own, len(assessors))
            for name, of_others, of_own in zip(assessors, others, unlike, strict=True)
        ),
        why=None if alpha is not None else _why(every, same),
    )


def _sums(values: NDArray[np.floating]) -> tuple[Numbers, Numbers]:
    """Return a topic's ``_Counts`` of all and without each assessor, and assessors' disagreement.

    The first is of shape (1 + assessors, 3, documents); the second has for each assessor the sum
    over units of the share of others with another answer, and the number of these units.
    """
    asked = np.isfinite(values)
    yes, answers = np.nansum(values, axis=-1, dtype=float), asked.sum(axis=-1)
    sums, unlike = [_per_document(yes, answers)], []
    for place in range(values.shape[-1]):
        own, is_asked = values[..., place], asked[..., place]
        of_others = answers - is_asked
        yes_of_others = yes - np.where(is_asked, own, 0.0)
        sums.append(_per_document(yes_of_others, of_others))
        both = is_asked & (of_others > 0)
        share = np.where(own == 1, of_others - yes_of_others, yes_of_others)[both]
        unlike.append((float((share / of_others[both]).sum()), float(both.sum())))
    return np.stack(sums), np.array(unlike).reshape(-1, 2)


def _per_document(yes: Numbers, answers: NDArray[np.int64]) -> Numbers:
    """Return no, yes and observed disagreement of each document's units, (3, documents)."""
    counted = answers > 1
    no, yes = np.where(counted, answers - yes, 0.0), np.where(counted, yes, 0.0)
    observed = 2 * no * yes / np.maximum(no + yes - 1, 1)
    others = tuple(range(1, yes.ndim))
    return np.stack([each.sum(axis=others) for each in (no, yes, observed)])


def _of_topic(name: str, sums: Numbers, size: int) -> TopicReliability:
    no, yes, observed = sums
    counts = _Counts(no, yes, observed, np.zeros(len(no), dtype=np.int64), size)
    alpha, without = counts.alphas()
    return TopicReliability(name, alpha, _interval(alpha, without[counts.counted]))


def _why(counts: _Counts, same: Same) -> str:
    if not counts.counted.any():
        return "no two annotators did the same topic"
    return same[0] if not counts.yes.sum() else same[1]


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


def _of_assessor(
    name: str, every: _Counts, others: _Counts, own: Numbers, assessors: int
) -> AssessorReliability:
    (no, yes, _), (unlike, units) = every.totals, own.tolist()
    alpha = None
    if units and no * yes:
        expected = _expected(np.asarray(no), np.asarray(yes)) / (no + yes)
        alpha = float(1 - unlike / units / expected)
    of_others, _ = others.alphas()
    differs = assessors > 2 and of_others is not None and _differs(every, others, assessors)
    return AssessorReliability(name, alpha, of_others, differs)


def _differs(every: _Counts, others: _Counts, assessors: int) -> bool:
    """Return whether alpha rises without an assessor by more than chance."""
    (alpha, without), (of_others, others_without) = every.alphas(), others.alphas()
    rises = (others_without - without)[every.counted]
    se = _jackknife_se(rises)
    if not se or alpha is None or of_others is None:
        return False
    return (of_others - alpha) / se > t_quantile(1 - 0.025 / assessors, len(rises) - 1)


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
