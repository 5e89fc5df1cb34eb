"""A collection's page, and the command that sends runs to it."""

import base64
import json
import re

import pytest

from survey.services.collections import receipts, secret
from tests.databases import ON_SQLITE
from tests.secret_album import NAME, SECRET, TOPICS, a_run, grades, publish_album
from tests.web.desk import Reader, a_file

PAGE = f"/collections/{NAME}"
pytestmark = ON_SQLITE


@pytest.fixture
def album(session, tmp_path):
    return publish_album(session, tmp_path, title="Our album")


@pytest.fixture
def token(session, album):
    token = secret.add_group(session, album, "ACME")
    session.rollback()
    return token


@pytest.fixture
def group(app):
    return Reader(app)


def lines_of(text):
    return {line.split()[0] for line in text.splitlines() if not line.startswith("#")}


def test_the_page_has_topics_and_public_judgements_and_no_secret_one(client, album):
    page = client.get(PAGE).text
    assert "words of t7" in page
    assert album.digest in page
    assert album.salt not in page
    assert lines_of(client.get(f"{PAGE}/files/judgements.txt").text) == {*TOPICS} - {*SECRET}
    rows = client.get(f"{PAGE}/files/topics.csv").text.splitlines()
    assert rows[0] == "topic,text,judgements"
    assert rows[7] == "t7,words of t7,secret"
    assert client.get(f"{PAGE}/files/secret-judgements.txt").status_code == 404
    assert client.get(f"{PAGE}/files/survey.sqlite3").status_code == 404
    assert client.get("/collections/none").status_code == 404
    for answer in (page, client.get("/what-is-stored").text):
        assert not [
            document for topic in SECRET for document in grades(topic) if document in answer
        ]


def test_a_run_sent_by_the_form_gets_feedback_and_a_receipt_to_save(group, album, token, tmp_path):
    group.open(PAGE)
    group.send(PAGE, token=token, run=a_file(a_run(3.0), "run.txt"))
    assert group.status == 200
    feedback = group.page.select_one("#feedback")
    assert re.search(r"AP: \.[0-9]{2} \(\*\*\* against the baseline base\)\.", feedback.text)
    link = feedback.select_one("a[download]")
    media_type, _, content = link["href"].partition(";base64,")
    receipt = json.loads(base64.b64decode(content))
    assert media_type == "data:application/json"
    assert receipts.fault_of(receipt, receipts.public_key(tmp_path)) == ""
    assert receipt["group"] == "ACME"
    assert feedback.select_one(f"a[href='{PAGE}']")
    assert "Judged among the first 10 documents of each topic: 100 %." in feedback.text
    assert group.page.select_one("#send") is None


@pytest.mark.parametrize(
    ("sent", "field", "sentence"),
    [
        (
            {"run": a_file("t1 Q0 d1 1 high tag", "run.txt")},
            "run",
            "The run, line 1: score 'high'",
        ),
        ({}, "run", "Choose the file of your run."),
        ({"token": "", "run": a_file(a_run(1.0), "run.txt")}, "token", "Type the token"),
        ({"token": "x", "run": a_file(a_run(1.0), "run.txt")}, "token", "The token is not that"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(group, album, token, sent, field, sentence):
    group.open(PAGE)
    group.send(PAGE, **{"token": token, **sent})
    assert group.status == 400
    error = group.page.select_one(f"#{field}-error")
    assert sentence in error.text
    assert group.page.select_one(f"#problems a[href='#{field}']")
    assert group.page.title.text.startswith("Error: ")


def test_a_form_without_its_csrf_token_takes_nothing(client, album, token):
    answer = client.post(PAGE, data={"token": token, "run": a_file(a_run(1.0), "run.txt")})
    assert answer.status_code == 400
    assert album.groups[0].submissions == []


def test_a_long_run_is_refused_unread(client, album, token):
    headers = {"Authorization": f"Bearer {token}"}
    assert client.post(f"{PAGE}/runs", data=b"x" * 2**21, headers=headers).status_code == 413


def test_wrong_tokens_are_answered_alike_whatever_is_sent(client, album):
    answers = {
        client.post(f"{PAGE}/runs", data=content, headers=headers).text
        for content in (a_run(1.0).encode(), b"", b"\x1f\x8b")
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic eDp5"})
    }
    assert len(answers) == 1


def test_the_scheme_of_a_token_is_in_any_case(client, album, token):
    headers = {"Authorization": f"bearer {token}"}
    assert client.post(f"{PAGE}/runs", data=a_run(1.0), headers=headers).status_code == 200


def test_the_end_shows_scores_and_what_was_revealed(client, session, album, group, token):
    group.open(PAGE)
    group.send(PAGE, token=token, run=a_file(a_run(3.0), "run.txt"))
    assert "Final scores" not in client.get(PAGE).text
    secret.close(session, album)
    group.open(PAGE)
    assert [row.th.text for row in group.page.select("#results tbody tr")] == [
        "ACME",
        "baseline base",
    ]
    assert group.page.select_one("#send") is None
    assert "secret until then" not in group.text
    assert "t7,words of t7,secret" in client.get(f"{PAGE}/files/topics.csv").text
    secret.reveal(session, album)
    assert "secret until then" in client.get(PAGE).text
    assert "t7,words of t7,revealed" in client.get(f"{PAGE}/files/topics.csv").text
    assert lines_of(client.get(f"{PAGE}/files/secret-judgements.txt").text) == {*SECRET}
