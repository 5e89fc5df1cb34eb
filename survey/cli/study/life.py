"""``survey study open``, ``close``, ``share`` and ``copy``."""

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import RESEARCHER, STUDY
from survey.cli.printing import print_json
from survey.services import access, life, studies
from survey.services.recruitment import recruitment_of

SLUG = click.argument("slug", type=STUDY)


@click.command("open", cls=Command, examples=("survey study open spring-study",))
@SLUG
@AS_JSON
@click.pass_obj
def open_(open_app: OpenApp, /, slug: str, as_json: bool) -> None:
    """Freeze a study under its digest and let participants in.

    From then on no text, list, value or order of it can change. A closed study is opened
    again.
    """
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        life.open_to_participants(session, found, access.COMMAND_LINE)
        if as_json:
            print_json(studies.describe(found))
            return
        click.echo(f"The study {slug!r} is open at /s/{slug}.")
        click.echo(f"Its digest, for a preregistration: {found.digest}")
        click.echo("Participants reach it while `survey serve` runs.")


@click.command(cls=Command, examples=("survey study close five-systems",))
@SLUG
@AS_JSON
@click.pass_obj
def close(open_app: OpenApp, /, slug: str, as_json: bool) -> None:
    """Let no more answers in.

    `survey study open` opens it again.
    """
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        life.close_to_participants(session, found, access.COMMAND_LINE)
        if as_json:
            print_json(studies.describe(found))
            return
        click.echo(f"The study {slug!r} is closed.")
        click.echo(f"Next: `survey analyse {slug}`, `survey export {slug} --to {slug}.zip`.")


@click.command(
    cls=Command, examples=('survey study share five-systems "Alan Turing" --role viewer',)
)
@SLUG
@click.argument("name", type=RESEARCHER)
@click.option(
    "--role",
    type=click.Choice(["owner", "viewer"]),
    default="owner",
    show_default=True,
    help="A viewer only looks.",
)
@AS_JSON
@click.pass_obj
def share(open_app: OpenApp, /, slug: str, name: str, role: access.Role, as_json: bool) -> None:
    """Let the researcher NAME own a study, or only view it."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        access.share(session, found, access.researcher_named(session, name), role)
        access.log(session, found, access.COMMAND_LINE, "shared", f"{name}: {role}")
        session.commit()
    if as_json:
        print_json({"study": slug, "researcher": name, "role": role})
    else:
        click.echo(f"{name} is now {role} of {slug!r}.")


@click.command(cls=Command, examples=("survey study copy five-systems second-round",))
@SLUG
@click.argument("new_slug")
@click.option("--owner", type=RESEARCHER, metavar="NAME", help="Whose study the copy is.")
@AS_JSON
@click.pass_obj
def copy(open_app: OpenApp, /, slug: str, new_slug: str, owner: str | None, as_json: bool) -> None:
    """Make a draft with the same plan under another address."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        made = life.make_for(session, owner, new_slug, found.plan, recruitment_of(found))
        if as_json:
            print_json(studies.describe(made))
        else:
            click.echo(f"{new_slug!r} is a draft with the plan of {slug!r}.")
