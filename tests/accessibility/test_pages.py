"""Every page in every state can be used by everyone, as far as a machine can tell."""

from collections.abc import Sequence

import pytest

from tests.accessibility.catalogue import (
    OF_PARTICIPANTS,
    each_walk,
    each_walk_once,
    sights_of,
)
from tests.accessibility.conftest import write_row
from tests.accessibility.looking import EVERY_LOOK, Look, ask, look, one_look
from tests.accessibility.sights import Fault, House, Sight, Stage, Walk
from tests.accessibility.structure import faults_in

pytestmark = pytest.mark.slow


def judged(stage: Stage, sight: Sight, walk: Walk, looks: Sequence[Look]) -> list[Fault]:
    """What is wrong with a sight: in its source, in the browser, in what it asks for."""
    page = stage.show(sight)
    found = [*faults_in(sight), *look(page, sight, looks)]
    if walk in OF_PARTICIPANTS:
        page.set_viewport_size({"width": 360, "height": 740})
        found += [*ask(page, "tinyText", "360 px"), *ask(page, "sideways", "360 px")]
    return [*found, *(Fault("foreign", "a request", url) for url in stage.foreign)]


def tell(wrong: dict[Sight, list[Fault]]) -> None:
    """Fail with the faults of each sight, to be read, if there are any."""
    found = [(sight, faults) for sight, faults in wrong.items() if faults]
    told = "".join(
        f"\n{sight} at {sight.address}" + "".join(f"\n  - {fault}" for fault in faults)
        for sight, faults in found
    )
    if told:
        pytest.fail(told, pytrace=False)


@each_walk_once
def test_a_page_in_any_state_can_be_used_by_everyone(
    house: House, stage: Stage, walk: Walk, language: str
) -> None:
    sights = sights_of(house, walk, language)
    wrong = {one: judged(stage, one, walk, one_look(n)) for n, one in enumerate(sights)}
    tell(wrong)


@pytest.mark.trial
@each_walk
def test_a_page_in_any_state_can_be_used_by_everyone_in_every_look(
    house: House, stage: Stage, walk: Walk, language: str
) -> None:
    wrong = {one: judged(stage, one, walk, EVERY_LOOK) for one in sights_of(house, walk, language)}
    rows = [
        {
            "page": sight.page,
            "state": sight.state,
            "language": sight.language,
            "looks": len(EVERY_LOOK),
            "axe": sum(fault.is_from_axe for fault in faults),
            "others": sum(not fault.is_from_axe for fault in faults),
        }
        for sight, faults in wrong.items()
    ]
    write_row(f"{walk.__name__}-{language}", rows)
    tell(wrong)
