"""``survey export``, ``survey replicate`` and ``survey import``: the bundle."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    type=click.Path(dir_okay=False, path_type=Path),
    help="The zip file to write.",
)
@click.option(
    "--parquet",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Instead, the folder to write its tables into as Parquet files.",
)
@click.option("--with-identities", is_flag=True, help="Add identities.csv: personal data.")
@click.option("--include-test", is_flag=True, help="Include simulated participants.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def export(
    open_app: OpenApp,
    /,
    slug: str,
    target: Path | None,
    folder: Path | None,
    force: bool,
    **wanted: bool,
) -> None:
    """Write a study's bundle: all that others need to arrive at the same numbers.

    \b
    Example: survey export five-systems --to five-systems.zip

    With --parquet, its answers, people and questions for other programs, with types.
    """
    if (target is None) == (folder is None):
        raise click.UsageError("Name what to write: --to FILE.zip, or --parquet FOLDER.")
    place = _free(target or folder or Path(), force=force)
    with database(open_app) as (_, session):
        retention.drop_due(session)
        study = studies.find_study(session, slug)
        if wanted["with_identities"]:
            access.log(session, study, access.COMMAND_LINE, "exported", "bundle with identities")
        life.note_early_look(session, study, access.COMMAND_LINE, "exported")
        with _progress(handing_out.lines_in(session, study)) as on_lines, _unfinished(place) as new:
            if folder:
                handing_out.write_parquet(session, study, new, on_lines=on_lines, **wanted)
            else:
                pieces = handing_out.stream_bundle(session, study, on_lines=on_lines, **wanted)
                with new.open("wb") as file:
                    file.writelines(pieces)
    click.echo(f"{place} holds the study {slug!r}.")
    if target:
        click.echo(f"Others check it with `survey replicate {target.name}`.")


def _free(place: Path, *, force: bool) -> Path:
    """Return where to write, unless something is there that is not to be replaced."""
    if place.exists() and not (force and place.is_file()):
        also = "; --force replaces it" if place.is_file() else ""
        raise click.ClickException(f"{place} is there already{also}.")
    if not place.absolute().parent.is_dir():
        raise click.ClickException(f"There is no folder {place.parent}.")
    return place


@contextmanager
def _unfinished(place: Path) -> Iterator[Path]:
    """Give a name beside a file or folder, which gets its own once everything is written."""
    new = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        yield new
        new.replace(place)
    finally:
        if new.is_dir():
            shutil.rmtree(new)
        new.unlink(missing_ok=True)


@contextmanager
def _progress(lines: int) -> Iterator[Callable[[int], None]]:
    """Draw a bar of so many lines, and give what moves it on."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Writing", total=lines)
        yield lambda more: progress.advance(task, more)


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
