"""Writes that meet another write, or rows that a restored backup has exchanged."""

from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session

from survey import tokens
from survey.db import participant_queries
from survey.db.models import Guest, Membership, Participant, Researcher, Study, now
from survey.errors import NotFoundError, SurveyError
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.participation import answers, own_data, participants
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import Recruitment
from tests.at_once import AtOnce
from tests.builders import KEY, SLUG, Visitor, a_plan, a_ready_participant, an_open_study
from tests.promises.filled import everything_in
from tests.web.desk import Desk

MOST_STATEMENTS = 12


@pytest.fixture
def record(session):
    """What a request had read of a participant whose row id is another's now."""
    study = an_open_study(session, practice=False)
    a_ready_participant(session, study)
    token = tokens.hash_token("browser")
    found = participant_queries.visit(session, SLUG, token).participant
    names = {name: getattr(found, name) for name in found.__dataclass_fields__}
    session.rollback()
    return SimpleNamespace(**names | {"public_id": "P-ERASED00"})


WRITES = {
    "agree": lambda session, study, record, _: participants.agree(
        session, record, participants.consent_text(session, study).digest
    ),
    "decline": lambda session, _, record, __: participants.decline(session, record),
    "about you": lambda session, study, record, _: participants.store_personal_answers(
        session, study, record, {"age": 99}
    ),
    "scenario": lambda session, _, record, __: participants.confirm_scenario(session, record),
    "start": lambda session, _, record, __: participants.start_questions(session, record),
    "check": lambda session, study, record, _: participants.store_check(
        session, study, record, is_right=True
    ),
    "closing": lambda session, _, record, __: participants.store_closing_answers(
        session, record, {"what": "mine"}
    ),
    "finish": lambda session, _, record, __: participants.finish(session, record),
    "stop": lambda session, _, record, __: own_data.stop(session, record),
    "erase": lambda session, study, record, folder: own_data.erase(session, study, record, folder),
    "answer": lambda session, study, record, _: answers.save_answer(
        session, KEY, study.plan, record, 1, OrderingAnswer(frozenset({1}), None), "1-x"
    ),
    "exclude": lambda session, study, record, _: lifecycle.exclude(
        session, study, record, "Ada", "too fast"
    ),
    "include": lambda session, study, record, _: lifecycle.include(session, study, record, "Ada"),
}


def test_no_write_reaches_the_row_of_another_participant(session, engine, record, tmp_path):
    before = everything_in(engine)
    for name, write in WRITES.items():
        study = lifecycle.find_study(session, SLUG)
        with pytest.raises((NoResultFound, NotFoundError)):
            write(session, study, record, tmp_path)
        session.rollback()
        assert everything_in(engine) == before, name


def test_nobody_begins_in_a_study_that_has_the_row_of_another(session):
    study = an_open_study(session)
    was = SimpleNamespace(id=study.id, slug="the-study-before", plan=study.plan)
    with pytest.raises(NoResultFound):
        participants.begin(session, was, "browser", KEY)
    session.rollback()
    assert session.query(Participant).count() == 0


@pytest.fixture
def owners(session):
    """Ada and Bob, who own the same study."""
    ada, bob = (accounts.add_researcher(session, name)[0] for name in ("Ada", "Bob"))
    study = lifecycle.create_owned_study(session, ada, SLUG, a_plan(), Recruitment())
    accounts.share(session, study, bob, "owner")
    session.commit()
    return ada.id, bob.id


def removing(engine, researcher_id):
    def remove():
        with Session(engine) as mine:
            study = lifecycle.find_study(mine, SLUG)
            accounts.unshare(mine, study, accounts.member_of(mine, study, researcher_id), "Ada")
            mine.commit()

    return remove


def demoting(engine, researcher_id):
    def demote():
        with Session(engine) as mine:
            study = lifecycle.find_study(mine, SLUG)
            accounts.share(mine, study, mine.get(Researcher, researcher_id), "viewer")
            mine.commit()

    return demote


