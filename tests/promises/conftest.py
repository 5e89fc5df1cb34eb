"""What the tests of promises share: writing down what they measured."""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from survey import figures
from survey.db import migration
from survey.services import accounts
from tests.cli.conftest import run
from tests.databases import PostgreSQL
from tests.promises.cast import QUICK, World
from tests.promises.filled import fill
from tests.promises.schemas import NEXT_RELEASE

__all__ = ["run"]  # the command line, for these tests too


MEASURED = Path(__file__).parents[2] / "build" / "measured"


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Write down a sentence with the figures of this test, once it has passed its checks.

    The page quotes it under the promise after which the test's module is named.
    """

    def write(sentence: str) -> None:
        promise = request.path.stem.removeprefix("test_").partition("_")[0]
        MEASURED.mkdir(parents=True, exist_ok=True)
        safe = "".join(sign if sign.isalnum() else "-" for sign in request.node.name)
        note = {"promise": promise, "test": request.node.name, "sentence": sentence}
        (MEASURED / f"{promise}-{safe}.json").write_text(json.dumps(note))

    return write


@pytest.fixture
def filled(request: pytest.FixtureRequest, app: Flask, session: Session, engine: Engine) -> Engine:
    """A database with something in every table; it is filled once, and copied from then on."""
    session.rollback()

    def build() -> None:
        fill(app, session)
        session.rollback()

    request.getfixturevalue(engine.dialect.name).fill_once(engine, "filled", build)
    return engine


@pytest.fixture
def next_release(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the survey be of a later release, which has a migration more."""
    monkeypatch.setattr(migration, "VERSIONS", [*migration.VERSIONS, NEXT_RELEASE])
    migration.newest_revision.cache_clear()
    yield
    migration.newest_revision.cache_clear()


@pytest.fixture
def another_postgresql(postgresql: PostgreSQL) -> Iterator[str]:
    """A second, empty PostgreSQL database."""
    uri = postgresql.make(filled=False)
    yield uri
    postgresql.drop(uri)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A survey in which every role has something."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "hasher", QUICK)
        patch.setattr(figures, "render", lru_cache(figures.render))  # many ask for the same
        made = World(tmp_path_factory.mktemp("world"))
        yield made
        made.let_go()
