"""``survey serve``: the production server."""

import contextlib
import socket
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import Command, open_engine
from survey.cli.database import HOST_OPTION, refuse_danger
from survey.cli.researcher import link_address

if TYPE_CHECKING:
    from sqlalchemy import Engine


@click.command(
    cls=Command,
    examples=(
        "survey serve --demo",
        "survey serve --host 0.0.0.0 --port 8000 --workers 4",
    ),
)
@HOST_OPTION
@click.option(
    "--port",
    default=5000,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port to listen on.",
)
@click.option(
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="How many processes answer requests.",
)
@click.option(
    "--demo",
    is_flag=True,
    help="First make or upgrade the database, and add the paper's study and a researcher if "
    "there are none.",
)
def serve(host: str, port: int, workers: int, demo: bool) -> None:
    """Serve the survey to participants and researchers, until Ctrl-C."""
    from survey.services.operations.database import require_current_schema, upgrade_database
    from survey.services.operations.doctor import restrict_access

    _check_port_is_free(host, port)
    with open_engine(make=demo) as (settings, engine):
        restrict_access(engine, settings.instance)
        if demo:
            upgrade_database(engine)
        require_current_schema(engine)
        refuse_danger(settings, engine, host)
        _print_addresses(engine, host, port, demo=demo)
    production_server(host, port, workers).serve()


def production_server(host: str, port: int, workers: int) -> Any:
    """Return granian's server of ``workers`` processes that ends at the first SIGINT or SIGTERM.

    A second signal during the first would wait forever for a lock that the first holds. It
    happens: `make run` repeats SIGTERM to processes that already got it, and people press
    Ctrl-C twice.
    """
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server import Server

    server: Any = Server(
        "survey.app:create_served_app",
        factory=True,
        interface=Interfaces.WSGI,
        address=host,
        port=port,
        workers=workers,
        # More threads would not help: writers in one process wait for each other.
        blocking_threads=1,
        respawn_failed_workers=True,
        respawn_interval=0.1,
        workers_kill_timeout=10,
        websockets=False,
        log_level=LogLevels.warning,
    )
    interrupt = server.signal_handler_interrupt

    def interrupt_once(*args: Any, **kwargs: Any) -> None:
        if not server.interrupt_signal:
            interrupt(*args, **kwargs)

    server.signal_handler_interrupt = interrupt_once
    return server


def _check_port_is_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise click.ClickException(
                f"Cannot listen on {host}:{port} ({error.strerror}); choose another with --port."
            ) from error


def _print_addresses(engine: "Engine", host: str, port: int, *, demo: bool) -> None:
    """Print the links of the open studies and of the researchers' pages."""
    from sqlalchemy.orm import Session

    from survey.services.accounts import researchers
    from survey.services.studies import lifecycle

    # Compared, not bound.
    shown_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 # nosec B104
    address = f"http://[{shown_host}]:{port}" if ":" in host else f"http://{shown_host}:{port}"
    token = None
    with Session(engine) as session:
        if demo:
            lifecycle.ensure_demo_study(session)
            token = researchers.ensure_researcher(session)
        studies = lifecycle.list_studies(session)
    click.echo(f"Database: {engine.url.render_as_string(hide_password=True)}")
    for study in studies:
        if study.status == "open":
            click.echo(f"Participants take part in “{study.plan.title}” at:")
            click.echo(f"  {address}/s/{study.slug}")
    if not studies:
        click.echo("There is no study yet: make one with `survey study new`.")
    if token is not None:
        click.echo("Researchers set their password here, once, within 30 minutes:")
        click.echo(f"  {link_address(address, token)}")
    else:
        click.echo("Researchers sign in at:")
        click.echo(f"  {address}/research/")
    click.echo("Stop with Ctrl-C.")
