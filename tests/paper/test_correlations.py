"""Whether the means order descriptors alike: coefficients, opposed pairs, the judgement."""

from itertools import combinations

import pytest
from scipy import stats

from survey.paper.reproduction import printed_rows
from survey.paper.tables5_to_8 import compare_means, correlations, opposed_pairs

EACH_PAIR = pytest.mark.parametrize(
    "agreement",
    compare_means(),
    ids=lambda agreement: f"{agreement.table} {agreement.first}-{agreement.second}",
)


@EACH_PAIR
def test_coefficients_agree_with_scipy_on_the_printed_values(agreement):
    rows = printed_rows(agreement.table)
    x, y = ([float(row[name]) for row in rows] for name in (agreement.first, agreement.second))
    sign = -1 if agreement.first == "MAP" else 1  # the other two are both better when lower
    assert agreement.tau_b.coefficient == pytest.approx(sign * stats.kendalltau(x, y).statistic)
    assert agreement.rho.coefficient == pytest.approx(sign * stats.spearmanr(x, y).statistic)


@EACH_PAIR
def test_without_ties_tau_counts_the_pairs_that_are_ordered_differently(agreement):
    assert agreement.tau_b.coefficient == pytest.approx(
        1 - 2 * len(agreement.opposed) / agreement.pairs
    )


def test_pairs_are_named_with_the_better_by_the_first_first():
    assert opposed_pairs(("a", "b", "c"), (3, 2, 1), (2, 3, 1)) == (("a", "b"),)
    assert opposed_pairs(("a", "b"), (1, 2), (2, 1)) == (("b", "a"),)
    assert opposed_pairs(("a", "b"), (1, 1), (2, 1)) == ()


def test_where_two_means_order_alike_the_interval_is_missing_and_says_why():
    agreements = {
        (agreement["table"], agreement["second"]): agreement
        for agreement in correlations().as_json()["agreements"]
    }
    same = agreements["table5", "AMNRO"]
    assert (same["first"], same["opposed"]) == ("ANMRR", ())
    assert same["tau_b"]["ci95"] is None
    assert "Fisher's z is infinite" in same["tau_b"]["why"]
    assert "why" not in agreements["table6", "AMNRO"]["tau_b"]


def test_the_summary_of_section_5_4_does_not_hold_of_the_printed_values():
    (claim,) = correlations().claims
    assert claim.verdict == "does not hold"
    # UCID: 5 of 105 pairs, 1 − 10/105 = .905
    assert "1.00 (0 of 105 pairs ordered differently), 0.90 (5 of 105" in claim.why
    assert "On Wang and ImageCLEF 2010 Wikipedia the order is the same throughout" in claim.why


def test_the_remarks_say_that_descriptors_are_no_sample():
    assert any(
        "a random sample of some population, which they are not" in remark
        for remark in correlations().remarks
    )


def test_there_are_three_pairs_of_means_in_each_of_three_collections():
    assert len(compare_means()) == 3 * len(list(combinations("abc", 2)))
