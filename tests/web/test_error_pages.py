"""Pages of what goes wrong: in the reader's language, where no study says which."""

import tempfile

import pytest
from sqlalchemy import text

from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor, a_plan, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.web.desk import STUDY, Desk

# A file that could not be written is left by Werkzeug to be closed with its object.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.Spooled:ResourceWarning")


@ON_SQLITE
@pytest.mark.parametrize(
    ("asked", "spoken", "title"),
    [
        ("el", "el", "Δεν υπάρχει τέτοια σελίδα"),
        ("el-GR,el;q=0.9,en;q=0.5", "el", "Δεν υπάρχει τέτοια σελίδα"),
        ("en", "en", "There is no such page"),
        ("fr", "en", "There is no such page"),
    ],
)
@pytest.mark.parametrize("address", ["/nowhere", "/s/no-such-study"])
def test_an_error_speaks_the_language_the_browser_asks_for(client, address, asked, spoken, title):
    answer = client.get(address, headers={"Accept-Language": asked})
    assert answer.status_code == 404
    assert f'<html lang="{spoken}">' in answer.text
    assert title in answer.text


@ON_SQLITE
@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("no-such", 404),
        ("q/99", 404),
        ("q/1000", 404),
        ("q/1/no-such", 404),
        ("practice/check", 405),
    ],
)
def test_an_error_within_a_study_speaks_the_language_of_the_study(client, session, address, status):
    study = an_open_study(session, language="el")
    visitor = Visitor(client)
    visitor.go("/review")  # a question after the last is no page only now
    answer = client.get(f"/s/{study.slug}/{address}", headers={"Accept-Language": "en"})
    assert answer.status_code == status
    assert '<html lang="el">' in answer.text


@ON_SQLITE
def test_an_error_within_a_draft_does_not_tell_its_language(client, session):
    lifecycle.create_owned_study(session, None, "draft", a_plan(language="el"), Recruitment())
    session.rollback()
    answer = client.get("/s/draft/no-such", headers={"Accept-Language": "en"})
    assert (answer.status_code, '<html lang="en">' in answer.text) == (404, True)


@ON_SQLITE
def test_an_upload_without_a_temporary_folder_is_answered_with_503(
    app, session, tmp_path, monkeypatch, caplog
):
    desk = Desk(app, session)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    head = b'--x\r\nContent-Disposition: form-data; name="bundle"; filename="a.zip"\r\n\r\n'
    answer = desk.client.post(
        "/research/import",
        data=head + b"x" * 1_000_000 + b"\r\n--x--\r\n",
        content_type="multipart/form-data; boundary=x",
    )
    assert answer.status_code == 503
    assert "The server could not write a file, so nothing was changed." in answer.text
    assert "missing" in caplog.text  # the log says which folder


@ON_BOTH
def test_a_form_that_waited_for_an_erasure_says_that_all_is_deleted(
    client, session, engine, monkeypatch
):
    an_open_study(session)
    visitor = Visitor(client)
    visitor.go("/about-you")
    session.rollback()
    look = lifecycle.queries.locked_participant

    def erase_first(mine, record):
        mine.execute(text("DELETE FROM participant"))
        return look(mine, record)

    monkeypatch.setattr(lifecycle.queries, "locked_participant", erase_first)
    visitor.submit("/about-you", age="23", education="School")
    assert visitor.status == 404
    assert "was deleted in the meantime" in visitor.text


@ON_BOTH
def test_a_change_that_waited_for_the_deletion_of_its_study_says_so(
    app, session, engine, monkeypatch
):
    desk = Desk(app, session)
    ada = accounts.find_researcher(session, "Ada")
    lifecycle.create_owned_study(session, ada, "a-study", a_plan(), Recruitment())
    session.rollback()
    desk.open(f"{STUDY}/invite")
    look = lifecycle.queries.locked_study

    def delete_first(mine, study):
        mine.execute(text("DELETE FROM study"))
        mine.commit()
        return look(mine, study)

    monkeypatch.setattr(lifecycle.queries, "locked_study", delete_first)
    desk.send(f"{STUDY}/invite/settings", code_complete="ADA-1")
    assert desk.status == 404
    assert "was deleted in the meantime" in desk.text
