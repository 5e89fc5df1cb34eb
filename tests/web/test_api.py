"""What programs read of a study: JSON, with a token that opens one study."""

import io
import json
import zipfile
from datetime import timedelta

import pytest

from survey.db.models import Event, ReadToken, now
from survey.errors import NotFoundError, SurveyError
from survey.services import accounts, read_tokens
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle as bundles
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import open_files
from survey.services.participation import participants
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import a_plan, a_ready_participant, save_answer
from tests.services.exchange.conftest import ticked
from tests.web.desk import open_it

API = "/api/v1"
STUDY = f"{API}/studies/a-study"
ADDRESSES = [f"{API}/studies", STUDY, *(f"{STUDY}/{name}" for name in ("progress", "results"))]


class Program:
    """A program with a token."""

    def __init__(self, app, token):
        self.client, self.headers = app.test_client(), {"Authorization": f"Bearer {token}"}

    def read(self, address, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.get(address, headers={**self.headers, **named})


@pytest.fixture
def study(session, desk):
    ada = accounts.find_researcher(session, "Ada")
    plan = a_plan(questions=2)
    study = lifecycle.create_owned_study(session, ada, "a-study", plan, Recruitment())
    lifecycle.create_owned_study(session, ada, "another", plan, Recruitment())
    open_it(session, study)
    for number in range(3):
        participant = a_ready_participant(session, study, f"browser {number}")
        for position in (1, 2):
            save_answer(session, participant, position, ticked(1), 9.5)
        participants.finish(session, participant)
    session.commit()
    return study


@pytest.fixture
def program(app, session, study):
    return Program(app, read_tokens.add(session, study, "dashboard", 30, "Ada"))


def close(session, study):
    lifecycle.close_study(session, study, "Ada")
    session.rollback()


def test_progress_is_that_of_the_command(session, program, study):
    content = program.read(f"{STUDY}/progress").json
    assert content["participants"] == lifecycle.progress(session, study)
    assert content["participants"]["complete"] == 3
    assert content["status"] == "open"
    assert content["minutes"]["finished"] == 3
    described = program.read(STUDY).json
    assert described == json.loads(json.dumps(lifecycle.describe(study)))
    assert program.read(f"{API}/studies").json == [described]


def test_results_and_bundle_can_be_read_once_the_study_is_closed(session, program, study):
    for name in ("results", "bundle"):
        refused = program.read(f"{STUDY}/{name}")
        assert refused.status_code == 404
        assert refused.json == {
            "error": f"The {name} of 'a-study' can be read when the study is closed; it is open "
            "now."
        }
    session.rollback()
    assert study.unblinded_at is None
    close(session, study)
    computed = bundles.results_of(session, study, AnalysisOptions()).all_json()
    session.rollback()
    assert program.read(f"{STUDY}/results").json == json.loads(json.dumps(computed))
    answer = program.read(f"{STUDY}/bundle")
    assert answer.mimetype == "application/zip"
    files = open_files(io.BytesIO(answer.data), "bundle")
    assert "identities.csv" not in files
    assert [*replicate(files)]
    assert zipfile.is_zipfile(io.BytesIO(answer.data))


def test_what_has_not_changed_is_not_sent_again(session, program, study):
    close(session, study)
    for address in [*ADDRESSES, f"{STUDY}/bundle"]:
        first = program.read(address)
        tag = first.headers["ETag"]
        again = program.read(address, If_None_Match=tag)
        assert (again.status_code, again.data) == (304, b""), address
        assert again.headers["ETag"].removeprefix("W/") == tag.removeprefix("W/")
        assert first.headers["Cache-Control"] == "private, no-cache"
        assert "Authorization" in first.headers["Vary"]
    excluded = session.query(ReadToken).one().study.id
    assert excluded == study.id
    person = lifecycle.queries.find(session, participants.Participant, study_id=study.id, id=1)
    lifecycle.exclude(session, study, person, "Ada", "left early")
    session.rollback()
    assert program.read(f"{STUDY}/results", If_None_Match=tag).status_code == 200


def test_without_a_token_that_works_nothing_is_read(app, session, program, study):
    ended = read_tokens.add(session, study, "ended", 1, "Ada")
    session.query(ReadToken).filter_by(name="ended").update({"expires_at": now()})
    session.commit()
    for token in ("", "unknown", ended):
        answer = Program(app, token).read(STUDY)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert "survey token add" in answer.json["error"]
    assert app.test_client().get(STUDY).status_code == 401
    basic = app.test_client().get(STUDY, auth=("name", "password"))
    assert basic.status_code == 401
    removed = Program(app, read_tokens.add(session, study, "removed", 1, "Ada"))
    assert removed.read(STUDY).status_code == 200
    read_tokens.remove(session, study, "removed", "Ada")
    assert removed.read(STUDY).status_code == 401


def test_a_token_opens_no_other_study(program):
    for name in ("another", "no-such-study"):
        for rest in ("", "/progress", "/results", "/bundle"):
            answer = program.read(f"{API}/studies/{name}{rest}")
            assert answer.status_code == 404
            assert answer.json == {"error": "There is no such study, or the token is of another."}
    assert program.read(f"{API}/nothing").json == {"error": "There is no such page"}


def test_a_token_makes_sixty_requests_a_minute(session, program, study):
    for _ in range(read_tokens.MOST_IN_A_MINUTE):
        assert program.read(f"{STUDY}/progress").status_code == 200
    refused = program.read(f"{STUDY}/progress")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.json["error"].startswith("More than 60 requests in a minute: wait ")
    row = session.query(ReadToken).one()
    assert row.requests == read_tokens.MOST_IN_A_MINUTE
    row.minute_began_at = now() - timedelta(minutes=1)
    session.commit()
    assert program.read(f"{STUDY}/progress").status_code == 200


def test_other_sites_cannot_read_it(program):
    answer = program.read(STUDY, Origin="https://elsewhere.example.org")
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def test_nothing_can_be_changed(program):
    for address in ADDRESSES:
        for method in ("post", "put", "delete", "patch"):
            answer = getattr(program.client, method)(address, headers=program.headers)
            assert answer.status_code == 405
            assert answer.json["error"]


def test_its_description_names_every_address(app, program):
    described = program.client.get(f"{API}/openapi.json").json
    assert described["openapi"] == "3.1.0"
    assert [server["url"][-1] for server in described["servers"]] == ["t"]  # of localhost
    rules = {rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("api.")}
    assert {path.replace("{", "<").replace("}", ">") for path in described["paths"]} == rules
    for path, methods in described["paths"].items():
        operation = methods["get"]
        assert operation["summary"].endswith("."), path
        assert [part["name"] for part in operation["parameters"]] == ["slug"] * path.count("{")


def test_tokens_are_named_logged_and_stored_as_hashes_only(session, study):
    token = read_tokens.add(session, study, "  our   dashboard ", 30, "Ada")
    assert token.startswith("survey-")
    row = session.query(ReadToken).one()
    assert row.name == "our dashboard"
    assert token not in str(vars(row))
    with pytest.raises(SurveyError, match="has a token 'our dashboard' already"):
        read_tokens.add(session, study, "our dashboard", 30, "Ada")
    with pytest.raises(SurveyError, match="needs a name"):
        read_tokens.add(session, study, " ", 30, "Ada")
    with pytest.raises(NotFoundError, match=r"no token 'our dashbord'.*our dashboard"):
        read_tokens.remove(session, study, "our dashbord", "Ada")
    read_tokens.remove(session, study, "our dashboard", "Ada")
    with pytest.raises(NotFoundError, match="It has none"):
        read_tokens.remove(session, study, "our dashboard", "Ada")
    kinds = [event.kind for event in session.query(Event).order_by(Event.id)][-2:]
    assert kinds == ["token added", "token removed"]


def test_a_deleted_study_takes_its_tokens_along(session, program, study):
    close(session, study)
    lifecycle.archive(session, study, "Ada")
    lifecycle.delete(session, study, "Ada")
    assert session.query(ReadToken).count() == 0
    assert program.read(STUDY).status_code == 401
