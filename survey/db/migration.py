"""Bringing a database to the newest schema, and telling whether it is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

# Any number that other users of the server are unlikely to lock as well.
ADVISORY_LOCK = 5_300_005

VERSION_TABLE = "alembic_version"


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Migrate to a revision in one transaction; return the revisions before and after.

    Whoever comes second waits for the first: BEGIN IMMEDIATE locks SQLite, an
    advisory lock PostgreSQL.
    """
    with _migrating(engine) as connection:
        before = current_revision(connection)
        command.upgrade(_config(connection), revision)
        return before, current_revision(connection)


def downgrade(engine: Engine, revision: str) -> None:
    """Take migrations back, for tests and for leaving a faulty release."""
    with _migrating(engine) as connection:
        command.downgrade(_config(connection), revision)


@contextmanager
def _migrating(engine: Engine) -> Iterator[Connection]:
    """Open the one transaction of a migration.

    SQLite alters most tables by copying them; dropping the old copy would delete what
    refers to it, so foreign keys rest meanwhile and are checked before the commit.
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


def current_revision(connection: Connection) -> str | None:
    """Return the revision the database is at, None where there is no schema yet."""
    return MigrationContext.configure(connection).get_current_revision()


@cache
def newest_revision() -> str | None:
    """Return the revision this version of the survey works with."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def knows(revision: str) -> bool:
    """Tell whether this version of the survey can migrate from that revision."""
    known = ScriptDirectory.from_config(_config()).walk_revisions()
    return revision in {script.revision for script in known}


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config
