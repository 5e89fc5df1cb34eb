"""The studies of ``survey serve --demo``: the paper's in two wordings, and one with pictures."""

from importlib.resources import as_file, files

from sqlalchemy.orm import Session

from survey.core.collections.runs import QRELS_FILE, RUNS_FOLDER
from survey.db.engine import lock_globally
from survey.db.models import Study
from survey.services import accounts
from survey.services.collections import items
from survey.services.exchange.input_files import read_file
from survey.services.studies import lifecycle
from survey.services.studies.plans import as_fields, from_trec, preset_plan

# The demo draws the same lists everywhere, so that people can talk about them.
DEMO_SLUG = "five-systems"
# In 3 of its 10 questions two measures order the lists alike, as in 3 of the paper's sets.
DEMO_SEED = 2039
VERBATIM_SLUG = "five-systems-as-printed"
PICTURES_SLUG = "five-systems-in-pictures"
PICTURES_SEED = 2040
DEMO_CONTACT = {
    "asked_by": "no real study: this is the demo of a survey program",
    "contact": "the person who showed you this demo",
}
NO_ADDRESS = "a demo has no address to ask at"  # why it opens
# Those in which the measures contradict each other most, see ``picture_folder.choose_topics``.
TOPICS = (
    *("arches-1", "brick-1", "camera-1", "china-1", "clock-1"),
    *("coffee-1", "coins-1", "grass-1", "petra-1", "tissue-1"),
)


def ensure_studies(session: Session) -> Study:
    """Create and open the studies if there is no study; return an open study, else the first."""
    lock_globally(session)  # else servers that start together would create them twice
    existing = [*lifecycle.all_studies(session)]
    if not existing:
        for slug, preset in ((DEMO_SLUG, "mnro"), (VERBATIM_SLUG, "mnro-verbatim")):
            plan = preset_plan(preset, seed=DEMO_SEED, **DEMO_CONTACT)
            existing.append(lifecycle.create_study(session, slug, plan))
            lifecycle.open_study(session, existing[-1], anyway=NO_ADDRESS)
        create_picture_study(session)
    return next((study for study in existing if study.status == "open"), existing[0])


def create_picture_study(session: Session) -> None:
    """Create and open the study with the pictures that come along."""
    with as_file(files("survey.services.collections.textures") / "collection") as folder:
        lists = from_trec(
            read_file(folder / QRELS_FILE),
            [read_file(path) for path in sorted((folder / RUNS_FOLDER).iterdir())],
            collection_size="100",
            topics=TOPICS,
        )
        fields = as_fields(lists) | DEMO_CONTACT
        plan = preset_plan("pictures", seed=PICTURES_SEED, **fields)
        study = lifecycle.create_study(session, PICTURES_SLUG, plan)
        with items.open_source(folder, None) as source:
            items.take_in(
                session,
                study,
                source.files,
                source.items,
                accounts.COMMAND_LINE,
                topics=source.topics,
            )
    lifecycle.open_study(session, study, anyway=NO_ADDRESS)