@pytest.mark.slow
@pytest.mark.parametrize("leave", [removing, demoting])
def test_two_owners_who_remove_each_other_leave_one(session, engine, owners, leave):
    ada, bob = owners
    session.close()
    both = AtOnce(engine)
    for at in range(1, MOST_STATEMENTS):
        results = both.run(removing(engine, bob), leave(engine, ada), at)
        session.rollback()
        assert session.query(Membership).filter_by(role="owner").count() == 1
        assert sum(isinstance(result, SurveyError) for result in results) == 1
        if not both.reached:
            return
        study = lifecycle.find_study(session, SLUG)
        for researcher_id in owners:
            accounts.share(session, study, session.get(Researcher, researcher_id), "owner")
        session.commit()


def creating(engine, slug):
    def create():
        with Session(engine) as mine:
            lifecycle.create_study(mine, slug, a_plan())

    return create


@pytest.mark.slow
def test_the_same_address_at_once_is_refused_in_a_sentence(session, engine):
    session.close()
    both = AtOnce(engine)
    for at in range(1, MOST_STATEMENTS):
        results = both.run(creating(engine, f"study-{at}"), creating(engine, f"study-{at}"), at)
        [refused] = [result for result in results if result is not None]
        assert str(refused).startswith(f"There is a study 'study-{at}' already")
        if not both.reached:
            return


@pytest.mark.slow
def test_signing_out_twice_or_in_twice_at_once_is_no_fault(session, engine, monkeypatch):
    ada = accounts.add_researcher(session, "Ada")[0].id
    session.close()

    def signing_in():
        with Session(engine) as mine:
            return accounts.new_session(mine, mine.get_one(Researcher, ada))

    def signing_out(token):
        with Session(engine) as mine:
            return accounts.sign_out(mine, token)

    both = AtOnce(engine)
    for at in range(1, MOST_STATEMENTS):
        token = signing_in()
        assert both.run(partial(signing_out, token), partial(signing_out, token), at) == (
            None,
            None,
        )
        reached = both.reached
        signing_in()  # this session has ended when two others begin
        with monkeypatch.context() as later:
            later.setattr(accounts, "now", lambda: now() + timedelta(days=1))
            tokens_of_both = both.run(signing_in, signing_in, at)
            assert all(isinstance(each, str) for each in tokens_of_both), tokens_of_both
        with Session(engine) as mine:
            accounts.sign_out_everywhere(mine, mine.get_one(Researcher, ada))
        if not (reached or both.reached):
            return


@pytest.mark.slow
def test_agreeing_and_resuming_elsewhere_at_once_wait_for_each_other(session, engine):
    an_open_study(session)

    def agreeing(public_id):
        with Session(engine) as mine:
            study = lifecycle.find_study(mine, SLUG)
            text = participants.consent_text(mine, study).digest
            [participant] = mine.query(Participant).filter_by(public_id=public_id)
            return participants.agree(mine, participant, text)

    def resuming(public_id, browser):
        with Session(engine) as mine:
            code = tokens.resume_code(KEY, public_id)
            study = lifecycle.find_study(mine, SLUG)
            return participants.resume(mine, study, code, browser).id

    both = AtOnce(engine)
    for at in range(1, MOST_STATEMENTS):
        study = lifecycle.find_study(session, SLUG)
        public_id = participants.begin(session, study, f"browser {at}", KEY).public_id
        session.close()
        resume = partial(resuming, public_id, f"elsewhere {at}")
        agreed, resumed = both.run(partial(agreeing, public_id), resume, at)
        assert (agreed, isinstance(resumed, int)) == (True, True), (at, resumed)
        if not both.reached:
            return


