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
        runs = "pool" if name == "pool" else "runs"
        field = runs if each in RUNS else FIELD_OF[each]
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
        "My collection": ["collect", "labels", "pool", "groups"],
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


def test_a_pool_of_runs_becomes_a_study_whose_documents_come_with_it(desk, session):
    choose(desk, "pool", pool_depth="3", asked_by="us", contact="us@example.org")
    study = made(session)
    pool = study.plan.pool
    assert [*pool.runs] == ["alpha", "beta", "gamma"]
    assert (pool.depth, {len(each) for run in pool.runs.values() for each in run.values()}) == (
        3,
        {3},
    )
    assert [*study.plan.topics] == pool.topics
    assert pool.sentence in desk.text
    assert study.plan.title == "Which documents are relevant?"
    desk.open("/research/studies/made/plan")
    first = desk.page.select_one("#topics tbody tr")("td")
    assert first[-1].text == str(len(pool.of_topic(pool.topics[0])))
    assert lifecycle.stops_of(lifecycle.check_study(session, study)) == []


def test_a_pool_without_runs_or_of_no_depth_is_refused_beside_the_field(desk, session):
    choose(desk, "pool", *RUNS)
    assert "Choose the runs. No study was made." in desk.text
    assert desk.page.select_one("#pool_depth")["value"] == "20"
    for depth in ("0", "1001", "deep"):
        choose(desk, "pool", pool_depth=depth)
        assert "found; a whole number from 1 to 1,000 is needed" in desk.text
        assert desk.page.select_one("#pool_depth")["aria-invalid"] == "true"
    assert lifecycle.all_studies(session) == []


def test_a_pool_leaves_out_topics_without_a_row_in_the_file_of_topics(desk, session):
    files = examples_of("pool", "topics.csv")
    known = first_topic(files)
    files["topics_file"] = [(io.BytesIO(f"topic,text\n{known},a text\n".encode()), "topics.csv")]
    desk.open(f"{NEW}?start=pool")
    desk.send(NEW, files=files, slug="made")
    assert [*made(session).plan.topics] == [known]
    assert "without a row in the file of topics" in desk.text


def first_topic(files):
    """Return the first topic of the first run of a form's files."""
    run, _ = files["pool"][0]
    return run.getvalue().decode().split()[0]
