"""Backups: the whole database as it was at one moment, in one SQLite file.

Restoring a backup: into an empty database, or in place of one that is backed up first.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from survey.clock import now
from survey.db import copying, migration
from survey.db.copying import OnStep
from survey.db.engine import sqlite_engine
from survey.errors import BackupError
from survey.services.operations.database import require_known_schema, upgrade_database
from survey.services.participation import own_data

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
            live = Holdings(revision, migration.row_counts(connection))
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
            damaged = migration.damage(connection) or migration.broken_references(connection)
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
    return Holdings(revision, migration.row_counts(connection))


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


@dataclass(frozen=True)
class Restored:
    """What was restored, where that is kept which was there before, how many were erased again."""

    holdings: Holdings
    kept: Path | None
    erased: int


def restore_backup(
    engine: Engine,
    file: Path,
    folder: Path,
    *,
    replace: bool = False,
    on_step: OnStep = lambda *_: None,
) -> Restored:
    """Put what a backup holds into the database, all of it or, interrupted, nothing.

    ``folder`` is the instance folder: work files, the backup of what is replaced, and the
    ledger of participants who were erased, and who are erased from the backup too. Raises
    BackupError, before anything is touched, for a damaged or newer backup, and for a
    database that is not empty unless it is to be replaced.
    """
    inspect_backup(file)
    _refuse_to_lose(engine, replace=replace)
    with _staged(file, folder) as staged:
        upgrade_database(engine)
        with engine.begin() as target:
            copying.lock_out_writers(target)
            erased = _erase_again(staged, target, folder)
            kept = _keep(engine, target, folder, replace=replace)
            with staged.connect() as source:
                rows = migration.row_counts(source)
                copying.remove_rows(target)
                copying.copy_rows(source, target, sum(rows.values()), on_step)
            if migration.row_counts(target) != rows or migration.broken_references(target):
                raise BackupError("Not every row of the backup arrived; nothing was changed.")
        return Restored(Holdings(str(migration.newest_revision()), rows), kept, erased)


def _refuse_to_lose(engine: Engine, *, replace: bool) -> None:
    """Look before anything is done; what counts is the look once nobody else can write."""
    with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
        _require_empty(connection, replace=replace)


def _require_empty(connection: Connection, *, replace: bool) -> bool:
    """Tell whether there is nothing yet; raise BackupError where there is, unless told."""
    rows = {name: count for name, count in migration.row_counts(connection).items() if count}
    if rows and not replace:
        held = Holdings(str(migration.current_revision(connection)), rows)
        raise BackupError(
            f"The database is not empty: it holds {held}; --replace makes a backup of it "
            "and then puts the other in its place."
        )
    return not rows


def _keep(engine: Engine, target: Connection, folder: Path, *, replace: bool) -> Path | None:
    """Back up what is about to be replaced, while nobody can write."""
    if _require_empty(target, replace=replace):
        return None
    kept = folder / f"before-restore-{now():%Y%m%dT%H%M%S%f}.sqlite3"
    write_backup(engine, kept)
    return kept


def _erase_again(staged: Engine, replaced: Connection, folder: Path) -> int:
    """Erase from the backup whoever asked for it since it was made; return how many."""
    with Session(replaced) as session:
        known = own_data.erased_tokens(session)
    with Session(staged) as session:
        return own_data.erase_again(session, folder, known)


@contextmanager
def _staged(file: Path, folder: Path) -> Iterator[Engine]:
    """Give a copy of the backup at the newest schema; the backup itself stays as it is."""
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=folder) as work:
        copy = Path(work, "staged.sqlite3")
        original = sqlite_engine(file, read_only=True)
        with original.connect() as connection:
            copying.copy_pages(connection, copy, lambda *_: None)
        original.dispose()
        staged = sqlite_engine(copy)
        try:
            upgrade_database(staged)
        except DatabaseError as error:
            staged.dispose()
            raise BackupError(f"{file.name} cannot be upgraded ({error.orig}).") from error
        yield staged
        staged.dispose()
