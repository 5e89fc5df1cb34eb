"""PostgreSQL through pg8000: settings, and errors by their right names.

pg8000 lets some errors of a lost connection out as the socket raised them, and fails to roll
back or to close what is lost. Here a lost connection is always an InterfaceError that says
"network error", as SQLAlchemy expects it: it then opens another one.

How the database is opened: drivers, and what makes an acknowledged answer durable.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pg8000
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, Dialect, ExceptionContext, make_url
from sqlalchemy.exc import DataError, IntegrityError, OperationalError
from sqlalchemy.orm import Session

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


# Older libraries can corrupt a database in WAL mode when a checkpoint and a
# restarted log meet: https://sqlite.org/wal.html#walresetbug
WAL_IS_SAFE_FROM = (3, 51, 3)

BUSY_TIMEOUT_MS = 10_000
SCRUB_TIMEOUT_MS = 2_000  # writers wait meanwhile

BUSY = 5  # SQLITE_BUSY: https://sqlite.org/rescode.html
ASK_AGAIN_AFTER = 0.0005  # seconds; a third of what an answer takes to be written

# Any number that other users of the server are unlikely to lock as well.
ONE_AT_A_TIME = 5_300_006

# A reader that takes long, such as a backup, lets the log grow; afterwards it is cut back.
LONGEST_LOG = 16 * 2**20

# SQLITE_READONLY, _IOERR, _CORRUPT, _CANTOPEN and _NOTADB: https://sqlite.org/rescode.html
HURT = (8, 10, 11, 14, 26)


def sqlite_library() -> ModuleType:
    """Return the newest SQLite driver there is: pysqlite3 from PyPI, else Python's own."""
    try:
        import pysqlite3
    except ImportError:
        return sqlite3
    return pysqlite3  # type: ignore[no-any-return] # pysqlite3 has no type hints


def database_url(uri: str) -> URL:
    """Read a database address; PostgreSQL is reached through pg8000 unless a driver is named.

    Raises ValueError for any other kind of database, naming the two there are.
    """
    try:
        url = make_url(uri.replace("postgres://", "postgresql://", 1))
    except Exception as error:
        raise ValueError(
            "the database address cannot be read; write sqlite:///FILE or "
            "postgresql://USER:PASSWORD@HOST/NAME"
        ) from error
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+pg8000")
    if url.drivername == "postgresql+pg8000" and "host" in url.query:
        # A socket folder is ?host=… to libpq and ?unix_sock=…/.s.PGSQL.5432 to pg8000.
        socket = f"{url.query['host']}/.s.PGSQL.{url.port or 5432}"
        url = url.difference_update_query(["host"]).update_query_dict({"unix_sock": socket})
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(
            f"{url.get_backend_name()} is not supported; use sqlite:///FILE or postgresql://…"
        )
    return url


def engine_options(url: URL) -> dict[str, Any]:
    """Return what ``create_engine`` needs for this kind of database.

    Errors never repeat the values of a statement: they may be personal data.
    """
    if url.get_backend_name() == "sqlite":
        return {"module": sqlite_library(), "hide_parameters": True}
    return {"pool_pre_ping": True, "hide_parameters": True}


def sqlite_engine(path: Path, *, read_only: bool = False) -> Engine:
    """Open an SQLite file beside the survey's database, for example a backup.

    With ``read_only`` the file stays as it is, journal mode included, and must be there.
    """
    if read_only:
        named = f"file:{quote(str(path))}"
        url = URL.create("sqlite", database=named, query={"mode": "ro", "uri": "true"})
        return create_engine(url, **engine_options(url))
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    return engine


