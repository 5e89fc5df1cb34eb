"""What a page costs, counted: queries, writes and bytes. Times are measured elsewhere."""

import gzip
from datetime import timedelta

import pytest
from sqlalchemy import event

from survey.web import requests
from tests.builders import SLUG, Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE, statements

ON_POSTGRESQL = pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
A_PAGE_MAY_ASK, AN_ANSWER_MAY_ASK = 3, 4
# The participant was seen, the next question is shown; an answer and its revision are two rows
# each: one that all kinds of question share, one of the kind's own.
WRITES = 6
EXECUTIONS_BEFORE_IT_IS_PREPARED = 5  # psycopg's prepare_threshold
MOST_KILOBYTES, MOST_KILOBYTES_COMPRESSED = 12, 3.5


@pytest.fixture
def visitor(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.start()
    return visitor


@pytest.fixture
def said(engine):
    """What the database is asked and told to write."""
    with statements(engine) as told:
        yield told


def kinds(told):
    words = (one.split()[0] for one in told)
    return [word for word in words if word in ("SELECT", "INSERT", "UPDATE", "DELETE")]


@ON_BOTH
def test_a_question_is_shown_with_three_queries(visitor, said):
    visitor.open("/q/1")
    assert kinds(said) == ["SELECT"] * A_PAGE_MAY_ASK


@ON_BOTH
def test_an_answer_is_stored_with_four_queries_and_six_writes(visitor, said):
    visitor.submit("/q/1", choice="1", follow=False)
    assert kinds(said).count("SELECT") == AN_ANSWER_MAY_ASK
    assert len(kinds(said)) == AN_ANSWER_MAY_ASK + WRITES


@ON_BOTH
def test_an_answer_that_is_sent_again_costs_no_more(visitor, said):
    visitor.submit("/q/1", choice="1", follow=False)
    page = Visitor(visitor.client)
    page.open("/q/1")
    said.clear()
    page.submit("/q/1", choice="1", follow=False)
    assert kinds(said).count("SELECT") == AN_ANSWER_MAY_ASK


@ON_BOTH
def test_a_changed_answer_costs_no_more(visitor, said):
    visitor.submit("/q/1", choice="1")
    visitor.open("/q/1")
    said.clear()
    visitor.submit("/q/1", choice="2", follow=False)
    assert kinds(said).count("SELECT") == AN_ANSWER_MAY_ASK
    assert len(kinds(said)) <= AN_ANSWER_MAY_ASK + WRITES


@ON_SQLITE
def test_a_question_is_a_small_page(visitor):
    visitor.open("/q/1")
    page = visitor.response.data
    assert len(page) <= 1000 * MOST_KILOBYTES
    assert len(gzip.compress(page, 6)) <= 1000 * MOST_KILOBYTES_COMPRESSED


@ON_SQLITE
def test_the_cookie_is_renewed_by_a_form_once_a_day_and_not_by_a_page(visitor, monkeypatch):
    visitor.submit("/q/1", choice="1", follow=False)
    assert "Set-Cookie" not in visitor.response.headers
    visitor.open("/q/2")
    monkeypatch.setattr(requests, "RENEWED_AFTER", timedelta(seconds=-1))
    visitor.open("/q/2")
    assert "Set-Cookie" not in visitor.response.headers
    visitor.submit("/q/2", choice="1", follow=False)
    assert "Expires=" in visitor.response.headers["Set-Cookie"]
    visitor.open("/q/3")
    assert visitor.path == "/q/3"


@ON_SQLITE
def test_an_address_without_a_study_gives_no_cookie(client, session):
    an_open_study(session)
    assert "Set-Cookie" not in client.get("/s/none").headers
    assert "Set-Cookie" in client.get(f"/s/{SLUG}").headers


@ON_SQLITE
def test_a_cookie_given_by_http_is_given_anew_by_https_for_https_only(client, session):
    an_open_study(session)
    assert "Secure" not in client.get(f"/s/{SLUG}").headers["Set-Cookie"]
    again = client.get(f"/s/{SLUG}", base_url="https://localhost")
    assert "Secure" in again.headers["Set-Cookie"]
    third = client.get(f"/s/{SLUG}", base_url="https://localhost")
    assert "Set-Cookie" not in third.headers


@ON_POSTGRESQL
def test_statements_stay_prepared_from_page_to_page(visitor, engine):
    """psycopg forgets what it has prepared at each ROLLBACK, so no page may end with one."""
    used = []
    event.listen(engine, "checkin", lambda connection, _: used.append(connection))
    for _ in range(2 * EXECUTIONS_BEFORE_IT_IS_PREPARED):
        visitor.open("/q/1")
    of_pages = used[-1]
    prepared = of_pages.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
    of_pages.rollback()
    assert prepared == (A_PAGE_MAY_ASK,)
