"""Database connections: drivers, settings that keep a saved answer, transactions, errors.

SQLite is opened so that writers take turns at BEGIN and a committed answer is on the disk.
PostgreSQL is reached through psycopg, which prepares a statement on the server when it is
executed often. Prepared statements, which participants' pages execute, run on the driver itself.
"""

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from types import ModuleType
from typing import Any, cast
from urllib.parse import quote

from sqlalchemy import Connection, Engine, Insert, Select, Update, create_engine, event, text
from sqlalchemy.engine import URL, Dialect, ExceptionContext, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session, SessionTransaction

# Older libraries can corrupt a database in WAL mode when a checkpoint and a
# restarted log meet: https://sqlite.org/wal.html#walresetbug
WAL_IS_SAFE_FROM = (3, 51, 3)

BUSY_TIMEOUT_MS = 10_000
CHECKPOINT_TIMEOUT_MS = 200  # writers wait while the log is emptied

# https://sqlite.org/rescode.html
BUSY = 5
LOCKED = (BUSY, 15)  # PROTOCOL: so after an unlock of a reader failed
FILE_ERRORS = (8, 10, 11, 14, 26)  # READONLY, IOERR, CORRUPT, CANTOPEN, NOTADB
RETRY_SECONDS = 0.0005  # a third of the time that saving an answer takes
# After .2 s without the lock; else the many that wait for a writer who takes long leave readers
# no processor time.
LATE_RETRY_SECONDS = 0.01

_turn = Lock()  # held by the thread of this process that waits for SQLite's write lock

# In a connection's info, while it only reads: how many rows it had changed before.
CHANGES_BEFORE = "changes_before"

# A reader that takes long, such as a backup, lets the log grow; afterwards it is cut back.
LONGEST_LOG = 16 * 2**20

# Any number that other users of the server are unlikely to lock as well.
GLOBAL_LOCK = 5_300_006

# libpq's settings. Without the second, a connection to a machine that lost its power is given up
# only after a quarter of an hour.
# Texts are sent as UTF-8 to a database of another encoding, too.
CONNECTION = {
    "connect_timeout": 10,
    "tcp_user_timeout": BUSY_TIMEOUT_MS,
    "client_encoding": "utf8",
}


def sqlite_library() -> ModuleType:
    """Return the newest SQLite driver installed: pysqlite3 from PyPI, else Python's own."""
    try:
        import pysqlite3
    except ImportError:
        return sqlite3
    return pysqlite3  # type: ignore[no-any-return] # pysqlite3 has no type hints


def database_url(uri: str) -> URL:
    """Parse a database address; PostgreSQL is reached through psycopg, whatever driver it names.

    Raises ValueError for any other database system, naming the two that are supported.
    """
    try:
        url = make_url(uri.replace("postgres://", "postgresql://", 1))
    except Exception as error:
        raise ValueError(
            "the database address cannot be read; write sqlite:///FILE or "
            "postgresql://USER:PASSWORD@HOST/NAME"
        ) from error
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(
            f"{url.get_backend_name()} is not supported; use sqlite:///FILE or postgresql://…"
        )
    return url


def is_on_this_machine(url: URL) -> bool:
    """Return whether a database is a file, or a server on this machine."""
    host = str(url.host or url.query.get("host", "/"))  # else libpq's socket
    return host.startswith("/") or host in ("localhost", "127.0.0.1", "::1")


def engine_options(url: URL) -> dict[str, Any]:
    """Return the arguments of ``create_engine`` for this database system.

    Error messages leave out the parameters of a statement: they may be personal data. The server
    limits the connections by its threads: with a limit of the pool, readers would wait for writers.
    """
    if url.get_backend_name() == "sqlite":
        options = {"module": sqlite_library(), "hide_parameters": True}
        is_file = url.database not in (None, "", ":memory:")
        return options | {"max_overflow": -1} if is_file else options
    options = {"pool_pre_ping": True, "hide_parameters": True, "connect_args": CONNECTION}
    return options | {"max_overflow": -1}


def connect(uri: str) -> Engine:
    """Return an engine of the database at this address; raises ValueError as ``database_url``."""
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    return engine


def sqlite_engine(path: Path, *, read_only: bool = False) -> Engine:
    """Open an SQLite file other than the survey's database, for example a backup.

    With ``read_only`` the file must exist and is not changed, its journal mode included.
    """
    if read_only:
        uri = f"file:{quote(str(path))}"
        url = URL.create("sqlite", database=uri, query={"mode": "ro", "uri": "true"})
        return create_engine(url, **engine_options(url))
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    return engine


