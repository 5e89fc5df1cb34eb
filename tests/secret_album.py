"""A collection with secret judgements, and runs of chosen quality, for tests of all floors."""

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy.orm import Session

from survey.db.models import StoredCollection
from survey.services.collections import secret
from survey.services.collections.secret import NewCollection

NAME = "our-album"
TOPICS = [f"t{number}" for number in range(1, 31)]
SECRET = TOPICS[6:]
DAY = datetime(2026, 11, 29, 12, tzinfo=UTC)


def grades(topic: str) -> dict[str, int]:
    """A topic's judgements: a fifth of its documents is relevant."""
    chance = Random(topic)
    return {f"{topic}-d{number}": int(chance.random() < 0.3) for number in range(40)} | {
        f"{topic}-d0": 1
    }


def a_run(quality: float, seed: int = 1, topics: list[str] = TOPICS) -> str:
    """A run that returns 20 documents, relevant ones first as far as its quality goes."""
    lines = []
    for topic in topics:
        chance = Random(f"{topic} {seed}")
        scores = {
            document: chance.random() + quality * grade * chance.random()
            for document, grade in grades(topic).items()
        }
        first = sorted(scores, key=lambda document: -scores[document])[:20]
        lines += [
            f"{topic} Q0 {document} {rank} {scores[document]:.6f} tag\n"
            for rank, document in enumerate(first, 1)
        ]
    return "".join(lines)


def album_files(folder: Path) -> dict[str, Any]:
    """Write the files that are published; return them as ``NewCollection`` takes them."""
    qrels, names, texts, base = (
        folder / name for name in ("album-qrels.txt", "album-secret.txt", "texts.csv", "base.txt")
    )
    qrels.write_text(
        "".join(
            f"{topic} 0 {document} {grade}\n"
            for topic in TOPICS
            for document, grade in grades(topic).items()
        )
    )
    names.write_text("# secret\n" + "\n".join(SECRET) + "\n")
    texts.write_text("topic,text\n" + "".join(f"{topic},words of {topic}\n" for topic in TOPICS))
    base.write_text(a_run(0.2, 7))
    return {"qrels": qrels, "secret": names, "topics_file": texts, "baselines": [(base, "")]}


def publish_album(session: Session, folder: Path, **changes: Any) -> StoredCollection:
    """Publish the collection, by AP and nDCG@10 unless the changes say otherwise."""
    new = {"name": NAME, "seed": 3, **album_files(folder), **changes}
    return secret.publish(session, NewCollection(**new))
