"""``survey feedback``: what rounds of relevance feedback gain."""

from typing import Any, Literal

import click

from survey.cli.evaluate import (
    FILES,
    OUTPUT,
    Form,
    print_csv,
    print_report,
    progress_shown,
    with_options,
)
from survey.cli.words import SeveralWords
from survey.services.evaluating import Asked
from survey.services.feedback import run_feedback
from survey.services.reporting import evaluation_tables as tables
from survey.services.reporting.evaluation_json import as_json


@click.command(
    cls=SeveralWords,
    examples=(
        "survey feedback --qrels qrels.txt --run round0.txt round1.txt round2.txt",
        "survey feedback --qrels qrels.txt --run round0.txt round1.txt \\\n"
        "  --weights weights.txt --examples positive --images 3",
    ),
)
@with_options(FILES)
@click.option(
    "--examples",
    type=click.Choice(["positive", "negative"]),
    help="Print which examples each round's system is given, too.",
)
@click.option(
    "--images",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Positive examples a round.",
)
@with_options(OUTPUT)
def feedback(
    examples: Literal["positive", "negative"] | None, images: int, form: Form | None, **asked: Any
) -> None:
    """Measure what rounds of relevance feedback gain over round 0 (MiAlbum, Section 2.2).

    The first run is round 0, the others round 1, 2, … in the order given. Measures: mean
    precision at 10, 20, … 100, the same weighted (with --weights), and recall at 100. The
    items given as examples count in every round like any other.
    """
    with progress_shown() as show:
        found = run_feedback(Asked(**asked), examples, images, show)
    if form == "csv":
        print_csv(found.report)
        return
    content = as_json(found.report) | {"rounds": found.rounds, "examples": found.examples}
    sheets = [tables.means_sheet(found.report), tables.comparisons_sheet(found.report, "gain")]
    sheets += [tables.examples_sheet(found)] if found.examples else []
    print_report(form, content, sheets)
