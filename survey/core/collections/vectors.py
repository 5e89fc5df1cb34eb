"""Vectors that a researcher gives: what documents are compared by, in place of computed ones.

They come as ``features.csv``, a table with the column document and columns of numbers under any
names, or JSON Lines of a document and numbers; or as ``features.npy``, a row of numbers for each
line of ``features.txt``, which is a document's id.
"""

import hashlib
import io
import tokenize
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.likeness import stored_vector
from survey.core.given_tables import (
    LARGEST_TABLE,
    Columns,
    check_heading,
    json_rows,
    split_rows,
    text_in,
    tidy,
    with_point,
)
from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    lines_of,
    parse_number,
    shortened,
)

CSV, NPY, IDS = VECTOR_FILES = ("features.csv", "features.npy", "features.txt")
VECTOR_COLUMNS = Columns(("document",))  # columns of numbers follow
MOST_NUMBERS = 2_048  # of a vector
# What numpy.load raises for a damaged file, from the modules that it reads it with.
NO_ARRAY = (
    *(ValueError, EOFError, MemoryError, OverflowError, SyntaxError),
    *(tokenize.TokenError, zipfile.BadZipFile),
)

Files = Mapping[str, Callable[[], bytes]]
Cells = Sequence[str] | NDArray[np.floating]


def read_vectors(files: Files, known: Collection[str]) -> dict[str, bytes]:
    """Return the vector of each document, as it is stored; {} where no file has vectors.

    ``known``: the ids that a row may have. Raises FaultyFilesError with the place of each fault.
    """
    name = CSV if CSV in files else NPY
    if name not in files:
        return {}
    if {CSV, NPY} <= files.keys():
        raise FaultyFilesError([f"{CSV} and {NPY} found; one of them is allowed"])
    rows = _csv_rows(files[CSV]()) if name == CSV else _npy_rows(files)
    faults = FileFaults()
    ids = {tidy(document): document for document in known}
    vectors: dict[str, bytes] = {}
    length = 0
    for number, document, cells in rows:
        length = length or len(cells)
        fault = _id_fault(document, ids, vectors)
        if not fault and not len(cells) == length <= MOST_NUMBERS:
            allowed = f"{length}, as in the first row," if length <= MOST_NUMBERS else MOST_NUMBERS
            fault = f"{len(cells)} numbers found; {allowed} are allowed"
        values = None if fault else _numbers(cells)
        if values is None:
            place = IDS if name == NPY and document not in ids else name
            faults.add(f"{place}, row {number}: {fault or _why_no_numbers(cells)}")
        else:
            vectors[ids[document]] = stored_vector(values)
    if not vectors and not faults:
        faults.add(f"{name}: no row found; a row for each document is needed")
    faults.raise_any()
    return vectors


def vectors_digest(vectors: Mapping[str, bytes]) -> str | None:
    """Return the SHA-256 of stored vectors and their documents; None without any."""
    digest = hashlib.sha256()
    for document, vector in sorted(vectors.items()):
        digest.update(f"{document} {hashlib.sha256(vector).hexdigest()}\n".encode())
    return digest.hexdigest() if vectors else None


def _csv_rows(content: bytes) -> Iterator[tuple[int, str, Cells]]:
    """Yield number, document and cells of numbers of the rows below the heading."""
    text = text_in(content, CSV, LARGEST_TABLE).removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        yield from _object_rows(text)
        return
    separator, rows = split_rows(text, CSV, VECTOR_COLUMNS)
    _, heading = next(rows, (0, []))
    names = [VECTOR_COLUMNS.named(cell) for cell in heading]
    check_heading(names, heading, CSV, VECTOR_COLUMNS)
    place = names.index("document")
    width = max(index for index, cell in enumerate(heading) if cell)
    for number, cells in rows:
        document = cells.pop(place) if place < len(cells) else ""
        while len(cells) > width and not cells[-1]:
            cells.pop()
        if separator != ",":
            cells = [with_point(cell) for cell in cells]
        yield number, document, cells


def _object_rows(text: str) -> Iterator[tuple[int, str, Cells]]:
    """Yield number, document and cells of numbers of the lines, each a JSON object."""
    for number, value in json_rows(text, CSV, is_lines=True):
        keys = {VECTOR_COLUMNS.named(key): key for key in value} if isinstance(value, dict) else {}
        if "document" not in keys:
            fault = "no document; an object with document and numbers is needed"
            raise FaultyFilesError([f"{CSV}, row {number}: {fault}"])
        rest = [cell for key, cell in value.items() if key != keys["document"]]
        cells = [each for cell in rest for each in (cell if isinstance(cell, list) else [cell])]
        yield number, tidy(str(value[keys["document"]])), [str(each) for each in cells]


def _npy_rows(files: Files) -> Iterator[tuple[int, str, Cells]]:
    """Yield number (from 1), document and numbers of the rows of both files."""
    if IDS not in files:
        raise FaultyFilesError([f"{NPY} found without {IDS}; it needs an id for each row"])
    try:
        array = np.load(io.BytesIO(files[NPY]()), allow_pickle=False)
    except NO_ARRAY:
        raise FaultyFilesError([f"{NPY}: this is no array of numbers that can be read"]) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else "archive"
        raise FaultyFilesError([f"{NPY}: {found} found; numbers (documents, numbers) are needed"])
    ids = [tidy(line) for line in lines_of(text_in(files[IDS](), IDS, LARGEST_TABLE).rstrip())]
    if len(ids) != len(array):
        fault = f"{IDS}: {len(ids)} ids found; {NPY} has {len(array)} rows, and one each is needed"
        raise FaultyFilesError([fault])
    for number, (document, row) in enumerate(zip(ids, array, strict=True), 1):
        yield number, document, row


def _id_fault(document: str, ids: Mapping[str, str], earlier: Collection[str]) -> str:
    if ids.get(document) in earlier:
        return f"{shortened(document)} found; a row above has it already"
    if document not in ids:
        return f"{shortened(document)} found; the id of an item is needed"
    return ""


def _numbers(cells: Cells) -> NDArray[np.float64] | None:
    """Return finite numbers, the largest of size 1 or all 0; None where a cell is no number."""
    try:
        values = np.asarray(cells, dtype=np.float64)
    except ValueError:
        return None
    if not len(values) or not np.isfinite(values).all():
        return None
    largest = float(np.abs(values).max())
    return values / largest if largest else values


def _why_no_numbers(cells: Cells) -> str:
    for number, cell in enumerate(cells, 1):
        if parse_number(str(cell).strip()) is None:
            return f"number {number} is {shortened(str(cell))}; a finite number is needed"
    return f"no number found; 1 to {MOST_NUMBERS} are allowed"
