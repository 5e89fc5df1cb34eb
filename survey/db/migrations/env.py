"""Alembic's entry: run the migrations on the connection that survey.db.migration gives."""

from typing import Literal

from alembic import context
from sqlalchemy.types import TypeDecorator

from survey.db.models.base import Base


def render_item(kind: str, item: object, _: object) -> str | Literal[False]:
    """Write our column types as what they store: a migration outlives the code of its day."""
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl!r}"
    return False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    compare_type=True,
    render_item=render_item,
)
context.run_migrations()
