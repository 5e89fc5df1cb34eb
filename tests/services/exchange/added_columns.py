"""Use columns that only the model, the database and the record have; run by test_columns.py.

Prints what export, codebook, reading, import and own data make of them, as JSON.
"""

import json
import sys

from sqlalchemy import text
from sqlalchemy.orm import Session

from benchmarks.speed.crowd import open_database
from survey.core.studies.fields import TAKEN_COLUMNS
from survey.db.models import Participant
from survey.services import accounts
from survey.services.exchange.bundle_import import import_bundle
from survey.services.exchange.bundle_reader import read_bundle
from survey.services.exchange.input_files import BundleError
from survey.services.participation.own_data import own_data
from tests.services.exchange.changes import (
    described,
    rows_of,
    steps_of,
    with_cell,
    with_json,
    with_rows,
)
from tests.services.exchange.conftest import FINISHED, a_study, handed_out

TYPES = {"weather": "VARCHAR(8)", "visits": "INTEGER DEFAULT 1 NOT NULL"}


def refused(files):
    """The error of a bundle that cannot be read."""
    try:
        read_bundle(files)
    except BundleError as error:
        return str(error)
    return None


def without_new(rows):
    """The rows of a bundle from before there were these columns."""
    return [{name: cell for name, cell in row.items() if name not in TYPES} for row in rows]


def without_new_rows(rows):
    """The rows of a codebook from before there were these columns."""
    return [row for row in rows if row["column"] not in TYPES]


def main(folder):
    engine = open_database(f"sqlite:///{folder}/survey.sqlite3")
    with engine.begin() as connection:
        for name, kind in TYPES.items():
            connection.execute(text(f"ALTER TABLE participant ADD COLUMN {name} {kind}"))
    with Session(engine) as session:
        ada, _ = accounts.add_researcher(session, "Ada")
        study = a_study(session)
        one = session.query(Participant).filter_by(public_id=FINISHED).one()
        one.weather, one.visits = "=rain", 3
        session.commit()
        files = handed_out(session, study, include_test=True)
        imported = import_bundle(session, files, "z", "again", ada)
        again = handed_out(session, imported, include_test=True)
        earlier = with_rows(files, "participants.csv", without_new)
        earlier = with_rows(earlier, "codebook.csv", without_new_rows)
        earlier = with_json(earlier, "study.json", lambda of: of["texts"][FINISHED].pop("weather"))
        [old, *_] = read_bundle(earlier)[0].participants()
        data = own_data(session, study, one)
        result = {
            "rows": rows_of(files, "participants.csv"),
            "texts": json.loads(files["study.json"])["texts"][FINISHED],
            "codebook": [row for row in rows_of(files, "codebook.csv") if row["column"] in TYPES],
            "replicated": len(steps_of(files)),
            "same": again["participants.csv"] == files["participants.csv"],
            "refused": [
                refused(with_cell(files, "participants.csv", 2, "visits", cell))
                for cell in ("x", "")
            ],
            "earlier": [old.weather, old.visits],
            "earlier replicated": len(steps_of(described(earlier))),
            "own data": {name: data[name] for name in TYPES},
            "taken": [name for name in TYPES if name in TAKEN_COLUMNS],
        }
    engine.dispose()
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
