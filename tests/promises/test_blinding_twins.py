"""Promise 3, second half: with other measures behind the same columns, not a byte changes."""

import pytest
from sqlalchemy import select

from survey.db.models.ordering import StoredOrderingPresentation
from survey.services.studies import lifecycle
from tests.builders import Visitor
from tests.promises.sweeps import sweep
from tests.promises.traces import Ear
from tests.promises.walks import every_way, new_study, take_part
from tests.promises.worlds import as_shipped, living_in, renamed, renamed_and_turned

pytestmark = pytest.mark.slow


def heard_in(world, folder, go, seed=7):
    with living_in(world, folder, seed) as place:
        ear = Ear(place.app)
        go(place)
        return ear.heard


def differing(one, other):
    """The requests whose answers differ, and how many there were."""
    assert [(a.method, a.path) for a in one] == [(b.method, b.path) for b in other]
    return [
        (a.method, a.path, a.bytes, b.bytes)
        for a, b in zip(one, other, strict=True)
        if a.bytes != b.bytes
    ]


def on_one_way(place):
    study = new_study(place, "plain-en")
    take_part(Visitor(place.app.test_client(), study.slug), study, sweep_before_the_end)


def sweep_before_the_end(visitor):
    if visitor.path == "/review":
        sweep(visitor)


def to_the_questions(place):
    Visitor(place.app.test_client(), new_study(place, "plain-en").slug).prepare()


def test_a_participant_cannot_tell_the_worlds_apart(tmp_path, measured):
    one = heard_in(as_shipped(), tmp_path / "one", on_one_way)
    two = heard_in(renamed_and_turned(), tmp_path / "two", on_one_way)
    assert differing(one, two) == []
    measured(f"one way in two worlds: {len(one)} pages, {size(one):,} bytes, 0 bytes differ")


@pytest.mark.trial
@pytest.mark.parametrize("language", ["en", "el"])
def test_nobody_in_any_state_can_tell_the_worlds_apart(tmp_path, language, measured):
    def everywhere(place):
        every_way(place, sweep, language)

    one = heard_in(as_shipped(), tmp_path / "one", everywhere)
    two = heard_in(renamed_and_turned(), tmp_path / "two", everywhere)
    assert len(one) >= 1_000
    assert differing(one, two) == []
    measured(
        f"every state of a study and of a participant in two worlds, in {language}: "
        f"{len(one):,} pages, {size(one):,} bytes, 0 bytes differ"
    )


def test_the_worlds_do_differ(tmp_path):
    stored = []
    for world in (as_shipped(), renamed(), renamed_and_turned()):
        with living_in(world, tmp_path / str(len(stored))) as place:
            to_the_questions(place)
            study = lifecycle.find_study(place.session, "plain-en")
            shown = lifecycle.questions_of(study)[0].columns
            names = place.session.scalars(select(StoredOrderingPresentation.label_order)).all()
            stored.append(([(name, shown[name].shown) for name in world.names], names))
    (shipped, drawn), (same, redrawn), (turned, _) = stored
    assert [text for _, text in shipped] == [text for _, text in same]
    assert [name for name, _ in shipped] == ["AP", "NMRR", "MNRO"]
    assert [name for name, _ in same] == ["NMRR", "MNRO", "AP"]
    assert turned == same[::-1]
    assert drawn != redrawn


def test_other_chance_gives_other_pages(tmp_path):
    one, two = (
        heard_in(as_shipped(), tmp_path / str(seed), to_the_questions, seed) for seed in (7, 8)
    )
    assert differing(one, two)


def size(heard):
    return sum(len(one.bytes) for one in heard)
