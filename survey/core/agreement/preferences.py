"""Preferences between two lists: which measures' signs agree with people, and what people say.

A measure agrees with a preference where its better value is that of the preferred list. Answers
that prefer neither list are counted beside that. To compare two measures on the same preferences,
one that ties the two lists gets half an agreement: what a random choice would give it. So, sides
being dealt by chance, random answers give no measure a lead.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import PairTests, corrected_tests, decided, share_ends
from survey.core.agreement.credits import Credits, answered_questions, tally_values
from survey.core.agreement.differences import Correction, Pair, p_of_these, pairs
from survey.core.agreement.order_effects import (
    CarryOver,
    OrderEffect,
    Sessions,
    effects_of,
    habit_of,
)
from survey.core.agreement.run_strengths import in_topics
from survey.core.agreement.verdicts import (
    Decision,
    Verdict,
    decide,
    interval_in_points,
    population_start,
    rests_on,
    stopped_by_looks,
    undecided_difference,
)
from survey.core.statistics.significance import LEVEL, Interval, holm, rounded, t_quantile

SIDES = 2  # at which a list may be
PART_NAMES = {  # how many parts there are → what they are called
    1: ("all",),
    2: ("smaller", "larger"),
    3: ("smallest third", "middle third", "largest third"),
}


class Answer(NamedTuple):
    """An answer: ``sign`` is 1 where list A is preferred, -1 for list B, 0 for neither of them.

    ``position`` of the question in the session, ``seconds`` taken, ``at_left``: whether the
    preferred list was the left one. Each is None where it is not known.
    """

    participant: str
    question: int
    sign: int
    position: int | None = None
    seconds: float | None = None
    at_left: bool | None = None


class PairOfLists(NamedTuple):
    """What measures say of a question's lists.

    ``differences``: measure → how much better list A is, in the measure's own units, below 0 where
    list B is better; 0 only where they tie exactly. ``topic``: None where it is not known.
    """

    number: int
    differences: Mapping[str, float]
    topic: str | None = None


def agreement_of(
    measures: NDArray[np.float64], person: NDArray[np.int64] | int
) -> NDArray[np.float64]:
    """Return how far signs agree: 1 if they are the same, 0 if opposite, one half for a tie."""
    agreement: NDArray[np.float64] = 0.5 + 0.5 * measures * person
    return agreement


def agreed_share(agree: int, against: int) -> float | None:
    """Return the share of preferences with which a measure agrees, in [0, 1]; None without any."""
    decided = agree + against
    return agree / decided if decided else None


@dataclass(frozen=True)
class SizeShare:
    """The agreement on questions on which a measure's difference is of some size.

    ``least``, ``most``: of the sizes; ``share`` is None without a preference.
    """

    size: str
    least: float
    most: float
    questions: int
    agree: int
    against: int

    @property
    def share(self) -> float | None:
        """The share of the preferences with which the measure agrees."""
        return agreed_share(self.agree, self.against)


@dataclass(frozen=True)
class MeasureAgreement:
    """How often a measure's sign is that of the preferences.

    Of the answers that prefer a list: ``agree``, ``against``, ``tied`` (the measure ties the two).
    Of the others: ``undecided``, and with how many of them the measure ties too. ``tests``: of the
    share less one half, over the preferences that the measure does not tie.
    """

    measure: str
    agree: int
    against: int
    tied: int
    undecided: int
    undecided_tied: int
    tests: PairTests
    by_size: tuple[SizeShare, ...]

    @property
    def share(self) -> float | None:
        """The share of the preferences that the measure does not tie, in [0, 1]."""
        return agreed_share(self.agree, self.against)

    def decision(self, level: float = LEVEL) -> Decision | None:
        """Return whether the share differs from one half, corrected for all measures."""
        return decide(self.tests, level)

    @property
    def _ends(self) -> tuple[Interval | None, Interval | None]:
        tests = self.tests
        if tests.mean is None:
            return None, None
        of_share = replace(tests.participants, mean=0.5 + tests.mean)
        return share_ends(tests.components, of_share, tests.effective)

    @property
    def ci95(self) -> Interval | None:
        """The share's interval for people and questions of this kind."""
        return self._ends[0]

    @property
    def these_ci95(self) -> Interval | None:
        """The share's interval for people and these questions."""
        return self._ends[1]


@dataclass(frozen=True)
class MeasureDifference:
    """How much more often preferences agree with one measure than with the other.

    ``first``, ``second``: the mean agreement with either over the same preferences, a tie counting
    one half; ``tests``: of the difference, p corrected over all pairs; ``same_sign``: whether the
    two favour the same list, or both tie the two, in every preference.
    """

    pair: Pair
    first: float | None
    second: float | None
    tests: PairTests
    same_sign: bool


