"""Make a study from what a researcher has: files, a folder of pictures, other studies, a bundle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.resources import files as resources
from pathlib import Path
from typing import IO, Any, NamedTuple

from sqlalchemy.orm import Session

from survey.core.collections.runs import QRELS_FILE, RUNS_FOLDER
from survey.core.kinds import KINDS
from survey.core.text_input import as_slug
from survey.core.ways_in import AGAIN as AGAIN
from survey.core.ways_in import GROUPS as GROUPS
from survey.core.ways_in import Sources as Sources
from survey.core.ways_in import WayIn as WayIn
from survey.db.models import Researcher
from survey.db.models import Study as Study
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.collections import items as collection
from survey.services.collections import picture_folder
from survey.services.collections.item_files import files_in_zip, tidy_path
from survey.services.exchange.bundle import judgements_of, stream_zip_of_bytes
from survey.services.exchange.bundle_import import store_items
from survey.services.exchange.bundle_reader import read_bundle, require_bundle
from survey.services.exchange.input_files import Files, read_file
from survey.services.exchange.tables import Content
from survey.services.studies import lifecycle
from survey.services.studies.plans import PlanFile, TextFile
from survey.services.studies.recruitment import Recruitment

CLASSES = "classes.zip"  # an example made of the pictures that the survey comes with
CLASSES_SHOWN, PICTURES_EACH = ("apple", "bird", "boat", "cat"), 5
EXAMPLE_TYPES = {"zip": "application/zip", "csv": "text/csv", "yaml": "application/yaml"}

AddItems = Callable[[Session, Study], Any]
OTHERS = (  # the ways in that are no kind's
    WayIn(
        "copy", AGAIN, "A copy of a study", "The same plan, pictures and texts, no participants."
    ),
    WayIn(
        "file",
        AGAIN,
        "A plan as YAML",
        "A plan that was downloaded here, or that a co-author wrote.",
        examples=("plan.yaml",),
    ),
    WayIn(
        "bundle",
        AGAIN,
        "A bundle's design",
        "The plan of a study whose bundle you have, with its topics and texts, to run it with "
        "people of your own.",
        examples=("bundle.zip",),
    ),
)


class Collected(NamedTuple):
    """What a folder of pictures gives: the lists' sources, and how to add its pictures."""

    sources: Sources
    add_items: AddItems


def ways_in() -> dict[str, tuple[str, WayIn]]:
    """Return all cards of “New study”: name → (kind, card); "" for those that are no kind's."""
    ways = {way.name: (kind, way) for kind, declared in KINDS.items() for way in declared.ways_in}
    return ways | {way.name: ("", way) for way in OTHERS}


def address_of(text: str) -> str:
    """Return a typed text as an address: My Study 2026 becomes my-study-2026."""
    return as_slug(text) or text


def make(
    session: Session,
    researcher: Researcher | None,
    slug: str,
    plan_file: PlanFile,
    *,
    add_items: Sequence[AddItems] = (),
    who: str = accounts.COMMAND_LINE,
) -> tuple[Study, list[Any]]:
    """Store a draft with its items, fit its texts to them; return it and what ``add_items`` do.

    Deletes it again where its items cannot be added, so that the same can be tried again.
    """
    study = lifecycle.create_owned_study(
        session, researcher, slug, plan_file.plan, plan_file.recruitment
    )
    try:
        added = [add(session, study) for add in add_items]
        lifecycle.follow_items(session, study, who)
    except BaseException:  # Ctrl-C too
        session.rollback()
        lifecycle.delete(session, study, who)
        raise
    if not plan_file.has_minutes:
        lifecycle.promise_expected_minutes(session, study)
    return study, added


def judgements_and_size(
    session: Session, study: Study, *, include_test: bool = False
) -> tuple[TextFile, str]:
    """Return the judgements that a study's answers are, and how many documents were judged."""
    if study.status == "draft":
        text = (
            f"{study.slug} is still a draft and has no judgements; open it and collect them first."
        )
        raise SurveyError(text)
    judged = judgements_of(session, study, include_test=include_test)
    return judged, str(collection.items_summary(session, study)["items"])


