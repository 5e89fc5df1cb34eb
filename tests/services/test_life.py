"""What a researcher does to a study, what nobody can, and who may."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from survey.core.kinds import plan_from_json
from survey.db import queries
from survey.db.models import Event, Membership, Participant, StoredQuestion, Study, now
from survey.errors import CannotOpenError, NotAllowedError, NotFoundError, SurveyError
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.participation import participants
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests import preferred
from tests.builders import KEY, a_plan, a_ready_participant, save_answer


@pytest.fixture
def ada(session):
    return accounts.add_researcher(session, "Ada")[0]


@pytest.fixture
def draft(session, ada):
    return lifecycle.create_owned_study(session, ada, "a-study", a_plan(), Recruitment())


def test_a_draft_can_change_and_its_questions_are_drawn_anew(session, draft):
    lifecycle.change_plan(
        session, draft, a_plan(questions=5, seed=9, consent="I agree to this."), "Ada"
    )
    assert [question.number for question in draft.questions] == [0, 1, 2, 3, 4, 5]
    assert draft.consent_texts[0].text == "I agree to this."
    first = lifecycle.questions_of(draft)[0]
    assert first == a_plan(questions=5, seed=9).draw_questions()[1]


@pytest.mark.parametrize("change", ["copy", "plan"])
def test_the_database_is_free_while_questions_are_drawn(
    session, engine, draft, ada, monkeypatch, change
):
    """Drawing takes up to half a minute; participants' answers must not wait for it."""
    draw, drawn = lifecycle._draw, []

    def draw_beside_writers(plan):
        with Session(engine) as other:
            other.get_one(Study, 1).created_at = accounts.now()
            other.commit()
        drawn.append(plan)
        return draw(plan)

    monkeypatch.setattr(lifecycle, "_draw", draw_beside_writers)
    queries.locked_study(session, draft)  # as a form's request may have by then
    if change == "copy":
        assert lifecycle.copy_study(session, draft, "a-copy", ada).slug == "a-copy"
    else:
        lifecycle.change_plan(session, draft, a_plan(seed=9), "Ada")
    assert len(drawn) == 1


@pytest.mark.parametrize("anyway", ["", "  ", "it is urgent"])
def test_no_reason_opens_a_study_that_does_not_say_whom_to_ask(session, ada, anyway):
    plan = a_plan(contact="", asked_by="the researchers who invited you")
    draft = lifecycle.create_owned_study(session, ada, "whose", plan, Recruitment())
    with pytest.raises(
        CannotOpenError, match=r"who asks, only general words; .* whom they can ask"
    ):
        lifecycle.open_study(session, draft, "Ada", anyway=anyway)
    session.rollback()
    assert (draft.status, draft.digest) == ("draft", None)


@pytest.mark.parametrize(
    "words",
    [
        *({"contact": text} for text in ("TODO", "TBD", "xxx", "your e-mail", "<contact>")),
        *({"asked_by": text} for text in ("your group", "TODO: the group", "<your name>")),
    ],
)
def test_a_placeholder_opens_no_study_whatever_the_reason(session, ada, words):
    draft = lifecycle.create_owned_study(session, ada, "whose", a_plan(**words), Recruitment())
    [stop] = lifecycle.stops_of(lifecycle.check_study(session, draft))
    assert stop.text.endswith("a placeholder")
    with pytest.raises(CannotOpenError, match="a placeholder"):
        lifecycle.open_study(session, draft, "Ada", anyway="it is urgent")


@pytest.mark.parametrize("contact", ["https://", "foo@bar", "room 12", "ask Ada"])
def test_a_contact_without_an_address_needs_a_reason(session, ada, contact):
    plan = a_plan(contact=contact)
    draft = lifecycle.create_owned_study(session, ada, "where", plan, Recruitment())
    with pytest.raises(CannotOpenError, match="without an e-mail address, a telephone number"):
        lifecycle.open_study(session, draft, "Ada")
    session.rollback()
    lifecycle.open_study(session, draft, "Ada", anyway="all know the room")
    assert draft.status == "open"


