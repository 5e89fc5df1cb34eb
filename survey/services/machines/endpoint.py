"""An address that answers as OpenAI's chat completions do: asked politely, with all its faults.

The key comes from the environment; it is in no option, record, message or log.
"""

import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests

from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.services.machines.requests import Request

KEY_VARIABLE = "SURVEY_JUDGE_KEY"
MOST_TRIES = 5  # of a request that the server puts off
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between tries
LONGEST_WAIT = 600.0  # seconds that a server may ask to wait for
TIMEOUT = (10, 180)  # seconds to connect, and to answer
MOST_TOKENS = 4_000  # of a reply
BUSY = (408, 409, 425, 429)
SCHEMA, OBJECT, NO_FORMAT = "json_schema", "json_object", "none"
FORMATS = (SCHEMA, OBJECT, NO_FORMAT)
STOPPED = {
    401: f"refuses the key (401); set {KEY_VARIABLE} to a valid one",
    403: "does not allow this (403); the key may not use the model",
    404: "has no such address or model (404); look at --endpoint, which mostly ends with /v1, "
    "and --model",
}


class EndpointError(SurveyError):
    """What ends the judging: the endpoint does not answer, or refuses."""


class Reply(NamedTuple):
    """What came back: ``content`` is None where the model refused or nothing can be read.

    ``refused``: whether it was refused. ``ended``: why the text ended, as the server says.
    ``tokens_in``, ``tokens_out``: as the server counts them, 0 where it does not.
    """

    content: str | None
    refused: bool = False
    ended: str = ""
    model: str = ""
    fingerprint: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    format: str = SCHEMA


@dataclass
class Endpoint:
    """Sends requests to an address; ``wait`` sleeps.

    Raises EndpointError for an address that is neither https nor on this machine.
    """

    url: str
    schema: Json
    wait: Callable[[float], object] = time.sleep
    formats: list[str] = field(default_factory=lambda: [*FORMATS])

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        self.host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not self.host or parts.username:
            raise EndpointError(
                f"{self.url!r} is not an address of an endpoint; it is written like "
                "https://HOST/v1, without a name or key in it."
            )
        if parts.scheme == "http" and not self.is_local:
            raise EndpointError(
                f"{self.host} would get texts and key unencrypted; use https, or an endpoint on "
                "this machine."
            )
        self._session = requests.Session()
        self._session.trust_env = not self.is_local  # a proxy cannot reach this machine
        if key := os.environ.get(KEY_VARIABLE):
            self._session.headers["Authorization"] = f"Bearer {key}"
            self._session.trust_env = False  # ~/.netrc would replace the key

    @property
    def is_local(self) -> bool:
        """Whether the address is on this machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def ask(self, request: Request, pictures: Mapping[str, bytes], seed: int) -> Reply:
        """Return the reply to a request; raises EndpointError where there is no point in going on.

        What the server puts off (429, 5xx, time-outs) is tried five times, after 1 to 60 seconds or
        as long as it asks for.
        """
        messages = request.messages(pictures)
        for tries in range(1, MOST_TRIES + 1):
            form = self.formats[0]
            body = {
                "model": request.model,
                "messages": messages,
                "temperature": request.temperature,
                "seed": seed,
                "max_tokens": MOST_TOKENS,
                **_response_format(form, self.schema),
            }
            fault, pause = "", 0.0
            try:
                response = self._session.post(
                    f"{self.url.rstrip('/')}/chat/completions",
                    json=body,
                    timeout=TIMEOUT,
                    allow_redirects=False,
                )
            except (requests.ConnectionError, requests.Timeout) as error:
                fault = f"does not answer ({type(error).__name__})"
            except requests.RequestException as error:
                raise EndpointError(
                    f"{self.host} cannot be asked: {type(error).__name__}."
                ) from None
            else:
                if response.status_code == 200:
                    return _reply_in(response, form)
                if response.status_code == 400 and self._drop_format(form):
                    return self.ask(request, pictures, seed)
                fault, pause = self._fault_of(response)
            if tries == MOST_TRIES:
                break
            self.wait(pause or _pause_after(tries))
        raise EndpointError(
            f"{self.host} {fault}, {MOST_TRIES} times. What it answered so far is kept: the same "
            "command goes on from there."
        )

    def _drop_format(self, form: str) -> bool:
        """Go on with the next simpler format of replies, where one is left."""
        if len(self.formats) == 1:
            return False
        if self.formats[0] == form:  # else another thread has dropped it already
            del self.formats[0]
        return True

    def _fault_of(self, response: requests.Response) -> tuple[str, float]:
        """Return what a busy server says, and how long to wait; raises for all other answers."""
        status = response.status_code
        if status in BUSY or status >= 500:
            pause = _asked_pause(response.headers.get("Retry-After", ""))
            if pause > LONGEST_WAIT:
                raise EndpointError(
                    f"{self.host} asks to wait {pause / 60:.0f} minutes. What it answered so far "
                    "is kept: start the same command again then."
                )
            return f"answers {status}", pause
        if 300 <= status < 400:
            raise EndpointError(
                f"{self.host} redirects to another address, which is not followed, since the texts "
                "and the key would go there; name that address with --endpoint."
            )
        why = STOPPED.get(status, f"answers {status}: {_said(response)}")
        raise EndpointError(f"{self.host} {why}.")


def _response_format(form: str, schema: Json) -> dict[str, Any]:
    if form == SCHEMA:
        named = {"name": "judgement", "strict": True, "schema": schema}
        return {"response_format": {"type": SCHEMA, "json_schema": named}}
    return {"response_format": {"type": OBJECT}} if form == OBJECT else {}


def _reply_in(response: requests.Response, form: str) -> Reply:
    """Return the reply in a response; one that is no chat completion has no content."""
    try:
        body = response.json()
        choice = body["choices"][0]
        message = choice["message"]
        ended = str(choice.get("finish_reason") or "")
        content = message.get("content")
        refused = bool(message.get("refusal")) or ended == "content_filter"
        usage = body.get("usage") or {}
        return Reply(
            content if isinstance(content, str) and not refused else None,
            refused,
            ended,
            str(body.get("model") or ""),
            str(body.get("system_fingerprint") or ""),
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            form,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Reply(None, ended="unreadable", format=form)


def _pause_after(tries: int) -> float:
    """Return 1 to 60 seconds, twice as long after each try, at random between half and all of it.

    Else all threads would come back at the same moment.
    """
    longest = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2**tries)
    return random.uniform(longest / 2, longest)  # noqa: S311 # nosec B311 # it hides nothing


def _asked_pause(header: str) -> float:
    """Return the seconds of a Retry-After, which may be a date; 0 without a valid one."""
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError):
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _said(response: requests.Response) -> str:
    """Return the beginning of an error's own words, which may not repeat the key."""
    words = " ".join(response.text.split())[:200]
    key = os.environ.get(KEY_VARIABLE)
    return words.replace(key, "…") if key else words
