"""The faults of real servers: waited for, read again, or said in one sentence."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from survey.services.machines import endpoint as endpoints
from survey.services.machines.endpoint import Endpoint, EndpointError
from survey.services.machines.fake_endpoint import FakeEndpoint, serving
from tests.services.machines.desk import Asked, judging_of

GRADE = '{"grade": 1}'


def answered(content, **more):
    said = {"role": "assistant", "content": content, **more}
    return {"model": "m", "choices": [{"message": said, "finish_reason": "stop"}]}


class Scripted:
    """A server that gives one answer after another: status, body, headers."""

    def __init__(self, *answers):
        self.answers, self.bodies, self.headers = [*answers], [], []

    def __call__(self, environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        self.bodies.append(json.loads(environ["wsgi.input"].read(length)))
        self.headers.append(environ.get("HTTP_AUTHORIZATION"))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        status, body, headers = answer
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        start_response(f"{status} {'OK' if status == 200 else 'Other'}", [*headers.items()])
        return [content]


def ask(*answers):
    """Return the reply to one request, the server, and the seconds that were waited."""
    judging, server, waits = judging_of("labelling"), Scripted(*answers), []
    _, request = next(iter(judging.questions()))
    with serving(server) as url:
        reply = Endpoint(url, judging.schema, wait=waits.append).ask(request, judging.pictures, 1)
    return reply, server, waits


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_busy_server_is_asked_again_after_a_while(status):
    reply, server, waits = ask((status, {}, {}), (status, {}, {}), (200, answered(GRADE), {}))
    assert reply.content == GRADE
    assert len(server.bodies) == 3
    assert 1 <= waits[0] <= 2 <= waits[1] <= 4


def test_a_server_that_stays_busy_ends_the_start_after_five_tries():
    with pytest.raises(EndpointError, match=r"answers 503, 5 times\. What it answered so far is k"):
        ask((503, {}, {}))


def test_retry_after_is_obeyed_as_seconds_and_as_a_date():
    _, _, waits = ask((429, {}, {"Retry-After": "7"}), (200, answered(GRADE), {}))
    assert waits == [7.0]
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    _, _, waits = ask((503, {}, {"Retry-After": moment}), (200, answered(GRADE), {}))
    assert 25 < waits[0] <= 30
    with pytest.raises(EndpointError, match="asks to wait 60 minutes"):
        ask((429, {}, {"Retry-After": "3600"}))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refuses the key"),
        (403, "does not allow this"),
        (404, "has no such address or model"),
        (402, "answers 402"),
    ],
)
def test_what_trying_again_would_not_change_ends_at_once(status, words):
    with pytest.raises(EndpointError, match=words):
        ask((status, {"error": "no"}, {}))


def test_a_redirect_is_not_followed():
    with pytest.raises(EndpointError, match="redirects to another address"):
        ask((302, {}, {"Location": "https://elsewhere.example/v1"}))


def test_a_server_without_schemas_is_asked_for_an_object_and_then_for_no_format():
    reply, server, _ = ask((400, {}, {}), (400, {}, {}), (200, answered(GRADE), {}))
    formats = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert formats == ["json_schema", "json_object", None]
    assert reply.format == "none"
    with pytest.raises(EndpointError, match="answers 400"):
        ask((400, {"error": "bad"}, {}))


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[]", b"{}", {"choices": []}, {"choices": [{"message": None}]}, {"choices": [1]}],
)
def test_what_is_no_chat_completion_has_no_content(body):
    reply, _, _ = ask((200, body, {}))
    assert reply.content is None


def test_a_refusal_is_told_from_an_answer():
    assert ask((200, answered(None, refusal="no"), {}))[0].refused
    filtered = {"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}
    assert ask((200, filtered, {}))[0] == ask((200, filtered, {}))[0]
    assert ask((200, filtered, {}))[0].refused


def test_the_key_is_in_a_header_and_in_no_error(monkeypatch):
    monkeypatch.setenv(endpoints.KEY_VARIABLE, "sk-secret-key")
    _, server, _ = ask((200, answered(GRADE), {}))
    assert server.headers == ["Bearer sk-secret-key"]
    with pytest.raises(EndpointError) as error:
        ask((402, {"error": "the key sk-secret-key has no credit"}, {}))
    assert "sk-secret-key" not in str(error.value)


@pytest.mark.parametrize("url", ["http://example.org/v1", "http://192.0.2.1/v1"])
def test_texts_leave_this_machine_encrypted_only(url):
    with pytest.raises(EndpointError, match="unencrypted"):
        Endpoint(url, {})


@pytest.mark.parametrize("url", ["ftp://x/v1", "example.org", "https://me:key@example.org/v1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(EndpointError, match="is not an address"):
        Endpoint(url, {})


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"])
def test_this_machine_may_be_asked_without_encryption(url):
    assert Endpoint(url, {}).is_local


@pytest.mark.parametrize("fault", ["busy", "error", "schema"])
def test_what_servers_do_at_times_loses_no_answer(fault, tmp_path):
    asked = Asked(judging_of("labelling"), tmp_path, fault=fault, fault_share=0.5)
    assert {answer.status for answer in asked.record.answers} == {"answered"}
    if fault == "schema":
        assert asked.record.about["response_formats"] == ["json_object"]


@pytest.mark.parametrize(
    ("fault", "status"), [("refusal", "refused"), ("garbage", "unreadable"), ("cut", "unreadable")]
)
def test_an_answer_that_cannot_be_had_is_no_default_label(fault, status, tmp_path):
    asked = Asked(judging_of("labelling"), tmp_path, fault=fault, fault_share=1.0)
    assert {(answer.status, answer.answer) for answer in asked.record.answers} == {(status, "")}
    questions = len([*asked.judging.questions()])
    assert len(asked.fake.bodies) == 3 * questions  # asked twice more each
    some = Asked(judging_of("labelling"), tmp_path / "some", fault=fault, fault_share=0.3)
    assert some.record.counts["answered"] > 0


def test_the_fake_answers_by_request_and_sample_alone(tmp_path):
    judging = judging_of("preference", samples=5)
    first = Asked(judging, tmp_path / "1", preference=None).record
    second = Asked(judging, tmp_path / "2", preference=None).record
    assert first == second


def test_the_fake_knows_no_other_address():
    judging = judging_of("labelling")
    _, request = next(iter(judging.questions()))
    with serving(FakeEndpoint(lambda *_: {})) as url:
        endpoint = Endpoint(url, judging.schema)
        endpoint.url = url.replace("/v1", "/v1/other?")
        with pytest.raises(EndpointError, match="404"):
            endpoint.ask(request, judging.pictures, 1)
