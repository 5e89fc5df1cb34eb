"""Promise 3, second half: with other measures behind the same columns, not a byte changes."""

import pytest
from sqlalchemy import select

from survey.kinds.ordering.models import StoredOrderingPresentation
from survey.kinds.ordering.plan import NEVER
from survey.services.studies import lifecycle
from tests.builders import Visitor
from tests.grouped import FIRST_TOPIC, SECOND_TOPIC, Assessor, a_grouping_study
from tests.labelled import a_labelling_study, ticks
from tests.pictured import DOCUMENTS, RUNS, SEARCHED, a_pictured_study
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


# Every document, run and topic has the name of another; other documents are relevant.
OTHER_NAMES = {
    "documents": DOCUMENTS[::-1],
    "runs": (*RUNS[1:], RUNS[0]),
    "searched": {"mountain": (39, 31, 28, 3), "sea": (17, 2, 38)},
}


def in_pictures(names):
    """Take part in a study with pictures, of which nothing but these can be seen."""

    def way(place):
        study = a_pictured_study(
            place.session,
            measures=place.world.names,
            columns=NEVER,
            mark_relevant=False,
            show_positions=False,
            practice=False,
            note=lambda document: document * int(document.rpartition("-")[2]),
            **names,
        )
        visitor = Visitor(place.app.test_client(), study.slug)
        visitor.start()
        for position in (1, 2):
            visitor.open(f"/q/{position}")
            for address in pictures_on(visitor.page):
                assert visitor.client.get(address).status_code == 200
                assert visitor.client.head(address).status_code == 200
            sweep(visitor)
            ranks = {f"rank_{letter}": str(n) for n, letter in enumerate("ABC", 1)}
            visitor.insist(f"/q/{position}", choice="own", **ranks)
        assert visitor.path == "/review"
        sweep(visitor)

    return way


def pictures_on(page):
    return [
        address
        for link in page.select("[data-larger]")
        for address in (link["href"], link.img["src"])
    ]


def test_what_pictures_and_lists_stand_for_changes_not_a_byte(tmp_path, measured):
    one = heard_in(as_shipped(), tmp_path / "one", in_pictures({"searched": SEARCHED}))
    two = heard_in(renamed(), tmp_path / "two", in_pictures(OTHER_NAMES))
    assert differing(one, two) == []
    pictures = [each for each in one if each.endpoint == "participant.picture" and each.code == 200]
    assert len(pictures) >= 120
    measured(
        "a study with pictures in two worlds, in which documents, files, runs and topics have one "
        f"another's names and other documents are relevant: {len(one):,} responses, "
        f"{len(pictures):,} of them pictures, {size(one):,} bytes, 0 bytes differ"
    )


def test_addresses_of_another_study_tell_as_little_as_invented_ones(tmp_path, measured):
    """Two studies of the same pictures; one person takes part in both, another in the second."""
    with living_in(as_shipped(), tmp_path / "one") as place:
        both, second_only = place.app.test_client(), place.app.test_client()
        for slug in ("one", "two"):
            a_pictured_study(place.session, slug)
            place.session.rollback()
        kept, others = pictures_of("one", both), pictures_of("two", both)
        assert pictures_of("two", second_only) == others
        names = [{each.rpartition("/")[2] for each in addresses} for addresses in (kept, others)]
        assert not names[0] & names[1]
        ear = Ear(place.app)
        for address in (*kept, "/s/one/pictures/small/AAAAAAAAAAAAAAAA.webp"):
            both.get(address.replace("/one/", "/two/"))
            second_only.get(address)
    for slug in ("one", "two"):
        assert len({each.bytes for each in ear.heard if f"/{slug}/" in each.path}) == 1
    assert {each.code for each in ear.heard} == {404}
    assert min(len(kept), len(others)) >= 30
    measured(
        f"{len(kept)} addresses of pictures asked for in another study of the same pictures, and "
        "by someone who takes part in that one only: all are answered like an invented address"
    )


def pictures_of(slug, client):
    """The pictures of the first question, but for those that anyone with the link may see."""
    visitor = Visitor(client, slug)
    visitor.open()
    on_the_first_page = {image["src"] for image in visitor.page.select("main img")}
    visitor.start()
    return {*pictures_on(visitor.page)} - on_the_first_page


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


