"""Table 1 of the MNRO paper, to every printed digit and rank."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from survey.core.measures import MEASURES, Setting, as_lists, score
from survey.core.measures.nmrr_mnro import nmrr_exact
from survey.core.measures.precision import average_precision_exact
from survey.core.studies.questions import build_question

CASE = json.loads((Path(__file__).parents[2] / "cases" / "table1.json").read_text())["table1"]
NAMES = ("AP", "NMRR", "MNRO")
LISTS = list(CASE["lists"].values())


@pytest.mark.parametrize("column", range(3), ids=NAMES)
def test_values_agree_with_the_printed_table(column):
    printed = [CASE["printed"][letter][column] for letter in CASE["lists"]]
    assert score(NAMES, LISTS)[:, column].round(4).tolist() == printed


@pytest.mark.parametrize("column", range(3), ids=NAMES)
def test_values_agree_with_the_reference_to_ten_digits(column):
    expected = [CASE["expected"][letter][NAMES[column]] for letter in CASE["lists"]]
    assert score(NAMES, LISTS)[:, column] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_competition_ranks_agree_with_the_printed_table(name):
    question = build_question(1, LISTS, NAMES, Setting())
    assert list(question.rankings[name].places.values()) == CASE["ranks"][name]


def test_lists_b_and_c_tie_exactly_under_ap():
    b, c = CASE["lists"]["B"], CASE["lists"]["C"]
    assert average_precision_exact(b) == average_precision_exact(c) == Fraction(81, 100)
    assert str(build_question(1, LISTS, NAMES, Setting()).rankings["AP"]) == "A>B=C>D>E"


@pytest.mark.parametrize("letter", "ABCDE")
def test_exact_values_are_the_fractions_of_the_reference(letter):
    ranks, expected = CASE["lists"][letter], CASE["expected"][letter]
    assert average_precision_exact(ranks) == Fraction(expected["AP_fraction"])
    assert nmrr_exact(ranks) == Fraction(expected["NMRR_fraction"])


@pytest.mark.parametrize("letter", "ABCDE")
def test_a_gmt_of_five_halves_k_to_ten(letter):
    value = score(["NMRR"], [CASE["lists"][letter]], gmt=5)[0, 0]
    assert value == pytest.approx(CASE["expected"][letter]["NMRR_if_K10"], abs=1e-12)


def test_the_example_list_of_section_5_3():
    example = CASE["survey_example"]
    values = score(NAMES, [example["list"]])[0]
    assert values == pytest.approx([example[name] for name in NAMES], abs=1e-12)


def test_the_known_item_curves_of_figures_1_and_5():
    curve = CASE["fig1_fig5_NG1_N20"]
    # The reference case was computed with GMT = 1, the cap of one query of one item: K = 2.
    values = score(NAMES, [[point["rank"]] for point in curve], collection_size=20, gmt=1)
    values[:, 0] = 1 - values[:, 0]
    for row, point in zip(values, curve, strict=True):
        assert row == pytest.approx(
            [point["one_minus_AP"], point["NMRR"], point["MNRO"]], abs=1e-12
        )


def test_the_page_shows_one_minus_ap():
    question = build_question(1, LISTS, NAMES, Setting())
    assert question.columns["AP"].shown == ("0.0000", "0.1900", "0.1900", "0.3411", "0.3556")
    assert MEASURES["AP"].shown_as == "1-AP"
    assert MEASURES["AP"].shown(as_lists(LISTS, 100), Setting())[1] == Fraction(19, 100)
