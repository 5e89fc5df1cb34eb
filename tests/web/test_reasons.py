"""A reason in words below each question's answer, where the plan asks for one."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from survey.db.models import Revision, StoredResponse
from survey.db.models.base import now
from survey.services.participation import own_data
from tests.builders import SLUG, Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study, ticks
from tests.web.test_asked_back import differing
from tests.web.test_unsaved import locked, short_patience, unreachable  # noqa: F401 - a fixture

pytestmark = ON_SQLITE

WHY = "Why? A few words are enough."


@pytest.fixture
def visitor(client, session):
    an_open_study(session, reason_question=WHY)
    visitor = Visitor(client)
    visitor.start()
    return visitor


def stored(session):
    """The reason of each answer, with the number of its changes; all revisions."""
    session.rollback()
    rows = select(StoredResponse.reason, StoredResponse.revisions).order_by(StoredResponse.id)
    answers = [tuple(row) for row in session.execute(rows)]
    versions = session.scalars(select(Revision.reason).order_by(Revision.id)).all()
    return answers, versions


def reason_on(visitor):
    return visitor.page.select_one("textarea[name=reason]").text


def test_it_is_asked_below_the_answers_but_not_in_practice(client, session):
    an_open_study(session, reason_question="Why this, of {lists} lists?")
    visitor = Visitor(client)
    visitor.prepare()
    while visitor.path == "/practice":
        assert not visitor.page.select_one("[name=reason]")
        visitor.submit("/practice", choice="1", reason="not asked")
    assert "Why this, of five lists? (optional)" in visitor.text
    assert reason_on(visitor) == ""
    assert stored(session) == ([], [])


def test_a_study_that_asks_for_none_stores_none(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.start()
    assert not visitor.page.select_one("[name=reason]")
    visitor.submit("/q/1", choice="1", reason="x" * 3000)
    assert visitor.path == "/q/2"
    assert stored(session) == ([(None, 0)], [None])


def test_it_may_be_left_empty(visitor, session):
    visitor.submit("/q/1", choice="1", reason="  \r\n ")
    assert visitor.path == "/q/2"
    assert stored(session) == ([(None, 0)], [None])


def test_it_is_saved_shown_and_changed_with_the_answer(visitor, session):
    visitor.submit("/q/1", choice="1", reason=" <b>B</b> is\r\nearlier  ")
    visitor.open("/q/1")
    assert reason_on(visitor) == "<b>B</b> is\nearlier"
    visitor.submit("/q/1", choice="1", reason="A is earlier")
    assert stored(session) == ([("A is earlier", 1)], ["<b>B</b> is\nearlier", "A is earlier"])
    for page in ("/q/2", "/q/3"):
        visitor.open(page)
        visitor.submit(page, choice="1")
    assert visitor.path == "/review"
    assert "A is earlier" in visitor.text
    visitor.open("/my-data")
    assert "A is earlier" in visitor.text
    visitor.open("/my-data.json")
    answers = visitor.response.json["questions"][0]["answers"]
    assert [each["reason"] for each in answers] == ["<b>B</b> is\nearlier", "A is earlier"]


def test_a_form_sent_twice_is_stored_once_and_an_old_one_is_refused(visitor, session):
    sent = {field["name"]: field["value"] for field in visitor.page.select("form [type=hidden]")}
    for _ in range(2):
        visitor.post("/q/1", **sent, choice="1", reason="first")
    assert stored(session) == ([("first", 0)], ["first"])
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="1", reason="second")
    visitor.post("/q/1", **sent, choice="1", reason="first")
    assert visitor.path == "/q/2"  # it was stored before
    visitor.post("/q/1", **sent, choice="1", reason="third")
    assert visitor.status == 409
    assert reason_on(visitor) == "third"
    assert "Saved there is: Method 1 – “second”." in visitor.text
    assert stored(session) == ([("second", 1)], ["first", "second"])


def test_too_long_a_reason_is_shown_again_with_the_answer(visitor, session):
    visitor.submit("/q/1", choice="2", reason="x" * 2001)
    assert visitor.status == 400
    assert len(reason_on(visitor)) == 2001
    assert visitor.page.select_one("#reason[aria-invalid]")
    assert visitor.page.select_one(".problems a[href='#reason']")
    assert visitor.page.select_one("[name=choice][value='2'][checked]")
    visitor.submit("/q/1", choice="2", reason="\0")
    assert "Your reason: this holds a character that cannot be stored" in visitor.text
    assert stored(session) == ([], [])


def test_a_form_with_a_mistake_and_a_page_that_asks_back_keep_it(visitor, session):
    visitor.submit("/q/1", reason="because")
    assert (visitor.status, reason_on(visitor)) == (400, "because")
    first, second, _ = differing(visitor)
    visitor.submit("/q/1", choice=[str(first), str(second)], reason="because")
    assert visitor.page.select_one("[name=settle]")
    assert reason_on(visitor) == "because"
    visitor.submit("/q/1", choice=[str(first), str(second)], reason="because", settle="several")
    assert stored(session) == ([("because", 0)], ["because"])


def test_an_answer_that_cannot_be_stored_keeps_it(visitor, engine):
    with locked(engine):
        visitor.submit("/q/1", choice="1", reason="because")
    assert (visitor.status, reason_on(visitor)) == (503, "because")
    with unreachable(engine):
        visitor.submit("/q/1", choice="1", reason="because")
    assert visitor.status == 503
    assert visitor.page.select_one("[type=hidden][name=reason]")["value"] == "because"


def test_no_page_shows_the_reason_of_another_person(visitor, app):
    visitor.submit("/q/1", choice="1", reason="my own words")
    other = Visitor(app.test_client())
    other.start()
    assert reason_on(other) == ""
    visitor.open("/q/1")
    assert reason_on(visitor) == "my own words"


def test_it_stays_on_the_day_for_personal_data_and_goes_with_the_participant(
    client, session, monkeypatch
):
    an_open_study(session, reason_question=WHY, personal_until=now().date().isoformat())
    visitor = Visitor(client)
    visitor.start()
    visitor.submit("/q/1", choice="1", reason="because")
    monkeypatch.setattr(own_data, "now", lambda: now() + timedelta(days=1))
    assert own_data.drop_due(session).deleted == [SLUG]
    assert stored(session)[1] == ["because"]
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert stored(session) == ([], [])


def typed_through(visitor, steps):
    """Type a reason, take the steps without a script, and return what each page then shows."""
    visitor.go("/q/1")
    typed, shown = "because", []
    for step in steps:
        visitor.submit("/q/1", reason=typed, **step)
        shown.append((visitor.status, reason_on(visitor)))
        typed = reason_on(visitor)
    return shown


def test_it_is_kept_through_the_batches_of_a_query(app, session):
    a_labelling_study(session, reason_question=WHY, shuffle_questions=False)
    visitor = Visitor(app.test_client(), "labelled")
    steps = [ticks(1) | {"go": go} for go in ("next", "refine", "previous", "")]
    assert typed_through(visitor, steps) == [(200, "because")] * 4
    assert "3 marked" in visitor.text
    visitor.insist("/q/1", go="done", reason=reason_on(visitor))
    assert visitor.path == "/q/2"
    visitor.open("/q/1")
    visitor.submit("/q/1", go="next", reason="")
    assert reason_on(visitor) == ""  # what was stored does not come back
    session.rollback()
    assert session.scalars(select(StoredResponse.reason)).all() == ["because"]


def test_it_is_kept_through_the_steps_of_a_topic(app, session):
    a_grouping_study(session, reason_question=WHY)
    visitor = Visitor(app.test_client(), "grouped")
    steps = [{"go": "new", "group": "warm", "document": "1"}, {"go": "undo"}, {"go": "rest"}]
    assert typed_through(visitor, steps) == [(200, "because")] * 3
    assert "12 of 12 placed" in visitor.text
    visitor.insist("/q/1", go="done", reason=reason_on(visitor))
    assert visitor.path == "/q/2"
    session.rollback()
    assert session.scalars(select(StoredResponse.reason)).all() == ["because"]


def test_a_step_without_a_reason_may_be_reloaded(app, session):
    a_grouping_study(session, reason_question=WHY)
    visitor = Visitor(app.test_client(), "grouped")
    visitor.go("/q/1")
    visitor.submit("/q/1", follow=False, go="rest", reason="")
    assert visitor.status == 303
