"""Codes of documents, as bits or as the real values before the sign: files and rankings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.runs import Place, place_text, split_lines
from survey.core.text_input import FileFaults, parse_number, shortened

CODES_LINE, VALUES_LINE = "document code", "document values"
BINARY_DIGITS = frozenset("01")
MOST_FAULTY_CELLS = 20  # cells of an array that faults name
DECIMALS = 9  # of a distance of real values, so that all machines rank alike


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


@dataclass(frozen=True, eq=False)
class RealCodes:
    """Documents with the real values of their codes, before the sign is taken.

    ``units`` (documents, K): each document's values, divided by their length; ``bits``: K.
    """

    ids: tuple[str, ...]
    units: NDArray[np.float64]

    @property
    def bits(self) -> int:
        """How many values a code has."""
        return int(self.units.shape[1])


def read_real_codes(file: str, lines: Iterable[str], faults: FileFaults) -> RealCodes:
    """Read a text of lines ``document values``, equally many numbers in each."""
    rows: dict[str, list[float | None]] = {}
    places: list[Place] = []
    for place_in_file, (document, values) in split_lines(
        VALUES_LINE, file, lines, faults, rest_in_last=True
    ):
        place = f"{file}, {place_text(place_in_file)}"
        row = [parse_number(value) for value in values.replace(",", " ").split()]
        if document in rows:
            faults.add(f"{place}: {_again(document)}; one code is allowed")
        elif rows and len(row) != (needed := len(next(iter(rows.values())))):
            faults.add(f"{place}: {len(row)} values found; {place_text(places[0])} has {needed}")
        else:
            rows[document] = row
            places.append(place_in_file)
    array = np.array([*rows.values()], dtype=np.float64).reshape(len(rows), -1)
    return _real_codes([*rows], array, lambda row: f"{file}, {place_text(places[row])}", faults)


def real_codes_of_array(
    file: str, array: NDArray[np.generic], ids: Sequence[str], id_file: str, faults: FileFaults
) -> RealCodes:
    """Return the codes of an array (documents, K) of numbers; ``ids``: see ``codes_of_array``."""
    if not _is_table(file, array, faults):
        return RealCodes((), np.empty((0, 0)))
    _check_ids(file, array, ids, id_file, faults)
    numbers = array.astype(np.float64)
    return _real_codes(ids, numbers, lambda row: f"{file}, row {row + 1}", faults)


def _real_codes(
    ids: Sequence[str],
    values: NDArray[np.float64],
    place_of: Callable[[int], str],
    faults: FileFaults,
) -> RealCodes:
    is_finite = np.asarray(np.isfinite(values).all(axis=1))
    largest = np.abs(np.where(is_finite[:, np.newaxis], values, 1)).max(axis=1, initial=0)
    for row in np.flatnonzero(~is_finite | (largest == 0))[:MOST_FAULTY_CELLS].tolist():
        what = "values that are all 0" if is_finite[row] else "a value that is no finite number"
        faults.add(f"{place_of(row)}: {what} found; numbers are needed, and one that is not 0")
    if len(faults):
        return RealCodes((), np.empty((0, 0)))
    scaled = values / largest[:, np.newaxis]  # squares of larger numbers could overflow
    return RealCodes(tuple(ids), scaled / np.linalg.norm(scaled, axis=1, keepdims=True))


def codes_of_array(
    file: str, array: NDArray[np.generic], ids: Sequence[str], id_file: str, faults: FileFaults
) -> HashCodes:
    """Return the codes of an array (documents, K) of 0 and 1, or of −1 and 1.

    ``ids``: the documents of its rows, a line of ``id_file`` each.
    """
    if not _is_table(file, array, faults):
        return HashCodes((), np.empty((0, 0), np.uint8), 0)
    zero = -1 if (array == -1).any() else 0
    is_set = array == 1
    for row, column in np.argwhere(~is_set & (array != zero))[:MOST_FAULTY_CELLS].tolist():
        faults.add(
            f"{file}, row {row + 1}, column {column + 1}: {array[row, column]:g} found; {zero} or "
            "1 is allowed"
        )
    _check_ids(file, array, ids, id_file, faults)
    return HashCodes(tuple(ids), np.packbits(is_set, axis=1), array.shape[1])


def _is_table(file: str, array: NDArray[np.generic], faults: FileFaults) -> bool:
    if array.ndim == 2 and array.size and array.dtype.kind in "biuf":
        return True
    faults.add(
        f"{file}: an array of shape {array.shape} and type {array.dtype} found; numbers of "
        "shape (documents, bits) are needed"
    )
    return False


def _check_ids(
    file: str, array: NDArray[np.generic], ids: Sequence[str], id_file: str, faults: FileFaults
) -> None:
    if len(ids) != len(array):
        faults.add(f"{id_file}: {len(ids)} ids found; {file} has {len(array)} rows")
    first_lines: dict[str, int] = {}
    for number, document in enumerate(ids, 1):
        place = f"{id_file}, line {number}"
        if len(document.split()) != 1:
            faults.add(f"{place}: {shortened(document)} found; an id without blanks is needed")
        elif (earlier := first_lines.setdefault(document, number)) != number:
            faults.add(f"{place}: {_again(document)}, as in line {earlier}; one row is allowed")


def _again(document: str) -> str:
    return f"document {shortened(document)} found again"


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """The documents of a query, nearest first; ``distances``: of their codes from its code.

    ``tied``: how many are as near as another document of the collection.
    """

    query: str
    documents: Sequence[str]
    distances: Sequence[float]
    tied: int


def rank_by_distance(
    queries: HashCodes | RealCodes, collection: HashCodes | RealCodes, depth: int | None = None
) -> Iterator[RankedQuery]:
    """Rank the collection for each query by the distance of codes; yield each list.

    Of bits it is the Hamming distance, of real values K/2 (1 − cos), to DECIMALS decimals.
    Equally near documents are in the order of their ids, the last one first, which is how
    trec_eval orders equal scores. A document of the query's own id is left out.

    For codes of −1 and 1 the distance is d = K/2 (1 − cos), half of K times what the cosine
    lacks to 1.

    ``depth``: how many documents a list has; None for all.

    Source: the mAP/nDCG definitions, Eq. 1.
    """
    order = sorted(range(len(collection.ids)), key=collection.ids.__getitem__, reverse=True)
    ids, rows = [collection.ids[place] for place in order], _rows_of(collection)[order]
    places = {document: place for place, document in enumerate(ids)}
    for query, code in zip(queries.ids, _rows_of(queries), strict=True):
        distances = _distances(rows, code, queries.bits)
        if (own := places.get(query)) is not None:
            distances[own] = queries.bits + 1  # behind all others
        others = len(ids) - (own is not None)
        ranked = np.argsort(distances, kind="stable")[:others]
        near = distances[ranked]
        is_next = near[1:] == near[:-1]
        is_tied = np.append(False, is_next) | np.append(is_next, False)
        documents = [ids[place] for place in ranked[:depth]]
        tied = int(is_tied[:depth].sum()) if others else 0
        yield RankedQuery(query, documents, near[:depth].tolist(), tied)


def _rows_of(codes: HashCodes | RealCodes) -> NDArray[Any]:
    return codes.packed if isinstance(codes, HashCodes) else codes.units


def _distances(rows: NDArray[Any], code: NDArray[Any], bits: int) -> NDArray[Any]:
    if rows.dtype == np.uint8:
        return np.asarray(np.bitwise_count(rows ^ code).sum(axis=1, dtype=np.int64))
    return np.asarray(np.round(bits / 2 * (1 - rows @ code), DECIMALS).clip(0))
