"""A survey in which every role has something: two owners, two studies of each kind, one file."""

import re
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from argon2 import PasswordHasher

from survey import tokens
from survey.app import create_app, db
from survey.config import Settings
from survey.core.studies.rankings import Ranking
from survey.db.models import SignIn
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.operations.database import upgrade_database
from survey.services.participation import answers, participants
from survey.services.participation.participants import Arrival
from survey.services.studies import lifecycle, publications, recruitment
from survey.services.studies.publications import Details
from tests.builders import KEY, RESEARCHER_COOKIE, a_plan
from tests.secret_album import publish_album

PASSWORD = "a row of four words"
ROLES = ("anonymous", "own", "foreign", "none", "viewer", "owner", "stranger")
SIGNED_IN = ("none", "viewer", "owner", "stranger")
BROWSERS = {"own": "the browser of my-open", "foreign": "the browser of their-open"}
QUICK = PasswordHasher(time_cost=1, memory_cost=64)
# Words that stand in everything of a study, so that a byte of it is seen wherever it turns up.
CANARY = {"my": "Kestrel", "their": "Osprey"}
STATES = ("draft", "open", "closed")


class World:
    """A prepared database, put back before each request that may have changed it."""

    def __init__(self, folder):
        self.prepared, self.file = Path(folder, "prepared.sqlite3"), Path(folder, "live.sqlite3")
        self.app = create_app(Settings(folder, f"sqlite:///{self.file}", KEY))
        self.ids, self.tokens = {}, {}
        self._observer, self._seen = None, (None, {})
        with self.app.app_context():
            upgrade_database(db.engine)
            self._fill(db.session)
            db.session.remove()
        self.let_go()
        shutil.copy(self.file, self.prepared)
        self.before = self.content()

    def let_go(self):
        """Close every connection, so that the file holds everything."""
        if self._observer:
            self._observer.close()
        self._observer = None
        with self.app.app_context():
            db.engine.dispose()

    def restore(self):
        """Put the prepared database back."""
        self.let_go()
        for ending in ("-wal", "-shm"):
            self.file.with_name(self.file.name + ending).unlink(missing_ok=True)
        shutil.copy(self.prepared, self.file)

    def content(self):
        """All rows of all tables; but when a researcher was last seen, which a GET may note.

        They are read again only where another connection has written since.
        """
        if not self._observer:
            self._observer, self._seen = sqlite3.connect(self.file), (None, {})
        (version,) = self._observer.execute("PRAGMA data_version").fetchone()
        if version != self._seen[0]:
            self._seen = (version, _rows_of_all_tables(self._observer))
        return self._seen[1]

    def client(self, role):
        """A browser of someone in that role."""
        client = self.app.test_client()
        if role in BROWSERS:
            with client.session_transaction() as cookie:
                cookie["id"] = BROWSERS[role]
        if role in SIGNED_IN:
            client.set_cookie(RESEARCHER_COOKIE, self.tokens[role], path="/research")
        return client

    def named(self, slug, text):
        """A text with the ids of what a study has in place of their names in braces."""
        own = {name.partition(":")[2]: one for name, one in self.ids.items() if slug in name}
        return text.format(**{**self.ids, **own})

    def address_of(self, row):
        """Where a row's request goes."""
        return self.named(row.slug, row.address)

    def send(self, client, row, method=None, csrf=None):
        """Send a row's request as someone would who may; ``csrf``: another token, or none."""
        method, form = method or row.method, None
        if method == "POST":
            form = {name: self.named(row.slug, value) for name, value in row.form.items()}
            form["csrf_token"] = csrf_of(client) if csrf is None else csrf
        return client.open(self.address_of(row), method=method, data=form, buffered=True)

    def _fill(self, session):
        people = {name: _researcher(session, name) for name in SIGNED_IN}
        self.ids["newcomer"] = accounts.add_researcher(session, "newcomer")[1]
        for side, owner in (("my", "owner"), ("their", "stranger")):
            for state in STATES:
                study = _study(session, f"{side}-{state}", people[owner], CANARY[side])
                if side == "my":
                    accounts.share(session, study, people["viewer"], "viewer")
                if state != "draft":
                    self._take_part(session, study, side)
                if state == "closed":
                    lifecycle.close_study(session, study, owner)
                session.commit()
        self._publish(session, people)
        with TemporaryDirectory() as folder:
            publish_album(session, Path(folder))
        self.ids |= {name: str(one.id) for name, one in people.items()}
        self.tokens = {name: accounts.new_session(session, one) for name, one in people.items()}
        _seen_two_minutes_ago(session)

    def _publish(self, session, people):
        study = _study(session, "my-public", people["owner"], CANARY["my"])
        accounts.share(session, study, people["viewer"], "viewer")
        lifecycle.open_study(session, study, "owner")
        for number in range(publications.FEWEST_PEOPLE):
            participant = participants.begin(session, study, f"browser {number} of my-public", KEY)
            _answer_everything(session, study, participant, CANARY["my"])
        lifecycle.close_study(session, study, "owner")
        details = Details(f"{CANARY['my']} title", "Lovelace, Ada", "")
        publications.publish(session, study, "owner", details)

    def _take_part(self, session, study, side):
        recruitment.add_guests(session, study, [f"{CANARY[side]} guest", f"{CANARY[side]} begun"])
        waiting, begun = recruitment.guests_of(session, study)
        lifecycle.open_study(session, study, "owner")
        token = BROWSERS["own" if side == "my" else "foreign"]
        arrival = Arrival(
            recruitment.link_token(KEY, begun), {"PROLIFIC_PID": f"{CANARY[side]} pid"}
        )
        one = participants.begin(session, study, token, KEY, arrival)
        key = _answer_everything(session, study, one, CANARY[side])
        names = {
            "participant": one.public_id,
            "guest": str(waiting.id),
            "link": recruitment.link_token(KEY, waiting),
            "code": tokens.resume_code(KEY, one.public_id),
            "consent": participants.consent_text(session, study).digest,
            "key1": key,
        }
        self.ids |= {f"{study.slug}:{name}": value for name, value in names.items()}


