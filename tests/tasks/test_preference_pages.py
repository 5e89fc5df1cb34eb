"""Preference: what its pages say will be saved, and a practice that stores nothing."""

import pytest
from sqlalchemy import select

from survey.core.kinds import KINDS
from survey.db.models import StoredResponse
from survey.services import accounts
from survey.services.collections import items as collection
from tests.builders import Visitor
from tests.databases import ON_SQLITE
from tests.preferred import ORDERS, a_participant, a_preference_study
from tests.web.desk import Desk

pytestmark = ON_SQLITE
TABLES = KINDS["preference"].tables
ASKING = {"ask_strength": True, "ask_satisfaction": True}
ITEMS = {"show_items": True, "show_positions": False}


def first_line(visitor):
    return visitor.page.select_one("#echo").text


def a_practice(app, slug="preferred"):
    visitor = Visitor(app.test_client(), slug)
    visitor.go("/practice")
    return visitor


# --- the answer bar ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({}, "Choose one. There is no right or wrong."),
        ({"preferred": "left"}, "You prefer list 1."),
        ({"preferred": "right", "strength": "3"}, "You prefer list 2, by far."),
        ({"preferred": "equal", "strength": "3"}, "Both are equally good."),
        (
            {"preferred": "neither", "satisfaction_left": "1"},
            "Neither is any good. Satisfied with list 1: 1 of 5.",
        ),
        ({"satisfaction_right": "5", "strength": "9"}, "Satisfied with list 2: 5 of 5."),
        ({"preferred": "both"}, "Choose one. There is no right or wrong."),
    ],
)
def test_the_first_line_of_the_bar_says_what_will_be_saved(app, session, sent, sentence):
    a_preference_study(session, **ASKING)
    visitor = a_participant(app)
    visitor.submit("/q/1", **sent)
    assert visitor.status == 400  # something is missing in each
    assert first_line(visitor) == sentence


def test_a_stored_answer_is_said_when_its_page_is_shown_again(app, session):
    a_preference_study(session)
    visitor = a_participant(app)
    visitor.submit("/q/1", preferred="equal")
    assert first_line(visitor) == "Choose one. There is no right or wrong."
    visitor.open("/q/1")
    assert first_line(visitor) == "Both are equally good."


def test_all_answers_and_both_buttons_are_in_the_bar_and_satisfaction_is_at_its_list(app, session):
    a_preference_study(session, **ASKING)
    page = a_participant(app).page
    for name, count in (("preferred", 4), ("strength", 3), ("go", 1)):
        assert len(page.select(f".bar [name={name}]")) == count
    for number, side in ((1, "left"), (2, "right")):
        assert len(page.select(f"#list-{number} [name=satisfaction_{side}]")) == 5
    assert page.text.count("Which list would you rather get?") == 2  # the heading, and for readers
    assert [each.get("class") for each in page.select("h1, legend") if "rather" in each.text] == [
        *(None, ["hidden"])
    ]


def test_what_contradicts_itself_is_asked_back_in_the_bar(app, session):
    a_preference_study(session, ask_satisfaction=True)
    visitor = a_participant(app)
    visitor.submit("/q/1", preferred="left", satisfaction_left="1", satisfaction_right="4")
    asks = visitor.page.select_one(".bar .asks").text
    assert "You prefer list 1, but list 2 satisfies you more." in asks
    assert first_line(visitor).startswith("You prefer list 1.")


@pytest.mark.parametrize(("depth", "has_switch"), [(10, False), (12, True)])
def test_lists_of_pictures_that_a_phone_shows_at_once_have_no_switch(
    app, session, depth, has_switch
):
    a_preference_study(session, depth=depth, **ITEMS)
    assert bool(a_participant(app).page.select(".switch")) == has_switch


# --- practice ------------------------------------------------------------------------------


def test_practice_is_the_real_page_and_stores_nothing(app, session):
    study = a_preference_study(session, practice=True, **ITEMS, **ASKING, reason_question="Why?")
    shown = collection.shown(session, study).documents
    documents = {name: document for document, (name, _) in shown.items()}
    session.rollback()
    visitor = a_practice(app)
    assert visitor.page.h1.text == "Which list would you rather get?"
    assert visitor.page.select_one(".task")
    assert not visitor.page.select("[name=reason], [name=submission_key], [name=active_seconds]")
    seen = [
        [documents[image["src"].rpartition("/")[2][:-5]] for image in side.select("img")]
        for side in visitor.page.select(".side")
    ]
    known = [sorted(each[:10] for each in runs.values()) for runs in ORDERS.values()]
    assert sorted(seen) not in known
    visitor.submit("/practice", preferred="left", satisfaction_left="1", satisfaction_right="5")
    assert visitor.path == "/q/1"
    assert session.scalars(select(StoredResponse)).all() == []
    assert session.execute(TABLES.presentation.select()).first() is not None
    session.rollback()


def test_practice_can_be_left_without_an_answer_and_by_back(app, session):
    a_preference_study(session, practice=True)
    visitor = a_practice(app)
    visitor.submit("/practice", go="back")
    assert visitor.path == "/scenario"
    visitor.open("/practice")
    visitor.submit("/practice")
    assert visitor.path == "/q/1"


def test_a_preview_shows_the_practice(app, session):
    study = a_preference_study(session, practice=True, **ITEMS)
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open("/research/studies/preferred/preview/A/practice")
    assert desk.status == 200, desk.text
    assert len(desk.page.select(".side img")) == 20
