"""Promise 7: participants decide over their data."""

import errno
import json
import logging
import os
import re
import resource
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from flask import url_for
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from survey import app as application
from survey.core.kinds import KINDS
from survey.db.models import (
    Base,
    ConsentText,
    Erasure,
    Event,
    Guest,
    Identity,
    Participant,
    Presentation,
    StoredResponse,
)
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.exchange import bundle
from survey.services.exchange.tables import stored_tables
from survey.services.operations import upkeep
from survey.services.operations.backups import restore_backup, write_backup
from survey.services.operations.doctor import check_upkeep
from survey.services.participation import own_data
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import Recruitment
from tests.at_once import AtOnce
from tests.builders import SLUG, Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE
from tests.promises.filled import everything_in

ON_POSTGRESQL = pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
AGE, CANARY, PLATFORM_ID = "87", "Quokka-Zephyr-Blintz", "PROLIFIC-5f1e-canary"
FIELDS = (
    {"name": "age", "label": "Your age in years", "kind": "number", "lowest": 16, "highest": 110},
    {"name": "job", "label": "What you do", "kind": "text"},
)


@pytest.fixture
def study(session):
    """A study with a free text about oneself, to which a platform sends people."""
    plan = a_plan(personal_fields=FIELDS)
    made = lifecycle.create_study(session, SLUG, plan)
    settings = Recruitment(id_parameter="PROLIFIC_PID", capture=("SESSION_ID",))
    made.recruitment = settings.as_json()
    lifecycle.open_study(session, made)
    return made


@pytest.fixture
def visitor(client, study):
    """Someone who has answered two of three questions, and said much about themselves."""
    visitor = Visitor(client)
    query = f"?PROLIFIC_PID={PLATFORM_ID}&SESSION_ID=session-{CANARY}"
    visitor.go("/q/1", query=query, age=AGE, job=CANARY)
    visitor.insist("/q/1", choice="own", rank_A=3, rank_B=1, rank_C=1, rank_D=4, rank_E=5)
    visitor.submit("/q/2", choice="2")
    return visitor


def code_of(visitor):
    visitor.open("/my-data")
    return visitor.page.select_one(".code").get_text()


def bundle_bytes(session, study, **options):
    session.rollback()
    return b"".join(bundle.stream_bundle(session, study, **options))


def everything_stored(session):
    """All cells of all tables as one text."""
    session.rollback()
    return "\n".join(
        str(row) for table in Base.metadata.sorted_tables for row in session.execute(table.select())
    )


def test_a_participant_sees_all_that_is_stored_about_them(visitor, session):
    visitor.open("/my-data")
    someone = session.query(Participant).one()
    for told in (someone.public_id, AGE, CANARY, PLATFORM_ID, "B = C > A > D > E", "Method 2"):
        assert told in visitor.text
    assert "Version 1 of the text" in visitor.text


def test_they_take_it_along_as_one_file_without_what_would_unblind_it(visitor, session):
    visitor.submit("/q/3", choice="1")
    answer = visitor.client.get(f"/s/{SLUG}/my-data.json")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="my-data-{SLUG}.json"'
    data = json.loads(answer.text)
    assert data["about_you"] == {"age": int(AGE), "job": CANARY}
    assert data["sent_by_a_platform"]["PROLIFIC_PID"] == PLATFORM_ID
    assert data["questions"][0]["answers"][0]["own_ordering"] == "B=C>A>D>E"
    assert [one["question"] for one in data["questions"]] == [1, 2, 3]
    for measure in ("MNRO", "NMRR", '"AP"'):
        assert measure not in answer.text


def test_every_column_about_a_participant_is_in_the_file(visitor, session):
    data = visitor.client.get(f"/s/{SLUG}/my-data.json").text
    someone = session.query(Participant).one()
    left_out = {"resume_hash"}  # the code it was made of is on the page
    for column in Participant.__table__.columns:
        value = getattr(someone, column.name)
        written = value.isoformat() if isinstance(value, datetime) else value
        if isinstance(written, str) and column.name not in left_out:
            assert written in data, column.name


