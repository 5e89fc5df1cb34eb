"""Work that is killed, as by a power cut, just before its n-th statement reaches the database.

Each run is a process of its own, forked from one that has all modules loaded already.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, create_engine, event

from survey.db import migration
from survey.db.engine import database_url, engine_options, prepare
from survey.services.operations.backups import restore_backup
from survey.services.operations.database import upgrade_database
from tests.promises.schemas import NEXT_RELEASE

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


def killed_at(number: int, work: Callable[..., None], uri: str, *arguments: object) -> bool:
    """Run ``work`` on a database; tell whether it got as far as that statement, and was killed."""
    process = FORKS.Process(target=_run, args=(number, work, uri, *arguments))
    process.start()
    process.join(120)
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    with closing(process):
        return process.exitcode != 0


def upgrade(engine: Engine) -> None:
    upgrade_database(engine)


def upgrade_to_next_release(engine: Engine) -> None:
    migration.VERSIONS.append(NEXT_RELEASE)
    upgrade_database(engine)


def replace(engine: Engine, backup: Path, folder: Path) -> None:
    restore_backup(engine, backup, folder, replace=True)


def all_at_once(many: int, work: Callable[..., None], uri: str) -> list[int | None]:
    """Run ``work`` in so many processes at the same time; return how each ended."""
    processes = [FORKS.Process(target=_run, args=(0, work, uri)) for _ in range(many)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    return [process.exitcode for process in processes]


def _run(number: int, work: Callable[..., None], uri: str, *arguments: object) -> None:
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    left = number

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(engine, "before_cursor_execute", count)
    event.listen(engine, "commit", count)
    work(engine, *arguments)
