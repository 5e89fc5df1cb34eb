"""A study in which everything that can happen has happened, and its bundle."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from survey.app import create_app, db
from survey.config import Settings
from survey.core.studies.rankings import Ranking
from survey.db.models import Identity
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services.exchange import bundle as bundles
from survey.services.operations.database import upgrade_database
from survey.services.participation import participants
from survey.services.studies import lifecycle
from tests.builders import KEY, an_open_study, save_answer
from tests.rows import shown_rows
from tests.services.exchange.changes import unzipped

FIELDS = [
    {"name": "age", "label": "Your age", "kind": "number", "lowest": 18, "highest": 99},
    {
        "name": "education",
        "label": "Your education\nso far",
        "kind": "choice",
        "options": ["School", "-none-", "A, B; or\u2028C"],
    },
    {"name": "remark", "label": "Anything else", "kind": "text", "required": False},
]
BEGAN = datetime(2026, 3, 1, 9, 0, 0, 600_000, UTC)


def own(text):
    return OrderingAnswer(frozenset(), Ranking.parse(text))


def ticked(*labels):
    return OrderingAnswer(frozenset(labels), None)


FINISHED, ANOTHER, UNFINISHED, EXCLUDED, TEST, DECLINED = (f"P-{one * 8}" for one in "ABCDEF")
ANSWERS = {
    FINISHED: [ticked(1), ticked(1, 3), own("B>A=C>D>E")],
    ANOTHER: [ticked(2), own("E>D>C>B>A"), ticked(1, 2, 3)],
    UNFINISHED: [ticked(3)],
    EXCLUDED: [ticked(1), ticked(1), ticked(1)],
    TEST: [ticked(2), ticked(2), ticked(2)],
    DECLINED: [],
}
PERSONAL = {
    FINISHED: {"age": 22, "education": "-none-", "remark": "=1+1"},
    ANOTHER: {"age": 35, "education": "A, B; or\u2028C", "remark": '"so", he\r\nsaid\rlow'},
    UNFINISHED: {"age": 41, "education": "School"},
    EXCLUDED: {"age": 29, "education": "School", "remark": "'＝quoted already"},
    TEST: {"age": 50, "education": "School", "remark": "-5"},
}


@pytest.fixture
def database_uri(tmp_path):
    """One kind of database: what is tested here are files. The pages' tests use both kinds."""
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def study(session):
    """A closed study with six participants, each of another kind."""
    return a_study(session)


@pytest.fixture(scope="session")
def bundle(tmp_path_factory):
    """The bundle of such a study, unpacked; made once, since no test changes it in place."""
    folder = tmp_path_factory.mktemp("bundle")
    app = create_app(Settings(folder, f"sqlite:///{folder / 'survey.sqlite3'}", KEY))
    with app.app_context():
        engine = db.engine
    upgrade_database(engine)
    with Session(engine) as session:
        files = handed_out(session, a_study(session))
    engine.dispose()
    return files


def a_study(session, **changes):
    """A closed study that those above took part in."""
    study = an_open_study(session, personal_fields=FIELDS, **changes)
    for public_id in reversed(ANSWERS):  # exports are in another order than the database
        _take_part(session, study, public_id)
    lifecycle.close_study(session, study, "Ada")
    return study


def handed_out(session, study, **wanted):
    """The files of a study's bundle."""
    return unzipped(b"".join(bundles.stream_bundle(session, study, **wanted)))


def _take_part(session, study, public_id):
    place = list(ANSWERS).index(public_id)
    one = participants.begin(session, study, public_id, KEY)
    one.public_id, one.is_test = public_id, public_id == TEST
    one.started_at = BEGAN + timedelta(minutes=place)
    session.add(
        Identity(
            participant_id=one.id,
            study_id=study.id,
            external_id=f"={public_id}",
            parameters={"STUDY_ID": 'a "b", c', "PROLIFIC_PID": f"={public_id}"},
        )
    )
    session.commit()
    if public_id == DECLINED:
        participants.decline(session, one)
        return
    participants.agree(session, one, participants.consent_text(session, study).digest)
    participants.store_personal_answers(session, study, one, PERSONAL[public_id])
    participants.confirm_scenario(session, one)
    for position, answer in enumerate(ANSWERS[public_id], 1):
        _answer(session, study, one, position, answer)
    if study.plan.closing_questions:
        closing = {field.name: "so" for field in study.plan.closing_questions}
        participants.store_closing_answers(session, one, closing)
    if len(ANSWERS[public_id]) == 3:
        participants.finish(session, one)
        one.completed_at = one.started_at + timedelta(minutes=10 + place, milliseconds=700)
        session.commit()
    if public_id == EXCLUDED:
        lifecycle.exclude(session, study, one, "Ada", "+ clicked\nthrough")


def _answer(session, study, participant, position, answer):
    if study.plan.columns == "after":
        first = {"ranked_first": Ranking.parse("A>B>C>D=E"), "ranked_at": BEGAN}
        [(_, row)] = shown_rows(session, participant_id=participant.id, position=position)
        for name, value in first.items():
            setattr(row, name, value)
        session.commit()
    seconds = None if position == 2 else 2.5 + position
    save_answer(session, participant, position, answer, seconds)
