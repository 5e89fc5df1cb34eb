"""Restoring a backup: into an empty database, or in place of one that is backed up first."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from survey.db import copying, inspection, migration
from survey.db.copying import OnStep
from survey.db.engine import sqlite_engine
from survey.services import erasing
from survey.services.backups import Holdings, inspect_backup, write_backup
from survey.services.clock import now
from survey.services.database import upgrade_database
from survey.services.errors import BackupError


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
                rows = inspection.row_counts(source)
                copying.remove_rows(target)
                copying.copy_rows(source, target, sum(rows.values()), on_step)
            if inspection.row_counts(target) != rows or inspection.broken_references(target):
                raise BackupError("Not every row of the backup arrived; nothing was changed.")
        return Restored(Holdings(str(migration.newest_revision()), rows), kept, erased)


def _refuse_to_lose(engine: Engine, *, replace: bool) -> None:
    """Look before anything is done; what counts is the look once nobody else can write."""
    with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
        _require_empty(connection, replace=replace)


def _require_empty(connection: Connection, *, replace: bool) -> bool:
    """Tell whether there is nothing yet; raise BackupError where there is, unless told."""
    rows = {name: count for name, count in inspection.row_counts(connection).items() if count}
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
        known = erasing.erased_tokens(session)
    with Session(staged) as session:
        return erasing.erase_again(session, folder, known)


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
