"""Tables 5 to 8: ranks, precisions that are counts, percentages and their bases."""

import pytest

from survey.paper.reproduction import compare_deviation, printed_rows
from survey.paper.tables5_to_8 import (
    COLLECTIONS,
    nearest_share,
    percentages,
    precisions,
    ranks,
    table5,
    table8,
)


def test_descriptors_are_ranked_from_the_best_by_every_mean():
    places = ranks("table5")
    assert {name: places[name][0] for name in places} == {"MAP": 1, "ANMRR": 1, "AMNRO": 1}  # CEDD
    # CLD is fourth from below .4626 in MAP: after CEDD, JCD, FCTH, C.CEDD, C.FCTH
    assert [places[name][9] for name in ("MAP", "ANMRR")] == [6, 7]
    assert sorted(places["AMNRO"]) == list(range(1, 16))


@pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda collection: collection.name)
def test_every_printed_precision_is_a_mean_of_counts(collection):
    comparisons = precisions(collection)
    assert len(comparisons) == 2 * len(printed_rows(collection.table))
    assert all(comparison.agrees for comparison in comparisons)


def test_a_precision_that_no_counts_give_does_not_agree():
    # 20 queries: P(10) goes in steps of 1/200 = .005
    assert nearest_share(0.6800, 200) == "0.6800"
    assert nearest_share(0.6821, 200) == "0.6800"


def test_the_table_holds_values_and_ranks():
    (sheet,) = table5().sheets
    assert sheet.rows[0] == ("CEDD", 0.5891, 1, 0.2528, 1, 0.2773, 1, 0.68, 0.55)


def test_every_percentage_of_table_8_can_come_from_table_5():
    assert [comparison.agrees for comparison in percentages()] == [True] * 9


def test_the_base_is_the_smaller_value_and_no_other():
    # EHD .3097, CLD .4626: .4626/.3097 − 1 = 49.37 %, but 1 − .3097/.4626 = 33.05 %
    assert compare_deviation("", "", "0.4626", "0.3097", "49.37%").agrees
    assert not compare_deviation("", "", "0.3097", "0.4626", "49.37%").agrees
    assert not any(comparison.agrees for comparison in percentages(of_greater=True))
    (sheet,) = table8().sheets
    assert [row[6] for row in sheet.rows] == [
        *("EHD", "CLD", "CLD"),
        *("Color Histograms", "CLD", "CLD"),
        *("C.FCTH", "FCTH", "FCTH"),
    ]


def test_the_text_contradicts_the_stars_of_the_third_example_only():
    assert [claim.verdict for claim in table8().claims] == ["holds", "holds", "does not hold"]
