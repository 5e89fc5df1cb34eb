"""Edge cases and properties of every registered measure."""

import re
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import MEASURES, Lists, mean_score, measure_named, score
from tests.core.measures.lists import SETTING, goodness, lists_of, several_lists, values_of

# Each example goes through thirty measures.
FEW = settings(max_examples=20)

EVERY_MEASURE = pytest.mark.parametrize("name", MEASURES)

# Five relevant items of 100 with the clusters a a b b c: at positions 1 to 5, at 96 to 100;
# and a single one, of cluster a, at position 1 and at 100. Worked out by hand:
#   AP of 96…100: (1/96 + 2/97 + 3/98 + 4/99 + 5/100) / 5 = .0304103
#   F_β@10 with P = .5, R = 1: (1 + β²) .5 / (β² .5 + 1); with P = .1: (1 + β²) .1 / (β² .1 + 1)
#   DCG of 1…5: 1/log2 2 + 1/log2 3 + 1/log2 4 + 1/log2 5 + 1/log2 6 = 2.9484591
#   from rank 2: 1 + 1/log2 2 + 1/log2 3 + 1/log2 4 + 1/log2 5 = 3.5616063
#   P@10-100 of 1…5: (5/10 + 5/20 + … + 5/100) / 10 = .1464484
#   RBP@0.8 of 1…5: 1 − .8^5; of 96…100: .8^95 (1 − .8^5)
#   INST@1 of 1…5: W = 1, 1/4, … 1/4^4, then 1/4^4 (p − 4)^−2 from 6 on, so the sum of the five,
#   1.33203125, over itself + (π²/6 − 1) / 256; of 1 alone W = p^−2; for 96…100 and 100 alone
#   2,000,000 positions were added up, with an integral for the rest
#   ERR@20 of 1…5 with R = 1/16: Σ (15/16)^(r − 1) / 16 r
#   Q-measure of 96…100: (2/101 + 4/102 + 6/103 + 8/104 + 10/105) / 5; of 100: 2/101
#   ERRlin, iRBU, iRBUlin of 1…5: Σ (1 − R)^(r − 1) R / r, or times p^r, with R = 1/5 and 1/16
#   Compat: W(m) = −ln(1 − p) / p less the terms before m
#   ERR-IA of 1…5: 1 + .5/2 + 1/3 + .5/4 + 1/5, over three times Σ_{i≤20} 2^(1 − i) / i
#   AP-IA of 1…5: (1 + (1/3 + 2/4) / 2 + 1/5) / 3; P-IA@10: (2 + 2 + 1) / 10 / 3
#   NRBP of 1…5: .75 / 3 (1 + .5/2 + 1/4 + .5/8 + 1/16)
#   RBU@20: .2 (1/16 + .8 15/256 + .8² / 16 + .8³ 15/256 + .8⁴ / 16) / 3, less the cost of 20 items
#   alpha-nDCG of 1…5: a a b b c gain 1 .5 1 .5 1, the ideal list 1 1 1 .5 .5
#   S-precision at .5: two of three clusters take 2 items; they are there at position 3, at 98
HALVES = sum(0.5 ** (i - 1) / i for i in range(1, 21))
COST = 0.03 * (1 - 0.8**20)


def overlap(start):
    """W of Compat with p = .95, added up over five items from a position on."""
    weights = [
        -log(0.05) / 0.95 - sum(0.95 ** (i - 1) / i for i in range(1, m))
        for m in range(start, start + 5)
    ]
    return weights[0], sum(weights)


