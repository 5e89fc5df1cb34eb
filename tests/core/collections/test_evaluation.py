"""Runs scored with measures, and what is refused or left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth, lists_of
from survey.core.measures import MEASURES, Measure, measure_named, score, subtopics
from survey.core.text_input import FaultyFilesError

# In q1, a is the better of two relevant documents and d was not judged.
JUDGED = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"a": 1}}


def ordered(*documents):
    return {document: -float(rank) for rank, document in enumerate(documents)}


RUNS = {
    "one": {"q1": ordered("d", "c", "b"), "q2": ordered("a"), "q9": ordered("a")},
    "two": {"q1": ordered("a", "b"), "q3": ordered("a")},
}


def scored(names=("AP",), runs=RUNS, truth=None, **options):
    measures = [measure_named(name) for name in names]
    return evaluate(truth or GroundTruth(JUDGED), runs, measures, **options)


def faults_of(*args, **options):
    with pytest.raises(FaultyFilesError) as caught:
        scored(*args, **options)
    return caught.value.faults


def test_lists_hold_a_row_for_each_run_with_what_is_known_in_the_order_of_ranks():
    truth = GroundTruth(
        JUDGED,
        weights={"q1": {"a": 1.0, "b": 0.5, "c": 0.25}},
        clusters={"q1": {"a": frozenset({"x"}), "c": frozenset({"y"})}},
    )
    lists = lists_of(truth, "q1", [["d", "c", "b"], ["b", "a"], []])
    assert lists.ranks.tolist() == [[3, np.inf], [1, 2], [np.inf, np.inf]]
    assert lists.grades.tolist() == [[1, 2], [1, 2], [2, 1]]
    assert lists.weights.tolist() == [[0.5, 1], [0.5, 1], [1, 0.5]]
    assert lists.clusters == ((set(), {"x"}), (set(), {"x"}), ({"x"}, set()))
    assert lists.condensed.tolist() == [[2, np.inf], [1, 2], [np.inf, np.inf]]
    assert lists.judged == 3


def test_queries_have_a_relevant_document_and_something_returned_by_a_run():
    found = scored()
    assert found.queries == ("q1", "q2")
    # one: (1/3 + 0)/2 in q1 and 1 in q2; two: 1, and 0 as it returned nothing for q2
    assert found.values["one"]["AP"] == pytest.approx([1 / 6, 1])
    assert found.values["two"]["AP"] == pytest.approx([1, 0])
    assert found.mean("one", "AP") == pytest.approx(7 / 12)
    assert found.notes == (
        "Left out: 1 topic (q3) without a relevant document; trec_eval counts such topics as 0.",
        "Left out: 1 topic (q4) that no run returned anything for; --complete counts such topics, "
        "as trec_eval -c does.",
        "Left out: 1 topic (q9) without judgements.",
        "Run two returned nothing for 1 topic (q2); scored as having retrieved nothing, as by "
        "trec_eval -c.",
    )


def test_a_run_that_returned_nothing_has_the_worst_value_of_every_measure():
    # 100 documents: NMRR is 1; NAR of one document at the end is (100 − 1)/100.
    found = scored(["NMRR", "NAR", "RR", "bpref", "nDCG@10"], collection_size=100)
    assert [found.values["two"][name][1] for name in found.values["two"]] == [1, 0.99, 0, 0, 0]


def test_the_largest_number_of_relevant_documents_may_cap_nmrr():
    assert scored(["NMRR"], gmt="max").setting.gmt == 2
    assert scored(["NMRR"]).setting.gmt is None
    assert faults_of(["NMRR"], gmt=1) == (
        "topic 'q1': 2 relevant documents found, and GMT is 1; GMT is the largest such number "
        "over all queries",
    )


def test_a_run_must_fit_into_the_collection_with_what_it_missed():
    assert scored(collection_size=4).queries == ("q1", "q2")
    assert faults_of(collection_size=3) == (
        "topic 'q1', run one: 3 documents found and 1 relevant one missing; the collection size "
        "is 3, and 4 at least is needed",
    )


def test_each_relevant_document_needs_a_weight_where_there_are_weights():
    truth = GroundTruth(JUDGED, weights={"q1": {"a": 1.0}})
    assert faults_of(["wP@10"], truth=truth) == (
        "topic 'q1': relevant document 'b' has no weight; each needs one",
        "topic 'q2': relevant document 'a' has no weight; each needs one",
    )


def test_topics_without_a_cluster_are_left_out_where_a_measure_needs_them():
    truth = GroundTruth(JUDGED, clusters={"q1": {"a": frozenset({"x"}), "b": frozenset()}})
    assert scored(["AP"], truth=truth).queries == ("q1", "q2")
    found = scored(["AP", "S-recall@20"], truth=truth)
    assert found.queries == ("q1",)
    told = "Left out: 1 topic (q2) without a relevant document in a cluster."
    assert told in found.notes


def test_topics_where_the_ideal_list_of_alpha_ndcg_may_not_be_the_best_are_named():
    truth = GroundTruth(
        JUDGED,
        clusters={"q1": {"a": frozenset("xy"), "b": frozenset("x")}, "q2": {"a": frozenset("x")}},
    )
    assert scored(["alpha-nDCG@5"], truth=truth).notes[-2:] == (
        "Run two returned nothing for 1 topic (q2); scored as having retrieved nothing, as by "
        "trec_eval -c.",
        "The ideal list of alpha-nDCG is greedy, and may gain less than the best for 1 topic (q1), "
        "where documents are in several clusters.",
    )


def test_a_grade_above_the_scale_of_err_names_its_topic():
    assert faults_of(["ERR1@5"]) == (
        "topic 'q1': ERR1@5: grade 2 found; ERR1@k takes grades up to 1, ERR2@k up to 2",
    )


def test_weights_and_clusters_of_other_documents_are_counted_in_the_notes():
    truth = GroundTruth(
        JUDGED,
        weights={"q1": {"a": 1.0, "b": 0.5, "c": 0.1}, "q2": {"a": 1.0}},
        clusters={"q1": {"A": frozenset("x"), "b": frozenset("x")}, "q2": {"a": frozenset("x")}},
    )
    notes = scored(["wP@5", "S-recall@5"], truth=truth).notes
    assert any(
        note.startswith("1 of 4 documents in the weights are not relevant") for note in notes
    )
    assert any(note.startswith("1 of 3 documents in the clusters are not") for note in notes)


def test_gmt_matters_to_nmrr_only():
    assert scored(["AP"], gmt=1).queries == ("q1", "q2")
    assert "GMT is 1" in faults_of(["NMRR"], gmt=1)[0]


def test_without_queries_nothing_can_be_scored():
    assert faults_of(runs={"one": {"q3": ordered("a")}}) == (
        "no run returned anything for a topic with a relevant document; one such topic is needed",
    )


def test_many_topics_are_counted_and_the_first_named():
    judged = {"q": {"a": 1}, **{f"n{number}": {"a": 0} for number in range(7)}}
    found = scored(runs={"one": {"q": ordered("a")}}, truth=GroundTruth(judged))
    assert found.notes == (
        "Left out: 7 topics (n0, n1, n2, n3, n4, …) without a relevant document; trec_eval counts "
        "such topics as 0.",
    )


def test_a_measure_that_gives_no_number_is_named_with_the_topic():
    broken = Measure("X", "x", lambda lists, _: lists.ranks[:, 0], better="lower", source="none")
    with pytest.raises(
        FaultyFilesError, match=r"topic 'q2': X gave \[1.0, inf\]; a number for each list"
    ):
        evaluate(GroundTruth({"q2": {"a": 1}}), RUNS, [broken])


def test_each_query_is_told_as_it_is_done():
    told = []
    scored(on_topic=lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]


LISTED = [name for name in MEASURES if not {"clusters", "weights"} & {*MEASURES[name].needs}]


@pytest.mark.slow
@given(st.permutations("abcdefgh"), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_a_whole_ranking_scores_as_its_positions_do(order, relevant):
    judged = {"q": {document: int(document in relevant) for document in order}}
    ranks = [rank for rank, document in enumerate(order, 1) if document in relevant]
    found = scored(
        LISTED, {"one": {"q": ordered(*order)}}, GroundTruth(judged), collection_size=8
    ).values["one"]
    expected = score(LISTED, [ranks], 8)[0]
    assert [found[name][0] for name in LISTED] == pytest.approx(list(expected), abs=1e-12)


def test_a_greedy_cover_is_said_in_the_notes(monkeypatch):
    clusters = {"q1": {"a": frozenset("xy"), "b": frozenset("yz")}, "q2": {"a": frozenset("x")}}
    truth = GroundTruth(JUDGED, clusters=clusters)
    assert not any("greedy" in note for note in scored(["S-precision@1"], truth=truth).notes)
    monkeypatch.setattr(subtopics, "MOST_EXACT", 1)
    subtopics.smallest_cover.cache_clear()
    (note,) = (n for n in scored(["S-precision@1"], truth=truth).notes if "greedy" in n)
    assert note.startswith("S-precision of 1 topic (q1) rests on a greedy cover")
    assert not any("greedy" in note for note in scored(["S-recall@5"], truth=truth).notes)
    subtopics.smallest_cover.cache_clear()
