"""Bundles of the same study at several sites, with planned votes, and of others."""

from sqlalchemy.orm import Session

from survey.app import create_app, db
from survey.config import Settings
from survey.db.models import Study
from survey.services import accounts
from survey.services.exchange import bundle as bundles
from survey.services.operations.database import upgrade_database
from tests.builders import KEY
from tests.services.exchange.changes import unzipped
from tests.voted import CLEAR, UNDECIDED, a_closed_study

# Who is at which site: its people's votes, see ``tests.voted``; other seeds below.
VOTES = {
    "rome": CLEAR,
    "lyon": CLEAR[2:] + UNDECIDED[:2],
    "oslo": UNDECIDED + CLEAR[:2],
    "bern": CLEAR[:3] + UNDECIDED[:3],
    "kyiv": UNDECIDED[1:] + CLEAR[:4],
}
SEEDS = {"six": 6, "seven": 7, "eight": 8, "nine": 9}


def site_bundles(folder):
    """Return the bundle of each site, unpacked, by its name."""
    app = create_app(Settings(folder, f"sqlite:///{folder / 'survey.sqlite3'}", KEY))
    with app.app_context():
        engine = db.engine
    upgrade_database(engine)
    with Session(engine) as session:
        accounts.add_researcher(session, "Ada")
        owner = accounts.find_researcher(session, "Ada")
        studies = {
            name: a_closed_study(session, owner, name, votes).id for name, votes in VOTES.items()
        }
        for name, seed in SEEDS.items():
            votes = CLEAR[: seed - 2]
            studies[name] = a_closed_study(session, owner, name, votes, seed=seed).id
    with Session(engine) as session:
        files = {
            name: unzipped(b"".join(bundles.stream_bundle(session, session.get(Study, study))))
            for name, study in studies.items()
        }
    engine.dispose()
    return files