EDGES = {
    "AP": (1, 0.030410302, 1, 0.01),
    "NMRR": (0, 1, 0, 1),
    "MNRO": (0, 1, 0, 1),
    "AP@10": (1, 0, 1, 0),
    "AP3": (1, 0.05, 1, 0.01),
    "AP11": (1, 0.05, 1, 0.01),
    "P@5": (1, 0, 0.2, 0),
    "P@10": (0.5, 0, 0.1, 0),
    "P@20": (0.25, 0, 0.05, 0),
    "R@10": (1, 0, 1, 0),
    "R@100": (1, 1, 1, 1),
    "F0.5@10": (0.625 / 1.125, 0, 0.125 / 1.025, 0),
    "F1@10": (2 / 3, 0, 2 / 11, 0),
    "F2@10": (2.5 / 3, 0, 0.5 / 1.4, 0),
    "Rprec": (1, 0, 1, 0),
    "RR": (1, 1 / 96, 1, 0.01),
    "bpref": (1, 0, 1, 0),
    "RBP@0.8": (0.67232, 0.67232 * 0.8**95, 0.2, 0.2 * 0.8**99),
    "INST@1": (0.998112268, 0.000791479, 6 / np.pi**2, 0.000152023),
    "cAP": (1, 0.030410302, 1, 0.01),
    "cNMRR": (0, 1, 0, 1),
    "cMNRO": (0, 1, 0, 1),
    "g@10": (0.05, 0, 0.01, 0),
    "NAR": (0, 0.95, 0, 0.99),
    "CG@10": (5, 0, 1, 0),
    "DCG@10": (2.948459119, 0, 1, 0),
    "nDCG@10": (1, 0, 1, 0),
    "DCGlin@10": (2.948459119, 0, 1, 0),
    "nDCGlin@10": (1, 0, 1, 0),
    "DCGlog2@10": (3.561606312, 0, 1, 0),
    "nDCGlog2@10": (1, 0, 1, 0),
    "ERR@20": (0.132637978, 0, 0.0625, 0),
    "ERRlin@20": (0.2 * (1 + 0.4 + 0.64 / 3 + 0.512 / 4 + 0.4096 / 5), 0, 0.2, 0),
    "iRBU@20": (sum(0.99**r * (15 / 16) ** (r - 1) / 16 for r in range(1, 6)), 0, 0.99 / 16, 0),
    "iRBUlin@20": (sum(0.99**r * 0.8 ** (r - 1) / 5 for r in range(1, 6)), 0, 0.198, 0),
    "Compat": (1, overlap(96)[1] / overlap(1)[1], 1, overlap(100)[0] / overlap(1)[0]),
    "Q": (1, 0.057886253, 1, 2 / 101),
    "gAP": (1, 0.030410302, 1, 0.01),
    "gNMRR": (0, 1, 0, 1),
    "gMNRO": (0, 1, 0, 1),
    "wP@10": (0.5, 0, 0.1, 0),
    "rwP@10": (40 / 55, 0, 10 / 55, 0),
    "P@10-100": (0.146448413, 0.005, 0.029289683, 0.001),
    "wP@10-100": (0.146448413, 0.005, 0.029289683, 0.001),
    "S-recall@20": (1, 0, 1, 0),
    "S-precision@0.5": (2 / 3, 2 / 98, 1, 0.01),
    "alpha-nDCG@10": (0.951947576, 0, 1, 0),
    "D-nDCG@10": (1, 0, 1, 0),
    "Dsharp-nDCG@10": (1, 0, 1, 0),
    "ERR-IA@20": ((1 + 0.5 / 2 + 1 / 3 + 0.5 / 4 + 0.2) / 3 / HALVES, 0, 1 / HALVES, 0),
    "AP-IA": (
        (1 + (1 / 3 + 2 / 4) / 2 + 1 / 5) / 3,
        ((1 / 96 + 2 / 97) / 2 + (1 / 98 + 2 / 99) / 2 + 1 / 100) / 3,
        1,
        0.01,
    ),
    "P-IA@10": (5 / 30, 0, 0.1, 0),
    "NRBP": (0.40625, 0, 0.75, 0),
    "RBU@20": (
        0.2 * ((1 + 0.64 + 0.4096) / 16 + (0.8 + 0.512) * 15 / 256) / 3 - COST,
        -COST,
        0.2 / 16 - COST,
        -COST,
    ),
}
FIVE = [(1, 1.0, frozenset(cluster)) for cluster in "aabbc"]


