"""``survey researcher``: accounts."""

import click

from survey.cli.context import OpenApp, database, print_table
from survey.services import researchers

AT = click.option(
    "--at",
    default="http://127.0.0.1:5000",
    show_default=True,
    metavar="ADDRESS",
    help="Where the server is reached; the link begins with it.",
)


@click.group()
def researcher() -> None:
    """Add, list and remove researchers, and print links with which they set a password."""


@researcher.command()
@click.argument("name")
@AT
@click.pass_obj
def add(open_app: OpenApp, /, name: str, at: str) -> None:
    """Make an account, and print a link to set its password: good once, for 30 minutes.

    The first researcher gets the studies that were made before.

    \b
    Example: survey researcher add "Ada Lovelace" --at https://survey.example.org
    """
    with database(open_app) as (_, session):
        made, token = researchers.add_researcher(session, name)
        click.echo(f"{made.name} can set a password here, once, within 30 minutes:")
        click.echo(f"  {link_to(at, token)}")


@researcher.command()
@click.argument("name")
@AT
@click.pass_obj
def link(open_app: OpenApp, /, name: str, at: str) -> None:
    """Print a new link, for a lost link or a forgotten password.

    Earlier links are good no more; the password stays until the link is used.
    """
    with database(open_app) as (_, session):
        found = researchers.find_researcher(session, name)
        token = researchers.new_link(session, found)
        click.echo(f"{found.name} can set a password here, once, within 30 minutes:")
        click.echo(f"  {link_to(at, token)}")


@researcher.command("list")
@click.pass_obj
def list_(open_app: OpenApp, /) -> None:
    """List the researchers."""
    with database(open_app) as (_, session):
        rows = [
            (one.name, "yes" if one.password_hash else "not yet", f"{one.created_at:%Y-%m-%d}")
            for one in researchers.all_researchers(session)
        ]
    if rows:
        print_table("Researchers", ["name", "password set", "since"], rows)
    else:
        click.echo("There is no researcher yet: `survey researcher add NAME` makes one.")


@researcher.command()
@click.argument("name")
@click.confirmation_option(prompt="Remove this account? Its studies stay.")
@click.pass_obj
def remove(open_app: OpenApp, /, name: str) -> None:
    """Remove an account; studies and answers stay."""
    with database(open_app) as (_, session):
        found = researchers.find_researcher(session, name)
        researchers.remove_researcher(session, found)
        click.echo(f"{found.name} is removed.")


def link_to(address: str, token: str) -> str:
    """Return the address at which a link's password is set."""
    return f"{address.rstrip('/')}/research/welcome/{token}"
