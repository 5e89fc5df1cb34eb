"""Mails to guests: each once, none to who has finished, faults told, texts in their language."""

import io
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from survey.config import Settings, Smtp, UnsafeSettingsError
from survey.core.studies.fields import PlanError
from survey.db import queries
from survey.db.models import Event, Guest, now
from survey.errors import NotAllowedError
from survey.services.exchange.bundle import stream_bundle
from survey.services.exchange.input_files import open_files
from survey.services.operations import doctor
from survey.services.participation import own_data, participants
from survey.services.participation.participants import Arrival
from survey.services.studies import invitations, lifecycle, recruitment
from survey.services.studies.invitations import INVITATION, REMINDER, UNCERTAIN
from survey.services.studies.recruitment import Recruitment
from tests.builders import KEY, an_open_study
from tests.databases import ON_SQLITE
from tests.mail_server import HOST, mail_server, make_certificate

HOME = "https://survey.example.org"
PEOPLE = {"Ann": "ann@example.org", "Bob": "bob@example.org", "Zoë": "zoe@example.org", "Dan": ""}


@pytest.fixture
def server():
    with mail_server() as server:
        yield server


def a_study(session, people=PEOPLE, **plan):
    study = an_open_study(session, **plan)
    recruitment.add_guests(session, study, people)
    return study


def send(session, study, server, kind=INVITATION):
    planned = invitations.plan_mails(session, study, kind, "Ada")
    sent = [*invitations.send_due(session, server.settings, KEY, HOME, study)]
    return planned, sum(sent)


def guest(session, name):
    session.rollback()
    return session.query(Guest).filter_by(name=name).one()


def finish(session, study, name, status="complete"):
    token = recruitment.link_token(KEY, guest(session, name))
    session.rollback()
    participant = participants.begin(session, study, name, KEY, Arrival(guest=token))
    participant.status = status
    participant.completed_at = now() if status == "complete" else None
    session.commit()


def test_each_guest_with_an_address_is_invited_once(session, server):
    study = a_study(session)
    assert send(session, study, server) == (3, 3)
    assert send(session, study, server) == (0, 0)
    assert sorted(server.recipients) == ["ann@example.org", "bob@example.org", "zoe@example.org"]
    recruitment.add_guests(session, study, {"Eve": "eve@example.org"})
    assert send(session, study, server) == (1, 1)
    assert guest(session, "Ann").invited_at is not None
    assert guest(session, "Dan").invited_at is None
    mail = server.mails[0]
    assert f"{HOME}/s/{study.slug}?guest=" in mail.get_content()
    assert (mail["From"], mail["Auto-Submitted"]) == ("survey@example.org", "auto-generated")
    events = session.query(Event).filter_by(kind="mails sent").all()
    assert [event.detail for event in events] == ["3 × invitation", "1 × invitation"]


def test_who_has_finished_gets_no_reminder_and_others_one(session, server):
    study = a_study(session)
    finish(session, study, "Zoë", "started")
    assert send(session, study, server) == (2, 2)  # whoever has begun needs no invitation
    finish(session, study, "Bob")
    assert send(session, study, server, REMINDER) == (1, 1)
    assert server.recipients[2:] == ["ann@example.org"]
    assert send(session, study, server, REMINDER) == (0, 0)


def test_who_finishes_between_planning_and_sending_is_not_written_to(session, server):
    study = a_study(session)
    invitations.plan_mails(session, study, INVITATION, "Ada")
    finish(session, study, "Bob")
    assert [*invitations.send_due(session, server.settings, KEY, HOME)] == [True, True]
    assert "bob@example.org" not in server.recipients
    assert guest(session, "Bob").invited_at is None


def test_a_refused_address_is_told_and_can_be_tried_again(session, server):
    study = a_study(session, {"Ann": "refused@example.org", "Bob": "bob@example.org"})
    assert send(session, study, server) == (2, 1)
    ann = guest(session, "Ann")
    assert ann.mail_fault == "The mail server refused it: 550 5.1.1 no such person"
    assert ann.invited_at is None
    session.rollback()
    recruitment.add_guests(session, study, {"Ann": "ann@example.org"})
    assert send(session, study, server) == (1, 1)
    assert guest(session, "Ann").mail_fault is None
    assert server.recipients == ["bob@example.org", "ann@example.org"]


