"""“New study”: each card makes a draft of its example files, and no mistake makes one."""

import io

import pytest

from survey.services import example_files, new_studies
from survey.services.studies import lifecycle
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE
NEW = "/research/new"
FIELD_OF = {"topics.csv": "topics_file", "lists.csv": "lists", "plan.yaml": "plan"} | {
    "qrels.txt": "judgements",
    "items.csv": "items",
    "bundle.zip": "bundle",
    "classes.zip": "folder",
}
RUNS = ("alpha.txt", "beta.txt", "gamma.txt")
WITH_EXAMPLES = [way.name for _, way in new_studies.ways_in().values() if way.examples]


def an_example(name):
    return io.BytesIO(example_files.content_of(name)), name


def examples_of(name, *left_out):
    """Return the example files of a card by the field that each is chosen in."""
    files = {}
    for each in new_studies.ways_in()[name][1].examples:
        field = "runs" if each in RUNS else FIELD_OF[each]
        if each not in left_out:
            files.setdefault(field, []).append(an_example(each))
    return files


def choose(desk, name, *left_out, slug="made", **fields):
    desk.open(f"{NEW}?start={name}")
    desk.send(NEW, files=examples_of(name, *left_out), slug=slug, **fields)


def made(session, slug="made"):
    session.rollback()
    return lifecycle.find_study(session, slug)


def test_every_way_in_is_a_card_below_its_heading(desk):
    desk.open(NEW)
    cards = {
        section.h2.text: [link["href"].partition("=")[2].partition("#")[0] for link in section("a")]
        for section in desk.page.select(".cards")
    }
    assert cards == {
        "Replicate": ["mnro-verbatim", "mnro", "mnro-discriminative"],
        "My systems": ["runs", "lists", "preference"],
        "My collection": ["collect", "labels", "groups"],
        "Again": ["judged", "judged-preference", "copy", "file", "bundle"],
    }


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_example_files_of_each_card_make_a_study_that_opens(desk, session, name):
    desk.open(f"{NEW}?start={name}")
    linked = [link.text for link in desk.page.select(".examples a")]
    assert linked == [*new_studies.ways_in()[name][1].examples]
    for link in desk.page.select(".examples a"):
        assert desk.client.get(link["href"]).data == example_files.content_of(link.text)
    choose(desk, name, asked_by="us", contact="us@example.org")
    assert desk.address == "/research/studies/made/plan", desk.text
    stops = lifecycle.stops_of(lifecycle.check_study(session, made(session)))
    assert [each.text for each in stops] == []