@pytest.mark.parametrize(
    "contact",
    [
        *("someone@example.org", "Ada <ada@uni.edu>", "+357 22 892700", "(22) 89-27-00"),
        *("https://uni.edu/lab", "www.uni.edu", "Όμιλος, a.b@uni.ac.cy"),
    ],
)
def test_an_address_of_any_kind_opens_a_study(session, ada, contact):
    plan = a_plan(contact=contact, asked_by="the people of your group at X")
    draft = lifecycle.create_owned_study(session, ada, "where", plan, Recruitment())
    assert not lifecycle.stops_of(lifecycle.check_study(session, draft))


def test_what_a_study_was_opened_in_spite_of_is_logged(session, ada):
    plan = a_plan(questions=50)  # for which 20 minutes are too few
    draft = lifecycle.create_owned_study(session, ada, "long", plan, Recruitment())
    with pytest.raises(CannotOpenError, match="50 questions take about 105 minutes"):
        lifecycle.open_study(session, draft, "Ada")
    session.rollback()
    lifecycle.open_study(session, draft, "Ada", anyway="a pilot")
    opened, anyway, _ = accounts.events_of(session, draft)
    assert (opened.kind, anyway.kind) == ("opened", "opened anyway")
    assert anyway.detail == (
        "a pilot: 50 questions take about 105 minutes, and participants read “about 20”"
    )


@pytest.mark.parametrize("minutes", [19, 30, 80])
def test_minutes_that_a_researcher_chose_stop_no_study(session, ada, minutes):
    plan = a_plan(questions=50, minutes=minutes)
    draft = lifecycle.create_owned_study(session, ada, "chosen", plan, Recruitment())
    findings = [each for each in lifecycle.check_study(session, draft) if each.code == "minutes"]
    assert [(each.mend, each.stops) for each in findings] == [("minutes", False)] * (minutes < 70)
    lifecycle.open_study(session, draft, "Ada")


@pytest.mark.parametrize(("people", "measured"), [(4, False), (5, True)])
def test_the_time_of_those_who_finished_replaces_the_estimate(session, draft, people, measured):
    lifecycle.open_study(session, draft, "Ada")
    for number in range(people):
        participant = a_ready_participant(session, draft, f"browser {number}")
        for position in range(1, 4):
            answer = OrderingAnswer(frozenset({1}), None)
            save_answer(session, participant, position, answer, 100.0 * (number + 1))
        participants.finish(session, participant)
    texts = [each.text for each in lifecycle.check_study(session, draft) if each.mend == "minutes"]
    by_estimate = ["3 questions take about 10 minutes, and participants read “about 20”"]
    assert texts == ([] if measured else by_estimate)
    if measured:
        assert (
            "3 questions take about 20 minutes, by the median of 5 who have finished: "
            "300 seconds each"
        ) in [each.text for each in lifecycle.check_study(session, draft)]


def test_a_new_draft_promises_what_its_questions_take(session, ada):
    of_three = lifecycle.create_owned_study(session, ada, "three", a_plan(), Recruitment())
    lifecycle.promise_expected_minutes(session, of_three)
    assert (of_three.plan.minutes, of_three.plan) == (10, a_plan(minutes=10))
    as_the_paper = a_plan(questions=10)
    replication = lifecycle.create_owned_study(session, ada, "ten", as_the_paper, Recruitment())
    lifecycle.promise_expected_minutes(session, replication)
    assert replication.plan == as_the_paper


@pytest.mark.parametrize("design", ["all", "pool"])
def test_a_study_of_an_hour_is_told_to_be_a_pool(session, ada, monkeypatch, design):
    orders = {"alpha": preferred.LATE, "beta": preferred.EARLY}
    monkeypatch.setattr(preferred, "ORDERS", {str(topic): orders for topic in range(120)})
    of_each = {"design": "pool", "per_participant": 100} if design == "pool" else {}
    plan = preferred.a_preference_plan(questions=120, **of_each)
    study = lifecycle.create_owned_study(session, ada, "long", plan, Recruitment())
    texts = [each.text for each in lifecycle.check_study(session, study) if each.code == "long"]
    advice = "120 questions take about 65 minutes. Ask each person 25 of them (`design: pool`)"
    assert texts == ([advice] if design == "all" else [])


