"""The schema: migrations that match the models, constraints that hold, durable settings."""

from datetime import timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from survey.core.studies.rankings import Ranking
from survey.db import engine as opening
from survey.db import migration
from survey.db.models import Presentation, Revision, StoredResponse, now
from survey.db.models.base import Base
from survey.errors import SchemaError
from survey.kinds.ordering.answer import OrderingAnswer
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingRevision
from survey.services.operations.database import (
    begin_reading,
    require_current_schema,
    upgrade_database,
)
from survey.services.participation import participants
from survey.services.studies import lifecycle
from tests.builders import a_ready_participant, an_open_study, save_answer
from tests.tasks import words


def test_the_migrations_build_exactly_what_the_models_say(empty_app, engine):
    migration.upgrade(engine)
    assert migration.known_tables()  # the tables of kinds are made when they are asked for
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrating_down_and_up_again_gives_the_same_tables(app, engine):
    before = sorted(inspect(engine).get_table_names())
    migration.downgrade(engine, "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    upgrade_database(engine)
    assert sorted(inspect(engine).get_table_names()) == before


def test_a_study_that_admits_no_one_new_closes_after_48_hours_once_upgraded(session, engine):
    study = an_open_study(session)
    lifecycle.end_admission(session, study, hours=1)
    ended, slug = study.admission_ended_at, study.slug
    session.rollback()
    migration.downgrade(engine, "0026")
    upgrade_database(engine)
    session.expire_all()
    assert lifecycle.find_study(session, slug).closes_at == ended + timedelta(hours=48)


def test_upgrading_twice_changes_nothing(app, engine):
    newest = migration.newest_revision()
    assert upgrade_database(engine) == (newest, newest)


def test_tables_of_a_kind_from_outside_are_asked_for_and_made(app, engine, monkeypatch):
    words.register(monkeypatch)
    names = "words_presentation, words_response, words_revision"
    with pytest.raises(
        SchemaError, match=rf"lacks the tables {names}, of a kind .* `survey upgrade`"
    ):
        require_current_schema(engine)
    newest = migration.newest_revision()
    assert upgrade_database(engine) == (newest, newest)
    require_current_schema(engine)


def test_a_database_without_a_schema_is_refused_in_one_sentence(empty_app, engine):
    with pytest.raises(SchemaError, match=r"no survey database here yet; run `survey init`"):
        require_current_schema(engine)


def test_a_database_of_another_version_is_refused(app, engine):
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="at revision 9999, this version of the survey works"):
        require_current_schema(engine)


def test_sqlite_syncs_every_commit_and_keeps_foreign_keys(app, engine):
    if engine.dialect.name != "sqlite":
        pytest.skip("settings of SQLite")
    expected = {"foreign_keys": 1, "busy_timeout": 10_000}
    modern = tuple(map(int, opening.sqlite_library().sqlite_version.split("."))) >= (3, 51, 3)
    expected |= (
        {"journal_mode": "wal", "synchronous": 2}
        if modern
        else {
            "journal_mode": "delete",
            "synchronous": 3,
        }
    )
    with engine.connect() as connection:
        for pragma, value in expected.items():
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value


def test_showing_a_page_could_not_write_even_if_it_tried(session, engine):
    if engine.dialect.name != "sqlite":
        pytest.skip("the read-only transaction is SQLite's")
    an_open_study(session)
    begin_reading(session)
    session.execute(text("UPDATE study SET status = 'closed'"))
    with pytest.raises(RuntimeError, match="begun to read has changed rows"):
        session.commit()


def test_a_connection_that_could_only_read_is_not_used_again(app, engine):
    if engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL ends such connections itself")
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")  # as with files only to be read
        with pytest.raises(DBAPIError, match="readonly"):
            connection.exec_driver_sql("DELETE FROM study")
        assert connection.invalidated
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM study")


def test_times_come_back_with_their_zone(session):
    study = an_open_study(session)
    session.expire_all()
    assert study.opened_at.utcoffset().total_seconds() == 0
    assert abs((now() - study.opened_at).total_seconds()) < 60


def test_a_question_comes_back_as_it_was_drawn(session):
    study = an_open_study(session)
    drawn = study.plan.draw_questions()
    session.expire_all()
    assert lifecycle.questions_of(study, practice=True) == drawn


@pytest.fixture
def answered(session):
    """A participant, their first presentation and its stored answer."""
    study = an_open_study(session)
    participant = a_ready_participant(session, study)
    presentation = session.query(Presentation).filter_by(position=1).one()
    store(session, a_response(participant, presentation))
    session.commit()
    return participant, presentation


def a_response(participant, presentation, **values):
    return StoredResponse(
        **{
            "participant_id": participant.id,
            "question_id": presentation.question_id,
            "submitted_at": now(),
            **values,
        }
    )