@dataclass(frozen=True)
class HumanAgreement:
    """How far people agree with one another, beside which a measure's agreement can be read.

    ``pairs``: the share P of pairs of people, both preferring a list of the same question, who
    prefer the same one; ``net_agreement``: 2P - 1, 0 for chance and 1 where all prefer the same;
    ``others``: how often a preference is that of most others, a tie among the others counting one
    half. ``alpha``: Krippendorff's, neither list between the two, as if each question had also been
    asked with its lists turned round, so that it does not depend on which list is named first.
    ``…_ci95``: by leaving out a topic, or a person, at a time. Each is None where no two people
    prefer a list of the same question.
    """

    pairs: float | None
    net_agreement: float | None
    net_agreement_ci95: Interval | None
    others: float | None
    alpha: float | None
    alpha_ci95: Interval | None


@dataclass(frozen=True)
class PreferenceAnalysis:
    """All statistics of a study's preferences that concern measures and people.

    ``questions``: how many there are; ``answered``: how many of them have an answer.
    """

    participants: int
    answers: int
    preferring: int
    measures: tuple[MeasureAgreement, ...]
    differences: tuple[MeasureDifference, ...]
    people: HumanAgreement
    questions: int
    answered: int
    order_effects: tuple[OrderEffect, ...]
    carry_over: CarryOver

    def verdicts(self, level: float = LEVEL) -> tuple[Verdict, ...]:
        """Return what the preferences support for each pair of measures."""
        return tuple(_verdict(difference, self.answered, level) for difference in self.differences)


def analyse_preferences(
    answers: Sequence[Answer], lists: Sequence[PairOfLists], measures: Sequence[str]
) -> PreferenceAnalysis:
    """Compare preferences with measures' signs; raises KeyError for an unknown question."""
    every, values_of_ballots = tally_values([answer[:3] for answer in answers], measures)
    signs = np.array(values_of_ballots, dtype=np.int64)
    topics = {each.number: each.topic for each in lists if each.topic is not None}
    every = in_topics(every, topics)
    credits = replace(every, counted=signs != 0)  # those without a sign do not count
    changes, habit = _within_people(answers, lists, measures)
    by_number = {each.number: each.differences for each in lists}
    differences = np.array(
        [[by_number[number][name] for name in measures] for number in credits.questions.tolist()]
    ).reshape(len(signs), len(measures))
    values = agreement_of(np.sign(differences), signs[:, np.newaxis])
    return PreferenceAnalysis(
        participants=len(credits.ballots.first_answer),
        answers=len(answers),
        preferring=len(credits),
        measures=_corrected(
            [
                _agreement(
                    *(name, credits, signs),
                    *(differences[:, column], values[:, column], len(lists)),
                )
                for column, name in enumerate(measures)
            ]
        ),
        differences=tuple(_differences(credits, values, measures, len(lists))),
        people=_people(every, credits, signs),
        questions=len(lists),
        answered=len(answered_questions(credits.ballots)),
        order_effects=changes,
        carry_over=habit,
    )


def _within_people(
    answers: Sequence[Answer], lists: Sequence[PairOfLists], measures: Sequence[str]
) -> tuple[tuple[OrderEffect, ...], CarryOver]:
    """Tell whether agreement changes with position or time, and whether a side is a habit."""
    answers = sorted(answers, key=attrgetter("participant", "question"))
    numbers = {each.number: index for index, each in enumerate(lists)}
    _, people = np.unique([answer.participant for answer in answers], return_inverse=True)
    sessions = Sessions(
        people,
        np.array([numbers[answer.question] for answer in answers], dtype=np.int64),
        np.array([answer.position for answer in answers], dtype=float),  # None becomes NaN
        np.array([answer.seconds for answer in answers], dtype=float),
    )
    signs = np.array([answer.sign for answer in answers], dtype=np.int64)
    of_lists = np.array([[np.sign(each.differences[name]) for name in measures] for each in lists])
    values = agreement_of(of_lists[sessions.question], signs[:, np.newaxis])
    compared = pairs(measures)
    sides = ([*map(measures.index, pair)] for pair in compared)
    d = np.array([values[:, first] - values[:, second] for first, second in sides])
    bits = {None: 0, True: 1, False: 2}  # of the place
    places = np.array([bits[answer.at_left] for answer in answers], dtype=np.uint8)
    changes = effects_of(compared, [(sessions, d, signs != 0)], len(lists))
    return changes, habit_of([(sessions, places)], SIDES)


