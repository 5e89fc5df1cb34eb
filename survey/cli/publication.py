"""``survey study publish``, ``unpublish`` and ``unblind``: who sees a study's results."""

from dataclasses import replace

import click

from survey.cli.command import JSON_OPTION, SLUG_ARGUMENT, YES_OPTION, command, confirm, open_study
from survey.cli.terminal import print_result

# As in survey.services.studies.citation, which is slow to import; "none" there is "".
LICENCES = ("CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC0-1.0", "none")


@command(
    examples=(
        'survey study publish winter-study --author "Lovelace, Ada" --yes',
        'survey study publish winter-study --author "Lovelace, Ada" \\\n'
        '  --author "Turing, Alan" --licence CC-BY-SA-4.0 --yes',
    )
)
@SLUG_ARGUMENT
@click.option("--title", help="How the study is cited; by default its title.")
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help='A person as "Lovelace, Ada", or a group without comma; repeatable.',
)
@click.option(
    "--licence",
    type=click.Choice(LICENCES),
    help="What others may do with the answers. Default: CC-BY-4.0.",
)
@YES_OPTION
@JSON_OPTION
def publish(
    slug: str,
    title: str | None,
    authors: tuple[str, ...],
    licence: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Give a closed study a public page, with its answers as a bundle.

    A study that is public already is cited otherwise from now on.
    """
    from survey.errors import NotAllowedError
    from survey.services import accounts
    from survey.services.exchange.description import left_out
    from survey.services.studies import publications

    with open_study(slug) as (session, study):
        if reason := publications.reason_against(session, study):
            raise NotAllowedError(reason)
        details = publications.usual_details(session, study)
        details = replace(
            details,
            title=details.title if title is None else title,
            authors="\n".join(authors) or details.authors,
            licence=details.licence if licence is None else licence.replace("none", ""),
        )
        if not details.author_lines:
            raise click.UsageError('Name at least one author, as --author "Lovelace, Ada".')
        details.require_valid()
        people, answers = publications.people_in(session, study)
        visible = f"{answers:,} answers of {people} people become public, without "
        question = f"{visible}{left_out(study.plan)}. Publish them?"
        confirm(question, yes=yes, as_json=as_json)
        publications.publish(session, study, accounts.COMMAND_LINE, details)
        content = {
            "study": slug,
            "public": True,
            "address": f"/studies/{slug}",
            "title": details.title,
            "authors": details.author_lines,
            "licence": details.licence,
        }
    sentence = f"The study {slug!r} is public at /studies/{slug}."
    print_result(content, sentence, as_json=as_json)


@command(examples=("survey study unpublish winter-study",))
@SLUG_ARGUMENT
@JSON_OPTION
def unpublish(slug: str, as_json: bool) -> None:
    """Take a study's public page back; copies that others made stay with them."""
    from survey.services import accounts
    from survey.services.studies import publications

    with open_study(slug) as (session, study):
        publications.take_back(session, study, accounts.COMMAND_LINE)
    content = {"study": slug, "public": False}
    print_result(content, f"The study {slug!r} is not public any more.", as_json=as_json)


@command(examples=('survey study unblind five-systems --reason "a pilot" --yes',))
@SLUG_ARGUMENT
@click.option("--reason", required=True, help="Why, for the log; it is exported.")
@YES_OPTION
@JSON_OPTION
def unblind(slug: str, reason: str, yes: bool, as_json: bool) -> None:
    """Show the results of an open study on its pages; log and bundle say so for ever."""
    from survey.services import accounts
    from survey.services.studies import lifecycle

    confirm(f"Show the results of {slug!r} before its end?", yes=yes, as_json=as_json)
    with open_study(slug) as (session, study):
        lifecycle.unblind(session, study, accounts.COMMAND_LINE, reason[:500])
        content = {"study": slug, "unblinded": True, "looks": study.looks}
        done = f"The results of {slug!r} are shown from now on; its log says so."
        print_result(content, done, as_json=as_json)


COMMANDS = (publish, unpublish, unblind)
