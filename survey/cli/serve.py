"""``survey serve``: the production server."""

import contextlib
import socket

import click
from flask import Flask
from sqlalchemy import Engine

from survey.cli.command import Command
from survey.cli.context import OpenApp, opened
from survey.cli.doctor import HOST, refuse_danger
from survey.cli.researcher import link_to
from survey.services import researchers, studies
from survey.services.database import require_current_schema, upgrade_database
from survey.services.doctor.examination import close_to_others


@click.command(
    cls=Command,
    examples=(
        "survey serve --demo",
        "survey serve --host 0.0.0.0 --port 8000 --workers 4",
    ),
)
@HOST
@click.option(
    "--port",
    default=5000,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port to listen on.",
)
@click.option(
    "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes."
)
@click.option(
    "--demo",
    is_flag=True,
    help="First make or upgrade the database; the paper's study and a researcher if there is none.",
)
@click.pass_obj
def serve(open_app: OpenApp, host: str, port: int, workers: int, demo: bool) -> None:
    """Serve the survey to participants and researchers, until Ctrl-C."""
    refuse_taken_port(host, port)
    with opened(open_app, make=demo) as (app, engine):
        close_to_others(engine, app.config["INSTANCE"])
        if demo:
            upgrade_database(engine)
        require_current_schema(engine)
        refuse_danger(app, engine, host)
        _announce(app, engine, host, port, demo=demo)
        engine.dispose()  # the worker processes open connections of their own
    from survey.cli.granian_server import ProductionServer  # heavy; no other command needs it

    ProductionServer(host, port, workers).serve()


def refuse_taken_port(host: str, port: int) -> None:
    """Raise ClickException when something else listens there already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise click.ClickException(
                f"Cannot listen on {host}:{port} ({error.strerror}); choose another with --port."
            ) from error


def _announce(app: Flask, engine: Engine, host: str, port: int, *, demo: bool) -> None:
    """Print the links of the studies that are open."""
    session = app.extensions["sqlalchemy"].session
    # Compared, not bound.
    shown_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 # nosec B104
    address = f"http://[{shown_host}]:{port}" if ":" in host else f"http://{shown_host}:{port}"
    link = None
    if demo:
        studies.ensure_demo_study(session)
        link = researchers.ensure_researcher(session)
    known = studies.list_studies(session)
    click.echo(f"Database: {engine.url.render_as_string(hide_password=True)}")
    for study in known:
        if study.status == "open":
            click.echo(f"Participants take part in “{study.plan.title}” at:")
            click.echo(f"  {address}/s/{study.slug}")
    if not known:
        click.echo("There is no study yet: make one with `survey study new`.")
    if link is not None:
        click.echo("Researchers set their password here, once, within 30 minutes:")
        click.echo(f"  {link_to(address, link)}")
    else:
        click.echo("Researchers sign in at:")
        click.echo(f"  {address}/research/")
    session.close()
    click.echo("Stop with Ctrl-C.")
