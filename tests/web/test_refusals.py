"""Who is stuck at a question: forms that are refused are counted, and researchers are told."""

import pytest

from survey.db.models import MOST_REFUSALS, Presentation
from survey.services.participation.answers import CONTRADICTORY, INCOMPLETE, OUTDATED
from survey.services.studies import lifecycle
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.grouped import Assessor, a_grouping_study
from tests.labelled import a_labelling_study
from tests.web.desk import STUDY, open_it


def counted(session, position=1):
    """How often the form at a position was refused, and why last."""
    session.rollback()
    row = session.query(Presentation).filter_by(position=position).one()
    refusals = row.refusals, row.last_refusal
    session.rollback()
    return refusals


def at_question(client, slug="five-systems"):
    visitor = Visitor(client, slug)
    visitor.start()
    return visitor


def test_refused_forms_of_a_question_are_counted_until_one_is_accepted(client, session):
    an_open_study(session)
    visitor = at_question(client)
    visitor.submit("/q/1")
    assert (visitor.status, counted(session)) == (400, (1, INCOMPLETE))
    visitor.submit("/q/1", choice=["1", "own"])
    assert counted(session) == (2, CONTRADICTORY)
    visitor.submit("/q/1", choice="1")
    assert visitor.status == 200
    assert counted(session) == (0, None)
    visitor.open("/q/1")
    visitor.submit("/q/1", choice=["1", "own"])
    visitor.submit("/q/1", choice="1")  # what is stored already: it is accepted too
    assert counted(session) == (0, None)


def test_an_outdated_form_is_counted_and_a_doubt_is_not(client, session):
    an_open_study(session)
    visitor = at_question(client)
    key = visitor.form("/q/1").select_one("[name=submission_key]")["value"]
    visitor.submit("/q/1", choice="1")
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="2", submission_key=key)
    assert (visitor.status, counted(session)) == (409, (1, OUTDATED))
    visitor.open("/q/2")
    visitor.submit("/q/2", choice=["1", "2"])  # different orderings: the page asks back
    assert (visitor.status, counted(session, 2)) == (200, (0, None))


@ON_SQLITE
def test_a_form_without_its_token_is_not_counted_nor_more_than_nine(client, session):
    an_open_study(session)
    visitor = at_question(client)
    visitor.submit("/q/1", csrf_token="another")
    assert (visitor.status, counted(session)) == (400, (0, None))
    for _ in range(MOST_REFUSALS + 2):
        visitor.submit("/q/1")
    assert counted(session) == (MOST_REFUSALS, INCOMPLETE)


@ON_SQLITE
def test_refused_steps_are_counted_until_one_is_stored(app, client, session):
    a_grouping_study(session)
    assessor = Assessor(app, session)
    assessor.go("/q/1")
    for count in (1, 2, 3):
        assessor.submit("/q/1", go="done")  # nothing is placed yet
        assert counted(session) == (count, INCOMPLETE)
    assessor.submit("/q/1", group="all", go="new", **assessor.tiles("red-0"))
    assert counted(session) == (0, None)
    a_labelling_study(session)
    annotator = Visitor(client, "labelled")
    annotator.go("/q/1")
    annotator.submit("/q/1", batch="x")
    assert annotator.status == 400
    presentation = session.query(Presentation).filter_by(refusals=1).one()
    assert presentation.last_refusal == INCOMPLETE


@ON_SQLITE
def test_a_first_ranking_that_is_not_complete_is_counted(client, session):
    an_open_study(session, columns="after", practice=False)
    visitor = Visitor(client)
    visitor.go("/q/1")
    visitor.submit("/q/1", **{"rank-A": "1"})
    assert counted(session) == (1, INCOMPLETE)
    visitor.submit("/q/1", **{f"rank-{letter}": "1" for letter in "ABCDE"})
    assert counted(session) == (0, None)


def test_researchers_read_who_is_stuck_where_and_why_until_an_answer_is_saved(
    desk, app, session, study
):
    open_it(session, study)
    visitor = at_question(app.test_client(), "a-study")
    for _ in range(2):
        visitor.submit("/q/1")
    desk.open(f"{STUDY}/progress/live")
    assert "stuck" not in desk.text
    visitor.submit("/q/1", **{"rank-A": "2", "reason": "my own words"})
    desk.open(f"{STUDY}/progress/live")
    [message] = desk.page.select("section[aria-labelledby=stuck] li")
    who = desk.page.select_one("th code").text
    assert message.get_text(" ", strip=True).startswith(
        f"{who} , at their question 1: their form was sent back 3 times, the last time "
        "because something was missing"
    )
    assert "my own words" not in desk.text
    desk.open(message.a["href"])
    assert desk.page.select_one("nav.preview")
    visitor.submit("/q/1", choice="1")
    desk.open(f"{STUDY}/progress/live")
    assert "stuck" not in desk.text
    for _ in range(3):
        visitor.submit("/q/2")
    session.rollback()
    lifecycle.close_study(session, lifecycle.find_study(session, "a-study"))
    session.rollback()
    desk.open(f"{STUDY}/progress/live")
    assert "stuck" not in desk.text


@ON_SQLITE
def test_participants_read_in_their_data_that_a_form_was_sent_back(client, session):
    an_open_study(session)
    visitor = at_question(client)
    visitor.submit("/q/1")
    data = client.get("/s/five-systems/my-data.json").json
    question = next(each for each in data["questions"] if each["question"] == 1)
    assert question["form_sent_back"] == 1
    assert question["form_sent_back_because"] == "incomplete"


@pytest.mark.parametrize("page", ["progress", "progress/live"])
@ON_SQLITE
def test_the_picture_of_arrivals_comes_once_someone_has_begun(desk, app, session, study, page):
    open_it(session, study)
    desk.open(f"{STUDY}/{page}")
    assert not desk.page.select(".arrivals")
    assert desk.client.get(f"{STUDY}/progress/arrivals.svg").status_code == 404
    Visitor(app.test_client(), "a-study").take_part()
    desk.open(f"{STUDY}/{page}")
    picture = desk.page.select_one(".arrivals img")
    assert picture["alt"].endswith("1 participant began and 1 finished.")
    cells = [row.get_text(" ", strip=True) for row in desk.page.select(".arrivals tbody td")]
    assert cells[-2:] == ["1", "1"]
    drawn = desk.client.get(picture["src"])
    assert (drawn.mimetype, "immutable" in drawn.headers["Cache-Control"]) == (
        "image/svg+xml",
        True,
    )
    assert app.test_client().get(picture["src"]).status_code == 303
