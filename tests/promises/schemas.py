"""What a database's schema is, in a form in which two of them can be compared."""

import re
from pathlib import Path

from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from survey.db import migration

NEXT_RELEASE = Path(__file__).parent / "next_release"


def revisions() -> list[str]:
    """All revisions there are, oldest first."""
    known = ScriptDirectory.from_config(migration._config()).walk_revisions()
    return [script.revision for script in known][::-1]


def schema_of(engine) -> dict[str, list[str]]:
    """Tables with columns, keys and constraints, and the triggers, in no order of their own."""
    with engine.connect() as connection:
        looking = inspect(connection)
        found = {
            name: sorted(
                str(one)
                for parts in (
                    looking.get_columns(name),
                    [looking.get_pk_constraint(name)],
                    looking.get_foreign_keys(name),
                    looking.get_unique_constraints(name),
                    looking.get_check_constraints(name),
                    map(_as_texts, looking.get_indexes(name)),
                )
                for one in parts
            )
            for name in looking.get_table_names()
        }
        return {**found, "triggers": sorted(_triggers(connection))}


def _as_texts(index):
    """Return an index whose condition is a text, not an object with an address of its own."""
    options = index.get("dialect_options", {})
    return {**index, "dialect_options": {name: str(value) for name, value in options.items()}}


def _triggers(connection):
    if connection.dialect.name == "sqlite":
        made = connection.execute(text("SELECT sql FROM sqlite_master WHERE type = 'trigger'"))
    else:
        made = connection.execute(
            text(
                "SELECT pg_get_triggerdef(t.oid) || pg_get_functiondef(t.tgfoid) "
                "|| t.tgenabled::text FROM pg_trigger t WHERE NOT t.tgisinternal"
            )
        )
    return [re.sub(r"\s+", " ", one) for one in made.scalars()]
