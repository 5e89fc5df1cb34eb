"""Write a migration from what the models say and the newest migration does not."""

import tempfile
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine

from survey.core.kinds import KINDS
from survey.db.engine import database_url, engine_options, prepare
from survey.db.migration import _config, newest_revision, upgrade


def revise(message: str) -> None:
    """Compare the models with a fresh database and write the difference as a migration."""
    for name in KINDS:  # their tables are models once their packages are loaded; else it drops them
        KINDS[name].tables  # noqa: B018
    with tempfile.TemporaryDirectory() as folder:
        url = database_url(f"sqlite:///{Path(folder, 'empty.sqlite3')}")
        engine = create_engine(url, **engine_options(url))
        prepare(engine)
        upgrade(engine)
        number = f"{int(newest_revision() or 0) + 1:04}"
        with engine.begin() as connection:
            command.revision(_config(connection), message, autogenerate=True, rev_id=number)
        engine.dispose()
