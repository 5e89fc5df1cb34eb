"""The page on which a draft is preregistered: what was typed stays, four files, warnings."""

import io
import json
import zipfile
from dataclasses import replace

import pytest

from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.registration import FILES, ITEMS, sum_of
from tests.builders import a_ready_participant, save_answer
from tests.databases import ON_SQLITE
from tests.web.desk import STUDY, open_it

pytestmark = ON_SQLITE

PAGE, ZIP = f"{STUDY}/preregister", f"{STUDY}/registration.zip"
STATED = {
    "hypothesis": "MNRO leads.\nAP is last.",
    "rationale": "A class.",
    "existing_data": "None",
}


@pytest.fixture
def registered(session, study, desk):
    """A draft that was preregistered on the page."""
    desk.open(PAGE)
    desk.send(PAGE, **STATED)
    session.rollback()
    return study


def test_a_draft_is_preregistered_and_keeps_what_was_typed(session, desk, registered):
    assert desk.address == PAGE
    assert "The registration is stored." in desk.text
    assert desk.page.select_one("#checksum").text == sum_of(registered.registration)
    assert desk.page.select_one("[name=hypothesis]").text.strip() == STATED["hypothesis"]
    assert "MNRO leads." in desk.page.select_one("#registration pre").text
    assert not desk.page.select_one("#changed")
    events = [event.kind for event, _ in accounts.log_of(session, registered)]
    assert "preregistered" in events
    session.rollback()
    desk.open(STUDY)
    assert desk.page.select_one(f"a[href='{PAGE}']").text == "See its registration"


def test_the_download_holds_the_four_files(desk, registered):
    response = desk.client.get(ZIP)
    with zipfile.ZipFile(io.BytesIO(response.data)) as archive:
        assert archive.namelist() == [*FILES]
        text = archive.read("registration.json").decode()
        assert "1. Data collected" in archive.read("aspredicted.md").decode()
    assert text == registered.registration
    assert json.loads(text)["typed"] == STATED
    assert desk.client.get(ZIP).data == response.data


def test_a_text_that_is_too_long_is_kept_and_nothing_is_stored(session, study, desk):
    desk.open(PAGE)
    assert desk.client.get(ZIP).status_code == 404
    desk.send(PAGE, **{**STATED, "rationale": "x" * 5001})
    assert desk.status == 400
    assert "“Reason for the sample” has 5001 characters; 5000 are allowed." in desk.text
    assert desk.page.select_one("[name=hypothesis]").text.strip() == STATED["hypothesis"]
    session.rollback()
    assert study.registration is None
    # A fragment in the address would keep the focus from the list of errors.
    [form] = [form for form in desk.page.select("form") if form.select("#rationale")]
    assert form["action"] == PAGE


def test_page_and_opening_warn_of_a_changed_plan(session, desk, registered):
    plan = replace(registered.plan, participants=7, registered=True)
    lifecycle.change_plan(session, registered, plan, "Ada")
    session.rollback()
    desk.open(PAGE)
    assert "Sample size (registered 30, now 7)." in desk.page.select_one("#changed").text
    desk.open(f"{STUDY}/open")
    notices = [notice.text for notice in desk.page.select(".notice")]
    assert any("sample size (registered 30, now 7)" in text for text in notices)
    assert desk.page.select_one(f".notice a[href='{PAGE}']")
    desk.open(f"{STUDY}/check")
    assert desk.page.select_one(f".mend a[href='{PAGE}']").text == "Preregister it again"


def test_results_show_item_by_item_what_is_as_registered(session, desk, registered):
    open_it(session, registered)
    desk.open(PAGE)
    assert not desk.page.select_one("textarea")
    assert desk.page.select_one("#registration")
    participant = a_ready_participant(session, registered)
    save_answer(session, participant, 1, OrderingAnswer(frozenset({1}), None))
    lifecycle.close_study(session, registered)
    session.rollback()
    desk.open(f"{STUDY}/results")
    sentence = "The analysis is not the registered one. Changed: sample size and stop."
    assert desk.page.select_one("#registered").text.startswith(sentence)
    rows = [
        [cell.text for cell in row.select("th, td")]
        for row in desk.page.select("#registration tbody tr")
    ]
    assert len(rows) == len(ITEMS)
    assert ["Sample size", "changed", "30", "0"] in rows
    assert {row[1] for row in rows if row[0] not in ("Sample size", "Stop")} == {"same"}
    desk.open(f"{STUDY}/results?ties=split")
    assert "options" in desk.page.select_one("#registered").text
    figures = json.loads(desk.client.get(f"{STUDY}/files/analysis.json").text)
    assert "registration" not in figures
    assert desk.client.get(f"{STUDY}/files/registration.json").text == registered.registration


def test_a_draft_that_cannot_open_yet_says_that_its_digest_will_change(session, desk, study):
    desk.open(PAGE)
    assert not desk.page.select_one("#too-early")
    lifecycle.change_plan(session, study, replace(study.plan, asked_by=""), "Ada")
    session.rollback()
    desk.open(PAGE)
    assert "participants do not read who asks" in desk.page.select_one("#too-early").text


def test_a_study_that_opened_without_one_says_so(session, study, desk):
    open_it(session, study)
    desk.open(PAGE)
    assert "This study was not preregistered before it opened." in desk.text
    desk.post(PAGE, **STATED)
    assert desk.status == 403
