"""A study's life: made, checked, opened and frozen, closed."""

import re

import pytest
from sqlalchemy import text

from survey.core.studies.fields import PlanError
from survey.db.models import StoredQuestion, Study
from survey.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.studies import lifecycle, plans
from survey.services.studies.lifecycle import check_study
from survey.web.language import fill
from tests.builders import Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE


def test_a_new_study_is_a_draft_with_its_questions_and_consent(session):
    study = lifecycle.create_study(session, "pilot", a_plan())
    assert study.status == "draft"
    assert study.digest is None
    assert [question.number for question in study.questions] == [0, 1, 2, 3]
    assert study.consent_texts[0].version == 1


def test_opening_freezes_a_study_under_the_digest_of_its_content(session):
    study = an_open_study(session)
    assert study.digest == lifecycle.current_digest(study)
    assert len(study.digest) == 64


def test_the_same_plan_gives_the_same_digest_whatever_the_address(session):
    assert an_open_study(session, "one").digest == an_open_study(session, "two").digest


def test_closing_and_reopening_keeps_the_digest(session):
    study = an_open_study(session)
    digest = study.digest
    lifecycle.close_study(session, study)
    assert study.closed_at is not None
    lifecycle.open_study(session, study)
    assert (study.status, study.digest, study.closed_at) == ("open", digest, None)


def test_opening_twice_and_closing_a_draft_are_refused(session):
    with pytest.raises(NotAllowedError, match="open already"):
        lifecycle.open_study(session, an_open_study(session))
    with pytest.raises(NotAllowedError, match="cannot be closed"):
        lifecycle.close_study(session, lifecycle.create_study(session, "draft", a_plan()))


@ON_SQLITE
@pytest.mark.parametrize("slug", ["Pilot", "a b", "-a", "a-", "a--b", "ä", "", "x" * 65, "a/b"])
def test_a_slug_that_makes_no_address_is_refused(session, slug):
    with pytest.raises(SurveyError, match="cannot be the address"):
        lifecycle.create_study(session, slug, a_plan())


@ON_SQLITE
@pytest.mark.parametrize(
    "slug",
    ["mnro", "test-ap", "map-study", "anmrr", "mymnrostudy", "amnro-2", "nmrr1", "ap2024", "1map"],
)
def test_a_slug_that_names_a_measure_is_refused(session, slug):
    with pytest.raises(SurveyError, match="holds the name of a measure"):
        lifecycle.create_study(session, slug, a_plan())


@ON_SQLITE
@pytest.mark.parametrize("slug", ["apple", "paper-one", "mapping"])
def test_a_slug_that_only_happens_to_hold_a_short_name_is_taken(session, slug):
    assert lifecycle.create_study(session, slug, a_plan()).slug == slug


@pytest.mark.parametrize(
    "title", ["MNRO and people", "AP1 study", "mAPs compared", "Average  precision and people"]
)
def test_a_title_that_names_a_measure_is_refused(title):
    with pytest.raises(SurveyError, match=f"title '{title}' holds the name"):
        a_plan(title=title)


def test_a_slug_can_be_taken_once(session):
    an_open_study(session)
    with pytest.raises(SurveyError, match="There is a study 'five-systems' already"):
        an_open_study(session)


@ON_SQLITE
def test_a_design_that_cannot_be_says_which_field(session):
    with pytest.raises(SurveyError, match=r"lists is 2; 3 to 10 are allowed"):
        a_plan(lists=2)
    with pytest.raises(SurveyError, match="cannot be drawn"):
        lifecycle.create_study(session, "x", a_plan(lists=10, relevant=1, collection_size=3))


def test_the_texts_carry_the_numbers_of_the_design():
    plan = a_plan(lists=4, relevant=3, collection_size=200)
    words = tuple(plan.numbers.items())
    assert "Imagine four search systems: A, B, C and D." in fill(plan.scenario, words)
    assert "Of these, three show" in fill(plan.scenario, words)
    asked = "Which method puts the four systems in the same order as you?"
    assert fill(plan.question_text, words) == asked


def test_a_study_that_is_not_there_is_named(session):
    with pytest.raises(NotFoundError, match="There is no study 'nowhere'"):
        lifecycle.find_study(session, "nowhere")


@ON_SQLITE
def test_the_check_speaks_of_k_identical_orders_and_ties(session):
    study = an_open_study(session, questions=10, seed=7)
    findings = check_study(session, study)
    said = [finding.text for finding in findings]
    assert "NMRR: K = 20 of 100 positions" in said
    pair = r"\w+ and \w+ put the lists in the same order in \d of 10 questions"
    assert any(
        re.fullmatch(f"{pair}, which cannot compare them, as in the paper", each) for each in said
    )
    assert any(
        finding.question == 1 and "AP and MNRO order" in finding.text for finding in findings
    )
    assert not any(finding.failed for finding in findings)
    assert any("a vote for one counts for each" in text for text in said)


@ON_SQLITE
def test_the_check_speaks_of_no_votes_where_people_only_order_the_lists(session):
    study = an_open_study(session, questions=10, seed=7, columns="never")
    said = [finding.text for finding in check_study(session, study)]
    assert any(text.endswith(": people's orders agree with them equally") for text in said)
    assert not any("vote" in text for text in said)


def test_the_check_fails_when_a_frozen_question_was_changed(session):
    study = an_open_study(session)
    on_table = "ON question" if session.get_bind().dialect.name == "postgresql" else ""
    session.execute(text(f"DROP TRIGGER question_frozen_update {on_table}"))
    question = session.query(StoredQuestion).filter_by(number=1).one()
    lists = {**question.content["lists"], "A": [1, 2, 3, 4, 5]}
    question.content = {**question.content, "lists": lists}
    session.commit()
    session.expire_all()
    assert [f.text for f in check_study(session, study) if f.failed] == [
        "the content no longer has the digest it was opened with"
    ]


@ON_SQLITE
def test_a_title_that_names_a_measure_today_goes_on_but_is_not_made_anew(session, client):
    plan = a_plan().as_json() | {"title": "WP3: five systems"}
    with pytest.raises(PlanError, match="holds the name of a measure"):
        plans.parse_plan(plan)
    study = lifecycle.create_study(session, "three", a_plan())
    study.plan_json = plan  # stored before the measure was registered
    session.commit()
    lifecycle.open_study(session, study)
    visitor = Visitor(client, "three")
    visitor.take_part()
    assert visitor.path == "/done"
    with pytest.raises(SurveyError, match="holds the name of a measure"):
        lifecycle.create_owned_study(session, None, "four", study.plan, lifecycle.Recruitment())


@ON_SQLITE
def test_a_study_whose_measure_is_not_registered_here_goes_on(session, client, app):
    study = lifecycle.create_study(session, "three", a_plan(practice=False))
    for question in study.questions:
        columns = question.content["columns"]
        columns = {{"MNRO": "screen"}.get(name, name): one for name, one in columns.items()}
        question.content = {**question.content, "columns": columns}
    study.plan_json = study.plan_json | {"measures": ["AP", "NMRR", "screen"]}
    session.commit()
    lifecycle.open_study(session, study)
    visitor = Visitor(client, "three")
    visitor.start()
    visitor.submit("/q/1", choice="1")
    assert visitor.path == "/q/2"
    session.expire_all()
    assert lifecycle.describe(session.get(Study, study.id))["measures"] == "AP NMRR screen"
