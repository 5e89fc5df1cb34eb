"""The studies of ``survey serve --demo``: at least one of each kind of question, all open.

A simulated machine has answered the first, as results may show machines beside people.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from survey.core.collections.items import Item, Topic
from survey.core.collections.runs import QRELS_FILE, RUNS_FOLDER
from survey.core.studies.plan import GRID, Plan
from survey.db.engine import lock_globally
from survey.db.models import Study
from survey.services import accounts
from survey.services.collections import items
from survey.services.collections.item_files import Files
from survey.services.exchange.input_files import read_file
from survey.services.studies import lifecycle
from survey.services.studies.plans import (
    KINDS,
    Sources,
    as_fields,
    begin_plan,
    from_trec,
    kind_plan,
    preset_plan,
)

# The pictures of all studies that show some: a package with the folder "collection" in it.
COLLECTION = "survey.services.collections.albums"
# Those in which the measures contradict each other most, see ``picture_folder.choose_topics``.
TOPICS = (
    *("apple-1", "balloon-1", "cake-1", "car-1", "dog-1"),
    *("flower-1", "horse-1", "house-1", "ice-cream-1", "ladybird-1"),
)
COMPARED_RUNS = ("binary-patterns", "tiny-grey")  # whose lists people prefer

# The demo draws the same lists everywhere, so that people can talk about them.
DEMO_SLUG = "five-systems"
# In 3 of its 10 questions two measures order the lists alike, as in 3 of the paper's sets.
DEMO_SEED = 2039
VERBATIM_SLUG = "five-systems-as-printed"
# Of the machine that answers this study beside people: as the tour's simulated people do.
MACHINE_PREFERS = "MNRO=.5,NMRR=.3,AP=.1,OTHER=.1"
MACHINE_SAMPLES = 5  # the fewest that say how sure it is
PICTURES_SLUG = "five-systems-in-pictures"
PICTURES_SEED = 2040
DEMO_CONTACT = {
    "asked_by": "no real study: this is the demo of a survey program",
    "contact": "the person who showed you this demo "
    "(a real study has an address here, such as ada@example.org)",
}


class Pictures(NamedTuple):
    """The collection of pictures: its folder, and its items and topics as ``take_in`` takes them.

    ``files``: what is read of each picture, by its file's name.
    """

    folder: Path
    files: Files
    items: Sequence[Item]
    topics: Sequence[Topic]


class DemoStudy(NamedTuple):
    """A study of the demo: its address, its kind and what to do in it in plain words, its plan.

    ``topics``: those that it asks in place of the collection's.
    """

    slug: str
    kind: str
    task: str
    plan: Callable[[Pictures], Plan]
    topics: Sequence[Topic] = ()


def ensure_studies(
    session: Session, on_study: Callable[[DemoStudy], object] = lambda _: None
) -> Study:
    """Create and open all studies if there is no study; return an open study, else the first.

    If that fails or is interrupted, those that were made are deleted, so that the next start makes
    all. A study that was closed stays so, as opening it again stores that its results could be
    seen. ``on_study``: called before a study is made.
    """
    lock_globally(session)  # else servers that start together would create them twice
    if not lifecycle.all_studies(session):
        try:
            _create_all(session, on_study)
        except BaseException:  # an interruption too
            session.rollback()
            _delete_all(session)
            raise
    existing = lifecycle.all_studies(session)
    return next((study for study in existing if study.status == "open"), existing[0])


def stored_studies(session: Session) -> list[tuple[DemoStudy, Study]]:
    """Return the demo's studies, without drafts and the archive, and no other studies.

    A study is the demo's by its address and by who asks, as no plan of a real study has both.
    """
    stored = {
        study.slug: study
        for study in lifecycle.all_studies(session)
        if study.status != "draft" and study.archived_at is None and study.is_readable
    }
    return [
        (demo_study, stored[demo_study.slug])
        for demo_study in DEMO_STUDIES
        if demo_study.slug in stored
        and stored[demo_study.slug].plan.asked_by == DEMO_CONTACT["asked_by"]
    ]


@contextmanager
def open_pictures() -> Iterator[Pictures]:
    """Open the collection of pictures that comes along."""
    with (
        as_file(files(COLLECTION) / "collection") as folder,
        items.open_source(folder, None) as source,
    ):
        yield Pictures(folder, source.files, source.items, source.topics or ())


def create_picture_study(session: Session) -> Study:
    """Create and open the study with pictures alone."""
    [demo_study] = (known for known in DEMO_STUDIES if known.slug == PICTURES_SLUG)
    with open_pictures() as pictures:
        return _create_study(session, demo_study, pictures)


def _create_all(session: Session, on_study: Callable[[DemoStudy], object]) -> None:
    pictured: Study | None = None  # copying its pictures is faster than decoding them once more
    with open_pictures() as pictures:
        for demo_study in DEMO_STUDIES:
            on_study(demo_study)
            study = _create_study(session, demo_study, pictures, pictured)
            pictured = pictured or (study if study.items_digest else None)
            if demo_study.slug == DEMO_SLUG:
                _let_machine_judge(session, study)


def _let_machine_judge(session: Session, study: Study) -> None:
    """Store the answers of a simulated machine, asked over HTTP as any other; always the same."""
    # Servers that serve no demo load no HTTP client.
    from survey.services.machines.endpoint import Endpoint
    from survey.services.machines.fake_endpoint import (
        SIMULATED_MODEL,
        FakeEndpoint,
        planted,
        serving,
    )
    from survey.services.machines.judging import Budget, Judging, ReplyCache, Settings
    from survey.services.machines.stored import content_to_judge, store

    content = content_to_judge(session, study, include_test=False)
    settings = Settings(SIMULATED_MODEL, samples=MACHINE_SAMPLES, simulated=MACHINE_PREFERS)
    judging = Judging(content, settings, {})
    simulated = FakeEndpoint(planted(judging, MACHINE_PREFERS))
    with TemporaryDirectory() as folder, serving(simulated) as url:
        replies = ReplyCache(Path(folder) / "replies.jsonl")
        judging.ask(Endpoint(url, judging.schema), replies, Budget(), lambda _: None)
        record = judging.record(replies)
    store(session, study, record, accounts.COMMAND_LINE)
    accounts.log(session, study, accounts.COMMAND_LINE, "machine judged", record.name)


def _delete_all(session: Session) -> None:
    """Delete the demo's studies, of which one may still be a draft."""
    slugs = {demo_study.slug for demo_study in DEMO_STUDIES}
    for study in [study for study in lifecycle.all_studies(session) if study.slug in slugs]:
        if study.status == "open":
            lifecycle.close_study(session, study)
        lifecycle.delete(session, study, accounts.COMMAND_LINE)


