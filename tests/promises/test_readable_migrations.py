"""Promise 8: migrations lose nothing, up and down, interrupted or not."""

import pytest

from survey.db import migration
from tests.promises.filled import everything_in, exported
from tests.promises.interrupted import killed_at, upgrade, upgrade_to_next_release
from tests.promises.schemas import revisions, schema_of

pytestmark = pytest.mark.slow

HEAD = revisions()[-1]


def revision_of(engine):
    with engine.connect() as connection:
        return migration.current_revision(connection)


def test_down_to_each_revision_and_up_again_exports_the_same_bytes(filled, next_release, measured):
    before, rows = exported(filled), everything_in(filled)
    migration.upgrade(filled)
    schema, upgraded = schema_of(filled), everything_in(filled)
    older = revisions()[:-1]
    for revision in reversed(older):
        migration.downgrade(filled, revision)
        if revision == older[-1]:  # others lack columns, none of which holds anything here
            assert everything_in(filled) == rows
        migration.upgrade(filled)
        assert everything_in(filled) == upgraded, revision
        assert schema_of(filled) == schema, revision
        assert exported(filled) == before, revision
    measured(
        f"Migrations on {filled.dialect.name}, with data, to a release that copies a table and "
        f"back to {', '.join(reversed(older))}: the same schema, rows and export, byte by byte."
    )


def test_all_the_way_down_and_up_again_gives_the_same_schema(app, engine, next_release):
    migration.upgrade(engine)
    schema = schema_of(engine)
    migration.downgrade(engine, "base")
    assert {*schema_of(engine)} == {"alembic_version", "triggers"}
    migration.upgrade(engine)
    assert schema_of(engine) == schema


def test_each_revision_has_the_same_schema_from_above_and_from_below(
    empty_app, engine, next_release
):
    for revision in revisions()[:-1]:
        migration.upgrade(engine, revision)
        from_below = schema_of(engine)
        migration.upgrade(engine)
        migration.downgrade(engine, revision)
        assert schema_of(engine) == from_below, revision


@pytest.mark.trial
def test_an_upgrade_killed_at_any_statement_leaves_the_old_schema_or_the_new(
    filled, database_uri, measured
):
    schema, rows, bundle = schema_of(filled), everything_in(filled), exported(filled)
    number = 1
    while killed_at(number, upgrade_to_next_release, database_uri) and revision_of(filled) == HEAD:
        assert schema_of(filled) == schema, number
        assert everything_in(filled) == rows, number
        number += 1
    # What follows the last commit, a look for tables of kinds from outside, changes nothing.
    newest = schema_of(filled)
    while killed_at(number, upgrade_to_next_release, database_uri):
        assert schema_of(filled) == newest, number
        number += 1
    assert schema_of(filled) == newest != schema
    assert exported(filled) == bundle
    assert number > 10
    measured(
        f"An upgrade on {filled.dialect.name} killed before each of its {number - 1} statements: "
        "the old schema with all its rows every time, and the next upgrade finished."
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
