"""One clustering from those of two or three assessors."""

import pytest
from hypothesis import given

from survey.core.collections.gold import corrected, gold_topic, topic_spread, union
from tests.core.collections.clustered import CLUSTERINGS, clusters, groups_of, renamed
from tests.core.collections.test_clusterings import COARSE, FINE


def gold(*assessors, **options):
    return gold_topic("5", assessors, **options)


@given(CLUSTERINGS)
def test_the_gold_of_two_equal_clusterings_is_that_clustering(found):
    result = gold(found, found)
    assert result.clusters == (found if any(found.values()) else {})


@pytest.mark.slow
@given(CLUSTERINGS, CLUSTERINGS, CLUSTERINGS)
def test_names_of_clusters_change_no_gold(first, second, third):
    before = gold(first, second, third, floor=-1)
    after = gold(renamed(first), renamed(second, "other "), renamed(third), floor=-1)
    assert before.rule == after.rule
    assert groups_of(before.clusters) == groups_of(after.clusters)


@given(CLUSTERINGS, CLUSTERINGS)
def test_a_union_keeps_together_what_either_puts_together(first, second):
    joined = union(first, second)
    assert joined.keys() == first.keys() | second.keys()
    for one in (first, second):
        for document, names in one.items():
            together = {other for other in one if one[other] & names}
            assert together <= {other for other in joined if joined[other] & joined[document]}


def test_in_doubt_a_document_is_in_both_clusters():
    first = clusters(lion="1 2 3 4 5", tiger="6 7 8 9 10")
    second = clusters(leo="1 2 3 4 5 6", tigris="7 8 9 10")
    result = gold(first, second, threshold=0.5)
    assert result.rule == "union of two"
    assert result.clusters == clusters(lion="1 2 3 4 5 6", tiger="6 7 8 9 10")


def test_unmatched_clusters_of_either_stay_and_get_a_name_of_their_own():
    # the second's bird (condors) matches nothing: the first's bird is its pelican
    second = clusters(pelican="b1 b2 b3 b4", bird="b5 b6", dolphin="d1 d2 d3", monkey="m1 m2 m3")
    joined = union(COARSE, second)
    assert joined == {
        **COARSE,
        "b5": frozenset({"bird", "bird (second)"}),
        "b6": frozenset({"bird", "bird (second)"}),
    }
    assert groups_of(union(second, COARSE)) == groups_of(joined)


def test_what_one_could_not_place_is_where_the_other_put_it():
    first = clusters(a="1 2 3", b="4 5 6", unknown="7 8")
    second = clusters(x="1 2 3", y="4 5 6 7", unknown="8")
    result = gold(first, second, threshold=0.5)
    assert groups_of(result.clusters) == ([["1", "2", "3"], ["4", "5", "6", "7"]], ["8"])


def test_documents_of_one_assessor_alone_are_where_that_one_put_them():
    result = gold({**COARSE, "x": frozenset(["bird"])}, {**COARSE, "y": frozenset(["monkey"])})
    assert result.clusters["x"] == {"bird"}
    assert result.clusters["y"] == {"monkey"}


def test_the_granularity_of_whom_the_others_agree_with_best_is_taken():
    third = {**FINE, "m3": frozenset({"dolphin"})}
    result = gold(COARSE, FINE, third)
    # first and second: 12 pairs in both, 9 in one, 0 in the other, 45 in neither
    # first and third: 10, 11, 3, 42; second and third: 10, 2, 3, 51
    expected = (
        2 * 12 * 45 / (21 * 54 + 12 * 45),  # .645
        2 * (10 * 42 - 11 * 3) / (21 * 53 + 13 * 45),  # .456
        2 * (10 * 51 - 2 * 3) / (12 * 53 + 13 * 54),  # .753
    )
    assert result.agreements == pytest.approx(expected)
    assert result.rule == "of three, that of assessor 2"  # means .550, .699, .605
    assert result.clusters == FINE