def store(session, response, clicked=frozenset({1, 3}), own=None):
    """Add an answer to an ordering question, both of its rows."""
    session.add(response)
    session.flush()
    session.add(StoredOrderingAnswer(response_id=response.id, clicked=clicked, own=own))


def test_labels_and_rankings_come_back_as_they_were(session, answered):
    session.expire_all()
    stored = session.query(StoredOrderingAnswer).one()
    assert stored.clicked == {1, 3}
    stored.clicked, stored.own = frozenset(), Ranking.parse("B>A=C>D>E")
    session.commit()
    session.expire_all()
    assert str(session.query(StoredOrderingAnswer).one().own) == "B>A=C>D>E"


def refuses(session, constraint):
    """Check that the database itself refuses what the session holds, by this constraint."""
    with pytest.raises(IntegrityError, match=constraint):
        session.flush()
    session.rollback()


def test_a_second_answer_to_a_question_is_refused_by_the_database(session, answered):
    session.add(a_response(*answered))
    refuses(session, "uq_response|response.participant_id")


BOTH_OR_NONE = (
    {"clicked": frozenset(), "own": None},
    {"clicked": frozenset({1}), "own": Ranking.parse("A>B>C>D>E")},
)


@pytest.mark.parametrize("values", BOTH_OR_NONE)
def test_an_answer_is_columns_or_an_own_ranking_never_both_or_none(session, answered, values):
    participant, _ = answered
    second = session.query(Presentation).filter_by(position=2).one()
    store(session, a_response(participant, second), **values)
    refuses(session, "ordering_response_columns_or_own_ranking")


@pytest.mark.parametrize("values", BOTH_OR_NONE)
def test_so_is_every_version_of_it(session, answered, values):
    revision = Revision(
        response_id=session.query(StoredResponse).one().id, number=1, submitted_at=now()
    )
    session.add(revision)
    session.flush()
    session.add(StoredOrderingRevision(revision_id=revision.id, **values))
    refuses(session, "ordering_revision_columns_or_own_ranking")


def test_nobody_answers_what_they_were_not_shown(session, answered):
    _, presentation = answered
    study = presentation.question.study_id
    from survey.db.models import Study

    stranger = participants.begin(session, session.get(Study, study), "another", "k" * 32)
    session.add(a_response(stranger, presentation))
    refuses(session, "fk_response_presentation|FOREIGN KEY")


def test_a_question_is_presented_to_a_participant_in_one_way_only(session, answered):
    participant, presentation = answered
    session.add(
        Presentation(
            participant_id=participant.id,
            question_id=presentation.question_id,
            position=99,
        )
    )
    refuses(session, "uq_presentation|presentation.participant_id")


def test_questions_need_consent_and_an_exclusion_a_reason(session, answered):
    participant, _ = answered
    participant.excluded = True
    refuses(session, "exclusion_has_a_reason")
    participant.consented_at = participant.consent_id = None
    refuses(session, "no_questions_before_consent")


def test_revisions_of_an_answer_are_numbered_once(session, answered):
    stored = session.query(StoredResponse).one()
    for _ in range(2):
        session.add(
            Revision(
                response_id=stored.id,
                number=1,
                submitted_at=now(),
            )
        )
    refuses(session, "uq_revision|revision.response_id")


def test_deleting_a_participant_leaves_nothing_of_them(session, answered):
    participant, _ = answered
    answer = OrderingAnswer(frozenset({1}), None)
    save_answer(session, participant, 2, answer)
    tables = [*("presentation", "response", "revision"), "browser"]
    tables += [f"ordering_{name}" for name in tables[:3]]
    for table in tables:
        assert session.execute(text(f"SELECT count(*) FROM {table}")).scalar() > 0
    session.delete(participant)
    session.commit()
    for table in tables:
        assert session.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0


@pytest.mark.parametrize(
    ("uri", "read"),
    [
        ("sqlite:///x.db", "sqlite:///x.db"),
        ("postgresql://u:p@h/d", "postgresql+psycopg://u:p@h/d"),
        ("postgres://u:p@h/d", "postgresql+psycopg://u:p@h/d"),
        ("postgresql://u@/d?host=/run/pg", "postgresql+psycopg://u@/d?host=%2Frun%2Fpg"),
    ],
)
def test_database_addresses_are_read_as_people_write_them(uri, read):
    assert opening.database_url(uri).render_as_string(hide_password=False) == read


@pytest.mark.parametrize("uri", ["mysql://h/d", "nonsense"])
def test_other_databases_are_refused_naming_the_two_there_are(uri):
    with pytest.raises(ValueError, match="sqlite:///FILE or postgresql://"):
        opening.database_url(uri)
