"""Bringing a database to the newest schema, and telling whether it is there."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

# Any number that other users of the server are unlikely to lock as well.
ADVISORY_LOCK = 5_300_005


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Migrate to a revision in one transaction; return the revisions before and after.

    Whoever comes second waits for the first: BEGIN IMMEDIATE locks SQLite, an
    advisory lock PostgreSQL.
    """
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
        before = current_revision(connection)
        command.upgrade(_config(connection), revision)
        return before, current_revision(connection)


def downgrade(engine: Engine, revision: str) -> None:
    """Take migrations back, for tests and for leaving a faulty release."""
    with engine.begin() as connection:
        command.downgrade(_config(connection), revision)


def current_revision(connection: Connection) -> str | None:
    """Return the revision the database is at, None where there is no schema yet."""
    return MigrationContext.configure(connection).get_current_revision()


def newest_revision() -> str | None:
    """Return the revision this version of the survey works with."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config
