"""Two assessors' clusterings of a topic, compared."""

from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from survey.core.collections.clusterings import clustering_lines, compare_clusters, read_clustering
from survey.core.text_input import FaultyFilesError, FileFaults, lines_of
from tests.core.collections.clustered import CLUSTERINGS, clusters, partition, renamed

COARSE = clusters(bird="b1 b2 b3 b4 b5 b6", dolphin="d1 d2 d3", monkey="m1 m2 m3")
FINE = clusters(pelican="b1 b2 b3", condor="b4 b5 b6", dolphin="d1 d2 d3", monkey="m1 m2 m3")


def compared(first, second, **options):
    return compare_clusters("5", first, second, **options)


def read(text):
    faults = FileFaults()
    found = read_clustering("a1.txt", lines_of(text), faults)
    faults.raise_any()
    return found


def faults_of(text):
    with pytest.raises(FaultyFilesError) as caught:
        read(text)
    return caught.value.faults


# Computed with scikit-learn 1.9.1 (adjusted_rand_score, rand_score) and bcubed 1.5 (fscore).
REFERENCE = [
    ("aaabbbcc", "aabbbbcc", 0.5454545454545454, 0.8214285714285714, 0.8227848101265822),
    ("aaaabbbb", "abababab", -0.16666666666666666, 0.42857142857142855, 0.5),
    ("aaabbb", "xyzuuu", 0.5454545454545454, 0.8, 0.8),
    ("abcdef", "aaaaaa", 0.0, 0.0, 0.2857142857142857),
    ("aabbccdd", "aabbccde", 0.8372093023255814, 0.9642857142857143, 0.9333333333333333),
]


@pytest.mark.parametrize(("first", "second", "adjusted", "pairs", "cubed"), REFERENCE)
def test_partitions_have_the_figures_of_other_libraries(first, second, adjusted, pairs, cubed):
    found = compared(partition(first), partition(second))
    assert found.adjusted_rand == pytest.approx(adjusted)
    assert found.pair_agreement == pytest.approx(pairs)
    assert found.b_cubed == pytest.approx(cubed)


def test_overlapping_clusters_are_compared_by_the_pairs_that_share_one():
    first = clusters(a="0 1", b="1 2 3", c="3 4")
    second = clusters(a="0 1", b="2 3 4", c="3 4")
    found = compared(first, second)
    # together in the first: 01 12 13 23 34, in the second: 01 23 24 34; in both: 01 23 34
    assert found.pair_agreement == 7 / 10  # a = 3, b = 2 (12 13), c = 1 (24), d = 4
    assert found.adjusted_rand == pytest.approx(2 * (12 - 2) / (5 * 6 + 4 * 5))
    assert found.b_cubed == pytest.approx(0.7624772313296905)  # bcubed 1.5
    assert (found.several, found.clusters) == ((2, 2), (3, 3))


@pytest.mark.slow
@given(CLUSTERINGS, CLUSTERINGS)
def test_the_adjusted_rand_index_counts_pairs_one_by_one(first, second):
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for x, y in combinations(sorted(first.keys() & second.keys()), 2):
        counts[bool(first[x] & first[y]), bool(second[x] & second[y])] += 1
    total = sum(counts.values())
    assume(total)
    both, one, other, _ = counts.values()
    # Hubert and Arabie's own form: (index - expected) / (largest - expected)
    expected = (both + one) * (both + other) / total
    largest = (2 * both + one + other) / 2
    if one or other:
        assert compared(first, second).adjusted_rand == pytest.approx(
            (both - expected) / (largest - expected)
        )
    else:
        assert compared(first, second).adjusted_rand == 1


@given(CLUSTERINGS)
def test_a_clustering_agrees_with_itself_and_needs_no_third(found):
    same = compared(found, renamed(found))
    assert not same.needs_third
    assert same.adjusted_rand == (1 if len(found) > 1 else None)
    assert same.pair_agreement == same.adjusted_rand
    assert same.b_cubed == (pytest.approx(1) if found else None)


@given(CLUSTERINGS, CLUSTERINGS)
def test_names_of_clusters_change_nothing(first, second):
    assert compared(renamed(first), second) == compared(first, second)
    assert compared(first, renamed(second)) == compared(first, second)


@given(CLUSTERINGS, CLUSTERINGS)
def test_agreement_and_its_reason_are_the_same_from_either_side(first, second):
    one, other = compared(first, second), compared(second, first)
    assert one.adjusted_rand == pytest.approx(other.adjusted_rand)
    assert one.b_cubed == pytest.approx(other.b_cubed)
    assert (one.reason, one.only_first) == (other.reason, other.only_second)


def test_birds_against_pelicans_and_condors_is_a_matter_of_granularity():
    found = compared(COARSE, FINE)
    # of 66 pairs 12 are together in both, 9 (pelican, condor) in the first, 45 in neither
    assert found.pair_agreement == 57 / 66  # above .8, although a third is needed
    assert found.adjusted_rand == pytest.approx(2 * 12 * 45 / (21 * 54 + 12 * 45))
    assert (found.reason, found.granularity) == ("granularity", 4 / 3)