def _create_study(
    session: Session, demo_study: DemoStudy, pictures: Pictures, pictured: Study | None = None
) -> Study:
    """Create and open a study; one with pictures of all topics gets those of ``pictured``."""
    study = lifecycle.create_study(session, demo_study.slug, demo_study.plan(pictures))
    if study.plan.has_items:
        if pictured is not None and not demo_study.topics:
            lifecycle.copy_items(session, pictured, study)
        else:
            _take_in_pictures(session, demo_study, study, pictures)
    lifecycle.open_study(session, study)
    return study


def _take_in_pictures(
    session: Session, demo_study: DemoStudy, study: Study, pictures: Pictures
) -> None:
    """Store the collection, or of a study with topics of its own what these show."""
    needed = items.needed_items(session, study) if demo_study.topics else items.EVERYTHING
    topics = demo_study.topics or [topic for topic in pictures.topics if topic.topic in TOPICS]
    items.take_in(
        session,
        study,
        pictures.files,
        [item for item in pictures.items if needed.document(item.document)],
        accounts.COMMAND_LINE,
        topics=topics,
    )


def _paper_plan(_: Pictures) -> Plan:
    return preset_plan("mnro", seed=DEMO_SEED, **DEMO_CONTACT)


def _verbatim_plan(_: Pictures) -> Plan:
    return preset_plan("mnro-verbatim", seed=DEMO_SEED, **DEMO_CONTACT)


