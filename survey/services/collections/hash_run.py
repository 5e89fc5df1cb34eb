"""Write a run of a test collection from files of hash codes."""

import gzip
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from survey.core.collections.hash_codes import (
    HashCodes,
    RealCodes,
    codes_of_array,
    rank_by_distance,
    read_codes,
    read_real_codes,
    real_codes_of_array,
)
from survey.core.collections.vectors import NO_ARRAY
from survey.core.text_input import FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.exchange.input_files import read_text

Codes = HashCodes | RealCodes


@dataclass(frozen=True)
class RunSize:
    """What a run holds.

    ``tied``: how many of its lines are of documents as near as another one; ``left_out``: for how
    many queries a document of the same id was left out.
    """

    queries: int
    collection_size: int
    bits: int
    lines: int
    tied: int
    left_out: int


def read_code_files(collection: Path, queries: Path, *, are_real: bool) -> tuple[Codes, Codes]:
    """Read both files of codes; raises FaultyFilesError with all their faults.

    A file that ends in .npy is an array; a file .ids of the same name holds the documents.
    ``are_real``: whether they are real values, before the sign.
    """
    faults = FileFaults()
    codes, asked = (_read(path, faults, are_real=are_real) for path in (collection, queries))
    if not len(faults) and codes.bits != asked.bits:
        faults.add(f"{queries}: codes of {asked.bits} bits found; {collection} has {codes.bits}")
    faults.raise_any()
    return codes, asked


def _read(path: Path, faults: FileFaults, *, are_real: bool) -> Codes:
    if path.suffix != ".npy":
        read_lines = read_real_codes if are_real else read_codes
        return read_lines(str(path), lines_of(read_text(path)), faults)
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror or error}.") from None
    except NO_ARRAY:
        # numpy's own message advises to load objects, which may run code.
        raise SurveyError(f"{path} cannot be read as an array of numpy, of numbers.") from None
    id_file = path.with_suffix(".ids")
    ids = [line.strip() for line in lines_of(read_text(id_file))]
    read_array = real_codes_of_array if are_real else codes_of_array
    return read_array(str(path), array, ids, str(id_file), faults)


def write_run(
    collection: Codes,
    queries: Codes,
    target: Path,
    depth: int | None = None,
    on_query: Callable[[int], object] = lambda _: None,
) -> RunSize:
    """Write the run of a collection's codes, gzipped where its name ends in .gz.

    It is written under another name first and renamed, so that it is never half a run. A
    document's score is minus its distance. Raises SurveyError where it cannot be written.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    tag = "cosine" if isinstance(collection, RealCodes) else "hamming"
    lines = tied = 0
    try:
        with (
            gzip.open(unfinished, "wt", encoding="utf-8")
            if target.suffix == ".gz"
            else unfinished.open("w", encoding="utf-8")
        ) as file:
            for ranked in rank_by_distance(queries, collection, depth):
                pairs = zip(ranked.documents, ranked.distances, strict=True)
                file.writelines(
                    f"{ranked.query} Q0 {document} {rank} {-distance or 0} {tag}\n"
                    for rank, (document, distance) in enumerate(pairs, 1)
                )
                lines, tied = lines + len(ranked.documents), tied + ranked.tied
                on_query(1)
        unfinished.replace(target)
    except OSError as error:
        raise SurveyError(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            unfinished.unlink()
    left_out = len({*queries.ids} & {*collection.ids})
    return RunSize(len(queries.ids), len(collection.ids), collection.bits, lines, tied, left_out)
