"""What a participant sees when an answer cannot be stored just now, and what becomes of it."""

import os
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import text

from survey.db import engine as opening
from survey.db.models import Participant, Revision, StoredResponse, Study
from survey.kinds.ordering.models import StoredOrderingPresentation
from survey.services.participation import answers, own_data
from survey.web.participant import questions
from tests.builders import SLUG, Visitor, a_ready_participant, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE


@pytest.fixture(autouse=True)
def short_patience(monkeypatch):
    """A database that is waited for no longer than a test can wait."""
    monkeypatch.setattr(opening, "BUSY_TIMEOUT_MS", 150)


@pytest.fixture
def visitor(client, session, short_patience):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.start()
    return visitor


@contextmanager
def locked(engine):
    """Someone else holds what an answer has to write, so that it can still be read."""
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))  # BEGIN IMMEDIATE, on SQLite
        if engine.dialect.name == "postgresql":
            connection.execute(text("LOCK TABLE revision IN ACCESS EXCLUSIVE MODE"))
        yield
        connection.rollback()


@contextmanager
def unreachable(engine):
    """Nothing can be read or written."""
    file = engine.url.database
    engine.dispose()
    kept = file + ".kept"
    os.rename(file, kept)
    os.mkdir(file)
    yield
    engine.dispose()
    os.rmdir(file)
    os.rename(kept, file)


def stored(session):
    session.rollback()
    return session.query(StoredResponse).count(), session.query(Revision).count()


@ON_BOTH
def test_an_answer_that_meets_a_locked_database_stays_filled_in_on_its_page(
    visitor, session, engine
):
    key = visitor.page.select_one("[name=submission_key]")["value"]
    with locked(engine):
        visitor.submit("/q/1", choice=["1", "3"], rank_B="2", settle="several")
    assert visitor.status == 503
    assert visitor.response.headers["Retry-After"] == "5"
    assert "Your answer is not saved yet" in visitor.text
    ticked = [box["value"] for box in visitor.page.select("[name=choice][checked]")]
    assert set(ticked) == {"1", "3"}
    assert visitor.page.select_one("[name=rank-B] [selected]")["value"] == "2"
    assert visitor.page.select_one("[name=submission_key]")["value"] == key
    before = stored(session)
    visitor.submit("/q/1", choice=["1", "3"], settle="several")
    assert visitor.path == "/q/2"
    assert stored(session) == (before[0] + 1, before[1] + 1)


@ON_SQLITE
def test_the_page_asks_its_script_to_send_the_answer_again_with_the_same_button(visitor, engine):
    with locked(engine):
        visitor.submit("/q/1", choice="1", go="back")
    assert visitor.page.select_one("#vote [data-saving]")["data-again"] == "back"
    assert visitor.page.select_one("#vote [data-saving]")["role"] == "status"


@ON_SQLITE
def test_a_page_that_is_fine_is_not_sent_by_itself(visitor):
    assert visitor.page.select_one("#vote [data-saving]").get("data-again") is None


@ON_SQLITE
@pytest.mark.slow
def test_what_cannot_even_be_shown_is_kept_and_named(visitor, session, engine):
    key = visitor.page.select_one("[name=submission_key]")["value"]
    with unreachable(engine):
        visitor.submit("/q/1", choice="own", rank_A="2", rank_B="1", rank_C="2")
        assert visitor.status == 503
        assert "Your answer: B first; A and C tie for second" in visitor.text
        assert visitor.page.select_one("[name=submission_key]")["value"] == key
        visitor.submit("/q/1")
        assert visitor.status == 503
    before = stored(session)
    visitor.page.select_one("[name=rank-C]")["value"] = "3"
    visitor.submit("/q/1", rank_D="4", rank_E="5")
    assert visitor.page.select_one(".asks")  # a later list is put first
    order = dict(zip("ABCDE", "21345", strict=True))
    visitor.submit("/q/1", choice="own", **{f"rank_{letter}": n for letter, n in order.items()})
    assert visitor.path == "/q/2"
    assert stored(session) == (before[0] + 1, before[1] + 1)


@pytest.mark.slow
@ON_SQLITE
def test_what_was_said_about_oneself_is_kept_too(client, session, engine):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    with locked(engine):
        visitor.submit("/about-you", age="31", education="School")
    assert visitor.status == 503
    visitor.submit("/about-you")
    session.rollback()
    assert session.query(Participant).one().personal["age"] == 31