@ON_SQLITE
@pytest.mark.parametrize("email", ["ä@x.org", "a..b@x.org", "[x]@y", "a@[", "é'@ü"])
def test_an_odd_address_keeps_no_one_else_from_their_mail(session, server, email):
    study = a_study(session, {"Ann": email, "Bob": "bob@example.org"})
    planned, _ = send(session, study, server)
    assert planned == 2
    assert "bob@example.org" in server.recipients
    assert guest(session, "Ann").mail_due is None


def test_a_mail_after_which_the_connection_breaks_is_not_sent_again(session, server):
    study = a_study(session, {"Ann": "breaks@example.org", "Bob": "bob@example.org"})
    assert send(session, study, server) == (2, 0)
    assert guest(session, "Ann").mail_fault == UNCERTAIN
    assert "could not be used" in guest(session, "Bob").mail_fault
    session.rollback()
    assert send(session, study, server) == (1, 1)
    assert Counter(server.recipients) == {"breaks@example.org": 1, "bob@example.org": 1}


def test_without_the_server_every_mail_has_the_fault_and_stays_to_be_sent(session, server):
    study = a_study(session)
    nowhere = Smtp("127.0.0.1", "survey@example.org", 1, security="none")
    invitations.plan_mails(session, study, INVITATION, "Ada")
    assert [*invitations.send_due(session, nowhere, KEY, HOME)] == [False]
    assert "The mail server 127.0.0.1 could not be used" in guest(session, "Ann").mail_fault
    session.rollback()
    assert send(session, study, server) == (3, 3)


needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes them")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A certificate for the server's address, and one for another name."""
    folder = tmp_path_factory.mktemp("certificates")
    return make_certificate(folder), make_certificate(folder, "mail.example.org")


def fault_of(session, study, settings):
    """The fault of every guest's mail that these settings could not send, else ""."""
    invitations.plan_mails(session, study, INVITATION, "Ada")
    sent = [*invitations.send_due(session, settings, KEY, HOME, study)]
    fault = guest(session, "Ann").mail_fault
    assert all(sent) == (fault is None)
    session.rollback()
    return fault or ""


@needs_openssl
@ON_SQLITE
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mails_go_encrypted_to_a_server_that_is_trusted(
    session, certificates, monkeypatch, security
):
    study, (own, other) = a_study(session), certificates
    with mail_server(own, security) as server:
        fault = fault_of(session, study, server.settings)
        assert fault == (
            f"The mail server {HOST} could not be used: its certificate is not trusted "
            "(self-signed certificate); check SURVEY_SMTP_HOST, or name the file of its authority "
            "in SSL_CERT_FILE."
        )
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        unsigned = replace(server.settings, password="wrong")
        assert fault_of(session, study, unsigned) == (
            f"The mail server {HOST} could not be used: it refuses the sign-in of survey, and it "
            "answers: 535 5.7.8 bad credentials; check SURVEY_SMTP_USER and SURVEY_SMTP_PASSWORD."
        )
        assert not server.mails
        assert send(session, study, server) == (3, 3)
        assert len(server.recipients) == 3
    with mail_server(other, security) as server:
        recruitment.add_guests(session, study, {"Eve": "eve@example.org"})
        monkeypatch.setenv("SSL_CERT_FILE", str(other))
        assert send(session, study, server) == (1, 0)
        fault = guest(session, "Eve").mail_fault
        assert f"not trusted (IP address mismatch, certificate is not valid for '{HOST}')" in fault


@needs_openssl
@ON_SQLITE
def test_a_server_of_another_sort_is_told_by_the_setting_to_change(session, server, certificates):
    study = a_study(session)
    for security, user, remedy in (
        ("starttls", "", "it has no STARTTLS; check SURVEY_SMTP_PORT, or set SURVEY_SMTP_SECURITY"),
        ("tls", "", "does not speak TLS from the first byte; check SURVEY_SMTP_PORT, or set"),
        ("none", "ada", "it has no sign-in; leave SURVEY_SMTP_USER and SURVEY_SMTP_PASSWORD empty"),
    ):
        settings = replace(server.settings, security=security, user=user)
        fault = fault_of(session, study, settings)
        assert remedy in fault
        checked = doctor.check_mail_server(Settings(Path(), HOME, KEY, smtp=settings))
        assert checked.text == fault
    assert not server.mails


def test_several_processes_send_each_mail_once(session, engine, server):
    people = {f"Guest {number}": f"g{number}@example.org" for number in range(12)}
    study = a_study(session, people)
    invitations.plan_mails(session, study, INVITATION, "Ada")
    session.rollback()

    def work(_):
        with Session(engine) as own:
            return sum(invitations.send_due(own, server.settings, KEY, HOME))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 12
    assert sorted(server.recipients) == sorted(people.values())


