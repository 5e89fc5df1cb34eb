"""Practice: a check of reading, and a screen for each way to answer; it stores only the check."""

import json
import re
from copy import copy

import pytest

from survey.core.studies.questions import BlindedQuestion, reversed_pairs
from survey.core.studies.rankings import Ranking
from survey.db.models import Participant, StoredResponse
from tests.builders import Visitor, a_plan, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE

MOST_WORDS, MOST_WORDS_BEFORE_A_QUESTION = 80, 300


@pytest.fixture
def visitor(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.go("/practice/check", "/scenario")
    visitor.submit("/scenario")
    return visitor


def words_on(visitor):
    """Count the words that are read on a phone with scripts: no hidden ones, no numbers."""
    main = copy(visitor.page.main)
    for unread in main.select(".hidden, caption, option, #selects, #kept, details, .foot, .cap"):
        unread.extract()
    return len(re.findall(r"\b[^\W\d_]{2,}(?:[’'-]\w+)*", main.get_text(" ")))


def understood(session):
    session.rollback()
    return session.query(Participant).one().understood


@ON_BOTH
def test_the_first_answer_to_the_check_question_is_stored(visitor, session):
    assert understood(session) is None
    visitor.submit("/practice/check", better="0")
    assert "A small number means: found early." in visitor.text
    assert understood(session) is False
    visitor.submit("/practice/check", better="1")
    assert "Practice 1 of 3: your own order" in visitor.text
    assert "Right." in visitor.text
    assert understood(session) is False


@ON_SQLITE
@pytest.mark.parametrize("sent", ["0", "2", "x", ""])
def test_only_the_better_list_is_the_right_answer(visitor, session, sent):
    visitor.submit("/practice/check", better=sent)
    assert understood(session) is False


@ON_SQLITE
@pytest.mark.parametrize(("better", "excluded"), [("0", True), ("1", False)])
def test_a_plan_can_exclude_for_a_wrong_first_answer(client, session, better, excluded):
    an_open_study(session, "strict", exclude_failed_check=True)
    visitor = Visitor(client, "strict")
    visitor.go("/scenario")
    visitor.submit("/scenario")
    visitor.submit("/practice/check", better=better)
    participant = session.query(Participant).one()
    assert participant.excluded is excluded
    reason = "first answer to the check question was wrong" if excluded else None
    assert participant.exclude_reason == reason


@ON_SQLITE
def test_a_collection_too_small_for_two_such_lists_has_no_check_question(client, session):
    an_open_study(session, "small", relevant=5, collection_size=12)
    visitor = Visitor(client, "small")
    visitor.go("/scenario")
    visitor.submit("/scenario")
    assert not visitor.page.select("#check")
    assert visitor.page.h1.text == "Practice 1 of 3: your own order"


@ON_SQLITE
def test_each_step_is_short_and_so_is_all_before_the_first_question(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.open()
    counts = {"entry": words_on(visitor)}
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    counts["about you"] = words_on(visitor)
    visitor.submit("/about-you", age="23", education="School")
    counts["scenario"] = words_on(visitor)
    visitor.submit("/scenario")
    for step in (1, 2, 3, 4):
        visitor.open(f"/practice?step={step}")
        counts[step] = words_on(visitor)
        assert counts[step] < MOST_WORDS
    assert sum(counts.values()) <= MOST_WORDS_BEFORE_A_QUESTION, counts


def places_by_sum(visitor, worst_first):
    """Places of the lists on the page by the sums of their positions."""
    ranks = {
        row["data-list"]: [int(rank.text) for rank in row.select(".rank")]
        for row in visitor.page.select("[data-list]")
    }
    by_sum = sorted(ranks, key=lambda letter: sum(ranks[letter]), reverse=worst_first)
    return {f"rank_{letter}": place for place, letter in enumerate(by_sum, 1)}


@ON_SQLITE
def test_each_screen_can_be_left_without_success_and_the_last_leads_to_question_1(visitor, session):
    visitor.submit("/practice/check", better="1")
    headings = []
    while visitor.path == "/practice":
        headings.append(visitor.page.h1.text)
        visitor.submit("/practice")
    assert headings == [
        "Practice 1 of 3: your own order",
        "Practice 2 of 3: equally good",
        "Practice 3 of 3: the methods",
    ]
    assert visitor.path == "/q/1"
    assert session.query(StoredResponse).count() == 0


@ON_SQLITE
def test_who_comes_back_is_where_they_left_off(visitor):
    visitor.open("/q/1")  # not before its own button
    visitor.open("/practice?step=4")
    visitor.submit("/practice")
    visitor.open()
    assert visitor.page.select_one("main a.go")["href"].endswith("/q/1")


@ON_SQLITE
def test_back_leads_to_the_screen_before_and_to_the_scenario(visitor):
    visitor.open("/practice?step=3")
    visitor.submit("/practice", go="back")
    assert visitor.page.h1.text == "Practice 1 of 3: your own order"
    visitor.submit("/practice", go="back")
    assert visitor.page.select_one("#check")


@ON_SQLITE
def test_without_methods_there_are_two_screens(client, session):
    an_open_study(session, "never", columns="never")
    visitor = Visitor(client, "never")
    visitor.prepare()
    assert visitor.page.h1.text == "Practice 1 of 2: your own order"
    visitor.submit("/practice")
    assert visitor.page.select_one("button.go:not(.hidden)").text == "Start"
    visitor.submit("/practice")
    assert visitor.path == "/q/1"


@ON_SQLITE
def test_the_methods_screen_has_two_methods_with_the_order_that_it_asks_for(visitor):
    visitor.open("/practice?step=4")
    orders = [order.text for order in visitor.page.select(".method .order")]
    assert orders == ["A=C>B", "A>C>B", "A=C>B"]
    assert json.loads(visitor.page.select_one("#echo")["data-goal"])["ticks"] == ["1", "3"]


def a_seed_of_a_better_list():
    """A seed whose practice has among its three lists one that is earlier at every position."""
    for seed in range(1, 100):
        lists = dict(list(a_plan(seed=seed).draw_questions()[0].lists.items())[:3])
        if reversed_pairs(lists, Ranking.by_key({name: -sum(lists[name]) for name in lists})):
            return seed
    raise AssertionError("no seed has one")


@ON_SQLITE
@pytest.mark.parametrize("worst_first", [True, False])
def test_an_order_that_puts_a_better_list_below_is_asked_about_once(client, session, worst_first):
    an_open_study(session, "seeded", seed=a_seed_of_a_better_list())
    visitor = Visitor(client, "seeded")
    visitor.prepare()
    places = places_by_sum(visitor, worst_first)
    visitor.submit("/practice", **places)
    assert ("but match by match" in visitor.text) is worst_first
    if worst_first:
        visitor.submit("/practice", **places)
    assert visitor.page.h1.text == "Practice 2 of 3: equally good"


@pytest.mark.parametrize(
    ("ranking", "reversed_pairs"),
    [
        ("A>B>C", []),
        ("B>A>C", [("A", "B")]),
        ("C>B>A", [("A", "B"), ("A", "C")]),
        ("A=B>C", []),
        ("B=C>A", [("A", "B"), ("A", "C")]),
    ],
)
def test_a_list_is_better_if_no_position_is_later(ranking, reversed_pairs):
    ranks = {"A": (1, 2, 3), "B": (4, 5, 6), "C": (1, 9, 10)}
    rows = tuple((letter, tuple((rank, "") for rank in each)) for letter, each in ranks.items())
    view = BlindedQuestion(rows, (), ())
    assert view.reversed_by(Ranking.parse(ranking)) == reversed_pairs
