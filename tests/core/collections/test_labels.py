"""Several assessors' labels: weights, relevance, and how far they agree."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.labels import (
    NOT_JUDGED,
    choice_agreement,
    grades_of,
    merge_labels,
    read_labels,
    sorted_topics,
)
from survey.core.text_input import FaultyFilesError, FileFaults, lines_of

LABELS = (
    {"1": {"d1": 2, "d2": 1, "d3": 0, "d4": 0}},
    {"1": {"d1": 1, "d3": 1}},
    {"1": {"d1": 3, "d2": 2}},
)
"""Grades: d1 2 1 3, d2 1 0 2, d3 0 1 0, d4 0 0 0. Chosen: {d1, d2}, {d1, d3}, {d1, d2}."""


def read(text):
    faults = FileFaults()
    labels = read_labels("a.txt", lines_of(text), faults)
    faults.raise_any()
    return labels


def faults_of(text):
    with pytest.raises(FaultyFilesError) as caught:
        read(text)
    return caught.value.faults


def test_a_weight_is_the_share_of_the_topics_assessors_who_chose_the_document():
    (topic,) = merge_labels(LABELS)
    assert topic.documents == ("d1", "d2", "d3", "d4")
    assert topic.chosen.tolist() == [3, 2, 1, 0]
    assert topic.weights.tolist() == [1, 2 / 3, 1 / 3, 0]


def test_an_assessor_without_a_line_for_a_topic_is_not_in_its_denominator():
    topics = merge_labels([*LABELS, {"2": {"d9": 1}}])
    assert [(one.topic, one.assessors) for one in topics] == [("1", 3), ("2", 1)]
    assert topics[1].weights.tolist() == [1]


def test_an_assessor_who_chose_nothing_in_a_topic_is_in_its_denominator():
    (topic,) = merge_labels([*LABELS, {"1": {"d4": 0}}])
    assert topic.weights.tolist() == [3 / 4, 2 / 4, 1 / 4, 0]


def test_relevance_is_the_highest_grade_that_so_many_gave_or_exceeded():
    (topic,) = merge_labels(LABELS)
    # sorted grades: d1 1 2 3, d2 0 1 2, d3 0 0 1, d4 0 0 0; by default the second of three
    assert topic.relevance().tolist() == [2, 1, 0, 0]
    assert topic.relevance(1).tolist() == [3, 2, 1, 0]
    assert topic.relevance(3).tolist() == [1, 0, 0, 0]
    assert topic.relevance(4).tolist() == [0, 0, 0, 0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_by_default_relevance_is_the_lower_median_and_needs_more_than_half(grades):
    (topic,) = merge_labels([{"1": {"d": grade}} for grade in grades])
    (relevance,) = topic.relevance()
    assert relevance == np.percentile(grades, 50, method="lower")
    assert (relevance > 0) == (sum(grade > 0 for grade in grades) > len(grades) / 2)


def test_agreement_of_three_assessors_by_hand():
    (topic,) = merge_labels(LABELS)
    found = choice_agreement(topic)
    assert (found.assessors, found.documents) == (3, 4)
    assert (found.chosen_by_all, found.chosen_by_one) == (1, 1)
    # {d1,d2} and {d1,d3}: 1/3, {d1,d2} and {d1,d2}: 1, {d1,d3} and {d1,d2}: 1/3
    assert found.jaccard == pytest.approx(5 / 9)
    # pairs that agree on d1…d4: 1, 1/3, 1/3, 1, mean 2/3; chosen 6 of 12, so by chance 1/2
    assert found.fleiss_kappa == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))
    ordinal = krippendorff.alpha(topic.grades.T, level_of_measurement="ordinal")
    assert found.krippendorff_alpha == pytest.approx(ordinal)
    assert found.why is None


def test_two_assessors_have_cohens_kappa_also_weighted_by_hand():
    labels = [
        {"1": dict(zip("abcd", grades, strict=True))} for grades in ([3, 1, 0, 0], [1, 1, 0, 2])
    ]
    (topic,) = merge_labels(labels)
    found = choice_agreement(topic)
    # Marked 2 and 3 of four, agreeing on three: expected 1/2 · 3/4 + 1/2 · 1/4 = 1/2.
    assert found.cohen_kappa == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    # Distances 2, 0, 0, 2; of all pairs (3, 1, 0, 0) and (1, 1, 0, 2): 8 + 2 + 4 + 4 of 16.
    assert found.cohen_kappa_weighted == pytest.approx(1 - (4 / 4) / (18 / 16))
    (topic,) = merge_labels([*labels, labels[0]])
    assert choice_agreement(topic).cohen_kappa is None
    (topic,) = merge_labels([labels[0], labels[0]])
    assert choice_agreement(topic).cohen_kappa_weighted == 1


@pytest.mark.parametrize(
    ("grades", "jaccard", "why"),
    [
        ([[1]], None, "one assessor only"),
        ([[], []], None, "no assessor chose a document"),
        ([[0], [0]], None, "no assessor chose a document"),
        ([[1, 1], [1, 1]], 1, "everyone chose every document"),
    ],
)
def test_agreement_that_is_undefined_says_why(grades, jaccard, why):
    (topic,) = merge_labels([{"1": dict(zip("ab", one, strict=False))} for one in grades])
    found = choice_agreement(topic)
    assert (found.jaccard, found.fleiss_kappa, found.krippendorff_alpha) == (jaccard, None, None)
    assert found.why == why


def test_two_who_chose_nothing_are_left_out_of_the_mean_jaccard():
    (topic,) = merge_labels([{"1": {"a": grade}} for grade in (0, 0, 1)])
    assert choice_agreement(topic).jaccard == 0  # two pairs of 0/1; the pair of 0/0 left out


@st.composite
def assessments(draw):
    """Some assessors' labels, topics and documents overlapping."""
    keys = st.tuples(st.sampled_from(["1", "2"]), st.sampled_from("abcde"))
    assessor = st.dictionaries(keys, st.integers(0, 3), min_size=1)
    return draw(st.lists(assessor, min_size=2, max_size=5))


