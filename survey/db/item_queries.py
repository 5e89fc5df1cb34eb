"""Queries of a study's pictures, items and topics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Table,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session

from survey.core.collections.items import Item, Shown, ShownItem, Topic
from survey.core.collections.likeness import Entry, Pool, text_vector
from survey.core.collections.texts import EXCERPT, excerpt, text_of_html, words_of
from survey.db.engine import Prepared
from survey.db.models import Study
from survey.db.models.base import Base
from survey.db.models.items import (
    StoredItem,
    StoredPicture,
    StoredTopic,
    StoredVector,
    random_name,
)

VALUES_PER_STATEMENT = 500  # values that a statement names


class Thumbnail(NamedTuple):
    """A picture in the small size; width and height are the larger's."""

    sha256: str
    width: int
    height: int
    thumbnail: bytes


def items_of(session: Session, study_id: int) -> list[Item]:
    """Return a study's items, sorted by document."""
    query = select(*_columns(StoredItem, Item)).where(StoredItem.study_id == study_id)
    # Sorted here, since databases sort texts by the rules of their languages.
    return sorted(Item(*row) for row in session.execute(query))


def topics_of(session: Session, study_id: int) -> list[Topic]:
    """Return a study's topics, sorted by their ids."""
    query = select(*_columns(StoredTopic, Topic)).where(StoredTopic.study_id == study_id)
    return sorted(Topic(*row) for row in session.execute(query))


def item_counts(session: Session, study_id: int) -> tuple[int, int]:
    """Count a study's items, and those among them that are texts without a picture."""
    items, pictures = func.count(), func.count(StoredItem.sha256)
    statement = select(items, items - pictures).where(StoredItem.study_id == study_id)
    count, texts = session.execute(statement).one()
    return count, texts


def has_titles(session: Session, study_id: int) -> bool:
    """Return whether some of a study's items have a title or an address, as documents do."""
    titled = or_(StoredItem.title.is_not(None), StoredItem.url.is_not(None))
    statement = select(StoredItem.id).where(StoredItem.study_id == study_id, titled).limit(1)
    return session.scalar(statement) is not None


def _columns(table: type[Base], record: type[Item] | type[Topic]) -> list[Any]:
    return [getattr(table, name) for name in record._fields]


