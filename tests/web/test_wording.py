"""Values as words of a page."""

import pytest
from flask import g

from survey.web.language import aligned, decimal
from tests.databases import ON_SQLITE


@ON_SQLITE
@pytest.mark.parametrize(("language", "written"), [("en", "0.7996"), ("el", "0,7996")])
def test_a_number_has_the_decimal_sign_of_the_pages_language(app, language, written):
    with app.app_context():
        g.language = language
        assert (decimal("0.7996"), decimal("1")) == (written, "1")


def test_the_decimal_points_of_a_column_are_aligned_whatever_the_number_of_digits():
    padded = aligned(["9.25", "10.5", "100", "0.0001"])
    assert padded == ["\u2007\u20079.25", "\u200710.5", "100", "\u2007\u20070.0001"]
    assert aligned([]) == []
