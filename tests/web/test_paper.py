"""The pages on publications: open to everyone, on no participant's way."""

import pytest
from bs4 import BeautifulSoup

from survey.paper.slips import slips_by_document
from survey.paper.studies import included_studies, included_study
from survey.paper.table4 import table4
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE
PAGE = "/paper/table4"


@pytest.fixture
def page(client):
    answer = client.get(PAGE)
    assert answer.status_code == 200
    return BeautifulSoup(answer.text, "html.parser")


def test_every_claim_stands_there_with_its_verdict_and_its_reason(page):
    assert claims_on(page) == [(one.verdict, one.statement, one.why) for one in table4().claims]


def claims_on(page):
    return [
        (item.select_one(".badge").text, item.b.text, item.select("p")[1].text)
        for item in page.select(".claims li")
    ]


@pytest.mark.parametrize("name", included_studies())
def test_a_published_study_has_a_page_like_it(client, page, name):
    (link,) = page.select(f'a[href="/paper/study/{name}"]')
    answer = client.get(link["href"])
    shown, study = BeautifulSoup(answer.text, "html.parser"), included_study(name)
    assert claims_on(shown) == [(one.verdict, one.statement, one.why) for one in study.claims]
    assert shown.h1.text == study.content["study"]["title"]
    assert f"survey paper study {name}" in shown.text
    assert all(remark in shown.text for remark in study.remarks)
    cells = [cell.text for cell in shown.select("td")]
    assert ("0.1010" in cells) == (name == "urbano-2015")  # with all its decimals


def test_a_study_that_is_not_there_is_not_found(client):
    answer = client.get("/paper/study/no-study")
    assert answer.status_code == 404
    assert "There are: urbano-2012" in answer.text


def test_the_misprints_stand_under_their_documents(client, page):
    (link,) = page.select('a[href="/paper/slips"]')
    shown = BeautifulSoup(client.get(link["href"]).text, "html.parser")
    listed = {panel.h2.text: len(panel.select(".claims li")) for panel in shown.select(".panel")}
    for document, slips in slips_by_document().items():
        assert listed[document] == len(slips)


def test_the_tables_hold_the_votes_and_the_tests_of_each_pair(page):
    tables = {
        table.parent["aria-label"]: [
            [cell.text for cell in row.select("th, td")] for row in table.select("tbody tr")
        ]
        for table in page.select("table")
    }
    assert tables["Votes per set"][-1][:5] == ["total", "90", "109", "135", "20"]
    assert tables["Leads in votes, all sets together"][0][:3] == ["MNRO − NMRR", "+26", "+18"]
    tests = tables["Differences in share, with the sets as units"]
    assert [row[0] for row in tests] == [
        pair for pair in ("MNRO − NMRR", "MNRO − AP", "NMRR − AP") for _ in range(3)
    ]
    assert tests[3][-1] == ".008 (.023)"


def test_it_says_what_counts_cannot_answer(page):
    assert "McNemar's test and Cochran's Q cannot be computed" in page.text


def test_researchers_find_it_from_the_page_on_which_they_sign_in(client):
    signing_in = client.get("/research/", follow_redirects=True)
    assert f'href="{PAGE}"' in signing_in.text


def test_no_page_that_participants_come_by_leads_there(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    assert "/paper" not in client.get("/").text
    visitor.start()
    for path in ("", "/scenario", "/practice", "/q/1", "/review", "/done"):
        visitor.open(path)
        assert "/paper" not in str(visitor.page), path