class StudyItems:
    """Looks up a study's documents and topics in the database; see ``FindItems`` of the core."""

    def __init__(self, session: Session, study_id: int) -> None:
        self.session, self.study_id = session, study_id

    def __call__(
        self, documents: Collection[str], topic: str | None
    ) -> tuple[dict[str, ShownItem], ShownItem | None]:
        """Return what participants see of documents, and of a topic.

        Documents that are not stored are left out; an unknown topic is None.
        """
        picture = (
            StoredPicture.name.label("picture"),
            func.coalesce(StoredPicture.width, 0).label("width"),
            func.coalesce(StoredPicture.height, 0).label("height"),
        )
        searched = (
            select(*picture, *_named(StoredTopic, "text", "lang", "description", "narrative"))
            .select_from(StoredTopic)
            .outerjoin(StoredPicture, _is_picture_of(StoredTopic))
            .where(StoredTopic.study_id == self.study_id, StoredTopic.topic == topic)
        )
        row = self.session.execute(searched).one_or_none() if topic is not None else None
        shown_topic = ShownItem(**row._mapping) if row else None
        query = (
            select(
                StoredItem.document,
                *picture,
                *_named(StoredItem, "alt", "title", "url", "lang", "name"),
                StoredItem.snippet.label("text"),
                func.substr(StoredItem.text, 1, EXCERPT + 1).label("begin"),
                StoredItem.html.is_not(None).label("has_more"),
            )
            .outerjoin(StoredPicture, _is_picture_of(StoredItem))
            .where(StoredItem.study_id == self.study_id, StoredItem.document.in_(documents))
        )
        items, without_snippet = {}, []
        for values in map(dict, self.session.execute(query).mappings()):
            document, begin = str(values.pop("document")), values.pop("begin")
            item = ShownItem(**values)
            if item.text:
                item = item._replace(has_more=item.has_more or bool(begin))
            elif begin and len(begin) <= EXCERPT:
                item = item._replace(text=begin)
            elif begin or item.has_more:
                without_snippet.append(document)
            # The name is the address of a page with the item's texts; without texts there is none.
            has_text = item.title or item.text or item.has_more or begin
            items[document] = item if has_text else item._replace(name=None)
        words = words_of(shown_topic.text if shown_topic else None)
        for document, part in self._excerpts(without_snippet, words).items():
            items[document] = items[document]._replace(**part._asdict())
        return items, shown_topic

    def _excerpts(
        self, documents: Collection[str], words: frozenset[str]
    ) -> dict[str, "ShownPart"]:
        """Return what pages show of texts without a snippet, by document; parts are cached.

        ``words``: those of the topic, around which an excerpt is cut.
        """
        if not documents:
            return {}
        key = (self.study_id, self._digest, words)
        with _cutting:
            while key not in _parts and len(_parts) >= MOST_CACHED_QUERIES:
                del _parts[next(iter(_parts))]
            known = _parts.setdefault(key, {})
        if missing := [document for document in documents if document not in known]:
            query = select(*_named(StoredItem, "document", "text", "html")).where(
                StoredItem.study_id == self.study_id, StoredItem.document.in_(missing)
            )
            for document, text, html in self.session.execute(query):
                whole = " ".join((text or text_of_html(html or "")).split())
                part = excerpt(whole, words)
                known[document] = ShownPart(part or None, bool(html) or part != whole)
        return {document: known[document] for document in documents if document in known}

    @cached_property
    def _digest(self) -> str | None:
        return self.session.scalar(select(Study.items_digest).where(Study.id == self.study_id))

    def topic(self, topic: str) -> Topic | None:
        """Return a topic, None where the study has no such one."""
        query = select(*_columns(StoredTopic, Topic)).where(
            StoredTopic.study_id == self.study_id, StoredTopic.topic == topic
        )
        row = self.session.execute(query).one_or_none()
        return Topic(*row) if row else None

    def topics(self) -> list[Topic]:
        """Return all topics of the study, sorted by their ids."""
        return topics_of(self.session, self.study_id)

    def pool(self) -> Pool:
        """Return all documents, to be ranked; cached until the items' digest changes."""
        key = (self.study_id, self._digest)
        with _reading:  # without the lock, simultaneous threads would each read a copy
            if key not in _pools:
                while len(_pools) >= MOST_POOLS:
                    del _pools[next(iter(_pools))]
                _pools[key] = self._read_pool()
            return _pools[key]

    def earlier(self, number: int) -> Sequence[object]:  # noqa: ARG002 - see FindItems
        """Return nothing: without a participant, no question depends on others' answers."""
        return ()

    def _read_pool(self) -> Pool:
        """Read all documents, with the researcher's vectors, or computed ones if there are none."""
        query = select(StoredVector.document, StoredVector.numbers).where(
            StoredVector.study_id == self.study_id
        )
        vectors = {row.document: row.numbers for row in self.session.execute(query)}
        entries, pictures = self._entries(), self._topics_pictures()
        if vectors:
            topics = {each.sha256: each.image for each in topics_of(self.session, self.study_id)}
            entries = [each._replace(vector=vectors.get(each.document)) for each in entries]
            pictures = {sha256: vectors.get(topics[sha256] or "", b"") for sha256 in pictures}
        return Pool(entries, {sha256: vector for sha256, vector in pictures.items() if vector})

    def _entries(self) -> list[Entry]:
        query = (
            select(
                *_named(StoredItem, "document", "sha256", "alt", "title", "snippet", "keywords"),
                func.substr(StoredItem.text, 1, MOST_COMPARED).label("text"),
                func.substr(StoredItem.html, 1, MOST_COMPARED).label("html"),
                StoredPicture.vector,
            )
            .outerjoin(StoredPicture, _is_picture_of(StoredItem))
            .where(StoredItem.study_id == self.study_id)
        )
        entries = []
        for row in self.session.execute(query):
            body = row.text or text_of_html(row.html or "")
            texts = "\n".join(filter(None, (row.title, row.snippet, body)))
            keywords = row.keywords or ""
            words = " ".join(filter(None, (texts, row.alt, keywords)))
            of_text = text_vector(texts) if texts and row.sha256 is None else None
            vector = row.vector or of_text
            entries.append(Entry(row.document, row.sha256, words, vector, keywords))
        return sorted(entries)

    def _topics_pictures(self) -> dict[str, bytes]:
        """Return the vectors of topics' pictures that no item has, by SHA-256."""
        items = select(StoredItem.sha256).where(
            StoredItem.study_id == self.study_id, StoredItem.sha256.is_not(None)
        )
        query = (
            select(StoredPicture.sha256, StoredPicture.vector)
            .join(StoredTopic, _is_picture_of(StoredTopic))
            .where(StoredTopic.study_id == self.study_id, StoredPicture.vector.is_not(None))
            .where(StoredPicture.sha256.not_in(items))
        )
        return {row.sha256: row.vector or b"" for row in self.session.execute(query)}