@EVERY_MEASURE
def test_perfect_worst_and_single_item_lists(name):
    five = values_of(name, [[1, 2, 3, 4, 5], [96, 97, 98, 99, 100]], [FIVE, FIVE])
    single = values_of(name, [[1], [100]], [FIVE[:1], FIVE[:1]])
    # MNRO's curve only nears 1: within 1e-4 of it at the end of this collection.
    assert [*five, *single] == pytest.approx(EDGES[name], abs=1e-4 if "MNRO" in name else 1e-9)


@EVERY_MEASURE
def test_a_list_with_nothing_in_it_is_refused(name):
    for empty in ([], [[]], [[1, 2], []]):
        with pytest.raises(ValueError, match="a list needs at least one position"):
            score([name], empty, clusters=None)


@EVERY_MEASURE
def test_all_late_items_score_no_better_than_all_early_ones(name):
    early, late = goodness(name, lists_of([[2, 3, 4, 5, 6], [96, 97, 98, 99, 100]]))
    assert late < early or (late == early and name == "R@100")


@EVERY_MEASURE
def test_a_list_of_which_nothing_came_back_is_no_better_than_the_worst(name):
    worst = lists_of([[96, 97, 98, 99, 100]])
    nothing = Lists(np.full((1, 5), np.inf), worst.grades, worst.weights, worst.clusters)
    value = measure_named(name).compute(nothing, SETTING)[0]
    # 0 where higher is better; NMRR 1; MNRO and NAR as with all at the collection's end.
    ones = ("NMRR", "gNMRR", "cNMRR", "MNRO", "gMNRO", "cMNRO")
    # RBU with the cost of twenty items, where the length of the list is not known.
    by_hand = (dict.fromkeys(ones, 1) | {"NAR": 0.95, "RBU@20": -COST}).get(name, 0)
    assert value == pytest.approx(by_hand, abs=1e-4 if "MNRO" in name else 1e-12)
    assert goodness(name, nothing)[0] <= goodness(name, worst)[0]


@pytest.mark.slow
@FEW
@given(drawn=several_lists())
def test_values_stay_within_the_stated_range(drawn):
    lists = lists_of(*drawn)
    for name, measure in MEASURES.items():
        values = measure.compute(lists, SETTING)
        assert ((values >= measure.lowest) & (values <= measure.highest)).all(), name
        if measure.largest:
            assert (values <= measure.largest(lists, SETTING) + 1e-9).all(), name


@FEW
@given(drawn=several_lists(), data=st.data())
def test_moving_a_relevant_item_up_never_makes_a_list_worse(drawn, data):
    ranks, marks = drawn
    worse = ranks[0]
    place = data.draw(st.integers(0, len(worse) - 1))
    above = worse[place - 1] if place else 0
    better = [*worse[:place], data.draw(st.integers(above + 1, worse[place])), *worse[place + 1 :]]
    lists = lists_of([better, worse], marks[:1] * 2)
    for name, measure in MEASURES.items():
        shown = measure.shown(lists, SETTING)
        assert shown[0] <= shown[1] or not measure.monotone, name


@FEW
@given(drawn=several_lists())
def test_the_items_by_grade_at_the_top_are_never_beaten(drawn):
    ranks, marks = drawn
    best_first = sorted(marks[0], key=lambda one: (-one[0], -one[1]))
    top = [*range(1, len(ranks[0]) + 1)]
    lists = lists_of([top, ranks[0]], [best_first, marks[0]])
    for name, measure in MEASURES.items():
        # Weights and clusters may ask for another order than grades; so may a mean over
        # what was found, see AP@p.
        if not {*measure.needs} & {"weights", "clusters"} and measure.monotone:
            best, other = goodness(name, lists)
            assert best >= other - 1e-12, name


