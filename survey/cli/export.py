"""``survey export``: a study's bundle."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, EARLY, OpenApp, database
from survey.cli.kinds import STUDY
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.services import access, life, retention, studies
from survey.services.exchange import handing_out


@click.command(
    cls=Command,
    examples=(
        "survey export five-systems --to spring.zip",
        "survey export five-systems --to trial.zip --include-test",
        "survey export five-systems --parquet five-systems-tables",
    ),
)
@click.argument("slug", type=STUDY)
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
@AS_JSON
@click.pass_obj
def export(
    open_app: OpenApp,
    /,
    slug: str,
    target: Path | None,
    folder: Path | None,
    force: bool,
    as_json: bool,
    **wanted: bool,
) -> None:
    """Write a study's bundle: all that others need to arrive at the same numbers.

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
        if life.note_early_look(session, study, access.COMMAND_LINE, "exported"):
            click.echo(EARLY, err=True)
        lines, digest = handing_out.lines_in(session, study), study.digest
        with bar("Writing", total=lines) as shown, _unfinished(place) as new:
            if folder:
                handing_out.write_parquet(session, study, new, on_lines=shown.more, **wanted)
            else:
                pieces = handing_out.stream_bundle(session, study, on_lines=shown.more, **wanted)
                with new.open("wb") as file:
                    file.writelines(pieces)
    if as_json:
        print_json({"study": slug, "digest": digest, "written": str(place), **wanted})
        return
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
