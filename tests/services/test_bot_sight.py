"""What bots recognise on a page."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from survey.services.planning.bot_sight import Sight

SHOWN = {
    "a": ("Zq7", ""),
    "b": ("", "A short\r\n query"),
    "c": ("", "alike"),
    "d": ("", "alike"),
    "e": ("icon", "kW1"),
    "f": ("icon", "kW2"),
    "g": ("", ""),
}


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<img src="/s/x/small/Zq7.webp">', "a"),
        ('<img src="/s/x/small/Zq8.webp"><p class="lead">alike</p>', ""),
        ('<img src="/s/x/small/icon.webp"><span data-text="kW1">any</span>', "e"),
        ('<img src="/s/x/small/icon.webp"><b><i data-text="kW2"></i></b>', "f"),
        ('<img src="/elsewhere.png">', ""),
        ('<p class="lead">A short\n query </p>', "b"),
        ('<strong class="lead">alike</strong>', "d"),
        ('<span data-text="unknown">kW1</span>', ""),
        ('<span data-text=""></span>', ""),
        ("", ""),
    ],
)
def test_a_document_is_known_by_its_names_and_a_query_by_its_words(html, found):
    assert Sight(SHOWN).find_in(LexborHTMLParser(f"<main>{html}</main>").css_first("main")) == found
