"""Promise 8: many that start at once migrate once; what does not fit together is refused."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import pytest
import requests
from sqlalchemy import text
from sqlalchemy.orm import Session

from survey.app import create_app, db
from survey.config import Settings
from survey.db import migration
from survey.services import accounts
from survey.services.operations import demo
from tests.builders import KEY
from tests.promises.interrupted import all_at_once, upgrade
from tests.promises.schemas import revisions, schema_of
from tests.serving import free_port

pytestmark = pytest.mark.slow

MANY = 8


def test_many_upgrades_at_once_migrate_once(empty_app, engine, database_uri):
    assert all_at_once(MANY, upgrade, database_uri) == [0] * MANY
    at_once = schema_of(engine)
    migration.downgrade(engine, "base")
    migration.upgrade(engine)
    assert at_once == schema_of(engine)


def a_command(environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "survey", *map(str, arguments)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.trial
def test_many_first_starts_at_once_make_one_key_one_schema_six_studies(
    database_uri, tmp_path, measured
):
    instance = tmp_path / "instance"
    environment = {"SURVEY_INSTANCE": str(instance), "SURVEY_DATABASE_URI": database_uri}
    ports = [free_port() for _ in range(MANY)]
    with ExitStack() as stack:
        servers = [a_command(environment, "serve", "--demo", "--port", port) for port in ports]
        inits = [a_command(environment, "init") for _ in range(MANY)]
        for server in servers:
            stack.callback(server.communicate)
            stack.callback(server.terminate)
        told = [one.communicate(timeout=300)[0] for one in inits]
        assert [one.returncode for one in inits] == [0] * MANY, told
        for server, port in zip(servers, ports, strict=True):
            _wait_until_ready(server, port)
    made = sum("The database made" in one for one in told)
    assert made <= 1
    assert sum("is there already" in one for one in told) == MANY - made
    assert sorted(path.name for path in instance.iterdir() if "key" in path.name) == ["secret_key"]
    with create_app(Settings(instance, database_uri, KEY)).app_context():
        with db.engine.connect() as connection:
            rows = migration.row_counts(connection)
            assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 1
        kind = db.engine.dialect.name
        db.engine.dispose()
    assert (rows["study"], rows["researcher"]) == (6, 1)
    measured(
        f"{MANY} servers and {MANY} `survey init` started at once on an empty folder ({kind}): "
        "all of them served or succeeded; one key, one schema, the demo's six "
        "studies, one researcher."
    )


def _wait_until_ready(server, port):
    for _ in range(600):
        assert server.poll() is None, server.communicate()[0]
        try:
            if requests.get(f"http://127.0.0.1:{port}/readyz", timeout=10).ok:
                return
        except (requests.ConnectionError, requests.Timeout):  # it makes the studies to try
            time.sleep(0.2)
    raise AssertionError(f"the server at {port} did not become ready")


COMMANDS = (
    ("study", "list"),
    ("serve",),
    ("export", "x", "--to", "x.zip"),
    ("researcher", "list"),
    ("analyse", "x"),
    ("simulate", "x", "--participants", 1),
)


@pytest.mark.parametrize("found", ["0022", "9999"])
def test_database_and_survey_of_different_versions_refuse_each_other(
    run, engine, found, next_release, measured
):
    run("init")
    migration.downgrade(engine, "0022")
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{found}'"))
    before = schema_of(engine)
    port = free_port()
    for command in COMMANDS:
        options = ("--port", port) if command == ("serve",) else ()
        told = run(*command, *options, status=1).strip()
        assert told == (
            f"Error: The database is at revision {found}, this version of the survey works with "
            f"{revisions()[-1]}; run `survey upgrade`, or install the version that fits."
        )
    assert schema_of(engine) == before
    measured(
        f"A database at revision {found} ({engine.dialect.name}): {len(COMMANDS)} commands, "
        "`survey serve` among them, refused it in one sentence and changed nothing."
    )


def test_a_newer_database_is_not_upgraded_either(run, engine):
    run("init")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for command in (("upgrade",), ("init",), ("serve", "--demo", "--port", free_port())):
        assert "belongs to another, probably newer, version" in run(*command, status=1)


def test_many_first_starts_at_once_make_the_demo_studies_and_one_researcher(app, engine):
    together = Barrier(MANY)

    def start(_):
        with Session(engine) as session:
            together.wait(60)
            slug = demo.ensure_studies(session).slug
            return slug, accounts.ensure_researcher(session) is not None

    with ThreadPoolExecutor(MANY) as pool:
        assert set(pool.map(start, range(MANY))) == {("five-systems", True)}
    with engine.connect() as connection:
        rows = migration.row_counts(connection)
    assert (rows["study"], rows["researcher"]) == (6, 1)
