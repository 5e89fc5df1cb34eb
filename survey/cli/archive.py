"""``survey study archive``, ``unarchive`` and ``delete``: what becomes of a study in the end."""

import click

from survey.cli.command import JSON_OPTION, SLUG_ARGUMENT, command, open_study
from survey.cli.terminal import print_result


@command(examples=("survey study archive spring-study",))
@SLUG_ARGUMENT
@JSON_OPTION
def archive(slug: str, as_json: bool) -> None:
    """List a study apart from the others; it cannot open there."""
    _set_archived(slug, archived=True)
    done = f"The study {slug!r} is in the archive; `survey study unarchive {slug}` brings it back."
    print_result({"study": slug, "archived": True}, done, as_json=as_json)


@command(examples=("survey study unarchive spring-study",))
@SLUG_ARGUMENT
@JSON_OPTION
def unarchive(slug: str, as_json: bool) -> None:
    """Bring a study back from the archive."""
    _set_archived(slug, archived=False)
    done = f"The study {slug!r} is back from the archive."
    print_result({"study": slug, "archived": False}, done, as_json=as_json)


def _set_archived(slug: str, *, archived: bool) -> None:
    from survey.services import accounts
    from survey.services.studies import lifecycle

    move = lifecycle.archive if archived else lifecycle.unarchive
    with open_study(slug) as (session, study):
        move(session, study, accounts.COMMAND_LINE)


@command(examples=("survey study delete spring-study --yes spring-study",))
@SLUG_ARGUMENT
@click.option("--yes", "typed", metavar="SLUG", help="Delete without asking: its address again.")
@JSON_OPTION
def delete(slug: str, typed: str | None, as_json: bool) -> None:
    """Delete a study with its participants and answers; its log stays.

    Asks for the study's address, which --yes SLUG gives in scripts.
    """
    from survey.services import accounts
    from survey.services.studies import lifecycle

    if as_json and typed is None:
        raise click.UsageError(f"--json asks nothing, so it needs --yes {slug}.")
    with open_study(slug) as (session, study):
        people = sum(lifecycle.progress(session, study).values())
        if typed is None:
            question = f"{slug!r} has {people} participants. Type its address to delete it"
            typed = click.prompt(question, err=True)
        if str(typed).strip() != slug:
            raise click.UsageError(f"{typed!r} is not the address; type {slug} to delete it.")
        lifecycle.delete(session, study, accounts.COMMAND_LINE)
    print_result(
        {"deleted": slug, "participants": people}, f"{slug!r} is deleted.", as_json=as_json
    )


COMMANDS = (archive, unarchive, delete)
