"""Suggestions for Tab in a shell: names of measures, studies and researchers.

They are read with sqlite3: SQLAlchemy and the models take a second to load. PostgreSQL's
driver is as slow, so names stored there are not suggested.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from survey.config import MissingInstanceError, Settings, UnsafeSettingsError

LOCK_SECONDS = 0.2  # seconds to wait for a lock
STUDIES = "SELECT slug FROM study ORDER BY id"
QUERIES = {
    "study": STUDIES,
    "target": STUDIES,
    "researcher": "SELECT name FROM researcher ORDER BY name",
}


def names(name_type: str) -> list[str]:
    """Return all names of a type: "measures", or a key of ``QUERIES``.

    Of a family of measures, the usual ones; no studies and researchers where the database
    cannot be read.
    """
    if name_type == "measures":
        from survey.core.measures import MEASURES  # imports numpy, which other names do not need

        return list(MEASURES)
    # Names need no key; without this one, the settings would write a new one to disk.
    environment = {**os.environ, "SURVEY_SECRET_KEY": "unused" * 10}
    try:
        address = Settings.from_environment(environment).database_uri
        path = Path(address.removeprefix("sqlite:///"))
        if not (address.startswith("sqlite:///") and path.is_file()):
            return []
        uri = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(uri, timeout=LOCK_SECONDS, uri=True)) as database:
            return [name for (name,) in database.execute(QUERIES[name_type])]
    except (MissingInstanceError, UnsafeSettingsError, sqlite3.Error):
        return []
