"""The slots of a study: counted as their participants change, at a cost that does not grow."""

from itertools import product

import pytest

from survey.db.models import Participant, SlotCount, now
from survey.services.participation import participants
from survey.services.studies import lifecycle
from tests.builders import a_ready_participant, an_open_study
from tests.slots import add_finished, cost_of


def counted(session, study):
    session.expire_all()
    stored = session.get(SlotCount, study.id)
    return stored.complete if stored else 0


def has_slot(participant, complete, excluded, is_test):
    participant.status = "complete" if complete else "stopped"
    participant.completed_at = now() if complete else None
    participant.excluded, participant.exclude_reason = excluded, "too fast"
    participant.is_test = is_test
    return complete and not excluded and not is_test


@pytest.mark.slow
def test_whatever_changes_the_counted_slots_are_those_of_the_rows(session):
    study = an_open_study(session, participants=50)
    states = list(product((True, False), repeat=3))
    for before, after in product(states, states):
        participant = session.get(Participant, a_ready_participant(session, study).id)
        has_slot(participant, *before)
        session.commit()
        holds = has_slot(participant, *after)
        session.commit()
        assert counted(session, study) == holds, (before, after)
        assert participants.free_slots(session, study) == 50 - holds
        session.delete(participant)
        session.commit()
        assert counted(session, study) == 0


def test_a_study_goes_with_its_count(session):
    study = an_open_study(session)
    add_finished(session, study, 30)
    assert counted(session, study) == 30
    lifecycle.close_study(session, study)
    lifecycle.delete(session, study, "Ada")
    assert (session.query(SlotCount).count(), session.query(Participant).count()) == (0, 0)


@pytest.mark.slow
def test_counting_slots_costs_the_same_however_many_have_finished(session):
    costs = []
    for finished in (30, 20_000):
        study = an_open_study(session, f"study-{finished}", participants=1_000_000)
        add_finished(session, study, finished)
        costs.append(cost_of(session, lambda study=study: participants.free_slots(session, study)))
    assert costs[1] <= 1.5 * costs[0] + 5