def test_the_code_is_enough_on_another_device_and_after_the_end(app, visitor, session):
    code = code_of(visitor)
    visitor.open("/q/3")
    visitor.submit("/q/3", choice="1")
    visitor.submit("/review")
    assert visitor.path == "/done"
    visitor.open("/my-data")
    assert code in visitor.text
    lifecycle.close_study(session, lifecycle.find_study(session, SLUG))
    elsewhere = Visitor(app.test_client())
    elsewhere.open("/my-data")
    elsewhere.submit("/my-data", code=code.lower())
    assert elsewhere.path == "/my-data"
    assert CANARY in elsewhere.text


def test_knowing_an_id_shows_and_changes_nothing_of_its_person(app, visitor, session, measured):
    code, before, asked = code_of(visitor), everything_stored(session), 0
    with app.test_request_context():
        doors = [
            (url_for(rule.endpoint, **dict.fromkeys(rule.arguments, 1) | {"slug": SLUG}), method)
            for rule in app.url_map.iter_rules()
            if str(rule.endpoint).startswith("participant.")
            for method in rule.methods & {"GET", "POST"}
        ]
    for address, method in doors:
        stranger = Visitor(app.test_client())
        stranger.open(f"?PROLIFIC_PID={PLATFORM_ID}")
        token = stranger.page.select_one("[name=csrf_token]")["value"]
        filled_in = {"csrf_token": token, "sure": "y", "choice": "1", "age": "33", "agree": "y"}
        answer = stranger.client.open(
            address,
            method=method,
            query_string={"PROLIFIC_PID": PLATFORM_ID},
            data=filled_in | {"PROLIFIC_PID": PLATFORM_ID} if method == "POST" else None,
            follow_redirects=True,
        )
        assert CANARY not in answer.text, address
        assert code not in answer.text, address
        stranger.open("/my-data.json")
        assert CANARY not in stranger.text, address
        asked += 3
    assert everything_stored(session) == before
    measured(
        f"{asked} requests to all {len(doors)} routes and methods of participants by browsers that "
        "know the platform's id of a person: nothing of that person shown, 0 rows changed"
    )


def test_an_id_belongs_to_the_browser_that_first_agrees_with_it(app, session, study):
    """What docs/promises.md says of people who come with the id of another."""
    person, stranger = Visitor(app.test_client()), Visitor(app.test_client())
    link = f"?PROLIFIC_PID={PLATFORM_ID}"
    for visitor in (person, stranger, person):  # each beginning replaces the one before
        visitor.open(link)
        visitor.submit("/begin")
        assert visitor.path == "/consent"
        session.rollback()
        assert session.query(Participant).count() == 1
    stranger.open("/consent")
    assert stranger.path == ""  # nothing of the one who began after them
    stranger.open(link)
    stranger.submit("/begin")
    stranger.submit("/consent", agree="y")
    stranger.submit("/about-you", age=AGE, job=CANARY)
    person.open(link)
    assert "Someone has begun this survey with the id in your link" in person.text
    assert not person.page.select("form[action$=begin]")
    assert CANARY not in person.text
    # With the code, which the owner can look up, the person deletes that, and takes part.
    person.submit("/resume", code=code_of(stranger))
    person.open("/my-data")
    person.submit("/erase", sure="y")
    person.open(link)
    person.submit("/begin")
    person.submit("/consent", agree="y")
    assert person.path == "/about-you"
    session.rollback()
    assert session.query(Identity).one().external_id == PLATFORM_ID
    stranger.open("/about-you")
    assert stranger.path == ""


def test_a_code_that_is_nobodys_shows_nothing(app, visitor):
    stranger = Visitor(app.test_client())
    stranger.open("/my-data")
    stranger.submit("/my-data", code="AAAAA-BBBBB-CCCC")
    assert stranger.status == 404
    assert CANARY not in stranger.text
    assert "does not belong to anyone" in stranger.text


def test_whoever_stops_is_asked_nothing_more_and_keeps_their_answers(visitor, session):
    visitor.open("/q/3")
    page = visitor.page
    visitor.open("/my-data")
    visitor.submit("/stop")
    assert visitor.path == "/stopped"
    visitor.open("/q/3")
    assert visitor.path == "/stopped"
    visitor.page, visitor.address = page, f"/s/{SLUG}/q/3"
    visitor.submit("/q/3", choice="1")
    assert visitor.path == "/stopped"
    session.rollback()
    assert session.query(Participant).one().status == "stopped"
    assert session.query(StoredResponse).count() == 2


