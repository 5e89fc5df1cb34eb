"""Promise 2: what is stored is what a simple model of a participant says."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.promises.participant_machine import People
from tests.promises.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def world(app, session):
    made = World(app, session)
    yield made
    made.close()


def check(world, examples, steps):
    """Let hypothesis look for a way of using the survey that the model knows better."""
    run_state_machine_as_test(
        lambda: People(world), settings=settings(max_examples=examples, stateful_step_count=steps)
    )


def told(world):
    """Say in figures what was tried."""
    name = world.session.get_bind().dialect.name
    counts = ", ".join(f"{number:,} {what}" for what, number in world.counts.items())
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[name]
    return f"Model and survey agree on {kind} after each step of {counts}"


def test_what_is_stored_is_what_the_model_says(world, measured):
    check(world, examples=5, steps=25)
    measured(told(world))


@pytest.mark.trial
def test_what_is_stored_is_what_the_model_says_for_long(world, measured):
    check(world, examples=40, steps=40)
    measured(told(world))
