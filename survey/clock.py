"""The only clock: server time in UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)
