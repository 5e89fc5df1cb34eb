"""``survey study share`` and ``unshare``: the researchers who see a study."""

from typing import TYPE_CHECKING

import click

from survey.cli.command import (
    JSON_OPTION,
    RESEARCHER,
    SLUG_ARGUMENT,
    YES_OPTION,
    command,
    confirm,
    open_study,
)
from survey.cli.terminal import print_result

if TYPE_CHECKING:
    from survey.services.accounts import Role

NAME_ARGUMENT = click.argument("name", type=RESEARCHER)


@command(examples=('survey study share five-systems "Alan Turing" --role viewer',))
@SLUG_ARGUMENT
@NAME_ARGUMENT
@click.option(
    "--role",
    type=click.Choice(["owner", "viewer"]),
    default="owner",
    help="A viewer sees the study and cannot change it.",
)
@JSON_OPTION
def share(slug: str, name: str, role: "Role", as_json: bool) -> None:
    """Make the researcher NAME an owner or a viewer of a study."""
    from survey.services import accounts

    with open_study(slug) as (session, study):
        researcher = accounts.find_researcher(session, name)
        accounts.change_role(session, study, researcher, role, accounts.COMMAND_LINE)
        content = {"study": slug, "researcher": researcher.name, "role": role}
        print_result(content, f"{researcher.name} is now {role} of {slug!r}.", as_json=as_json)


@command(examples=('survey study unshare spring-study "Alan Turing" --yes',))
@SLUG_ARGUMENT
@NAME_ARGUMENT
@YES_OPTION
@JSON_OPTION
def unshare(slug: str, name: str, yes: bool, as_json: bool) -> None:
    """Take a study away from the researcher NAME; a study keeps an owner."""
    from survey.services import accounts

    confirm(f"Take the study {slug!r} away from {name}?", yes=yes, as_json=as_json)
    with open_study(slug) as (session, study):
        researcher = accounts.member_named(session, study, name)
        accounts.unshare(session, study, researcher, accounts.COMMAND_LINE)
        content = {"study": slug, "researcher": researcher.name, "role": None}
        print_result(content, f"{researcher.name} no longer sees {slug!r}.", as_json=as_json)


COMMANDS = (share, unshare)
