"""Promise 5: a class behind one address is not slowed down, whoever guesses passwords is."""

import pytest

from survey.db.models import Participant
from survey.services import accounts
from tests.builders import RESEARCHER_COOKIE, Visitor, an_open_study

CLASS = 300
PASSWORD = "a row of four words"


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.mark.trial
def test_a_class_behind_one_address_meets_no_limit(app, session, measured):
    plan = {"questions": 2, "practice": False, "personal_fields": [], "participants": CLASS}
    an_open_study(session, "class", **plan)
    seen: dict[int, int] = {}
    for _ in range(CLASS):
        pupil = Visitor(app.test_client(), "class")
        pupil.client.environ_base["REMOTE_ADDR"] = "127.0.0.1"
        for path, fields in LESSON:
            if not path:
                pupil.open()
            else:
                pupil.submit(path, **fields)
            seen[pupil.status] = seen.get(pupil.status, 0) + 1
        assert pupil.path == "/done"
    assert set(seen) == {200}
    session.rollback()
    assert session.query(Participant).filter_by(status="complete").count() == CLASS
    measured(f"{CLASS} participants behind one address finished: {seen[200]:,} pages, no 429")


LESSON = (
    ("", {}),
    ("/begin", {}),
    ("/consent", {"agree": "y"}),
    ("/about-you", {}),
    ("/scenario", {}),
    ("/q/1", {"choice": "1"}),
    ("/q/2", {"choice": ["2", "3"], "settle": "several"}),
    ("/review", {}),
)


@pytest.mark.slow
def test_however_many_only_begin_the_study_has_room_for_those_who_agree(app, session, measured):
    slug, places, crowd = "class", 30, 60
    an_open_study(session, slug, participants=places)
    for _ in range(crowd):
        visitor = Visitor(app.test_client(), slug)
        visitor.open()
        visitor.submit("/begin")
        assert visitor.path == "/consent"
    serious = Visitor(app.test_client(), slug)
    serious.take_part()
    assert serious.path == "/done"
    measured(f"{crowd} browsers began a study with {places} places: another could take part")


def sign_in(client, name, password):
    page = client.get("/research/sign-in").text
    token = page.partition('name="csrf_token"')[2].partition('value="')[2].partition('"')[0]
    fields = {"csrf_token": token, "name": name, "password": password}
    return client.post("/research/sign-in", data=fields).status_code


def test_a_burst_of_guesses_under_one_name_is_slowed_down_and_another_name_is_not(
    app, session, measured
):
    for name in ("Ada", "Grace"):
        accounts.set_password(session, accounts.add_researcher(session, name)[1], PASSWORD)
    session.rollback()
    known, other = app.test_client(), app.test_client()
    for client, name in ((known, "Ada"), (other, "Grace")):
        assert sign_in(client, name, PASSWORD) == 303
        client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    guesses = [sign_in(app.test_client(), "Ada", f"guess number {n}") for n in range(10)]
    assert guesses.count(429) >= 5
    assert sign_in(app.test_client(), "Ada", PASSWORD) == 429
    assert sign_in(known, "ada", PASSWORD) == 303
    assert sign_in(other, "Ada", PASSWORD) == 429
    assert sign_in(app.test_client(), "Grace", PASSWORD) == 303
    measured(
        f"Of 10 guesses of one password {guesses.count(429)} were answered 429, "
        "and meanwhile somebody else, and the right person in a known browser, could sign in"
    )
