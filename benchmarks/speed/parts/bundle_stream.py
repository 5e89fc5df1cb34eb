"""``python -m benchmarks.speed.parts.bundle_stream URI``: hand a crowd's study out, once.

A process of its own, since what counts is the most memory that it ever held. Prints JSON.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.orm import Session

from benchmarks.speed.crowd import SLUG
from survey.db import export_queries
from survey.db.engine import database_url, engine_options, prepare, snapshot
from survey.db.models import Study
from survey.services.exchange.bundle import ANALYSIS, files_of, zipped
from survey.services.exchange.export import content_of
from survey.services.studies import find_study

ANALYSED = ("table3.csv", "table4.csv", ANALYSIS)


def opened(uri: str) -> Engine:
    """Open a database as the survey does."""
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    return engine


def select_of(session: Session, study: Study) -> tuple[str, Any]:
    """Return the statement that reads the rows of responses.csv, and its parameters."""
    asked: list[tuple[str, Any]] = []

    def note(*given: Any) -> None:
        asked.append(given[2:4])

    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", note)
    next(export_queries.answers_of(session, study.id, include_test=False))
    event.remove(engine, "before_cursor_execute", note)
    session.rollback()
    return asked[-1]


def scan(session: Session, study: Study) -> Callable[[], object]:
    """Return what lets the database read these rows, in their order, and give none of them.

    SQLite adds up the lengths of all cells; PostgreSQL copies them to /dev/null.
    """
    statement, parameters = select_of(session, study)
    if session.get_bind().dialect.name == "postgresql":
        whole = statement % tuple(map(int, parameters))
        return lambda: session.execute(text(f"COPY ({whole}) TO '/dev/null'"))
    rows = session.connection().exec_driver_sql(statement, parameters)
    lengths = " + ".join(f'coalesce(length("{name}"), 0)' for name in rows.keys())  # noqa: SIM118 - a result is no dict
    rows.close()
    # LIMIT keeps SQLite from leaving out the order. Names are our own columns'.
    summed = f"SELECT sum({lengths}) FROM ({statement} LIMIT -1)"  # noqa: S608
    return lambda: session.connection().exec_driver_sql(summed, parameters).all()


def bundle(session: Session, study: Study, only: str = "tables") -> Iterator[bytes]:
    """Stream a bundle without the files of its analysis, or of these ``only``."""
    snapshot(session)
    content = content_of(session, study)
    analysed = only == "analysis"
    return zipped(one for one in files_of(content) if (one[0] in ANALYSED) == analysed)


@click.command()
@click.argument("uri")
@click.argument("only", default="tables")
def main(uri: str, only: str) -> None:
    """Scan the study's answers and stream its bundle, one after the other; tell what it took."""
    with Session(opened(uri)) as session:
        study = find_study(session, SLUG)
        told = {"scan": _seconds(scan(session, study))}
        begun, told["bytes"] = time.perf_counter(), 0
        for piece in bundle(session, study, only):
            told["bytes"] += len(piece)
        told["bundle"] = time.perf_counter() - begun
    per_mb = 2**20 if sys.platform == "darwin" else 2**10
    told["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_mb
    click.echo(json.dumps(told))


def _seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
