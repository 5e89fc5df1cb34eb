"""Rank real images and write down what the measures make of it.

Run by ``make digits``; ``python -m benchmarks.digits --help`` says what can be set.
"""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.digits.findings import Findings, find, steps
from benchmarks.digits.page import page
from benchmarks.digits.retrieval import Digits, load

MISSING = (
    "The images come with scikit-learn, which is not installed: "
    "pip install 'ranking-survey[digits]', or in a checkout pip install -e '.[digits]'."
)


@click.command()
@click.option(
    "--draws",
    default=300,
    show_default=True,
    type=click.IntRange(50),  # in fewer, a P(10) may be 0 in A and have no deviation
    help="How often collections are drawn anew.",
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option(
    "--to",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the page to this file (Markdown); it is printed if not given.",
)
def main(draws: int, seed: int, to: Path | None) -> None:
    """Repeat Sections 5.2 and 5.4 of the MNRO paper in small, on handwritten digits."""
    if to and not to.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {to.parent}", param_hint="--to")
    try:
        digits = load()
    except ModuleNotFoundError as error:
        raise click.ClickException(MISSING) from error
    text = page(_found(digits, draws, seed))
    if to:
        to.write_text(text, encoding="utf-8")
        click.echo(f"{to} is written.", err=True)
    else:
        click.echo(text, nl=False)


def _found(digits: Digits, draws: int, seed: int) -> Findings:
    columns = (TextColumn("Ranking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=steps(draws))
        return find(digits, draws=draws, seed=seed, on_step=lambda: progress.advance(task))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.digits")
