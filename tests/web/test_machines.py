"""The page of machines: records, what one shows beside people, and how it is removed."""

import io
import json
import zipfile

import pytest
from sqlalchemy import select

from survey.db.models import Event, StoredMachine
from survey.services import accounts
from survey.services.exchange.bundle import stream_bundle
from survey.services.studies import lifecycle
from tests.cli.conftest import run
from tests.databases import ON_SQLITE
from tests.judged import judge
from tests.preferred import a_participant, a_preference_study
from tests.web.desk import Desk

__all__ = ["run"]

pytestmark = ON_SQLITE
STUDY = "/research/studies/preferred"
MACHINES = f"{STUDY}/machines"
QUESTIONS = 5


@pytest.fixture
def study(app, session):
    """An open study of Ada's in which three people have preferred lists; two machines judged."""
    ada, _ = accounts.add_researcher(session, "Owner")
    study = a_preference_study(session, researcher=ada, show_items=True)
    for number in range(3):
        visitor = a_participant(app)
        for position in range(1, QUESTIONS + 1):
            side = ("left", "right")[(position + number) % 2]
            visitor.insist(f"/q/{position}", preferred=side)
        visitor.submit("/review")
    session.rollback()
    judge(session, study, lambda _: {"preferred": "left"}, samples=5)
    judge(session, study, simulated="AP:0", model="simulated machine")
    return study


def desk_of(app, session, study, role="owner", name="Ada"):
    desk = Desk(app, session, name)
    accounts.share(session, study, accounts.find_researcher(session, name), role)
    session.commit()
    return desk


def records(desk):
    rows = desk.page.select("#records tbody tr")
    return {row.select_one("code").text: row for row in rows}


def chosen(session, *, simulated):
    rows = session.scalars(select(StoredMachine)).all()
    [row] = [row for row in rows if bool(row.about.get("simulated")) == simulated]
    session.rollback()
    return row.digest[:12]


def test_records_are_listed_and_figures_hidden_while_people_answer(app, session, study):
    desk = desk_of(app, session, study)
    desk.open(MACHINES)
    assert len(records(desk)) == 2
    row = records(desk)[chosen(session, simulated=False)]
    assert [cell.text for cell in row.select("td")][2:5] == ["50", "0", "0"]
    assert not desk.page.select("#answer")
    name = chosen(session, simulated=False)
    for address in ("drawing/machine-agreement.svg", "report.html", "paper.zip"):
        desk.open(f"{STUDY}/results/{address}?machine={name}")
        assert desk.status == 403


def test_a_record_is_shown_beside_people_once_the_study_is_closed(app, session, study):
    lifecycle.close_study(session, study)
    desk = desk_of(app, session, study)
    name = chosen(session, simulated=False)
    desk.open(f"{MACHINES}?machine={name}")
    assert desk.page.select_one("#answer").text == (
        "It is not shown that this machine may replace one annotator here: 5 questions cannot "
        "test it (50 are needed)."
    )
    assert 2 <= len(desk.page.select(".answer .rows li")) <= 5
    parts = {part["id"] for part in desk.page.select("details.part > div[id]")}
    assert {"annotator-test", "calibration", "position", "errors", "confusion", "asked"} <= parts
    summaries = [summary.text for summary in desk.page.select("details.part > summary")]
    assert all(any(sign.isdigit() for sign in text) or "no one" in text for text in summaries)
    assert "left in 100 % of 50 preferences" in desk.text
    image = desk.page.select_one("figure.lead img")["src"]
    desk.open(image)
    assert desk.response.mimetype == "image/svg+xml"
    for address, told in (
        ("parts/machine-agreement.csv", b"Machine and person"),
        ("parts/annotator-test.csv", b"participant"),
        ("report.html", b"It is not shown that this machine"),
    ):
        desk.open(f"{STUDY}/results/{address}?machine={name}")
        assert desk.status == 200
        assert told in desk.response.data
    desk.open(f"{STUDY}/results/paper.zip?machine={name}")
    with zipfile.ZipFile(io.BytesIO(desk.response.data)) as archive:
        figures = json.loads(archive.read("analysis.json"))
    assert figures["record"] == name
    assert figures["position_bias"]["left"] == 1.0


