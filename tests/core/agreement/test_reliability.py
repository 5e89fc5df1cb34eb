"""Annotators' reliability against Krippendorff's definition, by brute force, and planted."""

from itertools import combinations, permutations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.reliability import SAME_GROUPS, reliability_of, word_of
from survey.core.collections.clusterings import adjusted_rand, pairs_together
from tests.core.agreement.annotated import NAMES, labels, times_a_guesser_is_found


def compute(names, topics):
    return reliability_of(names, topics.items())


def alpha_by_pairs(values):
    """Alpha by its definition: 1 - D_o/D_e over the ordered pairs of answers, 1 where unlike."""
    units = [[value for value in unit if not np.isnan(value)] for unit in values]
    units = [unit for unit in units if len(unit) > 1]
    answers = [value for unit in units for value in unit]
    observed = sum((a != b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2))
    expected = sum(a != b for a, b in permutations(answers, 2))
    if not expected:
        return None
    return 1 - (observed / len(answers)) / (expected / len(answers) / (len(answers) - 1))


def jackknife(value, without):
    """The interval of a value by those without each unit: t with one degree of freedom fewer."""
    n, without = len(without), np.array(without)
    se = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    reach = scipy.stats.t.ppf(0.975, n - 1) * se
    return max(-1, value - reach), min(1, value + reach)


def interval_by_brute_force(values):
    counted = [unit for unit in values if np.isfinite(unit).sum() > 1]
    without = [alpha_by_pairs(np.delete(counted, left, axis=0)) for left in range(len(counted))]
    if len(counted) < 2 or None in without:
        return None
    return jackknife(alpha_by_pairs(values), without)


answers = st.sampled_from([0.0, 1.0, np.nan])
tables = st.integers(2, 4).flatmap(
    lambda people: st.lists(
        st.lists(answers, min_size=people, max_size=people), min_size=1, max_size=8
    )
)


@given(tables, st.integers(1, 3))
def test_alpha_and_its_interval_are_those_by_definition(table, topics):
    values = np.array(table)
    parts = {str(n): part for n, part in enumerate(np.array_split(values, topics), 1)}
    found = compute(NAMES[: values.shape[1]], parts)
    for of, part in [(found, values), *zip(found.by_topic, parts.values(), strict=True)]:
        assert of.alpha == pytest.approx(alpha_by_pairs(part))
        if of.alpha is not None:
            assert of.ci95 == pytest.approx(interval_by_brute_force(part))
    assert (found.alpha is None) == (found.why is not None)
    if found.alpha is None:
        assert (found.ci95, found.word) == (None, "open")


@given(tables)
def test_neither_the_order_of_people_nor_yes_for_no_changes_alpha(table):
    values = np.array(table)
    names = NAMES[: values.shape[1]]
    found = compute(names, {"1": values})
    turned = compute(names[::-1], {"1": 1 - values[::-1, ::-1]})
    assert turned.alpha == pytest.approx(found.alpha)
    assert turned.ci95 == pytest.approx(found.ci95)
    for each, other in zip(found.by_assessor, turned.by_assessor[::-1], strict=True):
        assert (each.assessor, each.differs) == (other.assessor, other.differs)
        assert each.alpha == pytest.approx(other.alpha)
        assert each.alpha_of_others == pytest.approx(other.alpha_of_others)


def test_an_annotators_alpha_is_their_mean_disagreement_with_the_others():
    values = labels(np.random.default_rng(1), 20, [0.9, 0.8, 0.6])
    values[:3, 1] = np.nan  # bob was not asked
    found = compute(NAMES[:3], {"1": values})
    everything = values[np.isfinite(values)]
    expected = np.mean([a != b for a, b in permutations(everything, 2)])
    for place, of in enumerate(found.by_assessor):
        disagreements = []
        for unit in values:
            others = np.delete(unit, place)
            others = others[np.isfinite(others)]
            if np.isfinite(unit[place]) and len(others):
                disagreements.append(np.mean(others != unit[place]))
        assert of.alpha == pytest.approx(1 - np.mean(disagreements) / expected)
        assert of.alpha_of_others == pytest.approx(alpha_by_pairs(np.delete(values, place, axis=1)))


def differs_by_brute_force(values, place):
    """Whether the rise of alpha without a person is beyond what leaving out units lets expect."""
    others = np.delete(values, place, axis=1)
    rise = alpha_by_pairs(others) - alpha_by_pairs(values)
    without = [
        alpha_by_pairs(np.delete(others, unit, axis=0))
        - alpha_by_pairs(np.delete(values, unit, axis=0))
        for unit in range(len(values))
    ]
    n, people = len(without), values.shape[1]
    se = np.sqrt((n - 1) / n * ((without - np.mean(without)) ** 2).sum())
    return rise / se > scipy.stats.t.ppf(1 - 0.025 / people, n - 1)


