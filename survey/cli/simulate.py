"""``survey simulate``: bots through the real pages."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click
from flask import Flask
from werkzeug.serving import make_server

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import STUDY
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.services import simulation, studies, tokens
from survey.services.participants import require_open


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
    "--prefer", help="Shares like MNRO=.5,NMRR=.3,AP=.1,OTHER=.1; all alike if not given."
)
@click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0), help="Of what they vote for."
)
@AS_JSON
@click.pass_obj
def simulate(
    open_app: OpenApp, /, slug: str, participants: int, prefer: str | None, seed: int, as_json: bool
) -> None:
    """Send simulated participants through an open study's pages, over HTTP.

    They are marked as test data and left out of every analysis that does not ask
    for them. The same seed gives the same Table 4.
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
    with serving(app) as address, bar("Simulating", total=participants) as shown:
        simulation.simulate(
            f"{address}/s/{slug}?test={token}",
            plan,
            participants,
            preference,
            seed,
            on_finished=shown.more,
        )
    if as_json:
        asked = {"study": slug, "participants": participants, "questions_each": plan.asked}
        print_json({**asked, "seed": seed, "prefer": dict(preference.shares)})
        return
    click.echo(
        f"{participants} simulated participant{'s' * (participants != 1)} answered {plan.asked} "
        f"questions each.\nCount them with `survey analyse {slug} --include-test`."
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
