"""Suggestions for Tab in a shell: names of measures, studies and researchers.

They are read with sqlite3: SQLAlchemy and the models take a second to load. PostgreSQL's
driver is as slow, so names stored there are not suggested.
"""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

PATIENCE = 0.2  # seconds to wait for a lock


def measures(_: str) -> list[str]:
    """Return the names of the registered measures, for families the usual ones."""
    from survey.core.measures import MEASURES  # imports numpy, which the other names do not need

    return list(MEASURES)


def studies(address: str) -> list[str]:
    """Return the slugs in the database at this address, none where it cannot be read."""
    return _names(address, "SELECT slug FROM study ORDER BY id")


def researchers(address: str) -> list[str]:
    """Return the researchers in the database at this address, none where it cannot be read."""
    return _names(address, "SELECT name FROM researcher ORDER BY name")


KINDS: Mapping[str, Callable[[str], list[str]]] = {
    "measures": measures,
    "study": studies,
    "target": studies,
    "researcher": researchers,
}


def _names(address: str, query: str) -> list[str]:
    """Query an existing SQLite file; return nothing for another database or after an error."""
    path = Path(address.removeprefix("sqlite:///"))
    if not (address.startswith("sqlite:///") and path.is_file()):
        return []
    try:
        uri = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(uri, timeout=PATIENCE, uri=True)) as database:
            return [name for (name,) in database.execute(query)]
    except sqlite3.Error:
        return []