@pytest.mark.slow
def test_beginning_and_resuming_in_the_same_browser_at_once_are_both_done(session, engine):
    study = an_open_study(session)
    code = tokens.resume_code(KEY, participants.begin(session, study, "elsewhere", KEY).public_id)
    session.close()

    def beginning(browser):
        with Session(engine) as mine:
            study = lifecycle.find_study(mine, SLUG)
            return participants.begin(mine, study, browser, KEY).id

    def resuming(browser):
        with Session(engine) as mine:
            study = lifecycle.find_study(mine, SLUG)
            return participants.resume(mine, study, code, browser).id

    both = AtOnce(engine)
    for first, second in ((beginning, resuming), (resuming, beginning)):
        for at in range(1, MOST_STATEMENTS):
            browser = f"{first.__name__} {at}"
            results = both.run(partial(first, browser), partial(second, browser), at)
            assert all(isinstance(result, int) for result in results), (at, results)
            if not both.reached:
                break


@pytest.mark.slow
def test_the_same_guest_at_once_is_added_once(session, engine):
    an_open_study(session)
    session.close()

    def add(name):
        def run():
            with Session(engine) as mine:
                study = lifecycle.find_study(mine, SLUG)
                return recruitment.add_guests(mine, study, [name])

        return run

    both = AtOnce(engine)
    for at in range(1, MOST_STATEMENTS):
        results = both.run(add(f"guest {at}"), add(f"guest {at}"), at)
        assert sorted(results) == [0, 1]
        if not both.reached:
            break
    assert session.query(Guest).count() == at


@pytest.mark.slow
@pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)  # SQLite reads one state
def test_the_consent_page_of_a_study_that_is_deleted_meanwhile_says_so(app, session, engine):
    an_open_study(session)
    visitor = Visitor(app.test_client())
    visitor.go("/consent")
    session.rollback()

    def delete():
        with Session(engine) as other:
            study = lifecycle.find_study(other, SLUG)
            lifecycle.close_study(other, study)
            lifecycle.delete(other, study, "Ada")

    both = AtOnce(engine)
    answer, _ = both.run(lambda: visitor.client.get(f"{visitor.home}/consent"), delete, 1, 3.0)
    assert both.reached
    assert (answer.status_code, "was deleted in the meantime" in answer.text) == (404, True)


@pytest.mark.slow
@pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
@pytest.mark.parametrize("at", range(1, 7))
def test_a_researchers_page_about_a_study_that_is_deleted_meanwhile_is_no_fault(
    app, session, engine, at
):
    desk = Desk(app, session)
    ada = accounts.find_researcher(session, "Ada")
    lifecycle.create_owned_study(session, ada, SLUG, a_plan(), Recruitment())
    session.rollback()

    def delete():
        with Session(engine) as other:
            lifecycle.delete(other, lifecycle.find_study(other, SLUG), "Ada")

    both = AtOnce(engine)
    answer, _ = both.run(
        lambda: desk.client.get(f"/research/studies/{SLUG}/check"), delete, at, 3.0
    )
    assert answer.status_code in (200, 404)


@pytest.mark.slow
def test_a_study_archived_and_opened_at_once_is_one_of_both(session, engine):
    study = an_open_study(session)
    lifecycle.close_study(session, study)
    session.close()

    def act(change):
        def run():
            with Session(engine) as mine:
                change(mine, lifecycle.find_study(mine, SLUG))

        return run

    both = AtOnce(engine)
    for at in range(1, MOST_STATEMENTS):
        archiving = act(lambda mine, study: lifecycle.archive(mine, study, "Ada"))
        opening = act(lambda mine, study: lifecycle.open_study(mine, study, "Bob"))
        both.run(archiving, opening, at)
        session.rollback()
        study = session.query(Study).one()
        assert (study.status, study.archived_at is None) in (("open", True), ("closed", False))
        if study.status == "open":
            lifecycle.close_study(session, study)
        lifecycle.unarchive(session, study, "Ada")
        if not both.reached:
            return
