"""What a check finds."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "DANGER"]


@dataclass(frozen=True)
class Finding:
    """The outcome of one check; ``text`` says what was found and, unless ok, what to do."""

    check: str
    level: Level
    text: str


def ok(check: str, text: str) -> Finding:
    """Return that a check found nothing wrong."""
    return Finding(check, "ok", text)


def warning(check: str, text: str) -> Finding:
    """Return what should be mended, although the survey can run."""
    return Finding(check, "warning", text)


def danger(check: str, text: str) -> Finding:
    """Return that with which no survey should be served."""
    return Finding(check, "DANGER", text)