def test_a_document_moves_where_the_other_two_agree_against_the_granularity_taken():
    wrong = {**FINE, "d3": frozenset({"condor"})}
    third = {**FINE, "m3": frozenset({"dolphin"}), "m2": frozenset({"dolphin"})}
    moved = corrected(wrong, COARSE, third)
    assert moved["d3"] == {"dolphin"}
    assert moved["m3"] == {"monkey"}  # the third alone says dolphin
    assert moved == FINE


def test_two_who_could_not_place_a_document_outvote_the_third():
    unsure = {**FINE, "d3": frozenset()}
    assert corrected(FINE, unsure, unsure)["d3"] == frozenset()
    assert corrected(unsure, FINE, FINE)["d3"] == {"dolphin"}


def test_a_view_that_the_granularity_taken_cannot_express_moves_nothing():
    # both others know condors apart; the base has no such cluster, so they stay birds
    assert corrected(COARSE, FINE, FINE) == COARSE


def test_documents_the_base_lacks_are_where_the_others_put_them():
    base = {document: names for document, names in FINE.items() if document != "d3"}
    assert corrected(base, FINE, base)["d3"] == {"dolphin"}
    other = {**base, "d3": frozenset({"monkey"})}
    assert corrected(base, FINE, other)["d3"] == {"dolphin", "monkey"}


def test_a_third_who_clustered_few_documents_does_not_decide():
    # on the common documents alone the third would agree completely with either
    few = clusters(dolphin="d1 d2 d3", monkey="m1")
    result = gold(COARSE, FINE, few, floor=0.4)
    # with the others' documents as unknown 3 pairs are together in both, 18 in the first
    # alone and 45 in neither; 9 in the second alone and 54 in neither
    assert result.agreements[1:] == pytest.approx(
        (2 * 3 * 45 / (21 * 63 + 3 * 45), 2 * 3 * 54 / (12 * 63 + 3 * 54))
    )
    assert result.rule == "of three, that of assessor 2"  # means .415, .499, .269
    assert result.clusters == FINE


def test_a_third_is_not_asked_where_two_agree():
    third = clusters(all=" ".join(FINE))
    assert gold(FINE, FINE, third).rule == "union of two"
    assert gold(FINE, FINE, third).agreements == (1, None, None)


ACROSS = clusters(x="1 4 7", y="2 5 8", z="3 6 9")
LETTERS = clusters(a="1 2 3", b="4 5 6", c="7 8 9")
DIAGONALS = clusters(p="1 5 9", q="2 6 7", r="3 4 8")


def test_topics_that_stay_unresolved_are_left_out_with_the_reason():
    assert gold(LETTERS, ACROSS).rule == "left out: no third assessor"
    assert gold(LETTERS, ACROSS, DIAGONALS).rule == "left out: three do not agree"
    assert gold(LETTERS, None, ACROSS).rule == "left out: only one of the first two assessors"
    nobody = clusters(unknown="1 2 3")
    assert gold(nobody, nobody).rule == "left out: no document could be placed"
    for result in (gold(LETTERS, ACROSS), gold(LETTERS, None), gold(nobody, nobody)):
        assert result.clusters == {}


def test_the_floor_decides_whether_three_agree():
    # each two: no pair together in both, 9 in one, 9 in the other,
    # 18 in neither: 2 (0 - 81) / (9 · 27 + 9 · 27) = -1/3
    assert gold(LETTERS, ACROSS, DIAGONALS).agreements == pytest.approx((-1 / 3,) * 3)
    kept = gold(LETTERS, ACROSS, DIAGONALS, floor=-0.4)
    assert kept.rule == "of three, that of assessor 1"  # of equals the earlier


def test_table_3_describes_counts_by_mean_sd_median_and_range():
    found = topic_spread([2, 4, 9])
    # mean 5; sd: sqrt((9 + 1 + 16) / 2)
    assert found == {
        **{"topics": 3, "mean": 5, "sd": pytest.approx(13**0.5), "median": 4},
        **{"smallest": 2, "largest": 9},
    }
    assert topic_spread([3])["sd"] is None
    assert topic_spread([])["mean"] is None


def test_clusters_without_a_common_document_are_not_matched():
    joined = union(clusters(a="1 2", b="3 4"), clusters(x="1 2", y="9"))
    assert groups_of(joined) == ([["1", "2"], ["3", "4"], ["9"]], [])
