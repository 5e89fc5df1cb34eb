"""A small open study whose lists are pictures."""

import io
import random
import struct
import zlib
from functools import partial
from hashlib import sha256

from PIL import Image, PngImagePlugin

from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from survey.services.studies.plans import (
    TextFile,
    as_fields,
    from_trec,
    preset_plan,
)
from survey.services.studies.recruitment import Recruitment
from tests.databases import copied_later

COLOURS = ("red", "green", "blue", "orange", "purple", "brown", "pink", "olive", "navy", "teal")
DOCUMENTS = tuple(f"holiday-{number}" for number in range(40))
RUNS = ("alphanet", "betanet", "gammanet")
TOPIC_WITHOUT_TEXT = "mountain"
SEARCHED = {"sea": (0, 4, 9), "mountain": (2, 11, 17)}


def a_png(index, note):
    """A file with the picture of a document; its note is metadata."""
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", note)
    stream = io.BytesIO()
    colour = COLOURS[index % len(COLOURS)]
    Image.new("RGB", (40 + index, 30), colour).save(stream, "PNG", pnginfo=notes)
    return stream.getvalue()


def a_png_of(width, height, data=bytes(100), bits=8, kind=2, more=()):
    """A PNG whose header says that it is so large; without ``data`` it is cut off.

    ``kind``: 0 grey, 2 colour; ``more``: chunks before the data.
    """

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    parts = ((b"IHDR", header), *more, (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def a_deep_png(values, transparent=None):
    """A PNG of 16 bits; values (rows, columns) of grey, or (rows, columns, 2 to 4) of colours."""
    lines = [b"\0" + line.astype(">u2").tobytes() for line in values]
    more = () if transparent is None else ((b"tRNS", struct.pack(">H", transparent)),)
    height, width = values.shape[:2]
    kind = 0 if values.ndim == 2 else {2: 4, 3: 2, 4: 6}[values.shape[2]]
    return a_png_of(width, height, b"".join(lines), 16, kind, more)


def a_file(name, text):
    return TextFile(name, text, sha256(text.encode()).hexdigest())


@copied_later
def a_pictured_study(
    session,
    slug="pictured",
    researcher=None,
    *,
    documents=DOCUMENTS,
    runs=RUNS,
    searched=SEARCHED,
    text=None,
    note=str,
    draw=a_png,
    items=(),
    **changes,
):
    """Open a study of three runs of 40 documents; participants see ten of each.

    ``searched``: each topic with the indices of its relevant documents. ``text``: of each
    document, beside its picture. ``items``: more of the collection.
    ``note``: from a document's id to a comment in its picture's file; ``draw``: from its index and
    this comment to the file.
    """
    chance = random.Random(5)
    qrels = "".join(
        f"{topic} 0 {documents[index]} 1\n" for topic, found in searched.items() for index in found
    )
    files_of_runs = []
    for run in runs:
        rows = []
        for topic in searched:
            order = chance.sample(documents, len(documents))
            rows += [f"{topic} Q0 {each} 0 {100 - n} {run}\n" for n, each in enumerate(order)]
        files_of_runs.append(a_file(f"{run}.txt", "".join(rows)))
    lists = from_trec(a_file("qrels.txt", qrels), files_of_runs, collection_size="40")
    fields = {**as_fields(lists), "asked_by": "us", "contact": "a@b.example"}
    plan = preset_plan("pictures", **fields | changes)
    study = lifecycle.create_owned_study(session, researcher, slug, plan, Recruitment())
    files = {
        f"{document}.png": partial(draw, index, note(document))
        for index, document in enumerate(documents)
    }
    of_files = collection.items_of_files(files, "photographs", collection.Intake())
    found = [each._replace(text=text) for each in of_files] + [*items]
    first, second = searched
    topics = [collection.Topic(first, text="the sea"), collection.Topic(second)]
    collection.take_in(session, study, files, found, COMMAND_LINE, topics=topics)
    lifecycle.open_study(session, study, anyway="tests may show nothing")
    return study
