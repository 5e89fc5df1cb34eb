"""Whether a server's background work, deleting what is due, is done as often as is promised."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from survey.db.models import now

UPKEEP_FILE = "upkeep.json"  # in the instance folder
BETWEEN = timedelta(hours=1)
ALLOWED_DELAY = timedelta(hours=3)


class Upkeep(NamedTuple):
    """When everything due was deleted last, or a server first ran; and where it failed since."""

    since: datetime
    failed: Sequence[str] = ()


def noted(instance: Path) -> Upkeep | None:
    """Return what is noted in an instance folder, None where no server has run."""
    try:
        content = json.loads((instance / UPKEEP_FILE).read_text())
        return Upkeep(datetime.fromisoformat(content["since"]), content["failed"])
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def note_begun(instance: Path) -> None:
    """Note that a server runs, where none is known to have run."""
    if noted(instance) is None:
        _write(instance, Upkeep(now()))


def note_done(instance: Path, failed: Sequence[str]) -> None:
    """Note that everything due is deleted now, but in the studies where it ``failed``."""
    earlier = noted(instance)
    _write(instance, Upkeep(earlier.since if failed and earlier else now(), failed))


def reason_late(instance: Path) -> str:
    """Return why personal data may be kept for longer than promised, "" where they are not."""
    upkeep = noted(instance)
    if upkeep is None:
        return ""
    if upkeep.failed:
        names = ", ".join(upkeep.failed)
        return f"personal data that are due could not be deleted in {names}; the log says why"
    waited = now() - upkeep.since
    if waited <= ALLOWED_DELAY:
        return ""
    hours = waited // timedelta(hours=1)
    return f"what is due was last deleted {hours} hours ago; that is done each hour"


def seconds_late(instance: Path) -> float:
    """Return for how many seconds longer than an hour nothing due, or not all, was deleted."""
    upkeep = noted(instance)
    waited = now() - upkeep.since if upkeep else timedelta(0)
    return max(0.0, (waited - BETWEEN).total_seconds())


def _write(instance: Path, upkeep: Upkeep) -> None:
    new = instance / f".{UPKEEP_FILE}.{now():%f}"
    new.write_text(json.dumps({"since": upkeep.since.isoformat(), "failed": [*upkeep.failed]}))
    new.replace(instance / UPKEEP_FILE)
