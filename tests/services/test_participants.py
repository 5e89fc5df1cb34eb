"""A participant's way: where they are, how they come back, how they see the questions."""

import threading
from collections import Counter
from itertools import permutations
from types import SimpleNamespace

import pytest
from scipy.stats import chisquare
from sqlalchemy import text
from sqlalchemy.exc import NoResultFound

from survey import tokens
from survey.app import db
from survey.db.models import Participant
from survey.errors import NotAllowedError, NotFoundError
from survey.services.participation import answers, own_data, participants
from survey.services.participation.participant_list import list_participants
from survey.services.participation.participants import Arrival, ParticipantStep, progress_of
from survey.services.studies import lifecycle
from tests.builders import KEY, a_ready_participant, an_open_study
from tests.databases import ON_SQLITE
from tests.promises.filled import everything_in
from tests.rows import shown_rows


def test_a_browser_that_begins_twice_is_one_participant(session):
    study = an_open_study(session)
    first = participants.begin(session, study, "browser", KEY)
    assert participants.begin(session, study, "browser", KEY).id == first.id


def test_an_id_prefix_filters_the_rows_of_the_list_and_no_number(session):
    study = an_open_study(session)
    first = participants.begin(session, study, "one browser", KEY)
    participants.begin(session, study, "another browser", KEY)
    listed = list_participants(session, study, first.public_id)
    assert [shown.participant.public_id for shown in listed.counted.shown] == [first.public_id]
    assert (listed.counted.total, listed.counts["started"], listed.under_way) == (2, 2, 2)


