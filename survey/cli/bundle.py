"""``survey export``, ``replicate`` and ``import``: a study's bundle."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from survey.cli.analyse import EARLY_LOOK_NOTE
from survey.cli.command import (
    JSON_OPTION,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    RESEARCHER,
    STUDY,
    Command,
    check_writable,
    open_session,
)
from survey.cli.terminal import print_json, print_result, progress_bar

BUNDLE = click.Path(exists=True, path_type=Path)


@click.command(
    cls=Command,
    examples=(
        "survey export five-systems --to spring.zip",
        "survey export five-systems --to trial.zip --include-test",
        "survey export five-systems --parquet five-systems-tables",
    ),
)
@click.argument("slug", type=STUDY)
@click.option("--to", "target", type=OUTPUT_FILE, help="The zip file to write.")
@click.option(
    "--parquet",
    "folder",
    type=OUTPUT_FOLDER,
    help="Write the tables into this folder as Parquet files instead.",
)
@click.option("--with-identities", is_flag=True, help="Add identities.csv: personal data.")
@click.option("--include-test", is_flag=True, help="Include simulated participants.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@JSON_OPTION
def export(
    slug: str,
    target: Path | None,
    folder: Path | None,
    force: bool,
    as_json: bool,
    **options: bool,
) -> None:
    """Write a study's bundle, which others can replicate.

    With --parquet it writes answers, participants and questions as typed tables for other
    programs.
    """
    from survey.services.accounts import access
    from survey.services.exchange import bundle
    from survey.services.participation import own_data
    from survey.services.studies import lifecycle

    if (target is None) == (folder is None):
        raise click.UsageError("Name what to write: --to FILE.zip, or --parquet FOLDER.")
    path = target or folder or Path()
    check_writable(path, force=force)
    with open_session() as session:
        own_data.drop_due(session)
        study = lifecycle.find_study(session, slug)
        if options["with_identities"]:
            access.log(session, study, access.COMMAND_LINE, "exported", "bundle with identities")
        if lifecycle.log_early_results(session, study, access.COMMAND_LINE, "exported"):
            click.echo(EARLY_LOOK_NOTE, err=True)
        lines, digest = bundle.estimate_lines(session, study), study.digest
        with progress_bar("Writing", total=lines) as progress, _replaced_when_done(path) as new:
            if folder:
                from survey.services.exchange import parquet  # its library is an extra

                parquet.write_parquet(session, study, new, on_lines=progress.advance, **options)
            else:
                chunks = bundle.stream_bundle(session, study, on_lines=progress.advance, **options)
                with new.open("wb") as file:
                    file.writelines(chunks)
    sentences = [f"{path} holds the study {slug!r}."]
    if target:
        sentences.append(f"Others check it with `survey replicate {target.name}`.")
    content = {"study": slug, "digest": digest, "written": str(path), **options}
    print_result(content, *sentences, as_json=as_json)


@click.command(
    cls=Command,
    examples=("survey replicate five-systems.zip", "survey replicate five-systems.zip --json"),
)
@click.argument("bundle", type=BUNDLE)
@JSON_OPTION
def replicate(bundle: Path, as_json: bool) -> None:
    """Recompute everything in a bundle, and compare.

    BUNDLE is a zip or an unpacked folder, made here or elsewhere. The lists are drawn again
    from the seed; values, orders, credits, tables and the analysis are recomputed. The first
    thing that does not agree is named. The exit status is 0 only if everything agrees. No
    database is needed.
    """
    from survey.errors import SurveyError
    from survey.services.exchange import input_files
    from survey.services.exchange.replication import replicate as recompute

    checked: list[str] = []
    fault: SurveyError | None = None
    try:
        with progress_bar("Recomputing"):
            for text in recompute(input_files.open_files(bundle, bundle.name)):
                checked.append(text)
    except SurveyError as error:
        fault = error
    if as_json:
        why = {"why": str(fault)} if fault else {}
        print_json({"bundle": str(bundle), "agrees": not fault, **why, "checked": checked})
    else:
        for text in checked:
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
@click.option("--as", "slug", metavar="SLUG", help="Another slug than it had.")
@click.option(
    "--owner", required=True, type=RESEARCHER, metavar="NAME", help="The researcher who sees it."
)
@JSON_OPTION
def import_(bundle: Path, slug: str | None, owner: str, as_json: bool) -> None:
    """Import a bundle as a read-only study.

    Everything in it is recomputed first; a bundle that does not agree is not imported.
    """
    from survey.services.accounts.researchers import find_researcher
    from survey.services.exchange import input_files, replication
    from survey.services.studies import lifecycle

    with progress_bar("Recomputing"):
        files = input_files.open_files(bundle, bundle.name)
        with open_session() as session:
            researcher = find_researcher(session, owner)
            study = replication.import_bundle(session, files, bundle.name, slug or "", researcher)
            content = lifecycle.describe(study)
    print_result(
        content,
        f"The study is at /research/studies/{content['slug']}, read-only.",
        f"Next: `survey analyse {content['slug']}`.",
        as_json=as_json,
    )


@contextmanager
def _replaced_when_done(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` only if the block succeeds."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield new
        new.replace(path)
    finally:
        if new.is_dir():
            shutil.rmtree(new)
        new.unlink(missing_ok=True)
