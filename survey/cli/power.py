"""``survey power``: how likely a study is to find a difference."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import STUDY
from survey.cli.printing import print_json, say
from survey.cli.progress import bar
from survey.cli.tables import print_table
from survey.services import advice, executors, grids, planning, studies

if TYPE_CHECKING:
    from survey.core.agreement.planning import Power

GRID = {
    "participants": "How many take part.",
    "questions": "How many questions each answers.",
    "pool": "Questions in the pool they are drawn from; none for no pool.",
    "difference": "Differences to be found, as shares: .10 is 10 points; 0 is none.",
    "decided": "Share of responses that credit only one of the two measures.",
    "between_questions": "Standard deviation of the difference between questions.",
    "between_participants": "Standard deviation of the difference between participants.",
    "replicates": "Simulated runs of each study.",
    "seed": "The same seed gives the same figures.",
}


def grid_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add an option for each field of the grid."""
    for name, text in reversed(GRID.items()):
        command = click.option(
            f"--{name.replace('_', '-')}",
            name,
            metavar="NUMBER,…" if name in grids.SEVERAL else "NUMBER",
            help=f"{text} ({grids.DEFAULTS[name]})",
        )(command)
    return command


@click.command(
    cls=Command,
    examples=(
        "survey power --participants 30 --questions 10 --pool 30,50 --difference .10",
        "survey power --study five-systems --workers 4 --to power.csv",
        "survey power --replicates 100000 --cluster tcp://10.0.0.1:8786",
    ),
)
@grid_options
@click.option("--study", "slug", type=STUDY, metavar="SLUG", help="Plan for this study's design.")
@click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(1, 256), help="Processes."
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="A Dask scheduler's, in place of processes of this machine.",
)
@click.option(
    "--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write a CSV as well."
)
@AS_JSON
@click.pass_obj
def power(
    open_app: OpenApp,
    /,
    slug: str | None,
    workers: int,
    cluster: str | None,
    target: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Simulate how likely studies are to find a difference between two measures.

    Every combination of the values given, separated by commas, is a study: everyone answers
    all questions, or so many of a pool. The test is the analysis' own, two-way over
    participants and questions, at 5 %. A study's slug puts its plan in place of the
    defaults. The figures depend on the seed, not on the number of workers or where they are.
    """
    asked = {name: text for name, text in given.items() if text is not None}
    if slug is not None:
        with database(open_app) as (_, session):
            asked = grids.texts_of(studies.find_study(session, slug).plan) | asked
    if target is not None and not target.parent.is_dir():
        raise click.UsageError(f"There is no folder {target.parent} to write {target.name} to.")
    try:
        grid = grids.read_grid(asked)
    except grids.GridError as error:
        raise click.UsageError(f"{error}.") from error
    powers = _simulated(grid, workers, cluster)
    if target is not None:
        _write(target, powers)
    if as_json:
        print_json(planning.as_json(grid, powers))
    else:
        _print(powers)


def _simulated(grid: grids.Grid, workers: int, cluster: str | None) -> tuple["Power", ...]:
    where = executors.processes(workers) if cluster is None else executors.cluster(cluster)
    with bar("Simulating", total=grid.cost) as shown, where as pool:
        return planning.simulate_power(
            grid.studies,
            seed=grid.seed,
            replicates=grid.replicates,
            executor=pool,
            on_progress=shown.more,
        )


def _print(powers: Sequence["Power"]) -> None:
    rows = [
        [
            found.participants,
            advice.asked(found),
            found.answers,
            advice.points(found.difference),
            f"{100 * found.power:.1f} %",
            f"{100 * found.interval[0]:.1f} to {100 * found.interval[1]:.1f} %",
            "–" if found.half_width is None else f"±{100 * found.half_width:.1f} points",
        ]
        for found in powers
    ]
    columns = ["participants", "questions for each", "answers", "difference"]
    columns += ["found in", "Monte Carlo 95 %", "its interval, on average"]
    title = f"Simulated power: how often the test finds the difference, {powers[0].replicates} runs"
    print_table(title, columns, rows)
    say(f"The first line says: {advice.reading(powers[0])}")
    for sentence in advice.advice(powers):
        say(sentence)
    click.echo("\nNot covered:")
    for sentence in advice.NOT_COVERED:
        say(sentence, "- ", "  ")


def _write(target: Path, powers: Sequence["Power"]) -> None:
    rows = planning.as_rows(powers)
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
    click.echo(f"Written: {target}", err=True)
