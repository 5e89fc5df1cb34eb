"""Two researchers who change the same: the second sees both versions, and loses nothing."""

import pytest

from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import recruitment_of
from tests.databases import ON_BOTH, ON_SQLITE
from tests.promises.seemly import LISTS
from tests.web.desk import STUDY, Desk, a_file


@pytest.fixture
def colleague(app, session, desk, study):
    """Bob, who owns the study too and saves while Ada's page is open."""
    bob = Desk(app, session, "Bob")
    accounts.share(session, study, accounts.find_researcher(session, "Bob"), "owner")
    session.commit()
    return bob


def plan_of(session, study):
    session.expire_all()
    plan = lifecycle.find_study(session, study.slug).plan
    session.rollback()
    return plan


@ON_BOTH
def test_a_plan_saved_by_another_meanwhile_is_shown_beside_ones_own(
    desk, colleague, session, study
):
    desk.open(f"{STUDY}/plan")
    colleague.open(f"{STUDY}/plan")
    colleague.send(f"{STUDY}/plan", title="Bob's title", questions="4")
    assert colleague.address == f"{STUDY}/check"
    desk.send(f"{STUDY}/plan", title="Ada's title", purpose="Ada's purpose")
    assert desk.status == 409
    assert plan_of(session, study).title == "Bob's title"
    conflict = desk.page.select_one("#conflict")
    assert "Bob saved another version" in conflict.get_text()
    for text in ("Bob's title", "Ada's title", "Ada's purpose", study.plan.purpose):
        assert text.strip()[:40] in conflict.get_text()
    assert desk.page.select_one("[name=title]")["value"] == "Ada's title"
    assert desk.page.select_one("[name=purpose]").text.strip() == "Ada's purpose"
    desk.send(f"{STUDY}/plan", questions="4")  # knowing what it replaces
    assert desk.address == f"{STUDY}/check"
    assert (plan_of(session, study).title, plan_of(session, study).questions) == ("Ada's title", 4)


@ON_SQLITE
def test_a_form_without_a_version_is_saved_as_before(desk, session, study):
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", title="From a script", version=None)
    assert plan_of(session, study).title == "From a script"


@ON_SQLITE
def test_a_field_added_to_an_old_page_is_no_new_version(desk, colleague, session, study):
    desk.open(f"{STUDY}/plan")
    colleague.open(f"{STUDY}/plan")
    colleague.send(f"{STUDY}/plan", title="Bob's title")
    desk.send(f"{STUDY}/plan", title="Ada's title", add="closing_questions")
    desk.send(f"{STUDY}/plan")
    assert desk.status == 409
    assert plan_of(session, study).title == "Bob's title"


@ON_SQLITE
def test_the_same_change_by_both_is_no_conflict(desk, colleague):
    desk.open(f"{STUDY}/plan")
    colleague.open(f"{STUDY}/plan")
    colleague.send(f"{STUDY}/plan", title="A better title")
    desk.send(f"{STUDY}/plan", title="A better title")
    assert desk.address == f"{STUDY}/check"


@ON_SQLITE
def test_lists_replace_no_plan_that_their_owner_has_not_seen(desk, colleague, session, study):
    desk.open(f"{STUDY}/lists")
    colleague.open(f"{STUDY}/plan")
    colleague.send(f"{STUDY}/plan", title="Bob's title")
    files = {"lists": a_file(LISTS.decode(), "lists.csv")}
    desk.send(f"{STUDY}/lists", files=files)
    assert desk.status == 409
    assert "Someone else has changed this since the page was opened" in desk.text
    assert not plan_of(session, study).own_lists
    desk.send(f"{STUDY}/lists", files={"lists": a_file(LISTS.decode(), "lists.csv")})
    assert desk.address == f"{STUDY}/check"
    plan = plan_of(session, study)
    assert (plan.title, len(plan.own_lists)) == ("Bob's title", 1)


@ON_BOTH
def test_settings_saved_by_another_meanwhile_are_shown_beside_ones_own(
    desk, colleague, session, study
):
    action = f"{STUDY}/invite/settings"
    desk.open(f"{STUDY}/invite")
    colleague.open(f"{STUDY}/invite")
    colleague.send(action, code_complete="BOB-1", slot_minutes="60")
    desk.send(action, code_complete="ADA-1")
    assert desk.status == 409
    conflict = desk.page.select_one("#conflict").get_text()
    for text in ("Bob saved another version", "Code for those who finish", "BOB-1", "ADA-1", "180"):
        assert text in conflict
    assert desk.page.select_one("[name=code_complete]")["value"] == "ADA-1"
    desk.send(action)
    session.expire_all()
    settings = recruitment_of(lifecycle.find_study(session, study.slug))
    assert (settings.code_complete, settings.slot_minutes) == ("ADA-1", 180)
