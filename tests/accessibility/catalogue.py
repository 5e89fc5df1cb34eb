"""Every page in every state: all walks, in every language that they are made in."""

import pytest

from tests.accessibility import walks_of_participants, walks_of_researchers
from tests.accessibility.sights import House, Sight, Walk

LANGUAGES = ("en", "el")
# Researchers' pages are English; Greek is what participants read in the studies on them.
EVERY_WALK: tuple[tuple[Walk, str], ...] = (
    *((walk, language) for walk in walks_of_participants.WALKS for language in LANGUAGES),
    *((walk, "el") for walk in walks_of_researchers.WALKS),
)
each_walk = pytest.mark.parametrize(
    ("walk", "language"), EVERY_WALK, ids=[f"{walk.__name__}-{lang}" for walk, lang in EVERY_WALK]
)


def sights_of(house: House, walk: Walk, language: str) -> list[Sight]:
    """What a walk comes by; it is made once."""
    key = f"{walk.__name__}-{language}"
    if key not in house.walked:
        house.walked[key] = list(walk(house, language))
    return house.walked[key]


def every_sight(house: House) -> list[Sight]:
    """All that there is to see."""
    return [sight for walk, language in EVERY_WALK for sight in sights_of(house, walk, language)]
