"""``python -m benchmarks.speed.analysing URI``: a study's analysis in a process of its own.

All that ``survey analyse`` prints or hands out but the printing: tables, figures as JSON,
quality flags. Prints as JSON how long it took, how long the processor worked for it, and the
most memory, with a digest of the figures.
"""

import json
import sys
import time
from hashlib import sha256
from unittest.mock import patch

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from benchmarks.speed.crowd import SLUG
from benchmarks.speed.memory import peak_mb
from survey.core.agreement.answers import Answers, People
from survey.db import queries
from survey.db.engine import database_url, engine_options, prepare, snapshot
from survey.db.models import Study
from survey.kinds.ordering import vote_queries
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle import analyse_stored


def analysed(uri: str) -> dict[str, float | str]:
    """Analyse the crowd's study."""
    url, reading, read = database_url(uri), [0.0], vote_queries.votes_of
    engine = create_engine(url, **engine_options(url))
    prepare(engine)

    def timed(session: Session, study_id: int) -> tuple[People, Answers]:
        begun = time.perf_counter()
        votes = read(session, study_id)
        reading[0] = time.perf_counter() - begun
        return votes

    with Session(engine) as session, patch.object(vote_queries, "votes_of", timed):
        study = queries.find(snapshot(session), Study, slug=SLUG)
        if study is None:
            raise LookupError(f"there is no study {SLUG}")
        begun, worked = time.perf_counter(), time.process_time()
        results = analyse_stored(session, study, AnalysisOptions())
        list(results.own_sheets())
        figures = results.as_json()
        taken, worked = time.perf_counter() - begun, time.process_time() - worked
    engine.dispose()
    figures.pop("study")  # which version of the plan it was made with
    return {
        "seconds": taken,
        "worked": worked,
        "reading": reading[0],
        "peak": peak_mb(),
        "figures": sha256(json.dumps(figures).encode()).hexdigest(),
    }


if __name__ == "__main__":
    json.dump(analysed(sys.argv[1]), sys.stdout)