def test_the_median_of_those_who_finished_is_beside_the_promise(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    assert lifecycle.time_taken(session, draft).sentence == ""
    for number, minutes in enumerate((3, 17, 40)):
        participant = a_ready_participant(session, draft, f"browser {number}")
        participant.status, participant.completed_at = "complete", now()
        participant.started_at = participant.completed_at - timedelta(minutes=minutes)
    session.commit()
    a_ready_participant(session, draft, "under way")
    taken = lifecycle.time_taken(session, draft)
    assert (taken.promised, taken.median, taken.finished) == (20, 17, 3)
    assert taken.sentence == "Promised 20 minutes; median of 3 who finished: 17"


def test_those_under_way_finish_while_no_one_new_is_admitted(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    participant = a_ready_participant(session, draft, "first")
    begun = participants.begin(session, draft, "second", KEY)
    lifecycle.end_admission(session, draft, "Ada")
    assert (draft.status, draft.status_label) == ("open", "closing")
    assert not lifecycle.shows_results(draft)
    assert participants.count_under_way(session, draft) == 2
    with pytest.raises(NotAllowedError, match="takes no new participants"):
        participants.begin(session, draft, "third", KEY)
    session.rollback()
    assert participants.begin(session, draft, "second", KEY).id == begun.id
    assert participants.agree(session, begun, participants.consent_text(session, draft).digest)
    for position in range(1, 4):
        save_answer(session, participant, position, OrderingAnswer(frozenset({1}), None))
    participants.finish(session, participant)
    assert participants.count_under_way(session, draft) == 1
    with pytest.raises(NotAllowedError, match="admits no one new already"):
        lifecycle.end_admission(session, draft, "Ada")
    session.rollback()
    lifecycle.open_study(session, draft, "Ada")
    assert (draft.admission_ended_at, draft.closes_at, draft.looks) == (None, None, [])
    participants.begin(session, draft, "third", KEY)
    kinds = [event.kind for event in accounts.events_of(session, draft)]
    assert kinds == ["admits people again", "admits no one new", "opened", "made"]


def test_test_data_come_while_no_one_new_is_admitted(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    lifecycle.end_admission(session, draft, "Ada")
    participants.begin(session, draft, "bot", KEY, participants.Arrival(is_test=True))
    assert participants.count_under_way(session, draft) == 0


def test_a_closed_study_that_opens_again_admits_people(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    lifecycle.end_admission(session, draft, "Ada")
    lifecycle.close_study(session, draft, "Ada")
    with pytest.raises(NotAllowedError, match="is not open"):
        lifecycle.end_admission(session, draft, "Ada")
    session.rollback()
    lifecycle.open_study(session, draft, "Ada")
    participants.begin(session, draft, "browser", KEY)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("My Study 2026", "my-study-2026"),
        ("Étude n° 1", "etude-n-1"),
        ("Μελέτη ψηφίων", "meleti-psifion"),
        ("MNRO against nDCG in spring", "against-in-spring"),
        ("-- precision", "precision"),
        ("東京", f"study-{accounts.now().year}"),
        ("mnro", f"study-{accounts.now().year}"),
        ("a " * 40, "-".join(["a"] * 32)),
        ("x" * 70, "x" * 64),
    ],
)
def test_an_address_is_offered_that_is_free(session, typed, offered):
    assert lifecycle.suggest_slug(session, typed) == offered
    lifecycle.create_study(session, offered, a_plan())
    again = lifecycle.suggest_slug(session, typed)
    assert again == f"{offered[:62].rstrip('-')}-2"
    lifecycle.require_valid_slug(session, again)


def test_a_frozen_study_keeps_its_plan(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    with pytest.raises(NotAllowedError, match="its content is frozen"):
        lifecycle.change_plan(session, draft, a_plan(seed=6), "Ada")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE study SET plan = '{}'",
        "UPDATE study SET digest = 'another'",
        "UPDATE study SET digest = NULL, status = 'draft'",
        "UPDATE study SET slug = 'elsewhere'",
        "UPDATE study SET generator_version = 2",
        "UPDATE question SET content = '{}' WHERE number = 1",
        "DELETE FROM question WHERE number = 1",
        "INSERT INTO question (study_id, number, content) VALUES (1, 9, '{}')",
        "UPDATE consent_text SET text = 'another'",
        "DELETE FROM consent_text",
    ],
)
def test_the_database_refuses_to_change_what_is_frozen(session, draft, statement):
    lifecycle.open_study(session, draft, "Ada")
    lifecycle.close_study(session, draft, "Ada")
    before = lifecycle.current_digest(draft)
    with pytest.raises(DBAPIError, match="cannot change; copy it"):
        session.execute(text(statement))
    session.rollback()
    assert lifecycle.current_digest(draft) == before == draft.digest


def answer_first_question(session, participant):
    save_answer(session, participant, 1, OrderingAnswer(frozenset({1}), None))


def test_an_early_look_from_the_command_line_unblinds_once_somebody_has_answered(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    participant = a_ready_participant(session, draft)
    lifecycle.log_early_results(session, draft, "the command line", "analysed")
    assert draft.unblinded_at is None
    participant.is_test = True
    answer_first_question(session, participant)
    lifecycle.log_early_results(session, draft, "the command line", "analysed")
    assert draft.unblinded_at is None
    participant.is_test = False
    lifecycle.log_early_results(session, draft, "the command line", "analysed")
    assert draft.unblinded_at is not None


def test_what_was_done_stays_written_down(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    lifecycle.unblind(session, draft, "Ada", "the ethics board asks")
    for statement in ("UPDATE event SET who = 'Bob'", "DELETE FROM event"):
        with pytest.raises(DBAPIError, match="never changed or removed"):
            session.execute(text(statement))
        session.rollback()
    told = [(event.who, event.kind, event.detail) for event in accounts.events_of(session, draft)]
    assert told[0] == ("Ada", "unblinded", "the ethics board asks")
    assert [kind for _, kind, _ in told] == ["unblinded", "opened", "made"]


def test_results_are_hidden_until_the_end_or_until_someone_says_why(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    assert not lifecycle.shows_results(draft)
    with pytest.raises(SurveyError, match="Say why"):
        lifecycle.unblind(session, draft, "Ada", "  ")
    lifecycle.unblind(session, draft, "Ada", "a pilot")
    assert lifecycle.shows_results(draft)
    lifecycle.close_study(session, draft, "Ada")
    with pytest.raises(NotAllowedError, match="study is closed"):
        lifecycle.unblind(session, draft, "Ada", "another pilot")


def test_a_draft_has_no_results_to_show(session, draft):
    with pytest.raises(NotAllowedError, match="study is draft"):
        lifecycle.unblind(session, draft, "Ada", "a pilot")
    assert draft.unblinded_at is None


def test_a_copy_has_the_plan_and_nobodys_answers(session, draft, ada):
    lifecycle.open_study(session, draft, "Ada")
    a_ready_participant(session, draft)
    copy = lifecycle.copy_study(session, draft, "the-copy", ada)
    assert (copy.status, copy.digest, copy.plan) == ("draft", None, draft.plan)
    assert lifecycle.progress(session, copy)["started"] == 0
    lifecycle.open_study(session, copy, "Ada")
    assert copy.digest == draft.digest


def test_an_archived_study_is_not_opened_until_it_is_brought_back(session, draft):
    lifecycle.archive(session, draft, "Ada")
    with pytest.raises(NotAllowedError, match="bring it back first"):
        lifecycle.open_study(session, draft, "Ada")
    lifecycle.unarchive(session, draft, "Ada")
    lifecycle.open_study(session, draft, "Ada")
    with pytest.raises(NotAllowedError, match="close it before you archive"):
        lifecycle.archive(session, draft, "Ada")


def test_deleting_takes_all_of_a_study_and_leaves_the_log(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    a_ready_participant(session, draft)
    with pytest.raises(NotAllowedError, match="close it before you delete"):
        lifecycle.delete(session, draft, "Ada")
    lifecycle.close_study(session, draft, "Ada")
    lifecycle.delete(session, draft, "Ada")
    for table in (Study, StoredQuestion, Participant, Membership):
        assert session.query(table).count() == 0
    assert session.query(Event).order_by(Event.id.desc()).first().kind == "deleted"


def test_leaving_someone_out_needs_a_reason_and_can_be_taken_back(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    participant = a_ready_participant(session, draft)
    with pytest.raises(SurveyError, match="Say why"):
        lifecycle.exclude(session, draft, participant, "Ada", " ")
    lifecycle.exclude(session, draft, participant, "Ada", "clicked through")
    assert (participant.excluded, participant.exclude_reason) == (True, "clicked through")
    lifecycle.include(session, draft, participant, "Ada")
    assert (participant.excluded, participant.exclude_reason) == (False, None)


def test_studies_of_other_people_are_not_there(session, draft):
    bob = accounts.add_researcher(session, "Bob")[0]
    assert accounts.studies_of(session, bob) == []
    for slug in ("a-study", "nowhere", "\0", "A", "x" * 1000):
        with pytest.raises(NotFoundError, match="There is no such study among yours"):
            accounts.study_of(session, bob, slug)


def test_a_viewer_looks_and_an_owner_changes(session, draft, ada):
    bob = accounts.add_researcher(session, "Bob")[0]
    accounts.share(session, draft, bob, "viewer")
    session.commit()
    assert accounts.study_of(session, bob, "a-study")[1] == "viewer"
    with pytest.raises(NotAllowedError, match="only its owners"):
        accounts.require_owner("viewer")
    with pytest.raises(NotAllowedError, match="needs an owner"):
        accounts.share(session, draft, ada, "viewer")
    with pytest.raises(NotAllowedError, match="needs an owner"):
        accounts.unshare(session, draft, ada, "Ada")
    accounts.share(session, draft, bob, "owner")
    accounts.unshare(session, draft, ada, "Ada")
    session.commit()
    assert accounts.studies_of(session, ada) == []


def test_the_first_researcher_gets_the_studies_that_are_nobodys(session):
    lifecycle.create_study(session, "before-anyone", a_plan())
    ada, _ = accounts.add_researcher(session, "Ada")
    bob, _ = accounts.add_researcher(session, "Bob")
    assert [study.slug for study, _ in accounts.studies_of(session, ada)] == ["before-anyone"]
    assert accounts.studies_of(session, bob) == []


def test_a_study_from_the_command_line_belongs_to_the_only_researcher(session, ada):
    lifecycle.create_study_for(session, None, "one", a_plan(), Recruitment())
    accounts.add_researcher(session, "Bob")
    lifecycle.create_study_for(session, None, "two", a_plan(), Recruitment())
    lifecycle.create_study_for(session, "bob", "three", a_plan(), Recruitment())
    assert [study.slug for study, _ in accounts.studies_of(session, ada)] == ["one"]


def test_an_open_study_that_somebody_joined_keeps_its_plan_as_it_was(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    participants.begin(session, draft, "browser", KEY)
    assert plan_from_json(draft.plan_json) == a_plan()


def test_a_reason_that_not_every_database_keeps_is_refused(session, draft):
    lifecycle.open_study(session, draft, "Ada")
    participant = a_ready_participant(session, draft)
    with pytest.raises(SurveyError, match="cannot be stored"):
        lifecycle.exclude(session, draft, participant, "Ada", "a\0b")
    with pytest.raises(SurveyError, match="cannot be stored"):
        lifecycle.unblind(session, draft, "Ada", "a\0b")
    assert not participant.excluded
    assert not lifecycle.shows_results(draft)
