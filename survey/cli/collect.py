"""``survey collect`` and ``rank``: runs from a folder of pictures, and from hash codes."""

from pathlib import Path

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    check_writable,
    command,
    refuse_inputs,
)
from survey.cli.terminal import print_result, progress_bar

INPUT_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@command(examples=("survey collect albums --to our-collection",))
@click.argument("folder", type=INPUT_FOLDER)
@click.option("--to", "target", type=OUTPUT_FOLDER, required=True, help="A new folder.")
@click.option(
    "--queries",
    default=1,
    type=click.IntRange(1),
    help="How many pictures of each class are searched for.",
)
@JSON_OPTION
def collect(folder: Path, target: Path, queries: int, as_json: bool) -> None:
    """Make a test collection from a folder of pictures, with a subfolder for each class.

    What is in the same subfolder is relevant. The first pictures of each, by name, are the
    queries; the others are the collection, which five descriptors rank. The new folder holds the
    pictures, items.csv, topics.csv, qrels.txt and a run of each descriptor.
    """
    from survey.services.analysis.sheets import count_of
    from survey.services.collections import picture_folder

    check_writable(target, force=False)
    files, _ = picture_folder.pictures_in(folder)
    with progress_bar("Describing", total=len(files)) as progress:
        collection = picture_folder.collect(folder, target, queries, progress.advance)
    content = picture_folder.summary(collection)
    size = content["collection_size"]
    asked = count_of(len(content["queries"]), "query", "queries")
    held = f"{count_of(size, 'picture')}, {asked} and {len(content['runs'])} runs"
    sentences = [f"{target} holds {held}.", *picture_folder.why_unasked(collection, queries)]
    sentences += [f"Not taken: {each.name}: {each.reason}." for each in collection.refusals]
    sentences += [f"Warning: {each.text}." for each in collection.warnings]
    if collection.chosen:
        sentences += [
            "A study of the queries in which AP, NMRR and MNRO contradict each other most:",
            f"survey study new NAME --preset pictures --items {target} \\\n"
            f"  --qrels {target}/qrels.txt --run {target}/runs/*.txt --collection-size {size} \\\n"
            f"  --topics {','.join(collection.chosen)}",
        ]
    print_result(content, *dict.fromkeys(sentences), as_json=as_json)


@command(
    examples=(
        "survey rank codes.txt query-codes.txt --to hashed.txt",
        "survey rank codes.npy query-codes.npy --to hashed.txt.gz --depth 1000",
        "survey rank outputs.npy query-outputs.npy --distance cosine --to unsigned.txt",
    )
)
@click.argument("collection", type=INPUT_FILE)
@click.argument("queries", type=INPUT_FILE)
@click.option("--to", "target", type=OUTPUT_FILE, required=True, help="The run to write.")
@click.option(
    "--distance",
    type=click.Choice(["hamming", "cosine"]),
    default="hamming",
    help="Of bits (hamming), or of the real values before the sign: K/2 (1 - cos).",
)
@click.option("--depth", type=click.IntRange(1), help="Documents in each list; all by default.")
@FORCE_OPTION
@JSON_OPTION
def rank(
    collection: Path,
    queries: Path,
    target: Path,
    distance: str,
    depth: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Rank documents by the distance of their hash codes from each query's.

    COLLECTION and QUERIES hold a line for each document, its id and its code in digits 0 and 1.
    Or they are arrays of numpy (.npy) of 0 and 1, or -1 and 1, a row for each document, with the
    ids in a file of the same name that ends in .ids. With --distance cosine they hold the numbers
    of which the code is the sign. The run is TREC's, for survey evaluate.
    """
    from survey.services.collections import hash_run

    check_writable(target, force=force)
    files = (collection, queries)
    ids = [path.with_suffix(".ids") for path in files if path.suffix == ".npy"]
    refuse_inputs(target, *files, *ids)
    codes, asked = hash_run.read_code_files(collection, queries, are_real=distance == "cosine")
    with progress_bar("Ranking", total=len(asked.ids)) as progress:
        size = hash_run.write_run(codes, asked, target, depth, progress.advance)
    share = 100 * size.tied / size.lines if size.lines else 0
    sentences = [
        f"{target} ranks {size.collection_size} documents for {size.queries} queries by the "
        + (
            f"Hamming distance of {size.bits} bits."
            if distance == "hamming"
            else f"cosine of {size.bits} values."
        ),
        f"{share:.0f} % of its lines are of documents as near as another one; these are ordered "
        "by their ids, the last first, as trec_eval orders equal scores.",
    ]
    if size.left_out:
        sentences.append(
            f"A document of the query's own id was left out for {size.left_out} queries."
        )
    print_result(vars(size), *sentences, as_json=as_json)