def test_deleting_everything_takes_a_tick(visitor, session):
    visitor.open("/my-data")
    visitor.submit("/erase")
    assert visitor.status == 400
    assert "tick that you are sure" in visitor.text
    session.rollback()
    assert session.query(Participant).count() == 1


def test_nothing_is_left_of_whoever_deletes_everything(
    app, visitor, session, engine, study, tmp_path, measured
):
    lifecycle.exclude(session, study, session.query(Participant).one(), "ada", f"reason {CANARY}")
    public_id = session.query(Participant).one().public_id
    session.rollback()
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert visitor.path == "/erased"
    stored = everything_stored(session)
    exported = bundle_bytes(session, study, with_identities=True)
    traces = [CANARY, PLATFORM_ID, public_id, f"'age': {AGE}"]
    for trace in traces:
        assert trace not in stored
        assert trace.encode() not in exported
    assert session.query(StoredResponse).count() == 0
    assert session.query(Event).filter_by(kind="erased").count() == 1
    session.rollback()
    files = [one for one in tmp_path.iterdir() if one.is_file()]
    for file in files:
        for trace in traces[:3]:
            assert trace.encode() not in file.read_bytes(), file.name
    if engine.dialect.name == "sqlite":
        assert {one.name for one in files} >= {"survey.sqlite3", "erased.txt"}
        measured(
            f"{len(traces)} traces of an erased participant looked for in {len(files)} files "
            "(database, log, ledger) and in a new export: 0 found"
        )


def test_a_forgotten_form_of_an_erased_participant_is_nobodys(visitor, session):
    """The next participant may get the same row numbers, and sees other labels."""
    visitor.open("/q/2")
    forgotten, numbers = visitor.page, {one.id for one in session.query(Presentation)}
    session.rollback()
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    visitor.go("/q/1", query=f"?PROLIFIC_PID={PLATFORM_ID}", age=AGE, job=CANARY)
    visitor.submit("/q/1", choice="2")
    if session.get_bind().dialect.name == "sqlite":
        assert {one.id for one in session.query(Presentation)} == numbers
    session.rollback()
    visitor.page, visitor.address = forgotten, f"/s/{SLUG}/q/2"
    visitor.submit("/q/2", choice="3")
    assert visitor.status == 409
    assert session.query(StoredResponse).count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("ledger", [True, False], ids=["ledger", "no ledger"])
def test_whoever_was_erased_is_erased_again_from_an_older_backup(
    visitor, session, engine, tmp_path, ledger
):
    backup = tmp_path / "older.sqlite3"
    session.rollback()
    write_backup(engine, backup)
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    if not ledger:  # the database that is replaced knows as well
        (tmp_path / own_data.LEDGER).unlink()
    session.rollback()
    _, _, erased = restore_backup(engine, backup, tmp_path, replace=True)
    assert erased == 1
    assert CANARY not in everything_stored(session)
    assert session.query(Participant).count() == 0
    assert session.query(Erasure).count() == 1
    if engine.dialect.name == "sqlite":
        session.rollback()
        own_data.empty_log(session)
        for file in tmp_path.glob("survey.sqlite3*"):
            assert CANARY.encode() not in file.read_bytes()


TOKENS = st.lists(st.text("0123456789abcdef", min_size=64, max_size=64), max_size=4)


# A digit in the block could make a token of half of one.
BLOCKS = st.binary(max_size=9).map(lambda block: block.translate(None, b"0123456789abcdef"))


