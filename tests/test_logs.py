"""The log of a server: errors, or requests too, as text or JSON, without ids and addresses."""

import json
import logging
import re
import sys
from contextlib import suppress

import pytest
import requests

from survey import logs
from tests.builders import SLUG, Visitor
from tests.serving import OverHttp, Server, free_port

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
SURVEY = (sys.executable, "-m", "survey")


def a_record(message="It is %s.", *values, **details):
    return logging.LogRecord("survey.x", logging.WARNING, "x.py", 1, message, values, **details)


def test_a_line_has_time_level_and_message():
    line = logs.LineFormatter().format(a_record("It is %s.", "late", exc_info=None))
    assert re.fullmatch(rf"{TIME} WARNING It is late\.", line)


def test_a_line_of_json_has_them_too_and_where_an_error_came_from():
    try:
        raise ValueError("ünlucky")
    except ValueError:
        record = a_record("It failed.", exc_info=sys.exc_info())
    entry = json.loads(logs.JsonLines().format(record))
    assert re.fullmatch(TIME, entry.pop("time"))
    assert entry.pop("traceback").endswith("ValueError: ünlucky")
    assert entry == {"level": "WARNING", "message": "It failed."}
    assert "\n" not in logs.JsonLines().format(record)


def logged_by(folder, capfd, *options):
    """Return what a server logs while someone takes part and others ask for what is not there."""
    server = Server(folder, free_port(), options=options, command=SURVEY, workers=1)
    server.open_study(SLUG)
    server.start()
    try:
        visitor = Visitor(OverHttp(server.address), SLUG)
        visitor.take_part()
        for path in (f"/s/{SLUG}/q/77", "/s/secret-slug", "/research/welcome/secret-token"):
            requests.get(f"{server.address}{path}", timeout=30)
    finally:
        server.kill()
    text = capfd.readouterr().err
    assert not re.search(r"secret|127\.0\.0\.1|python-requests", text)
    assert SLUG not in text
    return text.splitlines()


@pytest.mark.slow
def test_requests_are_logged_by_their_routes(tmp_path, capfd):
    lines = logged_by(tmp_path, capfd, "--log", "requests")
    form = re.compile(rf"{TIME} INFO (GET|POST) (/\S*|other) \d{{3}} \d+ ms")
    assert all(form.fullmatch(line) for line in lines)
    assert any(" POST /s/<slug>/q/<position> 303 " in line for line in lines)
    assert any(" GET /research/welcome/<token> " in line for line in lines)


@pytest.mark.slow
def test_requests_are_logged_as_json(tmp_path, capfd):
    entries = [
        json.loads(line) for line in logged_by(tmp_path, capfd, "--log=requests", "--log-json")
    ]
    assert {tuple(entry) for entry in entries} == {
        ("time", "level", "message", "method", "route", "status", "milliseconds")
    }
    assert ("POST", "/s/<slug>/q/<position>", 303) in {
        (entry["method"], entry["route"], entry["status"]) for entry in entries
    }


@pytest.mark.slow
def test_without_options_only_what_goes_wrong_is_logged(tmp_path, capfd):
    assert logged_by(tmp_path, capfd) == []


BREAKING = """
from survey import app
create_app = app.create_app

def create_app_that_breaks(*settings, **how):
    made = create_app(*settings, **how)
    made.add_url_rule("/secret/answer", "answer", lambda: (1 / 0 for _ in "a"))
    return made

app.create_app = create_app_that_breaks
import survey.request_limits
from survey.request_limits import Channel

def fail(self, data):
    if b"break" in data:
        raise ValueError("broken")
    return received(self, data)

received, Channel.received = Channel.received, fail
import survey.__main__
survey.__main__.main()
"""


@pytest.mark.slow
def test_what_the_server_itself_says_of_errors_has_no_path_and_no_address(tmp_path, capfd):
    server = Server(tmp_path, free_port(), command=(sys.executable, "-c", BREAKING), workers=1)
    server.start()
    try:
        for path in ("/secret/answer", "/secret/break"):
            with suppress(requests.RequestException):  # the connection is closed
                requests.get(f"{server.address}{path}", timeout=30)
    finally:
        server.kill()
    text = capfd.readouterr().err
    assert "ERROR Exception while serving …\n" in text
    assert "ZeroDivisionError" in text
    assert "closing channel … (<class 'ValueError'>:broken" in text
    assert "secret" not in text
    assert "127.0.0.1" not in text


def test_a_page_that_fails_is_logged_without_its_path(app, client, caplog, monkeypatch):
    def fail(**_):
        raise ValueError("broken")

    monkeypatch.setitem(app.view_functions, "auth.welcome", fail)
    app.config["PROPAGATE_EXCEPTIONS"] = False
    assert client.get("/research/welcome/secret-token").status_code == 500
    assert "A page failed at auth.welcome" in caplog.text
    assert "ValueError: broken" in caplog.text
    assert "secret-token" not in caplog.text
