"""What every statistic says of itself: its estimand, what it rests on, why it is undefined."""

from collections.abc import Mapping
from dataclasses import dataclass, field

T1 = "these questions, a population of participants"
T2 = "questions of this kind, a population of participants"
BLINDING = "these answers, measures redrawn behind their labels"
DESCRIPTIVE = "descriptive: these answers only"

Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A statistic's frame; subclasses add the numbers, None where undefined.

    ``estimand``: what is estimated, and for which population; ``n``: how many
    ``unit``s it rests on; ``left_out``: reason → how many units were not used;
    ``why``: why numbers are None, else None itself.
    """

    estimand: str
    n: int
    unit: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None


def without_zeros(left_out: Mapping[str, int]) -> dict[str, int]:
    """Keep the reasons that apply."""
    return {reason: count for reason, count in left_out.items() if count}