@ON_SQLITE
def test_mails_are_sent_while_the_study_is_open_alone(session, server):
    study = a_study(session)
    invitations.plan_mails(session, study, INVITATION, "Ada")
    lifecycle.close_study(session, study)
    assert [*invitations.send_due(session, server.settings, KEY, HOME)] == []
    with pytest.raises(NotAllowedError, match="is not open"):
        invitations.plan_mails(session, study, REMINDER, "Ada")
    assert server.mails == []


@ON_SQLITE
@pytest.mark.parametrize(("language", "begins"), [("en", "Dear Zoë,"), ("el", "Γεια σας Zoë,")])
def test_mails_are_in_the_language_of_the_study(session, server, language, begins):
    study = a_study(session, {"Zoë": "zoe@example.org"}, language=language, title="Κατάταξη")
    assert send(session, study, server) == (1, 1)
    assert server.mails[0].get_content().startswith(begins)
    assert "Κατάταξη" in server.mails[0]["Subject"]


@ON_SQLITE
def test_who_erases_their_data_sees_the_address_before_and_is_not_written_to(
    session, server, tmp_path
):
    study = a_study(session, {"Ann": "ann@example.org"})
    assert send(session, study, server) == (1, 1)
    finish(session, study, "Ann", "started")
    participant = guest(session, "Ann").participant
    mails = own_data.own_data(session, study, participant)["mails"]
    assert mails["email"] == "ann@example.org"
    assert mails["invited_at"] is not None
    session.rollback()
    own_data.erase(session, study, participant, tmp_path)
    assert send(session, study, server, REMINDER) == (0, 0)
    assert guest(session, "Ann").email is None


@ON_SQLITE
def test_own_texts_are_filled_in_and_need_the_link(session):
    study = a_study(session)
    settings = Recruitment(mail_subject="For {name}", invitation="Hi {name}: {link} ({minutes})")
    letter = invitations.letter_for(study.plan, settings, INVITATION, "Ann", "http://x")
    assert letter.subject == "For Ann"
    assert letter.text == f"Hi Ann: http://x ({study.plan.minutes})"
    for text, fault in (
        ("Hi {name}", "no {link}"),
        ("{link} {x}", "{x} found"),
        ("{link", "single"),
    ):
        with pytest.raises(PlanError, match=fault.replace("{", r"\{")):
            Recruitment(invitation=text)
    assert not {"invitation", "reminder", "mail_subject"} & Recruitment().as_json().keys()


@ON_SQLITE
def test_addresses_go_with_the_guest_list_and_are_in_no_bundle(session, server):
    study = a_study(session)
    send(session, study, server)
    assert not [each for each in session.query(Event) if "@example.org" in each.detail]
    lifecycle.close_study(session, study)
    bundle = b"".join(stream_bundle(session, study, with_identities=True))
    files = open_files(io.BytesIO(bundle), "a.zip")
    assert not [name for name in files if b"@example.org" in files[name]]
    queries.delete_personal(session, study.id)
    assert session.query(Guest).count() == 0


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({}, "SURVEY_SMTP_FROM is ''"),
        ({"FROM": "a@b\nBcc: x@y"}, "SURVEY_SMTP_FROM"),
        ({"FROM": "a@b.org", "PORT": "x"}, "SURVEY_SMTP_PORT is 'x'; 1 to 65535"),
        ({"FROM": "a@b.org", "SECURITY": "ssl"}, "allowed are starttls, tls, none"),
    ],
)
def test_a_wrong_setting_is_named(settings, fault):
    named = {f"SURVEY_SMTP_{name}": value for name, value in settings.items()}
    with pytest.raises(UnsafeSettingsError) as raised:
        Smtp.from_environment({"SURVEY_SMTP_HOST": "mail.example.org", **named})
    assert fault in str(raised.value)


def test_settings_have_the_usual_port_and_hide_the_password():
    named = {"HOST": "m.org", "FROM": "The study <a@b.org>", "PASSWORD": "secret"}
    environment = {f"SURVEY_SMTP_{name}": value for name, value in named.items()}
    smtp = Smtp.from_environment(environment)
    assert (smtp.port, smtp.security) == (587, "starttls")
    assert "secret" not in repr(smtp)
    assert Smtp.from_environment(environment | {"SURVEY_SMTP_SECURITY": "tls"}).port == 465
    assert Smtp.from_environment({}) is None
