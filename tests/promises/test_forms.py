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


def knock(hall, doors, rounds, answers):
    """Send generated requests to these doors, some to each, and count the answers."""

    # Not shrunk: a round takes seconds, and the door that failed is named with what it got.
    @settings(max_examples=rounds, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.lists(materials, min_size=AT_ONCE, max_size=AT_ONCE))
    def one_round(drawn):
        for number, (door, sent) in enumerate(zip(doors, cycle(drawn), strict=False), 1):
            status = hall.knock(door, sent).status_code
            answers[status] = answers.get(status, 0) + 1
            assert status < 500, (door, sent)
            if number % 25 == 0:
                hall.forget()
        hall.forget()

    one_round()


def told(hall, answers):
    doors, forms = len(hall.doors), len(hall.desks())
    counts = ", ".join(f"{count:,} × {status}" for status, count in sorted(answers.items()))
    return (
        f"{sum(answers.values()):,} generated requests to {doors} doors, with {forms} forms "
        f"behind them, were answered {counts}"
    )


def test_whatever_is_sent_to_any_address_is_answered_without_a_fault(hall, measured):
    answers = {}
    knock(hall, hall.doors, rounds=2, answers=answers)
    knock(hall, hall.desks(), rounds=10, answers=answers)
    measured(told(hall, answers))


@pytest.mark.trial
def test_twenty_thousand_generated_requests_are_answered_without_a_fault(hall, measured):
    answers = {}
    knock(hall, hall.doors, rounds=8, answers=answers)
    left = 20_000 - sum(answers.values())
    knock(hall, hall.desks(), rounds=left // len(hall.desks()) + 1, answers=answers)
    assert sum(answers.values()) >= 20_000
    measured(told(hall, answers))
