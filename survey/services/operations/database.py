"""Making, upgrading and checking the database."""

from alembic.util import CommandError
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from survey.db import migration
from survey.db.engine import reading, writing
from survey.errors import SchemaError


def upgrade_database(engine: Engine) -> tuple[str | None, str | None]:
    """Bring the schema to this version's; return the revisions before and after.

    Raises SchemaError for a database that a newer version has made or upgraded.
    """
    try:
        return migration.upgrade(engine)
    except CommandError as error:
        raise SchemaError(
            "The database belongs to another, probably newer, version of the survey "
            f"({error}); install that version."
        ) from error


def require_current_schema(engine: Engine) -> None:
    """Raise SchemaError, in one sentence, unless database and survey fit together."""
    newest = migration.newest_revision()
    found = _revision_found(engine)
    if found != newest:
        raise SchemaError(
            f"The database is at revision {found}, this version of the survey works with {newest}; "
            "run `survey upgrade`, or install the version that fits."
        )


def require_known_schema(engine: Engine) -> None:
    """Raise SchemaError for a database without a schema, or one of a newer version's."""
    found = _revision_found(engine)
    if not migration.knows(found):
        raise SchemaError(
            f"The database is at revision {found}, made by a newer version of the survey (this "
            f"one works with {migration.newest_revision()}); install that version."
        )


def _revision_found(engine: Engine) -> str:
    try:
        # Only looking: a probe must not wait for those who write.
        looking = engine.execution_options(sqlite_begin="DEFERRED")
        with looking.connect() as connection:
            found = migration.current_revision(connection)
    except OperationalError as error:
        raise SchemaError(f"The database cannot be opened: {error.orig}.") from error
    if found is None:
        raise SchemaError("There is no survey database here yet; run `survey init`.")
    return found


def only_reading(session: Session) -> None:
    """Say, before anything else, that what follows only looks: it waits for no writer."""
    reading(session)


def start_writing(session: Session) -> None:
    """Let what follows write, after ``only_reading``; all that was read may have changed by now."""
    writing(session)


def is_ready(engine: Engine) -> bool:
    """Tell whether the database answers and has the right schema."""
    try:
        require_current_schema(engine)
    except SchemaError:
        return False
    return True