@example([], 1, b"", ["0" * 64])  # a first write of one byte
@given(TOKENS, st.integers(0, 65), BLOCKS, TOKENS)
def test_what_was_noted_is_read_after_a_write_that_was_cut_off(before, cut, block, after):
    """``block``: what a file system may put where nothing had been written yet."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        own_data._note(folder, before)
        torn = f"{'5' * 64}\n".encode()[:cut] + block
        with (folder / own_data.LEDGER).open("ab") as file:
            file.write(torn)
        own_data._note(folder, after)
        assert {*before, *after} <= own_data._noted(folder) <= {*before, *after, "5" * 64}


def fail(*_):
    raise OSError(errno.EIO, "this disk is broken")


def test_a_note_that_fails_leaves_the_ledger_as_it_was(tmp_path, monkeypatch):
    own_data._note(tmp_path, ["a1" * 32])
    before = (tmp_path / own_data.LEDGER).read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="this disk is broken"):
            own_data._note(tmp_path, ["b2" * 32])
    assert (tmp_path / own_data.LEDGER).read_bytes() == before


def test_a_disk_that_takes_half_a_token_has_none_of_it_afterwards(tmp_path):
    own_data._note(tmp_path, ["a1" * 32])
    before = (tmp_path / own_data.LEDGER).read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 30, limit[1]))
    try:
        with pytest.raises(OSError, match="No space left"):
            own_data._note(tmp_path, ["b2" * 32])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert (tmp_path / own_data.LEDGER).read_bytes() == before


def test_nobody_is_erased_whose_erasure_cannot_be_noted(visitor, session, tmp_path, caplog):
    (tmp_path / own_data.LEDGER).mkdir()
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert visitor.status == 503
    assert "could not write a file, so nothing was changed" in visitor.text
    assert own_data.LEDGER in caplog.text
    session.rollback()
    assert session.query(Participant).count() == 1
    (tmp_path / own_data.LEDGER).rmdir()
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert visitor.path == "/erased"


class StopError(Exception):
    """Ends the server's background work."""


def test_what_a_busy_database_keeps_from_being_deleted_is_tried_again_at_once(app, monkeypatch):
    tries, rounds = [], []

    def drop_due(_):
        tries.append(True)
        if len(tries) < 3:
            raise OperationalError("", None, Exception("database is locked"))

    def sleep(_):
        rounds.append(True)
        if len(rounds) == 5:
            raise StopError

    monkeypatch.setattr(own_data, "drop_due", drop_due)
    monkeypatch.setattr(application, "sleep", sleep)
    with pytest.raises(StopError):
        application.delete_due_data(app)
    assert len(tries) == 3  # the third was done, so the next is an hour away


def test_a_copy_that_a_restore_left_is_deleted_when_it_was_said(
    app, visitor, session, engine, tmp_path, monkeypatch
):
    """Everything in the instance folder is searched for what an erased person wrote."""

    def holding():
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        return {path.name.split("-")[0] for path in files if CANARY.encode() in path.read_bytes()}

    def sleep(_):
        raise StopError

    backup = tmp_path.parent / "earlier.sqlite3"
    write_backup(engine, backup)
    session.rollback()
    restore_backup(engine, backup, tmp_path, replace=True)
    (tmp_path / ".restore-killed").mkdir()
    (tmp_path / ".restore-killed/staged.sqlite3").write_bytes(CANARY.encode())
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert visitor.path == "/erased"
    monkeypatch.setattr(application, "sleep", sleep)
    with pytest.raises(StopError):
        application.delete_due_data(app)
    assert holding() == {"before", "staged.sqlite3"}
    assert "for 7 days, then it deletes it" in app.test_client().get("/what-is-stored").text
    past = (datetime.now(UTC) - timedelta(days=7, seconds=1)).timestamp()
    for path in tmp_path.iterdir():
        os.utime(path, (past, past))
    with pytest.raises(StopError):
        application.delete_due_data(app)
    assert holding() == set()
    session.rollback()
    assert session.query(Participant).count() == 0


def test_no_fault_ends_the_background_work_and_a_late_deletion_is_said(app, monkeypatch, tmp_path):
    moments, tries = [datetime(2027, 7, 1, tzinfo=UTC)], []

    def drop_due(_):
        tries.append(True)
        if len(tries) < 3:
            raise OverflowError("date value out of range")
        return own_data.Due([], ["other"] if len(tries) == 3 else [])

    def sleep(_):
        moments.append(moments[-1] + timedelta(hours=2))
        said.append(client.get("/readyz").json["status"])
        if len(tries) == 4:
            raise StopError

    client, said = app.test_client(), []
    monkeypatch.setattr(own_data, "drop_due", drop_due)
    monkeypatch.setattr(upkeep, "now", lambda: moments[-1])
    monkeypatch.setattr(application, "monotonic", lambda: 3601.0 * len(moments))
    monkeypatch.setattr(application, "sleep", sleep)
    assert client.get("/readyz").status_code == 200
    with pytest.raises(StopError):
        application.delete_due_data(app)
    assert said == [
        "ready",
        "what is due was last deleted 4 hours ago; that is done each hour",
        "personal data that are due could not be deleted in other; the log says why",
        "ready",
    ]
    moments.append(moments[-1] + timedelta(hours=9))
    assert client.get("/readyz").status_code == 503
    assert check_upkeep(tmp_path).level == "warning"