def prepare(engine: Engine) -> None:
    """Register the listeners that set up each connection, begin transactions, name errors."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "commit", _reject_change_of_reader)
        event.listen(engine, "handle_error", _discard_after_file_error)
    else:
        event.listen(engine, "connect", _set_up_postgresql)
        event.listen(engine, "handle_error", _hide_detail)


def is_sqlite(session: Session) -> bool:
    """Return whether the database is SQLite; if not, it is PostgreSQL."""
    return session.get_bind().dialect.name == "sqlite"


def begin_reading(session: Session) -> Session:
    """Start a transaction that only reads, so that on SQLite it waits for no writer.

    Call it before the first query. Such a transaction cannot commit a change on SQLite: a GET that
    changes something fails.
    """
    session.connection(execution_options={"sqlite_begin": "DEFERRED"})
    return session


def begin_page(session: Session) -> Session:
    """Start reading for a participant's page, as ``begin_reading`` does.

    On PostgreSQL each statement is a transaction of its own. It would see what others commit
    anyway, and after a ROLLBACK psycopg would have all statements parsed and planned again.
    """
    if is_sqlite(session):
        return begin_reading(session)
    session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
    return session


def begin_writing(session: Session) -> Session:
    """End what only reads, and start a transaction that may write, once it has the lock.

    Objects that were read before leave the session and may be out of date: SQLite reuses the
    ids of deleted rows. On PostgreSQL, each statement of the transaction sees what others have
    committed by then.
    """
    connection = session.connection()
    # The session's transaction goes on: ending and beginning that takes longer than a write.
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        session.expunge_all()
        driver.rollback()
        _begin_immediate(connection, driver)
    elif driver.autocommit:
        session.expunge_all()
        driver.autocommit = False  # the next statement begins; the pool sets it back
    return session


def snapshot(session: Session) -> Session:
    """Start a transaction that sees one state of the database, however long it reads.

    SQLite's reading transactions do so anyway; on PostgreSQL it takes REPEATABLE READ.
    """
    session.rollback()
    if is_sqlite(session):
        return begin_reading(session)
    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    return session


def note_deletion(session: Session) -> None:
    """Note, in the transaction that deletes data, that SQLite's log will still hold a copy of them.

    The note is a count in the header of the file, so it outlives the process.
    """
    if is_sqlite(session):
        session.execute(text(f"PRAGMA user_version = {deletions_in_log(session) + 1}"))


def deletions_in_log(session: Session) -> int:
    """Return the count of deletions of which SQLite's log may hold a copy.

    PostgreSQL's log is its administrator's to configure, so the count is 0 there.
    """
    return session.scalar(text("PRAGMA user_version")) or 0 if is_sqlite(session) else 0


def try_write(engine: Engine) -> None:
    """Commit a write that changes nothing; raises OperationalError where that is not possible.

    A locked database is tried for half a second only, since a probe has to answer.
    """
    is_file = engine.dialect.name == "sqlite"
    with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
        connection.begin()
        connection.info.pop(CHANGES_BEFORE, None)
        limit = "PRAGMA busy_timeout = 500" if is_file else "SET LOCAL lock_timeout = 500"
        connection.exec_driver_sql(limit)
        try:
            connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
            connection.commit()
        finally:
            if is_file and not connection.invalidated:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def empty_log(session: Session) -> None:
    """Empty SQLite's log if it may hold deleted data and no reader prevents it."""
    session.rollback()
    count = deletions_in_log(begin_reading(session))
    session.rollback()
    if not count:
        return
    engine = session.get_bind()
    driver = engine.raw_connection()  # type: ignore[union-attr] # sessions are bound to engines
    try:
        cursor = driver.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {CHECKPOINT_TIMEOUT_MS}")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    finally:
        driver.close()
    if not busy and deletions_in_log(session) == count:  # else others deleted more meanwhile
        session.execute(text("PRAGMA user_version = 0"))
        session.commit()
    session.rollback()


def lock_globally(session: Session) -> None:
    """Make other callers of this function wait until the transaction ends.

    SQLite needs no such lock: its writers take turns.
    """
    if not is_sqlite(session):
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": GLOBAL_LOCK})


def is_file_error(error: BaseException) -> bool:
    """Return whether SQLite could not open, read or write one of its files."""
    return _sqlite_code(error) in FILE_ERRORS


# A row: its attributes are named like the columns of the select.
Record = Any


