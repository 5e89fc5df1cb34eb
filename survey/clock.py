"""The clock: all times that are stored come from here."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)
