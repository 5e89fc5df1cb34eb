"""``survey registry``: which studies were run again, and where their bundles are."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from survey.cli.command import INPUT_FILE, JSON_OPTION, OUTPUT_FILE, CommandGroup
from survey.cli.terminal import print_json, print_result, print_table, progress_bar, say

if TYPE_CHECKING:
    from survey.services.exchange.registry import Run


@click.group(
    cls=CommandGroup,
    examples=(
        "survey registry add registry.jsonl two-runs.zip --address two-runs.zip",
        "survey registry check registry.jsonl",
    ),
)
def registry() -> None:
    """List runs of studies and their bundles, in a file that anyone can host."""


@registry.command(
    examples=(
        "survey registry add registry.jsonl two-runs.zip --address two-runs.zip",
        "survey registry add ours.jsonl five-systems.zip --author 'Lovelace, Ada' \\\n"
        "    --address https://example.org/five-systems.zip",
    )
)
@click.argument("file", type=OUTPUT_FILE)
@click.argument("bundle", type=INPUT_FILE)
@click.option(
    "--address",
    required=True,
    metavar="URL",
    help="Where the bundle is: https, or a path beside the registry.",
)
@click.option("--author", "authors", multiple=True, help="Who ran it, if the bundle lacks that.")
@click.option("--doi", default="", show_default=False, help="The DOI, if the bundle lacks it.")
@click.option("--month", default="", show_default=False, help="When it was run, like 2026-05.")
@JSON_OPTION
def add(
    file: Path,
    bundle: Path,
    address: str,
    authors: tuple[str, ...],
    doi: str,
    month: str,
    as_json: bool,
) -> None:
    """Replicate a bundle, and append its line to a registry.

    FILE is a file of JSON Lines; it is made if it is missing. The line has the study's digest, the
    bundle's address and SHA-256, title, authors, month, participants, software, licence, DOI, and
    the lead of each pair in points.
    """
    from survey.services.exchange.registry import RunDetails, add_run

    with progress_bar("Recomputing", total=bundle.stat().st_size) as progress:
        run = add_run(file, bundle, address, RunDetails(authors, doi, month), progress.advance)
    sentence = f"{file} has a run of {run.title!r} by {run.participants} participants, {run.month}."
    print_result({"written": str(file), **_as_json(run)}, sentence, as_json=as_json)


@registry.command(
    examples=("survey registry check registry.jsonl", "survey registry check registry.jsonl --mark")
)
@click.argument("file", type=INPUT_FILE)
@click.option("--mark", is_flag=True, help="Store in each line whether its bundle replicates.")
@JSON_OPTION
def check(file: Path, mark: bool, as_json: bool) -> None:
    """Download each bundle of a registry, compare its SHA-256, and replicate it.

    Prints a line for each. The exit status is 1 if any fails. A bundle that cannot be downloaded
    keeps its mark.
    """
    from survey.errors import SurveyError
    from survey.services.exchange.download import DownloadError
    from survey.services.exchange.registry import check_run, mark_runs, read_registry

    runs, results, marks = read_registry(file), [], {}
    with progress_bar("Checking", total=len(runs)) as progress:
        for number, run in runs.items():
            why = ""
            try:
                check_run(run, file.parent)
            except SurveyError as error:
                why = str(error).removeprefix(f"{run.address}: ")
                if not isinstance(error, DownloadError):
                    marks[number] = False
            else:
                marks[number] = True
            results.append({"line": number, "address": run.address, "agrees": not why, "why": why})
            progress.advance()
    if mark:
        mark_runs(file, marks)
    if as_json:
        print_json({"registry": str(file), "runs": results})
    else:
        for result in results:
            sign, end = ("✓", "replicates") if result["agrees"] else ("–", result["why"])
            say(f"{sign} line {result['line']}: {result['address']}: {end}")
    if failed := sum(not result["agrees"] for result in results):
        fails = "fails" if failed == 1 else "fail"
        raise click.ClickException(f"{failed} of {len(results)} bundles {fails}.")


@registry.command("list", examples=("survey registry list registry.jsonl e3b0c442",))
@click.argument("file", type=INPUT_FILE)
@click.argument("digest")
@JSON_OPTION
def list_(file: Path, digest: str, as_json: bool) -> None:
    """List the runs of one study.

    DIGEST is the study's digest, or its first eight digits or more.
    """
    from survey.services.exchange.registry import read_registry

    if not re.fullmatch("[0-9a-f]{8,64}", digest):
        raise click.UsageError(f"{digest!r} found; 8 to 64 digits of a digest, 0 to f, are needed.")
    runs = [run for run in read_registry(file).values() if run.digest.startswith(digest)]
    if as_json:
        print_json({"registry": str(file), "runs": [_as_json(run) for run in runs]})
        return
    words = {True: "yes", False: "no", None: "not checked"}
    rows = [
        (
            *(run.month, "; ".join(run.authors), str(run.participants)),
            ", ".join(f"{pair} {points:+.1f}" for pair, points in run.results.items()),
            *(words[run.replicates], run.doi or run.address),
        )
        for run in runs
    ]
    columns = ("month", "authors", "people", "leads in points", "replicates", "DOI or address")
    if rows:
        print_table(runs[0].title, columns, rows)
    say(f"{len(rows)} run{'s' if len(rows) != 1 else ''} of this study in {file}.")


@registry.command(examples=("survey registry update",))
@JSON_OPTION
def update(as_json: bool) -> None:
    """Fetch the registries that SURVEY_REGISTRIES names, for the pages of studies.

    Pages read this copy and fetch nothing, so run this each night. Registries are at https
    addresses on the public internet, and have at most 5 MB.
    """
    from survey.config import Settings
    from survey.services.exchange.registry import update_copy

    settings = Settings.from_environment(os.environ)
    with progress_bar("Fetching"):
        count, faults = update_copy(settings.instance, settings.registries)
    content = {"registries": [*settings.registries], "runs": count, "faults": faults}
    sentence = f"{count} runs from {len(settings.registries)} registries are stored."
    if not settings.registries:
        sentence = "SURVEY_REGISTRIES names no registry; no runs are stored."
    print_result(content, sentence, as_json=as_json)
    if faults:
        raise click.ClickException("\n".join(faults))


def _as_json(run: "Run") -> dict[str, object]:
    import json

    values: dict[str, object] = json.loads(run.line)
    return values
