"""A database that can be put back to where it was, again and again."""

from pathlib import Path
from typing import Protocol

from sqlalchemy import Engine, create_engine, text


class Kept(Protocol):
    """What was in a database; nobody may be connected when it is put back."""

    def put_back(self) -> None:
        """Undo everything that was done since."""

    def drop(self) -> None:
        """Let go of what was kept."""


class KeptFile:
    """The bytes of a SQLite database."""

    def __init__(self, file: Path) -> None:
        self.file, self.fresh = file, file.read_bytes()

    def put_back(self) -> None:
        """Write the file anew."""
        self.file.write_bytes(self.fresh)

    def drop(self) -> None:
        """Nothing is left but the test's own file."""


class KeptDatabase:
    """A copy of a PostgreSQL database, on the same server."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.url.database
        self.fresh = f"{self.name}_kept"
        server = engine.url.set(database="postgres")
        self.maintenance = create_engine(server, isolation_level="AUTOCOMMIT")
        self._run(f"CREATE DATABASE {self.fresh} TEMPLATE {self.name}")

    def put_back(self) -> None:
        """Copy the copy back."""
        self._run(f"DROP DATABASE {self.name} WITH (FORCE)")
        self._run(f"CREATE DATABASE {self.name} TEMPLATE {self.fresh}")

    def drop(self) -> None:
        """Drop the copy."""
        self._run(f"DROP DATABASE {self.fresh} WITH (FORCE)")
        self.maintenance.dispose()

    def _run(self, statement: str) -> None:
        with self.maintenance.connect() as connection:
            connection.execute(text(statement))


def keep(engine: Engine) -> Kept:
    """Keep what is in a database; give up every connection to it first."""
    if engine.dialect.name == "sqlite":
        return KeptFile(Path(engine.url.database or ""))
    return KeptDatabase(engine)
