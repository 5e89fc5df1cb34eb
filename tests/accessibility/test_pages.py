"""Every page in every state can be used by everyone, as far as a machine can tell."""

from collections.abc import Iterable

import pytest

from tests.accessibility.catalogue import each_walk, sights_of
from tests.accessibility.conftest import write_row
from tests.accessibility.looking import EVERY_LOOK, Fault, Look, look, two_looks
from tests.accessibility.sights import House, Sight, Stage
from tests.accessibility.structure import faults_in


def judged(stage: Stage, sight: Sight, looks: Iterable[Look]) -> list[Fault]:
    """What is wrong with a sight, in the browser."""
    page = stage.show(sight)
    return [*look(page, sight, looks), *(Fault("foreign", "", url) for url in stage.foreign)]


def listed(wrong: dict[Sight, list]) -> str:
    """The faults of each sight, to be read."""
    found = [(sight, faults) for sight, faults in wrong.items() if faults]
    return "".join(
        f"\n{sight} at {sight.address}" + "".join(f"\n  - {fault}" for fault in faults)
        for sight, faults in found
    )


@each_walk
def test_a_page_says_what_it_is_in_its_source(house: House, walk, language):
    wrong = {sight: faults_in(sight) for sight in sights_of(house, walk, language)}
    assert not any(wrong.values()), listed(wrong)


@each_walk
def test_a_page_in_any_state_can_be_used_by_everyone(house: House, stage, walk, language):
    sights = sights_of(house, walk, language)
    wrong = {one: judged(stage, one, two_looks(number)) for number, one in enumerate(sights)}
    assert not any(wrong.values()), listed(wrong)


@pytest.mark.trial
@each_walk
def test_a_page_in_any_state_can_be_used_by_everyone_in_every_look(house, stage, walk, language):
    sights = sights_of(house, walk, language)
    wrong = {one: judged(stage, one, EVERY_LOOK) for one in sights}
    rows = [
        {
            "page": sight.page,
            "state": sight.state,
            "language": sight.language,
            "looks": len(EVERY_LOOK),
            "axe": sum(fault.is_from_axe for fault in faults),
            "others": sum(not fault.is_from_axe for fault in faults) + len(faults_in(sight)),
        }
        for sight, faults in wrong.items()
    ]
    write_row(f"{walk.__name__}-{language}", rows)
    assert not any(wrong.values()), listed(wrong)
