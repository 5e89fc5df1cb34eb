"""The crowd that speed runs answer to: a real study, on either database."""

import io

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.speed import crowd
from survey.db.models import Study
from survey.services.exchange.bundle import stream_bundle
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import open_files

pytestmark = pytest.mark.slow


def test_a_crowd_is_a_study_that_replicates(database_uri, monkeypatch):
    monkeypatch.setattr(crowd, "DEALT", 40)
    monkeypatch.setattr(crowd, "AT_ONCE", 7)
    engine = crowd.open_database(database_uri)
    assert list(crowd.fill(engine, 20, questions=3)) == [7, 14, 20]
    with Session(engine) as session:
        study = session.scalars(select(Study)).one()
        bundle = io.BytesIO(b"".join(stream_bundle(session, study)))
    engine.dispose()
    # It raises an error for the first thing that does not agree.
    steps = [*replicate(open_files(bundle, "crowd.zip"))]
    assert "60 answers of 20 participants can be read" in steps
