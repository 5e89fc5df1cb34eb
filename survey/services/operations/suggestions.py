"""What a shell may suggest on Tab: names that there are, quickly or not at all.

Without SQLAlchemy and the models, which take a second to load: nobody waits that long for a
suggestion. So on SQLite only; PostgreSQL's driver is as slow.
"""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

PATIENCE = 0.2  # seconds, where somebody writes to the database


def measures(_: str) -> list[str]:
    """Return the names of the measures, the usual ones of each family."""
    from survey.core.measures import MEASURES  # numpy, which names of studies do without

    return list(MEASURES)


def studies(address: str) -> list[str]:
    """Return the studies' slugs; none where no database says so."""
    return _names(address, "SELECT slug FROM study ORDER BY id")


def researchers(address: str) -> list[str]:
    """Return the researchers' names; none where no database says so."""
    return _names(address, "SELECT name FROM researcher ORDER BY name")


KINDS: Mapping[str, Callable[[str], list[str]]] = {
    "measures": measures,
    "study": studies,
    "target": studies,
    "researcher": researchers,
}


def _names(address: str, query: str) -> list[str]:
    """Look into an SQLite file that is there; whatever is wrong, there is nothing to suggest."""
    path = Path(address.removeprefix("sqlite:///"))
    if not (address.startswith("sqlite:///") and path.is_file()):
        return []
    try:
        named = f"file:{quote(str(path))}?mode=ro"
        with closing(sqlite3.connect(named, timeout=PATIENCE, uri=True)) as database:
            return [name for (name,) in database.execute(query)]
    except sqlite3.Error:
        return []
