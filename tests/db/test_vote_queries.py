"""What an analysis reads of a database, against the same records read one by one."""

from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import event, text

from survey.core.agreement.answers import Answers, Response, seconds_taken
from survey.core.studies.rankings import Ranking
from survey.db import queries
from survey.db.models import Participant, StoredResponse
from survey.kinds.ordering import vote_queries
from survey.kinds.ordering.answer import OrderingAnswer
from survey.kinds.ordering.vote_queries import AnswerColumns
from survey.services.analysis.study_results import people_from
from tests.analyses import analyse_study
from tests.builders import a_ready_participant, an_open_study, save_answer
from tests.db.records import responses_of

OWN = Ranking.parse("B>A=C>D>E")


@pytest.fixture
def study(session):
    """Four participants: the second answers one question, the third none, all in odd ways."""
    made = an_open_study(session, practice=False)
    for number, given in enumerate(
        ([({1}, 2.5), ({2, 3}, None), (OWN, 0.1 + 0.2)], [(OWN, None)], [], [({3}, 7.0)] * 3)
    ):
        person = a_ready_participant(session, made, f"browser {number}")
        for position, (choice, seconds) in enumerate(given, 1):
            answer = OrderingAnswer(
                *((frozenset(), OWN) if choice is OWN else (frozenset(choice), None))
            )
            save_answer(session, person, position, answer, seconds)
    first, second, *_ = session.query(Participant).order_by(Participant.id)
    first.started_at = first.started_at.replace(second=10, microsecond=100)
    first.status = "complete"
    first.completed_at = (first.started_at + timedelta(seconds=90)).replace(microsecond=999_700)
    first.personal = {"age": 31, "education": 'Σχολείο\n\t\\ "x"'}
    second.excluded, second.exclude_reason = True, "asked to be"
    second.public_id = "P,Σ 1"  # as an imported study may have it
    session.flush()
    # As another program may write JSON, with line breaks and tabs in it.
    written = {"said": '{\n\t"age": 40}', "who": second.id}
    session.execute(text("UPDATE participant SET personal = :said WHERE id = :who"), written)
    session.expire_all()
    return made


def one_by_one(session, study):
    """The same answers as objects."""
    return Answers.of(
        Response(
            participant=who.public_id,
            question=shown.question.number,
            label_order=tuple(ordering.label_order),
            clicked=answer.clicked,
            own=answer.own,
            column_order=tuple(ordering.column_order),
            position=shown.position,
            seconds=seconds_taken(given.active_seconds, shown.shown_at, given.submitted_at),
        )
        for who, (shown, ordering), (given, answer) in responses_of(session, study.id)
    )


def told(answers):
    """Answers in a form that can be compared: NaN is equal to NaN."""
    columns = [answers.question, answers.label_order, answers.own, answers.column_order]
    decoded = [[(*one.values, None)[code] for code in one.codes] for one in columns]
    position = [answers.position.values[code] for code in answers.position.codes]
    numbers = [answers.first_answer, answers.clicked, answers.seconds, answers.people]
    return [*decoded, position, *(repr(one.tolist()) for one in numbers)]


@pytest.mark.parametrize("at_once", [1, 2, 2_000])
def test_columns_hold_the_records_however_many_come_at_once(session, study, at_once, monkeypatch):
    for name in ("VOTE_ROWS_AT_ONCE", "JOINED"):
        monkeypatch.setattr(vote_queries, name, at_once)
    people, answers = vote_queries.votes_of(session, study.id)
    assert told(answers) == told(one_by_one(session, study))
    expected = people_from(queries.participants_of(session, study.id))
    for name in ("ids", "is_test", "excluded", "complete"):
        assert getattr(people, name).tolist() == getattr(expected, name).tolist(), name
    assert np.array_equal(people.minutes, expected.minutes, equal_nan=True)
    assert people.personal_answers("education") == expected.personal_answers("education")
    assert sorted(people.personal_answers("age")) == [22, 22, 31, 40]


def _cells(questions, clicked):
    """The cells of answers at position 1, as the database packs them."""
    packed = [
        ((question * 2**16 + 1) * 2**8 + bits) * 2**3
        for question, bits in zip(questions, clicked, strict=True)
    ]
    many = len(questions)
    return packed, [1.0] * many, ['["AP"]\x1f[1]'] * many, []


def test_answers_are_ordered_by_question_whatever_the_numbers_of_rows():
    columns = AnswerColumns({5: 1, 4: 2, 3: 0})
    for person, questions in ((7, [4, 5]), (9, [4])):
        columns.add([person], [len(questions)], *_cells(questions, [1] * len(questions)))
    answers = columns.answers(np.array([9, 7, 8]), np.array(["a", "b", "c"]))
    given = [answers.question.values[code] for code in answers.question.codes]
    assert (answers.people.tolist(), answers.first_answer.tolist()) == (["a", "b"], [0, 1])
    assert given == [2, 1, 2]


def test_answers_of_a_participant_that_is_unknown_are_left_out():
    columns = AnswerColumns({3: 1})
    columns.add([7, 8], [1, 1], *_cells([3, 3], [1, 2]))
    answers = columns.answers(np.array([8]), np.array(["b"]))
    assert (answers.people.tolist(), answers.clicked.tolist()) == (["b"], [2])


def test_an_analysis_asks_the_database_as_often_for_many_answers_as_for_few(app, session, study):
    engine, asked = session.get_bind(), []
    event.listen(engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
    analyse_study(session, study)
    assert session.query(StoredResponse).count() == 7
    assert sum("response" in statement for statement in asked[:-1]) <= 1
    assert len(asked) - 1 <= 8, asked
