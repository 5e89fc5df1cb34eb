"""Promise 8: migrations lose nothing, up and down, interrupted or not."""

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from survey.db import migration
from survey.services.exchange.bundle import stream_file
from survey.services.studies import lifecycle
from tests.promises.filled import SLUG, everything_in, exported
from tests.promises.interrupted import killed_at, upgrade
from tests.promises.schemas import revisions, schema_of

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "data"
HEAD = revisions()[-1]


@pytest.fixture
def filled(filled, engine):
    """A filled database of the newest schema, without what 0006 added: its downgrade drops it."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE participant SET understood = NULL"))
        for table in ("response", "revision"):
            connection.execute(text(f"UPDATE {table} SET asked = NULL"))
            changed = f"UPDATE ordering_{table} SET typed = false, scores_seen = NULL"
            connection.execute(text(changed))
    return engine


@pytest.fixture
def first_release(empty_app, engine):
    """A database as the first release left it: two participants, one own ranking, one change."""
    migration.upgrade(engine, "0001")
    with engine.begin() as connection:
        for statement in (DATA / "revision_0001.sql").read_text().split(";\n"):
            connection.exec_driver_sql(
                statement.replace("%", "%%") if _is_pg(engine) else statement
            )
    return engine


def revision_of(engine):
    with engine.connect() as connection:
        return migration.current_revision(connection)


def _is_pg(engine):
    return engine.dialect.name == "postgresql"


def test_down_to_each_revision_and_up_again_exports_the_same_bytes(filled, measured):
    before, schema = exported(filled, with_identities=False), schema_of(filled)
    older = revisions()[:-1]
    for revision in reversed(older):
        migration.downgrade(filled, revision)
        migration.upgrade(filled)
        assert schema_of(filled) == schema, revision
        assert exported(filled, with_identities=False) == before, revision
    measured(
        f"Migrations on {filled.dialect.name}, with data: down to {', '.join(reversed(older))} and "
        "up again gives the same schema and the same export, byte by byte."
    )


def test_all_the_way_down_and_up_again_gives_the_same_schema(app, engine):
    schema = schema_of(engine)
    migration.downgrade(engine, "base")
    migration.upgrade(engine)
    assert schema_of(engine) == schema


def test_each_revision_has_the_same_schema_from_above_and_from_below(empty_app, engine):
    for revision in revisions()[:-1]:
        migration.upgrade(engine, revision)
        from_below = schema_of(engine)
        migration.upgrade(engine)
        migration.downgrade(engine, revision)
        assert schema_of(engine) == from_below, revision


def test_what_the_first_release_stored_is_read_as_it_was(first_release):
    migration.upgrade(first_release)
    with Session(first_release) as session:
        study = lifecycle.find_study(session, SLUG)
        responses = "".join(stream_file(session, study, "responses.csv"))
    lines = [line.rsplit(",", 3)[0] for line in responses.splitlines()]  # newer columns last
    assert lines == (DATA / "revision_0001_responses.csv").read_text().splitlines()


@pytest.mark.trial
def test_an_upgrade_killed_at_any_statement_leaves_the_old_schema_or_the_new(
    first_release, database_uri, measured
):
    schema, rows = schema_of(first_release), everything_in(first_release)
    number = 1
    while killed_at(number, upgrade, database_uri) and revision_of(first_release) != HEAD:
        assert schema_of(first_release) == schema, number
        assert everything_in(first_release) == rows, number
        number += 1
    # What follows the last commit, a look for tables of kinds from outside, changes nothing.
    newest = schema_of(first_release)
    while killed_at(number, upgrade, database_uri):
        assert schema_of(first_release) == newest, number
        number += 1
    assert schema_of(first_release) == newest
    assert revision_of(first_release) == HEAD
    test_what_the_first_release_stored_is_read_as_it_was(first_release)
    assert number > 20
    measured(
        f"An upgrade on {first_release.dialect.name} killed before each of its {number - 1} "
        "statements: the old schema with all its rows every time, and the next upgrade finished."
    )


@pytest.mark.trial
def test_a_first_start_killed_at_any_statement_can_be_repeated(empty_app, engine, database_uri):
    number = 1
    while killed_at(number, upgrade, database_uri) and revision_of(engine) is None:
        assert schema_of(engine) == {"triggers": []}, number
        number += 1
    assert revision_of(engine) == HEAD
    assert number > 20
    migration.upgrade(engine)
