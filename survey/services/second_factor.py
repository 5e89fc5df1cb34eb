"""Researchers' second factor: an app's codes (RFC 6238), each accepted once; recovery codes."""

import base64
import hmac
from urllib.parse import quote

from sqlalchemy.orm import Session

from survey import tokens
from survey.db import queries
from survey.db.models import Researcher, now
from survey.errors import SurveyError

STEP = 30  # seconds for which an app shows a code
DRIFT = 1  # steps by which a phone's clock may differ
RECOVERY_CODES = 10


def secret_of(key: str, seed: str) -> bytes:
    """Return the secret that an app shares with the survey.

    It is derived from the server's key, so that a copy of the database alone makes no code.
    """
    return hmac.digest(key.encode(), f"second factor:{seed}".encode(), "sha256")[:20]


def as_text(secret: bytes) -> str:
    """Return a secret as apps expect it to be typed."""
    return base64.b32encode(secret).decode()


def app_address(secret: bytes, name: str, server: str) -> str:
    """Return the address that a QR code holds for apps."""
    label = f"{quote(server, safe='')}:{quote(name, safe='')}"
    return f"otpauth://totp/{label}?secret={as_text(secret)}&issuer={quote(server, safe='')}"


def code_at(secret: bytes, step: int) -> str:
    """Return the six digits that an app shows in this step of thirty seconds since 1970."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = mac[-1] & 15
    return f"{int.from_bytes(mac[start : start + 4], 'big') % 2**31 % 10**6:06}"


def set_up(session: Session, key: str, researcher: Researcher, seed: str, code: str) -> list[str]:
    """Store the second factor whose secret has this seed; return its recovery codes.

    ``code``: what the app shows; raises SurveyError if it is another. The caller commits.
    """
    researcher = queries.locked(session, Researcher, id=researcher.id, name=researcher.name)
    if researcher.second_factor == seed:  # the page was loaded again: its codes would be replaced
        raise SurveyError(
            "This is set up already, and its recovery codes were shown once. For new ones, set it "
            "up again."
        )
    step = _step_of(secret_of(key, seed), code)
    if step is None:
        raise SurveyError("This is not the code that the app shows now. Please type the next one.")
    recovery_codes = [
        "-".join(tokens.random_code(5) for _ in range(3)) for _ in range(RECOVERY_CODES)
    ]
    researcher.second_factor, researcher.last_code_step = seed, step
    researcher.recovery_codes = [tokens.hash_code(code) for code in recovery_codes]
    return recovery_codes


def remove(researcher: Researcher) -> None:
    """Remove a researcher's second factor; the caller commits."""
    researcher.second_factor, researcher.last_code_step = None, None
    researcher.recovery_codes = []


def use_code(session: Session, key: str, researcher: Researcher, code: str) -> bool:
    """Return whether a researcher may sign in with this code, and use it up; the caller commits.

    Without a second factor every code will do, an empty one too.
    """
    researcher = queries.locked(session, Researcher, id=researcher.id, name=researcher.name)
    if researcher.second_factor is None:
        return True
    hashed = tokens.hash_code(code)
    if hashed in researcher.recovery_codes:
        researcher.recovery_codes = [
            other for other in researcher.recovery_codes if other != hashed
        ]
        return True
    step = _step_of(secret_of(key, researcher.second_factor), code)
    last = researcher.last_code_step or 0
    # A last code from the future was accepted while the server's clock was wrong.
    if step is None or step <= last <= _step_now() + DRIFT:
        return False
    researcher.last_code_step = step
    return True


def _step_of(secret: bytes, code: str) -> int | None:
    """Return the step whose code this is, None for a wrong one."""
    typed = "".join(code.split()).encode()
    for step in range(_step_now() - DRIFT, _step_now() + DRIFT + 1):
        if hmac.compare_digest(code_at(secret, step).encode(), typed):
            return step
    return None


def _step_now() -> int:
    return int(now().timestamp()) // STEP