def other_ids(name):
    """Another id of the same order: equal likeness is decided by the ids."""
    return f"{name[:1]}zz{name}"


def labelling(rename=lambda name: name, others=((1, 4, 9), (2, 3))):
    """Label two queries of a study with these ids, after another annotator marked these pictures.

    The other marks are not heard; only what this annotator gets.
    """

    def way(place):
        a_labelling_study(place.session, rename=rename)
        other, visitor = (Visitor(place.app.test_client(), "labelled") for _ in range(2))
        label(other, *others)
        ear = Ear(place.app)
        label(visitor, (1, 4, 9), (1, 4, 9))
        return ear.heard

    return way


def label(visitor, *marks):
    visitor.go("/q/1")
    for position, numbers in enumerate(marks, 1):
        for go in ("", "refine", "next", "previous", "done"):
            visitor.insist(f"/q/{position}", go=go, **ticks(*numbers))
            open_pictures(visitor)
    visitor.open("/q/1")
    visitor.open("/review")
    visitor.submit("/review")


def open_pictures(visitor):
    for picture in visitor.page.select(".tile img, .tiles img"):
        assert visitor.client.get(picture["src"]).status_code == 200


def got_in(folder, way):
    with living_in(as_shipped(), folder) as place:
        return way(place)


def test_an_annotator_cannot_tell_other_ids_from_these(tmp_path, measured):
    one = got_in(tmp_path / "one", labelling())
    two = got_in(tmp_path / "two", labelling(other_ids))
    assert differing(one, two) == []
    measured(
        f"labels in two worlds of ids: {len(one)} responses, {size(one):,} bytes, 0 bytes differ"
    )


def test_an_annotator_cannot_tell_what_another_has_marked(tmp_path, measured):
    one = got_in(tmp_path / "one", labelling())
    two = got_in(tmp_path / "two", labelling(others=((2, 5, 7, 8), (1, 12))))
    assert differing(one, two) == []
    measured(
        f"labels in two worlds in which another annotator has marked other pictures: {len(one)} "
        f"responses, {size(one):,} bytes, 0 bytes differ"
    )


def in_thirds(documents, step):
    """Return three groups; those of one step cut across those of another."""
    return {
        name: [each for place, each in enumerate(documents) if place // step % 3 == third]
        for third, name in enumerate(("one", "two", "three"))
    }


def grouping(rename=lambda name: name, steps=(1, 2), role="third", **changes):
    """Sort topics with these ids after two first assessors, or after one if the role is first.

    ``steps``: of the others' groups, by which they differ. A third assessor is heard until the
    page shows what the others did, as it is meant to.
    """

    def way(place):
        a_grouping_study(place.session, rename=rename, **changes)
        topics = [[rename(each) for each in some] for some in (FIRST_TOPIC, SECOND_TOPIC)]
        for step in steps if role == "third" else steps[:1]:
            other = Assessor(place.app, place.session)
            other.go("/q/1")
            for position, documents in enumerate(topics, 1):
                other.finish(f"/q/{position}", in_thirds(documents, step))
            other.submit("/review")
        ear = Ear(place.app)
        assessor = Assessor(place.app, place.session)
        assessor.go("/q/1")
        open_pictures(assessor)
        assessor.sort("/q/1", in_thirds(topics[0], 4))
        sweep(assessor)
        if changes or role == "first":
            assessor.open("/q/1")
            assessor.insist("/q/1", go="done")
            assert not assessor.page.select(".earlier")
        return ear.heard

    return way


@pytest.mark.parametrize(
    "way",
    [{}, {"role": "first"}, {"show_earlier": False}],
    ids=["third", "first", "third who is never shown the others'"],
)
def test_an_assessor_cannot_tell_other_ids_nor_what_others_have_sorted(tmp_path, way, measured):
    one = got_in(tmp_path / "one", grouping(**way))
    ids = got_in(tmp_path / "ids", grouping(other_ids, **way))
    others = got_in(tmp_path / "others", grouping(steps=(2, 1), **way))
    assert differing(one, ids) == []
    assert differing(one, others) == []
    who = f"a {way.get('role', 'third')} assessor"
    who += "" if way.get("show_earlier", True) else " who is never shown them"
    measured(
        f"groups in worlds of other ids, and of other groups by those before, for {who}: "
        f"{len(one)} responses, {size(one):,} bytes, 0 bytes differ"
    )
