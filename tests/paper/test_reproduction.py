"""Percentages of rounded values: what they can have been."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.paper import reproduction
from survey.paper.reproduction import (
    Check,
    Claim,
    compare_deviation,
    deviation_interval,
    judge_claims,
    rounding_interval,
)


def test_a_printed_number_stands_for_half_a_unit_to_either_side():
    assert rounding_interval("0.0375") == (Fraction("0.03745"), Fraction("0.03755"))
    assert rounding_interval("9") == (Fraction("8.5"), Fraction("9.5"))


def test_a_deviation_is_least_and_greatest_at_the_ends_of_both_values():
    # MAP of set B in Table 2: 1 − .02375/.03745 and 1 − .02365/.03755
    assert deviation_interval("0.0237", "0.0375") == (
        100 * (1 - Fraction("0.02375") / Fraction("0.03745")),
        100 * (1 - Fraction("0.02365") / Fraction("0.03755")),
    )


def test_values_that_print_alike_can_deviate_by_nothing():
    # .835 to .845 over .835 to .845: at most .845/.835 − 1 = 1.1976 %
    low, high = deviation_interval("0.84", "0.84")
    assert low == 0
    assert float(high) == pytest.approx(1.1976, abs=5e-5)


# NAR of set C: .2873/.2843 − 1 = 1.0552 %, which rounds to 1.06; but .28725/.28435 − 1 is
# 1.0199 % and .28735/.28425 − 1 is 1.0906 %.
@pytest.mark.parametrize(
    ("printed", "agrees"),
    [("1.05%", True), ("1.06%", True), ("1.02%", True), ("1.01%", False), ("1.10%", False)],
)
def test_a_percentage_agrees_when_it_can_come_from_values_that_print_so(printed, agrees):
    comparison = compare_deviation("set C", "NAR", "0.2873", "0.2843", printed)
    assert comparison.agrees is agrees
    assert comparison.as_json()["agrees"] is agrees
    assert comparison.computed == "1.06% (1.02 to 1.09)"


PARTS = st.integers(500, 9_999_999).map(lambda part: Fraction(part, 10**7))


@given(PARTS, PARTS, st.integers(0, 3))
def test_no_true_percentage_is_ever_said_to_disagree(value, base, decimals):
    def rounded(number, places):
        return f"{float(round(number, places)):.{places}f}"

    printed = rounded(100 * abs(value / base - 1), decimals) + "%"
    operands = [rounded(number, 4) for number in (value, base)]
    if float(operands[1]) > 0.0001:
        assert compare_deviation("", "", *operands, printed).agrees


CLAIM = {"source": "Section 1", "statement": "All are {colour}.", "why": "They are {colour}."}


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        (True, "holds"),
        ([True, True], "holds"),
        ([True, False], "holds in part"),
        (False, "does not hold"),
        ([False, False], "does not hold"),
    ],
)
def test_a_claim_holds_as_far_as_its_cases_do_and_prints_the_checks_values(
    monkeypatch, cases, verdict
):
    monkeypatch.setattr(reproduction, "exhibit_texts", lambda _: {"claims": {"colour": CLAIM}})
    (claim,) = judge_claims("figure0", {"colour": Check(cases, colour="grey")})
    assert claim == Claim("colour", "Section 1", "All are grey.", verdict, "They are grey.")


def test_a_check_without_a_claim_is_refused():
    with pytest.raises(ValueError, match="superfluous"):
        judge_claims("figure2", {"combinations_tested": Check(True), "superfluous": Check(True)})
