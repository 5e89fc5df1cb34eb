"""The lecture's worked examples and exercises, each computed by hand in its comment."""

import pytest

from survey.core.measures import mean_score, score

# "6 relevant docs in total": recall rises at 1, 3, 4, 5, 6 and 10 (0.17, 0.33, 0.5, 0.67,
# 0.83, 1.0) in ranking #1, at 2, 5, 6, 7, 9 and 10 in ranking #2.
RANKING_1 = [1, 3, 4, 5, 6, 10]
RANKING_2 = [2, 5, 6, 7, 9, 10]

# Gain 3 2 3 0 0 1 2 2 3 0 of D1 … D10: the relevant ones by position, with their grades.
GAINS = {1: 3, 2: 2, 3: 3, 6: 1, 7: 2, 8: 2, 9: 3}


def graded(name, gains, relevant=None):
    """A measure's value for positions with grades."""
    return score([name], [[*gains]], grades=[[*gains.values()]], relevant=relevant)[0, 0]


def test_average_precision_of_three_relevant_documents():
    # R R N N R N with m = 3: P(d1) = 1/1, P(d2) = 2/2, P(d3) = 3/5; (1 + 1 + .6) / 3 = .8667
    assert score(["AP"], [[1, 2, 5]])[0, 0] == pytest.approx(2.6 / 3)


def test_average_precision_of_the_two_rankings():
    # #1: (1/1 + 2/3 + 3/4 + 4/5 + 5/6 + 6/10) / 6 = 4.65 / 6 = .775
    # #2: (1/2 + 2/5 + 3/6 + 4/7 + 5/9 + 6/10) / 6 = 3.1270 / 6 = .5212
    found = score(["AP"], [RANKING_1, RANKING_2])[:, 0]
    assert found == pytest.approx([0.775, 0.5211640], abs=1e-6)


def test_the_printed_rows_of_precision_and_recall():
    printed = {
        "#1": (
            "1.0 0.5 0.67 0.75 0.8 0.83 0.71 0.63 0.56 0.6",
            "0.17 0.17 0.33 0.5 0.67 0.83 0.83 0.83 0.83 1.0",
        ),
        "#2": (
            "0.0 0.5 0.33 0.25 0.4 0.5 0.57 0.5 0.56 0.6",
            "0.0 0.17 0.17 0.17 0.33 0.5 0.67 0.67 0.83 1.0",
        ),
    }
    for ranks, (precisions, recalls) in zip((RANKING_1, RANKING_2), printed.values(), strict=True):
        for k, (p, r) in enumerate(zip(precisions.split(), recalls.split(), strict=True), 1):
            found = score([f"P@{k}", f"R@{k}"], [ranks])[0]
            assert found == pytest.approx([float(p), float(r)], abs=0.0051)


def test_exercise_two_mean_average_precision():
    # Query 1, 5 relevant at 1, 3, 6, 9, 10: (1 + 2/3 + 3/6 + 4/9 + 5/10) / 5 = .6222
    # Query 2, 3 relevant at 2, 5, 7:        (1/2 + 2/5 + 3/7) / 3           = .4429
    # MAP = (.6222 + .4429) / 2 = .5325
    one = mean_score(["AP"], [[1, 3, 6, 9, 10]])["MAP"]
    two = mean_score(["AP"], [[2, 5, 7]])["MAP"]
    assert (one, two) == (pytest.approx(0.622222, abs=1e-6), pytest.approx(0.442857, abs=1e-6))
    assert (one + two) / 2 == pytest.approx(0.532540, abs=1e-6)


def test_eleven_point_interpolated_average_precision_of_ranking_one():
    # Highest precision at a recall of at least 0, .1 | .2, .3 | .4, .5 | .6 | .7, .8 | .9, 1.0:
    # from item 1 on 1; from items 2 to 5 on 5/6 (at rank 6); from item 6 on 6/10.
    # (2 · 1 + 7 · 5/6 + 2 · 6/10) / 11 = .8212; at .2, .5 and .8 it is 5/6 three times
    found = score(["AP11", "AP3"], [RANKING_1])[0]
    assert found == pytest.approx([(2 + 35 / 6 + 1.2) / 11, 5 / 6])


def test_precision_at_three_four_and_five():
    # "Prec@3 of 2/3, Prec@4 of 2/4, Prec@5 of 3/5": relevant, for example, at 1, 3 and 5.
    found = score(["P@3", "P@4", "P@5"], [[1, 3, 5]])[0]
    assert found == pytest.approx([2 / 3, 2 / 4, 3 / 5])


