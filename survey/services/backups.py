"""Backups: the whole database as it was at one moment, in one SQLite file."""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError

from survey.db import copying, inspection, migration
from survey.db.copying import OnStep
from survey.db.engine import sqlite_engine
from survey.services.database import require_known_schema
from survey.services.errors import BackupError

# The tables that are told of, with the words for one row and for several.
TOLD = {
    "study": ("study", "studies"),
    "participant": ("participant", "participants"),
    "response": ("answer", "answers"),
    "researcher": ("researcher", "researchers"),
}


@dataclass(frozen=True)
class Holdings:
    """What a database or a backup holds: its schema's revision, and rows of each table."""

    revision: str
    rows: Mapping[str, int]

    def __str__(self) -> str:
        """Say it in words."""
        counted = [(self.rows.get(table, 0), words) for table, words in TOLD.items()]
        told = [f"{count:,} {words[count != 1]}" for count, words in counted]
        return f"{', '.join(told[:-1])} and {told[-1]} (revision {self.revision})"


def write_backup(engine: Engine, target: Path, on_step: OnStep = lambda *_: None) -> Holdings:
    """Write what the database holds at this moment to a file; others may go on writing.

    The file gets its name once it is whole and checked. It can be restored into SQLite
    and PostgreSQL alike.
    """
    require_known_schema(engine)
    with _unfinished(target) as file:
        with _one_state(engine) as connection:
            revision = str(migration.current_revision(connection))
            live = Holdings(revision, inspection.row_counts(connection))
            if engine.dialect.name == "sqlite":
                copying.copy_pages(connection, file, on_step)
            else:
                _copy_rows(connection, file, live, on_step)
        if inspect_backup(file) != live:
            raise BackupError("The backup does not hold what the database holds; it is not kept.")
    return live


def inspect_backup(file: Path) -> Holdings:
    """Say what a backup holds; raise BackupError unless it is whole and this version's to read."""
    engine = sqlite_engine(file, read_only=True)
    try:
        with engine.connect() as connection:
            damaged = inspection.damage(connection) or inspection.broken_references(connection)
            if damaged:
                raise BackupError(f"{file.name} is damaged ({damaged[0]}).")
            return _holdings_of_backup(connection, file.name)
    except DatabaseError as error:
        raise BackupError(f"{file.name} is no backup, or is damaged ({error.orig}).") from error
    finally:
        engine.dispose()


def _holdings_of_backup(connection: Connection, name: str) -> Holdings:
    revision = migration.current_revision(connection)
    if revision is None:
        raise BackupError(f"{name} is no backup of a survey's database.")
    if not migration.knows(revision):
        raise BackupError(
            f"{name} is at revision {revision}, made by a newer version of the survey (this one "
            f"works with {migration.newest_revision()}); restore it with that version."
        )
    return Holdings(revision, inspection.row_counts(connection))


@contextmanager
def _one_state(engine: Engine) -> Iterator[Connection]:
    """Read in one transaction that sees one state of the database and keeps nobody waiting."""
    options = (
        {"sqlite_begin": "DEFERRED"}
        if engine.dialect.name == "sqlite"
        else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    )
    with engine.connect().execution_options(**options) as connection:
        yield connection


def _copy_rows(connection: Connection, file: Path, live: Holdings, on_step: OnStep) -> None:
    """Make a SQLite database of the same revision, and copy the rows into it."""
    engine = sqlite_engine(file)
    try:
        migration.upgrade(engine, live.revision)
        with engine.begin() as target:
            copying.copy_rows(connection, target, sum(live.rows.values()), on_step)
        with engine.connect() as target:
            driver = target.connection.dbapi_connection
            driver.execute("PRAGMA journal_mode = DELETE")  # type: ignore[union-attr] # it is open
    finally:
        engine.dispose()


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """Give a file that only this user can read, named ``target`` once all went well.

    It is on the disk before it is named, and its name before this returns.
    """
    file = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield file
        _reach_the_disk(file)
        file.replace(target)
        _reach_the_disk(target.parent)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)


def _reach_the_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
