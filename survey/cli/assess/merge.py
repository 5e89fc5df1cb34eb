"""``survey assess merge``."""

from pathlib import Path

import click

from survey.cli.assess.shared import FORCE, JUDGEMENTS, check_different, tell
from survey.cli.command import Command
from survey.cli.context import AS_JSON
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.cli.sheets import print_sheet
from survey.services.assessing import files, judgements, label_sheets


@click.command(
    cls=Command,
    examples=(
        "survey assess merge ann.txt bob.txt eve.txt --to merged",
        "survey assess merge ann.txt bob.txt eve.txt --to strict --at-least 3",
    ),
)
@click.argument("labels", nargs=-1, required=True, type=JUDGEMENTS, metavar="LABELS...")
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder to write to.",
)
@click.option(
    "--at-least",
    type=click.IntRange(1),
    metavar="M",
    help="How many must have chosen a relevant document; more than half by default.",
)
@FORCE
@AS_JSON
def merge(
    labels: tuple[Path, ...], folder: Path, at_least: int | None, force: bool, as_json: bool
) -> None:
    """Merge assessors' labels into weights and relevance judgements.

    Each of the LABELS is one assessor's file, with lines of `topic iteration document
    relevance` (TREC qrels; relevance 0 to 3, above 0 is chosen; .gz is unpacked). The folder
    gets weights.csv, weights.txt (topic document weight), qrels.txt and agreement.csv.
    """
    if len(labels) < 2:
        raise click.UsageError("1 file given; two assessors or more are needed.")
    check_different(labels)
    if at_least is not None and at_least > len(labels):
        raise click.UsageError(f"--at-least {at_least}: there are {len(labels)} assessors.")
    targets = [folder / name for name in label_sheets.MERGED]
    files.check_targets(targets, labels, replace=force)
    with bar("Merging") as shown:
        merged = judgements.merge(labels, at_least, shown.at)
    texts = label_sheets.merged_files(merged)
    files.write_files({folder / name: text for name, text in texts.items()})
    if as_json:
        print_json(label_sheets.merged_json(merged) | {"files": [str(path) for path in targets]})
        return
    print_sheet(label_sheets.agreement_sheet(merged))
    tell([*label_sheets.merged_sentences(merged), f"Written to {folder}: {', '.join(texts)}."])
