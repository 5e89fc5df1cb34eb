"""Misprints of the paper and the other sources: recomputing confirms each that it can."""

import pytest

from survey.paper.reproduction import exhibit_texts
from survey.paper.slips import (
    all_slips,
    constants,
    slip_checks,
    slips,
    source_slips,
    weighted_f_measure,
)
from survey.paper.source_slips import checks_of_sources

OF_ALL_SOURCES = [*all_slips(), *(slip for listing in source_slips().values() for slip in listing)]


def slip_at(source):
    (match,) = [slip for slip in all_slips() if source in slip["place"]]
    return match


def test_no_slip_comes_out_otherwise_when_it_is_recomputed():
    assert [slip["place"] for slip in OF_ALL_SOURCES if slip["confirmed"] is False] == []
    assert sum(slip["confirmed"] is True for slip in all_slips()) == 17
    assert sum(slip["confirmed"] is True for slip in OF_ALL_SOURCES) == 17 + 13


@pytest.mark.parametrize(
    ("document", "place", "numbers"),
    [
        # 2401 − 107 − 38; 2130 + 107 + 38
        ("ImageCLEF", "Section 4.4", ("107 − 2 · 19 = 2256", "2275", "39 topics", "61.6")),
        ("ImageCLEF", "S-recall", ("sets gives 1.00, added numbers 1.33",)),  # (2 + 2)/3
        ("ImageCLEF", "Table 1", ("only animal is there",)),
        # 1/86 to 1/120 are .01 rounded, 2/86 to 2/120 .02, 3/86 to 3/120 .03; 2.6/3; 2.6/100
        ("lecture", "six documents", ("86 to 120 only", "0.8667", "0.0260")),
        ("lecture", "its definition", ("0.8889",)),  # (1 + 1 + 2/3)/3
        ("lecture", "two assumptions", ("1.00 at rank 1 and 1.00 at rank 2", "1.00 and 0.63")),
        ("mAP and nDCG", "Eq. 1", ("the square 4.00", "is 2.83")),  # 8/4 · 2 and 8/4 · √2
        ("mAP and nDCG", "Section 1.1", ("distance 0 and the opposite one at 8",)),
        ("mAP and nDCG", "Eqs. 2–4", ("a precision of 2",)),
        ("MiAlbum", "Section 2.1, keyword", ("10,009 of them; there are 200 queries",)),
    ],
)
def test_a_slip_of_another_source_gives_its_numbers(document, place, numbers):
    (listing,) = [some for title, some in source_slips().items() if document in title]
    slip = next(slip for slip in listing if place in slip["place"])
    assert all(number in slip["why"] for number in numbers)


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        # P = .5, R = .25: 2 · .125/.75 = .3333
        ("Eq. 2", ("Eq. 1 gives 0.3333", "0.6667 as printed", "0.3333 with 1 + β²")),
        ("Eq. 6, and Table 1", ("With K = 20, 5 of the 5", "K is 10 and 1 do")),
        ("Figure 1", ("0.500 against 0.667", "α is 0.250 and β 0.250")),
        ("Eq. 12", ("At K + 1 = 5 it is 1.00, at K 0.75",)),
        ("below Eq. 10", ("NAR is 0.50",)),  # Σ 51…100 − Σ 1…50 = 2500, of 100 · 50
        ("Eq. 17", ("b = −9.3668 and c = −5.2074/K", "0.9500 at K and 0.4516 at K/2")),
        ("Eq. 14", ("K = 204, and Eq. 6 102",)),  # 4 · 51 and 2 · 51
        # .04 · 501/5 · 5 · 5 = 100.2; .04 · 501/5 · 5 = 20.04
        ("Eq. 15", ("K is 20 at N = 500", "100.2 as printed, 20.04")),
        ("lines 714–716", ("1-AP = 0.1900",)),
        ("Table 4", ("300 responses", "354", "38.14 % of the credits and 45.0 %")),
        ("line 942", ("Table 7 only",)),
    ],
)
def test_a_slip_gives_the_numbers_that_show_it(source, numbers):
    assert all(number in slip_at(source)["why"] for number in numbers)


def test_the_general_f_measure_is_the_balanced_one_at_beta_1_with_one_plus_beta_squared():
    # van Rijsbergen: P = .6, R = .3, β = 2: 5 · .18/(2.4 + .3) = .3333
    assert weighted_f_measure(0.6, 0.3, 1 + 2**2, beta=2) == pytest.approx(1 / 3)


def test_the_constants_solve_their_conditions():
    b, c = constants()
    # The reference values of tests/cases/table1.json
    assert (b, c) == pytest.approx((-9.366780193295838, -5.207364656920999))


def test_every_slip_says_all_five_things():
    for slip in OF_ALL_SOURCES:
        assert all(slip[key] for key in ("place", "printed", "meant", "why", "here")), slip["place"]
    reproduction = slips()
    assert len(reproduction.passages) == len(reproduction.table.rows) == len(OF_ALL_SOURCES)
    assert reproduction.as_json()["slips"] == all_slips()
    assert reproduction.as_json()["documents"] == source_slips()
    assert len(source_slips()) == 4


def test_every_check_belongs_to_exactly_one_slip():
    named = [entry["check"] for entry in exhibit_texts("slips") if "check" in entry]
    assert sorted(named) == sorted(slip_checks())
    others = [entry for entries in exhibit_texts("source_slips").values() for entry in entries]
    named = [entry["check"] for entry in others if "check" in entry]
    assert sorted(named) == sorted(checks_of_sources())
