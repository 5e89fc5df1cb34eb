"""Measures of condensed lists: items without a judgement are removed first (Sakai 2007)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.collections.runs import GroundTruth, lists_of
from survey.core.measures import Setting, measure_named

FEW = settings(max_examples=20)
NAMES = ("AP", "NMRR", "MNRO")
GRADES = {f"d{number}": int(number % 5 == 0) for number in range(20)}  # 4 of 20 are relevant
ORDERS = st.permutations([*GRADES]).map(lambda order: order[:15])
TRUTH = GroundTruth({"q": GRADES})


def values(order, size, prefix=""):
    lists = lists_of(TRUTH, "q", [order])
    return [measure_named(f"{prefix}{name}").compute(lists, Setting(size))[0] for name in NAMES]


@FEW
@given(order=ORDERS)
def test_where_every_document_is_judged_they_are_the_measures_themselves(order):
    assert values(order, 20, "c") == pytest.approx(values(order, 20))


@FEW
@given(order=ORDERS, places=st.lists(st.integers(0, 15), max_size=30))
def test_documents_without_a_judgement_change_nothing(order, places):
    longer = [*order]
    for number, place in enumerate(places):
        longer.insert(place, f"unjudged{number}")
    alone, among = (values(documents, 1000, "c") for documents in (order, longer))
    assert alone == pytest.approx(among)


def test_a_hand_computed_condensed_list():
    # Relevant at 3 and 5, not judged at 1 and 4, one never came back. Judged: b c d e f, so
    # the positions are 2 and 3 of 5; AP = (1/2 + 2/3 + 0) / 3.
    truth = GroundTruth({"q": {"b": 0, "c": 1, "d": 1, "e": 1, "f": 0}})
    lists = lists_of(truth, "q", [["x", "b", "c", "y", "d", "f"]])
    ap = measure_named("cAP").compute(lists, Setting(1000))[0]
    assert ap == pytest.approx((1 / 2 + 2 / 3) / 3)
    # K = 12: AVR = (2 + 3 + 15) / 3, (AVR − 2) / (15 − 2).
    nmrr = measure_named("cNMRR").compute(lists, Setting(1000))[0]
    assert nmrr == pytest.approx((20 / 3 - 2) / 13)


@pytest.mark.slow
def test_where_a_random_fifth_is_judged_they_stay_near_what_all_judgements_give():
    # Scores of 50 relevant documents of 1,000 are two standard deviations higher, on average.
    chance, relevant = np.random.default_rng(1), np.arange(1000) < 50
    names = [*NAMES, *(f"c{name}" for name in NAMES)]
    means = {}
    for share in (1, 0.2):
        rows = []
        for _ in range(200):
            order = np.argsort(-chance.normal(size=1000) - 2 * relevant)
            judged = np.flatnonzero(chance.random(1000) < share)
            truth = GroundTruth({"q": {f"d{each}": int(relevant[each]) for each in judged}})
            lists = lists_of(truth, "q", [[f"d{each}" for each in order]])
            rows.append([measure_named(name).compute(lists, Setting(1000))[0] for name in names])
        means[share] = np.mean(rows, axis=0)
    assert means[1] == pytest.approx([0.55, 0.25, 0.31] * 2, abs=0.006)
    assert means[0.2] == pytest.approx([0.17, 0.64, 0.66, 0.58, 0.26, 0.31], abs=0.006)
