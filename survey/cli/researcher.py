"""``survey researcher``: researchers' accounts."""

import click

from survey.cli.command import (
    JSON_OPTION,
    RESEARCHER,
    YES_OPTION,
    CommandGroup,
    confirm,
    open_session,
)
from survey.cli.terminal import print_json, print_result, print_table, say

AT_OPTION = click.option(
    "--at",
    "server",
    default="http://127.0.0.1:5000",
    envvar="SURVEY_ADDRESS",
    metavar="ADDRESS",
    help="The server's address, with which the link begins; by default that of SURVEY_ADDRESS.",
)
NAME_ARGUMENT = click.argument("name", type=RESEARCHER)


@click.group(
    cls=CommandGroup,
    examples=(
        'survey researcher add "Grace Hopper" --at https://survey.example.org',
        "survey researcher list",
    ),
)
def researcher() -> None:
    """Add, list and remove researchers; print links for passwords."""


@researcher.command(
    examples=('survey researcher add "Grace Hopper" --at https://survey.example.org',)
)
@click.argument("name")
@AT_OPTION
@JSON_OPTION
def add(name: str, server: str, as_json: bool) -> None:
    """Add a researcher, and print a link to set a password.

    The link works once, within 30 minutes. The first researcher also gets the studies that were
    made before.
    """
    from survey.services import accounts

    with open_session() as session:
        account, token = accounts.add_researcher(session, name)
        _print_link(account.name, link_address(server, token), as_json=as_json)


@researcher.command(
    examples=('survey researcher link "Ada Lovelace" --at https://survey.example.org',)
)
@NAME_ARGUMENT
@AT_OPTION
@JSON_OPTION
def link(name: str, server: str, as_json: bool) -> None:
    """Print a new link, for a lost link or a forgotten password.

    The link works once, within 30 minutes; earlier links no longer work. The old password works
    until the link is used.
    """
    from survey.services import accounts

    with open_session() as session:
        account = accounts.find_researcher(session, name)
        token = accounts.new_link(session, account)
        _print_link(account.name, link_address(server, token), as_json=as_json)


@researcher.command("list", examples=("survey researcher list",))
@JSON_OPTION
def list_(as_json: bool) -> None:
    """List the researchers."""
    from survey.services import accounts

    with open_session() as session:
        researchers = [
            (
                account.name,
                bool(account.password_hash),
                bool(account.second_factor),
                account.created_at.isoformat(),
            )
            for account in accounts.all_researchers(session)
        ]
    if as_json:
        names = ("name", "password_set", "second_factor", "since")
        print_json([dict(zip(names, account, strict=True)) for account in researchers])
    elif researchers:
        rows = [
            (name, "yes" if is_set else "not yet", "yes" if second else "no", since[:10])
            for name, is_set, second, since in researchers
        ]
        print_table("Researchers", ["name", "password set", "second factor", "since"], rows)
    else:
        say("There is no researcher yet: `survey researcher add NAME` adds one.")


@researcher.command(examples=('survey researcher reset-second-factor "Ada Lovelace"',))
@NAME_ARGUMENT
@JSON_OPTION
def reset_second_factor(name: str, as_json: bool) -> None:
    """Let a researcher sign in with the password alone, where phone and recovery codes are lost."""
    from survey.services import accounts, second_factor

    with open_session() as session:
        account = accounts.find_researcher(session, name)
        reset = account.name
        second_factor.remove(account)
        session.commit()
    print_result({"reset": reset}, f"{reset} signs in without a code now.", as_json=as_json)


@researcher.command(examples=('survey researcher sign-out "Ada Lovelace"',))
@NAME_ARGUMENT
@JSON_OPTION
def sign_out(name: str, as_json: bool) -> None:
    """End all of a researcher's sessions, in all browsers."""
    from survey.services import accounts

    with open_session() as session:
        account = accounts.find_researcher(session, name)
        signed_out = account.name
        accounts.sign_out_everywhere(session, account)
    print_result({"signed_out": signed_out}, f"{signed_out} is signed out.", as_json=as_json)


@researcher.command(examples=('survey researcher remove "Ada Lovelace" --yes',))
@NAME_ARGUMENT
@YES_OPTION
@JSON_OPTION
def remove(name: str, yes: bool, as_json: bool) -> None:
    """Remove a researcher's account; studies and answers stay."""
    from survey.services import accounts

    with open_session() as session:
        account = accounts.find_researcher(session, name)
        removed = account.name
        confirm(f"Remove the account of {removed}? Its studies stay.", yes=yes, as_json=as_json)
        accounts.remove_researcher(session, account)
    print_result({"removed": removed}, f"{removed} is removed.", as_json=as_json)


def link_address(server: str, token: str) -> str:
    """Return the address of the page on which a researcher sets a password."""
    return f"{server.rstrip('/')}/research/welcome/{token}"


def _print_link(name: str, address: str, *, as_json: bool) -> None:
    from survey.services.accounts import LINK_LIFETIME

    minutes = int(LINK_LIFETIME.total_seconds() // 60)
    print_result(
        {"name": name, "link": address, "good_for_minutes": minutes},
        f"{name} can set a password here, once, within {minutes} minutes:\n  {address}",
        as_json=as_json,
    )
