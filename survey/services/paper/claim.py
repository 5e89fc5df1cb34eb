"""A sentence of the paper, and what it is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

HOLDS, IN_PART = "holds", "holds only in part"
NOT_SUPPORTED = "not supported"  # by the votes: it may be so all the same
DOES_NOT_HOLD = "does not hold"  # it can be computed, and comes out otherwise


@dataclass(frozen=True)
class Claim:
    """``place``: where the paper says it; ``said``: quoted, or in short; and the judgement."""

    place: str
    said: str
    verdict: str
    why: str


def computed(place: str, said: str, holds: bool, why: str) -> Claim:
    """Judge a sentence that a computation decides."""
    return Claim(place, said, HOLDS if holds else DOES_NOT_HOLD, why)


def graded(place: str, said: str, cases: Sequence[bool], why: str) -> Claim:
    """Judge a sentence that holds in some cases: in all of them, in part, or in none."""
    verdict = HOLDS if all(cases) else IN_PART if any(cases) else DOES_NOT_HOLD
    return Claim(place, said, verdict, why)
