"""What commands do for one participant, and what they say where they cannot."""

import json

import pytest

from survey.db.models import Erasure, Event, Participant
from survey.services.participation import participants
from survey.services.studies import lifecycle
from tests.builders import a_ready_participant, an_open_study
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE


@pytest.fixture
def study(session):
    """An open study with a place for two."""
    return an_open_study(session, "a-study", participants=2)


@pytest.fixture
def person(session, study):
    participant = a_ready_participant(session, study)
    session.rollback()
    return participant.public_id


def events(session):
    session.rollback()
    listed = [(event.kind, event.detail) for event in session.query(Event).order_by(Event.id)]
    session.rollback()
    return listed


def test_people_are_listed_and_never_their_answers(run, session, study, person):
    assert f"{person}  question 1 of 3" in " ".join(run("study", "people", "a-study").split("  "))
    [row] = json.loads(run("study", "people", "a-study", "--json"))["participants"]
    assert (row["participant"], row["status"], row["answered"], row["asked"]) == (
        *(person, "started", 0),
        3,
    )


def test_a_slot_is_released_and_the_person_readmitted(run, session, study, person):
    assert participants.free_slots(session, study) == 1
    assert "holds no slot any more" in run("study", "release", "a-study", person, "--yes")
    session.expire_all()
    assert participants.free_slots(session, study) == 2
    again = run("study", "release", "a-study", person, "--yes", status=1)
    assert f"{person} is stopped and holds no slot to release." in again
    run("study", "readmit", "a-study", person)
    session.expire_all()
    assert participants.free_slots(session, study) == 1
    again = run("study", "readmit", "a-study", person, status=1)
    assert f"{person} is under way; only people who stopped or were screened out" in again
    assert events(session)[-2:] == [("released", person), ("readmitted", person)]


def test_no_one_is_readmitted_where_no_slot_is_free(run, session, study, person):
    run("study", "release", "a-study", person, "--yes")
    for browser in ("one", "two"):
        a_ready_participant(session, study, browser)
    session.rollback()
    refused = run("study", "readmit", "a-study", person, status=1)
    assert "All 2 slots of 'a-study' are taken" in refused


def test_who_was_screened_out_describes_themselves_again(run, session, study, person):
    participant = session.query(Participant).one()
    participant.status, participant.exclude_reason = "screened_out", participants.QUOTA_FULL
    session.commit()
    run("study", "readmit", "a-study", person)
    session.expire_all()
    participant = session.query(Participant).one()
    assert (participant.status, participant.described_at) == ("started", None)
    assert (participant.excluded, participant.exclude_reason) == (False, None)


def test_no_one_is_released_of_a_closed_study(run, session, study, person):
    lifecycle.close_study(session, study)
    refused = run("study", "release", "a-study", person, "--yes", status=1)
    assert "'a-study' is closed, so no one is under way." in refused


def test_an_exclusion_has_a_reason_and_is_taken_back(run, session, study, person):
    run("study", "exclude", "a-study", person, status=2)
    assert "Say why" in run("study", "exclude", "a-study", person, "--reason", " ", status=1)
    run("study", "exclude", "a-study", person.lower(), "--reason", "too fast")
    twice = run("study", "exclude", "a-study", person, "--reason", "again", status=1)
    assert f"{person} is excluded already: too fast." in twice
    run("study", "include", "a-study", person)
    twice = run("study", "include", "a-study", person, status=1)
    assert f"{person} is not excluded." in twice


def test_an_unknown_participant_is_named_with_who_was_probably_meant(run, person):
    mistyped = f"{person[:-1]}{'A' if person[-1] != 'A' else 'B'}"
    printed = run("study", "exclude", "a-study", mistyped, "--reason", "x", status=1)
    assert f"{mistyped} is not in the study 'a-study'. Did you mean {person}?" in printed
    printed = run("study", "code", "a-study", "P-NO\0BODY", status=1)
    assert "P-NO" in printed
    printed = run("study", "include", "a-study", "somebody", status=1)
    assert "`survey study people a-study` lists its participants." in printed


def test_erased_is_erased_and_the_log_does_not_say_who(run, session, study, person, empty_app):
    run("study", "exclude", "a-study", person, "--reason", "asked us to")
    out = run("study", "erase", "a-study", person, "--yes", "--json")
    assert json.loads(out) == {"study": "a-study", "erased": person}
    session.rollback()
    assert (session.query(Participant).count(), session.query(Erasure).count()) == (0, 1)
    log = events(session)
    assert log[-1] == ("erased", "")
    assert not any(person in detail for _, detail in log)


@pytest.mark.parametrize("act", ["release", "erase"])
def test_what_loses_something_is_asked_first(run, person, act):
    assert run("study", act, "a-study", person, "--json", status=2) == ""
    assert "[y/N]" in run("study", act, "a-study", person, status=1)
