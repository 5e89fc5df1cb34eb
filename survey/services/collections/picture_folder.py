"""Make a test collection from a folder of pictures with a subfolder for each class.

The subfolders are the judgements: what is in the same one is relevant. Descriptors are the
systems. The collection is a folder too: pictures, items, topics, and TREC's files.
"""

import csv
import io
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from survey.core.collections.descriptors import DESCRIPTORS, Vector, likeness
from survey.core.collections.runs import QRELS_FILE, RUNS_FOLDER
from survey.core.measures import Setting
from survey.core.preflight import Warned
from survey.core.studies.question_checks import compare_orders
from survey.core.studies.questions import build_question
from survey.errors import SurveyError
from survey.services.analysis.sheets import count_of
from survey.services.collections.item_files import Refusal, file_content, folded_name, is_junk
from survey.services.collections.items import (
    ITEMS_FILE,
    LONGEST_FILE_NAME,
    MOST_ITEMS,
    TOPICS_FILE,
    document_of,
    id_fault,
    picture_in,
    picture_warnings,
)
from survey.services.collections.pictures import PictureError

SIDE = 128  # pixels to which a picture is scaled before it is described
SHOWN_MEASURES = ("AP", "NMRR", "MNRO")
MOST_CHOSEN = 10  # topics that are proposed for a study


class Document(NamedTuple):
    """A picture's id, and the class that it belongs to."""

    id: str
    group: str


@dataclass
class Collection:
    """A collection, what was not taken in, and warnings; ``chosen``: see ``choose_topics``.

    ``unasked``: how many pictures each class has that has too few for a query.
    """

    documents: list[Document] = field(default_factory=list)
    queries: list[Document] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    unasked: dict[str, int] = field(default_factory=dict)


def describe_picture(picture: Image.Image) -> dict[str, Vector]:
    """Return a picture's vector by each descriptor."""
    scaled = picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    pixels = np.asarray(scaled)
    return {name: descriptor(pixels) for name, descriptor in DESCRIPTORS.items()}


def pictures_in(folder: Path) -> tuple[list[tuple[str, Path]], list[Refusal]]:
    """Return the files of each subfolder with its name, and what is in none or too deep.

    Raises SurveyError where there is no subfolder. Hidden files do not count.
    """
    files: list[tuple[str, Path]] = []
    refusals = []
    groups: dict[str, str] = {}  # by folded name: case and Unicode form make no other class
    for path in _visible(folder):
        if not path.is_dir():
            refusals.append(Refusal(path.name, "it is in no subfolder, so it has no class"))
            continue
        group = groups.setdefault(folded_name(path.name), unicodedata.normalize("NFC", path.name))
        for each in _visible(path):
            if each.is_dir():
                name = f"{path.name}/{each.name}"
                refusals.append(Refusal(name, "a folder in a subfolder is not read"))
            else:
                files.append((group, each))
    if not files:
        raise SurveyError(_why_no_class(folder, refusals))
    if len(files) > MOST_ITEMS:
        raise SurveyError(f"{folder} holds {len(files)} files; {MOST_ITEMS} are allowed.")
    return files, refusals


def _why_no_class(folder: Path, refusals: Sequence[Refusal]) -> str:
    """Say that a folder has no class, and which folders in it to give instead."""
    deep = [folder / refusal.name for refusal in refusals if (folder / refusal.name).is_dir()]
    sentences = [
        f"{folder} holds no subfolder with pictures; one for each class is needed, named by it.",
        *(f"{path} is one level too deep; give {path.parent}." for path in deep),
        *_not_taken(each for each in refusals if folder / each.name not in deep),
    ]
    return "\n".join(sentences)


def _not_taken(refusals: Iterable[Refusal]) -> list[str]:
    return [f"Not taken: {refusal.name}: {refusal.reason}." for refusal in refusals]


def collect(
    folder: Path,
    target: Path,
    queries: int = 1,
    on_picture: Callable[[int], object] = lambda _: None,
) -> Collection:
    """Write the collection of a folder's pictures to a new folder, and return what it holds.

    The first ``queries`` pictures of each class are queries, in no run; the others are the
    collection. A class without further pictures has no query. Raises SurveyError for a folder from
    which no collection can be made; then nothing is written.
    """
    files, refusals = pictures_in(folder)
    # Under another name until it is whole, so that a collection that exists is complete.
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.absolute().parent))
    try:
        collection = Collection(refusals=refusals, unasked=dict.fromkeys(dict(files), 0))
        vectors = _take_pictures(files, unfinished, collection, on_picture)
        _split(collection, queries)
        if not collection.queries:
            raise SurveyError(_why_no_query(collection, queries))
        _write_collection(unfinished, collection, vectors)
        unfinished.chmod(0o755)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return collection


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not is_junk(path.name))


def _take_pictures(
    files: Sequence[tuple[str, Path]],
    target: Path,
    collection: Collection,
    on_picture: Callable[[int], object],
) -> dict[str, dict[str, Vector]]:
    """Write each picture in its larger size, and return id → descriptor → vector."""
    vectors: dict[str, dict[str, Vector]] = {}
    ids: dict[str, str] = {}  # in small letters, as some file systems compare names
    digests: dict[str, str] = {}
    for group, path in files:
        name = f"{path.parent.name}/{path.name}"
        document = Document(document_of(group, path.stem), group)
        try:
            if (first := ids.setdefault(folded_name(document.id), name)) != name:
                raise PictureError(f"{first} is the document {document.id} already")
            if fault := id_fault(document.id):
                raise PictureError(fault)
            if len(document.id.encode()) > LONGEST_FILE_NAME:
                raise PictureError("its name is too long")
            picture = picture_in({name: partial(file_content, path)}, name)
            if (first := digests.setdefault(picture.sha256, name)) != name:
                raise PictureError(f"the same picture as {first}")
        except PictureError as error:
            collection.refusals.append(Refusal(name, str(error)))
        else:
            (target / _file_of(document)).write_bytes(picture.larger)
            with Image.open(io.BytesIO(picture.larger)) as image:
                described = describe_picture(image)
            vectors[document.id] = {
                each: vector.astype(np.float32) for each, vector in described.items()
            }
            collection.documents.append(document)
            collection.warnings += picture_warnings(name, picture)
        on_picture(1)
    return vectors


