"""What commands ask, and what they say, where a study is published, shared, closed or deleted."""

import pytest

from survey.db.models import Study
from survey.services import accounts
from survey.services.studies import lifecycle, recruitment
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE
PUBLISH = ("study", "publish", "a-study")


@pytest.fixture
def study(session):
    return an_open_study(session, "a-study", questions=1)


def test_only_a_closed_study_of_three_people_is_published(app, session, run, study):
    refused = "Only a closed study can be public"
    assert refused in run(*PUBLISH, "--author", "Ada", "--yes", status=1)
    for _ in range(3):
        Visitor(app.test_client(), "a-study").take_part()
    session.rollback()
    lifecycle.close_study(session, study)
    assert "Name at least one author" in run(*PUBLISH, "--yes", status=2)
    nameless = run(*PUBLISH, "--author", ", Ada", "--yes", status=1)
    assert "has no family name before the comma" in nameless
    assert "3 answers of 3 people become public" in run(*PUBLISH, "--author", "Ada", status=1)
    assert "nothing to take back" in run("study", "unpublish", "a-study", status=1)
    assert "public at /studies/a-study" in run(*PUBLISH, "--author", "Ada", "--yes")
    # What is not named stays.
    assert '"authors": [\n    "Ada"' in run(*PUBLISH, "--licence", "none", "--yes", "--json")


def test_a_study_is_deleted_by_its_address_alone(session, run, study):
    delete = ("study", "delete", "a-study", "--yes")
    assert "'astudy' is not the address" in run(*delete, "astudy", status=2)
    assert "close it before you delete it" in run(*delete, "a-study", status=1)
    lifecycle.close_study(session, study)
    asked = run("study", "delete", "a-study", status=1)
    assert "'a-study' has 0 participants. Type its address to delete it" in asked
    assert run("study", "delete", "a-study", "--json", status=2) == ""
    run(*delete, "a-study")
    session.expire_all()
    assert session.query(Study).count() == 0


def test_an_archived_study_is_brought_back_first(session, run, study):
    assert "close it before you archive it" in run("study", "archive", "a-study", status=1)
    lifecycle.close_study(session, study)
    run("study", "archive", "a-study")
    assert "bring it back first" in run("study", "open", "a-study", status=1)
    run("study", "unarchive", "a-study")
    run("study", "open", "a-study")


def test_a_study_keeps_an_owner_and_others_are_named(session, run, study):
    for name in ("Ada", "Alan"):
        accounts.add_researcher(session, name)
    session.commit()
    run("study", "share", "a-study", "ada")
    take = ("study", "unshare", "a-study")
    assert "'Alan' is not a member" in run(*take, "Alan", "--yes", status=1)
    assert "Did you mean 'Ada'?" in run(*take, "Adda", "--yes", status=1)
    assert "A study needs an owner" in run(*take, "Ada", "--yes", status=1)


def test_a_link_is_withdrawn_of_a_guest_who_is_on_the_list(session, run, study):
    withdraw = ("study", "invite", "a-study", "--yes", "--withdraw")
    assert "It has no guests." in run(*withdraw, "Ann", status=1)
    recruitment.add_guests(session, study, ["Ann"])
    assert "Did you mean 'Ann'?" in run(*withdraw, "Anna", status=1)
    assert "The link of Ann is withdrawn." in run(*withdraw, "Ann")
    arm = run("study", "invite", "a-study", "--links", "1", "--arm", "third", status=2)
    assert "--arm is third; the links of this study give none." in arm


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--platform", "prolific"), "code_complete cannot be empty (--code)."),
        (("--platform", "sona"), "Sona needs your school's own --return-url"),
        (("--code", "MNRO"), "code_complete holds the name of a measure"),
        (("--slot-minutes", "1"), "1 is not in the range"),
    ],
)
def test_recruitment_that_cannot_be_is_refused(run, study, options, sentence):
    assert sentence in run("study", "recruit", "a-study", *options, status=2)


def test_recruitment_is_shown(run, study):
    run("study", "recruit", "a-study", "--platform", "mturk", "--code", "C1")
    assert "workerId" in run("study", "recruit", "a-study")