def test_begin_pressed_ten_times_at_once_makes_one_participant(app, session):
    study_id = an_open_study(session).id
    session.close()
    start = threading.Barrier(10)

    def press():
        with app.app_context():
            start.wait()
            participants.begin(db.session, db.session.get(lifecycle.Study, study_id), "b", KEY)
            db.session.remove()

    threads = [threading.Thread(target=press) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.query(Participant).count() == 1


def test_a_row_id_that_another_participant_has_by_now_shows_nothing_of_them(session):
    """As after a restore beside a page that has read its participant before."""
    study = an_open_study(session)
    arrival = Arrival(parameters={"PROLIFIC_PID": "canary"})
    participants.begin(session, study, "browser", KEY, arrival)
    participant = a_ready_participant(session, study)
    plan = study.plan
    assert answers.all_presentations(session, plan, participant)
    assert participants.identity_of(session, participant) == arrival.parameters
    gone = SimpleNamespace(id=participant.id, study_id=study.id, public_id="P-GONE0000")
    assert answers.all_presentations(session, plan, gone) == []
    assert participants.identity_of(session, gone) == {}
    with pytest.raises(NotFoundError):
        answers.find_presentation(session, plan, gone, 1)
    with pytest.raises(NoResultFound):
        own_data.own_data(session, study, gone)


def test_the_way_goes_step_by_step(session):
    study = an_open_study(session)
    participant = participants.begin(session, study, "browser", KEY)
    steps = [progress_of(session, study.plan, participant).step]
    text = participants.consent_text(session, study)
    for go_on in (
        lambda: participants.agree(session, participant, text.digest),
        lambda: participants.store_personal_answers(session, study, participant, {}),
        lambda: participants.confirm_scenario(session, participant),
    ):
        go_on()
        steps.append(progress_of(session, study.plan, participant).step)
    assert steps == [
        ParticipantStep.CONSENT,
        ParticipantStep.ABOUT_YOU,
        ParticipantStep.SCENARIO,
        ParticipantStep.PRACTICE,
    ]


def test_agreeing_to_a_text_that_has_changed_since_is_not_consent(session):
    study = an_open_study(session)
    participant = participants.begin(session, study, "browser", KEY)
    assert not participants.agree(session, participant, "0" * 64)
    assert participant.consented_at is None


def test_declining_stores_no_consent_and_can_be_taken_back(session):
    study = an_open_study(session)
    participant = participants.begin(session, study, "browser", KEY)
    participants.decline(session, participant)
    assert progress_of(session, study.plan, participant).step == ParticipantStep.DECLINED
    participants.agree(session, participant, participants.consent_text(session, study).digest)
    assert progress_of(session, study.plan, participant).step == ParticipantStep.ABOUT_YOU


def test_reading_the_scenario_twice_draws_the_questions_once(session):
    study = an_open_study(session)
    participant = a_ready_participant(session, study)
    drawn = [(shown.id, drawn.label_order) for shown, drawn in shown_rows(session)]
    participants.confirm_scenario(session, participant)
    again = [(shown.id, drawn.label_order) for shown, drawn in shown_rows(session)]
    assert again == drawn
    assert len(drawn) == 3  # of the questions; practice has none


def test_a_presentation_holds_the_values_as_printed(session):
    study = an_open_study(session)
    a_ready_participant(session, study)
    rows = shown_rows(session)
    assert len(rows) == 3
    for presentation, drawn in rows:
        columns = presentation.question.content["columns"]
        assert drawn.shown == [columns[name]["shown"] for name in drawn.label_order]


@pytest.mark.slow
@ON_SQLITE
def test_every_measure_stands_behind_every_label_equally_often(session):
    study = an_open_study(session, questions=10, participants=60)
    for number in range(60):
        a_ready_participant(session, study, f"browser {number}")
    rows = [drawn for _, drawn in shown_rows(session)]
    labels = Counter(tuple(drawn.label_order) for drawn in rows)
    columns = Counter(tuple(drawn.column_order) for drawn in rows)
    orders = list(permutations(("AP", "NMRR", "MNRO")))
    assert sum(labels.values()) == 600
    assert chisquare([labels[order] for order in orders]).pvalue > 1e-4
    assert chisquare([columns[order] for order in permutations((1, 2, 3))]).pvalue > 1e-4


def test_finishing_too_early_is_refused(session):
    participant = a_ready_participant(session, an_open_study(session))
    with pytest.raises(NotAllowedError, match="still open"):
        participants.finish(session, participant)


@pytest.mark.parametrize("typed", ["{}", "  {} ", "lower {}", "spaced {}", "Greek {}"])
def test_the_resume_code_leads_back_from_another_browser(session, typed):
    study = an_open_study(session)
    participant = a_ready_participant(session, study)
    code = tokens.resume_code(KEY, participant.public_id)
    if typed.startswith("lower"):
        code = code.lower().replace("0", "o").replace("1", "l")
    elif typed.startswith("spaced"):
        code = code.replace("-", " ")
    elif typed.startswith("Greek"):
        code = code.translate(str.maketrans("ABEZHIKMNOPTYX", "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")).lower()
    found = participants.resume(session, study, code, "phone")
    assert found.id == participant.id
    for browser in ("phone", "browser"):
        back = participants.returning_participant(session, study, browser, KEY, Arrival())
        assert back.id == participant.id


def test_a_code_of_another_study_is_not_found(session):
    study, other = an_open_study(session), an_open_study(session, "other")
    participant = a_ready_participant(session, study)
    with pytest.raises(NotFoundError, match="does not belong to anyone"):
        participants.resume(session, other, tokens.resume_code(KEY, participant.public_id), "b")


def test_the_database_holds_neither_codes_nor_cookies(session):
    participant = a_ready_participant(session, an_open_study(session), "secret-cookie")
    code = tokens.resume_code(KEY, participant.public_id)
    for table in ("participant", "browser"):
        rows = str(session.execute(text(f"SELECT * FROM {table}")).all())
        assert code not in rows
        assert code.replace("-", "") not in rows
        assert "secret-cookie" not in rows


def test_a_closed_study_lets_nobody_begin(session):
    study = an_open_study(session)
    lifecycle.close_study(session, study)
    with pytest.raises(NotAllowedError, match="no more answers"):
        participants.begin(session, study, "browser", KEY)


@pytest.mark.parametrize("forms", [1, 2, 3, 4], ids=["consent", "about-you", "scenario", "start"])
def test_a_form_that_was_under_way_brings_nobody_back_who_has_stopped(session, forms):
    # Its page looked who it is before the other window's "Stop", and stores afterwards.
    study = an_open_study(session, f"stopped-{forms}")
    participant = participants.begin(session, study, "browser", KEY)
    digest = participants.consent_text(session, study).digest
    acts = [
        lambda: participants.agree(session, participant, digest),
        lambda: participants.store_personal_answers(session, study, participant, {"age": 22}),
        lambda: participants.confirm_scenario(session, participant),
        lambda: participants.start_questions(session, participant),
    ]
    for act in acts[: forms - 1]:
        act()
    own_data.stop(session, participant)
    before = everything_in(session.get_bind())
    acts[forms - 1]()
    session.rollback()
    assert everything_in(session.get_bind()) == before
    assert participant.status == "stopped"