def merged_from(assessors, orders):
    texts = [
        "".join(f"{t} 0 {d} {assessor[t, d]}\n" for t, d in order)
        for assessor, order in zip(assessors, orders, strict=True)
    ]
    return merge_labels([read(text) for text in texts])


@pytest.mark.slow
@given(assessments(), st.randoms(use_true_random=False))
def test_the_order_of_lines_and_of_assessors_changes_neither_weights_nor_agreement(assessors, rng):
    orders = [list(assessor) for assessor in assessors]
    before = merged_from(assessors, orders)
    for order in orders:
        rng.shuffle(order)
    shuffled = rng.sample(list(zip(assessors, orders, strict=True)), len(assessors))
    after = merged_from(*zip(*shuffled, strict=True))
    for one, other in zip(before, after, strict=True):
        assert (one.topic, one.documents) == (other.topic, other.documents)
        assert one.weights.tolist() == other.weights.tolist()
        assert one.relevance().tolist() == other.relevance().tolist()
        assert choice_agreement(one) == choice_agreement(other)


@pytest.mark.slow
@given(assessments())
def test_the_same_labels_from_everyone_agree_completely(assessors):
    for topic in merge_labels([merged_labels(assessors[0])] * 3):
        found = choice_agreement(topic)
        assert found.jaccard in (1, None)
        assert found.fleiss_kappa in (pytest.approx(1), None)
        assert found.krippendorff_alpha in (pytest.approx(1), None)
        assert found.chosen_by_one == 0
        assert set(topic.weights) <= {0, 1}


def merged_labels(assessor):
    labels = {}
    for (topic, document), grade in assessor.items():
        labels.setdefault(topic, {})[document] = grade
    return labels


def test_topics_stand_in_the_order_of_their_numbers_then_of_the_alphabet():
    assert sorted_topics(["q2", "10", "9", "q10"]) == ["9", "10", "q10", "q2"]
    assert sorted_topics(["10", "007", "8", "7"]) == ["007", "7", "8", "10"]


def test_every_fault_of_labels_names_its_line():
    assert faults_of(
        "1 0 d1\n\n# note\n1 0 d2 10\n1 0 d2 1\n1 0 d3 -1 x\n1 0 d4 0\n1 0 d4 1\n"
    ) == (
        "a.txt, line 1: 3 fields found, '1 0 d1'; 4 are allowed: topic iteration document "
        "relevance",
        "a.txt, line 4: relevance '10' found; a whole number from 0 (not chosen) to 9 is allowed",
        "a.txt, line 5: document 'd2' of topic '1' found again, as in line 4; one judgement for "
        "each is allowed",
        "a.txt, line 6: 5 fields found, '1 0 d3 -1 x'; 4 are allowed: topic iteration document "
        "relevance",
        "a.txt, line 8: document 'd4' of topic '1' found again, as in line 7; one judgement for "
        "each is allowed",
    )


def test_a_file_without_labels_is_a_fault():
    assert faults_of("# nothing yet\n") == (
        "a.txt: no line found; a line for each document is needed: topic iteration document "
        "relevance",
    )


def test_of_more_than_five_alike_faults_the_last_sentence_counts_the_rest():
    faults = faults_of("x\n" * 30)
    assert len(faults) == 6
    assert faults[-1] == "and 25 more like these"


def test_a_byte_order_mark_and_any_line_ends_are_forgiven():
    assert read("\ufeff1 0 a 1\r\n1 0 b 0\r1\t0\tc 2") == {"1": {"a": 1, "b": 0, "c": 2}}


def test_of_a_pool_an_assessor_counts_only_for_the_documents_they_judged():
    labels = [{"1": {"a": 2, "b": 0}}, {"1": {"a": 1, "c": 1}}, {"1": {"a": 0, "b": 1, "c": 1}}]
    (topic,) = merge_labels(labels, NOT_JUDGED)
    assert topic.judges.tolist() == [3, 2, 2]
    assert topic.weights.tolist() == [2 / 3, 1 / 2, 1]
    assert topic.relevance().tolist() == [1, 0, 1]
    assert topic.relevance(at_least=3).tolist() == [0, 0, 0]
    agreement = choice_agreement(topic)
    # By the pairs: a alone of {a}; a, b of which neither is common; a, c with c common.
    assert agreement.jaccard == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert agreement.fleiss_kappa is None
    grades = [[2, 0, np.nan], [1, np.nan, 1], [0, 1, 1]]
    expected = krippendorff.alpha(grades, level_of_measurement="ordinal")
    assert agreement.krippendorff_alpha == pytest.approx(expected)
    (grades,) = grades_of(labels, [topic]).values()
    assert np.isnan(grades).tolist() == [[False] * 3, [False, True, False], [True, False, False]]
