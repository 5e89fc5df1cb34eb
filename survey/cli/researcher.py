"""``survey researcher``: accounts."""

import click

from survey.cli.command import Topic
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import RESEARCHER
from survey.cli.printing import print_json
from survey.cli.tables import print_table
from survey.services import researchers

AT = click.option(
    "--at",
    default="http://127.0.0.1:5000",
    show_default=True,
    metavar="ADDRESS",
    help="Where the server is reached; the link begins with it.",
)
NAME = click.argument("name", type=RESEARCHER)


@click.group(
    cls=Topic,
    examples=(
        'survey researcher add "Grace Hopper" --at https://survey.example.org',
        "survey researcher list",
    ),
)
def researcher() -> None:
    """Add, list and remove researchers, and print links with which they set a password."""


@researcher.command(
    examples=('survey researcher add "Grace Hopper" --at https://survey.example.org',)
)
@click.argument("name")
@AT
@AS_JSON
@click.pass_obj
def add(open_app: OpenApp, /, name: str, at: str, as_json: bool) -> None:
    """Make an account, and print a link to set its password.

    The link is good once, for 30 minutes. The first researcher gets the studies that were
    made before.
    """
    with database(open_app) as (_, session):
        made, token = researchers.add_researcher(session, name)
        _print_link(made.name, link_to(at, token), as_json=as_json)


@researcher.command(
    examples=('survey researcher link "Ada Lovelace" --at https://survey.example.org',)
)
@NAME
@AT
@AS_JSON
@click.pass_obj
def link(open_app: OpenApp, /, name: str, at: str, as_json: bool) -> None:
    """Print a new link, for a lost link or a forgotten password.

    The link is good once, for 30 minutes. Earlier links are good no more; the password stays
    until the link is used.
    """
    with database(open_app) as (_, session):
        found = researchers.find_researcher(session, name)
        token = researchers.new_link(session, found)
        _print_link(found.name, link_to(at, token), as_json=as_json)


@researcher.command("list", examples=("survey researcher list",))
@AS_JSON
@click.pass_obj
def list_(open_app: OpenApp, /, as_json: bool) -> None:
    """List the researchers."""
    with database(open_app) as (_, session):
        known = [
            {
                "name": one.name,
                "password_set": bool(one.password_hash),
                "since": one.created_at.isoformat(),
            }
            for one in researchers.all_researchers(session)
        ]
    if as_json:
        print_json(known)
        return
    rows = [
        (one["name"], "yes" if one["password_set"] else "not yet", str(one["since"])[:10])
        for one in known
    ]
    if rows:
        print_table("Researchers", ["name", "password set", "since"], rows)
    else:
        click.echo("There is no researcher yet: `survey researcher add NAME` makes one.")


@researcher.command(examples=('survey researcher remove "Ada Lovelace" --yes',))
@NAME
@click.option("--yes", is_flag=True, help="Do not ask.")
@AS_JSON
@click.pass_obj
def remove(open_app: OpenApp, /, name: str, yes: bool, as_json: bool) -> None:
    """Remove an account; studies and answers stay."""
    if as_json and not yes:
        raise click.UsageError("With --json nothing is asked; say --yes as well.")
    with database(open_app) as (_, session):
        found = researchers.find_researcher(session, name)
        if not yes:
            click.confirm(f"Remove the account of {found.name}? Its studies stay.", abort=True)
        gone = found.name
        researchers.remove_researcher(session, found)
    if as_json:
        print_json({"removed": gone})
    else:
        click.echo(f"{gone} is removed.")


def link_to(address: str, token: str) -> str:
    """Return the address at which a link's password is set."""
    return f"{address.rstrip('/')}/research/welcome/{token}"


def _print_link(name: str, address: str, *, as_json: bool) -> None:
    minutes = int(researchers.LINK_IS_GOOD_FOR.total_seconds() // 60)
    if as_json:
        print_json({"name": name, "link": address, "good_for_minutes": minutes})
        return
    click.echo(f"{name} can set a password here, once, within {minutes} minutes:")
    click.echo(f"  {address}")
