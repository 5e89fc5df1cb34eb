"""The first page: it lists the studies of a demonstration, and of a real survey none."""

import pytest
from bs4 import BeautifulSoup

from survey.app import create_app
from survey.config import Settings
from survey.services import accounts
from survey.services.operations import demo
from survey.services.studies import lifecycle
from survey.services.studies.plans import preset_plan
from tests.builders import KEY, an_open_study
from tests.web.desk import Desk

SLUGS = (demo.DEMO_SLUG, demo.VERBATIM_SLUG)  # which are made quickly, as they show no pictures


@pytest.fixture
def studies(session):
    """Two studies of the demo."""
    made = []
    for slug in SLUGS:
        plan = preset_plan("mnro", questions=1, title=f"About {slug}", **demo.DEMO_CONTACT)
        made.append(lifecycle.create_study(session, slug, plan))
        lifecycle.open_study(session, made[-1], anyway="it has one question")
    return made


@pytest.fixture
def demonstration(app):
    app.config["DEMO"] = True
    return app.test_client()


def home(client):
    response = client.get("/")
    assert response.status_code == 200
    return BeautifulSoup(response.text, "html.parser")


def addresses(page):
    return [link["href"] for link in page.select("a")]


def test_an_application_is_a_demonstration_only_where_it_is_told_so(tmp_path):
    settings = Settings(tmp_path, "sqlite:///survey.sqlite3", KEY)
    assert create_app(settings).config["DEMO"] is False
    assert create_app(settings, demo=True).config["DEMO"] is True


def test_a_real_survey_lists_no_study_even_where_a_demonstration_was_before(
    studies, session, client
):
    an_open_study(session, "by-link-only")
    page = home(client)
    assert [*addresses(page)] == ["#main", "/research/", "/what-is-stored"]
    for slug in (*SLUGS, "by-link-only"):
        assert slug not in str(page)
    assert page.select_one("h1").text == "Surveys about search results"


def test_a_demonstration_lists_its_studies_with_what_to_try_and_where_results_are(
    studies, demonstration
):
    page = home(demonstration)
    sections = page.select("section")
    assert [section["id"] for section in sections] == [*SLUGS, "researchers"]
    known = {each.slug: each for each in demo.DEMO_STUDIES}
    for study, section in zip(studies, sections, strict=False):
        assert section.h2.text == study.plan.title
        assert section.p.text == f"{known[study.slug].kind} {known[study.slug].task}"
        results = f"/research/studies/{study.slug}/results"
        assert addresses(section) == [f"/s/{study.slug}", results]
        assert study.plan.title in demonstration.get(f"/s/{study.slug}").text
        assert "/research/sign-in" in demonstration.get(results).location
    assert "/research/" in addresses(sections[-1])


def test_a_demonstration_lists_no_study_but_its_own(session, demonstration):
    assert not home(demonstration).select("section")
    an_open_study(session, "by-link-only")
    an_open_study(session, demo.DEMO_SLUG)  # a real one that has the address of the demo's
    page = home(demonstration)
    assert not page.select("section")
    assert demo.DEMO_SLUG not in str(page)
    assert "by-link-only" not in str(page)


def test_a_closed_study_leads_on_and_its_researcher_opens_it_again(
    studies, session, demonstration, desk
):
    lifecycle.close_study(session, studies[0])
    session.rollback()
    closed, other = home(demonstration).select("section")[:2]
    overview = f"/research/studies/{demo.DEMO_SLUG}"
    assert addresses(closed) == [overview, f"{overview}/results"]
    assert f"/s/{demo.VERBATIM_SLUG}" in addresses(other)
    desk.open(overview)
    desk.send(f"{overview}/open")
    assert f"/s/{demo.DEMO_SLUG}" in addresses(home(demonstration))


def test_an_archived_or_deleted_study_is_not_listed(studies, session, demonstration):
    for study in studies:
        lifecycle.close_study(session, study)
    lifecycle.archive(session, studies[0], accounts.COMMAND_LINE)
    lifecycle.delete(session, studies[1], accounts.COMMAND_LINE)
    session.rollback()
    assert not home(demonstration).select("section")


@pytest.mark.slow
def test_the_page_that_checks_a_study_of_the_demonstration_has_nothing_to_mend(app, session):
    demo.ensure_studies(session)
    desk = Desk(app, session)  # the first researcher, who gets the studies that are there
    for each in demo.DEMO_STUDIES:
        desk.open(f"/research/studies/{each.slug}/check")
        assert desk.status == 200
        assert "no warnings" in desk.text
        assert not desk.page.select(".mend, .wrong")
