"""Rows as the databases' drivers make them: those of SQLAlchemy take twice as long."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, cast, extract, func
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from survey.db.postgresql import Lines

Row = Sequence[Any]


def is_sqlite(session: Session) -> bool:
    """Tell which of the two databases it is."""
    return session.get_bind().dialect.name == "sqlite"


def whole_seconds(session: Session, begun: Any, ended: Any) -> ColumnElement[Any]:
    """Return the time between two moments in whole seconds of each, as files give them."""
    if is_sqlite(session):
        began, ends = (func.strftime("%s", func.substr(one, 1, 19)) for one in (begun, ended))
        return cast(ends, Integer) - cast(began, Integer)
    began, ends = (func.date_trunc("second", one) for one in (begun, ended))
    return cast(extract("epoch", ends - began), Integer)


def read_rows(
    session: Session,
    statement: Select[Any],
    take: Callable[[Sequence[Row]], None],
    count: int,
) -> None:
    """Hand on the driver's rows, so many at a time: texts only from PostgreSQL, None for NULL."""
    connection = session.connection()
    try:
        if is_sqlite(session):
            driver: Any = connection.execute(statement).cursor
            for rows in iter(lambda: driver.fetchmany(count), []):
                take(rows)
        else:
            sql = statement.compile(
                dialect=connection.dialect, compile_kwargs={"literal_binds": True}
            )
            lines, cursor = Lines(take, count), connection.connection.cursor()
            # Nothing in it comes from people: names of columns, and the study's number.
            cursor.execute(f"COPY ({sql}) TO STDOUT", stream=lines)  # type: ignore[call-arg]
            lines.hand_on()
    except connection.dialect.loaded_dbapi.Error as error:
        raise OperationalError("reading votes", None, error) from error
