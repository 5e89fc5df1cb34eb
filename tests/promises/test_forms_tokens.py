"""Promise 5: a form whose token is no longer good comes back as it was filled in."""

import pytest

from survey.db.models import Participant, StoredResponse
from survey.web import forms
from tests.builders import SLUG, Visitor, an_open_study

OWN = {"choice": "own", "rank_A": "2", "rank_B": "1", "rank_C": "2", "rank_D": "4", "rank_E": "4"}
JOB = {"name": "job", "label": "Your job", "kind": "text"}
AGE = {"name": "age", "label": "Your age", "kind": "number", "lowest": 16, "highest": 110}

# Every form of a participant's way: where it stands, where it posts, what is filled in, and
# where a good one leads.
WAY = (
    ("", "/begin", {}, "/consent"),
    ("/consent", "/consent", {"agree": "y"}, "/about-you"),
    ("/about-you", "/about-you", {"age": "44", "job": "cook & baker"}, "/scenario"),
    ("/scenario", "/scenario", {}, "/practice"),
    ("/practice", "/practice/check", {"better": "1"}, "/practice"),
    ("/practice?step=4", "/practice", {}, "/q/1"),
    ("/q/1", "/q/1", {"choice": ["2", "3"], "settle": "several"}, "/q/2"),
    ("/q/2", "/q/2", OWN, "/review"),
    ("/review", "/review", {}, "/done"),
    ("/done", "/leave", {}, ""),
)


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def study(session):
    return an_open_study(session, questions=2, personal_fields=[AGE, JOB])


@pytest.fixture
def visitor(client, study):
    return Visitor(client)


def filled_in(visitor, path):
    """What stands filled in on the page in the form that posts to ``path``."""
    form = visitor.form(path)
    found = {}
    for field in form.select("input:not([type=hidden]), select"):
        name = field["name"].replace("rank-", "rank_")
        if field.get("type") == "checkbox" and field.has_attr("checked"):
            found[name] = sorted([*found.get(name, ()), field.get("value", "y")])
        elif field.name == "select" and field.select_one("[selected]"):
            found[name] = field.select_one("[selected]")["value"]
        elif field.get("type") != "checkbox" and field.name == "input":
            found[name] = field.get("value")
    return {name: value for name, value in found.items() if value not in ("", None)}


def as_lists(fields):
    ticked = ("agree", "choice")
    return {
        name: [value] if name in ticked and isinstance(value, str) else value
        for name, value in fields.items()
        # A button; an order of one's own, of which the places are filled in.
        if name != "settle" and value != "own"
    }


def rows(session):
    session.rollback()
    return session.query(Participant).count(), session.query(StoredResponse).count()


@pytest.mark.parametrize("token", ["", "old"])
def test_an_expired_form_comes_back_filled_in_and_works_when_sent_again(
    visitor, session, token, measured
):
    for page, path, fields, onward in WAY:
        visitor.open(page)
        before = rows(session)
        visitor.submit(path, **{"csrf_token": token, **fields})
        assert rows(session) == before, path
        assert visitor.status == 400, path
        assert "The page had been open for too long." in visitor.text, path
        if path in ("/practice", "/leave", "/practice/check"):  # a button, pressed again
            visitor.submit(path)
        else:
            assert filled_in(visitor, path) == as_lists(fields), path
            visitor.insist(path, **fields)
        assert (visitor.status, visitor.path) == (200, onward), path
    measured(
        f"{len(WAY)} forms with the token {token!r} came back filled in, and then went through"
    )


def test_a_tick_under_another_text_is_not_kept(visitor):
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", csrf_token="old", consent_version="another", agree="y")
    assert visitor.status == 400
    assert filled_in(visitor, "/consent") == {}


def test_an_expired_code_from_another_device_is_kept(app, visitor):
    visitor.open()
    visitor.submit("/begin")
    code = visitor.page.select_one(".foot .code").text
    phone = Visitor(app.test_client())
    phone.open()
    phone.submit("/resume", csrf_token="old", code=code)
    assert phone.status == 400
    phone.submit("/resume", code=phone.page.select_one("#code")["value"])
    assert phone.path == "/consent"


def test_an_expired_refusal_asks_again(visitor, session):
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/decline", csrf_token="old")
    assert visitor.status == 400
    assert "Not done yet" in visitor.text
    visitor.submit("/decline")
    assert visitor.path == "/declined"


def test_an_expired_stop_says_so_and_can_be_pressed_again(visitor, session):
    visitor.go("/q/1")
    visitor.open("/my-data")
    visitor.submit("/stop", csrf_token="old")
    assert visitor.status == 400
    assert "The page had been open for too long." in visitor.text
    session.expire_all()
    assert session.query(Participant).one().status == "started"
    visitor.submit("/stop")
    assert visitor.path == "/stopped"


def test_what_a_platform_sent_survives_an_expired_begin(visitor):
    visitor._see(visitor.client.get(f"/s/{SLUG}?PROLIFIC_PID=abc"))
    visitor.submit("/begin", csrf_token="old")
    carried = visitor.form("/begin").select_one("[name=PROLIFIC_PID]")
    assert carried["value"] == "abc"


def test_an_expired_own_ranking_is_kept_where_it_comes_first(client, session):
    an_open_study(session, "rank-first", questions=1, columns="after", practice=False)
    visitor = Visitor(client, "rank-first")
    visitor.prepare()
    places = {name: place for name, place in OWN.items() if name != "choice"}
    visitor.submit("/q/1", csrf_token="old", **places)
    assert visitor.status == 400
    assert filled_in(visitor, "/q/1") == places
    visitor.insist("/q/1", **places)
    assert visitor.page.select_one("[name=choice]")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_browser_that_says_not_where_it_comes_from_loses_no_vote(app, study, session, scheme):
    visitor = Visitor(app.test_client())
    visitor.client.environ_base.pop("HTTP_REFERER", None)
    visitor.client.environ_base |= {"wsgi.url_scheme": scheme, "SERVER_PORT": "443"}
    visitor.open()
    for page, path, fields, _ in WAY[:9]:
        visitor.open(page)
        visitor.insist(path, **fields)
        sent = visitor.response.request.headers
        assert "Referer" not in sent
        assert "Origin" not in sent
    assert visitor.path == "/done"
    assert rows(session) == (1, 2)


def test_only_a_form_that_is_shown_has_its_token_signed(visitor, monkeypatch):
    signed = []
    token = forms.generate_csrf
    monkeypatch.setattr(forms, "generate_csrf", lambda: signed.append(1) or token())
    visitor.open()
    visitor.submit("/begin")
    assert signed  # the page of consent shows its form
    signed.clear()
    visitor.submit("/consent", agree="y", follow=False)
    assert visitor.status == 303
    assert not signed