def _agreement(
    measure: str,
    credits: Credits,
    signs: NDArray[np.int64],
    differences: NDArray[np.float64],
    values: NDArray[np.float64],
    asked: int,
) -> MeasureAgreement:
    counts, ties = credits.ballots.counts, differences == 0
    decides = credits.subset(~ties)
    return MeasureAgreement(
        measure=measure,
        agree=int(decides.counts @ (values == 1)),
        against=int(decides.counts @ (values == 0)),
        tied=int(credits.counts @ ties),
        undecided=int(counts @ (signs == 0)),
        undecided_tied=int(counts @ ((signs == 0) & ties)),
        tests=PairTests.of_pair(values - 0.5, decides, asked),
        by_size=tuple(_by_size(credits, differences, values)),
    )


def _corrected(agreements: Sequence[MeasureAgreement]) -> tuple[MeasureAgreement, ...]:
    """Correct the tests of each measure against one half, over the measures, by Holm's method."""
    tests = [each.tests for each in agreements]
    of_population = holm([each.components.p for each in tests])
    of_these = holm([p_of_these(each.participants, each.effective) for each in tests])
    correction = Correction(len(tests))
    return tuple(
        replace(each, tests=decided(each.tests, population, these, correction=correction))
        for each, population, these in zip(agreements, of_population, of_these, strict=True)
    )


