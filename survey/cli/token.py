"""``survey token``: tokens with which programs read a study's JSON."""

import click

from survey.cli.command import JSON_OPTION, STUDY_NAME, CommandGroup, open_study
from survey.cli.terminal import print_json, print_result, print_table, say

SLUG_ARGUMENT = click.argument("slug", type=STUDY_NAME)
NAME_OPTION = click.option(
    "--name", default="program", metavar="NAME", help="What the token is for."
)


@click.group(
    cls=CommandGroup,
    examples=(
        "survey token add five-systems --name dashboard --days 30",
        "survey token list five-systems",
        "survey token remove five-systems --name dashboard",
    ),
)
def token() -> None:
    """Let programs read a study's progress, results and bundle as JSON, with a token."""


@token.command(examples=("survey token add five-systems --name dashboard --days 30",))
@SLUG_ARGUMENT
@NAME_OPTION
@click.option("--days", type=click.IntRange(1, 366), default=90, help="How long it works.")
@JSON_OPTION
def add(slug: str, name: str, days: int, as_json: bool) -> None:
    """Make a token, and print it once: only its SHA-256 is stored.

    A program sends it in the header Authorization: Bearer TOKEN, to /api/v1/studies/SLUG and below
    it /progress, and once the study is closed /results and /bundle.
    """
    from survey.services import accounts, read_tokens

    with open_study(slug) as (session, study):
        secret = read_tokens.add(session, study, name, days, accounts.COMMAND_LINE)
    print_result(
        {"study": slug, "name": name, "token": secret, "days": days},
        f"The token {name!r} reads {slug!r} for {days} day{'s' * (days != 1)}. It is shown once:",
        f"  {secret}",
        as_json=as_json,
    )


@token.command("list", examples=("survey token list five-systems",))
@SLUG_ARGUMENT
@JSON_OPTION
def list_(slug: str, as_json: bool) -> None:
    """List a study's tokens: their names, who made them and when they end."""
    from survey.services import read_tokens

    with open_study(slug) as (session, study):
        rows = [
            (row.name, row.made_by, row.expires_at.isoformat(timespec="seconds"))
            for row in read_tokens.all_of(session, study)
        ]
    names = ("name", "made_by", "expires_at")
    if as_json:
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    elif rows:
        print_table(f"Tokens of {slug}", ["name", "made by", "ends"], rows)
    else:
        say("There is no token yet: `survey token add SLUG` makes one.")


@token.command(examples=("survey token remove five-systems --name notebook",))
@SLUG_ARGUMENT
@NAME_OPTION
@JSON_OPTION
def remove(slug: str, name: str, as_json: bool) -> None:
    """Remove a token: it works no longer."""
    from survey.services import accounts, read_tokens

    with open_study(slug) as (session, study):
        read_tokens.remove(session, study, name, accounts.COMMAND_LINE)
    print_result({"removed": name}, f"The token {name!r} is removed.", as_json=as_json)