class ShownPart(NamedTuple):
    """What pages show of a text without a snippet, and whether there is more of it."""

    text: str | None
    has_more: bool


MOST_CACHED_QUERIES = 200  # a process caches what pages show of texts for so many topics
MOST_COMPARED = 5_000  # characters at a text's beginning by which documents are compared
_parts: dict[tuple[int, str | None, frozenset[str]], dict[str, ShownPart]] = {}
_cutting = Lock()
MOST_POOLS = 4  # collections that a process holds; 10,000 documents take 20 MB
_pools: dict[tuple[int, str | None], Pool] = {}
_reading = Lock()


def _named(table: type[StoredItem] | type[StoredTopic], *names: str) -> list[Any]:
    return [getattr(table, name) for name in names]


def _is_picture_of(table: type[StoredItem] | type[StoredTopic]) -> ColumnElement[bool]:
    return and_(StoredPicture.study_id == table.study_id, StoredPicture.sha256 == table.sha256)


def shown(session: Session, study_id: int) -> Shown:
    """Return what pages show of a study's documents and topics: see ``Shown``."""
    texts = (StoredItem.title, StoredItem.snippet, StoredItem.text, StoredItem.html)
    has_text = or_(*(text.is_not(None) for text in texts))
    documents, topics = (
        select(name, func.coalesce(StoredPicture.name, ""), text)
        .select_from(table)
        .outerjoin(StoredPicture, _is_picture_of(table))
        .where(table.study_id == study_id)
        for table, name, text in (
            (StoredItem, StoredItem.document, case((has_text, StoredItem.name), else_="")),
            (StoredTopic, StoredTopic.topic, func.coalesce(StoredTopic.text, "")),
        )
    )
    return Shown(
        *(
            {name: (picture, text) for name, picture, text in session.execute(query)}
            for query in (documents, topics)
        )
    )


def named_picture(session: Session, study_id: int, name: str, *, larger: bool) -> bytes | None:
    """Return a study's picture in one of its sizes, by its random name; None for another's."""
    row = _PICTURES[larger].first(session, {"study_id": study_id, "name": name})
    return None if row is None else bytes(row.content)


_pictures = cast("Table", StoredPicture.__table__)
_SOME_PICTURES = Prepared(
    select(_pictures.c.name, func.length(_pictures.c.thumbnail).label("size"))
    .where(_pictures.c.study_id == bindparam("study_id"))
    .order_by(_pictures.c.name)
    .limit(bindparam("most"))
)


def some_pictures(session: Session, study_id: int, most: int) -> list[tuple[str, int]]:
    """Return the names of some pictures and their sizes in bytes; names are random."""
    rows = _SOME_PICTURES.rows(session, {"study_id": study_id, "most": most})
    return [(str(name), int(size)) for name, size in rows]


_PICTURES = {  # by whether it is the larger size
    larger: Prepared(
        select(_pictures.c["larger" if larger else "thumbnail"].label("content")).where(
            _pictures.c.study_id == bindparam("study_id"), _pictures.c.name == bindparam("name")
        )
    )
    for larger in (False, True)
}


def named_texts(session: Session, study_id: int, name: str) -> Item | None:
    """Return the texts of a study's item by their random name, without ids; None for another's."""
    columns = _named(StoredItem, "title", "url", "snippet", "text", "html", "lang")
    query = select(*columns).where(StoredItem.study_id == study_id, StoredItem.name == name)
    row = session.execute(query).one_or_none()
    return Item("", **row._mapping) if row else None


def absent_pictures(session: Session, study_id: int) -> set[str]:
    """Return the SHA-256 of each picture that items or topics name and that is not stored.

    A bundle that was exported without pictures holds these digests alone.
    """
    stored = select(StoredPicture.sha256).where(StoredPicture.study_id == study_id)
    named = (
        select(table.sha256).where(table.study_id == study_id, table.sha256.not_in(stored))
        for table in (StoredItem, StoredTopic)
    )
    return {sha256 for query in named for sha256 in session.scalars(query) if sha256}


