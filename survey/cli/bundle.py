"""``survey replicate`` and ``survey import``: a bundle that somebody handed out."""

from pathlib import Path

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import RESEARCHER
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.services import studies
from survey.services.errors import SurveyError
from survey.services.exchange import intake, reading
from survey.services.exchange.replicate import replicate as replicated
from survey.services.researchers import find_researcher

BUNDLE = click.Path(exists=True, path_type=Path)


@click.command(
    cls=Command,
    examples=("survey replicate five-systems.zip", "survey replicate five-systems.zip --json"),
)
@click.argument("bundle", type=BUNDLE)
@AS_JSON
def replicate(bundle: Path, as_json: bool) -> None:
    """Recompute everything in a bundle; exit status 0 only if all agrees.

    BUNDLE is a zip or an unpacked folder, made here or elsewhere. Lists are drawn
    anew from the seed, values, orders, credits, tables and the analysis recomputed;
    the first thing that does not agree is named. Needs no database.
    """
    agreed: list[str] = []
    fault: SurveyError | None = None
    try:
        with bar("Recomputing"):
            for step in replicated(reading.open_files(bundle, bundle.name)):
                agreed.append(step.text)
    except SurveyError as error:
        fault = error
    if as_json:
        why = {"why": str(fault)} if fault else {}
        content = {"bundle": str(bundle), "agrees": not fault, **why, "checked": agreed}
        print_json(content)
    else:
        for text in agreed:
            click.echo(f"✓ {text}")
    if fault:
        raise fault
    if not as_json:
        click.echo("The bundle agrees in everything that can be recomputed.")


@click.command(
    "import",
    cls=Command,
    examples=('survey import five-systems.zip --as spring-again --owner "Ada Lovelace"',),
)
@click.argument("bundle", type=BUNDLE)
@click.option("--as", "slug", default="", metavar="SLUG", help="Another address than it had.")
@click.option(
    "--owner",
    required=True,
    type=RESEARCHER,
    metavar="NAME",
    help="The researcher who may look at it.",
)
@AS_JSON
@click.pass_obj
def import_(open_app: OpenApp, /, bundle: Path, slug: str, owner: str, as_json: bool) -> None:
    """Take a bundle in as a study that is only looked at; it must replicate."""
    with bar("Recomputing"):
        files = reading.open_files(bundle, bundle.name)
        with database(open_app) as (_, session):
            owned_by = find_researcher(session, owner)
            study = intake.take_in(session, files, bundle.name, slug, owned_by)
            content = studies.describe(study)
    if as_json:
        print_json(content)
    else:
        click.echo(f"The study is at /research/studies/{content['slug']}, to be looked at.")
        click.echo(f"Next: `survey analyse {content['slug']}`.")