def _by_size(
    credits: Credits, differences: NDArray[np.float64], values: NDArray[np.float64]
) -> Iterator[SizeShare]:
    """Yield the agreement for each third of the questions that a measure does not tie.

    Questions of equal sizes are in the same part, so there may be fewer than three.
    """
    size_of_ballot = np.abs(differences)
    by_number = dict(zip(credits.questions.tolist(), size_of_ballot.tolist(), strict=True))
    sizes = sorted(size for size in by_number.values() if size)
    starts = sorted({sizes[len(sizes) * part // 3] for part in range(3)} if sizes else ())
    bounds = [sizes[0], *starts[1:], np.inf] if sizes else []
    for name, (low, high) in zip(PART_NAMES.get(len(starts), ()), pairwise(bounds), strict=True):
        within = [each for each in sizes if low <= each < high]
        counts = credits.counts * ((size_of_ballot >= low) & (size_of_ballot < high))
        agree, against = int(counts @ (values == 1)), int(counts @ (values == 0))
        yield SizeShare(name, within[0], within[-1], len(within), agree, against)


def _differences(
    credits: Credits, values: NDArray[np.float64], measures: Sequence[str], asked: int
) -> Iterator[MeasureDifference]:
    compared = pairs(measures)
    sides = [[*map(measures.index, pair)] for pair in compared]
    tests = [PairTests.of_pair(values[:, a] - values[:, b], credits, asked) for a, b in sides]
    corrected = corrected_tests(tests, measures) if compared else []
    total = len(credits)
    means = [float(credits.counts @ column) / total if total else None for column in values.T]
    for pair, (first, second), test in zip(compared, sides, corrected, strict=True):
        same_sign = not credits.counts @ (values[:, first] != values[:, second])
        yield MeasureDifference(pair, means[first], means[second], test, same_sign)


def _people(every: Credits, credits: Credits, signs: NDArray[np.int64]) -> HumanAgreement:
    counts: dict[int, Counter[int]] = {}
    for number, sign, count in zip(
        credits.questions.tolist(), signs.tolist(), credits.ballots.counts.tolist(), strict=True
    ):
        counts.setdefault(number, Counter())[sign] += count
    same = pairs_of_people = preferences = 0
    others = 0.0
    for of_question in counts.values():
        a, b = of_question[1], of_question[-1]
        same += a * (a - 1) // 2 + b * (b - 1) // 2
        pairs_of_people += (a + b) * (a + b - 1) // 2
        if a + b > 1:
            preferences += a + b
            # Of each preference, against the others of the question: all but that one.
            others += a * _majority(a - 1, b) + b * _majority(b - 1, a)
    alpha, interval = left_out_one(every, signs, _mirrored_alpha)
    net_agreement, net_interval = left_out_one(every, signs, _net_agreement)
    return HumanAgreement(
        pairs=same / pairs_of_people if pairs_of_people else None,
        net_agreement=net_agreement,
        net_agreement_ci95=net_interval and (max(-1.0, net_interval[0]), min(1.0, net_interval[1])),
        others=others / preferences if preferences else None,
        alpha=alpha,
        alpha_ci95=interval,
    )


def left_out_one(
    credits: Credits,
    signs: NDArray[np.int64],
    figure: Callable[[NDArray[np.float64]], float | None],
) -> tuple[float | None, Interval | None]:
    """Return a figure of preferences, at most 1 and 0 for chance, and its 95 % interval.

    ``figure``: of questions, (questions, 3): how often B, neither and A were preferred. The
    interval is by the variances of leaving out a topic and a person at a time, added up, with
    Satterthwaite's degrees of freedom.
    """
    clusters = credits.questions if credits.clusters is None else credits.clusters
    _, topic = np.unique(clusters, return_inverse=True)
    _, question = np.unique(credits.questions, return_inverse=True)
    ballots, size = credits.ballots, int(question.max(initial=-1)) + 1
    level = signs + 1

    def table(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        of_question = np.zeros((size, 3))
        np.add.at(of_question, (question, level), counts)
        return of_question

    every = table(ballots.counts)
    value = figure(every)
    if value is None:
        return None, None
    without_topics = [
        figure(table(ballots.counts * (topic != left_out)))
        for left_out in range(int(topic.max()) + 1)
    ]
    without_people = []
    ends = [*ballots.first_answer[1:].tolist(), len(ballots.ballot_index)]
    for start, end in zip(ballots.first_answer.tolist(), ends, strict=True):
        own = np.bincount(ballots.ballot_index[start:end], minlength=len(ballots))
        without_people.append(figure(table(ballots.counts - own)))
    return value, _jackknifed(value, without_topics, without_people)


def _net_agreement(counts: NDArray[np.float64]) -> float | None:
    """Return 2P - 1: P is the share of pairs of preferences of a question that are the same."""
    b, a = counts[:, 0], counts[:, 2]
    pairs = float(((a + b) * (a + b - 1)).sum())
    same = float((a * (a - 1) + b * (b - 1)).sum())
    return 2 * same / pairs - 1 if pairs else None


def _mirrored_alpha(counts: NDArray[np.float64]) -> float | None:
    """Return Krippendorff's alpha of preferences.

    With δ² = (x - y)² of -1, 0 and 1 and preferences for either list expected as often: of a
    preferences (half of the pairable ones), b answers for neither and N = 2a + b in all, the
    expected disagreement is (8a² + 4ab) / (N(N - 1)).
    """
    paired = counts[counts.sum(axis=1) > 1]
    sizes = paired.sum(axis=1)
    levels = np.array([-1.0, 0.0, 1.0])
    squares = paired @ levels**2 * sizes - (paired @ levels) ** 2
    observed = 2 * float((squares / (sizes - 1)).sum())
    a, b, n = (paired[:, 0].sum() + paired[:, 2].sum()) / 2, paired[:, 1].sum(), sizes.sum()
    expected = float(8 * a**2 + 4 * a * b)
    return 1 - observed * float(n - 1) / expected if expected else None


def _jackknifed(value: float, *without: Sequence[float | None]) -> Interval | None:
    """Return the interval of a value by what it is without each unit of some samples."""
    variances = []
    for values in without:
        known = np.array([each for each in values if each is not None])
        if len(known) < max(2, len(values)):
            return None
        squares = float(((known - known.mean()) ** 2).sum())
        variances.append((squares * (len(known) - 1) / len(known), len(known) - 1))
    variance = sum(each for each, _ in variances)
    if variance <= 0:
        return None
    df = variance**2 / sum(each**2 / df for each, df in variances)
    reach = t_quantile(0.975, df) * math.sqrt(variance)
    return value - reach, value + reach


def _majority(same: int, other: int) -> float:
    return 0.5 + 0.5 * ((same > other) - (same < other))


def _verdict(difference: MeasureDifference, questions: int, level: float) -> Verdict:
    pair, tests = difference.pair, difference.tests
    mean = tests.mean
    if mean is None or difference.first is None or difference.second is None:
        sentence = f"{pair.title} cannot be compared: no answer prefers a list."
        return Verdict.undecided(pair, sentence)
    if difference.same_sign:
        sentence = (
            f"None of the preferences can tell {pair.first} and {pair.second} apart: in every "
            "question in which a list is preferred, both favour the same list or both tie the two."
        )
        return Verdict.undecided(pair, sentence)
    ahead, behind = pair if mean > 0 else pair[::-1]
    higher, lower = sorted((difference.first, difference.second), reverse=True)
    if decision := decide(tests, level):
        sentence = (
            f"{population_start(decision.population, questions)}, people's preferences agree with "
            f"{ahead} more often than with {behind}: {_percent(higher)} and {_percent(lower)} of "
            f"100, a difference of {_percent(abs(mean))} points"
            f"{rests_on(decision, mean, tests.correction, interval_in_points)}."
        )
        return Verdict(pair, decision.scope, ahead, "orders", decision.population, sentence)
    of_which = undecided_difference(tests, questions, level, interval_in_points)
    sentence = (
        f"The preferences do not decide between {pair.first} and {pair.second}: they agree with "
        f"{_percent(difference.first)} and {_percent(difference.second)} of 100; the "
        f"difference is {_percent(mean)} points, and {of_which}."
    )
    return Verdict.undecided(pair, sentence, stopped_by_looks(tests))


def _percent(share: float) -> str:
    return rounded(100 * share)
