"""The page of mails: texts with their preview, planning, and sending beside the requests."""

import pytest

from survey.app import _send_due_mail
from survey.db.models import Guest
from survey.services import accounts
from survey.services.studies import lifecycle, recruitment
from tests.databases import ON_SQLITE
from tests.mail_server import mail_server
from tests.web.desk import STUDY, Desk

pytestmark = ON_SQLITE

MAILS = f"{STUDY}/invite/mails"


@pytest.fixture
def server(app):
    with mail_server() as server:
        app.config.update(SMTP=server.settings, ADDRESS="https://survey.example.org")
        yield server


@pytest.fixture
def invited(session, study):
    """An open study with two guests."""
    lifecycle.open_study(session, study, anyway="a trial")
    recruitment.add_guests(session, study, {"Ann": "ann@x.org", "Bob": "refused@x.org"})
    return study


def test_planned_mails_are_sent_beside_the_requests_and_shown(app, session, desk, invited, server):
    desk.open(MAILS)
    desk.send(f"{MAILS}/invitation")
    assert "2 × invitation: the server sends them now" in desk.text
    assert "2 mails are still to be sent." in desk.text
    session.rollback()
    with app.app_context():
        _send_due_mail(app)
    assert server.recipients == ["ann@x.org"]
    desk.open(f"{MAILS}?list=1")
    assert "no such person" in desk.text
    assert "still to be sent" not in desk.text
    desk.open(MAILS)
    assert "Send the invitation to 1 …" in desk.text
    assert "Send the reminder to 1 …" in desk.text


def test_texts_are_edited_previewed_and_kept_when_wrong(session, desk, invited):
    desk.open(MAILS)
    usual = desk.page.select_one("[name=invitation]").text
    assert "Dear {name}," in usual
    assert "Dear Ada Lovelace," in desk.page.select_one("#preview").text
    desk.send(MAILS, mail_subject="Join {title}", invitation="Hello {name}, no address")
    assert desk.status == 400
    assert "has no {link}" in desk.text
    assert "Hello {name}, no address" in desk.page.select_one("[name=invitation]").text
    desk.send(MAILS, mail_subject="Join {title}", invitation="Hello {name}: {link}")
    assert "Hello Ada Lovelace: http" in desk.page.select_one("#preview").text
    session.expire_all()
    stored = lifecycle.find_study(session, "a-study").recruitment
    assert (stored["invitation"], "reminder" in stored) == ("Hello {name}: {link}", False)
    session.rollback()
    desk.open(f"{STUDY}/invite")
    desk.send(f"{STUDY}/invite/settings", code_complete="DONE")
    session.expire_all()
    stored = lifecycle.find_study(session, "a-study").recruitment
    assert (stored["code_complete"], stored["mail_subject"]) == ("DONE", "Join {title}")


def test_without_a_mail_server_the_page_offers_the_file(session, desk, invited):
    desk.open(MAILS)
    assert "This server sends no e-mail" in desk.text
    assert not desk.page.select(f"form[action='{MAILS}/invitation']")
    desk.open(f"{STUDY}/guests.csv")
    assert desk.response.data.decode().startswith("\ufeffname,link,status,e-mail\nAnn,")
    session.rollback()
    assert session.query(Guest).filter(Guest.mail_due.is_not(None)).count() == 0


def test_a_viewer_sees_no_addresses(app, session, desk, invited, server):
    viewer = Desk(app, session, "Grace")
    accounts.share(session, invited, accounts.researcher_named(session, "Grace"), "viewer")
    session.commit()
    viewer.open(MAILS)
    assert viewer.status == 403
    viewer.open(f"{MAILS}?list=1")
    assert viewer.status == 403
