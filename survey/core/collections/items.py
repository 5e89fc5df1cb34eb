"""What documents and topics of a test collection stand for, and the digest of all of it."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:  # it brings numpy.random along, for which `survey measure` would wait
    from survey.core.collections.likeness import Pool


class Item(NamedTuple):
    """A document's picture, by its file's name and SHA-256, and its texts; any may be None."""

    document: str
    file: str | None = None
    sha256: str | None = None
    text: str | None = None
    alt: str | None = None


class Topic(NamedTuple):
    """What was searched for: a text, a picture, or both.

    ``image``: the document or file that the picture is of; ``cluster_type``: of its sub-topics.
    """

    topic: str
    text: str | None = None
    image: str | None = None
    sha256: str | None = None
    cluster_type: str | None = None


class ShownItem(NamedTuple):
    """What participants see of an item or a topic: a picture, a text, or both.

    ``picture``: a random name, None without a picture; ``width`` and ``height``: of its larger
    size, in pixels. Neither the document nor the file is part of it.
    """

    picture: str | None = None
    width: int = 0
    height: int = 0
    text: str | None = None
    alt: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a picture nor a text."""
        return not self.picture and not self.text

    @property
    def is_wide(self) -> bool:
        """Whether it is a panorama, to be shown wider than other pictures."""
        return self.width > 2 * self.height


PictureAndText = tuple[str, str]


class Shown(NamedTuple):
    """What pages show of each document and topic: its picture's random name, and its text."""

    documents: Mapping[str, PictureAndText]
    topics: Mapping[str, PictureAndText]


NOTHING_SHOWN = Shown(documents={}, topics={})


class Result(NamedTuple):
    """A result of a list as participants see it; ``is_relevant`` is None where none is marked."""

    rank: int
    item: ShownItem | None = None
    is_relevant: bool | None = None


class FindItems(Protocol):
    """Finds what a study's documents and topics stand for."""

    def __call__(
        self, documents: Collection[str], topic: str | None
    ) -> tuple[dict[str, ShownItem], ShownItem | None]:
        """Return what participants see of documents, and of a topic."""

    def topic(self, topic: str) -> Topic | None:
        """Return a topic, None where the study has no such one."""

    def pool(self) -> "Pool":
        """Return all documents, to be ranked."""

    def earlier(self, number: int) -> Sequence[Any]:
        """Return how others, by whom this participant's questions are decided, did a question.

        As presentations, of those first who began first; none for other participants.
        """


def items_digest(
    items: Iterable[Item], topics: Iterable[Topic], vectors: str | None = None
) -> str | None:
    """Return the SHA-256 of items and topics, whatever their order; None where there are none.

    Files' names are left out: the pictures count, by their own digests. ``vectors``: the digest of
    those that the researcher gave.
    """
    content = {
        "items": sorted([each.document, each.sha256, each.text, each.alt] for each in items),
        "topics": sorted(
            [each.topic, each.text, each.sha256, each.cluster_type] for each in topics
        ),
    }
    if not any(content.values()):
        return None
    given = {"vectors": vectors} if vectors else {}
    text = json.dumps(content | given, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