@ON_SQLITE
@pytest.mark.slow
def test_a_form_that_is_not_ours_is_not_kept(visitor, engine):
    with locked(engine):
        visitor.post("/q/1", csrf_token="forged", choice="1")
    assert not visitor.page.select("[data-again]")


@ON_SQLITE
def test_a_page_that_is_only_looked_at_does_not_speak_of_answers(visitor, engine):
    with unreachable(engine):
        visitor.open("/q/1")
        assert visitor.status == 503
        assert "Reload this page in a moment." in visitor.text


@ON_SQLITE
def test_the_page_speaks_the_readers_language_where_the_study_cannot_be_asked(visitor, engine):
    fields = {one["name"]: one.get("value", "") for one in visitor.page.select("[type=hidden]")}
    with unreachable(engine):
        answer = visitor.client.post(
            f"/s/{SLUG}/q/1", data=fields | {"choice": "1"}, headers={"Accept-Language": "el"}
        )
    assert '<html lang="el">' in answer.text


@ON_SQLITE
def test_one_participant_cannot_fill_the_disk_and_loses_nothing(visitor, session, monkeypatch):
    monkeypatch.setattr(answers, "ANSWERS_A_MINUTE", 1)
    visitor.submit("/q/1", choice="1")
    visitor.submit("/q/2", choice="2")
    assert visitor.status == 429
    assert visitor.response.headers["Retry-After"] == "5"
    assert "Too many answers came within a minute" in visitor.text
    assert visitor.page.select_one("[name=choice][checked]")["value"] == "2"
    assert visitor.page.select_one("[data-again]")
    another = Visitor(visitor.client.application.test_client())
    another.start()
    another.submit("/q/1", choice="1")
    assert another.path == "/q/2"
    monkeypatch.undo()
    visitor.submit("/q/2", choice="2")
    assert visitor.path == "/q/3"


@ON_SQLITE
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_sent_by_another_site_is_refused(visitor, session, site):
    fields = {one["name"]: one.get("value", "") for one in visitor.page.select("[type=hidden]")}
    fields["choice"] = "1"
    before = stored(session)
    address = f"/s/{SLUG}/q/1"
    refused = visitor.client.post(address, data=fields, headers={"Sec-Fetch-Site": site})
    assert refused.status_code == 403
    assert stored(session) == before
    # An old browser, or one that tells nothing of where it comes from, loses no vote.
    assert visitor.client.post(address, data=fields).status_code == 303
    assert stored(session) == (before[0] + 1, before[1] + 1)


@contextmanager
def while_one_waits_to_write(monkeypatch, session, happens):
    """Something happens between reading a form and beginning to write what it says."""
    begin = questions.begin_writing

    def later(database):
        database.rollback()
        happens()
        begin(database)

    with monkeypatch.context() as patched:
        patched.setattr(questions, "begin_writing", later)
        yield


def erased_and_followed(session, instance):
    """The newest participant erases everything, and the next one gets their number on SQLite."""
    session.rollback()
    study = session.query(Study).one()
    gone = session.query(Participant).order_by(Participant.id.desc()).first()
    own_data.erase(session, study, gone, instance)
    return a_ready_participant(session, study, "somebody else's browser")


@ON_BOTH
@pytest.mark.parametrize("columns", ["before", "after"])
def test_an_answer_of_one_who_erased_meanwhile_is_nobody_elses(
    app, client, session, monkeypatch, columns
):
    an_open_study(session, columns=columns)
    visitor = Visitor(client)
    visitor.start()
    form = {f"rank_{letter}": "1" for letter in "ABCDE"}
    if columns == "before":
        form |= {"choice": "own"}
    instance = app.config["INSTANCE"]
    with while_one_waits_to_write(
        monkeypatch, session, lambda: erased_and_followed(session, instance)
    ):
        visitor.submit(visitor.path, follow=False, **form)
    assert visitor.status == 404
    assert stored(session) == (0, 0)
    ranked = StoredOrderingPresentation.ranked_at.is_not(None)
    assert not session.query(StoredOrderingPresentation).filter(ranked).count()


@ON_BOTH
def test_a_place_that_was_left_is_not_given_to_two(client, session, monkeypatch):
    study = an_open_study(session, participants=1)
    visitor = Visitor(client)
    visitor.start()
    one = session.query(Participant).one()
    one.last_seen_at -= timedelta(days=1)
    session.commit()
    before = stored(session)
    with while_one_waits_to_write(
        monkeypatch, session, lambda: a_ready_participant(session, study, "another browser")
    ):
        visitor.submit("/q/1", choice="1", follow=False)
    assert "your place went to someone else" in visitor.text
    assert stored(session) == before
