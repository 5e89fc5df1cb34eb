"""``survey simulate``: bots through the real pages."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click
from flask import Flask
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from werkzeug.serving import make_server

from survey.cli.context import OpenApp, database
from survey.services import simulation, studies, tokens
from survey.services.participants import require_open


@click.command()
@click.argument("slug")
@click.option("--participants", required=True, type=click.IntRange(1, 100_000))
@click.option(
    "--prefer", help="Shares like MNRO=.5,NMRR=.3,AP=.1,OTHER=.1; all alike if not given."
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.pass_obj
def simulate(
    open_app: OpenApp, slug: str, participants: int, prefer: str | None, seed: int
) -> None:
    """Send simulated participants through an open study's pages, over HTTP.

    They are marked as test data and left out of every analysis that does not ask
    for them. The same seed gives the same Table 4.

    \b
    Example: survey simulate five-systems --participants 30 --prefer MNRO=.5,NMRR=.3,AP=.1,OTHER=.1
    """
    with database(open_app) as (app, session):
        found = studies.find_study(session, slug)
        if found.status != "open":
            raise click.ClickException(
                f"{slug} is {found.status}; `survey study open {slug}` lets participants in."
            )
        require_open(found.status)
        plan = found.plan
        preference = simulation.Preference.parse(prefer, plan.measures)
        session.close()
    token = tokens.test_run_token(str(app.secret_key), slug)
    columns = (TextColumn("Simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with serving(app) as address, Progress(*columns) as progress:
        task = progress.add_task("", total=participants)
        simulation.simulate(
            f"{address}/s/{slug}?test={token}",
            plan,
            participants,
            preference,
            seed,
            on_finished=lambda: progress.advance(task),
        )
    click.echo(
        f"{participants} simulated participants answered {plan.asked} questions each. "
        f"Count them with `survey analyse {slug} --include-test`."
    )


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve the application on a free local port for as long as the block runs."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line per request
    server = make_server("127.0.0.1", 0, app, threaded=True)
    # It looks so often whether it shall end; the default is half a second.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
