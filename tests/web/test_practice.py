"""Practice: three short steps, a question that checks what was understood, and a remark."""

import re
from copy import copy

import pytest

from survey.core.studies.questions import BlindedQuestion
from survey.core.studies.rankings import Ranking
from survey.db.models import Participant
from tests.builders import Visitor, an_open_study
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
    """Count the words that are read on a page with scripts: no hidden ones, no numbers."""
    main = copy(visitor.page.main)
    for unread in main.select(".hidden, caption, option, #selects, #kept, #slots, details"):
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
    assert "Practice: the methods" in visitor.text
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
    assert visitor.page.select_one("main a.go").text == "Next"


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
    for step in (1, 2, 3):
        visitor.open(f"/practice?step={step}")
        counts[step] = words_on(visitor)
        assert counts[step] < MOST_WORDS
    visitor.submit("/practice", choice="1")
    counts["practised"] = words_on(visitor)
    assert sum(counts.values()) <= MOST_WORDS_BEFORE_A_QUESTION, counts


def places_by_sum(visitor, worst_first):
    """Places of the lists on the page by the sums of their positions."""
    ranks = {
        row.select_one(".letter").text: [int(rank.text) for rank in row.select(".rank")]
        for row in visitor.page.select(".sheet tbody tr")
    }
    by_sum = sorted(ranks, key=lambda letter: sum(ranks[letter]), reverse=worst_first)
    return {f"rank_{letter}": place for place, letter in enumerate(by_sum, 1)}


@ON_SQLITE
@pytest.mark.parametrize("worst_first", [True, False])
def test_an_ordering_that_puts_a_better_list_below_is_remarked_on(visitor, worst_first):
    visitor.open("/practice?step=3")
    places = places_by_sum(visitor, worst_first)
    visitor.submit("/practice", choice="own", settle="own", **places)
    assert ("although each position of" in visitor.text) is worst_first


@ON_SQLITE
def test_an_ordering_from_before_the_methods_were_shown_is_remarked_on_too(client, session):
    an_open_study(session, "after", columns="after")
    visitor = Visitor(client, "after")
    visitor.go("/practice/check", "/scenario")
    visitor.submit("/scenario")
    visitor.open("/practice?step=3")
    visitor.submit("/practice", **places_by_sum(visitor, worst_first=True))
    visitor.submit("/practice", choice="1")
    assert "although each position of" in visitor.text


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
