"""``survey evaluate``: score runs, and compare them with a baseline."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import click
from rich.progress import TaskID

from survey.cli.kinds import MEASURES
from survey.cli.printing import print_json
from survey.cli.progress import bars
from survey.cli.sheets import print_sheet
from survey.cli.words import SeveralWords
from survey.services import evaluating
from survey.services.reporting import evaluation_tables as tables
from survey.services.reporting.evaluation_json import as_json
from survey.services.reporting.sheets import Sheet, as_csv, as_latex

Form = Literal["json", "csv", "latex"]

A_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FILES = (
    click.option(
        "--qrels",
        required=True,
        type=A_FILE,
        help="Judgements: topic iteration docid relevance.",
    ),
    click.option(
        "--run",
        "runs",
        required=True,
        multiple=True,
        type=A_FILE,
        metavar="FILE...",
        help="Runs: topic Q0 docid rank score tag. Each is named by its file's stem.",
    ),
    click.option(
        "--weights",
        type=A_FILE,
        help="Shares of annotators: topic docid weight, above 0 and up to 1.",
    ),
)
OUTPUT = (
    click.option(
        "--resamples",
        default=evaluating.REPLICATES,
        show_default=True,
        type=click.IntRange(99, 1_000_000),
        help="Of the bootstrap over queries.",
    ),
    click.option(
        "--seed",
        default=evaluating.SEED,
        show_default=True,
        type=click.IntRange(0, 2**63 - 1),
        help="Of the bootstrap.",
    ),
    click.option("--json", "form", flag_value="json", help="Print JSON, for scripts."),
    click.option("--csv", "form", flag_value="csv", help="Print CSV, a row for each figure."),
    click.option("--latex", "form", flag_value="latex", help="Print LaTeX tables."),
)


def with_options(
    options: Sequence[Callable[[click.decorators.FC], click.decorators.FC]],
) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """Add several options, in this order."""

    def add(command: click.decorators.FC) -> click.decorators.FC:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _gmt(_: click.Context, __: click.Parameter, text: str | None) -> int | str | None:
    if text is None or text == "max":
        return text
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        raise click.BadParameter(f"{text!r} found; a whole number from 1, or max, is allowed.")
    return int(text)


@click.command(
    cls=SeveralWords,
    examples=(
        "survey evaluate --qrels qrels.txt --run base.txt --measures AP P@10",
        "survey evaluate --qrels qrels.txt --run base.txt new.txt.gz --baseline base \\\n"
        "  --measures AP nDCG@10 MNRO --collection-size 10000",
        "survey evaluate --qrels qrels.txt --run base.txt --per-query --csv",
    ),
)
@with_options(FILES)
@click.option(
    "--clusters", type=A_FILE, help="Sub-topics: topic docid cluster, or the word unknown."
)
@click.option(
    "--measures",
    type=MEASURES,
    multiple=True,
    metavar="NAME...",
    help="Such as AP nDCG@10 MNRO; a usual choice if none is given.",
)
@click.option("--collection-size", type=click.IntRange(1), help="N, which MNRO and NAR need.")
@click.option("--gmt", callback=_gmt, metavar="N|max", help="Cap NMRR's K by 2 GMT (Eq. 6).")
@click.option("--literal-eq15", is_flag=True, help="Take MNRO's Eq. 15 as printed.")
@click.option("--baseline", metavar="RUN", help="Test whether the other runs are better.")
@click.option("--per-query", is_flag=True, help="Print the value for each query as well.")
@with_options(OUTPUT)
def evaluate(measures: tuple[str, ...], per_query: bool, form: Form | None, **asked: Any) -> None:
    """Score the runs of a test collection, in TREC's formats, gzipped or not.

    Queries are the topics with a relevant document that some run returned anything for; a
    run that did not is scored as having retrieved nothing. Documents are ordered as by
    trec_eval. Stars: better than the baseline at .05, .01, .001, by a one-tailed bootstrap.
    """
    names = tuple(name for words in measures for name in words.split(",") if name)
    with progress_shown() as show:
        report = evaluating.run(evaluating.Asked(measures=names, **asked), show)
    if form == "csv":
        print_csv(report, per_query=per_query)
        return
    sheets = [tables.means_sheet(report)]
    sheets += [tables.comparisons_sheet(report)] if report.comparisons else []
    sheets += [tables.queries_sheet(report)] if per_query else []
    print_report(form, as_json(report), sheets)


@contextmanager
def progress_shown() -> Iterator[evaluating.OnProgress]:
    """Show a bar for what is being done; what cannot be asked for is wrong usage."""
    with bars() as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done)

        try:
            yield show
        except evaluating.RequestError as error:
            raise click.UsageError(f"{error}.") from error


def print_csv(report: evaluating.Report, *, per_query: bool = False) -> None:
    """Print a row for each run and measure, or for each query too; notes go to stderr."""
    sheet = tables.long_queries_sheet(report) if per_query else tables.long_sheet(report)
    click.echo(as_csv(sheet), nl=False)
    for note in report.evaluation.notes:
        click.echo(note, err=True)


def print_report(form: Form | None, content: dict[str, Any], sheets: Sequence[Sheet]) -> None:
    """Print a report as JSON, as LaTeX, or as tables on the terminal."""
    if form == "json":
        print_json(content)
        return
    for sheet in sheets:
        if form == "latex":
            click.echo(as_latex(sheet))
        else:
            print_sheet(sheet)