def csrf_of(client):
    """A token that is good for every form in this browser."""
    page = client.get("/research/sign-in").get_data(as_text=True)
    return re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)[1]


def as_told(answer):
    """An answer as the table of permissions writes it."""
    if not 300 <= answer.status_code < 400:
        return str(answer.status_code)
    path = urlsplit(answer.location).path
    if path == "/research/sign-in" and answer.request.method in ("GET", "HEAD"):
        return "in"
    folder, _, last = path.rstrip("/").rpartition("/")
    return ">entry" if folder == "/s" else f">{last}"


def _rows_of_all_tables(connection):
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {table: _rows_of(connection, table) for (table,) in tables}


def _rows_of(connection, table):
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    if table == "sign_in":
        names.remove("last_seen_at")
    rows = connection.execute(f"SELECT {', '.join(names)} FROM {table}")
    return {tuple(zip(names, row, strict=True)) for row in rows}


def _researcher(session, name):
    researcher, _ = accounts.add_researcher(session, name)
    researcher.password_hash = QUICK.hash(PASSWORD)
    session.commit()
    return researcher


def _study(session, slug, owner, canary):
    plan = a_plan(
        questions=1,
        title=f"{canary} title",
        consent=f"{canary} consent",
        contact=f"{canary} contact, group@x.example",
        scenario=f"{canary} scenario",
        personal_fields=[{"name": "remark", "label": f"{canary} label", "kind": "text"}],
    )
    settings = recruitment.Recruitment(code_complete=f"{canary}-code")
    return lifecycle.create_owned_study(session, owner, slug, plan, settings)


def _answer_everything(session, study, one, canary):
    """Go as far as the review; return the submission key of a further change."""
    participants.agree(session, one, participants.consent_text(session, study).digest)
    participants.store_personal_answers(session, study, one, {"remark": f"{canary} remark"})
    participants.confirm_scenario(session, one)
    shown = answers.find_presentation(session, one.study.plan, one, 1)
    answer = OrderingAnswer(frozenset(), Ranking.parse("A>B>C>D>E"))
    key = answers.next_key(KEY, shown)
    answers.save_answer(session, KEY, one.study.plan, one, 1, answer, key)
    shown = answers.find_presentation(session, one.study.plan, one, 1)
    if study.slug.endswith("closed"):
        participants.finish(session, one)
    session.commit()
    return answers.next_key(KEY, shown)


def _seen_two_minutes_ago(session):
    """So that the next GET of each researcher is one that is noted."""
    for one in session.query(SignIn):
        one.last_seen_at -= timedelta(minutes=2)
    session.commit()