@pytest.mark.slow
@ON_SQLITE
def test_an_erasure_beside_a_reader_is_said_to_be_done_when_it_is(
    app, visitor, engine, tmp_path, monkeypatch, measured
):
    tries = []

    def left():
        return [file for file in tmp_path.iterdir() if CANARY.encode() in file.read_bytes()]

    def sleep(_):
        tries.append(len(left()))
        if len(tries) == 3:
            reader.close()
        if len(tries) == 4:
            raise StopError

    reader = engine.connect().execution_options(sqlite_begin="DEFERRED")
    reader.execute(text("SELECT * FROM participant")).all()  # keeps its view until it is closed
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert visitor.path == "/erased"
    assert "Your data are being deleted" in visitor.text
    monkeypatch.setattr(application, "sleep", sleep)
    with pytest.raises(StopError):  # also what a process does that starts now
        application.delete_due_data(app)
    assert tries[2] > 0
    assert left() == []
    visitor.open("/erased")
    assert "Everything is deleted" in visitor.text
    measured(
        "An erasure while a reader keeps its view of SQLite: the page said “being deleted” until "
        f"the log was emptied, at try {len(tries)}; 0 traces in the files afterwards"
    )


@pytest.fixture
def beside_a_restore(app, study, session, engine, tmp_path):
    """Return a function that runs a request while a restore is undone.

    The visitor who sends it has the row number that "the first person" has in the backup.
    """
    empty = tmp_path / "empty.sqlite3"
    session.rollback()
    write_backup(engine, empty)
    Visitor(app.test_client()).go("/scenario", age="33", job="the first person's")
    backups = []

    def run(request, statement):
        """Stop before a statement of ``request(visitor)``; return its result, and whether met."""
        backups.append(restore_backup(engine, empty, tmp_path, replace=True)[1])
        visitor = Visitor(app.test_client())
        visitor.go("/about-you")
        both = AtOnce(engine)
        result, restored = both.run(
            lambda: request(visitor),
            lambda: restore_backup(engine, backups[0], tmp_path, replace=True),
            *(statement, 3.0),
        )
        assert not isinstance(restored, Exception), restored
        return result, both.reached

    return run


@pytest.mark.trial
@ON_POSTGRESQL
def test_undoing_a_restore_beside_a_form_puts_no_data_into_the_row_of_another(
    beside_a_restore, engine, measured
):
    first, met = everything_in(engine)["participant"], 0

    def send(visitor):
        visitor.submit("/about-you", age=AGE, job=CANARY)
        return visitor.status

    for statement in range(2, 6):
        status, reached = beside_a_restore(send, statement)
        assert status in (200, 404)
        assert everything_in(engine)["participant"] == first
        met += reached
    measured(
        f"PostgreSQL: a restore undone {met} times while someone else with the same row number "
        "sent “About you”, each time one statement later: 0 data in the row of another"
    )


@pytest.mark.trial
@ON_POSTGRESQL
def test_undoing_a_restore_beside_a_page_shows_no_data_of_another(beside_a_restore, measured):
    met = 0
    for path, statement in product(("/my-data", "/my-data.json", "/about-you"), range(1, 6)):

        def open_page(visitor, path=path):
            return visitor.client.get(f"{visitor.home}{path}").text

        shown, reached = beside_a_restore(open_page, statement)
        assert "the first person" not in str(shown), (path, statement)
        met += reached
    measured(
        f"PostgreSQL: a restore undone {met} times while someone else with the same row number "
        "opened a page about themselves, each time one statement later: 0 pages with data of "
        "another"
    )


def test_an_event_still_cannot_be_changed_otherwise(visitor, session, study):
    lifecycle.exclude(session, study, session.query(Participant).one(), "ada", "too fast")
    with pytest.raises(Exception, match="never changed or removed"):
        session.execute(text("UPDATE event SET detail = 'nothing happened'"))


