"""Promise 9: the same database gives the same bytes, whichever process and database it is."""

import hashlib
import os
import subprocess
import sys
import uuid

import pytest
from sqlalchemy import create_engine, event, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from survey.app import create_app, db
from survey.config import Settings
from survey.db.engine import database_url
from survey.db.models import Participant, Study
from survey.db.models.base import Base
from survey.services.exchange import bundle
from survey.services.operations.database import upgrade_database
from tests.builders import KEY, SLUG
from tests.services.exchange.conftest import ANSWERS, a_study

pytestmark = pytest.mark.slow

PLACES = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LANG": "C", "LC_ALL": "C", "COLUMNS": "60"},
    {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LANG": "el_GR.UTF-8", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "1", "TZ": "America/St_Johns", "PYTHONUTF8": "0", "LC_ALL": "POSIX"},
]


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def another_sqlite(tmp_path):
    return f"sqlite:///{tmp_path / 'another.sqlite3'}"


@pytest.fixture
def postgresql(postgresql_server):
    """A database that orders texts as English does, "a" before "B", where the server can."""
    name = f"survey_{uuid.uuid4().hex}"
    maintenance = create_engine(database_url(postgresql_server), isolation_level="AUTOCOMMIT")
    with maintenance.connect() as connection:
        create = f"CREATE DATABASE {name}"
        try:
            english = "LOCALE_PROVIDER icu ICU_LOCALE 'en' TEMPLATE template0"
            connection.execute(text(f"{create} {english}"))
        except DBAPIError:  # a server that was built without the tables of languages
            connection.execute(text(create))
    uri = database_url(postgresql_server).set(database=name)
    yield uri.render_as_string(hide_password=False)
    with maintenance.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    maintenance.dispose()


def a_study_with_odd_ids(session):
    """A study whose ids, as an imported one's may, are ordered otherwise in a language."""
    study = a_study(session, columns="after", design="pool", per_participant=3, questions=3)
    odd = ["P-b", "P-B", "p_a", "Pé-1", "P 10", "P-9"]
    for public_id, new in zip(ANSWERS, odd, strict=True):
        session.query(Participant).filter_by(public_id=public_id).one().public_id = new
    session.commit()
    return study


def engine_of(uri, folder):
    """The engine of a new database of the newest schema, as the application uses it."""
    app = create_app(Settings(folder, uri, KEY))
    with app.app_context():
        upgrade_database(db.engine)
        return db.engine


def copy_rows(source, target):
    """Copy every row; studies arrive as drafts and open last, since triggers freeze them."""
    with source.connect() as read, target.begin() as write:
        study = Study.__table__
        for table in Base.metadata.sorted_tables:
            rows = [dict(row) for row in read.execute(select(table)).mappings()]
            as_drafts = [{**row, "status": "draft"} for row in rows] if table is study else rows
            if rows:
                write.execute(insert(table), as_drafts)
        for row in read.execute(select(study.c.id, study.c.status)):
            write.execute(update(study).where(study.c.id == row.id).values(status=row.status))


def bundle_in(engine, **wanted):
    with Session(engine) as session:
        study = session.query(Study).filter_by(slug=SLUG).one()
        return b"".join(bundle.stream_bundle(session, study, **wanted))


def test_sqlite_and_postgresql_give_the_same_bundle(
    session, engine, postgresql, another_sqlite, tmp_path, measured
):
    a_study_with_odd_ids(session)
    wanted = {"with_identities": True, "include_test": True}
    first = bundle_in(engine, **wanted)
    there = engine_of(postgresql, tmp_path)
    copy_rows(engine, there)
    back = engine_of(another_sqlite, tmp_path)
    copy_rows(there, back)
    assert bundle_in(there, **wanted) == first
    assert bundle_in(back, **wanted) == first
    assert bundle_in(there) == bundle_in(back) == bundle_in(engine) != first
    for one in (there, back):
        one.dispose()
    measured(
        f"A study copied from SQLite to PostgreSQL, and from there to another SQLite: three "
        f"bundles of {len(first):,} bytes, 0 bytes differ."
    )


def test_postgresql_orders_ids_by_their_bytes_whatever_its_language(
    session, engine, postgresql, tmp_path
):
    a_study_with_odd_ids(session)
    there, said = engine_of(postgresql, tmp_path), []
    copy_rows(engine, there)
    event.listen(there, "before_cursor_execute", lambda *given: said.append(given[2]))
    bundle_in(there, with_identities=True)
    there.dispose()
    orders = [one.split("ORDER BY")[1] for one in said if "ORDER BY" in one]
    by_id = [order for order in orders if "public_id" in order]
    assert len(by_id) > 3
    assert all('public_id COLLATE "C"' in order for order in by_id)


def test_two_exports_of_one_process_are_equal(session, engine):
    a_study_with_odd_ids(session)
    session.close()
    assert bundle_in(engine) == bundle_in(engine)


@pytest.mark.trial
def test_processes_of_other_languages_and_hash_seeds_give_the_same_bytes(
    session, database_uri, tmp_path, measured
):
    a_study_with_odd_ids(session)
    session.close()
    sums = set()
    for number, place in enumerate(PLACES):
        target = tmp_path / f"{number}.zip"
        environment = {
            **os.environ,
            "SURVEY_INSTANCE": str(tmp_path),
            "SURVEY_SECRET_KEY": KEY,
            "SURVEY_DATABASE_URI": database_uri,
            **place,
        }
        command = [sys.executable, "-m", "survey", "export", SLUG, "--to", str(target)]
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
        sums.add(hashlib.sha256(target.read_bytes()).hexdigest())
    assert len(sums) == 1
    measured(
        f"{len(PLACES)} processes with other hash seeds, time zones and locales export the same "
        "database: one SHA-256."
    )
