"""The base class of the tables: how constraints are named, and types of columns."""

from datetime import datetime
from typing import Annotated, Any, ClassVar

from sqlalchemy import JSON, MetaData
from sqlalchemy.orm import DeclarativeBase, mapped_column

from survey.db.types import UtcDateTime

Moment = Annotated[datetime, mapped_column(UtcDateTime)]
JsonObject = Annotated[dict[str, Any], mapped_column(JSON)]
Names = Annotated[list[str], mapped_column(JSON)]
Numbers = Annotated[list[int], mapped_column(JSON)]
Texts = Annotated[list[list[str]], mapped_column(JSON)]


class Base(DeclarativeBase):
    """The base of all tables; constraints have names so that migrations can refer to them.

    ``retention``: how long a row is stored. The privacy page lists it, with each column's ``doc``.
    """

    retention: ClassVar[str]

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