def test_the_consent_is_tied_to_the_text_that_was_read(visitor, session, study):
    someone = session.query(Participant).one()
    agreed = session.get(ConsentText, someone.consent_id)
    assert (agreed.version, agreed.text) == (1, study.plan.consent)
    assert agreed.digest == sha256(agreed.text.encode()).hexdigest()


def test_what_a_study_does_not_ask_for_is_not_stored(client, session):
    an_open_study(session, personal_fields=())
    visitor = Visitor(client)
    visitor.go("/about-you")
    visitor.submit("/about-you", age="23", education="School")
    session.rollback()
    assert session.query(Participant).one().personal == {}


def test_no_address_and_no_device_is_stored(app, session, study):
    agent, address = "CanaryBrowser/77.1", "203.0.113.77"
    browser = app.test_client()
    browser.environ_base |= {"HTTP_USER_AGENT": agent, "REMOTE_ADDR": address}
    browser.environ_base["HTTP_X_FORWARDED_FOR"] = address
    Visitor(browser).open()
    visitor = Visitor(browser)
    visitor.go("/about-you")
    stored = everything_stored(session)
    assert agent not in stored
    assert address not in stored
    names = {column.name for table in Base.metadata.tables.values() for column in table.columns}
    assert not {name for name in names if "address" in name or "agent" in name or name == "ip"}
    # Nor what tells programs from people by their browser: flags rest on answers and times alone.
    traces = r"fingerprint|pointer|mouse|key_?(stroke|press|down|log)|focus|blur|canvas|plugin"
    assert not [name for name in names if re.search(traces, name)]


@pytest.fixture
def dated(session, client):
    """A participant of a study that drops personal data after 30 June 2027."""
    plan = a_plan(personal_fields=FIELDS, personal_until="2027-06-30")
    made = lifecycle.create_study(session, SLUG, plan)
    made.recruitment = Recruitment(id_parameter="PROLIFIC_PID").as_json()
    lifecycle.open_study(session, made)
    recruitment.add_guests(session, made, ["Grace Hopper"])
    session.commit()
    visitor = Visitor(client)
    visitor.open(f"?PROLIFIC_PID={PLATFORM_ID}")
    visitor.submit("/begin")
    assert "is deleted after June 30, 2027" in visitor.text
    assert "Your answers, and what you write with them, are kept." in visitor.text
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", age=AGE, job=CANARY)
    return made


def at(monkeypatch, *moment):
    """Set the clock by which personal data are deleted."""
    monkeypatch.setattr(own_data, "now", lambda: datetime(*moment, tzinfo=UTC))
    monkeypatch.setattr(accounts, "now", lambda: datetime(*moment, tzinfo=UTC))


def someone_was_there(session, *moment):
    session.query(Participant).update({"last_seen_at": datetime(*moment, tzinfo=UTC)})
    session.commit()


def identifying(session):
    """Which of what identifies the participant is stored."""
    stored = everything_stored(session)
    session.rollback()
    return [trace for trace in (CANARY, PLATFORM_ID, "Grace Hopper") if trace in stored]


@pytest.mark.parametrize(("day", "deleted"), [((6, 30), False), ((7, 1), True)])
def test_what_identifies_people_goes_on_the_day_that_was_announced(
    dated, session, monkeypatch, day, deleted
):
    someone_was_there(session, 2027, 6, 29, 12)
    at(monkeypatch, 2027, *day, 12)
    assert own_data.drop_due(session).deleted == ([SLUG] if deleted else [])
    assert len(identifying(session)) == (0 if deleted else 3)
    assert session.query(Participant).count() == 1
    rows = session.query(Identity).count() + session.query(Guest).count()
    assert rows == (0 if deleted else 2)
    assert own_data.drop_due(session).deleted == []


def test_a_fault_in_one_study_keeps_no_other_study_from_being_done(
    dated, session, monkeypatch, caplog
):
    other = lifecycle.create_study(session, "other", a_plan())
    other.plan_json = {**other.plan_json, "personal_until": "31.12.2026"}
    session.commit()
    someone_was_there(session, 2027, 6, 29, 12)
    at(monkeypatch, 2027, 7, 1, 12)
    assert own_data.drop_due(session) == ([SLUG], ["other"])
    assert identifying(session) == []
    assert "Personal data of other cannot be deleted" in caplog.text
    other.plan_json = {**other.plan_json, "personal_until": "9999-12-31"}
    session.commit()
    assert own_data.drop_due(session) == ([], [])


