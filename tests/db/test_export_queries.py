"""Rows of a bundle: as the models have them, and never all of them in memory."""

from itertools import starmap

import pytest
from sqlalchemy import text

from survey.core.studies.fields import ParticipantRecord
from survey.db import export_queries, queries
from survey.db.models import StoredResponse
from survey.kinds.ordering import queries as answer_queries
from tests.db.records import responses_of
from tests.services.exchange.conftest import a_study


def orders_of(row):
    """The three permutations that a row of ordering_presentation holds."""
    return tuple(row.label_order), tuple(row.column_order), tuple(row.list_order)


def test_rows_say_what_the_models_say(session):
    study = a_study(session, columns="after", shuffle_questions=True)
    session.query(StoredResponse).update({"active_seconds": 4.0})  # a whole number of JSON
    session.commit()
    found = [*answer_queries.answers_of(session, study.id, include_test=True)]
    assert [tuple(row) for row in found] == [
        (
            *(one.public_id, shown.question.number, shown.position, *orders_of(ordering)),
            *(answer.clicked, answer.own, shown.shown_at, given.submitted_at),
            *(given.active_seconds, given.revisions, one.is_test, one.excluded, given.asked),
            *(answer.typed, answer.scores_seen, given.reason),
        )
        for one, (shown, ordering), (given, answer) in responses_of(session, study.id)
    ]
    assert {type(row[10]) for row in found} == {float}
    versions = {text.id: text.version for text in study.consent_texts}
    rows = export_queries.people_of(session, study.id, include_test=True)
    stored = queries.participants_of(session, study.id)
    for record, one in zip(starmap(ParticipantRecord, rows), stored, strict=True):
        assert record.consent_version == versions.get(one.consent_id)
        for name in vars(record).keys() - {"consent_version"}:
            assert getattr(record, name) == getattr(one, name), name


@pytest.mark.slow
def test_test_data_stay_in_the_database_unless_asked_for(session):
    study = a_study(session, columns="after")
    for rows_of, there, left in (
        *((export_queries.people_of, 6, 5), (answer_queries.answers_of, 13, 10)),
        *((answer_queries.first_rankings_of, 13, 10), (export_queries.identities_of, 6, 5)),
    ):
        for include_test, number in ((True, there), (False, left)):
            assert len([*rows_of(session, study.id, include_test=include_test)]) == number


@pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
def test_postgresql_keeps_the_rows_that_were_not_asked_for_yet(session):
    study = a_study(session)
    rows = answer_queries.answers_of(session, study.id, include_test=True)
    next(rows)
    cursors = session.execute(text("SELECT statement FROM pg_cursors")).scalars().all()
    assert any("presentation" in statement for statement in cursors)
    rows.close()
