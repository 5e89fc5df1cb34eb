"""``survey assess``: judgements by several assessors, from files to files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from survey.cli.command import Topic
from survey.cli.context import AS_JSON
from survey.cli.printing import print_json, say
from survey.cli.progress import bar
from survey.cli.sheets import print_sheet
from survey.services.assessing import cluster_sheets, files, judgements, label_sheets

JUDGEMENTS = click.Path(exists=True, dir_okay=False, path_type=Path)
FORCE = click.option("--force", is_flag=True, help="Replace files that are there.")


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


@click.group(
    cls=Topic,
    examples=(
        "survey assess merge ann.txt bob.txt eve.txt --to merged",
        "survey assess compare one.txt two.txt",
        "survey assess gold one.txt two.txt --third three.txt --to gold.txt",
    ),
)
def assess() -> None:
    """Bring judgements by several assessors together."""


@assess.command(
    examples=(
        "survey assess merge ann.txt bob.txt eve.txt --to merged",
        "survey assess merge ann.txt bob.txt eve.txt --to strict --at-least 3",
    )
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
    _check_different(labels)
    if at_least is not None and at_least > len(labels):
        raise click.UsageError(f"--at-least {at_least}: there are {len(labels)} assessors.")
    targets = [folder / name for name in label_sheets.MERGED]
    files.check_targets(targets, labels, replace=force)
    with bar("Merging") as shown:
        merged = judgements.merge(labels, at_least, shown.at)
    texts = label_sheets.merged_files(merged)
    files.write_files({folder / name: text for name, text in texts.items()})
    if as_json:
        print_json(label_sheets.merged_json(merged))
        return
    print_sheet(label_sheets.agreement_sheet(merged))
    _say([*label_sheets.merged_sentences(merged), f"Written to {folder}: {', '.join(texts)}."])


@assess.command(examples=("survey assess compare one.txt two.txt",))
@click.argument("first", type=JUDGEMENTS, metavar="CLUSTERS1")
@click.argument("second", type=JUDGEMENTS, metavar="CLUSTERS2")
@THRESHOLD
@AS_JSON
def compare(first: Path, second: Path, threshold: float, as_json: bool) -> None:
    """Compare two assessors' clusterings, and list the topics that need a third.

    Lines are `topic document cluster`; the cluster is the rest of the line, and `unknown`
    for a document that could not be placed (.gz is unpacked).
    """
    _check_different([first, second])
    with bar("Comparing") as shown:
        compared = judgements.compare(first, second, threshold, shown.at)
    if as_json:
        print_json(cluster_sheets.compared_json(compared))
        return
    print_sheet(cluster_sheets.compared_sheet(compared))
    _say(cluster_sheets.compared_sentences(compared, str(first), str(second)))


@assess.command(
    examples=(
        "survey assess gold one.txt two.txt --to agreed.txt",
        "survey assess gold one.txt two.txt --third three.txt --to gold.txt",
    )
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
    _check_different(paths)
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
    _say([*cluster_sheets.gold_sentences(found), f"Written: {', '.join(map(str, targets))}."])


def _check_different(paths: Sequence[Path]) -> None:
    """Refuse a file given twice: its assessor would agree with themselves."""
    seen: dict[Path, Path] = {}
    for path in paths:
        if seen.setdefault(path.resolve(), path) is not path:
            raise click.UsageError(
                f"{path} is given twice; each assessor needs a file of their own."
            )


def _say(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        say(sentence)
