"""``survey paper``: the paper's tables and figures, done again beside their print."""

from collections.abc import Collection, Sequence
from pathlib import Path

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON
from survey.cli.printing import heading, print_json, say
from survey.cli.progress import bar
from survey.cli.sheets import print_sheet
from survey.cli.tables import print_table
from survey.services.paper.catalogue import REPRODUCTIONS
from survey.services.paper.reproduction import Claim, Comparison, Reproduction


@click.command(
    cls=Command,
    examples=(
        "survey paper table4",
        "survey paper figure1 --to figures",
        "survey paper all --to paper-again",
    ),
)
@click.argument("name", type=click.Choice([*REPRODUCTIONS, "all"]), metavar="NAME")
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write NAME.csv there, of a figure also its drawing as PDF, PNG and SVG, and of Table 4 "
    "what it supports, as table4-claims.md.",
)
@AS_JSON
def paper(name: str, to: Path | None, as_json: bool) -> None:
    """Do a table or figure of the MNRO paper again, beside what it printed.

    NAME is table1 to table8, figure1 to figure8, "correlations" of MAP, ANMRR and AMNRO over
    descriptors (Section 5.4), "slips", the paper's misprints, or all of them. Exit status 1
    when something that can be recomputed does not agree.
    """
    wanted = REPRODUCTIONS if name == "all" else (name,)
    found = _reproduced(wanted)
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


def _reproduced(names: Collection[str]) -> list[Reproduction]:
    found = []
    with bar("Recomputing", total=len(names)) as shown:
        for name in names:
            found.append(REPRODUCTIONS[name]())
            shown.more()
    return found


def _print(found: Reproduction) -> None:
    for sheet in found.sheets:
        print_sheet(sheet)
    _print_claims(found.claims)
    for title, paragraphs in found.passages:
        heading(title)
        for paragraph in paragraphs:
            say(paragraph, "  ", "    ")
        click.echo()
    for remark in found.remarks:
        say(remark, "- ", "  ")
    click.echo()
    _print_comparisons(found.name, found.comparisons)


def _print_claims(claims: Sequence[Claim]) -> None:
    if claims:
        heading("What the paper says of it, claim by claim")
        click.echo()
    for claim in claims:
        verdict = claim.verdict.upper()
        say(f"{verdict}: {claim.said} ({claim.place})", word=verdict)
        say(claim.why, "  ", "  ")
        click.echo()


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
    with bar("Writing", total=sum(one.file_count for one in found)) as shown:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for one in found:
                for name, content in one.files():
                    (folder / name).write_bytes(content)
                    shown.more()
        except OSError as error:
            raise click.ClickException(f"{folder} cannot be written: {error.strerror}.") from None
    files = sum(one.file_count for one in found)
    click.echo(f"Wrote {files} file{'s' * (files > 1)} to {folder}.", err=True)
