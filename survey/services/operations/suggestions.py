"""Suggestions for Tab in a shell: names of measures, studies and researchers.

They are read with sqlite3: SQLAlchemy and the models take a second to load. PostgreSQL's
driver is as slow, so names stored there are not suggested.
"""

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from survey.config import MissingInstanceError, Settings, UnsafeSettingsError

PATIENCE = 0.2  # seconds to wait for a lock


def measures() -> list[str]:
    """Return the names of the registered measures, for families the usual ones."""
    from survey.core.measures import MEASURES  # imports numpy, which the other names do not need

    return list(MEASURES)


def studies() -> list[str]:
    """Return the slugs of all studies, none where the database cannot be read."""
    return _names("SELECT slug FROM study ORDER BY id")


def researchers() -> list[str]:
    """Return the names of all researchers, none where the database cannot be read."""
    return _names("SELECT name FROM researcher ORDER BY name")


KINDS: Mapping[str, Callable[[], list[str]]] = {
    "measures": measures,
    "study": studies,
    "target": studies,
    "researcher": researchers,
}


def _names(query: str) -> list[str]:
    """Query an existing SQLite file; return nothing for another database or after an error."""
    # Names need no key; without this one, the settings would write a new one to disk.
    environment = {**os.environ, "SURVEY_SECRET_KEY": "unused" * 10}
    try:
        address = Settings.from_environment(environment).database_uri
        path = Path(address.removeprefix("sqlite:///"))
        if not (address.startswith("sqlite:///") and path.is_file()):
            return []
        uri = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(uri, timeout=PATIENCE, uri=True)) as database:
            return [name for (name,) in database.execute(query)]
    except (MissingInstanceError, UnsafeSettingsError, sqlite3.Error):
        return []
