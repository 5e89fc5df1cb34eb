"""Curves of runs: by hand, and as the measures of the registry have the same numbers."""

import numpy as np
import pytest

from survey.core.collections.curves import curves_of
from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth, read_judgements, read_run
from survey.core.measures import measure_named
from survey.core.text_input import FileFaults, lines_of
from tests.core.collections.random_runs import real_sized

# d never comes back; b and c are relevant too, x and y are not.
TRUTH = GroundTruth(
    {"q": {"a": 1, "b": 2, "c": 1, "d": 1, "x": 0}, "r": {"a": 1}},
    clusters={"q": {"a": frozenset("s"), "b": frozenset("s"), "c": frozenset("tu")}},
)
RUNS = {
    "one": {"q": {"a": 5.0, "x": 4.0, "b": 3.0, "y": 2.0, "c": 1.0}, "r": {"x": 2.0, "a": 1.0}},
    "none": {"q": {"x": 1.0}},
}


def test_hand_computed_curves():
    curves = curves_of(TRUTH, RUNS, ("q", "r"), 10)
    assert curves.positions == (1, 2, 3, 4, 5)
    assert curves.relevant == (4, 1)
    one, none = curves.runs.values()
    # q: 1, 3, 5 of four; r: 2 of one.
    q, r = np.array([1, 1, 2, 2, 3]), np.array([0, 1, 1, 1, 1])
    assert one.precision == pytest.approx((q + r) / np.arange(1, 6) / 2)
    assert one.recall == pytest.approx((q / 4 + r) / 2)
    # Irrelevant ones come back at 2, 4 (q, of six) and at 1 (r, of nine), and none beyond the end.
    assert one.fallout == pytest.approx(
        (np.array([0, 1, 1, 2, 2]) / 6 + np.array([1, 1, 1, 1, 1]) / 9) / 2
    )
    # Sub-topics s at 1, t and u at 5; r has none.
    assert one.s_recall == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 3, 1])
    # Up to a third of the sub-topics the first document is enough, as in the best order; for more
    # the best order needs one or two, and this list five.
    assert one.s_precision == pytest.approx([1] * 3 + [1 / 5] * 3 + [2 / 5] * 4)
    assert none.s_precision.tolist() == [0] * 10  # no level is reached
    assert one.r_precision == pytest.approx([2 / 4, 0])
    # q: 1 up to recall .25, 2/3 to .5, 3/5 to .75, then 0; r: 1/2 throughout.
    expected = [1] * 3 + [2 / 3] * 3 + [3 / 5] * 2 + [0] * 3
    assert one.at_recall == pytest.approx((np.array(expected) + 1 / 2) / 2)
    assert none.recall.tolist() == [0] * 5
    assert none.fallout == pytest.approx([1 / 6 / 2] * 5)


def test_without_size_or_clusters_there_is_no_fallout_and_no_s_recall():
    curves = curves_of(GroundTruth(TRUTH.judgements), RUNS, ("q", "r"))
    runs = curves.runs.values()
    assert [(run.fallout, run.s_recall, run.s_precision) for run in runs] == [(None,) * 3] * 2


def test_a_query_of_which_all_is_relevant_has_no_fallout():
    curves = curves_of(GroundTruth({"q": {"a": 1}}), {"one": {"q": {"a": 1.0}}}, ("q",), 1)
    assert curves.runs["one"].fallout is None


@pytest.mark.slow
def test_the_curves_have_the_numbers_of_the_measures():
    judgements, texts = real_sized()
    faults = FileFaults()
    truth = GroundTruth(read_judgements("qrels", lines_of(judgements), faults))
    runs = {"run": read_run("run", lines_of(texts[0]), faults)}
    positions = (1, 20, 1000)
    names = ["AP11", "Rprec", *(f"{letter}@{k}" for letter in "PR" for k in positions)]
    found = evaluate(truth, runs, [measure_named(name) for name in names])
    curves = curves_of(truth, runs, found.queries, 100_000)
    run = curves.runs["run"]
    assert len(curves.positions) <= 100
    assert run.at_recall.mean() == pytest.approx(found.mean("run", "AP11"))
    assert run.r_precision == pytest.approx(found.values["run"]["Rprec"])
    for k in positions:
        place = curves.positions.index(k)
        assert run.precision[place] == pytest.approx(found.mean("run", f"P@{k}"))
        assert run.recall[place] == pytest.approx(found.mean("run", f"R@{k}"))