@pytest.mark.slow
@FEW
@given(drawn=several_lists())
def test_a_list_scores_the_same_alone_as_among_others(drawn):
    ranks, marks = drawn
    together = lists_of(ranks, marks)
    alone = [lists_of([row], [known]) for row, known in zip(ranks, marks, strict=True)]
    for name, measure in MEASURES.items():
        each = [measure.values(one, SETTING)[0] for one in alone]
        assert each == measure.values(together, SETTING), name


@pytest.mark.slow
@FEW
@given(drawn=several_lists())
def test_what_is_shown_agrees_with_the_value_and_lower_is_better(drawn):
    lists = lists_of(*drawn)
    for name, measure in MEASURES.items():
        shown = np.array([float(value) for value in measure.shown(lists, SETTING)])
        values = measure.compute(lists, SETTING)
        top = 1 if measure.largest is None else measure.largest(lists, SETTING)
        expected = top - values if measure.better == "higher" else values
        assert np.allclose(shown, expected, rtol=0, atol=1e-12), name
        assert (shown >= -1e-12).all(), name


@FEW
@given(drawn=several_lists(most=5))
def test_a_grade_that_all_items_share_changes_no_normalised_value(drawn):
    ranks, _ = drawn
    alike, plain = (
        lists_of(ranks, [[(grade, 1.0, frozenset("a"))] * len(row) for row in ranks])
        for grade in (2, 1)
    )
    for name, measure in MEASURES.items():
        # These read how large a grade is beside the scale, or beside a count.
        if measure.largest is None and not re.match("ERR(lin)?@|i?RBU|Q$", name):
            found = measure.compute(alike, SETTING)
            assert np.allclose(found, measure.compute(plain, SETTING), rtol=0, atol=1e-12), name


@EVERY_MEASURE
def test_a_measure_says_what_it_is(name):
    measure = MEASURES[name]
    assert measure.name == name
    assert measure.label
    assert measure.source
    others = [one for other, one in MEASURES.items() if other != name]
    assert measure.label not in {one.label for one in others}
    assert measure.mean_name not in {one.mean_name for one in others}


def test_every_listed_measure_has_its_edges_written_down():
    assert list(EDGES) == list(MEASURES)


def test_families_take_any_cut_off():
    assert measure_named("P@7").name == "P@7"
    assert values_of("P@7", [[1, 2, 9]])[0] == 2 / 7
    assert "S-precision@0.25" in MEASURES
    assert measure_named("S-precision@1.0").name == "S-precision@1"
    assert measure_named("F1.0@10").name == "F1@10"
    for name in ("RBP@0.80", "RBP@.8", "RBP.8"):
        assert measure_named(name).name == "RBP@0.8"
    assert measure_named("S-precision@.5").name == "S-precision@0.5"
    assert measure_named("ERR4@20").name == "ERR@20"
    assert measure_named("alpha0.5-nDCG@7").name == "alpha-nDCG@7"
    assert measure_named("alpha0.8-nDCG@7").name == "alpha0.8-nDCG@7"


