"""Promise 4: nobody gets in from outside at any moment, and a link lets one person in, once."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, BrokenBarrierError

import pytest
from flask.testing import FlaskClient

from survey.app import create_app, db
from survey.config import Settings
from survey.db.models import Researcher, SignIn, now
from survey.services import accounts
from survey.services.operations.database import upgrade_database
from tests.builders import KEY, RESEARCHER_COOKIE, an_open_study
from tests.promises.cast import CANARY, PASSWORD, QUICK, as_told, csrf_of
from tests.promises.permissions import ROWS

pytestmark = pytest.mark.slow

TRIED = [("admin", "admin"), ("researcher", "researcher"), ("researcher", ""), ("root", "root")]
TRIED += [("researcher", "password"), ("owner", "owner"), ("Ada", "Ada")]
SIGN_IN = next(one for one in ROWS if (one.method, one.address) == ("POST", "/research/sign-in"))
SIGNED_OUT = {"in", "401", "404"}
OPEN = {
    "GET /research/sign-in": {"200"},
    "POST /research/sign-in": {"400", "403", "429"},
    "POST /research/sign-out": {">sign-in"},
}


def nothing_yet(engine, session):
    """Before `survey init`: there is a file at most."""


def nobody_yet(engine, session):
    upgrade_database(engine)


def a_study_of_nobody(engine, session):
    upgrade_database(engine)
    an_open_study(session, "my-open", questions=1, title=f"{CANARY['my']} title")


def a_link_is_out(engine, session):
    a_study_of_nobody(engine, session)
    accounts.ensure_researcher(session)


def a_link_is_too_old(engine, session):
    a_link_is_out(engine, session)
    for link in session.query(accounts.SignInLink):
        link.expires_at = now() - timedelta(minutes=1)
    session.commit()


def everything_is_set_up(engine, session):
    a_study_of_nobody(engine, session)
    _, token = accounts.add_researcher(session, "Ada")
    accounts.set_password(session, token, PASSWORD)


MOMENTS = [
    nothing_yet,
    nobody_yet,
    a_study_of_nobody,
    a_link_is_out,
    a_link_is_too_old,
    everything_is_set_up,
]


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch):
    monkeypatch.setattr(accounts, "hasher", QUICK)


@pytest.fixture
def at_a_moment(tmp_path):
    """Make the application on an SQLite database at a moment of its life."""
    app = create_app(Settings(tmp_path, f"sqlite:///{tmp_path / 'survey.sqlite3'}", KEY))

    def made(moment):
        with app.app_context():
            moment(db.engine, db.session)
            db.session.remove()
        return app

    yield made
    with app.app_context():
        db.engine.dispose()


def knock(client, row):
    """Ask for a row's address as somebody who knows the addresses and nothing else."""
    address = re.sub(r"\{\w+\}", "1", row.address)
    fields = {"name": "researcher", "password": PASSWORD, "again": PASSWORD}
    data = {**dict.fromkeys(row.form, "1"), **fields, "csrf_token": csrf_of(client)}
    data = data if row.method == "POST" else None
    return client.open(address, method=row.method, data=data, buffered=True)


def require_signed_out(row, answer, busy=()):
    cookies = [
        one
        for one in answer.headers.getlist("Set-Cookie")
        if one.startswith(f"{RESEARCHER_COOKIE}=")
    ]
    assert all(one.startswith(f"{RESEARCHER_COOKIE}=;") for one in cookies), row
    if row.address.startswith("/research"):
        allowed = OPEN.get(f"{row.method} {row.address}", SIGNED_OUT)
        assert as_told(answer) in {*allowed, *busy}, row
        assert CANARY["my"] not in answer.get_data(as_text=True), row


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda one: one.__name__)
def test_at_no_moment_does_a_crawler_get_a_researchers_answer(at_a_moment, moment, measured):
    app = at_a_moment(moment)
    with app.app_context():
        before = passwords() if moment is not nothing_yet else None
    busy = ("503",) if moment is nothing_yet else ()
    for row in ROWS:
        require_signed_out(row, knock(app.test_client(), row), busy)
    for name, password in TRIED:
        client = app.test_client()
        typed = {"name": name, "password": password, "csrf_token": csrf_of(client)}
        require_signed_out(SIGN_IN, client.post("/research/sign-in", data=typed), busy)
    with app.app_context():
        assert moment is nothing_yet or passwords() == before
    if moment is everything_is_set_up:
        measured(
            f"Crawled anonymously at {len(MOMENTS)} moments, from the first start to everything "
            f"set up: {len(ROWS)} requests and {len(TRIED)} guesses at each, 0 answers that only "
            "a researcher gets."
        )


