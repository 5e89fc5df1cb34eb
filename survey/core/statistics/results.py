"""What every statistic states: its estimand, its sample size, why it is undefined."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A statistic's frame; subclasses add the numbers, None where undefined.

    ``estimand``: what is estimated, and for which population; ``n``: the number of
    ``unit``s used; ``left_out``: reason → how many units were not used;
    ``why``: why numbers are None, else None itself.
    """

    estimand: str
    n: int
    unit: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class MeanTest(Statistic):
    """A t test of a mean against 0, with the mean's 95 % interval."""

    mean: float | None = None
    se: float | None = None
    t: float | None = None
    df: int | None = None
    p: float | None = None
    p_holm: float | None = None
    ci95: Interval | None = None


def without_zeros(left_out: Mapping[str, int]) -> dict[str, int]:
    """Drop the reasons that apply to no unit."""
    return {reason: count for reason, count in left_out.items() if count}
