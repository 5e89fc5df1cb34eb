"""Promise 8: an interrupted restore leaves the old or the new, and backups while others write."""

import shutil

import pytest
from sqlalchemy.orm import Session

from survey.services.operations.backups import write_backup
from survey.services.studies import lifecycle
from tests.builders import a_plan
from tests.promises.filled import everything_in, fill
from tests.promises.interrupted import killed_at, replace

EVERY = 11  # as many statements further at each kill


@pytest.mark.trial
def test_a_restore_killed_at_any_moment_leaves_the_old_or_the_new(
    app, session, engine, database_uri, tmp_path, measured
):
    fill(app, session)
    backup, work = tmp_path / "backup.sqlite3", tmp_path / "work"
    write_backup(engine, backup)
    new = everything_in(engine)
    lifecycle.create_study(session, "later", a_plan())
    session.rollback()
    old = everything_in(engine)
    number, kills = 1, 0
    while _restore_killed_at(number, database_uri, backup, work):
        assert everything_in(engine) == old, number
        number, kills = number + EVERY, kills + 1
    assert everything_in(engine) == new
    with Session(engine) as another:
        lifecycle.create_study(another, "numbered-after-what-is-there", a_plan())
    assert kills > 20
    measured(
        f"A restore on {engine.dialect.name} killed {kills} times, each time {EVERY} statements "
        "later: what was there was there unchanged, and the last one put all of the backup there."
    )


def _restore_killed_at(number, uri, backup, work):
    work.mkdir()
    killed = killed_at(number, replace, uri, backup, work)
    shutil.rmtree(work)
    return killed