def prepare(engine: Engine) -> None:
    """Attach the settings that every connection of this engine gets."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "handle_error", _leave_a_hurt_connection)
    else:
        event.listen(engine, "do_connect", connect)
        event.listen(engine, "connect", _set_up_postgresql)
        event.listen(engine, "handle_error", name_error)


def reading(session: Session) -> Session:
    """Start a transaction that only reads, so that on SQLite it waits for no writer.

    Call it first in a unit of work; a write in such a transaction is refused by
    SQLite, which is how we know that showing a page changes nothing.
    """
    session.connection(execution_options={"sqlite_begin": "DEFERRED"})
    return session


def writing(session: Session) -> Session:
    """End a transaction that only reads, and begin one that may write, waiting for one's turn.

    What was read stays as it was, and belongs to no session; all of it may be someone
    else's by now, since SQLite gives the numbers of deleted rows again. On PostgreSQL the
    same transaction may write: each of its statements sees what is there by then.
    """
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        session.expunge_all()
        # The session's transaction goes on: leaving and beginning one takes longer than a write.
        driver: Any = connection.connection.driver_connection
        driver.rollback()
        _begin_to_write(connection, driver)
    return session


def snapshot(session: Session) -> Session:
    """Start a transaction that sees one state of the database, however long it reads.

    SQLite's reading transactions do so anyway; on PostgreSQL it takes REPEATABLE READ.
    """
    session.rollback()
    if session.get_bind().dialect.name == "sqlite":
        return reading(session)
    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    return session


def scrub(session: Session) -> bool:
    """Take what was deleted out of SQLite's log as well; tell whether that is done.

    Someone who reads meanwhile may keep the log from being emptied; it is then emptied by
    the next call. PostgreSQL keeps its log as its administrator says.
    """
    session.rollback()
    engine = session.get_bind()
    if engine.dialect.name != "sqlite":
        return True
    driver = engine.raw_connection()  # type: ignore[union-attr] # sessions are bound to engines
    try:
        cursor = driver.cursor()
        cursor.execute("PRAGMA query_only = OFF")
        cursor.execute(f"PRAGMA busy_timeout = {SCRUB_TIMEOUT_MS}")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    finally:
        driver.close()
    return not busy


def one_at_a_time(session: Session) -> None:
    """Let others who call this wait until the transaction ends; SQLite's writers do anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ONE_AT_A_TIME})


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, below
    library = tuple(int(part) for part in sqlite_library().sqlite_version.split("."))
    journal, synchronous = ("WAL", "FULL") if library >= WAL_IS_SAFE_FROM else ("DELETE", "EXTRA")
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        f"journal_mode = {journal}",
        f"synchronous = {synchronous}",  # an acknowledged answer has reached the disk
        "foreign_keys = ON",
        "secure_delete = ON",  # what is deleted is overwritten
        f"journal_size_limit = {LONGEST_LOG}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _set_up_postgresql(connection: Any, _: object) -> None:
    """Wait for locks as long as on SQLite, and never acknowledge what is not on the disk."""
    cursor = connection.cursor()
    cursor.execute(f"SET lock_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
    cursor.close()
    connection.commit()


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock at BEGIN.

    A deferred transaction that first reads and then writes fails at once when
    another wrote in between, however long the busy timeout.
    """
    mode = connection.get_execution_options().get("sqlite_begin", "IMMEDIATE")
    # Past SQLAlchemy, which takes ten times as long for it. None of it looks at the file but
    # BEGIN IMMEDIATE, which says what is wrong by way of SQLAlchemy.
    driver: Any = connection.connection.driver_connection
    if mode == "DEFERRED":
        driver.execute("PRAGMA query_only = ON")
        driver.execute("BEGIN DEFERRED")
    else:
        _begin_to_write(connection, driver)


def _begin_to_write(connection: Connection, driver: Any) -> None:
    driver.execute("PRAGMA query_only = OFF")
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        if not _has_its_turn(driver):
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # which tells what is the matter
    finally:
        if not connection.invalidated:
            driver.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _has_its_turn(driver: Any) -> bool:
    """Begin to write as soon as nobody else does; False for whoever waited too long.

    SQLite's own waiting asks less and less often, soon every 100 ms only, so that whoever
    waits is overtaken by whoever comes later.
    """
    until = monotonic() + BUSY_TIMEOUT_MS / 1000
    while monotonic() < until:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite_library().Error as error:
            if _code_of(error) != BUSY:
                return False
            sleep(ASK_AGAIN_AFTER)
        else:
            return True
    return False


def _leave_a_hurt_connection(context: ExceptionContext) -> None:
    """Let no later request have a connection to whose files something happened.

    Where a file could not be opened for writing, say, SQLite opens it for reading, and
    every later answer over this connection would be refused.
    """
    context.is_disconnect = context.is_disconnect or is_hurt(context.original_exception)


def is_hurt(error: BaseException) -> bool:
    """Tell whether something happened to SQLite's files, as an error has it."""
    return _code_of(error) in HURT


def _code_of(error: BaseException) -> int:
    """Return the primary code of SQLite's error, 0 if it is none of SQLite's."""
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
