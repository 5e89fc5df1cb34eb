"""What a page costs, counted: queries, writes and bytes. Times are measured elsewhere."""

import gzip
import re

import pytest
from sqlalchemy import event

from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE

A_PAGE_MAY_ASK, AN_ANSWER_MAY_ASK = 3, 4
WRITES = 4  # the participant was seen, the answer, its revision, the next question is shown
MOST_KILOBYTES, MOST_KILOBYTES_COMPRESSED = 12, 3.5


@pytest.fixture
def visitor(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.start()
    return visitor


@pytest.fixture
def said(engine):
    """What the database is told: by the driver of SQLite, as some of it passes by SQLAlchemy."""
    statements = []

    def listen(statement):
        if re.match("SELECT|INSERT|UPDATE|DELETE", statement):
            statements.append(statement)

    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.connection.driver_connection.set_trace_callback(listen)
        yield statements
        engine.dispose()
    else:
        told = (engine, "before_cursor_execute", lambda *given: listen(given[2]))
        event.listen(*told)
        yield statements
        event.remove(*told)


def kinds(statements):
    return [statement.split()[0] for statement in statements]


def test_a_question_is_shown_with_three_queries(visitor, said):
    visitor.open("/q/1")
    assert kinds(said) == ["SELECT"] * A_PAGE_MAY_ASK


def test_an_answer_is_stored_with_four_queries_and_four_writes(visitor, said):
    visitor.submit("/q/1", choice="1", follow=False)
    assert kinds(said).count("SELECT") == AN_ANSWER_MAY_ASK
    assert len(said) == AN_ANSWER_MAY_ASK + WRITES


def test_an_answer_that_is_sent_again_costs_no_more(visitor, said):
    visitor.submit("/q/1", choice="1", follow=False)
    page = Visitor(visitor.client)
    page.open("/q/1")
    said.clear()
    page.submit("/q/1", choice="1", follow=False)
    assert kinds(said).count("SELECT") == AN_ANSWER_MAY_ASK


def test_a_changed_answer_costs_no_more(visitor, said):
    visitor.submit("/q/1", choice="1")
    visitor.open("/q/1")
    said.clear()
    visitor.submit("/q/1", choice="2", follow=False)
    assert kinds(said).count("SELECT") == AN_ANSWER_MAY_ASK
    assert len(said) <= AN_ANSWER_MAY_ASK + WRITES


@ON_SQLITE
def test_a_question_is_a_small_page(visitor):
    visitor.open("/q/1")
    page = visitor.response.data
    assert len(page) <= 1000 * MOST_KILOBYTES
    assert len(gzip.compress(page, 6)) <= 1000 * MOST_KILOBYTES_COMPRESSED


@ON_SQLITE
def test_the_cookie_is_renewed_with_each_form_and_not_with_each_page(visitor):
    visitor.open("/q/1")
    assert "Set-Cookie" not in visitor.response.headers
    visitor.submit("/q/1", choice="1", follow=False)
    assert "Expires=" in visitor.response.headers["Set-Cookie"]