def _picture_plan(pictures: Pictures) -> Plan:
    folder = pictures.folder
    lists = from_trec(
        read_file(folder / QRELS_FILE),
        [read_file(path) for path in sorted((folder / RUNS_FOLDER).iterdir())],
        collection_size=str(len(pictures.items)),
        topics=TOPICS,
    )
    fields = as_fields(lists) | DEMO_CONTACT
    return preset_plan("pictures", seed=PICTURES_SEED, **fields)


# Beside what the studies have in common: few questions, and none about participants.
SMALL: dict[str, Any] = {
    **DEMO_CONTACT,
    "seed": PICTURES_SEED,
    "personal_fields": (),
    "participants": 30,
}


def _preference_plan(pictures: Pictures) -> Plan:
    folder = pictures.folder
    lists = from_trec(
        read_file(folder / QRELS_FILE),
        [read_file(folder / RUNS_FOLDER / f"{name}.txt") for name in COMPARED_RUNS],
        collection_size=str(len(pictures.items)),
        topics=TOPICS,
        paired=True,
    )
    changes: dict[str, Any] = {
        **SMALL,
        "title": "Which list of pictures is better?",
        "minutes": 4,
        "show_items": True,
        "layout": GRID,
        "show_positions": False,
        "questions": len(TOPICS),
        # Each answers four of ten pairs: a verdict needs at least six topics.
        "design": "pool",
        "per_participant": 4,
    }
    return begin_plan("preference", Sources(lists=lists), changes)


def _labelling_plan(_: Pictures) -> Plan:
    title = "Which pictures match?"
    return kind_plan("labelling", topics=TOPICS[:3], title=title, minutes=15, **SMALL)


def _grouping_plan(pictures: Pictures) -> Plan:
    judged = Sources(judgements=read_file(pictures.folder / QRELS_FILE))
    matches = dict(KINDS["grouping"].begin(judged, {})["topics"])
    piles = [
        (pile.topic, [document for topic in topics for document in matches[topic]])
        for pile, topics in PILES.items()
    ]
    title = "Which pictures belong together?"
    return kind_plan("grouping", topics=piles, title=title, minutes=10, **SMALL)


# A topic of mixed pictures → the topics whose matches these are.
PILES = {
    Topic("pile-1", "The first pile of pictures", cluster_type="what they show"): TOPICS[:3],
    Topic("pile-2", "The second pile of pictures", cluster_type="what they show"): TOPICS[3:6],
}
DEMO_STUDIES = (
    DemoStudy(
        DEMO_SLUG,
        "Ordering: people put lists in order, best first.",
        "Do the practice question, then answer three of the ten questions.",
        _paper_plan,
    ),
    DemoStudy(
        PICTURES_SLUG,
        "Ordering, with pictures in place of numbers.",
        "Answer two questions, on a phone and on a laptop.",
        _picture_plan,
    ),
    DemoStudy(
        "two-lists",
        "Preference: people say which of two lists is better.",
        "Compare two lists four times.",
        _preference_plan,
    ),
    DemoStudy(
        "matching-pictures",
        "Labelling: people mark what matches what was searched for.",
        "Mark the pictures that match, and ask for more like them.",
        _labelling_plan,
    ),
    DemoStudy(
        "piles-of-pictures",
        "Grouping: people sort what belongs together.",
        "Sort a pile of pictures into groups, and give each group a name.",
        _grouping_plan,
        [*PILES],
    ),
    DemoStudy(
        VERBATIM_SLUG,
        "Ordering, in the words of the paper.",
        "Compare its words with those of the first study. It has no practice question.",
        _verbatim_plan,
    ),
)
