"""Quotas on pages: the end for those who come too late, Progress, and the plan's form."""

from survey.services import accounts
from survey.services.studies import lifecycle
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.web.desk import STUDY, Desk
from tests.web.test_arrival import recruit

AGE = {"name": "age", "label": "Your age", "kind": "number", "quotas": {"18-29": 1, "30+": 8}}


def come(app, age, language="en"):
    visitor = Visitor(app.test_client(), "a-study")
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", age=str(age))
    return visitor


@ON_SQLITE
def test_who_comes_when_their_group_is_full_reads_so_and_gets_the_code(app, session):
    study = an_open_study(session, "a-study", personal_fields=[AGE])
    recruit(session, study, code_screened_out="FULL-7")
    assert come(app, 20).path == "/scenario"
    late = come(app, 25)
    assert late.path == "/screened-out"
    assert "Enough people of your group have taken part" in late.text
    assert "FULL-7" in late.text
    late.open("/about-you")
    assert late.path == "/screened-out"
    stored = late.client.get(f"{late.home}/my-data.json").json
    assert stored["about_you"] == {}
    assert come(app, 40).path == "/scenario"


@ON_SQLITE
def test_progress_counts_each_group(app, session):
    study = an_open_study(session, "a-study", personal_fields=[AGE])
    desk = Desk(app, session)
    accounts.share(session, study, accounts.researcher_named(session, desk.name), "owner")
    session.commit()
    come(app, 20)
    come(app, 40)
    desk.open(f"{STUDY}/progress")
    assert "18-29: 1 of 1 (full), 30+: 1 of 8." in desk.text


@ON_SQLITE
def test_a_draft_is_given_quotas_and_keeps_what_is_wrong(session, desk, study):
    desk.open(f"{STUDY}/plan?step=who")
    action = f"{STUDY}/plan"
    desk.send(action, **{"personal_fields-0-quotas": "18-29: 1\nold: 3"})
    assert desk.status == 400
    assert "write numbers like 18-29, 30 or 65+" in desk.text
    assert desk.page.select_one("[name=personal_fields-0-quotas]").text.endswith("old: 3")
    desk.send(action, **{"personal_fields-0-quotas": "30+: 2\n18-29: 1"})
    session.expire_all()
    plan = lifecycle.find_study(session, "a-study").plan
    assert plan.personal_fields[0].quotas == (("18-29", 1), ("30+", 2))
    desk.open(f"{STUDY}/plan?step=who")
    typed = desk.page.select_one("[name=personal_fields-0-quotas]").text.split("\n")
    assert [line.strip() for line in typed if line.strip()] == ["18-29: 1", "30+: 2"]


@ON_SQLITE
def test_the_preview_has_the_page_of_a_full_group_where_there_are_quotas(app, session):
    study = an_open_study(session, "a-study", personal_fields=[AGE])
    other = an_open_study(session, "no-quotas")
    recruit(session, study, code_screened_out="FULL-7")
    desk = Desk(app, session)
    for each in (study, other):
        accounts.share(session, each, accounts.researcher_named(session, desk.name), "owner")
    session.commit()
    desk.open(f"{STUDY}/preview/")
    [link] = [each["href"] for each in desk.page.select("a") if each.text == "group full"]
    desk.open(link)
    assert "Enough people of your group have taken part" in desk.text
    assert "FULL-7" in desk.text
    desk.open(link.replace("a-study", "no-quotas"))
    assert desk.status == 404
    desk.open(link.replace("group_full", "screened_out"))
    assert "Enough people of your group" not in desk.text
