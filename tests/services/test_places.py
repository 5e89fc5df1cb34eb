"""Who may begin: targets, places that go back, pools that stay balanced, orders of one's own."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session

from survey import tokens
from survey.db.models import Identity, Participant, Presentation, now
from survey.errors import IdTakenError, NotAllowedError, NotFoundError, StudyFullError
from survey.services.participation import participants
from survey.services.participation.participants import Arrival
from survey.services.studies import lifecycle, plans
from survey.services.studies.recruitment import Recruitment
from tests.builders import KEY, SLUG, a_plan, a_ready_participant, an_open_study
from tests.databases import ON_SQLITE


def begin(session, study, token, **arrival):
    return participants.begin(session, study, token, KEY, Arrival(**arrival))


def agree(session, study, token, **arrival):
    """Begin, and agree, which takes a place."""
    participant = begin(session, study, token, **arrival)
    text = participants.consent_text(session, study)
    assert participants.agree(session, participant, text.digest)
    return participant


def asked(session, participant):
    rows = session.query(Presentation).filter_by(participant_id=participant.id)
    return [(p.position, p.question.number) for p in rows.order_by(Presentation.position)]


def test_when_all_places_are_taken_latecomers_are_told(session):
    study = an_open_study(session, participants=2)
    agree(session, study, "one")
    late = begin(session, study, "four")
    agree(session, study, "two")
    with pytest.raises(StudyFullError, match="Enough people have taken part"):
        begin(session, study, "three")
    with pytest.raises(StudyFullError, match="Enough people have taken part"):
        participants.agree(session, late, participants.consent_text(session, study).digest)
    assert agree(session, study, "one").id  # whoever has a place keeps it


def test_beginning_takes_no_place_however_many_do(session):
    study = an_open_study(session, participants=2)
    for number in range(6):
        begin(session, study, f"browser {number}")
    assert participants.free_slots(session, study) == 2
    agree(session, study, "browser 5")
    assert participants.free_slots(session, study) == 1


def test_test_data_excluded_and_declined_participants_take_no_place(session):
    study = an_open_study(session, participants=1)
    agree(session, study, "bot", is_test=True)
    participants.decline(session, agree(session, study, "one"))
    excluded = agree(session, study, "two")
    lifecycle.exclude(session, study, excluded, "Ada", "a trial")
    assert participants.free_slots(session, study) == 1
    agree(session, study, "three")
    assert participants.free_slots(session, study) == 0


def test_a_place_that_was_left_goes_back_and_may_be_taken_up_again_while_one_is_free(session):
    study = an_open_study(session, participants=1)
    study.recruitment = Recruitment(slot_minutes=60).as_json()
    first = agree(session, study, "one")
    first.last_seen_at = now() - timedelta(minutes=61)
    session.commit()
    participants.require_slot(session, study, first)  # nobody else came
    agree(session, study, "two")
    with pytest.raises(StudyFullError, match="went to someone else"):
        participants.require_slot(session, study, first)


def test_who_does_nothing_after_agreeing_holds_a_place_for_twenty_minutes(session):
    study = an_open_study(session, participants=1)
    idle = agree(session, study, "one")
    ago = now() - timedelta(minutes=21)
    idle.consented_at = idle.last_seen_at = ago
    session.commit()
    participants.require_slot(session, study, idle)  # nobody else came
    idle.last_seen_at = ago + timedelta(seconds=30)  # something was saved
    session.commit()
    assert participants.free_slots(session, study) == 0
    idle.last_seen_at = ago
    session.commit()
    agree(session, study, "two")
    with pytest.raises(StudyFullError, match="went to someone else"):
        participants.require_slot(session, study, idle)


def test_whoever_finished_holds_a_place_for_good(session):
    study = an_open_study(session, participants=1)
    first = begin(session, study, "one")
    first.status, first.completed_at = "complete", now()
    first.last_seen_at = now() - timedelta(days=9)
    session.commit()
    assert participants.free_slots(session, study) == 0


def test_two_who_come_at_once_do_not_share_the_last_place(session, engine):
    study = an_open_study(session, participants=3)
    study_id = study.id
    session.rollback()

    def come(number):
        with Session(engine) as own:
            mine = own.get(type(study), study_id)
            try:
                agree(own, mine, f"browser {number}")
            except StudyFullError:
                return 0
            return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(12))) == 3
    agreed = session.query(Participant).filter(Participant.consented_at.is_not(None))
    assert agreed.count() == 3


def test_a_platforms_id_finds_a_place_and_never_a_person(session):
    study = an_open_study(session)
    sent = {"PROLIFIC_PID": "p1", "STUDY_ID": "s"}
    first = agree(session, study, "phone", parameters=sent)
    assert begin(session, study, "phone", parameters=sent).id == first.id
    with pytest.raises(IdTakenError, match="with the id in your link"):
        begin(session, study, "laptop", parameters=sent)
    assert participants.returning_participant(session, study, "laptop", KEY, Arrival()) is None
    participants.resume(session, study, tokens.resume_code(KEY, first.public_id), "laptop")
    assert begin(session, study, "laptop", parameters=sent).id == first.id
    assert begin(session, study, "laptop", parameters={"PROLIFIC_PID": "p2"}).id != first.id
    assert participants.identity_of(session, first) == sent


def test_beginning_with_the_id_of_a_person_keeps_nobody_out_and_opens_nothing_later(session):
    study = an_open_study(session)
    sent = {"PROLIFIC_PID": "p1"}
    forestalled = begin(session, study, "another's", parameters=sent).public_id
    person = agree(session, study, "the person's", parameters=sent)
    assert person.public_id != forestalled
    assert session.query(Participant).count() == 1
    known = participants.returning_participant(session, study, "another's", KEY, Arrival())
    assert known is None
    with pytest.raises(NotFoundError):
        participants.resume(session, study, tokens.resume_code(KEY, forestalled), "another's")


@pytest.mark.parametrize("typed", ["{{%PROLIFIC_PID%}}", "%SURVEY_CODE%", "${workerId}", "a%20b"])
def test_a_placeholder_that_was_not_replaced_makes_nobody_one(session, typed):
    study = an_open_study(session)
    for is_test in (False, True):
        with pytest.raises(NotAllowedError, match="a placeholder where your id should be"):
            begin(session, study, "one", parameters={"PROLIFIC_PID": typed}, is_test=is_test)
    assert session.query(Participant).count() == 0
    assert begin(session, study, "one", parameters={"STUDY_ID": typed})


def test_of_many_who_begin_at_once_with_one_id_one_takes_part(session, engine):
    study = an_open_study(session)
    study_id, sent = study.id, {"PROLIFIC_PID": "p1"}
    session.rollback()

    def come(number):
        with Session(engine) as own:
            token = f"browser {number}"
            try:
                begin(own, own.get(type(study), study_id), token, parameters=sent)
                arrived = participants.visit(own, SLUG, token)
                if arrived.participant is None:
                    return 0  # another began in between
                text = participants.consent_text(own, arrived.study)
                return participants.agree(own, arrived.participant, text.digest)
            except (IdTakenError, NoResultFound):
                return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(12))) == 1
    agreed = session.query(Participant).filter(Participant.consented_at.is_not(None)).one()
    assert participants.identity_of(session, agreed) == sent
    assert session.query(Identity).count() == 1


def test_an_id_can_be_required(session):
    study = an_open_study(session)
    study.recruitment = Recruitment(id_required=True).as_json()
    session.commit()
    with pytest.raises(NotAllowedError, match="carries an id"):
        begin(session, study, "one")
    assert begin(session, study, "one", parameters={"PROLIFIC_PID": "p1"})


def test_a_pool_asks_every_question_equally_often(session):
    study = an_open_study(
        session, questions=7, design="pool", per_participant=3, participants=100, practice=False
    )
    counts = Counter()
    for number in range(14):
        participant = a_ready_participant(session, study, f"browser {number}")
        numbers = [question for _, question in asked(session, participant)]
        assert len(set(numbers)) == 3
        counts.update(numbers)
        assert max(counts.values()) - min(counts[n] for n in range(1, 8)) <= 1
    assert set(counts.values()) == {6}


@pytest.mark.slow
def test_a_pool_gives_the_questions_of_those_who_left_to_others(session):
    study = an_open_study(
        session, questions=4, design="pool", per_participant=2, participants=100, practice=False
    )
    left = a_ready_participant(session, study, "one")
    gone = {question for _, question in asked(session, left)}
    lifecycle.exclude(session, study, left, "Ada", "left")
    counts = Counter()
    for number in range(6):
        participant = a_ready_participant(session, study, f"browser {number}")
        counts.update(question for _, question in asked(session, participant))
    assert set(counts.values()) == {3}
    assert gone <= set(counts)


@pytest.mark.slow
def test_questions_come_in_the_plans_order_or_in_one_of_each_participants_own(session):
    fixed = an_open_study(session, questions=6)
    shown = asked(session, a_ready_participant(session, fixed))
    assert shown == [(n, n) for n in range(1, 7)]
    shuffled = an_open_study(session, "shuffled", questions=6, shuffle_questions=True)
    orders = set()
    for number in range(8):
        participant = a_ready_participant(session, shuffled, f"browser {number}")
        positions, numbers = zip(*asked(session, participant), strict=True)
        assert positions == tuple(range(1, 7))
        assert sorted(numbers) == list(range(1, 7))
        orders.add(numbers)
    assert len(orders) > 4


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@ON_SQLITE
def test_whatever_the_pool_its_counts_never_differ_by_more_than_one(session, data):
    size = data.draw(st.integers(1, 8))
    each = data.draw(st.integers(1, size))
    slug = f"pool-{plans.fresh_seed()}"
    plan = a_plan(questions=size, design="pool", per_participant=each, practice=False)
    study = lifecycle.create_study(session, slug, plan)
    lifecycle.open_study(session, study)
    counts = Counter(dict.fromkeys(range(1, size + 1), 0))
    for number in range(data.draw(st.integers(1, 8))):
        participant = a_ready_participant(session, study, f"browser {number}")
        counts.update(question for _, question in asked(session, participant))
        assert max(counts.values()) - min(counts.values()) <= 1
