"""``survey study invite``: links from a file, a merge file, mails through the mail server."""

import json

import pytest

from survey.db.models import Guest
from survey.services.studies import invitations
from tests.builders import an_open_study
from tests.databases import ON_SQLITE
from tests.mail_server import mail_server

pytestmark = ON_SQLITE


@pytest.fixture
def guests(tmp_path):
    file = tmp_path / "guests.csv"
    file.write_text("name,e-mail\nAnn,ann@example.org\nBob,refused@example.org\nCarl,\n")
    return str(file)


def test_a_merge_file_has_the_names_addresses_and_links(run, session, guests, tmp_path):
    an_open_study(session, "a-study")
    target = tmp_path / "links.csv"
    at = ("--at", "https://s.example.org")
    out = run("study", "invite", "a-study", "--guests", guests, "--to", str(target), *at)
    assert "3 new links, 3 in all." in out
    head, ann, *_, carl = target.read_bytes().decode().splitlines()
    assert head == "\ufeffname,link,status,e-mail"
    assert ann.startswith("Ann,https://s.example.org/s/a-study?guest=")
    assert ann.endswith(",not started,ann@example.org")
    assert carl.endswith(",not started,")
    out = run("study", "invite", "a-study", "--links", "2", "--json", *at)
    assert json.loads(out) == {"added": 2, "links": 5, "mails": []}
    assert "0 new links, 5 in all." in run("study", "invite", "a-study", "--guests", guests, *at)


def use(server, monkeypatch):
    for name, value in (
        ("HOST", "127.0.0.1"),
        ("PORT", str(server.server_address[1])),
        ("FROM", "survey@example.org"),
        ("SECURITY", "none"),
    ):
        monkeypatch.setenv(f"SURVEY_SMTP_{name}", value)


def test_mails_are_sent_counted_and_tried_again(run, session, guests, monkeypatch):
    an_open_study(session, "a-study")
    with mail_server() as server:
        use(server, monkeypatch)
        send = ("study", "invite", "a-study", "--send", "--yes", "--json")
        sent = json.loads(run(*send, "--guests", guests))
        assert sent["mails"] == [{"kind": "invitation", "sent": 1, "failed": 1}]
        assert json.loads(run(*send))["mails"] == [{"kind": "invitation", "sent": 0, "failed": 1}]
        refused = (
            "The mail server refused it: 550 5.1.1 no such person\nThe same command tries again."
        )
        assert refused in run(*send[:-1])
        out = run("study", "invite", "a-study", "--remind", "--yes")
        assert "reminder: 1 sent, 0 failed." in out
        assert server.recipients == ["ann@example.org"] * 2
    session.rollback()
    assert session.query(Guest).filter_by(name="Bob").one().mail_fault.endswith("no such person")


def test_what_a_running_server_sends_meanwhile_is_no_failure(run, session, guests, monkeypatch):
    an_open_study(session, "a-study")
    send_due = invitations.send_due

    def beside_a_server(*args):
        of_server = send_due(*args)
        assert next(of_server)
        of_server.close()
        yield from send_due(*args)

    monkeypatch.setattr(invitations, "send_due", beside_a_server)
    with mail_server() as server:
        use(server, monkeypatch)
        send = ("study", "invite", "a-study", "--send", "--yes", "--json", "--guests", guests)
        assert json.loads(run(*send))["mails"] == [{"kind": "invitation", "sent": 1, "failed": 1}]


def test_without_a_mail_server_the_command_says_what_to_do(run, session, guests):
    an_open_study(session, "a-study")
    done = run("study", "invite", "a-study", "--send", "--yes", status=1)
    assert "No mail server is set (SURVEY_SMTP_HOST)" in done


def test_a_server_that_cannot_be_used_is_told_once(run, session, guests, monkeypatch):
    an_open_study(session, "a-study")
    with mail_server() as server:
        for name, value in (
            *(("HOST", "127.0.0.1"), ("PORT", str(server.server_address[1]))),
            *(("FROM", "survey@example.org"), ("SECURITY", "starttls")),
        ):
            monkeypatch.setenv(f"SURVEY_SMTP_{name}", value)
        out = run("study", "invite", "a-study", "--guests", guests, "--send", "--yes")
    assert "invitation: 0 sent, 2 failed." in out
    assert " ".join(out.split()).count("could not be used: it has no STARTTLS") == 1