@pytest.mark.parametrize(
    "name",
    [
        "P@07",
        "p@5",
        "P@1.5",
        "S-precision@0",
        "S-precision@2",
        "F@10",
        "MAP",
        "RBP@1",
        "ERR31@5",
    ],
)
def test_what_no_measure_is_called_is_refused_with_those_there_are(name):
    assert name not in MEASURES
    with pytest.raises(ValueError, match=r"no measure .*known are AP, NMRR, MNRO, AP@p,"):
        score([name], [[1, 2]])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("P@0", "P@0: k must be 1 or more"),
        ("P@-3", "P@-3: k must be 1 or more"),
        ("nDCG@", "nDCG@: k is missing, like nDCG@10"),
        ("NDCG", "there is no measure 'NDCG' (did you mean nDCG@10?); known are AP"),
        ("NDCG_cut_7", "no measure 'NDCG_cut_7' (did you mean nDCG@7?); known are AP"),
        ("P_10", "no measure 'P_10' (did you mean P@10?); known are AP"),
        ("MAP", "no measure 'MAP' (did you mean AP? MAP is the mean of AP); known are AP"),
        ("bprefs", "no measure 'bprefs' (did you mean bpref?); known are AP"),
    ],
)
def test_the_measure_that_was_meant_or_what_its_k_must_be_is_told(name, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        measure_named(name)


def test_measures_stand_in_one_order_whatever_their_cut_offs():
    names = [
        "alpha0.8-nDCG@5",
        "ERR2@10",
        "alpha-nDCG@5",
        "ERR@10",
        "S-recall@5",
        "nDCG@10",
        "P@20",
        "P@5",
        "MNRO",
        "nDCG@3",
        "AP",
    ]
    ordered = ["AP", "MNRO", "P@5", "P@20", "nDCG@3", "nDCG@10", "ERR2@10", "ERR@10", "S-recall@5"]
    ordered += ["alpha0.8-nDCG@5", "alpha-nDCG@5"]
    assert sorted(names, key=MEASURES.sort_key) == ordered
    assert sorted(MEASURES, key=MEASURES.sort_key) == list(MEASURES)


def test_means_over_queries_carry_their_own_names():
    means = mean_score(["AP", "NMRR", "MNRO", "NAR", "RR", "P@5"], [[1, 2], [3, 4]])
    assert list(means) == ["MAP", "ANMRR", "AMNRO", "ANAR", "MRR", "mean P@5"]
    assert means["MAP"] == pytest.approx((1 + (1 / 3 + 2 / 4) / 2) / 2)


def test_no_measures_give_an_array_without_columns():
    assert score([], [[1, 2]]).shape == (1, 0)


def test_items_that_came_back_nowhere_are_counted_in_ng():
    # 2 of 4 relevant items came back, at 1 and 4: AP = (1/1 + 2/4 + 0 + 0) / 4.
    assert score(["AP", "R@10", "P@4"], [[1, 4]], relevant=4).tolist() == [[0.375, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("known", "fault"),
    [
        ({"grades": [[1, 0]]}, r"row 1, grade 2: 0 found; a whole number from 1 to 30"),
        ({"grades": [[1, 1.5]]}, r"row 1, grade 2: 1.5 found"),
        ({"grades": [[1]]}, r"1 grades found in each row; one for each of the 2 relevant items"),
        ({"grades": [["high", "low"]]}, r"grades must be numbers"),
        ({"weights": [[0.5, 1.5]]}, r"row 1, weight 2: 1.5 found; a share above 0"),
        ({"weights": [[0, 1]]}, r"row 1, weight 1: 0 found"),
        ({"clusters": [["a"]]}, r"row 1: clusters of 1 items found; 2 are relevant"),
        ({"clusters": [["", ""]]}, r"row 1: no item has a cluster"),
        ({"clusters": []}, r"clusters of 0 lists found; there are 1"),
        ({"grades": [[10**400, 1]]}, r"grades must be numbers"),
        ({"relevant": 1}, r"1 relevant items given for lists of 2 positions"),
        ({"relevant": 101}, r"2 to 100 are allowed"),
    ],
)
def test_what_is_said_of_items_is_checked(known, fault):
    with pytest.raises(ValueError, match=fault):
        score(["AP"], [[1, 2]], **known)


def test_measures_of_clusters_need_clusters():
    with pytest.raises(ValueError, match="clusters are needed"):
        score(["S-recall@5"], [[1, 2]])


def test_a_text_is_one_cluster_and_not_a_set_of_letters():
    texts = score(["S-recall@1"], [[1, 2]], clusters=[["dolphin", "turtle"]])
    assert texts.tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ndcg@5", "did you mean nDCG@5?"),
        ("map", "did you mean AP? MAP is the mean of AP"),
        ("ANMRR", "did you mean NMRR? ANMRR is the mean of NMRR"),
        ("s-recall@3", "did you mean S-recall@3?"),
    ],
)
def test_a_name_that_is_nearly_one_is_suggested(name, meant):
    with pytest.raises(ValueError, match=rf"there is no measure '{name}' \({re.escape(meant)}\)"):
        measure_named(name)
