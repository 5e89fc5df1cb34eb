"""Every page in every state: all walks, in every language that they are made in."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.accessibility.sights import House, Sight, Walk
from tests.accessibility.walks_of_collections import sending_runs
from tests.accessibility.walks_of_drafts import (
    making,
    planning,
    pooling,
    previewing,
    scoring,
    signing_in,
    unsigned,
)
from tests.accessibility.walks_of_judges import judging
from tests.accessibility.walks_of_studies import publishing, resulting, running
from tests.accessibility.walks_through_questions import answering, answering_otherwise, practising
from tests.accessibility.walks_to_questions import coming, coming_invited, coming_late, preparing
from tests.accessibility.walks_to_the_end import ending, failing, finishing, telling_more

LANGUAGES = ("en", "el")
OF_PARTICIPANTS: tuple[Walk, ...] = (
    *(coming, coming_late, coming_invited, preparing, practising, answering),
    *(answering_otherwise, judging, finishing, telling_more, ending, failing),
)
OF_RESEARCHERS: tuple[Walk, ...] = (
    *(signing_in, making, running, resulting, publishing),
    *(planning, scoring, pooling, previewing, unsigned, sending_runs),
)
# Researchers' pages are English; Greek is what participants read in the studies on them.
EVERY_WALK: tuple[tuple[Walk, str], ...] = (
    *((walk, language) for walk in OF_PARTICIPANTS for language in LANGUAGES),
    *((walk, "el") for walk in OF_RESEARCHERS),
)


def parametrized(walks: Sequence[tuple[Walk, str]]) -> pytest.MarkDecorator:
    """A test for each walk in each language."""
    ids = [f"{walk.__name__}-{language}" for walk, language in walks]
    return pytest.mark.parametrize(("walk", "language"), walks, ids=ids)


each_walk = parametrized(EVERY_WALK)
# Every day one language is enough; `make accessibility` takes all.
each_walk_once = parametrized(
    [one for one in EVERY_WALK if one[0] in OF_RESEARCHERS or one[1] == "en"]
)


def sights_of(house: House, walk: Walk, language: str) -> list[Sight]:
    """What a walk comes by; it is made once."""
    key = f"{walk.__name__}-{language}"
    if key not in house.walked:
        with _troubles_soon_told(house):
            house.walked[key] = list(walk(house, language))
    return house.walked[key]


@contextmanager
def _troubles_soon_told(house: House) -> Iterator[None]:
    """A locked database is waited for no longer than a test can wait; the log keeps quiet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("survey.db.engine.BUSY_TIMEOUT_MS", 150)
        patch.setattr(house.app.logger, "disabled", True)
        house.let_go()  # connections that were made before wait as long as ever
        yield
    house.let_go()


def every_sight(house: House) -> list[Sight]:
    """All that there is to see."""
    return [sight for walk, language in EVERY_WALK for sight in sights_of(house, walk, language)]
