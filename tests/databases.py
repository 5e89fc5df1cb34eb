"""Databases for tests, quickly: the newest schema is made once in a run and copied from then on."""

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, event, select, text
from sqlalchemy.orm import Session

from survey.db import migration
from survey.db.engine import database_url, engine_options, prepare, sqlite_library
from survey.db.models import Study

# For tests of pages, forms, files and commands: where no query, constraint, order, type or
# transaction is in question, one kind of database is enough.
ON_SQLITE = pytest.mark.parametrize("database_uri", ["sqlite"], indirect=True)
# Where they are in question, `make test` runs on both. PostgreSQL is slow otherwise.
ON_BOTH = pytest.mark.parametrize("database_uri", ["sqlite", "postgresql"], indirect=True)
LATER_ON_POSTGRESQL = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]


def database_of_a_test(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """Make the kind of database that the fixture's parameter names, and drop it afterwards.

    It is empty, or of the newest schema where the test wants ``app``.
    """
    filled = "app" in request.fixturenames
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite").make(folder, filled)
        return
    databases = request.getfixturevalue("postgresql")
    uri = databases.make(filled)
    yield uri
    databases.drop(uri)


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """All that a database is told; by the driver, as some passes by SQLAlchemy."""
    told: list[str] = []
    engine.dispose()

    class Heard(psycopg.Cursor[Any]):
        def execute(self, query: Any, *given: Any, **options: Any) -> Any:
            told.append(query)
            return super().execute(query, *given, **options)

    heard = (
        (engine, "connect", lambda made, _: made.set_trace_callback(told.append))
        if engine.dialect.name == "sqlite"
        else (engine, "connect", lambda made, _: setattr(made, "cursor_factory", Heard))
    )
    event.listen(*heard)
    try:
        yield told
    finally:
        event.remove(*heard)
        engine.dispose()


USERS = text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")

MEMORY = Path("/dev/shm")


def where_there_is_room() -> Path | None:
    """A folder in memory, where making and dropping databases waits for no disk, or None."""
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2**30
    return MEMORY if roomy else None


def bring_up_to_date(uri: str) -> None:
    """Give an empty database the newest schema, and close it so that it can be copied.

    Without tables of kinds from outside, of which the test that comes first may know one.
    """
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    migration.upgrade(engine)
    engine.dispose()


@cache
def newest_schema() -> Path:
    """A SQLite database of the newest schema, to be copied."""
    path = Path(_where_copies_are().name, "newest-schema.sqlite3")
    bring_up_to_date(f"sqlite:///{path}")
    return path


class SQLite:
    """SQLite databases in files."""

    def make(self, folder: Path, filled: bool) -> str:
        """Return the address of a database in this folder, with the newest schema or without."""
        path = folder / "survey.sqlite3"
        if filled:
            shutil.copyfile(newest_schema(), path)
        return f"sqlite:///{path}"

    def fill_once(self, engine: Engine, key: str, fill: Callable[[], object]) -> None:
        """Fill an empty database, or let it become a copy of the first that was filled so."""
        fill_once(engine, key, fill)


class PostgreSQL:
    """Databases on a PostgreSQL server."""

    def __init__(self, address: str) -> None:
        self.address = database_url(address)
        self.maintenance = create_engine(self.address, isolation_level="AUTOCOMMIT")
        self.template = self.make(filled=False)
        self.copies: dict[str, str] = {}
        bring_up_to_date(self.template)

    def make(self, filled: bool, options: str = "") -> str:
        """Return the address of a new database, with the newest schema or without."""
        name = f"survey_{uuid.uuid4().hex}"
        like = f" TEMPLATE {database_url(self.template).database}" if filled else ""
        return self._create(name, f"{like} {options}")

    def _create(self, name: str, rest: str) -> str:
        with self.maintenance.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} {rest}"))
        return self.address.set(database=name).render_as_string(hide_password=False)

    def fill_once(self, engine: Engine, key: str, fill: Callable[[], object]) -> None:
        """Fill an empty database, or let it become a copy of the first that was filled so."""
        name = str(engine.url.database)
        if key not in self.copies:
            fill()
            engine.dispose()
            self.copies[key] = self._create(f"survey_{uuid.uuid4().hex}", f"TEMPLATE {name}")
            return
        engine.dispose()
        self.drop(str(engine.url.render_as_string(hide_password=False)))
        self._create(name, f"TEMPLATE {database_url(self.copies[key]).database}")

    def drop(self, uri: str) -> None:
        """Drop a database, once those who used it are gone or had a second for it.

        PostgreSQL waits a tenth of a second where anybody is left. Later is no better: what
        was written to a database that is still there goes to the disk when another is dropped.
        """
        name = database_url(uri).database
        with self.maintenance.connect() as connection:
            for _ in range(200):
                if not connection.scalar(USERS, {"name": name}):
                    break
                time.sleep(0.005)
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))

    def tidy_up(self) -> None:
        """Drop the templates and sign off."""
        for uri in (self.template, *self.copies.values()):
            self.drop(uri)
        self.maintenance.dispose()


@cache
def _where_copies_are() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="survey-copies-", dir=where_there_is_room())


SOMETHING = text("SELECT 1 FROM study UNION SELECT 1 FROM researcher")
COPIES: dict[str, Path] = {}


def fill_once(engine: Engine, key: str, fill: Callable[[], object]) -> None:
    """Fill an empty SQLite database, or let it become a copy of the first that was filled so."""
    connection = engine.raw_connection()
    database = connection.driver_connection
    try:
        if key in COPIES:
            with closing(sqlite_library().connect(COPIES[key])) as copy:
                copy.backup(database)
            return
        fill()
        COPIES[key] = Path(_where_copies_are().name, f"{len(COPIES)}.sqlite3")
        with closing(sqlite_library().connect(COPIES[key])) as copy:
            database.backup(copy)
    finally:
        connection.close()


def copied_later(build: Callable[..., Study]) -> Callable[..., Study]:
    """Let a builder of a study fill one empty SQLite database: later ones get a copy of that.

    A hundred tests begin with the same pictures, and taking them in takes most of their time.
    """

    @wraps(build)
    def built(session: Session, *args: Any, **changes: Any) -> Study:
        key = repr((build.__name__, args, sorted(changes.items())))
        engine = session.get_bind()
        is_plain = (
            "<" not in key and engine.dialect.name == "sqlite"
        )  # <function …>, <Researcher …>
        if not is_plain or session.scalar(SOMETHING):
            session.rollback()
            return build(session, *args, **changes)
        session.rollback()

        def fill() -> None:
            build(session, *args, **changes)
            session.rollback()

        fill_once(engine, key, fill)
        return session.scalars(select(Study)).one()

    return built
