"""All checks, one after the other."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from survey.core.measures import MEASURES
from survey.db import inspection, queries
from survey.services.database import require_current_schema
from survey.services.doctor import databases, files, settings
from survey.services.doctor.findings import Finding
from survey.services.errors import SchemaError

MOUNTS = Path("/proc/mounts")


@dataclass(frozen=True)
class Circumstances:
    """How a survey is run: its folder and key, and where it listens."""

    instance: Path
    secret_key: str
    trusted_proxies: int
    debug: bool
    host: str = "127.0.0.1"


def examine(engine: Engine, how: Circumstances, *, thorough: bool = True) -> list[Finding]:
    """Make all checks; without ``thorough`` a large database is looked through less closely."""
    return [
        *_of_settings(how),
        *_of_files(engine, how),
        *_of_the_database(engine, thorough=thorough),
    ]


def close_to_others(engine: Engine, instance: Path) -> None:
    """Keep other users of the machine from the instance folder, key and database."""
    if os.name == "posix":
        named = _database_files(engine)[:1]
        made = [path for path in _private_files(engine, instance) if path.exists()]
        files.make_private(instance, dict.fromkeys([*named, *made]))


def _of_settings(how: Circumstances) -> Iterator[Finding]:
    stored = how.instance / "secret_key"
    yield settings.check_key(how.secret_key)
    yield settings.check_key_is_one(
        how.secret_key, stored.read_text().strip() if stored.exists() else None
    )
    yield settings.check_debugging(debug=how.debug)
    yield settings.check_proxies(how.host, how.trusted_proxies)
    yield settings.check_measures(MEASURES.faults)


def _of_files(engine: Engine, how: Circumstances) -> Iterator[Finding]:
    if os.name == "posix":  # elsewhere these bits say nothing
        yield files.check_readers(_private_files(engine, how.instance))
        yield files.check_folder(how.instance)
    yield files.check_leftovers(how.instance)
    for path in filter(Path.exists, _database_files(engine)[:1]):
        mounts = MOUNTS.read_text() if MOUNTS.exists() else ""
        yield files.check_file_system(path.parent, mounts)
        yield files.check_free_space(shutil.disk_usage(path.parent).free)


def _of_the_database(engine: Engine, *, thorough: bool) -> Iterator[Finding]:
    if not all(map(Path.exists, _database_files(engine)[:1])):  # opening it would make it
        yield databases.check_schema("There is no survey database here yet; run `survey init`.")
        return
    try:
        require_current_schema(engine)
        yield databases.check_schema("")
        with Session(engine) as session:
            yield databases.check_measures(queries.stored_plans(session))
    except SchemaError as error:
        yield databases.check_schema(str(error))
    try:
        with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
            found = inspection.settings_of(connection)
            if "library" in found:
                yield databases.check_library(found)
            yield databases.check_durability(found)
            damaged = inspection.damage(connection, thorough=thorough)
            yield databases.check_soundness(damaged)
            yield databases.check_references(found, inspection.broken_references(connection))
    except DatabaseError as error:
        yield databases.check_soundness([str(error.orig)])


def _private_files(engine: Engine, instance: Path) -> list[Path]:
    return [instance / "secret_key", *_database_files(engine)]


def _database_files(engine: Engine) -> list[Path]:
    """Return SQLite's database and what stands beside it while it is open; none on a server."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return []
    file = Path(engine.url.database).absolute()
    return [file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))]
