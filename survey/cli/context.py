"""What commands share: the application, its database, tables on the terminal."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import click
from flask import Flask
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from survey.services.database import require_current_schema


class OpenApp(Protocol):
    """What ``survey.__main__`` hands to every command."""

    def __call__(self, *, make: bool = False) -> Flask:
        """Open the application; with ``make``, its instance folder need not be there yet."""


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


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


def print_json(content: Any) -> None:
    """Print JSON for scripts."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: drawn on a terminal, plain columns where the output goes elsewhere."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    table = Table(box=SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*("" if cell is None else str(cell) for cell in row))
    console.print(title, style="bold", markup=False, highlight=False)
    console.print(table, markup=False)
