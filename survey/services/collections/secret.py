"""Collections with secret judgements: published, given groups, closed and revealed.

No function returns judgements of secret topics before ``reveal``.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

from sqlalchemy.orm import Session

from survey.core.collections.runs import (
    GroundTruth,
    Judgements,
    Run,
    names_of_runs,
    read_judgements,
)
from survey.core.collections.secret import (
    FEWEST_SECRET,
    MOST_MEASURES,
    commitment,
    read_complete_run,
    split_topics,
    values_of,
)
from survey.core.measures import Measure, measure_named
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.text_input import (
    LONGEST_SLUG,
    SLUG,
    FileFaults,
    lines_of,
    shortened,
    split_names,
    visible,
)
from survey.db import queries
from survey.db.engine import note_deletion
from survey.db.models import CollectionGroup, StoredCollection, now
from survey.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.analysis.sheets import count_of
from survey.services.collections.items import Intake, id_fault, read_topics
from survey.services.exchange.input_files import read_text
from survey.tokens import hash_token

DEFAULT_MEASURES = ("AP", "nDCG@10")


@dataclass(frozen=True)
class NewCollection:
    """What is published: files, and what the command's options say of them.

    ``baselines``: public runs, each with the name that was typed, "" without one.
    """

    name: str
    qrels: Path
    secret: Path
    topics_file: Path | None = None
    measures: Sequence[str] = DEFAULT_MEASURES
    baselines: Sequence[tuple[Path, str]] = ()
    closes: date | None = None
    seed: int | None = None
    title: str = ""


def publish(session: Session, new: NewCollection) -> StoredCollection:
    """Store a collection and the split of its secret topics; its page exists from then on.

    Raises SurveyError, RequestError or FaultyFilesError for options and files that cannot be used.
    """
    _check_options(session, new)
    measures = _measures(new.measures)
    judgements = _read_judgements(new.qrels)
    secret_topics = _secret_topics(new.secret, judgements, str(new.qrels))
    seed = secrets.randbelow(2**63) if new.seed is None else new.seed
    parts = split_topics(secret_topics, seed)
    topics = [*parts[0], *parts[1]]
    facts = {
        "collection": new.name,
        "salt": secrets.token_hex(32),
        "seed": str(seed),
        "measures": " ".join(measure.name for measure in measures),
    }
    collection = StoredCollection(
        name=new.name,
        title=new.title or new.name,
        published_at=now(),
        closes=new.closes,
        digest=sha256(commitment(judgements, parts, facts).encode()).hexdigest(),
        salt=facts["salt"],
        seed=facts["seed"],
        measures=[measure.name for measure in measures],
        topics=_topic_texts(new.topics_file, judgements),
        open_topics=parts[0],
        final_topics=parts[1],
        judgements={topic: dict(grades) for topic, grades in judgements.items()},
        baselines={
            name: values_of(judgements, topics, measures, run)
            for name, run in _baseline_runs(new.baselines, topics).items()
        },
    )
    session.add(collection)
    session.commit()
    return collection


def _check_options(session: Session, new: NewCollection) -> None:
    if not SLUG.match(new.name) or len(new.name) > LONGEST_SLUG:
        raise SurveyError(
            f"{new.name!r} cannot be a collection's name; small letters, digits and hyphens are "
            f"allowed, {LONGEST_SLUG} characters at most."
        )
    if queries.find(session, StoredCollection, name=new.name):
        raise SurveyError(f"There is a collection {new.name!r} already. Choose another name.")
    if len(new.title) > 200:
        raise SurveyError("A title of 200 characters at most is allowed.")
    if new.closes is not None and new.closes < now().date():
        raise SurveyError(f"{new.closes} is in the past; the closing day is today or later.")


def _measures(words: Sequence[str]) -> list[Measure]:
    names = dict.fromkeys(name for word in words for name in split_names(word))
    try:
        measures = [measure_named(name) for name in names]
    except ValueError as error:
        raise SurveyError(f"{error}.") from None
    if not 0 < len(measures) <= MOST_MEASURES:
        raise SurveyError(
            f"{len(measures)} measures named; one to {MOST_MEASURES} are allowed, since each tells "
            "something of the secret judgements."
        )
    for measure in measures:
        if needs := [need for need in measure.needs if need != "grades"]:
            raise SurveyError(
                f"{measure.name} needs {needs[0]}; measures of judgements alone are allowed, such "
                "as AP, NMRR, P@10 and nDCG@10."
            )
    return measures


def _read_judgements(path: Path) -> Judgements:
    """Read judgements; raises FaultyFilesError for lines and ids that are not valid."""
    faults = FileFaults()
    judgements = read_judgements(str(path), lines_of(read_text(path)), faults, HIGHEST_GRADE)
    for name in (*judgements, *(name for grades in judgements.values() for name in grades)):
        if fault := id_fault(name):
            faults.add(f"{path}: {shortened(name)} cannot be an id: {fault}")
    faults.raise_any()
    return judgements


def _secret_topics(path: Path, judgements: Judgements, qrels: str) -> list[str]:
    """Return the topics in a file, one a line, in the order of the judgements."""
    truth, faults = GroundTruth(judgements), FileFaults()
    first_lines: dict[str, int] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        topic = line.strip()
        if not topic or topic.startswith("#"):
            continue
        place = f"{path}, line {number}: topic {shortened(topic)}"
        if topic in first_lines:
            faults.add(f"{place} is in line {first_lines[topic]} already")
        elif topic not in judgements:
            faults.add(f"{place} has no judgements in {qrels}")
        elif not truth.relevant(topic):
            faults.add(f"{place} has no relevant document, so no run can be scored. Leave it out")
        first_lines.setdefault(topic, number)
    faults.raise_any()
    if len(first_lines) < FEWEST_SECRET:
        raise SurveyError(
            f"{path} names {count_of(len(first_lines), 'topic')}; at least {FEWEST_SECRET} are "
            "needed, of which half give feedback and half final scores."
        )
    return [topic for topic in judgements if topic in first_lines]


def _topic_texts(path: Path | None, judgements: Judgements) -> list[list[str]]:
    """Return the id and the text of each judged topic; "" without a file of texts."""
    if path is None:
        return [[topic, ""] for topic in judgements]
    topics = read_topics(path.read_bytes(), str(path), Intake())
    texts = {topic.topic: topic.text or topic.image or "" for topic in topics}
    if missing := [topic for topic in judgements if not texts.get(topic)]:
        raise SurveyError(f"{path} has no text of topic {visible(missing[0])}; each needs one.")
    return [[topic, texts[topic]] for topic in judgements]


def _baseline_runs(files: Sequence[tuple[Path, str]], topics: Sequence[str]) -> dict[str, Run]:
    texts = [read_text(path) for path, _ in files]
    paths = [str(path) for path, _ in files]
    named = names_of_runs(paths, lambda index: lines_of(texts[index]), [name for _, name in files])
    return {
        name: read_complete_run(path, text, topics)
        for name, path, text in zip(named, paths, texts, strict=True)
    }


def find_collection(session: Session, name: str) -> StoredCollection:
    """Return the collection of this name; raises NotFoundError."""
    collection = queries.find(session, StoredCollection, name=name)
    if collection is None:
        raise NotFoundError(f"There is no collection {visible(name)!r}.")
    return collection


def all_collections(session: Session) -> list[StoredCollection]:
    """Return all collections by their names."""
    return queries.all_collections(session)


def remove(session: Session, collection: StoredCollection) -> None:
    """Delete a collection with its groups and what they sent."""
    note_deletion(session)
    session.delete(collection)
    session.commit()


def add_group(
    session: Session, collection: StoredCollection, name: str, *, new_token: bool = False
) -> str:
    """Add a group and return its token, of which the database has the SHA-256 only.

    ``new_token``: of a group that is there and lost its token, which no longer works.
    """
    name = " ".join(name.split())
    if not name.isprintable() or not 0 < len(name) <= 200:
        raise SurveyError("A group's name has 1 to 200 characters that can be printed.")
    group = queries.find(session, CollectionGroup, collection_id=collection.id, name=name)
    if group is not None and not new_token:
        raise SurveyError(f"There is a group {name!r} already; --new-token prints another token.")
    if group is None and new_token:
        raise NotFoundError(f"There is no group {name!r} in {collection.name}.")
    token = secrets.token_urlsafe(32)
    if group is None:
        group = CollectionGroup(collection_id=collection.id, name=name, added_at=now(), faulty=0)
        session.add(group)
    group.token_hash = hash_token(token)
    session.commit()
    return token


def is_closed(collection: StoredCollection) -> bool:
    """Return whether a collection takes no more runs, by its day or by command."""
    has_passed = collection.closes is not None and now().date() > collection.closes
    return has_passed or collection.closed_at is not None


def close(session: Session, collection: StoredCollection) -> None:
    """Take no more runs, and let the page show the final scores."""
    if not is_closed(collection):
        collection.closed_at = now()
        session.commit()


def reveal(session: Session, collection: StoredCollection) -> None:
    """Let the page show the secret judgements with their salt, so that anyone can check them."""
    if not is_closed(collection):
        raise NotAllowedError(
            f"{collection.name} still takes runs. Close it first: `survey collection close "
            f"{collection.name}`."
        )
    collection.is_revealed = True
    session.commit()


def committed_text(collection: StoredCollection) -> str:
    """Return the file whose SHA-256 was published; raises NotFoundError before it is revealed."""
    if not collection.is_revealed:
        raise NotFoundError("The secret judgements are not revealed.")
    facts = {
        "collection": collection.name,
        "salt": collection.salt,
        "seed": collection.seed,
        "measures": " ".join(collection.measures),
    }
    return commitment(
        collection.judgements, (collection.open_topics, collection.final_topics), facts
    )


def topic_rows(collection: StoredCollection) -> list[tuple[str, str, str]]:
    """Return each topic's id, its text, and if its judgements are secret, revealed or public."""
    hidden = {*collection.open_topics, *collection.final_topics}
    status = "revealed" if collection.is_revealed else "secret"
    return [
        (topic, text, status if topic in hidden else "public") for topic, text in collection.topics
    ]


def public_judgements(collection: StoredCollection) -> str:
    """Return the judgements of the public topics in TREC's format."""
    hidden = {*collection.open_topics, *collection.final_topics}
    return "".join(
        f"{topic} 0 {document} {grade}\n"
        for topic, grades in collection.judgements.items()
        if topic not in hidden
        for document, grade in grades.items()
    )
