"""Backups: write the database to an SQLite file, inspect the file, restore it.

A backup is restored into an empty database, or replaces another that is backed up first.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from survey.db import database_copy, migration
from survey.db.database_copy import OnStep
from survey.db.engine import sqlite_engine
from survey.db.models import now
from survey.errors import BackupError
from survey.services.operations.database import require_known_schema, upgrade_database
from survey.services.participation import own_data

# The tables that a summary counts, with the words for a single row and for several.
COUNT_WORDS = {
    "study": ("study", "studies"),
    "participant": ("participant", "participants"),
    "response": ("answer", "answers"),
    "researcher": ("researcher", "researchers"),
}


# Copies in the instance folder that restoring makes: of what was replaced, so that it can be
# undone, and, where a restore or a backup was interrupted, of what it worked on.
REPLACED, WORK = "before-restore-", ".restore-"
COPIES = (f"{REPLACED}*", f".{REPLACED}*", f"{WORK}*")
COPIES_KEPT = timedelta(days=7)


@dataclass(frozen=True)
class DatabaseContent:
    """The revision of a database's or a backup's schema, and the number of rows in each table."""

    revision: str
    rows: Mapping[str, int]

    def __str__(self) -> str:
        """Summarise: "1 study, 2 participants, 6 answers and 1 researcher (revision 0001)"."""
        counts = [(self.rows.get(table, 0), words) for table, words in COUNT_WORDS.items()]
        parts = [f"{count:,} {words[count != 1]}" for count, words in counts]
        return f"{', '.join(parts[:-1])} and {parts[-1]} (revision {self.revision})"


def write_backup(
    engine: Engine, target: Path, on_step: OnStep = lambda *_: None
) -> DatabaseContent:
    """Write a consistent copy of the database to a file while others go on writing.

    The file gets its name only after it is complete and checked. It can be restored into
    SQLite and into PostgreSQL.
    """
    require_known_schema(engine)
    is_sqlite = engine.dialect.name == "sqlite"
    # The transaction sees one state of the database, and blocks no writer.
    options: dict[str, str | bool] = (
        {"sqlite_begin": "DEFERRED"}
        if is_sqlite
        else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    )
    with _atomic_file(target) as file:
        with engine.connect().execution_options(**options) as connection:
            revision = str(migration.current_revision(connection))
            live = DatabaseContent(revision, migration.row_counts(connection))
            if is_sqlite:
                database_copy.copy_pages(connection, file, on_step)
            else:
                _copy_rows(connection, file, live, on_step)
        if inspect_backup(file) != live:
            raise BackupError("The backup differs from the database, so it was discarded.")
    return live


def inspect_backup(file: Path) -> DatabaseContent:
    """Return the content of a backup.

    Raises BackupError for a file that is damaged, no backup, or from a newer version.
    """
    engine = sqlite_engine(file, read_only=True)
    try:
        with engine.connect() as connection:
            faults = migration.integrity_faults(connection)
            if faults := faults or migration.broken_references(connection):
                raise BackupError(f"{file.name} is damaged ({faults[0]}).")
            revision = migration.current_revision(connection)
            if revision is None:
                raise BackupError(f"{file.name} is no backup of a survey's database.")
            if not migration.is_known_revision(revision):
                raise BackupError(
                    f"{file.name} is at revision {revision}, made by a newer version of the "
                    f"survey (this one works with {migration.newest_revision()}); restore it with "
                    "that version."
                )
            return DatabaseContent(revision, migration.row_counts(connection))
    except DatabaseError as error:
        raise BackupError(f"{file.name} is no backup, or is damaged ({error.orig}).") from error
    finally:
        engine.dispose()


def restore_backup(
    engine: Engine,
    file: Path,
    folder: Path,
    *,
    replace: bool = False,
    on_step: OnStep = lambda *_: None,
) -> tuple[DatabaseContent, Path | None, int]:
    """Replace the content of the database by that of a backup, in one transaction.

    Return what the database holds now, the backup of what it held before (None if it was
    empty), and how many participants were erased again.
    ``folder`` is the instance folder: for work files, the backup of the replaced content, and
    the ledger of erased participants, who are erased from the restored content too. Raises
    BackupError, before anything changes, for a damaged or newer backup, for one with tables that
    neither this program nor the database knows, and for a database that is not empty unless
    ``replace`` is set.
    """
    inspect_backup(file)
    # Checked again once writers are blocked; this early check saves the staging.
    with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
        _is_empty(connection, replace=replace)
    with _staged_copy(file, folder) as staged:
        with (
            staged.connect() as source,
            engine.execution_options(sqlite_begin="DEFERRED").connect() as before,
        ):
            _require_known_tables(source, before, file.name)
        upgrade_database(engine)
        with engine.begin() as target:
            database_copy.block_writers(target)
            # Those who were erased since the backup was made.
            with Session(target) as replaced, Session(staged) as session:
                tokens = own_data.erased_tokens(replaced)
                erased = own_data.erase_again(session, folder, tokens)
            safety_backup = None
            if not _is_empty(target, replace=replace):
                safety_backup = folder / f"{REPLACED}{now():%Y%m%dT%H%M%S%f}.sqlite3"
                write_backup(engine, safety_backup)
            with staged.connect() as source:
                rows = migration.row_counts(source)
                database_copy.remove_rows(target)
                database_copy.copy_rows(source, target, sum(rows.values()), on_step)
            # The target may have tables of kinds from outside, empty now, that the backup lacks.
            arrived = _without_empty(migration.row_counts(target)) == _without_empty(rows)
            if not arrived or migration.broken_references(target):
                raise BackupError("Not every row of the backup arrived; nothing was changed.")
        content = DatabaseContent(str(migration.newest_revision()), rows)
        return content, safety_backup, erased


def delete_old_copies(folder: Path) -> None:
    """Delete the copies of personal data in the instance folder that restoring left, when due."""
    for path in [path for pattern in COPIES for path in folder.glob(pattern)]:
        if now() - datetime.fromtimestamp(path.stat().st_mtime, UTC) > COPIES_KEPT:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _copy_rows(connection: Connection, file: Path, live: DatabaseContent, on_step: OnStep) -> None:
    """Create an SQLite database of the same revision, and copy the rows into it."""
    engine = sqlite_engine(file)
    try:
        migration.upgrade(engine, live.revision)
        with engine.begin() as target:
            _require_known_tables(connection, target, "The database")
            database_copy.copy_rows(connection, target, sum(live.rows.values()), on_step)
        with engine.connect() as target:
            driver = target.connection.dbapi_connection
            driver.execute("PRAGMA journal_mode = DELETE")  # type: ignore[union-attr] # it is open
    finally:
        engine.dispose()


@contextmanager
def _atomic_file(target: Path) -> Iterator[Path]:
    """Yield a new file that only this user can read; rename it to ``target`` on success.

    Content and name are synced, so that a power failure leaves a whole backup or none.
    """
    file = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield file
        _sync(file)
        file.replace(target)
        _sync(target.parent)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_empty(connection: Connection, *, replace: bool) -> bool:
    """Return whether no table has rows; raise BackupError for rows that must not be replaced."""
    rows = _without_empty(migration.row_counts(connection))
    if rows and not replace:
        content = DatabaseContent(str(migration.current_revision(connection)), rows)
        raise BackupError(
            f"The database is not empty: it holds {content}; --replace makes a backup of it "
            "and then puts the other in its place."
        )
    return not rows


def _without_empty(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def _require_known_tables(source: Connection, target: Connection, name: str) -> None:
    """Raise BackupError for tables that the target lacks and this program cannot make."""
    if unknown := database_copy.unknown_tables(source, target):
        raise BackupError(
            f"{name} has tables that this program does not know: {', '.join(unknown)}. They are "
            "of a kind of question from outside the survey; run the program that brings that kind."
        )


@contextmanager
def _staged_copy(file: Path, folder: Path) -> Iterator[Engine]:
    """Yield a copy of the backup, upgraded to the newest schema; the backup is not changed."""
    with tempfile.TemporaryDirectory(prefix=WORK, dir=folder) as work:
        copy = Path(work, "staged.sqlite3")
        original = sqlite_engine(file, read_only=True)
        with original.connect() as connection:
            database_copy.copy_pages(connection, copy, lambda *_: None)
        original.dispose()
        staged = sqlite_engine(copy)
        try:
            upgrade_database(staged)
        except DatabaseError as error:
            staged.dispose()
            raise BackupError(f"{file.name} cannot be upgraded ({error.orig}).") from error
        yield staged
        staged.dispose()
