"""A study's check: a verdict, what mends each thing, and questions as participants see them."""

from functools import partial

import pytest
from bs4 import BeautifulSoup

from survey.core.studies.fields import Finding
from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.plans import preset_plan
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor, a_plan
from tests.databases import ON_SQLITE
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study
from tests.pictured import a_pictured_study
from tests.preferred import a_preference_study
from tests.web.desk import Desk

pytestmark = ON_SQLITE
CHECK = "/research/studies/{}/check"
KINDS = {
    "pictured": a_pictured_study,
    "labelled": partial(a_labelling_study, shuffle_questions=False),
    "grouped": a_grouping_study,
    "preferred": partial(a_preference_study, show_items=True, show_positions=False),
}


def a_draft(session, plan, slug="drafted"):
    ada = accounts.find_researcher(session, "Ada")
    study = lifecycle.create_owned_study(session, ada, slug, plan, Recruitment())
    session.rollback()
    return study


def seen(page):
    """The question on a check page, as participants see it."""
    [template] = page.select("details[open] [inert] > template")
    return BeautifulSoup(template.decode_contents(), "html.parser")


def test_the_verdict_comes_first_and_each_thing_to_mend_has_a_link_that_leads_there(desk, session):
    study = a_draft(session, preset_plan("mnro", seed=2039, minutes=60))
    desk.open(CHECK.format("drafted"))
    verdict = (
        "AP, NMRR and MNRO order the lists differently in 7 of 10 questions; in 2 only some of "
        "them do; in 1 all order them alike"
    )
    assert desk.page.select_one("main h2").text == f"{verdict}; 3 warnings."
    findings = lifecycle.check_study(session, study)
    assert lifecycle.check_verdict(study, findings) == desk.page.select_one("main h2").text
    links = [each["href"] for each in desk.page.select(".mend a")]
    assert [each.partition("#")[2] for each in links] == ["asked_by", "contact", "minutes"]
    for link in links:
        address, _, anchor = link.partition("#")
        desk.open(address)
        field = desk.page.find(id=anchor)
        assert field is not None
        assert not field.find_parent(hidden=True)
        folded = [each for each in field.find_parents("details") if not each.has_attr("open")]
        assert not folded


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        (
            {"questions": 5},
            {
                "questions": "Of questions of this kind nothing can be said: with 5 questions no p "
                "is below .0625; it takes 6."
            },
        ),
        (
            {"questions": 6, "participants": 6},
            {
                "participants": "Of these questions alone nothing can be said: with 6 participants "
                "no p, corrected for 3 comparisons, is below .094; it takes 7."
            },
        ),
        (
            {"questions": 6, "participants": 5},
            {
                "participants": "Nothing can be said, of questions of this kind or of these "
                "questions alone: with 5 participants no p is below .0625; it takes 6, and 7 of "
                "these questions alone."
            },
        ),
        ({"questions": 6, "participants": 6, "primary": "MNRO-AP"}, {}),
        ({"questions": 6, "participants": 7}, {}),
    ],
)
def test_sizes_that_can_decide_nothing_are_to_mend(desk, session, changes, texts):
    study = a_draft(session, a_plan(minutes=30, **changes))
    found = [each for each in lifecycle.check_study(session, study) if "can be said" in each.text]
    assert {each.mend: f"{each.text[0].upper()}{each.text[1:]}." for each in found} == texts
    desk.open(CHECK.format("drafted"))
    shown = [item.text for item in desk.page.select(".mend li") if "can be said" in item.text]
    assert len(shown) == len(texts)
    for text, expected in zip(shown, texts.values(), strict=True):
        assert text.startswith(expected)


def test_a_study_that_is_open_is_mended_in_a_copy(desk, session):
    study = a_draft(session, a_plan(questions=6, minutes=60))
    lifecycle.open_study(session, study)
    desk.open(CHECK.format("drafted"))
    [link] = desk.page.select(".mend a")
    assert link.text == "Copy the study to change it"
    desk.open(link["href"].partition("#")[0])
    assert "Copy" in desk.page.find(id="copy").h2.text


def test_a_viewer_gets_no_link_to_what_only_owners_may_do(app, desk, session):
    study = a_draft(session, preset_plan("mnro", seed=2039, minutes=60))
    viewer = Desk(app, session, "Bob")
    accounts.share(session, study, accounts.find_researcher(session, "Bob"), "viewer")
    session.commit()
    viewer.open(CHECK.format("drafted"))
    assert len(viewer.page.select(".mend li")) == 3
    assert not viewer.page.select(".mend a")
    viewer.open("/research/studies/drafted")
    assert "Next: check it , then an owner can open it." in viewer.text
    assert [link["href"] for link in viewer.page.select(".next a")] == [CHECK.format("drafted")]


def test_what_is_to_mend_in_a_question_names_the_question(desk, session, study, monkeypatch):
    finding = Finding(2, "it repeats question 1", mend="generator")
    monkeypatch.setattr(lifecycle, "check_study", lambda *_: [finding])
    desk.open(CHECK.format("a-study"))
    [item] = desk.page.select(".mend li")
    assert item.text.startswith("Question 2: it repeats question 1. ")


def test_pictures_that_lack_are_one_thing_to_mend_and_named_where_they_lack(session):
    study = a_pictured_study(session)
    findings = lifecycle.check_study(session, study)
    [thing] = [each for each in lifecycle.to_mend(findings) if each.mend == "items"]
    assert thing.question is None
    assert thing.text == "1 of 2 topics has no text or picture (first: “mountain”)"
    assert (thing.code, thing.stops) == ("topics-without-text", True)
    [named] = [each for each in findings if each.question == 2 and "has no picture" in each.text]
    assert not named.mend


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_is_shown_as_participants_see_it(app, session, kind):
    study = KINDS[kind](session)
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open(CHECK.format(study.slug))
    assert not desk.page.select("template, details[open]")
    assert len(desk.page.select("a.show")) == len(study.questions)
    desk.open(f"{CHECK.format(study.slug)}?question=1")
    visitor = Visitor(app.test_client(), study.slug)
    visitor.go("/q/1")
    shown, real = seen(desk.page), visitor.page.main
    assert shown.h1.text == real.h1.text
    fields = [[each.get("name") for each in part.select("input")] for part in (shown, real)]
    assert {*fields[0]} == {*fields[1]}
    pictures = shown.select("img")
    assert len(pictures) == len(real.select("img")) > 0
    assert all(each["loading"] == "lazy" for each in pictures)
    assert not shown.select("script")
    for each in pictures[:2]:
        assert desk.client.get(each["src"]).mimetype == "image/webp"
        assert app.test_client().get(each["src"]).status_code == 303  # to the sign-in


def test_the_picture_is_in_the_studys_language_and_the_page_in_english(desk, session):
    a_draft(session, preset_plan("mnro", language="el", seed=7))
    for number in range(2):
        desk.open(f"{CHECK.format('drafted')}?question={number}")
        assert "Μέθοδος 1" in seen(desk.page).text
        assert desk.page.select_one("[inert]")["lang"] == "el"
        assert desk.page.html["lang"] == "en"
        assert "Μέθοδος" not in desk.page.text
        assert "Remarks on the whole study" in desk.page.text
