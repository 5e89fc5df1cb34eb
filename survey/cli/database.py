"""``survey init`` and ``survey upgrade``."""

import click
from sqlalchemy import Engine

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, opened
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.services.database import upgrade_database
from survey.services.doctor.examination import close_to_others


@click.command(cls=Command, examples=("survey init",))
@AS_JSON
@click.pass_obj
def init(open_app: OpenApp, /, as_json: bool) -> None:
    """Make the instance folder, the server key and the database.

    Safe to repeat: what is there already is kept. The folder is the one that SURVEY_INSTANCE
    names, ./instance by default.
    """
    with opened(open_app, make=True) as (app, engine):
        close_to_others(engine, app.config["INSTANCE"])
        before, after = _upgraded(engine)
        if as_json:
            _print_json(engine, before, after)
            return
        done = "made" if before is None else "is there already" if before == after else "upgraded"
        click.echo(f"The database {done}: {engine.url.render_as_string(hide_password=True)}")
        if before is None:
            click.echo("Next: `survey researcher add NAME`, then `survey study new SLUG`.")


@click.command(cls=Command, examples=("survey upgrade",))
@AS_JSON
@click.pass_obj
def upgrade(open_app: OpenApp, /, as_json: bool) -> None:
    """Bring the database to the schema of this version of the survey.

    Make a backup before: `survey backup FILE`.
    """
    with opened(open_app) as (_, engine):
        before, after = _upgraded(engine)
        if as_json:
            _print_json(engine, before, after)
        elif before == after:
            click.echo(f"The database is up to date (revision {after}).")
        else:
            click.echo(f"The database was upgraded from {before or 'nothing'} to {after}.")


def _upgraded(engine: Engine) -> tuple[str | None, str | None]:
    with bar("Upgrading"):
        return upgrade_database(engine)


def _print_json(engine: Engine, before: str | None, after: str | None) -> None:
    address = engine.url.render_as_string(hide_password=True)
    print_json({"database": address, "before": before, "revision": after})