@pytest.mark.parametrize("seed", range(6))
def test_who_differs_is_tested_as_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    values = labels(rng, 30, [0.9, 0.85, 0.9, 0.7])
    found = compute(NAMES[:4], {"1": values[:10], "2": values[10:]})
    assert [each.differs for each in found.by_assessor] == [
        differs_by_brute_force(values, place) for place in range(4)
    ]


def test_one_annotator_who_guesses_is_found():
    def differ(table):
        return [person.differs for person in compute(NAMES[:4], {"1": table}).by_assessor]

    assert times_a_guesser_is_found(np.random.default_rng(2), 60, differ) >= 0.85 * 60


def test_alike_annotators_do_not_differ_and_their_alpha_is_in_its_interval():
    rng = np.random.default_rng(3)
    yes = 0.4 * 0.85 + 0.6 * 0.15  # of 40 % relevant units, each judged right in 85 %
    truth = 1 - 2 * 0.85 * 0.15 / (2 * yes * (1 - yes))
    covered = some_differ = 0
    for _ in range(100):
        found = compute(NAMES[:3], {"1": labels(rng, 100, [0.85] * 3)})
        covered += found.ci95[0] <= truth <= found.ci95[1]
        some_differ += any(each.differs for each in found.by_assessor)
    assert covered >= 90
    assert some_differ <= 5


def test_two_annotators_cannot_be_told_apart():
    values = labels(np.random.default_rng(4), 100, [1.0, 0.5])
    assert [each.differs for each in compute(NAMES[:2], {"1": values}).by_assessor] == [
        False,
        False,
    ]


def test_topics_with_unlike_shares_of_yes_raise_alpha_but_not_that_within_topics():
    rng = np.random.default_rng(5)
    topics = {name: (rng.random((200, 3)) < yes) * 1.0 for name, yes in (("1", 0.1), ("2", 0.9))}
    found = compute(NAMES[:3], topics)
    assert found.alpha > 0.5
    assert abs(found.alpha_within_topics) < 0.1
    assert [each.may_be_chance for each in found.by_topic] == [True, True]
    assert found.within_topics_word == "low"
    # The headline tells the lower one, and says which it is.
    assert ": alpha within topics " in found.sentence(3)


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.8, 0.9), "reliable"),
        ((0.799, 0.9), "tentative"),
        ((0.667, 0.7), "tentative"),
        ((0.6, 0.667), "open"),
        ((0.2, 0.666), "low"),
        (None, "open"),
    ],
)
def test_the_words_are_krippendorffs(interval, word):
    assert word_of(interval) == word


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[1, np.nan], [np.nan, 0]], "no two annotators did the same topic"),
        ([[0, 0], [0, 0]], "nobody chose a document"),
        ([[1, 1], [1, 1]], "everybody chose every document"),
    ],
)
def test_where_alpha_is_undefined_it_says_why(values, why):
    found = compute(NAMES[:2], {"1": np.array(values, dtype=float)})
    assert (found.alpha, found.why, found.merged, found.needed) == (None, why, None, None)


def test_people_who_agree_less_than_by_chance_have_no_merged_reliability():
    nan = np.nan
    found = compute(NAMES[:3], {"1": np.array([[0, 1, nan], [0, nan, 1]])})
    assert found.alpha == pytest.approx(-0.5)  # n / (1 + (n - 1) alpha) would divide by 0
    assert (found.merged, found.needed) == (None, None)


def test_more_annotators_are_needed_where_alpha_is_lower():
    values = labels(np.random.default_rng(6), 400, [0.85] * 3)
    found = compute(NAMES[:3], {"1": values})
    alpha = min(found.alpha, found.alpha_within_topics)
    assert found.merged == pytest.approx(3 * alpha / (1 + 2 * alpha))
    of_mean = {n: n * alpha / (1 + (n - 1) * alpha) for n in (found.needed - 1, found.needed)}
    assert of_mean[found.needed - 1] < 0.8 <= of_mean[found.needed]


def reliability_of_groups(*assessors):
    """Reliability of clusterings, assessor → topic → document → groups."""
    topics = sorted({topic for clusters in assessors for topic in clusters})
    values = ((topic, pairs_together([each.get(topic) for each in assessors])) for topic in topics)
    return reliability_of(NAMES[: len(assessors)], values, SAME_GROUPS)


def pairs_by_hand(assessors, documents):
    """Of each pair of documents a row: 1 where an assessor put them together, NaN if not asked."""
    return [
        [
            float(bool(each[one] & each[other])) if {one, other} <= each.keys() else np.nan
            for each in assessors
        ]
        for one, other in combinations(documents, 2)
    ]


