"""Databases for tests, quickly: the newest schema is made once in a run and copied from then on."""

import shutil
import uuid
from collections import deque
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from survey.db.engine import database_url, engine_options, prepare
from survey.services.database import upgrade_database

# For tests of pages, forms, files and commands: where no query, constraint, order, type or
# transaction is in question, one kind of database is enough.
ON_SQLITE = pytest.mark.parametrize("database_uri", ["sqlite"], indirect=True)


def bring_up_to_date(uri: str) -> None:
    """Give an empty database the newest schema, and close it so that it can be copied."""
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    upgrade_database(engine)
    engine.dispose()


class SQLite:
    """SQLite databases in files."""

    def __init__(self, folder: Path) -> None:
        self.template = folder / "newest-schema.sqlite3"
        bring_up_to_date(f"sqlite:///{self.template}")

    def make(self, folder: Path, filled: bool) -> str:
        """Return the address of a database in this folder, with the newest schema or without."""
        path = folder / "survey.sqlite3"
        if filled:
            shutil.copyfile(self.template, path)
        return f"sqlite:///{path}"


class PostgreSQL:
    """Databases on a PostgreSQL server."""

    def __init__(self, address: str) -> None:
        self.address = database_url(address)
        self.maintenance = create_engine(self.address, isolation_level="AUTOCOMMIT")
        self.left: deque[str] = deque()
        self.template = self.make(filled=False)
        bring_up_to_date(self.template)

    def make(self, filled: bool) -> str:
        """Return the address of a new database, with the newest schema or without."""
        name = f"survey_{uuid.uuid4().hex}"
        like = f" TEMPLATE {database_url(self.template).database}" if filled else ""
        with self.maintenance.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}{like}"))
        return self.address.set(database=name).render_as_string(hide_password=False)

    def leave(self, uri: str) -> None:
        """Drop a database soon: the server waits a tenth of a second where one was just used."""
        self.left.append(uri)
        if len(self.left) > 3:
            self._drop(self.left.popleft())

    def tidy_up(self) -> None:
        """Drop what is left."""
        for uri in (*self.left, self.template):
            self._drop(uri)
        self.maintenance.dispose()

    def _drop(self, uri: str) -> None:
        with self.maintenance.connect() as connection:
            connection.execute(text(f"DROP DATABASE {database_url(uri).database} WITH (FORCE)"))
