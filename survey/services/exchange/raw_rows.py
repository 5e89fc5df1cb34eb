"""The rows of a study as the database holds them: of a kind that is not installed here, too.

They are no bundle: nothing replicates them. Whoever has the kind's package exports a bundle.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from survey.core.kinds import kind_name
from survey.db.engine import snapshot
from survey.db.models import Study
from survey.db.raw_queries import raw_rows
from survey.services.exchange.bundle import stable_json
from survey.services.exchange.tables import PACKAGES, STUDY_FILE, TIMES, batched, row_line, time_of


def write_rows(session: Session, study: Study, folder: Path, *, include_test: bool = False) -> None:
    """Write study.json and a CSV file for each table with rows of the study into a new folder.

    Without what identifies people at a platform, and without test participants unless they are to
    be included.
    """
    snapshot(session)
    folder.mkdir()
    facts = {
        **{name: getattr(study, name) for name in ("slug", "status", "digest")},
        **{name: time_of(getattr(study, name)) or None for name in TIMES},
        **{PACKAGES: study.packages, "plan": study.plan_json, "include_test": include_test},
    }
    (folder / STUDY_FILE).write_text(stable_json(facts))
    kind = str(kind_name(study.plan_json))
    for name, headings, rows in raw_rows(session, study.id, kind, include_test=include_test):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            file.write(row_line(headings))
            for lines in batched(map(row_line, map(_cells, rows))):
                file.writelines(lines)


def _cells(row: Iterable[Any]) -> list[Any]:
    return [json.dumps(each) if isinstance(each, dict | list) else each for each in row]
