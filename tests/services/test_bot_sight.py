"""What bots recognise on a page."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from survey.services.planning.bot_sight import Sight

SHOWN = {
    "a": ("Zq7", ""),
    "b": ("", "A short\r\n text"),
    "c": ("", "alike"),
    "d": ("", "alike"),
    "e": ("icon", "one"),
    "f": ("icon", "two"),
    "g": ("", ""),
}


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<img src="/s/x/small/Zq7.webp">', "a"),
        ('<img src="/s/x/small/Zq8.webp"><p class="text">alike</p>', ""),
        ('<img src="/s/x/small/icon.webp"><p class="text">one</p>', "e"),
        ('<img src="/s/x/small/icon.webp"><span class="words">two</span>', "f"),
        ('<img src="/elsewhere.png">', ""),
        ('<p class="text">A short\n text </p>', "b"),
        ('<span class="words">alike</span>', "d"),
        ('<details class="text"><summary>lo...</summary><p>alike</p></details>', "d"),
        ('<span class="words">unknown</span>', ""),
        ('<span class="words"></span>', ""),
        ("", ""),
    ],
)
def test_a_picture_is_known_by_its_name_and_a_text_by_its_words(html, found):
    assert Sight(SHOWN).find_in(LexborHTMLParser(f"<main>{html}</main>").css_first("main")) == found
