"""What a researcher should know of files that were taken: warnings, each with a code."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Warned:
    """A warning about a run or a file, ``of`` which it is.

    ``text``: a sentence without its full stop. ``count`` of ``total`` are concerned; ``example``:
    one of this side and one of the other.
    """

    code: str
    of: str
    text: str
    count: int = 0
    total: int = 0
    example: tuple[str, ...] = ()
    level: str = "warning"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "example": [*self.example]}


def columns_not_read(file: str, columns: Sequence[str]) -> list[Warned]:
    """Return the warning about columns of a file that are not read; none without any."""
    if not columns:
        return []
    text = f"{file}: columns not read: {', '.join(columns)}"
    return [Warned("columns-not-read", file, text, len(columns))]