def test_cumulative_gain_of_five_documents():
    # D1 … D5 with 3, 2, 3, 0, 1: CG = 3 + 2 + 3 + 0 + 1 = 9
    assert graded("CG@5", {1: 3, 2: 2, 3: 3, 5: 1}) == 9


def test_discounted_cumulative_gain_rank_by_rank():
    # Gain over log2 i from rank 2 on:
    # 3, 2/1 = 2, 3/1.585 = 1.893, 0, 0, 1/2.585 = .387, 2/2.807 = .712, 2/3 = .667,
    # 3/3.170 = .946, 0; added up:
    by_hand = [3, 5, 6.8928, 6.8928, 6.8928, 7.2796, 7.9921, 8.6587, 9.6051, 9.6051]
    found = [graded(f"DCGlog2@{k}", GAINS) for k in range(1, 11)]
    assert found == pytest.approx(by_hand, abs=1e-4)


def test_the_ideal_ranking_of_the_example():
    # 3, 3, 3, 2, 2, 2, 1, 0, 0, 0:
    # 3, 3/1 = 3, 3/1.585 = 1.893, 2/2 = 1, 2/2.322 = .861, 2/2.585 = .774, 1/2.807 = .356
    by_hand = [3, 6, 7.8928, 8.8928, 9.7541, 10.5278, 10.8840, 10.8840, 10.8840, 10.8840]
    ideal = dict(enumerate([3, 3, 3, 2, 2, 2, 1], 1))
    found = [graded(f"DCGlog2@{k}", ideal) for k in range(1, 11)]
    assert found == pytest.approx(by_hand, abs=1e-4)


def test_normalised_discounted_cumulative_gain_of_the_example():
    # 3/3, 5/6, 6.8928/7.8928, 6.8928/8.8928, …, 9.6051/10.8840
    by_hand = [1, 0.8333, 0.8733, 0.7751, 0.7067, 0.6915, 0.7343, 0.7955, 0.8825, 0.8825]
    found = [graded(f"nDCGlog2@{k}", GAINS) for k in range(1, 11)]
    assert found == pytest.approx(by_hand, abs=1e-4)


def test_exercise_ndcg_of_two_ranking_functions():
    # d4 2, d3 2, d2 1, d1 0. Function 1 gives 2 2 1 0, the ideal order: nDCG = 1.
    # Function 2 gives 2 1 2 0: DCG = 2 + 1/1 + 2/1.585 = 4.2619; ideal 2 + 2/1 + 1/1.585 =
    # 4.6309; nDCG = .9203. So function 1 is better.
    one = graded("nDCGlog2@4", {1: 2, 2: 2, 3: 1})
    two = graded("nDCGlog2@4", {1: 2, 2: 1, 3: 2})
    assert (one, two) == (1, pytest.approx(0.920303, abs=1e-6))


def test_the_three_forms_of_dcg_told_apart():
    # Positions 1 and 3 with grades 1 and 2:
    # 2^rel − 1 over log2(i + 1): 1/1 + 3/2 = 2.5; rel over log2(i + 1): 1/1 + 2/2 = 2;
    # rel over log2 i from rank 2: 1 + 2/1.585 = 2.2619
    gains = {1: 1, 3: 2}
    found = [graded(f"{name}@5", gains) for name in ("DCG", "DCGlin", "DCGlog2")]
    assert found == pytest.approx([2.5, 2, 2.2618595])


def test_ndcg_with_relevance_0_1_2_as_in_the_map_ndcg_definitions():
    # Types 1, 2, 3 have relevance 2, 1, 0; retrieved are 1, 0, 2, 0 and one of 2 did not come:
    # DCG@4 = 1/1 + 3/2 = 2.5; ideal 2, 2, 1: 3/1 + 3/1.585 + 1/2 = 5.3928; nDCG = .46358
    found = score(["nDCG@4"], [[1, 3]], grades=[[1, 2, 2]], relevant=3)[0, 0]
    assert found == pytest.approx(2.5 / 5.392789, abs=1e-6)


def test_map_at_p_averages_over_what_was_found():
    # Eq. 2 with p = 3, relevant at 1, 3 and 9: (1/1 + 2/3) / 2; with p = 10: (1 + 2/3 + 3/9) / 3
    found = score(["AP@3", "AP@10", "AP@100"], [[1, 3, 9]])[0]
    assert found == pytest.approx([5 / 6, 2 / 3, 2 / 3])


def test_a_late_find_can_lower_ap_at_p():
    assert score(["AP@10"], [[1, 11]])[0, 0] == 1
    assert score(["AP@10"], [[1, 10]])[0, 0] == 0.6
