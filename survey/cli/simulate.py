"""``survey simulate``: bots that answer through the real pages."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from survey.cli.command import JSON_OPTION, STUDY, Command, open_study
from survey.cli.terminal import print_json, progress_bar

if TYPE_CHECKING:
    from flask import Flask


@click.command(
    cls=Command,
    examples=(
        "survey simulate five-systems --participants 30",
        "survey simulate five-systems --participants 30 --seed 7 \\\n"
        "  --prefer MNRO=.5,NMRR=.3,AP=.1,OTHER=.1",
    ),
)
@click.argument("slug", type=STUDY)
@click.option(
    "--participants", required=True, type=click.IntRange(1, 100_000), help="How many take part."
)
@click.option(
    "--prefer",
    help="How often they choose each measure, like MNRO=.5,NMRR=.3,AP=.1,OTHER=.1. By default "
    "OTHER is .1 and all measures are chosen equally often.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0),
    help="The same seed gives the same votes.",
)
@JSON_OPTION
def simulate(slug: str, participants: int, prefer: str | None, seed: int, as_json: bool) -> None:
    """Send simulated participants through an open study's pages.

    Their answers go through real HTTP requests. They are marked as test data; analyses leave
    them out unless you ask for them.
    """
    from survey import tokens
    from survey.app import create_app
    from survey.services.planning import simulation

    with open_study(slug) as (_, study):
        if study.status != "open":
            raise click.ClickException(
                f"{slug} is {study.status}; `survey study open {slug}` lets participants in."
            )
        plan = study.plan
        preference = simulation.preference_for(plan, prefer)
    app = create_app()
    token = tokens.test_run_token(str(app.secret_key), slug)
    with local_server(app) as address, progress_bar("Simulating", total=participants) as progress:
        simulation.simulate(
            f"{address}/s/{slug}?test={token}",
            plan,
            participants,
            preference,
            seed,
            on_finished=progress.advance,
        )
    if as_json:
        content = {"study": slug, "participants": participants, "questions_each": plan.asked}
        print_json({**content, "seed": seed, "prefer": preference.as_json()})
        return
    click.echo(
        f"{participants} simulated participant{'s' * (participants != 1)} answered {plan.asked} "
        f"questions each.\nCount them with `survey analyse {slug} --include-test`."
    )


@contextmanager
def local_server(app: "Flask") -> Iterator[str]:
    """Serve the application on a free local port while the block runs; yield its address."""
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line per request
    server = make_server("127.0.0.1", 0, app, threaded=True)
    # It checks for shutdown this often; with the default, ending takes half a second.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        with app.app_context():
            app.extensions["sqlalchemy"].engine.dispose()
