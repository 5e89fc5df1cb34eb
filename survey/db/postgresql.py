"""PostgreSQL through pg8000: settings, and errors by their right names.

pg8000 lets some errors of a lost connection out as the socket raised them, and fails to roll
back or to close what is lost. Here a lost connection is always an InterfaceError that says
"network error", as SQLAlchemy expects it: it then opens another one.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pg8000
from sqlalchemy.engine import Dialect, ExceptionContext
from sqlalchemy.exc import DataError, IntegrityError, OperationalError

LOST = "network error"

ESCAPED = re.compile(r"\\(.)")  # in the lines of a COPY
STANDS_FOR = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class PostgresConnection(pg8000.Connection):  # type: ignore[misc] # pg8000 has no type hints
    """A connection that says when it is lost."""

    def handle_messages(self, context: Any) -> None:
        """Read what the server says; raise InterfaceError when it is gone."""
        try:
            super().handle_messages(context)
        except OSError as error:
            raise pg8000.InterfaceError(LOST) from error

    def rollback(self) -> None:
        """Roll back; what is lost was rolled back by the server, and is used by nobody again."""
        try:
            super().rollback()
        except pg8000.Error:
            self.close()

    def close(self) -> None:
        """Close, also what is lost."""
        with suppress(pg8000.InterfaceError):
            super().close()


def connect(
    _: Dialect, __: object, args: Sequence[Any], parameters: dict[str, Any]
) -> PostgresConnection:
    """Connect; a server that ends a connection at its very beginning is one that is away."""
    try:
        return PostgresConnection(*args, **parameters)
    except OSError as error:
        raise pg8000.InterfaceError(LOST) from error


def name_error(context: ExceptionContext) -> BaseException | None:
    """Raise as what they are the errors that pg8000 all calls programming errors.

    By the class of their SQLSTATE: 22 is a value that cannot be stored (a NUL in a text),
    23 breaks a constraint; 08, 40, 53, 55, 57 and 58 are a server that is lost, in conflict,
    out of resources, locked, shutting down, or in trouble with its disk. After 08 and 57P,
    the connection is lost.
    """
    told = context.original_exception.args[:1]
    state = told[0].get("C", "") if told and isinstance(told[0], dict) else ""
    if state.startswith(("08", "57P")):
        context.is_disconnect = True
    kinds = {"22": DataError, "23": IntegrityError} | dict.fromkeys(
        ("08", "40", "53", "55", "57", "58"), OperationalError
    )
    kind = kinds.get(state[:2])
    if kind is None or isinstance(context.sqlalchemy_exception, kind):
        return None
    return kind(
        context.statement,
        context.parameters,
        context.original_exception,
        hide_parameters=True,
        connection_invalidated=context.is_disconnect,
    )


class Lines:
    """The lines of a COPY as rows of texts, None for NULL, handed on so many at a time."""

    def __init__(self, take: Callable[[list[list[Any]]], None], count: int) -> None:
        self._take, self._count = take, count
        self._lines: list[bytes] = []

    def write(self, line: bytes) -> None:
        """Take a line: pg8000 brings each by itself."""
        self._lines.append(line)
        if len(self._lines) == self._count:
            self.hand_on()

    def hand_on(self) -> None:
        """Hand on what is left."""
        if self._lines:
            text = b"".join(self._lines).decode()
            self._lines.clear()
            rows = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
            self._take([[_unescaped(one) for one in row] for row in rows] if "\\" in text else rows)


def _unescaped(text: str) -> str | None:
    r"""Read \N as NULL, and \n, \t and so on as what they stand for."""
    if "\\" not in text:
        return text
    return None if text == r"\N" else ESCAPED.sub(lambda one: STANDS_FOR.get(one[1], one[1]), text)
