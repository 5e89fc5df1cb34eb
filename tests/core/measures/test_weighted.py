"""The MiAlbum protocol's weights and averages over cut-offs."""

import pytest
from hypothesis import given

from survey.core.measures import score
from tests.core.measures.lists import several_lists, values_of


def test_weighted_precision_by_hand():
    # Relevant at 2, 5 and 30 with weights 7/7, 3/7 and 5/7:
    # P_10 = 2/10, P^w_10 = (1 + 3/7) / 10
    found = score(["P@10", "wP@10"], [[2, 5, 30]], weights=[[1, 3 / 7, 5 / 7]])[0]
    assert found == pytest.approx([0.2, (10 / 7) / 10])


def test_rank_weighted_precision_by_hand():
    # The same: rank 2 counts 9, rank 5 counts 6, of 1 + 2 + … + 10 = 55.
    found = score(["rwP@10"], [[2, 5, 30]], weights=[[1, 3 / 7, 5 / 7]])[0]
    assert found == pytest.approx([(9 + 3 / 7 * 6) / 55])


def test_average_and_weighted_average_precision_over_the_ten_cut_offs():
    # The same: P_10 = 2/10, P_20 = 2/20, then 3/30, 3/40, …, 3/100.
    plain = [2 / 10, 2 / 20, *(3 / n for n in range(30, 101, 10))]
    weighted = [x / n for n, x in zip(range(10, 101, 10), [10 / 7] * 2 + [15 / 7] * 8, strict=True)]
    found = score(["P@10-100", "wP@10-100"], [[2, 5, 30]], weights=[[1, 3 / 7, 5 / 7]])[0]
    assert found == pytest.approx([sum(plain) / 10, sum(weighted) / 10])


@pytest.mark.slow
@given(drawn=several_lists())
def test_unanimous_weights_change_nothing_and_others_only_lower(drawn):
    ranks, marks = drawn
    for weighted, plain in [("wP@10", "P@10"), ("wP@10-100", "P@10-100")]:
        alike = [[(1, 1.0, frozenset("a"))] * len(row) for row in ranks]
        assert (values_of("rwP@10", ranks, marks) <= values_of("rwP@10", ranks) + 1e-12).all()
        assert values_of(weighted, ranks, alike) == pytest.approx(values_of(plain, ranks))
        assert (values_of(weighted, ranks, marks) <= values_of(plain, ranks) + 1e-12).all()


def test_r100_and_the_protocols_nmrr_are_the_registrys_own():
    # R 100: 3 of 4 within 100. Its ANMRR is MPEG-7's, with the cap by GMT: here GMT = NG = 4,
    # K = min(16, 8) = 8: ranks 2, 5, 10, 10 in the mean 6.75; (6.75 − 2.5) / (10 − 2.5).
    found = score(["R@100", "NMRR"], [[2, 5, 30, 101]], 200, gmt=4)[0]
    assert found == pytest.approx([0.75, 4.25 / 7.5])
