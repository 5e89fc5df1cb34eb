"""Values as words of a page."""

from survey.web.language import aligned


def test_the_decimal_points_of_a_column_are_aligned_whatever_the_number_of_digits():
    padded = aligned(["9.25", "10.5", "100", "0.0001"])
    assert padded == ["\u2007\u20079.25", "\u200710.5", "100", "\u2007\u20070.0001"]
    assert aligned([]) == []
