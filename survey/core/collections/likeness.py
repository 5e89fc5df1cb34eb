"""A collection ranked by likeness to a picture or text, and by examples.

Vectors are whole numbers of such a size that their products are exact in float32, in any order
of summation: the same collection is ranked alike on every machine.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

from survey.core.collections import descriptors
from survey.core.collections.descriptors import Picture, likeness

LENGTH = 1_024  # of a vector, about
QUERY_LENGTH = 8_192  # of a query, at most; LENGTH × QUERY_LENGTH is half of what float32 counts
FRACTIONS = 16  # a query's numbers are rounded to 1/16 before its length is limited
LIKENESS_PARTS = ("colour-histogram", "edge-orientations", "tiny-grey")
VECTOR_WIDTH = 256  # numbers in a vector that is computed


def picture_vector(picture: Picture) -> bytes:
    """Return a picture's vector: colours, edges and a tiny grey picture, each of equal weight.

    ``picture``: as ``descriptors`` take it.
    """
    parts = [descriptors.DESCRIPTORS[name](picture) for name in LIKENESS_PARTS]
    return stored_vector(np.concatenate(parts))


def text_vector(text: str) -> bytes:
    """Return a text's vector: the square roots of its words' counts, in VECTOR_WIDTH cells.

    A word's cell is its CRC-32, so that a few different words share one.
    """
    cells = [crc32(word.encode()) % VECTOR_WIDTH for word in re.findall(r"\w+", text.casefold())]
    return stored_vector(np.sqrt(np.bincount(cells, minlength=VECTOR_WIDTH)))


def stored_vector(values: NDArray[np.floating]) -> bytes:
    """Return a vector of length LENGTH, rounded to whole numbers of two bytes."""
    length = float(np.linalg.norm(values))
    numbers: NDArray[np.int16] = np.rint(values * (LENGTH / length if length else 0)).astype("<i2")
    return numbers.tobytes()


class Entry(NamedTuple):
    """A document of a collection: its picture's SHA-256, its words, and its vector if it has one.

    ``words``: what a keyword is searched in. ``keywords``, which are among them: its classes, with
    semicolons between.
    """

    document: str
    sha256: str | None
    words: str
    vector: bytes | None
    keywords: str = ""


@dataclass(frozen=True, eq=False)
class Pool:
    """A collection that is judged, sorted by document.

    ``pictures``: the vectors of topics' pictures that no document has, by SHA-256.
    """

    entries: Sequence[Entry]
    pictures: Mapping[str, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each document in the collection."""
        return {each.document: place for place, each in enumerate(self.entries)}

    @cached_property
    def documents(self) -> NDArray[np.object_]:
        """The documents' ids, of which numpy takes ten thousand in an order in a moment."""
        return np.array([each.document for each in self.entries], dtype=object)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """The vectors (documents, numbers); zeros where a document has none."""
        stored = [each.vector for each in self.entries]
        none = next((bytes(len(vector)) for vector in stored if vector), bytes(2 * VECTOR_WIDTH))
        numbers = np.frombuffer(b"".join(vector or none for vector in stored), "<i2")
        return numbers.astype(np.float32).reshape(len(stored), len(none) // 2)

    @cached_property
    def _documents(self) -> dict[str, set[str]]:
        """The documents of each picture, by its SHA-256."""
        documents: dict[str, set[str]] = {}
        for each in self.entries:
            if each.sha256:
                documents.setdefault(each.sha256, set()).add(each.document)
        return documents

    def same_picture(self, sha256: str | None) -> set[str]:
        """Return the documents whose file has this SHA-256; none for None."""
        return self._documents.get(sha256 or "", set())

    def holding(self, keyword: str) -> set[str]:
        """Return the documents whose words have a keyword, as whole words, in any case."""
        pattern = re.compile(rf"(?<!\w){re.escape(keyword.casefold())}(?!\w)")
        return {each.document for each in self.entries if pattern.search(each.words.casefold())}

    def of_class(self, keyword: str) -> set[str]:
        """Return the documents of which a keyword, in any case, is a class."""
        name = keyword.strip().casefold()
        return {
            each.document
            for each in self.entries
            if name in (part.strip() for part in each.keywords.casefold().split(";"))
        }

    def target(
        self,
        positives: Collection[str],
        negatives: Collection[str],
        share: float,
        picture: str | None = None,
    ) -> NDArray[np.float32]:
        """Return Rocchio's vector: mean of the positives − share × mean of the negatives.

        ``picture``: the SHA-256 of one more positive, which may be one of ``pictures``. In whole
        numbers, of length QUERY_LENGTH at most; of zeros without examples. Source: Rocchio, in
        Salton (ed.), The SMART retrieval system, 1971, the query being one of the positives.
        """
        extra = [vector] if (vector := self.pictures.get(picture or "")) else []
        wanted = self._mean(positives, extra) - share * self._mean(negatives)
        numbers = np.rint(wanted * FRACTIONS)
        while float((numbers * numbers).sum()) > QUERY_LENGTH**2:
            numbers = np.rint(numbers / 2)
        return numbers.astype(np.float32)

    def _mean(self, documents: Collection[str], extra: Sequence[bytes] = ()) -> NDArray[np.float64]:
        rows = [self.vectors[self.index[document]] for document in sorted(documents)]
        rows += [np.frombuffer(vector, "<i2").astype(np.float32) for vector in extra]
        zeros = np.zeros(self.vectors.shape[1])
        total: NDArray[np.float64] = zeros + np.sum(rows, axis=0, dtype=np.float64)
        return total / max(1, len(rows))

    def by_likeness(self, target: NDArray[np.float32]) -> list[str]:
        """Return all documents, those most alike first by the cosine; ties by their ids."""
        order = np.argsort(-likeness(target[np.newaxis], self.vectors)[0], kind="stable")
        documents: list[str] = self.documents[order].tolist()
        return documents

    def by_chance(self, seed: int, first: Iterable[str] = ()) -> list[str]:
        """Return all documents in an order of a seed, but those of ``first`` before the others."""
        numbers = PCG64(seed).random_raw(len(self.entries))
        early = {*first}
        order: list[str] = self.documents[np.argsort(numbers, kind="stable")].tolist()
        return sorted(order, key=lambda document: document not in early)
