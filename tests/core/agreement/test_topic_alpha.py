"""Agreement over topics: by brute force, against other figures, and with known answers."""

from itertools import permutations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.agreement.reliability import reliability_of
from survey.core.agreement.topic_alpha import (
    FEWEST_TOPICS,
    alpha_over_topics,
    word_of,
)
from survey.core.statistics.rater_agreement import alpha_ordinal, cohen_kappa
from tests.core.agreement.annotated import NAMES, labels, times_a_guesser_is_found

NAN = np.nan


def by_definition(topics):
    """1 - ΣD_o/ΣD_e over ordered pairs of labels, by one ordinal metric for all topics."""
    pairable = [
        [labels for unit in table if len(labels := unit[np.isfinite(unit)]) > 1] for table in topics
    ]
    every = np.array([label for units in pairable for labels in units for label in labels])
    levels = sorted(set(every.tolist()))

    def metric(c, k):
        low, high = sorted((c, k))
        between = sum((every == g).sum() for g in levels if low <= g <= high)
        return (between - ((every == c).sum() + (every == k).sum()) / 2) ** 2 if c != k else 0

    observed = expected = 0.0
    for units in pairable:
        for labels in units:
            observed += sum(metric(*pair) for pair in permutations(labels, 2)) / (len(labels) - 1)
        of_topic = [label for labels in units for label in labels]
        if of_topic:
            expected += sum(metric(*pair) for pair in permutations(of_topic, 2)) / (
                len(of_topic) - 1
            )
    return 1 - observed / expected if expected else None


grades = st.sampled_from([0.0, 1.0, 2.0, NAN])
tables = st.lists(
    st.lists(st.lists(grades, min_size=3, max_size=3), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
)


@settings(max_examples=10, deadline=None)
@given(tables)
def test_alpha_is_that_by_definition(several):
    topics = {str(number): np.array(table) for number, table in enumerate(several)}
    found = alpha_over_topics(NAMES[:3], topics)
    assert found.alpha == pytest.approx(by_definition([*topics.values()]), abs=1e-9)
    assert (found.alpha is None) == (found.why is not None)


def test_of_one_topic_it_is_krippendorffs_alpha_of_grades():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 4, (30, 3)).astype(float)
    table[:, 1] = np.clip(table[:, 0] + rng.integers(-1, 2, 30), 0, 3)
    table[:3, 2] = NAN
    known = [[value for value in row if np.isfinite(value)] for row in table]
    found = alpha_over_topics(NAMES[:3], {"1": table})
    assert found.alpha == pytest.approx(alpha_ordinal(known))
    assert found.by_topic[0].alpha == pytest.approx(found.alpha)


def test_of_marks_it_is_the_alpha_within_topics():
    rng = np.random.default_rng(2)
    topics = {str(n): labels(rng, 20 + n, [0.9, 0.8, 0.7], 0.1 + 0.15 * n) for n in range(5)}
    found = alpha_over_topics(NAMES[:3], topics)
    known = reliability_of(NAMES[:3], topics.items())
    assert found.alpha == pytest.approx(known.alpha_within_topics)
    assert found.alpha < known.alpha  # which unlike shares of relevant documents raise
    assert (found.documents, found.annotators) == (110, 3)


def test_the_same_labels_give_the_same_interval():
    topics = {"1": labels(np.random.default_rng(3), 40, [0.9, 0.8])}
    first, second = (alpha_over_topics(NAMES[:2], topics) for _ in range(2))
    assert first == second
    assert first.ci95[0] < first.alpha < first.ci95[1]


def test_topics_are_sampled_where_there_are_ten():
    rng = np.random.default_rng(4)
    topics = {str(n): labels(rng, 20, [0.9, 0.8]) for n in range(FEWEST_TOPICS)}
    assert alpha_over_topics(NAMES[:2], topics).sampled == "topics"
    topics.pop("0")
    assert alpha_over_topics(NAMES[:2], topics).sampled == "documents"


def alpha_where_judged_right(right, yes):
    share = yes * right + (1 - yes) * (1 - right)
    return 1 - 2 * right * (1 - right) / (2 * share * (1 - share))


def covered(number, seed, sizes, right=0.85):
    """How often an interval holds the alpha of annotators who are right in so many documents."""
    rng, held = np.random.default_rng(seed), 0
    truth = alpha_where_judged_right(right, 0.4)
    for _ in range(number):
        topics = {str(n): labels(rng, size, [right] * 3) for n, size in enumerate(sizes)}
        low, high = alpha_over_topics(NAMES[:3], topics).ci95
        held += low <= truth <= high
    return held / number


def test_intervals_hold_the_true_alpha():
    assert covered(10, 5, [40] * 3) >= 0.8
    assert covered(5, 6, [8] * 10) >= 0.6


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[30] * 2, [60] * 4, [12] * 10, [20] * 30])
def test_intervals_hold_the_true_alpha_at_length(sizes):
    assert covered(200, 7, sizes) >= 0.91


def test_without_any_disagreement_the_interval_is_a_binomial_bound():
    same = {"1": np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)}
    found = alpha_over_topics(NAMES[:2], same)
    chance = 1 - 20 / 39  # of two labels of the topic to be unlike, nearly: without replacement
    share = scipy.stats.binomtest(0, 20).proportion_ci(method="exact").high
    assert found.alpha == 1
    assert found.ci95 == (pytest.approx(1 - share / (20 / 39)), 1)
    assert chance == pytest.approx(19 / 39)
    few = {"1": np.repeat([[0.0, 0.0], [1.0, 1.0]], [3, 2], axis=0)}
    assert alpha_over_topics(NAMES[:2], few).ci95 is None  # it takes six documents


