"""Promise 8: the doctor names what is unsafe, and nothing dangerous is served."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import inspect, text

from survey.app import create_app
from survey.cli import survey
from survey.config import Settings
from survey.db import migration
from survey.db.engine import connect
from survey.services.operations import backups
from tests.builders import KEY
from tests.databases import ON_BOTH
from tests.serving import free_port

ON_SQLITE = pytest.mark.parametrize("database_uri", ["sqlite"], indirect=True)


@pytest.fixture
def examined(run, empty_app):
    """What the doctor finds, by the names of its checks."""

    def examine(*options, status=0):
        found = json.loads(run("doctor", "--json", *options, status=status))
        return {one["check"]: one for one in found}

    empty_app.config["INSTANCE"].chmod(0o700)
    return examine


def test_on_an_ordinary_machine_all_is_well(run, examined):
    run("init")
    assert {one["level"] for one in examined().values()} <= {"ok", "warning"}
    printed = run("doctor")
    assert "The survey's health" in printed
    assert "DANGER" not in printed


def test_a_database_that_is_missing_behind_or_ahead_is_dangerous(
    run, examined, engine, next_release
):
    assert "no survey database here yet" in examined(status=1)["schema"]["text"]
    migration.upgrade(engine, "0022")
    assert "at revision 0022" in examined(status=1)["schema"]["text"]
    run("upgrade")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert "at revision 9999" in examined(status=1)["schema"]["text"]


@ON_SQLITE
def test_a_damaged_database_is_found(run, examined, engine):
    run("init")
    engine.dispose()
    file = Path(engine.url.database)
    with file.open("r+b") as opened:
        opened.seek(4096 * 5)
        opened.write(os.urandom(4096))
    assert examined(status=1)["integrity"]["level"] == "DANGER"
    assert "The database is damaged" in serving(run)


@ON_SQLITE
def test_a_row_that_refers_to_nothing_is_found(run, examined, engine):
    run("init")
    with engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        driver.execute("PRAGMA foreign_keys = OFF")
        driver.execute("INSERT INTO browser VALUES (1, 8, 9, 'x')")
        driver.execute("PRAGMA foreign_keys = ON")
    assert "browser refer to missing rows" in examined(status=1)["references"]["text"]


@ON_BOTH
def test_each_missing_trigger_is_named_and_a_restored_backup_has_it(
    run, examined, engine, tmp_path
):
    run("init")
    assert examined()["triggers"]["level"] == "ok"
    is_sqlite = engine.dialect.name == "sqlite"
    with engine.begin() as connection:
        for name, table in (("slot_filled", "participant"), ("event_kept_update", "event")):
            connection.execute(text(f"DROP TRIGGER {name}{'' if is_sqlite else f' ON {table}'}"))
        if is_sqlite:
            connection.execute(text("DROP TRIGGER question_frozen_insert"))
        else:
            connection.execute(text("ALTER TABLE question DISABLE TRIGGER question_frozen_insert"))
    names = "event_kept_update, question_frozen_insert, slot_filled"
    assert f"lacks triggers ({names}); " in examined(status=1)["triggers"]["text"]
    run("backup", tmp_path / "b.sqlite3")
    new = connect(f"sqlite:///{tmp_path / 'new.sqlite3'}")
    backups.restore_backup(new, tmp_path / "b.sqlite3", tmp_path)
    with new.connect() as connection:
        assert migration.missing_triggers(connection) == []
    new.dispose()


def serving(run, *options):
    """Try to serve, in vain; return what is said."""
    return run("serve", "--port", free_port(), *options, status=1)


@ON_SQLITE
def test_what_is_dangerous_is_not_served_and_the_remedy_is_named(run, empty_app, monkeypatch):
    run("init")
    monkeypatch.setattr("survey.server.serve", lambda *_, **__: None)  # were it not refused
    monkeypatch.setenv("FLASK_DEBUG", "1")
    empty_app.config["SECRET_KEY"] = "k" * 40
    mounts = empty_app.config["INSTANCE"] / "mounts"
    mounts.write_text("server:/ / nfs rw 0 0\n")
    monkeypatch.setattr("survey.services.operations.doctor.MOUNTS", mounts)
    told = serving(run, "--host", "0.0.0.0")
    for remedy in (
        "unset FLASK_DEBUG",
        "remove SURVEY_SECRET_KEY",
        "move it to a disk of this machine",
        "SURVEY_TRUSTED_PROXIES=1",
    ):
        assert remedy in told, told


def test_a_server_that_is_not_reached_is_not_called_a_damaged_database(tmp_path):
    uri = f"postgresql://survey@/survey?host={tmp_path}"
    settings = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_SECRET_KEY": KEY}
    environment = {**settings, "SURVEY_DATABASE_URI": uri}
    found = CliRunner().invoke(survey, ["doctor", "--json"], env=environment)
    texts = [each["text"] for each in json.loads(found.output) if each["level"] == "DANGER"]
    assert any("cannot be opened" in each for each in texts)
    assert not any("damaged" in each or "backup" in each for each in texts)


@pytest.fixture(params=["LATIN1", "SQL_ASCII"])
def encoding(request):
    return request.param


@pytest.fixture
def encoded_uri(postgresql, encoding):
    """An empty PostgreSQL database that does not store texts in UTF8."""
    options = f"ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    uri = postgresql.make(filled=False, options=options)
    yield uri
    postgresql.drop(uri)


def test_a_database_in_another_encoding_is_refused_but_backed_up(encoded_uri, encoding, tmp_path):
    instance = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_SECRET_KEY": KEY}
    environment = {**instance, "SURVEY_DATABASE_URI": encoded_uri}

    def output(*arguments, status=1):
        result = CliRunner().invoke(survey, [*map(str, arguments)], env=environment)
        assert (result.exit_code, "Traceback" in result.output) == (status, False), result.output
        return " ".join(result.output.split())

    fault = f"stores texts in {encoding}, and only UTF8 holds every text; make another with"
    for command in ("init", "upgrade", "doctor"):
        assert fault in output(command)
    engine = connect(encoded_uri)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []
    migration.upgrade(engine)  # as by a version that did not look at the encoding
    engine.dispose()
    for command in (("init",), ("upgrade",), ("doctor",), ("serve", "--port", free_port())):
        assert fault in output(*command)
    file = tmp_path / "backup.sqlite3"
    assert "and passed all checks" in output("backup", file, status=0)
    assert fault in output("restore", file)
    environment = {**instance, "SURVEY_DATABASE_URI": f"sqlite:///{tmp_path / 'new.sqlite3'}"}
    assert "Restored" in output("restore", file, status=0)


def test_settings_that_cannot_even_be_opened_are_a_finding(tmp_path):
    environment = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_SECRET_KEY": "short"}
    found = CliRunner().invoke(survey, ["doctor", "--json"], env=environment)
    assert found.exit_code == 1
    (finding,) = json.loads(found.output)
    assert finding["level"] == "DANGER"
    assert finding["text"].startswith("The secret key has 5 characters")


def test_an_untold_proxy_is_noticed_once(tmp_path, caplog):
    app = create_app(Settings(tmp_path, f"sqlite:///{tmp_path / 'x.sqlite3'}", KEY))
    for _ in range(3):
        app.test_client().get("/healthz", headers={"X-Forwarded-Proto": "https"})
    app.test_client().get("/healthz")
    assert [one.getMessage().count("SURVEY_TRUSTED_PROXIES") for one in caplog.records] == [1]


def test_a_proxy_that_was_told_of_is_not(tmp_path, caplog):
    app = create_app(Settings(tmp_path, f"sqlite:///{tmp_path / 'x.sqlite3'}", KEY, 1))
    app.test_client().get("/healthz", headers={"X-Forwarded-Proto": "https"})
    assert caplog.records == []
