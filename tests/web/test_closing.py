"""Closing questions: asked on a page after the last question, where the plan has any."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from survey.db.models import Participant
from survey.db.models.base import now
from survey.services import accounts
from survey.services.participation import own_data
from survey.services.participation.participant_list import list_participants
from survey.services.studies import lifecycle
from tests.builders import SLUG, Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE

QUESTIONS = [
    {
        "name": "ease",
        "label": "How easy was it?",
        "kind": "scale",
        "options": ["very hard", "very easy"],
    },
    {"name": "sure", "label": "How sure were you?", "kind": "scale", "required": False},
    {"name": "remarks", "label": "Any remarks?", "kind": "text", "required": False},
]


@pytest.fixture
def study(session):
    return an_open_study(session, closing_questions=QUESTIONS, questions=2)


@pytest.fixture
def visitor(client, study):
    visitor = Visitor(client)
    visitor.go("/closing")
    return visitor


def closing_of(session):
    session.rollback()
    return session.scalars(select(Participant.closing)).one()


def radios(visitor, name):
    return [field["value"] for field in visitor.page.select(f"[name={name}][checked]")]


def test_they_come_after_the_last_question_and_before_the_review(visitor, session):
    assert "How easy was it?" in visitor.text
    assert [each["value"] for each in visitor.page.select("[name=ease]")] == [*"12345"]
    assert "1 (very hard)" in visitor.text
    assert closing_of(session) is None
    visitor.open("/review")
    assert visitor.path == "/closing"
    visitor.submit("/closing", ease="4", remarks=" Fine,\r\nthanks ")
    assert visitor.path == "/review"
    assert closing_of(session) == {"ease": 4, "remarks": "Fine,\nthanks"}
    assert "How sure were you? no answer" in visitor.text


def test_no_field_has_the_id_of_another_part_of_the_page(client, session):
    names = ("main", "kept", "problems")
    asked = [{"name": name, "label": name, "kind": "scale"} for name in names]
    an_open_study(session, closing_questions=asked, questions=1)
    visitor = Visitor(client)
    visitor.go("/closing")
    visitor.submit("/closing", main="")
    ids = [part["id"] for part in visitor.page.select("[id]")]
    assert {*names} < {*ids}
    assert len({*ids}) == len(ids)
    links = [link["href"] for link in visitor.page.select(".problems a")]
    assert links == [f"#{visitor.page.select_one(f'[id$={name}][role]')['id']}" for name in names]


def test_they_can_be_changed_until_they_are_handed_in(visitor, session):
    visitor.submit("/closing", ease="4", sure="2")
    visitor.open("/closing")
    assert (radios(visitor, "ease"), radios(visitor, "sure")) == (["4"], ["2"])
    visitor.submit("/closing", ease="5", sure="")
    assert closing_of(session) == {"ease": 5}
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="2")
    assert visitor.path == "/review"
    visitor.submit("/review")
    visitor.post("/closing", ease="1")
    assert visitor.path == "/done"
    assert closing_of(session) == {"ease": 5}


@pytest.mark.slow
def test_nothing_is_asked_where_the_plan_has_none(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.go("/review")
    visitor.open("/closing")
    assert visitor.path == "/review"
    assert closing_of(session) is None


def test_before_the_last_question_they_are_not_reached(client, study):
    visitor = Visitor(client)
    visitor.go("/q/2")
    visitor.open("/closing")
    assert visitor.path == "/q/2"
    assert visitor.form("/q/2")


@pytest.mark.parametrize(
    ("sent", "sentence", "field"),
    [
        ({}, "Please fill in: How easy was it.", "ease"),
        ({"ease": "6"}, "How easy was it: a whole number from 1 to 5, please.", "ease"),
        ({"ease": "x"}, "How easy was it: please use digits, for example 20.", "ease"),
        (
            {"ease": "1", "remarks": "x" * 2001},
            "Any remarks: 2000 characters at most, please.",
            "remarks",
        ),
        ({"ease": "1", "remarks": "\0"}, "this holds a character that cannot be stored", "remarks"),
    ],
)
def test_a_mistake_is_shown_beside_what_was_filled_in(visitor, session, sent, sentence, field):
    visitor.submit("/closing", sure="3", **sent)
    assert visitor.status == 400
    assert sentence in visitor.text
    assert visitor.page.select_one(f"#{field}[aria-invalid=true]")
    assert radios(visitor, "sure") == ["3"]
    assert closing_of(session) is None


def test_they_are_shown_to_their_participant_stay_on_the_day_and_are_erased(
    client, session, monkeypatch
):
    an_open_study(session, closing_questions=QUESTIONS, personal_until=now().date().isoformat())
    visitor = Visitor(client)
    visitor.go("/closing")
    visitor.submit("/closing", ease="4", remarks="Fine")
    monkeypatch.setattr(own_data, "now", lambda: now() + timedelta(days=1))
    assert own_data.drop_due(session).deleted == [SLUG]
    visitor.open("/my-data")
    assert "Any remarks? Fine" in visitor.text
    visitor.open("/my-data.json")
    assert visitor.response.json["closing_questions"] == {"ease": 4, "remarks": "Fine"}
    assert visitor.response.json["about_you"] == {}
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    session.rollback()
    assert session.query(Participant).count() == 0


def test_a_preview_shows_both_and_stores_nothing(desk, session):
    plan = a_plan(closing_questions=QUESTIONS, reason_question="Why?")
    study = lifecycle.create_study(session, SLUG, plan)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    preview = f"/research/studies/{SLUG}/preview/123"
    desk.open(f"{preview}/question/3")
    assert desk.page.select_one("textarea[name=reason]")
    desk.send(f"{preview}/question/3", choice="1", reason="because")
    assert desk.address == f"{preview}/closing"
    desk.send(f"{preview}/closing", remarks="Fine")
    assert desk.status == 400
    assert desk.page.select_one("#remarks").text.strip() == "Fine"
    desk.send(f"{preview}/closing", ease="2")
    assert desk.address == f"{preview}/review"
    assert "How easy was it? no answer" in desk.text
    assert session.query(Participant).count() == 0


def test_the_check_says_what_is_asked_beside_the_answers(session):
    study = lifecycle.create_study(
        session, SLUG, a_plan(closing_questions=QUESTIONS[:1], reason_question="Why?")
    )
    texts = [finding.text for finding in lifecycle.check_study(session, study)]
    assert "participants are asked for a reason for each answer" in texts
    assert "participants are asked at the end: ease" in texts


def test_progress_says_who_is_at_the_closing_questions(visitor, session, study):
    def pages():
        session.rollback()
        return [one.page for one in list_participants(session, study).counted.shown]

    assert pages() == ["closing questions"]
    visitor.submit("/closing", ease="4")
    assert pages() == ["review"]