def test_each_may_be_finer_in_places():
    first = clusters(bird="b1 b2 b3 b4", lion="c1 c2", tiger="c3 c4")
    second = clusters(pelican="b1 b2", condor="b3 b4", cat="c1 c2 c3 c4")
    assert compared(first, second).reason == "granularity"


def test_granularity_forgives_a_document_that_lies_elsewhere():
    lions = " ".join(f"c{number}" for number in range(12))
    first = clusters(bird="b1 b2 b3 b4 b5 b6 b7 b8 b9 b10", lion=lions)
    second = clusters(condor="b1 b2 b3 b4 b5", pelican="b6 b7 b8 b9", lion=f"{lions} b10")
    # condor and pelican taken together: 9 and 13 documents against 10 and 12, so 102 pairs
    # in both, 9 and 12 in one, 108 in neither: 2 · 101 · 108 / (111 · 117 + 114 · 120) = .82
    assert compared(first, second).reason == "granularity"
    assert compared(first, second, threshold=0.83).reason == "different understanding"


def test_other_reasons_are_told_apart():
    letters = clusters(a="1 2 3", b="4 5 6", c="7 8 9")
    across = clusters(x="1 4 7", y="2 5 8", z="3 6 9")
    assert compared(letters, across).reason == "different understanding"
    both = clusters(a="1 2 3 6 9", b="4 5 6", c="7 8 9")
    assert compared(letters, both).reason == "multiple assignment"
    unsure = clusters(a="1 2 3", b="4 5", unknown="6 7 8 9")
    assert compared(letters, unsure).reason == "domain knowledge"


def test_unknown_documents_do_not_belong_together():
    unknown, apart = clusters(unknown="1 2 3"), partition("abc")
    placed = {str(int(one) + 1): names for one, names in apart.items()}
    found = compared(unknown, placed)
    assert (found.adjusted_rand, found.unknown, found.clusters) == (1, (3, 0), (0, 3))
    assert found.granularity is None


def test_documents_of_one_assessor_alone_are_told_and_not_compared():
    found = compared({**COARSE, "x": frozenset(["bird"])}, {**COARSE, "y": frozenset(["bird"])})
    assert (found.only_first, found.only_second) == (("x",), ("y",))
    assert (found.documents, found.adjusted_rand, found.reason) == (12, 1, "")


def test_without_two_common_documents_only_equal_sets_agree():
    assert compared(partition("a"), partition("b")).reason == ""
    found = compared(clusters(a="1 2"), clusters(a="2 3"))
    assert (found.adjusted_rand, found.pair_agreement) == (None, None)
    assert found.reason == "different documents"


def test_the_threshold_is_one_for_the_adjusted_index():
    index = compared(COARSE, FINE).adjusted_rand
    assert not compared(COARSE, FINE, threshold=index).needs_third
    assert compared(COARSE, FINE, threshold=index + 1e-9).needs_third


def test_a_cluster_is_the_rest_of_the_line():
    text = "16 d1 Golden  Gate Bridge\n16 d1 Fog\n16 d2 Unknown\n# note\n\n16 d3 fog\n"
    found = read(text)
    assert found == {
        "16": {
            "d1": frozenset({"Golden Gate Bridge", "Fog"}),
            "d2": frozenset(),
            "d3": frozenset({"fog"}),
        }
    }
    lines = "".join(clustering_lines("16", found["16"]))
    assert lines == "16 d1 Fog\n16 d1 Golden Gate Bridge\n16 d2 unknown\n16 d3 fog\n"
    assert read(lines) == found


@given(st.dictionaries(st.sampled_from(["1", "2"]), CLUSTERINGS.filter(bool), min_size=1))
def test_what_is_written_is_read_back(found):
    assert (
        read("".join(line for topic in found for line in clustering_lines(topic, found[topic])))
        == found
    )


def test_every_fault_of_a_clustering_names_its_line():
    assert faults_of("5 d1\n5 d2 bird\n5 d3 bird\n5 d2  bird\n5 d3 UNKNOWN\n5 d4 a\n") == (
        "a1.txt, line 1: 2 fields found, '5 d1'; 3 or more are allowed: topic document cluster",
        "a1.txt, line 4: document 'd2' of topic '5' found again in cluster 'bird', as in line 2; "
        "once is allowed",
        "a1.txt, line 5: document 'd3' of topic '5' is unknown here and in cluster 'bird' "
        "elsewhere; one of the two is allowed",
    )
    assert faults_of("\n") == (
        "a1.txt: no line found; a line for each document is needed: topic document cluster",
    )


def test_a_topic_of_more_documents_than_anyone_clusters_is_a_fault():
    (fault,) = faults_of("".join(f"5 d{number} a\n" for number in range(2001)))
    assert fault == "a1.txt: topic '5' has 2001 documents; 2000 are allowed"
