"""Hash codes of documents: their files, and documents ranked by the Hamming distance of codes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.runs import Place, place_text, split_lines
from survey.core.text_input import FileFaults, shortened

CODES_LINE = "document code"
BINARY_DIGITS = frozenset("01")
MOST_FAULTY_CELLS = 20  # cells of an array that faults name


@dataclass(frozen=True, eq=False)
class HashCodes:
    """Documents with a code each.

    ``packed`` (documents, bytes): the bits of the codes, eight in a byte; ``bits``: K, how many
    a code has.
    """

    ids: tuple[str, ...]
    packed: NDArray[np.uint8]
    bits: int


def read_codes(file: str, lines: Iterable[str], faults: FileFaults) -> HashCodes:
    """Read a text of lines ``document code``, the code in digits 0 and 1, equally many in each."""
    codes: dict[str, bytes] = {}
    first_places: dict[str, Place] = {}
    first: Place = ""
    bits = 0
    for place_in_file, (document, code) in split_lines(CODES_LINE, file, lines, faults):
        place = f"{file}, {place_text(place_in_file)}"
        first, bits = (first, bits) if first else (place_in_file, len(code))
        if (earlier := first_places.setdefault(document, place_in_file)) != place_in_file:
            again = f"{_again(document)}, as in {place_text(earlier)}; one code is allowed"
            faults.add(f"{place}: {again}")
        elif not BINARY_DIGITS.issuperset(code):
            faults.add(f"{place}: code {shortened(code)} found; the digits 0 and 1 are allowed")
        elif len(code) != bits:
            faults.add(f"{place}: {len(code)} digits found; {place_text(first)} has {bits}")
        else:
            codes[document] = code.encode()
    cells = np.frombuffer(b"".join(codes.values()), np.uint8).reshape(len(codes), bits)
    return HashCodes(tuple(codes), np.packbits(cells == ord("1"), axis=1), bits)


def codes_of_array(
    file: str, array: NDArray[np.generic], ids: Sequence[str], id_file: str, faults: FileFaults
) -> HashCodes:
    """Return the codes of an array (documents, K) of 0 and 1, or of −1 and 1.

    ``ids``: the documents of its rows, a line of ``id_file`` each.
    """
    if array.ndim != 2 or not array.size or array.dtype.kind not in "biuf":
        faults.add(
            f"{file}: an array of shape {array.shape} and type {array.dtype} found; numbers of "
            "shape (documents, bits) are needed"
        )
        return HashCodes((), np.empty((0, 0), np.uint8), 0)
    zero = -1 if (array == -1).any() else 0
    is_set = array == 1
    for row, column in np.argwhere(~is_set & (array != zero))[:MOST_FAULTY_CELLS].tolist():
        faults.add(
            f"{file}, row {row + 1}, column {column + 1}: {array[row, column]:g} found; {zero} or "
            "1 is allowed"
        )
    if len(ids) != len(array):
        faults.add(f"{id_file}: {len(ids)} ids found; {file} has {len(array)} rows")
    first_lines: dict[str, int] = {}
    for number, document in enumerate(ids, 1):
        place = f"{id_file}, line {number}"
        if len(document.split()) != 1:
            faults.add(f"{place}: {shortened(document)} found; an id without blanks is needed")
        elif (earlier := first_lines.setdefault(document, number)) != number:
            faults.add(f"{place}: {_again(document)}, as in line {earlier}; one row is allowed")
    return HashCodes(tuple(ids), np.packbits(is_set, axis=1), array.shape[1])


def _again(document: str) -> str:
    return f"document {shortened(document)} found again"


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """The documents of a query, nearest first; ``distances``: of their codes from its code.

    ``tied``: how many are as near as another document of the collection.
    """

    query: str
    documents: Sequence[str]
    distances: Sequence[int]
    tied: int


def rank_by_distance(
    queries: HashCodes, collection: HashCodes, depth: int | None = None
) -> Iterator[RankedQuery]:
    """Rank the collection for each query by the Hamming distance of codes; yield each list.

    Equally near documents are in the order of their ids, the last one first, which is how
    trec_eval orders equal scores. A document of the query's own id is left out.

    For codes of −1 and 1 the distance is d = K/2 (1 − cos), half of K times what the cosine
    lacks to 1.

    ``depth``: how many documents a list has; None for all.

    Source: the mAP/nDCG definitions, Eq. 1.
    """
    order = sorted(range(len(collection.ids)), key=collection.ids.__getitem__, reverse=True)
    ids, packed = [collection.ids[place] for place in order], collection.packed[order]
    places = {document: place for place, document in enumerate(ids)}
    for query, code in zip(queries.ids, queries.packed, strict=True):
        distances = np.bitwise_count(packed ^ code).sum(axis=1, dtype=np.int64)
        if (own := places.get(query)) is not None:
            distances[own] = queries.bits + 1  # behind all others
        others = len(ids) - (own is not None)
        ranked = np.argsort(distances, kind="stable")[:others][:depth]
        near = distances[ranked]
        tied = int((np.bincount(distances)[near] > 1).sum())
        yield RankedQuery(query, [ids[place] for place in ranked], near.tolist(), tied)
