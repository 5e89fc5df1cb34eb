"""Acknowledged means stored, exactly once: while PostgreSQL ends connections."""

import pytest
from flask import request_finished
from sqlalchemy import text
from sqlalchemy.exc import DataError

from survey.db.models import Revision, StoredResponse
from survey.web.errors import DATABASE_FAULTS
from tests.builders import Visitor, an_open_study

END_ALL = text(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def database_uri(postgresql):
    uri = postgresql.make(filled=True)
    yield uri
    postgresql.drop(uri)


@pytest.fixture
def end_connections(app, engine):
    """End every connection of the database but one of its own."""
    other = engine.execution_options(isolation_level="AUTOCOMMIT").connect()
    yield lambda: other.execute(END_ALL)
    other.close()


@pytest.fixture
def visitor(session, client):
    an_open_study(session, practice=False)
    visitor = Visitor(client)
    visitor.prepare()
    return visitor


@pytest.mark.slow
def test_a_connection_that_was_ended_meanwhile_costs_nobody_a_page(visitor, end_connections):
    end_connections()
    visitor.open("/q/1")
    assert visitor.status == 200
    end_connections()
    visitor.submit("/q/1", choice="1", follow=False)
    assert visitor.status == 303


def test_a_connection_that_is_ended_in_between_is_a_503_and_one_answer(
    visitor, end_connections, session, monkeypatch
):
    monkeypatch.setattr(
        "survey.services.participation.answers._outcome", lambda *_: end_connections() and None
    )
    visitor.submit("/q/1", choice="1", follow=False)
    assert visitor.status == 503
    monkeypatch.undo()
    visitor.submit("/q/1", choice="1", follow=False)
    assert visitor.status == 303
    assert (session.query(StoredResponse).count(), session.query(Revision).count()) == (1, 1)


def test_a_connection_that_is_ended_after_the_answer_leaves_the_acknowledgement(
    app, visitor, end_connections
):
    with request_finished.connected_to(lambda *_, **__: end_connections(), app):
        visitor.submit("/q/1", choice="1", follow=False)
    assert visitor.status == 303


def test_a_connection_that_is_ended_after_a_page_was_read_leaves_the_page(
    app, visitor, session, end_connections
):
    with request_finished.connected_to(lambda *_, **__: end_connections(), app):
        visitor.open("/q/1")
    assert visitor.status == 200
    session.rollback()
    visitor.submit("/q/1", choice="1", follow=False)
    assert visitor.status == 303


def test_what_is_lost_can_be_given_up(session, end_connections):
    session.execute(text("SELECT 1"))
    end_connections()
    with pytest.raises(DATABASE_FAULTS):
        session.execute(text("SELECT 1"))
    session.rollback()
    assert session.execute(text("SELECT 1")).scalar() == 1


def test_an_error_repeats_no_value(session):
    with pytest.raises(DataError) as raised:
        session.execute(text("SELECT :age"), {"age": "seventeen\0"})
    assert "seventeen" not in str(raised.value)