def _file_of(document: Document) -> str:
    return f"{document.id}.webp"


def _split(collection: Collection, queries: int) -> None:
    """Move the first documents of each class that has more than these to the queries."""
    groups: dict[str, list[Document]] = {group: [] for group in collection.unasked}
    for document in collection.documents:
        groups.setdefault(document.group, []).append(document)
    for name, group in groups.items():
        if len(group) > queries:
            collection.queries += group[:queries]
            del collection.unasked[name]
        else:
            collection.unasked[name] = len(group)
    asked = {*collection.queries}
    collection.documents = [each for each in collection.documents if each not in asked]


def _why_no_query(collection: Collection, queries: int) -> str:
    counts = ", ".join(
        f"{name} has {count}{' that can be read' * (not count)}"
        for name, count in collection.unasked.items()
    )
    sentence = f"Each class needs {queries + 1} different pictures; {counts}."
    return "\n".join([sentence, *_not_taken(collection.refusals)])


def why_unasked(collection: Collection, queries: int) -> list[str]:
    """Return a sentence for each class that has no query."""
    return [
        f"Class {name} has {count_of(count, 'picture')}, so it has no query; {queries + 1} are "
        "needed."
        for name, count in collection.unasked.items()
    ]


def _write_collection(
    target: Path, collection: Collection, vectors: Mapping[str, Mapping[str, Vector]]
) -> None:
    """Write items, topics, judgements and runs, and choose topics for a study."""
    _write_table(
        target / ITEMS_FILE,
        ("document", "file", "keywords"),
        ((each.id, _file_of(each), each.group) for each in collection.documents),
    )
    _write_table(
        target / TOPICS_FILE,
        ("topic", "image"),
        ((each.id, _file_of(each)) for each in collection.queries),
    )
    relevant = {
        query.id: [each.id for each in collection.documents if each.group == query.group]
        for query in collection.queries
    }
    with (target / QRELS_FILE).open("w", encoding="utf-8") as file:
        for topic, ids in relevant.items():
            file.writelines(f"{topic} 0 {each} 1\n" for each in ids)
    (target / RUNS_FOLDER).mkdir()
    positions: dict[str, list[list[int]]] = {topic: [] for topic in relevant}
    ids = [each.id for each in collection.documents]
    for name in DESCRIPTORS:
        pictures = np.stack([vectors[each][name] for each in ids])
        with (target / RUNS_FOLDER / f"{name}.txt").open("w", encoding="utf-8") as file:
            for topic, order in positions.items():
                scores = likeness(vectors[topic][name], pictures)
                rows = trec_order(ids, scores.tolist())
                file.writelines(
                    f"{topic} Q0 {each} {rank} {score:.6f} {name}\n"
                    for rank, (each, score) in enumerate(rows, 1)
                )
                wanted = {*relevant[topic]}
                order.append([rank for rank, (each, _) in enumerate(rows, 1) if each in wanted])
    collection.chosen = choose_topics(positions, len(ids))


def trec_order(ids: Sequence[str], scores: Sequence[float]) -> list[tuple[str, float]]:
    """Return ids with their scores as printed, in the order in which trec_eval has them."""
    rows = ((each, round(score, 6)) for each, score in zip(ids, scores, strict=True))
    return sorted(rows, key=lambda row: (row[1], row[0]), reverse=True)


def choose_topics(
    positions: Mapping[str, Sequence[Sequence[int]]], collection_size: int
) -> list[str]:
    """Return at most MOST_CHOSEN topics, those in which SHOWN_MEASURES contradict each other most.

    First topics in which the fewest pairs of measures order the lists alike, then those in which
    most pairs contradict, then those with most pairs of lists in opposite orders; the chosen ones
    are in the order of ``positions``. Topics in which two runs have the relevant documents at the
    same positions are left out, since a study would show two equal lists.
    """
    counted: list[tuple[int, int, int, str]] = []
    for topic, lists in positions.items():
        if len({*map(tuple, lists)}) < len(lists):
            continue
        question = build_question(1, lists, SHOWN_MEASURES, Setting(collection_size))
        pairs = compare_orders([question])[0].pairs
        alike = sum(pair.identical for pair in pairs)
        counts = [pair.contradictions for pair in pairs]
        counted.append((alike, -sum(map(bool, counts)), -sum(counts), topic))
    best = sorted(counted, key=lambda each: each[:3])[:MOST_CHOSEN]
    chosen = {topic for *_, topic in best}
    return [topic for topic in positions if topic in chosen]


def _write_table(path: Path, columns: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def summary(collection: Collection) -> dict[str, Any]:
    """Return what a collection holds as plain values."""
    return {
        "collection_size": len(collection.documents),
        "queries": [each.id for each in collection.queries],
        "runs": [*DESCRIPTORS],
        "chosen": collection.chosen,
        "refused": [each._asdict() for each in collection.refusals],
        "warnings": [each.as_json() for each in collection.warnings],
    }
