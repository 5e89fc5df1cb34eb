"""An answer is stored once, and before anyone says so."""

import threading

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from survey.app import db
from survey.core.studies.rankings import Ranking
from survey.db import queries
from survey.db.models import Participant, Presentation, Revision, StoredResponse, Study
from survey.errors import NotAllowedError, NotFoundError, StudyClosedError
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services.participation import answers, own_data, participants
from survey.services.participation.answers import Outcome
from survey.services.studies import lifecycle
from tests.builders import KEY, a_ready_participant, an_open_study
from tests.rows import answer_rows, revision_rows

FIRST, SECOND = OrderingAnswer(frozenset({1}), None), OrderingAnswer(frozenset({2}), None)
OWN = OrderingAnswer(frozenset(), Ranking.parse("B>A=C>D>E"))


@pytest.fixture
def participant(session):
    return a_ready_participant(session, an_open_study(session))


def save(session, participant, answer, key=None, position=1, seconds=None, onward_to=None):
    return answers.save_answer(
        session,
        KEY,
        participant.study.plan,
        participant,
        position,
        answer,
        fresh_key(session, participant) if key is None else key,
        seconds,
        onward_to,
    )


def fresh_key(session, participant, position=1):
    shown = answers.find_presentation(session, participant.study.plan, participant, position)
    return answers.next_key(KEY, shown)


def stored(session):
    session.expire_all()
    return session.query(StoredResponse).one()


def answered(session):
    """What the answer that counts holds of its kind's own."""
    session.expire_all()
    [(_, answer)] = answer_rows(session)
    return answer


def history(session):
    return revision_rows(session, stored(session).id)


def test_an_answer_is_stored_with_its_first_revision(session, participant):
    assert save(session, participant, OWN, seconds=3.5) == Outcome.SAVED
    assert answered(session).own == OWN.own
    assert stored(session).active_seconds == 3.5
    assert [revision.number for revision, _ in history(session)] == [1]


def test_the_same_form_sent_twice_stores_nothing_more(session, participant):
    key = fresh_key(session, participant)
    assert save(session, participant, FIRST, key) == Outcome.SAVED
    assert save(session, participant, FIRST, key) == Outcome.SAVED
    assert stored(session).revisions == 0
    assert session.query(Revision).count() == 1


def test_a_change_of_mind_is_a_revision_and_keeps_the_history(session, participant):
    save(session, participant, FIRST, seconds=2.0)
    save(session, participant, SECOND, seconds=1.0)
    assert answered(session).clicked == {2}
    assert (stored(session).revisions, stored(session).active_seconds) == (1, 3.0)
    assert [answer.clicked for _, answer in history(session)] == [{1}, {2}]


def test_an_old_form_does_not_undo_a_later_change(session, participant):
    old = fresh_key(session, participant)
    save(session, participant, FIRST, old)
    save(session, participant, SECOND)
    assert save(session, participant, FIRST, old) == Outcome.SAVED  # it was, once
    assert answered(session).clicked == {2}


def test_a_forgotten_second_tab_overwrites_nothing(session, participant):
    key = fresh_key(session, participant)
    save(session, participant, FIRST, key)
    assert save(session, participant, OWN, key) == Outcome.STALE
    assert answered(session).clicked == {1}


@pytest.mark.parametrize("key", ["", "0-00", "7-0123456789abcdef", "x", "-1-aa", "9" * 99, "٣-aa"])
def test_a_key_that_is_not_ours_stores_nothing(session, participant, key):
    assert save(session, participant, FIRST, key) == Outcome.STALE
    assert session.query(StoredResponse).count() == 0


def test_another_questions_key_stores_nothing(session, participant):
    key = fresh_key(session, participant, position=2)
    assert save(session, participant, FIRST, key) == Outcome.STALE


def test_saying_again_what_is_stored_is_saved_whatever_the_key(session, participant):
    save(session, participant, FIRST)
    assert save(session, participant, FIRST, "") == Outcome.SAVED


def second_question(session, participant):
    return queries.find(session, Presentation, participant_id=participant.id, position=2)


def test_the_next_question_is_shown_from_the_moment_of_the_answer(session, participant):
    assert second_question(session, participant).shown_at is None
    save(session, participant, FIRST, onward_to=2)
    following = second_question(session, participant)
    assert following.shown_at == stored(session).submitted_at


def test_going_back_shows_no_further_question(session, participant):
    save(session, participant, FIRST, onward_to=None)
    assert second_question(session, participant).shown_at is None


def test_after_handing_in_nothing_can_be_changed(session, participant):
    for position in (1, 2, 3):
        save(session, participant, FIRST, fresh_key(session, participant, position), position)
    participants.finish(session, participant)
    with pytest.raises(NotAllowedError, match="handed in"):
        save(session, participant, SECOND)


def test_what_happened_between_reading_and_storing_counts(session, participant, engine):
    key = fresh_key(session, participant)
    who, where = participant.id, participant.study_id
    session.rollback()
    with Session(engine) as other:
        own_data.stop(other, other.get(Participant, who))
    with pytest.raises(NotAllowedError, match="stopped"):
        save(session, participant, FIRST, key)
    session.rollback()
    with Session(engine) as other:
        lifecycle.close_study(other, other.get(Study, where))
    with pytest.raises(StudyClosedError):
        save(session, participant, FIRST, key)
    assert session.query(StoredResponse).count() == 0


def test_an_answer_that_is_refused_counts_as_no_visit(session, participant):
    seen = participant.last_seen_at
    assert save(session, participant, FIRST, "a key from elsewhere") == Outcome.STALE
    with pytest.raises(NotFoundError):
        save(session, participant, FIRST, "", position=99)
    session.commit()
    assert participant.last_seen_at == seen


def test_a_position_the_study_does_not_have_is_not_found(session, participant):
    with pytest.raises(NotFoundError, match="no such question"):
        answers.find_presentation(session, participant.study.plan, participant, 99)


def test_twenty_identical_posts_at_once_store_one_answer(app, session, participant):
    key, who = fresh_key(session, participant), participant.id
    session.close()
    outcomes, start = [], threading.Barrier(20)

    def post():
        with app.app_context():
            start.wait()
            mine = db.session.get(type(participant), who)
            outcomes.append(save(db.session, mine, FIRST, key))
            db.session.remove()

    run_all(post, 20)
    assert outcomes == [Outcome.SAVED] * 20
    assert session.execute(text("SELECT count(*) FROM response")).scalar() == 1
    assert session.execute(text("SELECT count(*) FROM revision")).scalar() == 1


def test_of_different_answers_at_once_one_is_stored_and_the_others_are_told(
    app, session, participant
):
    key, who = fresh_key(session, participant), participant.id
    session.close()
    outcomes, start = [], threading.Barrier(3)

    def post(label):
        with app.app_context():
            start.wait()
            mine = db.session.get(type(participant), who)
            outcomes.append(save(db.session, mine, OrderingAnswer(frozenset({label}), None), key))
            db.session.remove()

    run_all(post, 3, arguments=[(1,), (2,), (3,)])
    assert sorted(outcome.name for outcome in outcomes) == ["SAVED", "STALE", "STALE"]
    assert session.execute(text("SELECT count(*) FROM revision")).scalar() == 1


def run_all(target, count, arguments=None):
    threads = [
        threading.Thread(target=target, args=arguments[k] if arguments else ())
        for k in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
