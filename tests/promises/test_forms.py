"""Promise 5: a form survives whatever is sent."""

from itertools import cycle

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.promises.hall import Hall
from tests.promises.naughty import materials

AT_ONCE = 15  # different materials on one round through all doors


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def hall(app, session, engine):
    return Hall(app, session, engine)


def knock_everywhere(hall, rounds):
    """Send generated requests to every door; return how many, and count their answers."""
    answers = {}

    # Not shrunk: a round takes seconds, and the door that failed is named with what it got.
    @settings(max_examples=rounds, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.lists(materials, min_size=AT_ONCE, max_size=AT_ONCE))
    def knock(drawn):
        for number, (door, sent) in enumerate(zip(hall.doors, cycle(drawn), strict=False)):
            status = hall.knock(door, sent).status_code
            answers[status] = answers.get(status, 0) + 1
            assert status < 500, (door, sent)
            if number % 50 == 49:
                hall.forget()
        hall.forget()

    knock()
    return answers


def told(hall, answers):
    doors = len(hall.doors)
    counts = ", ".join(f"{count:,} × {status}" for status, count in sorted(answers.items()))
    return f"{sum(answers.values()):,} generated requests to {doors} doors were answered {counts}"


def test_whatever_is_sent_to_any_address_is_answered_without_a_fault(hall, measured):
    answers = knock_everywhere(hall, rounds=2)
    measured(told(hall, answers))


@pytest.mark.trial
def test_twenty_thousand_generated_requests_are_answered_without_a_fault(hall, measured):
    answers = knock_everywhere(hall, rounds=20_000 // len(hall.doors) + 1)
    assert sum(answers.values()) >= 20_000
    measured(told(hall, answers))
