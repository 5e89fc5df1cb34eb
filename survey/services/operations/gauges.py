"""Numbers by which an administrator watches a survey, for Prometheus."""

from pathlib import Path

from sqlalchemy.orm import Session

from survey.db import queries
from survey.db.engine import begin_reading
from survey.services.operations.upkeep import seconds_late

Gauges = dict[str, tuple[str, float]]  # name → (what it is, value)


def of_background_work(instance: Path) -> Gauges:
    """Return how late it is."""
    meaning = "Seconds by which the hourly deletion of personal data that are due is late."
    return {"survey_background_work_late_seconds": (meaning, seconds_late(instance))}


def of_database(session: Session) -> Gauges:
    """Return what is stored, and its size."""
    begin_reading(session)
    return {
        "survey_answers_stored": ("Answers of all studies.", queries.all_answers(session)),
        "survey_database_bytes": ("Size of the database.", queries.database_bytes(session)),
    }