groups = st.frozensets(st.sampled_from("abc"), max_size=2)
clusterings = st.dictionaries(st.sampled_from("123456"), groups, min_size=1)


@given(st.lists(st.tuples(clusterings, clusterings), min_size=2, max_size=4))
def test_pairs_of_documents_leave_with_either_of_the_two(several):
    found = reliability_of_groups(*(dict(zip("12", own, strict=True)) for own in several))
    documents = [
        (place, document)
        for place in range(2)
        for document in sorted({each for own in several for each in own[place]})
    ]

    def pairs_without(left):
        rows = [
            row
            for place in range(2)
            for row in pairs_by_hand(
                [own[place] for own in several],
                [each for topic, each in documents if topic == place and (topic, each) != left],
            )
        ]
        return [row for row in rows if np.isfinite(row).sum() > 1]

    every = pairs_without(None)
    assert found.alpha == pytest.approx(alpha_by_pairs(every))
    assert (found.alpha is None) == (found.why is not None)
    left = [each for each in map(pairs_without, documents) if len(each) < len(every)]
    without = [alpha_by_pairs(each) for each in left]
    if found.alpha is None or None in without:
        assert found.ci95 is None
    else:
        assert found.ci95 == pytest.approx(jackknife(found.alpha, without))


def test_of_two_assessors_alpha_of_pairs_is_about_their_adjusted_rand_index():
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 5, 60)
    one, other = (groups_of(misplaced(rng, truth, 0.2)) for _ in range(2))
    found = reliability_of_groups({"1": one}, {"1": other})
    assert found.alpha == pytest.approx(adjusted_rand(one, other), abs=0.01)


def groups_of(numbers):
    return {str(n): frozenset({str(group)}) for n, group in enumerate(numbers.tolist())}


def misplaced(rng, truth, share):
    """The groups with a share of documents in one of five at random."""
    return np.where(rng.random(len(truth)) < share, rng.integers(0, 5, len(truth)), truth)


def sorted_topics_of(rng, truths, share):
    return {str(n): groups_of(misplaced(rng, truth, share)) for n, truth in enumerate(truths)}


def test_assessors_who_group_alike_do_not_differ_and_their_alpha_is_in_its_interval():
    rng = np.random.default_rng(8)
    share, chance = 0.2, 1 / 5  # of documents placed at random, of pairs that are together
    same = (1 - share) ** 2 + (1 - (1 - share) ** 2) * chance
    apart = (1 - same) / 4  # of pairs that are in truth apart
    unlike = chance * 2 * same * (1 - same) + (1 - chance) * 2 * apart * (1 - apart)
    truth = 1 - unlike / (2 * chance * (1 - chance))
    covered = some_differ = 0
    for _ in range(100):
        truths = [rng.integers(0, 5, 30) for _ in range(4)]
        found = reliability_of_groups(*(sorted_topics_of(rng, truths, share) for _ in range(3)))
        covered += found.ci95[0] <= truth <= found.ci95[1]
        some_differ += any(each.differs for each in found.by_assessor)
    assert covered >= 90
    assert some_differ <= 5


def test_an_assessor_who_groups_at_random_is_found():
    rng, guessed = np.random.default_rng(9), 0
    for _ in range(40):
        truths = [rng.integers(0, 5, 30) for _ in range(4)]
        shares = [0.1, 0.1, 0.1, 0.6]
        found = reliability_of_groups(*(sorted_topics_of(rng, truths, each) for each in shares))
        differs = [each.differs for each in found.by_assessor]
        assert differs[:3] == [False] * 3
        guessed += differs[3]
    assert guessed >= 0.85 * 40


def test_guesses_of_all_may_be_chance():
    rng = np.random.default_rng(10)
    truths = [rng.integers(0, 5, 30) for _ in range(2)]
    found = reliability_of_groups(*(sorted_topics_of(rng, truths, 1.0) for _ in range(2)))
    assert "are not shown to agree better than chance" in found.sentence(2, "assessors")
    assert [each.may_be_chance for each in found.by_topic] == [True, True]


@pytest.mark.parametrize(("group", "why"), [("", SAME_GROUPS[0]), ("a", SAME_GROUPS[1])])
def test_groups_that_are_all_the_same_leave_it_open_and_say_why(group, why):
    clusters = {"1": {document: frozenset(group) for document in "123"}}
    found = reliability_of_groups(clusters, clusters)
    assert found.sentence(2, "assessors") == (
        f"Whether the 2 assessors agree well enough is open: {why}."
    )
