"""What documents and topics of a test collection stand for, and the digest of all of it."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from survey.core.collections.texts import split_at_words, text_of_html, words_of

if TYPE_CHECKING:  # it brings numpy.random along, for which `survey measure` would wait
    from survey.core.collections.likeness import Pool


class Item(NamedTuple):
    """A document's picture, by its file's name and SHA-256, and its texts; any may be None.

    ``alt``: what the picture shows, in words. ``html``: reduced to what pages may show. ``lang``:
    the language of the texts, as a tag like el. ``keywords``: its classes, with semicolons between
    them; people never see these.
    """

    document: str
    file: str | None = None
    sha256: str | None = None
    text: str | None = None
    alt: str | None = None
    title: str | None = None
    url: str | None = None
    snippet: str | None = None
    html: str | None = None
    lang: str | None = None
    keywords: str | None = None

    @property
    def has_text(self) -> bool:
        """Whether there is a text to show; a URL alone is none."""
        return any((self.title, self.snippet, self.text, self.html))

    @property
    def words(self) -> str:
        """What to call it in a table: what its picture shows, its title, or its text."""
        return self.alt or self.title or self.snippet or self.text or text_of_html(self.html or "")


class Topic(NamedTuple):
    """What was searched for: a text, a picture, or both.

    ``image``: the document or file that the picture is of; ``cluster_type``: of its sub-topics.
    ``description`` and ``narrative``: what counts as relevant, in short and at length.
    """

    topic: str
    text: str | None = None
    image: str | None = None
    sha256: str | None = None
    cluster_type: str | None = None
    description: str | None = None
    narrative: str | None = None
    lang: str | None = None


class ShownItem(NamedTuple):
    """What participants see of an item or a topic: a picture, texts, or both.

    ``picture``: a random name, None without a picture; ``width`` and ``height``: of its larger
    size, in pixels. ``text``: of a topic; of an item its snippet, or a part of its text, of which
    ``has_more`` tells that there is more. ``name``: a random one, of the address of the whole
    text; None without texts. Neither the document nor the file is part of it.
    """

    picture: str | None = None
    width: int = 0
    height: int = 0
    text: str | None = None
    alt: str | None = None
    title: str | None = None
    url: str | None = None
    lang: str | None = None
    name: str | None = None
    has_more: bool = False
    description: str | None = None
    narrative: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a picture nor a text."""
        return not (self.picture or self.text or self.name)

    @property
    def words(self) -> str | None:
        """What to call it where its picture is not seen."""
        return self.title or self.text or self.alt

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield the parts of a text, and whether a part is a word of this topic's query."""
        return split_at_words(text, words_of(self.text))

    @property
    def is_wide(self) -> bool:
        """Whether it is a panorama, to be shown wider than other pictures."""
        return self.width > 2 * self.height

    @property
    def is_tall(self) -> bool:
        """Whether it is much higher than wide, as a screenshot: lists show its top."""
        return self.height > 2 * self.width


PictureAndText = tuple[str, str]


class Shown(NamedTuple):
    """What pages show of each document and topic: its picture's random name, and its text.

    Of a document's texts it is the random name too: what pages show of them depends on the topic.
    """

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

    def topics(self) -> Sequence[Topic]:
        """Return all topics of the study, sorted by their ids."""

    def pool(self) -> "Pool":
        """Return all documents, to be ranked."""

    def earlier(self, number: int) -> Sequence[Any]:
        """Return how others, by whom this participant's questions are decided, did a question.

        As presentations, of those first who began first; none for other participants.
        """


# The columns that came after the digest did.
LATER_OF_ITEMS = ("title", "url", "snippet", "html", "lang", "keywords")
LATER_OF_TOPICS = ("description", "narrative", "lang")


def items_digest(
    items: Iterable[Item], topics: Iterable[Topic], vectors: str | None = None
) -> str | None:
    """Return the SHA-256 of items and topics, whatever their order; None where there are none.

    Files' names are left out: the pictures count, by their own digests. ``vectors``: the digest of
    those that the researcher gave. A later column that is empty everywhere does not count, so
    that a study from before it keeps its digest.
    """
    items, topics = [*items], [*topics]
    content: dict[str, list[list[str | None]]] = {
        "items": sorted([each.document, each.sha256, each.text, each.alt] for each in items),
        "topics": sorted(
            [each.topic, each.text, each.sha256, each.cluster_type] for each in topics
        ),
    }
    if not any(content.values()):
        return None
    later = (("items", LATER_OF_ITEMS, items), ("topics", LATER_OF_TOPICS, topics))
    for what, names, rows in later:
        for name in names:
            if cells := sorted([row[0], cell] for row in rows if (cell := getattr(row, name))):
                content[f"{name} of {what}"] = cells
    given = {"vectors": vectors} if vectors else {}
    text = json.dumps(content | given, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
