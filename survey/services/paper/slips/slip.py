"""One slip of the paper, and what is done about it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """``place``; what is ``printed`` there; what is ``meant``, or contradicts it; ``why`` we know.

    ``here``: what this project does. ``confirmed``: whether a computation bears it out, None
    where it is seen by reading.
    """

    place: str
    printed: str
    meant: str
    why: str
    here: str
    confirmed: bool | None = None