def can_judge(study: Study) -> bool:
    """Return whether a study's results are judgements that another can begin with."""
    is_kind = study.is_readable and KINDS[study.plan.kind].makes_judgements
    return is_kind and lifecycle.shows_results(study)


def design_of(files: Files, name: str) -> tuple[PlanFile, AddItems]:
    """Return the plan of a bundle, with another seed where it draws, and how to add its items.

    Raises BundleError for a bundle that cannot be read.
    """
    require_bundle(files, name)
    content, _ = read_bundle(files)

    def add_items(session: Session, study: Study) -> None:
        _store_items_of(session, study, content)

    return PlanFile(content.plan, Recruitment(), has_minutes=True), add_items


def _store_items_of(session: Session, study: Study, content: Content) -> None:
    store_items(session, study, content)
    session.commit()


def collect(uploads: Mapping[str, IO[bytes]], folder: Path) -> Collected:
    """Make a test collection of pictures in folders by class; ``folder``: an empty one for it.

    ``uploads``: a zip, or pictures by their paths. As ``survey collect`` does: each class's first
    picture is a query. Raises SurveyError where no collection can be made.
    """
    pictures, made = folder / "pictures", folder / "collection"
    _unpack(uploads, pictures)
    collected = picture_folder.collect(_top_of(pictures), made)
    runs = sorted((made / RUNS_FOLDER).iterdir())
    if not collected.chosen:
        raise SurveyError("In no class do the five descriptors put the pictures in other orders.")
    sources = Sources(
        judgements=read_file(made / QRELS_FILE),
        runs=tuple(map(read_file, runs)),
        topics=tuple(collected.chosen),
        collection_size=str(len(collected.documents)),
        shows_documents=True,
    )

    def add_items(session: Session, study: Study) -> collection.Intake:
        needed = collection.needed_items(session, study)
        with collection.open_source(made, None, needed=needed) as source:
            return collection.take_in(
                *(session, study, source.files, source.items, accounts.COMMAND_LINE),
                topics=source.topics,
                intake=source.intake,
            )

    return Collected(sources, add_items)


def _unpack(uploads: Mapping[str, IO[bytes]], target: Path) -> None:
    """Write pictures, and those in zips, to a folder, each below its own path."""
    with ExitStack() as stack:
        for name, stream in uploads.items():
            files: Mapping[str, Callable[[], bytes]] = {name: stream.read}
            if name.lower().endswith(".zip"):
                files = stack.enter_context(files_in_zip(stream, name, []))
            for path, read in files.items():
                written = target / tidy_path(path)
                written.parent.mkdir(parents=True, exist_ok=True)
                written.write_bytes(read())


def _top_of(folder: Path) -> Path:
    """Return the folder of the classes: below those that hold a single folder and nothing else."""
    while True:
        inside = [*folder.iterdir()] if folder.is_dir() else []
        if len(inside) != 1 or not any(path.is_dir() for path in inside[0].glob("*")):
            return folder
        folder = inside[0]


def example_type(name: str) -> str:
    """Return the media type of an example by its name."""
    return EXAMPLE_TYPES.get(name.rpartition(".")[2], "text/plain")


def example_content(name: str) -> bytes | None:
    """Return an example file of a card, which works as it is when it is uploaded, or None."""
    if name == CLASSES:
        return b"".join(stream_zip_of_bytes(_example_classes()))
    folder = resources("survey.services") / "examples"
    names = {file.name for file in folder.iterdir()}
    return (folder / name).read_bytes() if name in names else None


def _example_classes() -> Iterator[tuple[str, bytes]]:
    albums = resources("survey.services.collections.albums") / "collection"
    for group in CLASSES_SHOWN:
        for number in range(1, PICTURES_EACH + 1):
            picture = (albums / f"{group}-{number}.webp").read_bytes()
            yield f"{group}/{number}.webp", picture
