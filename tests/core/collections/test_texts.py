"""The words of a query in a text, and the part of a text that holds most of them."""

import pytest

from survey.core.collections.texts import (
    cut_at_word,
    excerpt,
    folded,
    split_at_words,
    text_of_html,
    words_of,
)


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        (
            "train athens",
            "Trains leave Athens. A TRAIN, the train's.",
            ["Athens", "TRAIN", "train"],
        ),
        ("θεσσαλονικη τρενο", "Το Τρένο στη ΘΕΣΣΑΛΟΝΊΚΗ", ["Τρένο", "ΘΕΣΣΑΛΟΝΊΚΗ"]),
        ("λόγος", "ΛΟΓΟΣ και λόγοσ", ["ΛΟΓΟΣ", "λόγοσ"]),  # a final sigma is a sigma
        ("café", "Cafe, CAFÉ and cafe\u0301", ["Cafe", "CAFÉ", "cafe\u0301"]),
        ("كتاب", "كِتَاب جديد", ["كِتَاب"]),  # with the signs of its vowels
        ("strasse", "Straße", ["Straße"]),
        ("हिन्दी", "हिन्दी और हिन्दु", ["हिन्दी"]),
        ("", "nothing", []),
        ("sea-side", "The sea, aside", ["sea"]),
    ],
)
def test_whole_words_are_marked_whatever_their_case_and_accents(query, text, marked):
    parts = [*split_at_words(text, words_of(query))]
    assert [part for part, is_word in parts if is_word] == marked
    assert "".join(part for part, _ in parts) == text


def test_an_excerpt_is_the_beginning_where_that_holds_as_many_words():
    text = "Whales of the sea. " + "filler " * 60 + "whales in the sea"
    assert excerpt(text, words_of("whales sea"), 60).startswith("Whales of the sea. filler")
    assert excerpt(text, frozenset(), 60).startswith("Whales")
    assert excerpt("short", words_of("sea")) == "short"


def test_an_excerpt_holds_the_most_different_words_and_not_the_most_words():
    text = "sea " * 60 + "and far below it the blue whale of the sea near Athens. " + "end " * 90
    part = excerpt(text, words_of("sea whale athens"), 80)
    assert part.startswith("… whale of the sea near Athens.")
    assert part.endswith(" …")
    assert len(part) <= 80 + 4


def test_of_windows_with_as_many_words_the_first_counts():
    text = "x " * 100 + "first whale " + "x " * 100 + "second whale " + "x " * 100
    assert excerpt(text, words_of("whale"), 30).startswith("… whale x")
    assert "second" not in excerpt(text, words_of("whale first second"), 30)


def test_a_word_longer_than_an_excerpt_breaks_nothing():
    word = "w" * 500
    assert excerpt(f"a {word} b {word}", words_of(f"{word} b"), 240)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one two", "one two"),
        ("one two three", "one two …"),
        ("one two. three", "one two. …"),
        ("onetwothreefour", "onetwoth …"),
    ],
)
def test_a_text_is_cut_at_the_end_of_a_word(text, cut):
    assert cut_at_word(text, 8) == cut


def test_the_text_of_html_has_a_line_for_each_block():
    html = "<h1>A &amp; B</h1><p>one <b>two</b>\n three<br>four</p><table><tr><td>5</td><td>6</td>"
    assert text_of_html(html) == "A & B\none two three\nfour\n5 6"


def test_a_word_is_folded_once_and_for_all():
    assert folded("ΆΣ") == folded("ας") == folded(folded("ΆΣ"))
