"""``survey study open``, ``close``, ``share`` and ``copy``."""

import click

from survey.cli.context import OpenApp, database
from survey.services import access, life, studies
from survey.services.recruitment import recruitment_of


@click.command("open")
@click.argument("slug")
@click.pass_obj
def open_(open_app: OpenApp, slug: str) -> None:
    """Freeze a study under its digest and let participants in."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        life.open_to_participants(session, found, access.COMMAND_LINE)
        click.echo(f"The study {slug!r} is open at /s/{slug}.")
        click.echo(f"Its digest, for a preregistration: {found.digest}")


@click.command()
@click.argument("slug")
@click.pass_obj
def close(open_app: OpenApp, slug: str) -> None:
    """Let no more answers in. `survey study open` opens it again."""
    with database(open_app) as (_, session):
        life.close_to_participants(session, studies.find_study(session, slug), access.COMMAND_LINE)
        click.echo(f"The study {slug!r} is closed.")


@click.command()
@click.argument("slug")
@click.argument("name")
@click.option("--role", type=click.Choice(["owner", "viewer"]), default="owner", show_default=True)
@click.pass_obj
def share(open_app: OpenApp, slug: str, name: str, role: access.Role) -> None:
    """Let the researcher NAME own a study, or only view it."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        access.share(session, found, access.researcher_named(session, name), role)
        access.log(session, found, access.COMMAND_LINE, "shared", f"{name}: {role}")
        session.commit()
        click.echo(f"{name} is now {role} of {slug!r}.")


@click.command()
@click.argument("slug")
@click.argument("new_slug")
@click.option("--owner", metavar="NAME", help="Whose study the copy is.")
@click.pass_obj
def copy(open_app: OpenApp, slug: str, new_slug: str, owner: str | None) -> None:
    """Make a draft with the same plan under another address."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        life.make_for(session, owner, new_slug, found.plan, recruitment_of(found))
        click.echo(f"{new_slug!r} is a draft with the plan of {slug!r}.")