def test_many_documents_are_sampled_in_sorts():
    """Those with the same labels are drawn together, with the same distribution."""
    rng = np.random.default_rng(8)
    table = labels(rng, 25_000, [0.9, 0.8])
    found = alpha_over_topics(NAMES[:2], {"1": table})
    low, high = found.ci95
    assert high - low == pytest.approx(2 * 1.96 * se_by_delta(table), rel=0.1)


def se_by_delta(table):
    """The standard error of alpha of two annotators' marks, by leaving out groups of documents."""
    groups = np.array_split(table, 100)
    without = [
        alpha_over_pairs(np.concatenate([*groups[:n], *groups[n + 1 :]])) for n in range(100)
    ]
    return np.sqrt(99 / 100 * ((np.array(without) - np.mean(without)) ** 2).sum())


def alpha_over_pairs(table):
    yes = table.mean()
    return 1 - (table[:, 0] != table[:, 1]).mean() / (2 * yes * (1 - yes))


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.8, 0.9), "reliable"),
        ((0.799, 0.9), "tentative"),
        ((0.667, 0.7), "tentative"),
        ((0.6, 0.667), "open"),
        ((0.2, 0.666), "low"),
        ((0.0, 0.4), "chance"),
        ((-0.1, 0.8), "open"),
        (None, "open"),
    ],
)
def test_the_words_are_krippendorffs(interval, word):
    assert word_of(interval) == word


def test_merging_and_further_annotators_are_spearmans_and_browns():
    topics = {"1": labels(np.random.default_rng(9), 400, [0.85] * 3)}
    found = alpha_over_topics(NAMES[:3], topics)
    assert found.merged == pytest.approx(3 * found.alpha / (1 + 2 * found.alpha))
    of_mean = {
        n: n * found.alpha / (1 + (n - 1) * found.alpha) for n in (found.needed - 1, found.needed)
    }
    assert of_mean[found.needed - 1] < 0.8 <= of_mean[found.needed]
    apart = alpha_over_topics(NAMES[:3], {"1": np.array([[0, 1, NAN], [0, NAN, 1.0]])})
    assert apart.alpha == pytest.approx(-0.5)
    assert (apart.merged, apart.needed) == (None, None)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[1, NAN], [NAN, 0]], "no two annotators did the same topic"),
        ([[0, 0], [0, 0]], "all labels are the same"),
        ([[1, 1], [1, 1]], "all labels are the same"),
    ],
)
def test_where_alpha_is_undefined_it_says_why(values, why):
    found = alpha_over_topics(NAMES[:2], {"1": np.array(values, dtype=float)})
    assert (found.alpha, found.ci95, found.word, found.why) == (None, None, "open", why)


def test_topics_that_each_have_one_label_alone_say_why():
    topics = {"1": np.zeros((3, 2)), "2": np.ones((3, 2))}
    found = alpha_over_topics(NAMES[:2], topics)
    assert found.why == "within each topic all labels are the same"
    assert alpha_over_topics((), {}).why == "no two annotators did the same topic"


def test_kappa_is_with_the_majority_of_the_others():
    table = labels(np.random.default_rng(10), 60, [0.9, 0.9, 0.8, 0.6])
    found = alpha_over_topics(NAMES[:4], {"1": table[:20], "2": table[20:]})
    for place, each in enumerate(found.by_annotator):
        others = np.delete(table, place, axis=1).sum(axis=1)
        expected = cohen_kappa(table[:, place].tolist(), (others > 1.5).tolist(), [0, 1])
        assert each.kappa == pytest.approx(expected)


def p_by_permuting(table, place, rng, number=2000):
    """How often kappa is as low where each document's labels are exchanged among annotators."""

    def kappa(values):
        others = np.delete(values, place, axis=1).sum(axis=1)
        clear = others != (values.shape[1] - 1) / 2
        own, majority = values[clear, place], others[clear] > (values.shape[1] - 1) / 2
        return cohen_kappa(own.tolist(), majority.tolist(), [0, 1])

    lowest = kappa(table)
    permuted = [kappa(rng.permuted(table, axis=1)) for _ in range(number)]
    return (1 + sum(each <= lowest + 1e-12 for each in permuted)) / (number + 1)


@pytest.mark.slow
@pytest.mark.parametrize("people", [3, 4])  # of three, the two others may be split
def test_p_is_that_of_exchanging_labels(people):
    rng = np.random.default_rng(11)
    table = labels(rng, 40, [0.85] * (people - 1) + [0.75])
    found = alpha_over_topics(NAMES[:people], {"1": table})
    for place, each in enumerate(found.by_annotator):
        assert each.p == pytest.approx(p_by_permuting(table, place, rng), abs=0.04)


def test_one_annotator_who_guesses_is_found_and_the_others_are_not():
    def differ(table):
        found = alpha_over_topics(NAMES[:4], {"1": table}).by_annotator
        return [annotator.differs for annotator in found]

    assert times_a_guesser_is_found(np.random.default_rng(12), 20, differ) >= 17


def some_differ(number, seed):
    rng = np.random.default_rng(seed)
    return sum(
        any(
            each.differs
            for each in alpha_over_topics(
                NAMES, {str(n): labels(rng, 15, [0.85] * 5) for n in range(3)}
            ).by_annotator
        )
        for _ in range(number)
    )


@pytest.mark.slow
def test_alike_annotators_seldom_differ_at_length():
    assert some_differ(400, 16) <= 0.075 * 400  # 5.6 % of 1,800 such studies; standard error .5


def test_two_annotators_cannot_be_told_apart():
    found = alpha_over_topics(NAMES[:2], {"1": labels(np.random.default_rng(15), 100, [1.0, 0.5])})
    assert [(each.p, each.differs) for each in found.by_annotator] == [(None, False)] * 2