def test_a_simulated_machine_is_headed_so(app, session, study):
    lifecycle.close_study(session, study)
    desk = desk_of(app, session, study)
    name = chosen(session, simulated=True)
    desk.open(f"{MACHINES}?machine={name}")
    assert desk.page.select_one("#answer").text.startswith("Simulated machine. ")
    assert "no evidence" in desk.page.select_one(".answer .reach").text
    assert records(desk)[name].select_one(".badge").text == "simulated machine"
    desk.open(f"{MACHINES}?machine=000")
    assert desk.status == 404


def test_an_early_look_is_logged_as_one_at_results_is(app, session, study):
    lifecycle.unblind(session, study, "Owner", "a test")
    looks = len(study.looks)
    visitor = a_participant(app)
    for position in range(1, QUESTIONS + 1):
        visitor.insist(f"/q/{position}", preferred="left")
    visitor.submit("/review")
    session.rollback()
    desk = desk_of(app, session, study)
    desk.open(MACHINES)
    assert desk.page.select_one("#answer")
    session.refresh(study)
    assert len(study.looks) == looks + 1


def test_an_owner_removes_a_record_after_being_asked(app, session, study):
    lifecycle.close_study(session, study)
    viewer = desk_of(app, session, study, "viewer", "Vera")
    name = chosen(session, simulated=True)
    viewer.open(MACHINES)
    assert not viewer.page.select("#records form")
    viewer.post(f"{MACHINES}/{name}/remove", sure="yes")
    assert viewer.status == 403
    desk = desk_of(app, session, study)
    desk.open(MACHINES)
    desk.send(f"{MACHINES}/{name}/remove")
    assert len(session.scalars(select(StoredMachine)).all()) == 2
    session.rollback()
    desk.send(f"{MACHINES}/{name}/remove")
    assert desk.address == MACHINES
    assert [*records(desk)] == [chosen(session, simulated=False)]
    events = session.scalars(select(Event).where(Event.kind == "machine removed")).all()
    assert [(event.who, event.detail) for event in events] == [
        ("Ada", f"{name}, simulated machine")
    ]


def test_a_page_without_records_says_which_command_asks_a_machine(app, session):
    desk = Desk(app, session)
    ada = accounts.find_researcher(session, "Ada")
    a_preference_study(session, "opened", ada)
    desk.open("/research/studies/opened/machines")
    assert "survey judge opened --endpoint URL --model NAME" in desk.text
    assert not desk.page.select("#records table")
    assert desk.page.select_one("a[href='/help/machines']")


def test_the_command_shows_and_removes_records(app, session, study, run, tmp_path):
    lifecycle.close_study(session, study)
    real, simulated = (chosen(session, simulated=each) for each in (False, True))
    told = run("judge", "preferred", "--show")
    assert f"{real}: gpt-x" in told
    assert f"{simulated}: simulated machine" in told
    assert "5 questions cannot test it (50 are needed)" in told
    figures = json.loads(run("judge", "preferred", "--show", "--json"))
    assert {each["record"] for each in figures} == {real, simulated}
    (tmp_path / "b.zip").write_bytes(b"".join(stream_bundle(session, study)))
    session.rollback()
    assert json.loads(run("judge", tmp_path / "b.zip", "--show", "--json")) == figures
    run("judge", tmp_path / "b.zip", "--remove", real, status=2)
    assert "there is: " in run("judge", "preferred", "--remove", "none", "--yes", status=1)
    run("judge", "preferred", "--show", "--remove", real, status=2)
    assert f"Removed {real}." in run("judge", "preferred", "--remove", real, "--yes")
    assert [
        each["record"] for each in json.loads(run("judge", "preferred", "--show", "--json"))
    ] == [simulated]


def test_the_command_notes_an_early_look(session, study, run):
    assert "log" in run("judge", "preferred", "--show")
    session.refresh(study)
    assert study.unblinded_at is not None
