"""``survey paper``: the paper's tables and figures, done again beside their print."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from survey.cli.context import AS_JSON, print_json, print_table
from survey.cli.tables import print_sheet
from survey.services.paper.catalogue import REPRODUCTIONS
from survey.services.paper.claim import Claim
from survey.services.paper.printed import Comparison
from survey.services.paper.reproduction import Reproduction


@click.command()
@click.argument("name", type=click.Choice([*REPRODUCTIONS, "all"]))
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write NAME.csv there, of a figure also its drawing as PDF, PNG and SVG, and of Table 4 "
    "what it supports, as table4-claims.md.",
)
@AS_JSON
def paper(name: str, to: Path | None, as_json: bool) -> None:
    """Do a table or figure of the MNRO paper again, beside what it printed.

    Beside them: "correlations" of MAP, ANMRR and AMNRO over descriptors (Section 5.4), and
    "slips", the paper's misprints. Exit status 1 when something that can be recomputed does
    not agree.
    """
    wanted = REPRODUCTIONS if name == "all" else (name,)
    found = [REPRODUCTIONS[one]() for one in wanted]
    if as_json:
        content = {one.name: one.as_json() for one in found}
        print_json(content if name == "all" else content[name])
    else:
        for one in found:
            _print(one)
    if to is not None:
        _write(to, found)
    if not all(one.agrees for one in found):
        raise click.exceptions.Exit(1)


def _print(found: Reproduction) -> None:
    for sheet in found.sheets:
        print_sheet(sheet)
    _print_claims(found.claims)
    for heading, paragraphs in found.passages:
        click.echo(heading)
        for paragraph in paragraphs:
            click.echo(click.wrap_text(paragraph, 98, "  ", "    "))
        click.echo()
    for remark in found.remarks:
        click.echo(click.wrap_text(remark, 98, "- ", "  "))
    click.echo()
    _print_comparisons(found.name, found.comparisons)


def _print_claims(claims: Sequence[Claim]) -> None:
    if claims:
        click.echo("What the paper says of it, claim by claim\n")
    for claim in claims:
        said = f"{claim.verdict.upper()}: {claim.said} ({claim.place})"
        click.echo(click.wrap_text(said, 98))
        click.echo(click.wrap_text(claim.why, 98, "  ", "  ") + "\n")


def _print_comparisons(name: str, comparisons: Sequence[Comparison]) -> None:
    if not comparisons:
        return
    cells = [
        (one.row, one.name, one.computed, one.printed, "yes" if one.agrees else "NO")
        for one in comparisons
    ]
    headings = ["", "what", "recomputed", "printed", "agrees"]
    print_table(f"{name}: recomputed beside the print", headings, cells)
    agreeing = sum(one.agrees for one in comparisons)
    click.echo(f"{agreeing} of {len(comparisons)} printed values agree.")


def _write(folder: Path, found: Sequence[Reproduction]) -> None:
    """Write everything as files, telling how far it is."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Writing", total=sum(one.file_count for one in found))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for one in found:
                for name, content in one.files():
                    (folder / name).write_bytes(content)
                    progress.advance(task)
        except OSError as error:
            raise click.ClickException(f"{folder} cannot be written: {error.strerror}.") from None
    files = sum(one.file_count for one in found)
    click.echo(f"Wrote {files} file{'s' * (files > 1)} to {folder}.", err=True)
