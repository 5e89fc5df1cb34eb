"""Every field the survey stores, what for and for how long, told by the models themselves."""

import inspect
from dataclasses import dataclass

from survey.db.models import Base

# Whom a table is about, in the order of the page.
ABOUT = {
    "Participants": (
        *("participant", "presentation", "response", "revision", "browser", "identity"),
        *("guest", "erasure"),
    ),
    "Studies": ("study", "question", "consent_text", "event"),
    "Researchers": ("researcher", "membership", "sign_in", "sign_in_link", "sign_in_throttle"),
}


@dataclass(frozen=True)
class StoredTable:
    """A table: its name, what a row is, how long it stays, and (field, purpose) of each."""

    name: str
    meaning: str
    kept: str
    fields: tuple[tuple[str, str], ...]


def stored_tables() -> dict[str, list[StoredTable]]:
    """Return the tables by whom they are about."""
    tables = {model.__tablename__: model for model in _models()}
    return {who: [_table(tables[name]) for name in names] for who, names in ABOUT.items()}


def _models() -> list[type[Base]]:
    return [mapper.class_ for mapper in Base.registry.mappers]


def _table(model: type[Base]) -> StoredTable:
    return StoredTable(
        name=model.__tablename__,
        meaning=(inspect.getdoc(model) or "").partition("\n\n")[0].replace("``", ""),
        kept=model.kept,
        fields=tuple((column.name, column.doc or "") for column in model.__table__.columns),
    )
