"""When a study's participants began and finished, as a figure and its table."""

from datetime import UTC, datetime, timedelta

import pytest

from survey import figures
from survey.services.participation import participants
from survey.services.participation.participant_list import MOST_INTERVALS, arrivals_of
from tests.builders import KEY, an_open_study

START = datetime(2026, 3, 1, 9, 59, tzinfo=UTC)


def begun(session, study, number, after, minutes=None):
    """A participant who began some time after START, and took so many minutes to finish."""
    participant = participants.begin(session, study, f"browser {number}", KEY)
    participant.started_at = START + after
    if minutes:
        participant.status, participant.completed_at = (
            "complete",
            participant.started_at + timedelta(minutes=minutes),
        )
    session.commit()
    return participant


def test_arrivals_count_who_had_begun_and_finished_by_when(session):
    study = an_open_study(session)
    assert arrivals_of(session, study).why == "no one who counts has begun"
    begun(session, study, 1, timedelta(0), minutes=20)
    begun(session, study, 2, timedelta(minutes=30, seconds=59.9))
    begun(session, study, 3, timedelta(minutes=31), minutes=1)
    begun(session, study, 4, timedelta(minutes=40)).is_test = True
    excluded = begun(session, study, 5, timedelta(minutes=50), minutes=9)
    excluded.excluded, excluded.exclude_reason = True, "clicked through"
    session.commit()
    exhibit = arrivals_of(session, study)
    assert exhibit.rows == (
        ("2026-03-01 09:59", 0, 0),
        ("2026-03-01 10:00", 1, 0),
        ("2026-03-01 10:20", 1, 1),
        ("2026-03-01 10:30", 2, 1),
        ("2026-03-01 10:31", 3, 1),
        ("2026-03-01 10:32", 3, 2),
    )
    assert exhibit.alternative == (
        "From 2026-03-01 09:59 to 2026-03-01 10:32 UTC, 3 participants began and 2 finished."
    )
    drawing = figures.as_svg(exhibit)
    assert 'role="img"' in drawing
    assert f">{exhibit.alternative}</desc>" in drawing


@pytest.mark.parametrize(("days", "step"), [(0.5, 15), (10, 6 * 60), (300, 7 * 24 * 60)])
def test_a_longer_study_is_counted_by_longer_intervals(session, days, step):
    study = an_open_study(session)
    begun(session, study, 1, timedelta(0), minutes=5)
    begun(session, study, 2, timedelta(days=days))
    first, *_, last = (datetime.fromisoformat(row[0]) for row in arrivals_of(session, study).rows)
    minutes = (last - first) / timedelta(minutes=1)
    assert minutes % step == 0
    assert minutes / step <= MOST_INTERVALS + 1
