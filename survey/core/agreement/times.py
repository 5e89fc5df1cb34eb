"""How long something took, from moments that were noted."""

from datetime import datetime


def seconds_taken(
    active: float | None, shown_at: datetime | None, submitted_at: datetime | None
) -> float | None:
    """Return the seconds an answer took: in view, by the browser, else by the server's clock."""
    return active if active is not None else seconds_between(shown_at, submitted_at)


def seconds_between(begun: datetime | None, ended: datetime | None) -> float | None:
    """Count in whole seconds, as files give the times, so that a bundle's figures are
    the database's; None where a time is missing.
    """
    if begun is None or ended is None:
        return None
    return float(int(ended.timestamp()) - int(begun.timestamp()))