def test_what_identifies_people_goes_too_where_the_kind_of_question_is_unknown(
    dated, session, monkeypatch
):
    someone_was_there(session, 2027, 6, 29, 12)
    monkeypatch.delitem(KINDS, "ordering")
    at(monkeypatch, 2027, 7, 1, 12)
    assert own_data.drop_due(session).deleted == [SLUG]
    assert identifying(session) == []


def test_a_clock_that_is_ahead_deletes_no_personal_data(dated, session, monkeypatch, caplog):
    for hour in (1, 2, 23):  # a year ahead, for most of a day
        at(monkeypatch, 2028, 1, 1, hour)
        assert own_data.drop_due(session).deleted == []
    assert len(identifying(session)) == 3
    assert session.query(Event).filter_by(kind=own_data.DUE).count() == 1
    assert caplog.text.count("If the clock is ahead, set it right.") == 1
    at(monkeypatch, 2027, 1, 1)  # set right
    assert own_data.drop_due(session).deleted == []
    own_data.require_none_due(session, dated)
    at(monkeypatch, 2027, 7, 1, 1)  # the day has passed, and nobody came for months
    assert own_data.drop_due(session).deleted == []
    assert session.query(Event).filter_by(kind=own_data.DUE).count() == 2
    session.commit()
    at(monkeypatch, 2027, 7, 4, 0)
    assert own_data.drop_due(session).deleted == []
    at(monkeypatch, 2027, 7, 4, 2)
    assert own_data.drop_due(session).deleted == [SLUG]
    assert identifying(session) == []


def test_no_bundle_holds_personal_data_whose_day_has_passed(dated, session, monkeypatch):
    assert CANARY in "".join(bundle.stream_file(session, dated, "participants.csv"))
    at(monkeypatch, 2027, 7, 1, 1)
    with pytest.raises(SurveyError, match="were to be deleted after 2027-06-30"):
        bundle.stream_bundle(session, dated)
    with pytest.raises(SurveyError, match="were to be deleted after 2027-06-30"):
        bundle.stream_file(session, dated, "participants.csv")


def test_a_date_that_is_no_day_is_refused():
    for wrong in ("30.6.2027", "2027-02-30", "20270630", 20270630, "9999-12-31", "1970-01-01"):
        with pytest.raises(SurveyError, match=r"a day is needed, written like 2027-06-30"):
            a_plan(personal_until=wrong)


def test_logs_hold_no_answers_ages_codes_or_tokens(app, visitor, session, caplog, engine):
    caplog.set_level(logging.DEBUG)
    code = code_of(visitor)
    secrets = [CANARY, PLATFORM_ID, code, visitor.form("/erase").select_one("input")["value"]]
    app.config["PROPAGATE_EXCEPTIONS"] = False
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE revision RENAME TO revision_gone"))
    visitor.open("/q/3")
    fields = {one["name"]: one.get("value", "") for one in visitor.page.select("[type=hidden]")}
    visitor.post("/q/3", **fields, choice="own", rank_A="3")
    visitor.post("/q/3", **fields, choice="2")
    visitor.post("/about-you", **fields, age=AGE, job=CANARY)
    written = caplog.text
    assert "revision" in written  # something did go wrong, and was logged
    for secret in secrets:
        assert secret not in written


def test_a_page_lists_every_stored_field_with_its_purpose_and_period(client, measured):
    page = client.get("/what-is-stored").text
    listed = {one.name: one for tables in stored_tables().values() for one in tables}
    assert set(listed) == set(Base.metadata.tables)
    fields = 0
    for name, table in Base.metadata.tables.items():
        assert listed[name].retention
        assert listed[name].meaning
        for column in table.columns:
            assert column.doc, f"{name}.{column.name} does not say what it is for"
            assert f"<code>{column.name}</code>" in page
            fields += 1
    measured(f"{fields} fields of {len(listed)} tables stored: 0 without purpose or period")
