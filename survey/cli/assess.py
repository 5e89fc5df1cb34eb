"""``survey assess``: judgements by several assessors, from files to files."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    CommandGroup,
)
from survey.cli.terminal import print_json, print_sheet, print_text, progress_bar


def _check_share(_: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse what is not between 0 and 1; click.FloatRange would let “nan” pass."""
    if not 0 <= value <= 1:
        raise click.BadParameter(f"{value} found; 0 to 1 is allowed.", param=parameter)
    return value


THRESHOLD_OPTION = click.option(
    "--threshold",
    default=0.8,
    callback=_check_share,
    type=float,
    help="Adjusted Rand index from which two assessors sufficiently agree.",
)


@click.group(
    cls=CommandGroup,
    examples=(
        "survey assess merge ann.txt bob.txt eve.txt --to merged",
        "survey assess compare one.txt two.txt",
        "survey assess gold one.txt two.txt --third three.txt --to gold.txt",
        "survey assess read ratings.csv --from quepid --to read",
    ),
)
def assess() -> None:
    """Merge, compare and join judgements by several assessors."""


def _read_grades(_: click.Context, parameter: click.Parameter, value: str) -> dict[str, int]:
    """Return the grades of “relevant=1,not relevant=0”."""
    grades = {}
    for pair in filter(None, re.split("(?<==[0-9]),", value)):
        text, _equals, number = (part.strip() for part in pair.rpartition("="))
        if not text or len(number) != 1 or not number.isdecimal() or not number.isascii():
            allowed = "TEXT=GRADE is needed, a grade being 0 to 9, like relevant=1,not relevant=0"
            raise click.BadParameter(f"{pair!r} found; {allowed}.", param=parameter)
        if text in grades:
            raise click.BadParameter(f"{text!r} is there twice.", param=parameter)
        grades[text] = int(number)
    return grades


@assess.command(
    examples=(
        "survey assess read ratings.csv --from quepid --to read",
        "survey assess read batch.csv --from mturk --to from-mturk \\\n"
        "    --topic Input.query --document Input.doc --grade Answer.relevance",
    ),
)
@click.argument("files", nargs=-1, required=True, type=INPUT_FILE, metavar="FILE...")
@click.option(
    "--from",
    "tool",
    required=True,
    type=click.Choice(["label-studio", "doccano", "argilla", "mturk", "quepid"]),
    help="The program that wrote the files.",
)
@click.option("--to", "folder", required=True, type=OUTPUT_FOLDER, help="The folder to write to.")
@click.option(
    "--topic",
    default="",
    show_default=False,
    help="The field of the topic; of doccano, or the topic.",
)
@click.option("--document", default="", show_default=False, help="The field of the document's id.")
@click.option(
    "--grade",
    default="",
    show_default=False,
    help="The field of the grade, or the name of the question.",
)
@click.option(
    "--grades",
    default="",
    show_default=False,
    callback=_read_grades,
    metavar="TEXT=GRADE,...",
    help="What each choice is worth, 0 to 9; not needed where grades are numbers.",
)
@click.option(
    "--empty", type=click.IntRange(0, 9), help="Of doccano: what an empty label is worth."
)
@FORCE_OPTION
@JSON_OPTION
def read(
    files: tuple[Path, ...],
    tool: str,
    folder: Path,
    grades: dict[str, int],
    empty: int | None,
    force: bool,
    as_json: bool,
    **fields: str | None,
) -> None:
    """Read judgements that another program exported.

    Label Studio's JSON or CSV, doccano's JSON Lines, Argilla's JSON, batch results of MTurk and
    Quepid's CSV are read. The folder gets a file for each assessor, A1.txt, A2.txt, …, for `survey
    assess merge`; topics.csv; left_out.csv, with the reasons; and private.csv, with the assessors'
    names. Label Studio's predictions become machines/MODEL.txt, for `survey judge --file`.
    """
    from survey.services.collections import tool_judgements
    from survey.services.collections.tool_exports import ReadingOptions

    if empty is not None and tool != "doccano":
        raise click.UsageError("--empty is for doccano; other tools leave empty grades out.")
    _check_different(files)
    options = ReadingOptions(
        **{name: value or "" for name, value in fields.items()}, grades=grades, empty=empty
    )
    judgements, written = tool_judgements.read_judgements_of(
        files, tool, options, folder, replace=force
    )
    if as_json:
        content = tool_judgements.judgements_json(judgements)
        print_json({**content, "files": [str(path) for path in written]})
        return
    _print_sentences(tool_judgements.judgements_sentences(judgements, tool, folder))
    names = ", ".join(str(path.relative_to(folder)) for path in written)
    _print_sentences([f"Written to {folder}: {names}."])