def passwords():
    """Who can sign in, and who is."""
    found = {one.name: one.password_hash for one in db.session.query(Researcher)}
    signed_in = db.session.query(SignIn).count()
    db.session.remove()
    return found, signed_in


def use(client, token, password=PASSWORD):
    """Send the form of a link."""
    fields = {"password": password, "again": password, "csrf_token": csrf_of(client)}
    return client.post(f"/research/welcome/{token}", data=fields).status_code


@pytest.fixture
def link(session):
    token = accounts.add_researcher(session, "Ada")[1]
    session.rollback()
    return token


class TestOfOneDatabase:
    """What does not depend on the database."""

    @pytest.fixture
    def database_uri(self, tmp_path):
        return f"sqlite:///{tmp_path / 'survey.sqlite3'}"

    def test_a_link_is_good_once(self, app, link):
        assert use(app.test_client(), link) == 303
        assert use(app.test_client(), link) == 404
        assert app.test_client().get(f"/research/welcome/{link}").status_code == 404

    def test_looking_at_a_link_does_not_use_it_up(self, app, link):
        for _ in range(3):
            assert app.test_client().get(f"/research/welcome/{link}").status_code == 200
        assert use(app.test_client(), link) == 303

    @pytest.mark.parametrize(("minutes", "status"), [(29, 303), (31, 404)])
    def test_a_link_is_good_for_half_an_hour(self, app, link, monkeypatch, minutes, status):
        monkeypatch.setattr(accounts, "now", lambda: now() + timedelta(minutes=minutes))
        assert use(app.test_client(), link) == status

    def test_only_the_newest_link_is_good(self, app, session, link):
        newer = accounts.new_link(session, accounts.find_researcher(session, "Ada"))
        session.rollback()
        assert use(app.test_client(), link) == 404
        assert use(app.test_client(), newer) == 303

    def test_a_new_password_by_link_ends_every_session(self, app, session, link):
        client = app.test_client()
        assert use(client, link) == 303
        newer = accounts.new_link(session, accounts.find_researcher(session, "Ada"))
        session.rollback()
        assert use(app.test_client(), newer, f"{PASSWORD} more") == 303
        assert client.get("/research/").status_code == 303


def test_two_uses_of_a_link_at_once_set_one_password(app, session, link, monkeypatch, measured):
    both = Barrier(2)

    class Meeting:
        """Hashes once both have come as far, if the second can before the first is done."""

        def hash(self, password):
            try:
                both.wait(1)
            except BrokenBarrierError:
                both.abort()
            return QUICK.hash(password)

    monkeypatch.setattr(accounts, "hasher", Meeting())
    words = ["first of four words", "second of four words"]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda word: use(FlaskClient(app), link, word), words))
    assert sorted(found) == [303, 404]
    session.expire_all()
    monkeypatch.setattr(accounts, "hasher", QUICK)
    stored = accounts.find_researcher(session, "Ada").password_hash
    right = [accounts.is_password(stored, word) for word in words]
    assert right == [status == 303 for status in found]
    measured(
        f"A sign-in link used twice at once on {session.get_bind().dialect.name}: one password "
        "was set, the other refused."
    )
