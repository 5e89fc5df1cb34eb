"""The page that plans a study's size."""

import pytest

from survey.core.agreement.power_model import smallest_lead
from tests.databases import ON_SQLITE, statements
from tests.web.desk import HOME, Desk

pytestmark = ON_SQLITE
PAGE = "/research/planning"


@pytest.fixture
def desk(app, session):
    return Desk(app, session)


def test_planning_is_reached_from_the_studies_and_computes_nothing_unasked(desk):
    desk.open(HOME)
    assert desk.page.select_one(f"a[href='{PAGE}']")
    desk.open(PAGE)
    assert desk.page.select_one("[name=participants]")["value"] == "30, 60"
    assert desk.page.select_one("form")["method"] == "get"
    assert not desk.page.select("table")


def test_computing_makes_nobody_wait_and_takes_no_lock_afterwards(desk, engine):
    with statements(engine) as told:
        desk.open(f"{PAGE}?participants=30&questions=10&pool=none&replicates=100")
    assert desk.status == 200
    assert {one for one in told if one.startswith("BEGIN")} == {"BEGIN DEFERRED"}


@pytest.mark.slow
def test_an_address_holds_the_whole_question_and_gives_the_same_answer(desk):
    address = f"{PAGE}?participants=30&questions=10&pool=30&difference=.05,.10&replicates=500"
    desk.open(address)
    first = desk.text
    desk.open(address)
    assert desk.text == first
    assert desk.page.select_one("[name=difference]")["value"] == ".05,.10"
    rows = [[c.get_text(" ") for c in r.select("th, td")] for r in desk.page.select("tbody tr")]
    assert [row[:2] for row in rows] == [["30", "all of 10"], ["30", "10 of 30"]]
    assert all(len(row) == 5 and "%" in row[2] and "–" in row[3] for row in rows)
    assert "With 30 participants answering all of 10 questions, the verdict finds a" in desk.text
    assert "A difference of 5 points: 30 participants × all of 10 questions" in desk.text
    assert "With these spreads more questions help more than more participants" in desk.text
    command = "survey power --participants 30 --difference .05,.10 --replicates 500"
    assert desk.page.select_one("code").text == command


def test_random_questions_are_those_of_which_the_page_of_a_new_study_speaks(desk):
    desk.open(f"{PAGE}?generator=random&participants=30&pool=none&replicates=100")
    assert "orders contradict each other in 24 % of the questions; in 50 % one only" in desk.text
    assert "In 15 % (about 2 of 10) they contradict each other and tie as many lists" in desk.text
    assert (
        "AP and NMRR do so in 30 % (about 3) and AP and MNRO do so in 68 % (about 7)" in desk.text
    )
    desk.open("/research/new")
    assert "in about two of ten NMRR and MNRO contradict each other" in desk.text
    assert f"Thirty people show a lead of {100 * smallest_lead(30, 10):.0f} points" in desk.text


def test_what_is_wrong_stands_beside_its_field_and_stays_as_typed(desk):
    desk.open(f"{PAGE}?participants=30+people&difference=.9&seed=2")
    assert desk.status == 400
    wrong = {
        field.select_one("input")["name"]: field.select_one(".wrong").text
        for field in desk.page.select(".field:has(.wrong)")
    }
    assert wrong.keys() == {"participants"}
    assert wrong["participants"].startswith("Participants is '30 people'; one to 10 whole numbers")
    assert desk.page.select_one("[name=participants]")["value"] == "30 people"
    assert desk.page.select_one("[name=seed]")["value"] == "2"
    desk.open(f"{PAGE}?decided=2&replicates=1000")
    assert "Share of responses that decide is 2; a share from 0.05 to 1" in desk.text
    assert desk.page.select_one("details").has_attr("open")
    assert not desk.page.select("table")


def test_more_than_a_page_can_compute_is_refused_with_the_command_that_can(desk):
    desk.open(f"{PAGE}?participants=1000&replicates=100000")
    assert desk.status == 400
    assert "million answers to simulate, 30 are allowed" in desk.text
    assert "survey power --participants 1000 --replicates 100000" in desk.text
    desk.open(f"{PAGE}?participants=20&pool=none&difference=.1,.2,.3,.4&replicates=100")
    assert "36 million answers to simulate, 30 are allowed" in desk.text


@pytest.mark.slow
def test_the_form_as_it_stands_is_within_what_a_page_computes(desk):
    desk.open(f"{PAGE}?seed=3")
    assert desk.status == 200
    assert len(desk.page.select("tbody tr")) == 4


def test_questions_that_only_break_ties_are_told_apart(desk):
    desk.open(f"{PAGE}?participants=30&pool=none&generator=random&difference=.2&replicates=200")
    assert desk.status == 200
    assert "order: " in desk.page.select_one("tbody td:nth-child(3)").text
    desk.open(f"{PAGE}?generator=random&measures=4&replicates=100")
    assert desk.status == 400
    wrong = desk.page.select_one(".field:has(#generator) .wrong").text
    assert wrong.startswith("the random questions are those of AP, NMRR and MNRO")


def test_the_page_says_what_a_machine_saves(desk):
    desk.open(f"{PAGE}?machine_correlation=.8&pool_size=4000&judged=200&spread=.5")
    assert "with people alone ±.068. People alone would have to judge 505" in desk.text
    assert desk.page.select_one("[name=participants]")["value"] == "30, 60"
    desk.open(f"{PAGE}?machine_correlation=.8&pool_size=100&judged=200&spread=.5")
    assert "Judged by people is 200; it is at most 100, what the machine judges." in desk.text