class Prepared:
    """A select, insert or update that runs on the driver, in the session's transaction.

    The values of an execution name its parameters. SQLAlchemy's part of an execution takes seven
    times as long as SQLite's: with it, a question's page would take 1.2 to 1.6 times as long, an
    answer 1.2 to 1.4 times.
    """

    def __init__(self, statement: Select[Any] | Insert | Update):
        self.statement = statement

    def rows(self, session: Session, values: Mapping[str, object]) -> Sequence[Record]:
        """Execute a select, or a write with RETURNING, and return its rows."""
        connection = _connection(session)
        return _compiled(self, connection.dialect, tuple(values)).rows(connection, values)

    def first(self, session: Session, values: Mapping[str, object]) -> Record | None:
        """Execute a select that finds one row at most; return it, or None."""
        rows = self.rows(session, values)
        return rows[0] if rows else None

    def run(self, session: Session, values: Mapping[str, object]) -> None:
        """Execute a write without RETURNING."""
        connection = _connection(session)
        _compiled(self, connection.dialect, tuple(values)).execute(connection, values)


class _DriverStatement:
    """The SQL of a statement, and the conversions of its parameters and of its columns."""

    def __init__(
        self, statement: Select[Any] | Insert | Update, dialect: Dialect, names: Sequence[str]
    ):
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        self.sql = str(compiled)
        types = {name: bound.type for bound, name in compiled.bind_names.items()}
        constants = compiled.construct_params(dict.fromkeys(names))
        self._is_positional = bool(compiled.positiontup)
        self._binds = [
            (name, types[name].dialect_impl(dialect).bind_processor(dialect), constants[name])
            for name in compiled.positiontup or types
        ]
        self._columns = getattr(statement, "exported_columns", ())
        self._reads: list[tuple[int, Callable[[object], object]]] | None = None
        named: Any = namedtuple("Row", [column.key for column in self._columns])  # type: ignore[misc] # no literal
        self._row = named._make

    def execute(self, connection: Connection, values: Mapping[str, object]) -> DBAPICursor:
        """Return the driver's cursor; raise the exceptions that SQLAlchemy would."""
        driver = connection.connection
        cursor = driver.cursor()
        bound = self._bound(values)
        try:
            cursor.execute(self.sql, [v for _, v in bound] if self._is_positional else dict(bound))
        except connection.dialect.loaded_dbapi.Error as error:
            _remove_detail(error)
            lost = is_file_error(error) or connection.dialect.is_disconnect(error, driver, cursor)
            if _sqlite_code(error) in LOCKED:
                connection.engine.dispose()
                lost = True
            if lost:
                connection.invalidate(error)
            if is_file_error(error):
                raise _file_error(self.sql, error) from error
            raise DBAPIError.instance(
                *(self.sql, None, error, connection.dialect.loaded_dbapi.Error),
                hide_parameters=True,
                connection_invalidated=lost,
            ) from error
        return cursor

    def rows(self, connection: Connection, values: Mapping[str, object]) -> Sequence[Record]:
        """Return the rows, as attributes with the types of their columns."""
        cursor = self.execute(connection, values)
        if self._reads is None:
            converts = (
                column.type.dialect_impl(connection.dialect).result_processor(
                    connection.dialect, described[1]
                )
                for column, described in zip(self._columns, cursor.description, strict=True)
            )
            self._reads = [(index, convert) for index, convert in enumerate(converts) if convert]
        return [self._record(row) for row in cursor.fetchall()]

    def _record(self, row: Sequence[object]) -> Record:
        cells = list(row)
        for index, convert in self._reads or ():
            cells[index] = convert(cells[index])
        return self._row(cells)

    def _bound(self, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        for name, convert, constant in self._binds:
            value = values.get(name, constant)
            yield name, convert(value) if convert else value


def _connection(session: Session) -> Connection:
    """Return the connection of the session's transaction, which begins one if there is none."""
    known: Connection | None = session.info.get("connection")
    return session.connection() if known is None else known


# Asking the session for its connection takes a third as long as an execution.
@event.listens_for(Session, "after_begin")
def _keep_connection(session: Session, _: SessionTransaction, connection: Connection) -> None:
    session.info["connection"] = connection


@event.listens_for(Session, "after_transaction_end")
def _forget_connection(session: Session, _: SessionTransaction) -> None:
    session.info.pop("connection", None)


@lru_cache(maxsize=200)
def _compiled(prepared: Prepared, dialect: Dialect, names: tuple[str, ...]) -> _DriverStatement:
    return _DriverStatement(prepared.statement, dialect, names)


def _set_up_sqlite(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # the driver begins no transaction; _begin_sqlite does
    library = tuple(int(part) for part in sqlite_library().sqlite_version.split("."))
    journal, synchronous = ("WAL", "FULL") if library >= WAL_IS_SAFE_FROM else ("DELETE", "EXTRA")
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        f"journal_mode = {journal}",
        f"synchronous = {synchronous}",  # else a power failure can lose a committed answer
        "foreign_keys = ON",
        "secure_delete = ON",  # else erased answers stay readable in the file
        f"journal_size_limit = {LONGEST_LOG}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction, for writing unless ``begin_reading`` asked for less.

    A deferred transaction that first reads and then writes fails at once if another
    connection wrote in between, however long the busy timeout.
    """
    mode = connection.get_execution_options().get("sqlite_begin", "IMMEDIATE")
    # On the driver itself: SQLAlchemy would take ten times as long for each statement.
    driver = cast(sqlite3.Connection, connection.connection.driver_connection)
    if mode == "DEFERRED":
        driver.execute("BEGIN DEFERRED")
        connection.info[CHANGES_BEFORE] = driver.total_changes
    else:
        _begin_immediate(connection, driver)


def _begin_immediate(connection: Connection, driver: sqlite3.Connection) -> None:
    connection.info.pop(CHANGES_BEFORE, None)
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        if not _acquire_write_lock(driver):
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # raises the error by SQLAlchemy's name
    finally:
        if not connection.invalidated:
            driver.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _acquire_write_lock(driver: sqlite3.Connection) -> bool:
    """Begin a transaction as soon as no other connection writes; return False after a timeout.

    SQLite's own busy handler soon retries only every 100 ms, so that an early writer is
    overtaken by later ones and times out. Of the threads of a process one retries, and the others
    sleep until it is their turn.
    """
    began = monotonic()
    if not _turn.acquire(timeout=BUSY_TIMEOUT_MS / 1000):
        return False
    try:
        return _retry_until_locked(driver, began)
    finally:
        _turn.release()


def _retry_until_locked(driver: sqlite3.Connection, began: float) -> bool:
    while (waited := monotonic() - began) < BUSY_TIMEOUT_MS / 1000:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite_library().Error as error:
            if _sqlite_code(error) != BUSY:
                return False
            sleep(RETRY_SECONDS if waited < 0.2 else LATE_RETRY_SECONDS)
        else:
            return True
    return False


def _reject_change_of_reader(connection: Connection) -> None:
    """Raise RuntimeError instead of committing what a transaction changed that was to read only.

    SQLite's PRAGMA query_only would reject the statement itself, but with each change of it SQLite
    parses all statements of the connection again, which takes a sixth of a page's time.
    """
    before = connection.info.get(CHANGES_BEFORE)
    driver = cast(sqlite3.Connection, connection.connection.driver_connection)
    if before is not None and driver.total_changes != before:
        raise RuntimeError("a transaction that was begun to read has changed rows")


def _discard_after_file_error(context: ExceptionContext) -> BaseException | None:
    """Drop a connection after a file error instead of returning it to the pool.

    SQLite opens a file for reading where it cannot open it for writing, and would reject
    every later answer over that connection. Where unlocking failed, the lock is kept until all
    connections of the process are closed.
    """
    error = context.original_exception
    if _sqlite_code(error) in LOCKED and context.engine is not None:
        context.is_disconnect = True
        context.engine.dispose()
    if not is_file_error(error):
        return None
    context.is_disconnect = True
    return _file_error(context.statement, error)


def _file_error(sql: str | None, error: BaseException) -> OperationalError:
    """Return what pages answer 503 to: also for a damaged file, as a disk may read wrongly once."""
    return OperationalError(sql, None, error, hide_parameters=True, connection_invalidated=True)


def _sqlite_code(error: BaseException) -> int:
    """Return the primary error code of SQLite, 0 for errors from elsewhere."""
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _set_up_postgresql(connection: DBAPIConnection, _: object) -> None:
    """Wait for locks as long as on SQLite, and confirm a commit only once it is on the disk."""
    cursor = connection.cursor()
    cursor.execute(f"SET lock_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
    cursor.close()
    connection.commit()


def _hide_detail(context: ExceptionContext) -> BaseException | None:
    """Return the exception without PostgreSQL's detail, and mark a lost connection as lost.

    08 and 57P are the SQLSTATEs of a connection that the network or the server has ended.
    """
    error, known = context.original_exception, context.sqlalchemy_exception
    if str(getattr(error, "sqlstate", None)).startswith(("08", "57P")):
        context.is_disconnect = True
    if not isinstance(known, DBAPIError) or not _remove_detail(error):
        return None
    return type(known)(
        *(context.statement, None, error),
        hide_parameters=True,
        connection_invalidated=context.is_disconnect,
    )


def _remove_detail(error: BaseException) -> bool:
    """Shorten a message of PostgreSQL: its detail repeats the row that a constraint refused.

    Return whether there was a message of the server to shorten.
    """
    message = getattr(getattr(error, "diag", None), "message_primary", None)
    if message:
        error.args = (message,)
    return bool(message)
