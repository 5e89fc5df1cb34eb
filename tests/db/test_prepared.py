"""Prepared statements do what SQLAlchemy would do with them, on either database."""

import pytest
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from survey.core.studies.rankings import Ranking
from survey.db.engine import Prepared
from survey.db.models import Participant, Presentation, StoredResponse, Study, now
from survey.kinds.ordering.models import StoredOrderingAnswer
from tests.builders import a_ready_participant, an_open_study
from tests.databases import ON_SQLITE

OWN = Ranking.parse("B > A = C > D > E")


@pytest.fixture
def someone(session):
    return a_ready_participant(session, an_open_study(session))


def an_answer(participant, question_id, **values):
    said = {"submitted_at": now(), "revisions": 0}
    return {"participant_id": participant.id, "question_id": question_id, **said, **values}


def question_of(session, participant):
    shown = select(Presentation.question_id).where(
        Presentation.participant_id == participant.id, Presentation.position == 1
    )
    return session.scalar(shown)


INSERT = Prepared(insert(StoredResponse.__table__).returning(StoredResponse.id))
INSERT_ORDERING = Prepared(insert(StoredOrderingAnswer.__table__))


def test_what_is_written_reads_as_the_objects_have_it(session, someone):
    given = an_answer(someone, question_of(session, someone))
    [made] = INSERT.rows(session, given)
    answer = {"response_id": made.id, "own": OWN, "clicked": frozenset(), "typed": False}
    INSERT_ORDERING.run(session, answer)
    session.commit()
    stored = session.get(StoredResponse, made.id)
    assert {name: getattr(stored, name) for name in given} == given
    ordering = session.get(StoredOrderingAnswer, made.id)
    assert {name: getattr(ordering, name) for name in answer} == answer


def test_rows_have_the_values_that_sqlalchemys_have(session, someone):
    wanted = select(*Participant.__table__.c).where(Participant.id == bindparam("who"))
    [prepared] = Prepared(wanted).rows(session, {"who": someone.id})
    assert tuple(prepared) == tuple(session.execute(wanted, {"who": someone.id}).one())
    assert prepared.started_at == someone.started_at


def test_where_nothing_is_found_there_is_no_row(session, someone):
    wanted = Prepared(select(Study.slug).where(Study.id == bindparam("study")))
    assert wanted.first(session, {"study": 10**9}) is None
    assert wanted.first(session, {"study": someone.study_id}).slug


def test_what_was_written_is_gone_when_the_transaction_is_rolled_back(session, someone):
    before = someone.last_seen_at
    seen = Prepared(
        update(Participant.__table__).where(Participant.__table__.c.id == bindparam("who"))
    )
    seen.run(session, {"who": someone.id, "last_seen_at": now()})
    session.rollback()
    assert someone.last_seen_at == before


def test_an_error_is_sqlalchemys_and_repeats_no_value(session, someone):
    given = an_answer(someone, question_of(session, someone))
    INSERT.rows(session, given)
    with pytest.raises(IntegrityError) as refused:
        INSERT.rows(session, given)
    assert str(given["submitted_at"].year) not in str(refused.value).replace("sqlalche.me", "")
    session.rollback()
    assert INSERT.rows(session, given)


@ON_SQLITE
def test_a_connection_that_could_only_read_is_let_go(session, someone):
    given = an_answer(someone, question_of(session, someone))
    session.rollback()
    driver = session.connection().connection.driver_connection
    driver.execute("PRAGMA query_only = ON")  # as with a file that can only be read
    with pytest.raises(OperationalError, match="readonly"):
        INSERT.rows(session, given)
    session.rollback()
    assert session.connection().connection.driver_connection is not driver
    assert INSERT.rows(session, given)
