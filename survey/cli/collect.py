"""``survey collect``: from a folder of pictures to a test collection."""

from pathlib import Path

import click

from survey.cli.command import JSON_OPTION, OUTPUT_FOLDER, check_writable, command
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
    from survey.services.collections import picture_folder

    check_writable(target, force=False)
    files, _ = picture_folder.pictures_in(folder)
    with progress_bar("Describing", total=len(files)) as progress:
        collection = picture_folder.collect(folder, target, queries, progress.advance)
    content = picture_folder.summary(collection)
    size = content["collection_size"]
    sentences = [
        f"{target} holds {size} pictures, {len(content['queries'])} queries and "
        f"{len(content['runs'])} runs."
    ]
    sentences += [f"Not taken: {each.name}: {each.reason}." for each in collection.refusals]
    if collection.chosen:
        sentences += [
            "A study of the queries in which AP, NMRR and MNRO contradict each other most:",
            f"survey study new NAME --preset pictures --items {target} \\\n"
            f"  --qrels {target}/qrels.txt --run {target}/runs/*.txt --collection-size {size} \\\n"
            f"  --topics {','.join(collection.chosen)}",
        ]
    print_result(content, *sentences, as_json=as_json)
