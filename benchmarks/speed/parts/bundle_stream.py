"""``python -m benchmarks.speed.parts.bundle_stream URI``: hand a crowd's study out, once.

A process of its own, since what counts is the most memory that it ever held. Prints JSON.
"""

import json
import time
from collections.abc import Callable, Iterator

import click
from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session

from benchmarks.speed.crowd import SLUG
from benchmarks.speed.memory import peak_mb
from survey.db.engine import database_url, engine_options, prepare, snapshot
from survey.db.models import Study
from survey.kinds.ordering import queries
from survey.services.exchange.bundle import ANALYSIS, bundle_files, content_of, stream_zip
from survey.services.exchange.long_table import LONG
from survey.services.exchange.tables import Content
from survey.services.studies.lifecycle import find_study

ANALYSED = ("table3.csv", "table4.csv", LONG, ANALYSIS)


def opened(uri: str) -> Engine:
    """Open a database as the survey does."""
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    return engine


def select_of(session: Session, study: Study) -> str:
    """Return the statement that reads the rows of responses.csv in their order."""
    found = queries.answers(session, study.id)
    return str(found.compile(session.get_bind(), compile_kwargs={"literal_binds": True}))


def scan(session: Session, study: Study) -> Callable[[], object]:
    """Return what lets the database read these rows, in their order, and give none of them.

    SQLite adds up the lengths of all cells; PostgreSQL copies them to /dev/null.
    """
    statement, ask = select_of(session, study), session.connection().exec_driver_sql
    if session.get_bind().dialect.name == "postgresql":
        return lambda: ask(f"COPY ({statement}) TO '/dev/null'")
    names = queries.answers(session, study.id).subquery().c.keys()
    lengths = " + ".join(f"coalesce(length({name}), 0)" for name in names)
    # LIMIT keeps SQLite from leaving out the order. All of it is our own text.
    summed = f"SELECT sum({lengths}) FROM ({statement} LIMIT -1)"  # noqa: S608
    return lambda: ask(summed).all()


def bundle(content: Content, only: str = "tables") -> Iterator[bytes]:
    """Stream a bundle without the files of its analysis, or of these ``only``."""
    analysed = only == "analysis"
    files = bundle_files(content)
    return stream_zip(file for file in files if (file[0] in ANALYSED) == analysed)


@click.command()
@click.argument("uri")
@click.argument("only", default="tables")
def main(uri: str, only: str) -> None:
    """Scan the study's answers, analyse them and stream the bundle; tell what each took."""
    with Session(opened(uri)) as session:
        study = find_study(session, SLUG)
        measured = {"scan": _seconds(scan(session, study))}
        snapshot(session)
        content = content_of(session, study)
        if only == "tables":  # they say whom the analysis flags
            measured["analysis"] = _seconds(lambda: content.results.flagged_ids)
        measured["analysed_mb"] = peak_mb()
        begun, measured["bytes"] = time.perf_counter(), 0
        for piece in bundle(content, only):
            measured["bytes"] += len(piece)
        measured["bundle"] = time.perf_counter() - begun
    measured["peak_mb"] = peak_mb()
    click.echo(json.dumps(measured))


def _seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
