"""The database's schema: upgrade it, require it; and how a page begins its transaction."""

from pathlib import Path
from shutil import disk_usage

from alembic.util import CommandError
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from survey.db import migration

# For pages and commands, which may import services but not survey.db.
from survey.db.engine import begin_page as begin_page
from survey.db.engine import begin_reading as begin_reading
from survey.db.engine import begin_writing as begin_writing
from survey.db.engine import connect as connect
from survey.db.engine import is_on_this_machine as is_on_this_machine
from survey.db.engine import snapshot as snapshot
from survey.db.engine import try_write
from survey.errors import SchemaError
from survey.services.operations.upkeep import reason_late

LEAST_SPACE = 50_000_000  # bytes; an answer takes 600


def upgrade_database(engine: Engine) -> tuple[str | None, str | None]:
    """Migrate the schema to this version's; return the revisions before and after.

    Tables of kinds of question from outside, which no migration makes, are made where missing.

    Raises SchemaError for a database that a newer version has created or upgraded, and for one
    that does not store texts in UTF8.
    """
    with _reading(engine) as connection:
        if fault := encoding_fault(migration.text_encoding(connection)):
            raise SchemaError(fault)
    try:
        revisions = migration.upgrade(engine)
    except CommandError as error:
        raise SchemaError(
            "The database belongs to another, probably newer, version of the survey "
            f"({error}); install that version."
        ) from error
    migration.make_missing_tables(engine)
    return revisions


def encoding_fault(encoding: str) -> str:
    """Return why a database with this encoding is refused, "" for UTF8."""
    if encoding == "UTF8":
        return ""
    return (
        f"The database stores texts in {encoding}, and only UTF8 holds every text; make another "
        "with `createdb --encoding UTF8 --template template0 NAME`, and bring what this one holds "
        "there with `survey backup` and `survey restore`."
    )


def require_current_schema(engine: Engine) -> None:
    """Raise SchemaError unless the database is at the revision of this version, with all tables."""
    newest = migration.newest_revision()
    revision = _current_revision(engine)
    if revision != newest:
        raise SchemaError(
            f"The database is at revision {revision}, this version of the survey works with "
            f"{newest}; run `survey upgrade`, or install the version that fits."
        )
    with _reading(engine) as connection:
        if missing := migration.missing_tables(connection):
            names = ", ".join(table.name for table in missing)
            raise SchemaError(
                f"The database lacks the tables {names}, of a kind of question that another "
                "package brings; `survey upgrade` makes them."
            )


def require_known_schema(engine: Engine) -> None:
    """Raise SchemaError for a database without a schema or with a newer version's.

    An older version's schema passes.
    """
    revision = _current_revision(engine)
    if not migration.is_known_revision(revision):
        raise SchemaError(
            f"The database is at revision {revision}, made by a newer version of the survey (this "
            f"one works with {migration.newest_revision()}); install that version."
        )


def reason_not_ready(engine: Engine, instance: Path) -> str:
    """Return why answers could not be saved now, or data are deleted too late; else "".

    Saving is tried by a write.
    """
    if disk_usage(instance).free < LEAST_SPACE:
        return f"the disk has less than {LEAST_SPACE // 1_000_000} MB left"
    try:
        require_current_schema(engine)
        try_write(engine)
    except (SchemaError, OperationalError, InterfaceError):
        return "the database cannot be used yet"
    return reason_late(instance)


def _current_revision(engine: Engine) -> str:
    """Return the revision of the database's schema.

    Raises SchemaError for a database without a schema or that cannot be opened.
    """
    try:
        with _reading(engine) as connection:
            revision = migration.current_revision(connection)
    except OperationalError as error:
        raise SchemaError(f"The database cannot be opened: {error.orig}.") from error
    if revision is None:
        raise SchemaError("There is no survey database here yet; run `survey init`.")
    return revision


def _reading(engine: Engine) -> Connection:
    """Return a connection for reading, deferred: a readiness probe would wait for writers."""
    return engine.execution_options(sqlite_begin="DEFERRED").connect()