@assess.command(
    examples=(
        "survey assess merge ann.txt bob.txt eve.txt --to merged",
        "survey assess merge ann.txt bob.txt eve.txt --to strict --at-least 3",
    ),
)
@click.argument("labels", nargs=-1, required=True, type=INPUT_FILE, metavar="LABELS...")
@click.option("--to", "folder", required=True, type=OUTPUT_FOLDER, help="The folder to write to.")
@click.option(
    "--at-least",
    type=click.IntRange(1),
    metavar="M",
    help="How many must have chosen a document to make it relevant; more than half by default.",
)
@click.option(
    "--pooled",
    is_flag=True,
    help="Each judged a pool, or a part: who has no line for a document did not judge it.",
)
@FORCE_OPTION
@JSON_OPTION
def merge(
    labels: tuple[Path, ...],
    folder: Path,
    at_least: int | None,
    pooled: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Merge assessors' labels into weights and relevance judgements.

    Each of the LABELS is one assessor's file, with lines of `topic iteration document
    relevance` (TREC qrels; relevance 0 to 9, above 0 is chosen; .gz is unpacked). The folder
    gets weights.csv, weights.txt (topic document weight), qrels.txt and agreement.csv.
    """
    from survey.services.collections import assessment

    if len(labels) < 2:
        raise click.UsageError("1 file given; two assessors or more are needed.")
    _check_different(labels)
    if at_least is not None and at_least > len(labels):
        raise click.UsageError(f"--at-least {at_least}: there are {len(labels)} assessors.")
    targets = [folder / name for name in assessment.MERGED]
    assessment.check_targets(targets, labels, replace=force)
    with progress_bar("Merging") as progress:
        merged = assessment.merge(labels, at_least, progress.update, pooled=pooled)
    texts = {name: "".join(lines) for name, lines in assessment.merged_lines(merged).items()}
    assessment.write_texts({folder / name: text for name, text in texts.items()})
    if as_json:
        print_json(assessment.merged_json(merged) | {"files": [str(path) for path in targets]})
        return
    _print_sentences([*assessment.merged_reliability(merged), ""])
    print_sheet(assessment.agreement_sheet(merged))
    _print_sentences(
        [*assessment.merged_sentences(merged), f"Written to {folder}: {', '.join(texts)}."]
    )


@assess.command(examples=("survey assess compare one.txt two.txt",))
@click.argument("first", type=INPUT_FILE, metavar="CLUSTERS1")
@click.argument("second", type=INPUT_FILE, metavar="CLUSTERS2")
@THRESHOLD_OPTION
@JSON_OPTION
def compare(first: Path, second: Path, threshold: float, as_json: bool) -> None:
    """Compare two assessors' clusterings, and list the topics that need a third.

    Lines are `topic document cluster`; the cluster is the rest of the line, and `unknown` for a
    document that could not be placed (.gz is unpacked).
    """
    from survey.services.collections import assessment

    _check_different([first, second])
    with progress_bar("Comparing") as progress:
        compared = assessment.compare_clusterings(first, second, threshold, progress.update)
    if as_json:
        print_json(assessment.compared_json(compared))
        return
    _print_sentences([*assessment.compared_reliability(compared), ""])
    print_sheet(assessment.compared_sheet(compared))
    _print_sentences(assessment.compared_sentences(compared, str(first), str(second)))


@assess.command(
    examples=(
        "survey assess gold one.txt two.txt --to agreed.txt",
        "survey assess gold one.txt two.txt --third three.txt --to gold.txt",
    ),
)
@click.argument("first", type=INPUT_FILE, metavar="CLUSTERS1")
@click.argument("second", type=INPUT_FILE, metavar="CLUSTERS2")
@click.option("--third", type=INPUT_FILE, help="A third assessor's clusters, of some topics.")
@click.option(
    "--to",
    "target",
    required=True,
    type=OUTPUT_FILE,
    help="The file to write, with NAME-topics.csv and NAME-statistics.csv beside it.",
)
@THRESHOLD_OPTION
@click.option(
    "--floor",
    default=0.5,
    callback=_check_share,
    type=float,
    help="Take no assessor's clusters if the mean index with the other two is below this.",
)
@click.option(
    "--topics-file",
    type=INPUT_FILE,
    help="A CSV: topic,cluster_type,left_out; the last says why a topic is left out.",
)
@FORCE_OPTION
@JSON_OPTION
def gold(
    first: Path,
    second: Path,
    third: Path | None,
    target: Path,
    threshold: float,
    floor: float,
    topics_file: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Join clusterings into a gold standard.

    Where two assessors agree, their clusters are matched and united. Elsewhere the clusters of
    the assessor who agrees best with the other two are taken, and corrected where those two
    agree. Topics on which three do not agree are left out; without a third, all on which two do
    not agree.
    """
    from survey.services.collections import assessment

    paths = [path for path in (first, second, third) if path is not None]
    _check_different(paths)
    stem = Path(target.name.removesuffix(".gz")).stem
    targets = [target, *(target.with_name(stem + ending) for ending in assessment.BESIDE_GOLD)]
    assessment.check_targets(targets, paths, replace=force)
    with progress_bar("Joining") as progress:
        joined = assessment.gold(paths, threshold, floor, progress.update, topics_file)
    assessment.write_texts(dict(zip(targets, assessment.gold_files(joined), strict=True)))
    if as_json:
        print_json(assessment.gold_json(joined, targets))
        return
    print_sheet(assessment.statistics_sheet(joined))
    sentences = assessment.gold_sentences(joined)
    _print_sentences([*sentences, f"Written: {', '.join(map(str, targets))}."])


def _check_different(paths: Sequence[Path]) -> None:
    """Refuse a file that is named twice: its assessor would agree with themselves."""
    first_names: dict[Path, Path] = {}
    for path in paths:
        if first_names.setdefault(path.resolve(), path) is not path:
            raise click.UsageError(
                f"{path} is given twice; each assessor needs a file of their own."
            )


def _print_sentences(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print_text(sentence)
