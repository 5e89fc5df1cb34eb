"""The standard measures agree with trec_eval, query by query."""

import numpy as np
import pytest
import pytrec_eval

from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth, read_judgements, read_run
from survey.core.measures import measure_named
from survey.core.text_input import FileFaults, lines_of
from tests.core.collections.random_runs import real_sized

SAME = {
    "AP": "map",
    "Rprec": "Rprec",
    "RR": "recip_rank",
    "bpref": "bpref",
    "AP11": "11pt_avg",
    **{f"P@{k}": f"P_{k}" for k in (5, 10, 20, 100, 1000)},
    **{f"R@{k}": f"recall_{k}" for k in (5, 10, 100, 1000)},
    **{f"nDCGlin@{k}": f"ndcg_cut_{k}" for k in (5, 10, 100, 1000)},
}
BINARY = {f"nDCG@{k}": f"ndcg_cut_{k}" for k in (5, 10, 100, 1000)}
FAMILIES = {"map", "Rprec", "recip_rank", "bpref", "11pt_avg", "P", "recall", "ndcg_cut"}


def read(judgements, runs):
    faults = FileFaults()
    truth = read_judgements("qrels", lines_of(judgements), faults)
    read_runs = {
        f"run{number}": read_run("run", lines_of(text), faults)
        for number, text in enumerate(runs, 1)
    }
    assert not faults
    return truth, read_runs


def rounds_the_levels_of_recall(relevant):
    """Whether trec_eval's ⌊level · R + 0.9⌋, in floats, misses ⌈level · R⌉ at some level.

    For R = 3 it does: 0.7 · 3 + 0.9 is 2.9999999999999996, so that two documents of three
    count as a recall of 0.7.
    """
    return any(
        int(tenth / 10 * relevant + 0.9) != -(-tenth * relevant // 10) for tenth in range(11)
    )


def assert_agreement(judgements, runs, same):
    truth = GroundTruth(judgements)
    ours = evaluate(truth, runs, [measure_named(name) for name in same])
    for name, run in runs.items():
        theirs = pytrec_eval.RelevanceEvaluator(judgements, FAMILIES).evaluate(run)
        assert set(ours.queries) == set(theirs)
        for measure, found in ours.values[name].items():
            expected = np.array([theirs[query][same[measure]] for query in ours.queries])
            same_levels = np.array(
                [
                    measure != "AP11" or not rounds_the_levels_of_recall(len(truth.relevant(query)))
                    for query in ours.queries
                ]
            )
            assert same_levels.mean() > 0.6
            assert found[same_levels] == pytest.approx(expected[same_levels], abs=1e-6), measure


@pytest.mark.slow
def test_graded_judgements_with_gaps_and_ties_score_as_in_trec_eval():
    judgements, runs = read(*real_sized())
    scores = list(runs["run1"]["1"].values())
    assert len(set(scores)) < len(scores) / 4  # the ties that docids break
    assert_agreement(judgements, runs, SAME)


@pytest.mark.slow
def test_on_binary_judgements_both_gains_are_trec_evals():
    graded, runs = read(*real_sized())
    judgements = {
        topic: {document: min(grade, 1) for document, grade in documents.items()}
        for topic, documents in graded.items()
    }
    assert_agreement(judgements, runs, SAME | BINARY)


@pytest.mark.parametrize("below", [-1, -2])
def test_negative_relevance_counts_as_not_judged_in_trec_eval_too(below):
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    assert_agreement(
        {"q": {"a": below, "b": 0, "c": 1, "d": 2, "e": 1, "f": 1}}, {"run": run}, SAME
    )


def test_a_topic_that_nothing_relevant_was_returned_for_scores_as_in_trec_eval():
    run = {"q": {"a": 4.0, "b": 3.0}}
    assert_agreement({"q": {"a": 0, "e": 1}}, {"run": run}, SAME)


def test_eleven_points_differ_from_trec_eval_where_it_rounds_a_level_of_recall_down():
    truth, run = {"q": {"a": 0, "c": 1, "d": 1, "e": 1}}, {"q": {"a": 4.0, "c": 2.0, "d": 1.0}}
    ours = evaluate(GroundTruth(truth), {"run": run}, [measure_named("AP11")])
    theirs = pytrec_eval.RelevanceEvaluator(truth, {"11pt_avg"}).evaluate(run)
    # Positions 2 and 3, and one that never comes: the precision is 2/3 up to a recall of 2/3,
    # 0 beyond. That is seven levels, 0 to 0.6; trec_eval counts 0.7 among them.
    assert ours.mean("run", "AP11") == pytest.approx(7 / 11 * 2 / 3)
    assert theirs["q"]["11pt_avg"] == pytest.approx(8 / 11 * 2 / 3)
