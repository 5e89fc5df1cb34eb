"""``survey export``, ``survey replicate`` and ``survey import``: the bundle."""

import os
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from survey.cli.context import OpenApp, database
from survey.services import access, life, retention, studies
from survey.services.exchange import handing_out, intake, reading
from survey.services.exchange.replicate import replicate as replicated
from survey.services.researchers import find_researcher

BUNDLE = click.Path(exists=True, path_type=Path)


@click.command()
@click.argument("slug")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The zip file to write.",
)
@click.option("--with-identities", is_flag=True, help="Add identities.csv: personal data.")
@click.option("--include-test", is_flag=True, help="Include simulated participants.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def export(
    open_app: OpenApp,
    /,
    slug: str,
    target: Path,
    with_identities: bool,
    include_test: bool,
    force: bool,
) -> None:
    """Write a study's bundle: all that others need to arrive at the same numbers.

    \b
    Example: survey export five-systems --to five-systems.zip
    """
    if target.exists() and not force:
        raise click.ClickException(f"{target} is there already; --force replaces it.")
    if not target.parent.is_dir():
        raise click.ClickException(f"There is no folder {target.parent}.")
    with database(open_app) as (_, session):
        retention.drop_due(session)
        study = studies.find_study(session, slug)
        if with_identities:
            access.log(session, study, access.COMMAND_LINE, "exported", "bundle with identities")
        life.note_early_look(session, study, access.COMMAND_LINE, "exported")
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Writing", total=handing_out.lines_in(session, study))
            pieces = handing_out.stream_bundle(
                session,
                study,
                with_identities=with_identities,
                include_test=include_test,
                on_lines=lambda lines: progress.advance(task, lines),
            )
            unfinished = target.with_name(f".{target.name}.{os.getpid()}")
            try:
                with unfinished.open("wb") as file:
                    file.writelines(pieces)
                unfinished.replace(target)
            finally:
                unfinished.unlink(missing_ok=True)
    click.echo(f"{target} holds the study {slug!r}.")
    click.echo(f"Others check it with `survey replicate {target.name}`.")


@click.command()
@click.argument("bundle", type=BUNDLE)
def replicate(bundle: Path) -> None:
    """Recompute everything in a bundle; exit status 0 only if all agrees.

    BUNDLE is a zip or an unpacked folder, made here or elsewhere. Lists are drawn
    anew from the seed, values, orders, credits, tables and the analysis recomputed;
    the first thing that does not agree is named. Needs no database.
    """
    for step in replicated(reading.open_files(bundle, bundle.name)):
        click.echo(f"✓ {step.text}")
    click.echo("The bundle agrees in everything that can be recomputed.")


@click.command("import")
@click.argument("bundle", type=BUNDLE)
@click.option("--as", "slug", default="", help="Another address than the study had.")
@click.option("--owner", required=True, metavar="NAME", help="The researcher who may look at it.")
@click.pass_obj
def import_(open_app: OpenApp, /, bundle: Path, slug: str, owner: str) -> None:
    """Take a bundle in as a study that is only looked at; it must replicate."""
    files = reading.open_files(bundle, bundle.name)
    with database(open_app) as (_, session):
        study = intake.take_in(session, files, bundle.name, slug, find_researcher(session, owner))
        click.echo(f"The study is at /research/studies/{study.slug}, to be looked at.")