def store_pictures(session: Session, study_id: int, pictures: Sequence[dict[str, object]]) -> None:
    """Insert those pictures that a study does not have yet, each with the columns of the table."""
    for values in {each["sha256"]: each for each in pictures}.values():
        known = select(StoredPicture.id).where(
            StoredPicture.study_id == study_id, StoredPicture.sha256 == values["sha256"]
        )
        if session.scalar(known) is None:
            session.add(StoredPicture(study_id=study_id, **values))
    session.flush()


def store_items(session: Session, study_id: int, items: Sequence[Item]) -> None:
    """Insert items; they replace those of the same documents."""
    documents = [each.document for each in items]
    for start in range(0, len(documents), VALUES_PER_STATEMENT):
        some = documents[start : start + VALUES_PER_STATEMENT]
        session.execute(
            delete(StoredItem).where(StoredItem.study_id == study_id, StoredItem.document.in_(some))
        )
    session.add_all(StoredItem(study_id=study_id, **each._asdict()) for each in items)
    session.flush()


def store_topics(session: Session, study_id: int, topics: Sequence[Topic]) -> None:
    """Replace a study's topics."""
    session.execute(delete(StoredTopic).where(StoredTopic.study_id == study_id))
    session.add_all(StoredTopic(study_id=study_id, **each._asdict()) for each in topics)
    session.flush()


def vectors_digest_of(session: Session, study_id: int) -> str | None:
    """Return the digest of the vectors that the researcher uploaded; None without any."""
    return session.scalar(select(Study.vectors_digest).where(Study.id == study_id))


def store_vectors(session: Session, study_id: int, vectors: Mapping[str, bytes]) -> None:
    """Replace the vectors that the researcher uploaded, document → numbers."""
    session.execute(delete(StoredVector).where(StoredVector.study_id == study_id))
    rows = vectors.items()
    session.add_all(StoredVector(study_id=study_id, document=key, numbers=n) for key, n in rows)
    session.flush()


def remove_unused_pictures(session: Session, study_id: int) -> None:
    """Delete the pictures that no item and no topic of the study refers to."""
    used = [
        StoredPicture.sha256.not_in(
            select(table.sha256).where(table.study_id == study_id, table.sha256.is_not(None))
        )
        for table in (StoredItem, StoredTopic)
    ]
    session.execute(delete(StoredPicture).where(StoredPicture.study_id == study_id, *used))


def thumbnails_of(session: Session, study_id: int) -> Iterator[Thumbnail]:
    """Yield a study's pictures in the small size, by their digests, a few at a time."""
    query = select(StoredPicture.sha256).where(StoredPicture.study_id == study_id)
    for sha256 in sorted(session.scalars(query)):
        stored = session.execute(
            select(StoredPicture.width, StoredPicture.height, StoredPicture.thumbnail).where(
                StoredPicture.study_id == study_id, StoredPicture.sha256 == sha256
            )
        ).one()
        yield Thumbnail(sha256, *stored)


def copy_items(session: Session, source_id: int, target_id: int) -> None:
    """Copy the items, topics and pictures of a study to one that has none."""
    columns = ("sha256", "width", "height", "thumbnail", "larger", "vector")
    copied = [getattr(StoredPicture, name) for name in columns]
    for row_id in session.scalars(
        select(StoredPicture.id).where(StoredPicture.study_id == source_id)
    ).all():
        # Each under a new random name, so that addresses of one study reveal none of another.
        row = select(literal(target_id), literal(random_name()), *copied).where(
            StoredPicture.id == row_id
        )
        session.execute(insert(StoredPicture).from_select(["study_id", "name", *columns], row))
    numbers = select(literal(target_id), StoredVector.document, StoredVector.numbers).where(
        StoredVector.study_id == source_id
    )
    session.execute(insert(StoredVector).from_select(["study_id", "document", "numbers"], numbers))
    store_items(session, target_id, items_of(session, source_id))
    store_topics(session, target_id, topics_of(session, source_id))


def remove_items(session: Session, study_id: int) -> None:
    """Delete all items, topics, pictures and vectors of a study."""
    for table in (StoredItem, StoredTopic, StoredPicture, StoredVector):
        session.execute(delete(table).where(table.study_id == study_id))
