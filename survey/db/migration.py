"""Migrations of the schema, and queries about the database itself: tables, damage, settings."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, MetaData, Table, func, inspect, text
from sqlalchemy.schema import sort_tables

from survey.core.kinds import KINDS
from survey.db.engine import sqlite_engine
from survey.db.models.base import Base

VERSIONS = [Path(__file__).parent / "migrations" / "versions"]
# Any number that other users of the server are unlikely to lock as well.
ADVISORY_LOCK = 5_300_005


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Migrate to a revision in one transaction; return the revisions before and after.

    Of several processes, one migrates and the others wait: BEGIN IMMEDIATE locks SQLite,
    an advisory lock PostgreSQL.
    """
    with _migrating(engine) as connection:
        before = current_revision(connection)
        command.upgrade(_config(connection), revision)
        return before, current_revision(connection)


def make_missing_tables(engine: Engine) -> None:
    """Make the tables that no migration makes, those of kinds of question from outside."""
    known_tables()  # loads the kinds: other processes wait for the lock
    with _migrating(engine) as connection:
        for table in missing_tables(connection):
            table.create(connection)


def missing_tables(connection: Connection) -> list[Table]:
    """Return the tables that models describe and the database lacks, referenced tables first."""
    existing = {*inspect(connection).get_table_names()}
    return sort_tables([each for name, each in known_tables().items() if name not in existing])


def downgrade(engine: Engine, revision: str) -> None:
    """Undo migrations down to a revision, for tests and to leave a faulty release."""
    with _migrating(engine) as connection:
        command.downgrade(_config(connection), revision)


def current_revision(connection: Connection) -> str | None:
    """Return the revision the database is at, None where there is no schema yet."""
    return MigrationContext.configure(connection).get_current_revision()


@cache
def newest_revision() -> str | None:
    """Return the revision this version of the survey works with."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def is_known_revision(revision: str) -> bool:
    """Return whether this version of the survey can migrate from that revision."""
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return revision in {script.revision for script in scripts}


def table_names(connection: Connection) -> list[str]:
    """Return the names of the survey's tables, without Alembic's own, sorted.

    A table that no model describes is of a kind of question from outside if it refers to one of
    the survey's tables; otherwise it is another program's.
    """
    inspector = inspect(connection)
    existing = set(inspector.get_table_names())
    names = existing & {*known_tables()}
    references = {
        name: {key["referred_table"] for key in inspector.get_foreign_keys(name)}
        for name in existing - names
    }
    while more := {name for name, referred in references.items() if referred & names} - names:
        names |= more
    return sorted(names)


def known_tables() -> dict[str, Table]:
    """Return all tables that models describe, by name, also those of kinds from outside."""
    of_kinds = (table for kind in KINDS.values() for table in kind.tables.all)
    return {**Base.metadata.tables, **{table.name: table for table in of_kinds}}


def row_counts(connection: Connection) -> dict[str, int]:
    """Return the number of rows in each table, by the table's name."""
    tables = [Table(name, MetaData()) for name in table_names(connection)]
    queries = {
        table.name: table.select().with_only_columns(func.count()).select_from(table)
        for table in tables
    }
    return {name: connection.execute(query).scalar_one() for name, query in queries.items()}


def integrity_faults(connection: Connection, *, thorough: bool = True) -> list[str]:
    """Return SQLite's first five reports of damage in its file; none for PostgreSQL.

    ``thorough`` compares indexes with their tables too.
    """
    if connection.dialect.name != "sqlite":
        return []
    check = "integrity_check" if thorough else "quick_check"
    reports = connection.exec_driver_sql(f"PRAGMA {check}(5)").scalars().all()
    return [line for line in reports if line != "ok"]


def broken_references(connection: Connection) -> list[str]:
    """Return the tables with rows that refer to missing rows; PostgreSQL allows none."""
    if connection.dialect.name != "sqlite":
        return []
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return sorted({str(row[0]) for row in rows})


def durability_settings(connection: Connection) -> dict[str, str]:
    """Return the settings that decide whether a saved answer survives a power failure."""
    if connection.dialect.name == "sqlite":
        settings = {
            name: str(connection.exec_driver_sql(f"PRAGMA {name}").scalar())
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
        version = connection.execute(text("SELECT sqlite_version()")).scalar_one()
        return {**settings, "library": str(version)}
    return {
        name: str(connection.execute(text(f"SHOW {name}")).scalar())
        for name in ("fsync", "synchronous_commit", "full_page_writes")
    }


def missing_triggers(connection: Connection) -> list[str]:
    """Return the triggers of a new database that this one lacks or has switched off, by name."""
    new = sqlite_engine(Path(":memory:"))
    upgrade(new)
    with new.connect() as complete:
        missing = {*_trigger_names(complete)} - {*_trigger_names(connection)}
    new.dispose()
    return sorted(missing)


def text_encoding(connection: Connection) -> str:
    """Return the encoding of the database's texts, as PostgreSQL names it; SQLite's is UTF8."""
    if connection.dialect.name == "sqlite":
        return "UTF8"
    return str(connection.execute(text("SHOW server_encoding")).scalar())


def _trigger_names(connection: Connection) -> Sequence[str]:
    """Return the names of the triggers, on PostgreSQL of those that are not switched off."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        query = (
            "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') "
            "AND pg_table_is_visible(tgrelid)"
        )
    return connection.execute(text(query)).scalars().all()


@contextmanager
def _migrating(engine: Engine) -> Iterator[Connection]:
    """Open the transaction of a migration.

    SQLite alters most tables by copying them; dropping the old copy would delete the rows
    that refer to it, so foreign keys are switched off and checked before the commit.
    """
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            driver = connection.connection.dbapi_connection
            driver.execute("PRAGMA foreign_keys = OFF")  # type: ignore[union-attr] # it is open
            try:
                with connection.begin():
                    yield connection
                    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                    if broken:
                        raise RuntimeError(f"the migration would break references: {broken[:3]}")
            finally:
                driver.execute("PRAGMA foreign_keys = ON")  # type: ignore[union-attr] # it is open
        else:
            with connection.begin():
                connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
                yield connection


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(VERSIONS[0].parent))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join(map(str, VERSIONS)))
    config.attributes["connection"] = connection
    return config
