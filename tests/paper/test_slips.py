"""The paper's misprints: what can be recomputed is, and the result confirms the slip."""

import pytest

from survey.paper.reproduction import exhibit_texts
from survey.paper.slips import all_slips, constants, slip_checks, slips, weighted_f_measure


def slip_at(source):
    (match,) = [slip for slip in all_slips() if source in slip["place"]]
    return match


def test_no_slip_comes_out_otherwise_when_it_is_recomputed():
    assert [slip["place"] for slip in all_slips() if slip["confirmed"] is False] == []
    assert sum(slip["confirmed"] is True for slip in all_slips()) == 17


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
    for slip in all_slips():
        assert all(slip[key] for key in ("place", "printed", "meant", "why", "here")), slip["place"]
    reproduction = slips()
    assert (
        len(reproduction.passages)
        == len(reproduction.table.rows)
        == len(reproduction.as_json()["slips"])
    )


def test_every_check_belongs_to_exactly_one_slip():
    named = [entry["check"] for entry in exhibit_texts("slips") if "check" in entry]
    assert sorted(named) == sorted(slip_checks())
