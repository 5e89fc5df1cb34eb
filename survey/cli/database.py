"""``survey init`` and ``survey upgrade``."""

import click

from survey.cli.context import OpenApp, opened
from survey.services.database import upgrade_database
from survey.services.doctor.examination import close_to_others


@click.command()
@click.pass_obj
def init(open_app: OpenApp) -> None:
    """Make the instance folder, the server key and the database.

    Safe to repeat: what is there already is kept.
    """
    with opened(open_app, make=True) as (app, engine):
        close_to_others(engine, app.config["INSTANCE"])
        before, after = upgrade_database(engine)
        done = "made" if before is None else "is there already" if before == after else "upgraded"
        click.echo(f"The database {done}: {engine.url.render_as_string(hide_password=True)}")


@click.command()
@click.pass_obj
def upgrade(open_app: OpenApp) -> None:
    """Bring the database to the schema of this version of the survey."""
    with opened(open_app) as (_, engine):
        before, after = upgrade_database(engine)
        if before == after:
            click.echo(f"The database is up to date (revision {after}).")
        else:
            click.echo(f"The database was upgraded from {before or 'nothing'} to {after}.")
