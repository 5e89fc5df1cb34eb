"""``survey assess compare`` and ``gold``."""

from pathlib import Path

import click

from survey.cli.assess.shared import FORCE, JUDGEMENTS, check_different, tell
from survey.cli.command import Command
from survey.cli.context import AS_JSON
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.cli.sheets import print_sheet
from survey.services.assessing import cluster_sheets, files, judgements


def _share(_: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse what is no share; click's ranges let “nan” pass."""
    if not 0 <= value <= 1:
        raise click.BadParameter(f"{value} found; 0 to 1 is allowed.", param=parameter)
    return value


THRESHOLD = click.option(
    "--threshold",
    default=judgements.SUFFICIENT,
    show_default=True,
    callback=_share,
    type=float,
    help="Adjusted Rand index from which two assessors sufficiently agree.",
)


@click.command(cls=Command, examples=("survey assess compare one.txt two.txt",))
@click.argument("first", type=JUDGEMENTS, metavar="CLUSTERS1")
@click.argument("second", type=JUDGEMENTS, metavar="CLUSTERS2")
@THRESHOLD
@AS_JSON
def compare(first: Path, second: Path, threshold: float, as_json: bool) -> None:
    """Compare two assessors' clusterings, and list the topics that need a third.

    Lines are `topic document cluster`; the cluster is the rest of the line, and `unknown`
    for a document that could not be placed (.gz is unpacked).
    """
    check_different([first, second])
    with bar("Comparing") as shown:
        compared = judgements.compare(first, second, threshold, shown.at)
    if as_json:
        print_json(cluster_sheets.compared_json(compared))
        return
    print_sheet(cluster_sheets.compared_sheet(compared))
    tell(cluster_sheets.compared_sentences(compared, str(first), str(second)))


@click.command(
    cls=Command,
    examples=(
        "survey assess gold one.txt two.txt --to agreed.txt",
        "survey assess gold one.txt two.txt --third three.txt --to gold.txt",
    ),
)
@click.argument("first", type=JUDGEMENTS, metavar="CLUSTERS1")
@click.argument("second", type=JUDGEMENTS, metavar="CLUSTERS2")
@click.option("--third", type=JUDGEMENTS, help="A third assessor's clusters, of some topics.")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; NAME-topics.csv and NAME-statistics.csv come beside it.",
)
@THRESHOLD
@click.option(
    "--floor",
    default=judgements.FLOOR,
    show_default=True,
    callback=_share,
    type=float,
    help="Mean index with the other two below which no assessor's clusters are taken.",
)
@FORCE
@AS_JSON
def gold(
    first: Path,
    second: Path,
    third: Path | None,
    target: Path,
    threshold: float,
    floor: float,
    force: bool,
    as_json: bool,
) -> None:
    """Join clusterings into a gold standard.

    Where two assessors agree, their clusters are matched and united; elsewhere the clusters
    of the assessor who agrees best with the other two are taken, and corrected where those
    two agree; topics on which three do not agree, or without a third, are left out.
    """
    paths = [path for path in (first, second, third) if path is not None]
    check_different(paths)
    stem = Path(target.name.removesuffix(".gz")).stem
    targets = [target, *(target.with_name(stem + ending) for ending in cluster_sheets.BESIDE_GOLD)]
    files.check_targets(targets, paths, replace=force)
    with bar("Joining") as shown:
        found = judgements.gold(paths, threshold, floor, shown.at)
    files.write_files(dict(zip(targets, cluster_sheets.gold_files(found), strict=True)))
    if as_json:
        print_json(cluster_sheets.gold_json(found, targets))
        return
    print_sheet(cluster_sheets.statistics_sheet(found))
    tell([*cluster_sheets.gold_sentences(found), f"Written: {', '.join(map(str, targets))}."])
