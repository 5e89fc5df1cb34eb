"""What commands share: the application, its database, and the option --json."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click
from flask import Flask
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from survey.services.database import require_current_schema


class OpenApp(Protocol):
    """What ``survey.__main__`` hands to every command."""

    def __call__(self, *, make: bool = False) -> Flask:
        """Open the application; with ``make``, its instance folder need not be there yet."""


EARLY = (
    "The study is open: that its results were looked at is in its log, and in its bundle once "
    "people have answered. To see them afterwards, close it first."
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


@contextmanager
def opened(open_app: OpenApp, *, make: bool = False) -> Iterator[tuple[Flask, Engine]]:
    """Open the application and its engine, whatever the state of the database."""
    app = open_app(make=make)
    with app.app_context():
        yield app, app.extensions["sqlalchemy"].engine


@contextmanager
def database(open_app: OpenApp) -> Iterator[tuple[Flask, Session]]:
    """Open the application with a session on a database of the right schema."""
    with opened(open_app) as (app, engine):
        require_current_schema(engine)
        yield app, app.extensions["sqlalchemy"].session
