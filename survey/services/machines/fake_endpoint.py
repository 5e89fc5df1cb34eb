"""A simulated machine behind a real address on this machine, with the faults of real servers.

It answers by the SHA-256 of request and sample, from a planted preference of the study's kind, so
the same questions always get the same answers.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import numpy as np

from survey.core.collections.items import NOTHING_SHOWN
from survey.services.machines.judging import Judging

SIMULATED_MODEL = "simulated machine"
# What it does to a request at first, as real servers do; "schema" refuses a schema at all times.
FAULTS = ("busy", "refusal", "garbage", "cut", "slow", "schema", "error")
BUSY_AGAIN = 2  # how often it is busy before it answers
SLOW_SECONDS = 0.5


class FakeEndpoint:
    """A WSGI application; ``reply``: returns the planted reply to a user's message, or None.

    ``side_bias``: the share of replies that say "left", whatever is there. ``fault``: of FAULTS, in
    ``fault_share`` of the requests. ``bodies``: what was sent, as text.
    """

    def __init__(
        self,
        reply: Callable[[str, np.random.Generator], Mapping[str, Any] | None],
        *,
        side_bias: float = 0.0,
        fault: str = "",
        fault_share: float = 0.2,
    ) -> None:
        self._reply, self._side_bias = reply, side_bias
        self._fault, self._fault_share = fault, fault_share
        self._seen: dict[str, int] = {}
        self._lock = threading.Lock()
        self.bodies: list[str] = []

    def __call__(
        self, environ: Mapping[str, Any], start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        """Answer a request."""
        length = int(environ.get("CONTENT_LENGTH") or 0)
        text = environ["wsgi.input"].read(length).decode()
        if not environ["PATH_INFO"].endswith("/chat/completions"):
            return self._send(start_response, 404, {"error": "no such address"})
        body = json.loads(text)
        key = json.dumps([body["messages"], body["model"], body["seed"]])
        with self._lock:
            self.bodies.append(text)
            self._seen[key] = self._seen.get(key, 0) + 1
            times = self._seen[key]
        chance = np.random.default_rng([*hashlib.sha256(key.encode()).digest()])
        status, answer, headers = self._answer(body, chance, times)
        return self._send(start_response, status, answer, headers)

    def _answer(
        self, body: Mapping[str, Any], chance: np.random.Generator, times: int
    ) -> tuple[int, dict[str, Any], list[tuple[str, str]]]:
        is_hit = chance.random() < self._fault_share
        if self._fault == "schema" and body.get("response_format", {}).get("type") == "json_schema":
            return 400, {"error": {"message": "response_format is not supported"}}, []
        if is_hit and self._fault == "busy" and times <= BUSY_AGAIN:
            return 429, {"error": {"message": "slow down"}}, [("Retry-After", "1")]
        if is_hit and self._fault == "error" and times == 1:
            return 503, {"error": {"message": "overloaded"}}, []
        if is_hit and self._fault == "slow":
            time.sleep(SLOW_SECONDS)
        message = json.dumps(body["messages"][1]["content"])
        reply = self._reply(message, chance)
        if reply is None:
            return 400, {"error": {"message": "this machine does not know the question"}}, []
        if "preferred" in reply and chance.random() < self._side_bias:
            reply = {**reply, "preferred": "left"}
        said: dict[str, Any] = {"role": "assistant", "content": json.dumps(reply)}
        ended = "stop"
        if is_hit and self._fault == "refusal":
            said, ended = {"role": "assistant", "content": None, "refusal": "I cannot."}, "stop"
        elif is_hit and self._fault == "garbage":
            said["content"] = "I would say that it is relevant."
        elif is_hit and self._fault == "cut":
            said["content"], ended = said["content"][:-3], "length"
        choice = {"index": 0, "message": said, "finish_reason": ended}
        tokens = {
            "prompt_tokens": len(message) // 4,
            "completion_tokens": len(str(said["content"])) // 4,
        }
        answer = {
            "object": "chat.completion",
            "model": body["model"],
            "system_fingerprint": "fp_simulated",
            "choices": [choice],
            "usage": tokens,
        }
        return 200, answer, []

    @staticmethod
    def _send(
        start_response: Callable[..., object],
        status: int,
        answer: Mapping[str, Any],
        headers: Iterable[tuple[str, str]] = (),
    ) -> Iterable[bytes]:
        content = json.dumps(answer).encode()
        start_response(
            f"{status} {HTTPStatus(status).phrase}",
            [
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(content))),
                *headers,
            ],
        )
        return [content]


def planted(judging: Judging, preference: str | None) -> Callable[..., Mapping[str, Any] | None]:
    """Return the planted replies to a study's questions, by the content of the message.

    ``preference``: as for `survey simulate`; None for the usual one of the kind.
    """
    kind: Any = judging.kind
    prefers = kind.preference(judging.plan, preference, NOTHING_SHOWN)
    by_message = {
        json.dumps(request.messages(judging.pictures)[1]["content"]): question
        for question, request in judging.questions()
    }

    def reply(message: str, chance: np.random.Generator) -> Mapping[str, Any] | None:
        question = by_message.get(message)
        if question is None:
            return None
        simulated: Mapping[str, Any] = kind.simulated_reply(
            judging.plan, question.asked, prefers, chance
        )
        return simulated

    return reply


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - wsgiref's signature
        """Log nothing."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def serving(endpoint: FakeEndpoint) -> Iterator[str]:
    """Yield the address of a running endpoint on a free port of this machine."""
    with make_server("127.0.0.1", 0, endpoint, _Server, _Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
