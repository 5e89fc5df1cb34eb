"""``survey paper``: the MNRO paper's tables and figures, recomputed beside the printed values."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from survey.cli.command import JSON_OPTION, OUTPUT_FOLDER, command, write_files
from survey.cli.terminal import (
    print_heading,
    print_json,
    print_sheet,
    print_table,
    print_text,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from survey.paper.reproduction import PrintComparison, Reproduction

EXHIBIT_NAMES = (
    *(f"table{number}" for number in range(1, 9)),
    *(f"figure{number}" for number in range(1, 9)),
    *("correlations", "slips", "generality"),
)
STUDY, STUDIES, ALL = "study", "studies", "all"


@command(
    examples=(
        "survey paper table4",
        "survey paper figure1 --to figures",
        "survey paper all --to paper-again",
        "survey paper generality --collection collection --to figures",
        "survey paper study urbano-2012",
    )
)
@click.argument("name", type=click.Choice([*EXHIBIT_NAMES, ALL, STUDY, STUDIES]), metavar="NAME")
@click.argument("study", required=False, metavar="[STUDY]")
@click.option(
    "--to",
    "folder",
    type=OUTPUT_FOLDER,
    help="Write NAME.csv into this folder; for a figure also PDF, PNG and SVG, for Table 4 and "
    "studies also NAME-claims.md, which claims the numbers support.",
)
@click.option(
    "--collection",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="For generality: a folder that `survey collect` wrote; by default the survey's own.",
)
@JSON_OPTION
def paper(
    name: str, study: str | None, folder: Path | None, collection: Path | None, as_json: bool
) -> None:
    """Recompute the MNRO paper's tables and figures, and judge published studies like it.

    Each value is printed beside the paper's. NAME is table1 to table8, figure1 to figure8,
    "correlations" of MAP, ANMRR and AMNRO over descriptors (Section 5.4), "slips" (the misprints of
    the paper and of the other sources), "generality" (Table 2's experiment on a collection of
    pictures), or all. The exit status is 1 if something that can be recomputed does not agree.

    "study" judges the claims of another study of agreement as Table 4's are. STUDY is a folder with
    study.yaml and counts.csv, or one of those that "studies" lists.
    """
    from survey.paper.catalogue import REPRODUCTIONS
    from survey.paper.generality import generality

    if collection and name != "generality":
        raise click.UsageError("--collection belongs to generality.")
    if bool(study) != (name == STUDY):
        raise click.UsageError("STUDY belongs to `survey paper study`, which needs it.")
    if name == STUDIES:
        _print_studies(as_json)
        return
    names = EXHIBIT_NAMES if name == ALL else (name,)
    reproductions = []
    with progress_bar("Recomputing", total=len(names)) as progress:
        for each in names:
            if study:
                reproduction = _study(study)
            else:
                reproduction = generality(collection) if collection else REPRODUCTIONS[each]()
            reproductions.append(reproduction)
            progress.advance()
    if as_json:
        content = {reproduction.name: reproduction.as_json() for reproduction in reproductions}
        print_json(content if name == ALL else reproductions[0].as_json())
    else:
        for reproduction in reproductions:
            _print_reproduction(reproduction)
    if folder is not None:
        count = sum(reproduction.file_count for reproduction in reproductions)
        files = (file for reproduction in reproductions for file in reproduction.files())
        write_files(folder, files, count)
        say(f"Wrote {count} file{'s' * (count > 1)} to {folder}.", err=True)
    if not all(reproduction.agrees for reproduction in reproductions):
        raise click.exceptions.Exit(1)


def _study(study: str) -> "Reproduction":
    from survey.paper.studies import included_study, judged_study

    folder = Path(study)
    return judged_study(folder) if folder.is_dir() else included_study(study)


def _print_studies(as_json: bool) -> None:
    from survey.paper.studies import included_studies, included_study

    facts = {name: included_study(name).content["study"] for name in included_studies()}
    if as_json:
        print_json(facts)
        return
    rows = [(name, fact["authors"], fact["title"], fact["source"]) for name, fact in facts.items()]
    print_table("Studies of `survey paper study NAME`", ["NAME", "authors", "title", "in"], rows)


def _print_reproduction(reproduction: "Reproduction") -> None:
    for sheet in reproduction.sheets:
        print_sheet(sheet)
    if reproduction.claims:
        print_heading(
            "The paper's claims about it" if reproduction.name in EXHIBIT_NAMES else "Its claims"
        )
        say()
    for claim in reproduction.claims:
        verdict = claim.verdict.upper()
        condition = f" {claim.condition}" if claim.condition else ""
        print_text(f"{verdict}{condition}: {claim.statement} ({claim.source})", word=verdict)
        print_text(claim.why, "  ", "  ")
        say()
    for title, paragraphs in reproduction.passages:
        print_heading(title)
        for paragraph in paragraphs:
            print_text(paragraph, "  ", "    ")
        say()
    for remark in reproduction.remarks:
        print_text(remark, "- ", "  ")
    say()
    _print_comparisons(reproduction.name, reproduction.comparisons)


def _print_comparisons(name: str, comparisons: "Sequence[PrintComparison]") -> None:
    if not comparisons:
        return
    rows = [
        (value.row, value.name, value.computed, value.printed, "yes" if value.agrees else "NO")
        for value in comparisons
    ]
    columns = ["", "what", "recomputed", "printed", "agrees"]
    print_table(f"{name}: recomputed and printed values", columns, rows)
    agreeing = sum(value.agrees for value in comparisons)
    say(f"{agreeing} of {len(comparisons)} printed values agree.")
