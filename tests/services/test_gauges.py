"""The numbers by which a survey is watched."""

import logging
from datetime import UTC, datetime, timedelta

from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from survey.app import current_gauges
from survey.db import queries
from survey.services.operations import gauges, upkeep
from tests.builders import SLUG, Visitor, an_open_study

STARTED = datetime(2027, 7, 1, tzinfo=UTC)


def values(found):
    return {name: value for name, (_, value) in found.items()}


def test_answers_and_size_are_those_of_the_database(app, session):
    an_open_study(session, SLUG, questions=2, practice=False)
    before = values(gauges.of_database(session))
    assert before["survey_answers_stored"] == 0
    Visitor(app.test_client(), SLUG).take_part()
    session.rollback()
    after = values(current_gauges(app))
    assert after["survey_answers_stored"] == 2
    pages = "SELECT pg_database_size(current_database())"
    if session.get_bind().dialect.name == "sqlite":
        pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    assert after["survey_database_bytes"] == session.execute(text(pages)).scalar() > 100_000


def test_background_work_is_late_once_an_hour_is_over(tmp_path, monkeypatch):
    moments = [STARTED]
    monkeypatch.setattr(upkeep, "now", lambda: moments[-1])

    def late():
        return values(gauges.of_background_work(tmp_path))["survey_background_work_late_seconds"]

    assert late() == 0  # no server has run
    upkeep.note_done(tmp_path, [])
    for hours, seconds in ((1, 0), (1.5, 1800), (4, 3 * 3600)):
        moments.append(STARTED + timedelta(hours=hours))
        assert late() == seconds
    upkeep.note_done(tmp_path, ["one-study"])  # the others alone are done
    assert late() == 3 * 3600
    upkeep.note_done(tmp_path, [])
    assert late() == 0


def test_a_database_that_cannot_be_read_leaves_the_other_numbers(app, monkeypatch, caplog):
    def fail(_):
        raise OperationalError("SELECT 1", {}, Exception("it is gone"))

    monkeypatch.setattr(queries, "all_answers", fail)
    with caplog.at_level(logging.WARNING):
        assert set(current_gauges(app)) == {"survey_background_work_late_seconds"}
    assert "The metrics lack the database" in caplog.text
