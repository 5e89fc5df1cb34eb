"""Grouping: from a plan over groups and a third assessor to the gold standard."""

import csv
import gzip
import io
import random
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from survey import tokens
from survey.cli.planning import local_server
from survey.core.kinds import KINDS
from survey.core.studies.fields import PlanError
from survey.db.item_queries import topics_of
from survey.db.models import Participant, Presentation, StoredResponse, now
from survey.errors import SurveyError
from survey.kinds.grouping.answer import (
    ADOPT,
    MERGE,
    PUT,
    RENAME,
    TAKE,
    UNDO,
    GroupingPresentation,
    GroupingStep,
    groups_of,
)
from survey.kinds.steps import Done
from survey.services import accounts
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections import assessment, items
from survey.services.exchange import bundle
from survey.services.exchange.bundle import analyse_stored, sha256_of, sums_text
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError
from survey.services.participation.participant_list import list_participants
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle, publications, recruitment
from survey.services.studies.publications import Details
from tests.builders import KEY, VISITOR_COOKIE, Visitor
from tests.databases import ON_BOTH, ON_SQLITE, statements
from tests.grouped import (
    COLOURS,
    FIRST_TOPIC,
    PLAN,
    SECOND_TOPIC,
    Assessor,
    a_grouping_plan,
    a_grouping_study,
    by_colour,
    grouped,
    warm_and_cold,
)
from tests.web.desk import Desk, shows_its_figures_as_files

TABLES = KINDS["grouping"].tables


@pytest.fixture
def study(app, session):
    return a_grouping_study(session)


@pytest.fixture
def assessor(app, session, study):
    assessor = Assessor(app, session)
    assessor.go("/q/1")
    return assessor


def steps_in(session):
    table = TABLES.step
    rows = session.execute(select(table).order_by(table.c.presentation_id, table.c.number)).all()
    session.rollback()
    return rows


def groups_on(page):
    return {
        item.select_one("button span").text: int(item.select_one("small").text)
        for item in page.select("#groups > li")
    }


def status(assessor):
    return assessor.page.select_one("#placed b").text


@ON_SQLITE
def test_pictures_go_into_named_groups_and_what_is_left_is_counted(assessor, session):
    assert status(assessor) == "0 of 12 placed"
    assert "Sort the pictures by: colour" in assessor.text
    assessor.sort("/q/1", {"warm": ["red-0", "red-1"]})
    assert groups_on(assessor.page) == {"warm": 2, "cannot be placed": 0}
    assert status(assessor) == "2 of 12 placed"
    [row] = steps_in(session)
    assert (row.action, row.group_number, row.name) == ("put", 1, "warm")
    assert sorted(row.documents) == ["red-0", "red-1"]


@ON_SQLITE
def test_a_picture_may_be_in_several_groups_and_leaves_unknown_for_one(assessor):
    assessor.sort("/q/1", {"a": ["red-0"], "b": ["red-0"]})
    assert groups_on(assessor.page) == {"a": 1, "b": 1, "cannot be placed": 0}
    assessor.sort("/q/1", {"": ["red-0"]})
    assert groups_on(assessor.page) == {"a": 0, "b": 0, "cannot be placed": 1}
    assessor.submit("/q/1", go="put-1", **assessor.tiles("red-0"))
    assert groups_on(assessor.page) == {"a": 1, "b": 0, "cannot be placed": 0}


def test_groups_are_renamed_merged_emptied_and_all_of_it_undone(assessor):
    assessor.sort("/q/1", {"a": ["red-0"], "b": ["red-1"]})
    assessor.submit("/q/1", go="rename-1", **{"name-1": "  warm   ones "})
    assert groups_on(assessor.page) == {"warm ones": 1, "b": 1, "cannot be placed": 0}
    assessor.submit("/q/1", go="merge-2", **{"into-2": "1"})
    assert groups_on(assessor.page) == {"warm ones": 2, "cannot be placed": 0}
    assessor.submit("/q/1", go="take-1", **assessor.tiles("red-0"))
    assert groups_on(assessor.page) == {"warm ones": 1, "cannot be placed": 0}
    for left in ({"warm ones": 2}, {"warm ones": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 1}, {}):
        assessor.submit("/q/1", go="undo")
        assert groups_on(assessor.page) == {**left, "cannot be placed": 0}
    assert assessor.page.select("[value=undo][disabled]")


@ON_SQLITE
def test_the_name_of_a_group_that_is_there_means_that_group(assessor):
    assessor.sort("/q/1", {"Warm": ["red-0"], "warm": ["red-1"], "UNKNOWN": ["red-2"]})
    assert groups_on(assessor.page) == {"Warm": 2, "cannot be placed": 1}
    assessor.sort("/q/1", {"cold": ["blue-0"]})
    assessor.submit("/q/1", go="rename-2", **{"name-2": "WARM"})
    assert groups_on(assessor.page) == {"Warm": 3, "cannot be placed": 1}


@ON_SQLITE
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"go": "new", "group": "a"}, "Nothing is selected yet"),
        ({"go": "put-0"}, "Nothing is selected yet"),
        ({"go": "new", "group": "  ", "document": "1"}, "type a name"),
        ({"go": "new", "group": "a" * 61, "document": "1"}, "60 characters"),
        ({"go": "new", "group": "a\0", "document": "1"}, "type a name"),
        ({"go": "done"}, "12 are in no group yet"),
    ],
)
def test_a_form_that_lacks_something_says_so_and_keeps_what_was_selected(
    assessor, session, fields, sentence
):
    assessor.submit("/q/1", **fields)
    assert assessor.status == 400
    assert sentence in assessor.text
    assert len(assessor.page.select(".tile [checked]")) == ("document" in fields)
    assert not steps_in(session)


@ON_SQLITE
@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "1 is in no group yet Place it Put the last one under"),
        ("el", "Ένα δεν είναι ακόμη σε καμία ομάδα Τοποθέτηση Η τελευταία στο"),
    ],
)
def test_one_picture_that_is_left_is_spoken_of_in_the_singular(app, session, language, sentence):
    a_grouping_study(session, "left", language=language)
    assessor = Visitor(app.test_client(), "left")
    assessor.go("/q/1")
    assessor.submit("/q/1", go="put-0", document=[*range(2, 13)])
    assessor.submit("/q/1", go="done")
    assert sentence in assessor.text


@ON_SQLITE
@pytest.mark.parametrize(
    "fields",
    [
        {"go": "put-7", "document": "1"},
        {"go": "new", "group": "a", "document": "13"},
        {"go": "adopt-0"},
        {"go": "rename-3", "name-3": "x"},
    ],
)
def test_a_form_that_the_page_did_not_offer_stores_nothing(assessor, session, fields):
    assessor.submit("/q/1", **fields)
    assert assessor.status == 409
    assert not steps_in(session)


@ON_SQLITE
def test_what_is_left_can_be_called_unknown_at_once(assessor):
    assessor.sort("/q/1", {"warm": ["red-0"]})
    assessor.submit("/q/1", go="rest")
    assert groups_on(assessor.page) == {"warm": 1, "cannot be placed": 11}
    assessor.submit("/q/1", go="done")
    assert assessor.path == "/q/2"


@ON_SQLITE
def test_a_topic_that_is_to_be_done_too_early_asks_back_what_becomes_of_the_others(
    assessor, session
):
    assessor.sort("/q/1", {"warm": ["red-0"]})
    assessor.submit("/q/1", go="done", **assessor.tiles("red-1"))
    assert assessor.status == 400
    asks = assessor.page.select_one(".bar .asks")
    assert asks.h2.text == "11 are in no group yet"
    assert [each["value"] for each in asks.select("button")] == ["rest-done"]
    assert not assessor.page.select(".problems")
    first = assessor.page.select_one(asks.a["href"])
    assert first.find_parent(class_="tile")["class"] == ["tile"]  # it is not placed
    assert len(assessor.page.select(".tile [checked]")) == 1
    assessor.submit("/q/1", go="rest-done")
    assert assessor.path == "/q/2"
    steps = [(row.action, row.group_number, len(row.documents)) for row in steps_in(session)]
    assert steps == [("put", 1, 1), ("put", 0, 11)]


@ON_BOTH
def test_what_is_left_and_the_end_of_a_topic_are_stored_once(assessor, session):
    assessor.sort("/q/1", {"warm": ["red-0"]})
    assessor.open("/q/1")
    fields = hidden(assessor)
    for _ in range(2):
        assessor.post("/q/1", **fields, go="rest-done")
        assert assessor.path == "/q/2"
    assert len(steps_in(session)) == 2
    assert session.scalars(select(TABLES.response.c.steps)).all() == [2]


@ON_BOTH
def test_a_form_sent_twice_is_stored_once_and_one_of_another_window_is_refused(assessor, session):
    fields = hidden(assessor)
    for _ in range(2):
        assessor.post("/q/1", **fields, **assessor.tiles("red-0"), group="a", go="new")
        assert assessor.status == 200
    assert len(steps_in(session)) == 1
    assessor.post("/q/1", **fields, **assessor.tiles("red-1"), group="b", go="new")
    assert assessor.status == 409
    assert len(steps_in(session)) == 1


def hidden(visitor, path="/q/1"):
    return {
        each["name"]: each.get("value", "") for each in visitor.form(path).select("[type=hidden]")
    }


@ON_BOTH
def test_two_forms_at_once_are_stored_as_one(app, session, assessor):
    fields = {**hidden(assessor), **assessor.tiles("red-0"), "group": "a", "go": "new"}
    cookie = assessor.client.get_cookie(VISITOR_COOKIE)

    def send(_):
        client = app.test_client()
        client.set_cookie(cookie.key, cookie.value)
        return client.post("/s/grouped/q/1", data=fields).status_code

    with ThreadPoolExecutor(4) as pool:
        assert {*pool.map(send, range(4))} == {303}
    assert len(steps_in(session)) == 1


def test_a_topic_that_is_done_can_be_changed_and_done_again(assessor, session):
    assessor.finish("/q/1", by_colour(FIRST_TOPIC))
    assessor.sort("/q/1", {"warm": ["red-0"]})
    assessor.submit("/q/1", go="done")
    [steps] = session.scalars(select(TABLES.response.c.steps)).all()
    assert steps == 4
    assert session.scalars(select(TABLES.revision.c.steps)).all() == [3, 4]
    session.rollback()
    assessor.finish("/q/2", by_colour(SECOND_TOPIC))
    assert "red (4), green (4), blue (4), warm (1)" in assessor.text


@ON_SQLITE
def test_the_picture_that_was_searched_for_opens_larger(app, session):
    a_grouping_study(session, "searched", image=FIRST_TOPIC[0])
    assessor = Assessor(app, session, "searched")
    assessor.go("/q/1")
    link = assessor.page.select_one(".asked a[data-larger]")
    assert link.img["src"].replace("/small/", "/large/") == link["href"]


@pytest.mark.parametrize("go", ["undo", "take-1"])
def test_a_topic_that_is_done_is_never_left_with_a_picture_in_no_group(assessor, session, go):
    assessor.finish("/q/1", by_colour(FIRST_TOPIC))
    assessor.open("/q/1")
    before = len(steps_in(session))
    session.rollback()
    fields = assessor.tiles("red-0") if go.startswith("take") else {}
    assessor.submit("/q/1", go=go, **fields)
    assert assessor.status == 400
    assert "This topic is done, so nothing can be left without a group." in assessor.text
    assert len(steps_in(session)) == before
    session.rollback()
    assessor.sort("/q/1", {"warm": ["red-0"]})
    assessor.open("/q/1")
    assessor.submit("/q/1", go="take-1", **assessor.tiles("red-0"))
    assert assessor.status == 200
    assert len(steps_in(session)) == before + 2


def test_what_the_page_calls_unknown_is_no_name_of_another_group(assessor):
    assessor.sort("/q/1", {"Cannot be  placed": ["red-0"]})
    assessor.open("/q/1")
    groups = [
        group.get_text(" ", strip=True) for group in assessor.page.select("#groups li > button")
    ]
    assert groups == ["? cannot be placed 1 u"]


def arms_of(session):
    arms = session.scalars(select(Participant.arm).order_by(Participant.id)).all()
    session.rollback()
    return arms


@pytest.mark.slow
@ON_BOTH
def test_a_third_waits_for_no_one_where_no_one_new_is_admitted(app, session, study):
    first, third = Assessor(app, session), Assessor(app, session)
    another = Assessor(app, session)
    first.go("/q/1")
    another.go("/q/1")
    third.go("/waiting")
    lifecycle.end_admission(session, study, "Ada")
    session.rollback()
    third.open("/review")
    assert third.path == "/waiting"  # for the two who are under way
    for participant in session.query(Participant).filter_by(arm="first"):
        participant.status = "stopped"
    session.commit()
    third.open("/waiting")
    assert third.path == "/review"


@pytest.mark.slow
@ON_BOTH
def test_a_third_gets_only_the_topics_on_which_two_do_not_agree(app, session, study):
    third = Assessor(app, session)
    firsts = [Assessor(app, session) for _ in range(2)]
    for each in firsts:
        each.go("/q/1")
    third.go("/waiting")
    assert "They have not finished yet" in third.text
    assert arms_of(session) == ["first", "first", "third"]
    for each, groups in zip(firsts, (by_colour, warm_and_cold), strict=True):
        each.finish("/q/1", groups(FIRST_TOPIC))
    third.open("/waiting")
    assert third.path == "/q/1"
    assert "Topic 1 of 1" in third.text
    third.finish("/q/1", by_colour(FIRST_TOPIC))
    assert third.path == "/q/1"  # both earlier groupings are shown
    third.submit("/q/1", go="done")
    assert third.path == "/waiting"
    third.open("/review")
    assert third.path == "/waiting"
    for each in firsts:
        each.finish("/q/2", by_colour(SECOND_TOPIC))
        each.submit("/review")
    third.open("/waiting")
    assert third.path == "/review"
    third.submit("/review")
    assert third.path == "/done"


def test_the_third_sees_both_earlier_groupings_only_after_an_own_one(app, session, study):
    two_firsts(app, session)
    third = Assessor(app, session)
    third.go("/q/1")
    assert not third.page.select(".earlier")
    third.finish("/q/1", by_colour(FIRST_TOPIC))
    names = [
        sorted(each.text for each in other.select("li strong"))
        for other in third.page.select(".both > div")
    ]
    assert sorted(names) == [["blue", "green", "red"], ["cold", "warm"]]
    assert "“cold” is divided into" in third.text
    people = session.scalars(select(Participant.public_id)).all()
    assert not any(each in third.response.text for each in (*people, *FIRST_TOPIC))
    coarse = next(place for place, each in enumerate(names) if "cold" in each)
    third.submit("/q/1", go=f"adopt-{coarse}")
    assert groups_on(third.page) == {"cold": 8, "warm": 4, "cannot be placed": 0}
    third.submit("/q/1", go="undo")
    assert groups_on(third.page) == {"red": 4, "green": 4, "blue": 4, "cannot be placed": 0}
    actions = [row.action for row in steps_in(session)][-3:]
    assert actions == ["look", "adopt", "undo"]


@ON_SQLITE
def test_the_third_sees_them_too_where_the_others_are_left_unknown_at_the_end(app, session, study):
    two_firsts(app, session)
    third = Assessor(app, session)
    third.go("/q/1")
    third.sort("/q/1", {"warm": ["red-0"]})
    third.submit("/q/1", go="rest-done")
    assert third.path == "/q/1"
    assert third.page.select_one(".earlier")
    assert groups_on(third.page) == {"warm": 1, "cannot be placed": 11}
    assert [row.action for row in steps_in(session)][-3:] == ["put", "put", "look"]
    third.submit("/q/1", go="done")
    assert third.path == "/review"


def two_firsts(app, session, slug="grouped"):
    for groups in (by_colour, warm_and_cold):
        first = Assessor(app, session, slug)
        first.go("/q/1")
        first.finish("/q/1", groups(FIRST_TOPIC))
        first.finish("/q/2", by_colour(SECOND_TOPIC))


@ON_SQLITE
@pytest.mark.slow
def test_a_plan_may_keep_the_earlier_groupings_from_the_third(app, session):
    a_grouping_study(session, "alone", show_earlier=False)
    two_firsts(app, session, "alone")
    third = Assessor(app, session, "alone")
    third.go("/q/1")
    third.finish("/q/1", by_colour(FIRST_TOPIC))
    assert third.path == "/review"


def test_a_first_who_was_excluded_is_replaced(app, session, study):
    two_firsts(app, session)
    session.begin()
    person = session.scalars(select(Participant)).first()
    lifecycle.exclude(session, study, person, "Ada", "one group for all")
    third = Assessor(app, session)
    third.go("/q/1")
    assert arms_of(session) == ["first", "first", "first"]


@pytest.mark.parametrize("arm", ["first", "third"])
def test_a_personal_link_gives_a_role(app, session, study, arm):
    recruitment.add_guests(session, study, ["Bob"], arm)
    [guest] = recruitment.guests_of(session, study)
    link = recruitment.link_token(app.secret_key, guest)
    session.rollback()
    bob = Assessor(app, session)
    bob.go("/q/1", "/waiting", query=f"?guest={link}")
    assert arms_of(session) == [arm]


@pytest.mark.slow
def test_two_thirds_share_the_topics(app, session):
    a_grouping_study(session, participants=4)
    two_firsts(app, session)
    thirds = [Assessor(app, session) for _ in range(2)]
    thirds[0].go("/q/1")
    thirds[1].go("/review")
    shown = session.scalars(select(Presentation).join(Participant).filter_by(arm="third")).all()
    assert len(shown) == 1


@pytest.mark.slow
def test_looking_stores_nothing_of_the_others(app, session, study):
    two_firsts(app, session)
    third = Assessor(app, session)
    third.go("/q/1")
    third.finish("/q/1", by_colour(FIRST_TOPIC))
    [look] = [row for row in steps_in(session) if row.action == "look"]
    assert (look.name, look.documents, look.groups) == (None, None, None)


def exported(session, study, **options):
    content = b"".join(bundle.stream_bundle(session, study, **options))
    session.rollback()
    archive = zipfile.ZipFile(io.BytesIO(content))
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
@ON_SQLITE
def test_its_files_equal_what_the_commands_make_of_them(app, session, tmp_path):
    study = grouped(app, session)
    files = dict(bundle.content_of(session, study).results.files())
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = [tmp_path / f"{name}.txt" for name in ("first", "second", "third")]
    topics = tmp_path / "topics.csv"
    rows = [f"{each.topic},{each.cluster_type or ''}" for each in topics_of(session, study.id)]
    topics.write_text("\n".join(["topic,cluster_type", *rows]))
    gold = assessment.gold(paths, 0.8, 0.5, lambda *_: None, topics)
    assert [*assessment.gold_files(gold)] == [
        files[name] for name in ("gold.txt", "gold-topics.csv", "gold-statistics.csv")
    ]
    compared = assessment.compare_clusterings(*paths[:2], 0.8, lambda *_: None)
    figures = analyse_stored(session, study, AnalysisOptions()).as_json()
    agreement = assessment.compared_json(compared)
    by_name = [of["reliability"].pop("by_assessor") for of in (agreement, figures["agreement"])]
    assert [each["assessor"] for each in by_name[0]] == ["first", "second"]
    assert [{**each, "assessor": ""} for each in by_name[0]] == [
        {**each, "assessor": ""} for each in by_name[1]
    ]
    assert figures["agreement"] == agreement
    assert compared.third == ["5"]
    assert gold.joined[0].rule.startswith("of three, that of assessor")
    assert len({*gold.joined[0].clusters.values()}) == 3
    people = sorted((each["role"], each["documents"]) for each in figures["assessors"])
    assert people == [("first", 18), ("first", 18), ("third", 12)]


@pytest.mark.slow
def test_without_a_third_the_topic_is_left_out(app, session):
    study = grouped(app, session, third=False)
    figures = analyse_stored(session, study, AnalysisOptions()).as_json()
    rules = {each["topic"]: each["rule"] for each in figures["gold"]["topics"]}
    assert rules == {"5": "left out: no third assessor", "7": "union of two"}
    assert [*replicate(exported(session, study))]


@ON_SQLITE
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("gold.txt", (b"red", b"rot"), "gold.txt, line"),
        ("groups.csv", (b"red", b"rot"), "groups.csv"),
        ("steps.csv", (b"put,1,", b"take,9,"), "steps.csv"),
        ("steps.csv", (b"red-1", b"red-9"), "no document"),
        ("questions.csv", (b"red-1", b"red-9"), "questions.csv"),
        ("topics_done.csv", (b"P-", b"Q-"), "no such participant"),
    ],
)
def test_a_changed_bundle_does_not_replicate(app, session, name, change, fault):
    files = dict(exported(session, grouped(app, session)))
    assert change[0] in files[name]
    files[name] = files[name].replace(*change)
    sums = {each: sha256_of(files[each]) for each in files if each != "SHA256SUMS"}
    files["SHA256SUMS"] = sums_text(sums).encode()
    with pytest.raises(BundleError, match=fault):
        [*replicate(files)]


@ON_SQLITE
@pytest.mark.slow
def test_bots_group_by_a_truth_and_a_third_settles(app, session, tmp_path):
    study = a_grouping_study(session)
    truth = tmp_path / "truth.txt"
    truth.write_text(
        "".join(f"5 {each} {each.split('-')[0]}\n" for each in FIRST_TOPIC), encoding="utf-8"
    )
    plan, shown = study.plan, items.shown(session, study)
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/grouped?test={tokens.test_run_token(KEY, 'grouped')}"
        simulate(entry, plan, 3, preferences_for(plan, f"{truth}:0.6", shown), seed=1)
    session.rollback()
    lifecycle.close_study(session, study)
    figures = analyse_stored(session, study, AnalysisOptions(include_test=True)).as_json()
    assert sorted(each["role"] for each in figures["assessors"]) == ["first", "first", "third"]
    assert figures["agreement"]["third"]


@ON_SQLITE
def test_bots_without_errors_give_the_truth_back_of_texts_and_by_topic(app, session, tmp_path):
    both = {"5": FIRST_TOPIC, "7": FIRST_TOPIC[:4]}
    study = a_grouping_study(session, topics=both, texts="All of {}".format, practice=True)
    truth = tmp_path / "truth.txt"
    groups = {
        (topic, each): f"{each.split('-')[0]} of {topic}"
        for topic, documents in both.items()
        for each in documents
    }
    lines = [f"{topic} {each} {name}\n" for (topic, each), name in groups.items()]
    truth.write_text("".join(lines))
    plan, shown = study.plan, items.shown(session, study)
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/grouped?test={tokens.test_run_token(KEY, 'grouped')}"
        simulate(entry, plan, 2, preferences_for(plan, f"{truth}:0", shown), seed=1)
    session.rollback()
    lifecycle.close_study(session, study)
    content = exported(session, study, include_test=True)["groups.csv"].decode()
    rows = csv.DictReader(io.StringIO(content))
    assert {((row["topic"], row["document"]), row["group"]) for row in rows} == {*groups.items()}


@ON_SQLITE
def test_texts_can_be_read_whole_and_are_called_texts(app, session):
    a_grouping_study(session, texts=lambda each: f"{each} {'and so on ' * 60}")
    assessor = Assessor(app, session)
    assessor.open()
    assert "Sort the results of each of two topics into groups." in assessor.text
    assessor.go("/q/1")
    assert "Sort the texts by: colour" in assessor.text
    assert "A text may be in several groups." in assessor.text
    assert "Tap texts, then a group" in assessor.text
    tile = assessor.page.select_one(".tile")
    assert 20 < tile.select_one(".words").text.count("and so on") < 60
    whole = assessor.client.get(tile.select_one("a.more")["href"]).text
    assert whole.count("and so on") == 60
    assessor.submit("/q/1", go="put-0")
    assert "Nothing is selected yet." in assessor.page.select_one("#problems").text
    assert "picture" not in assessor.page.select_one("#problems").text


def practising(app, session, slug="tried", **changes):
    """Somebody at the practice of a study."""
    a_grouping_study(session, slug, practice=True, **changes)
    assessor = Assessor(app, session, slug)
    assessor.go("/practice")
    return assessor


@ON_SQLITE
def test_the_practice_is_the_real_page_on_some_pictures_of_several_topics_and_stores_nothing(
    app, session
):
    topics = {"5": FIRST_TOPIC[:4], "7": FIRST_TOPIC[4:8], "9": FIRST_TOPIC[8:10]}
    assessor = practising(app, session, topics=topics)
    practised = [assessor.documents[name] for name in shown_on(assessor.page)]
    colours = [each.partition("-")[0] for each in practised]
    assert {each: colours.count(each) for each in COLOURS} == {"red": 3, "green": 3, "blue": 2}
    assert "Tap two pictures that belong together, then + New" in assessor.text
    assert not assessor.page.select(".asked")  # no topic is told
    assert assessor.page.select_one("#work[data-steps]")
    assessor.submit("/practice", document=["1", "2"], group="warm", go="new")
    assert (assessor.status, assessor.path) == (200, "/practice")
    assert groups_on(assessor.page) == {"warm": 2, "cannot be placed": 0}
    assert status(assessor) == "2 of 8 placed"
    assert "Sort more, or press Start" in assessor.text
    assessor.submit("/practice", go="undo")
    assert groups_on(assessor.page) == {"cannot be placed": 0}
    assessor.submit("/practice", document=["3"], group="", go="new")
    assert assessor.status == 400
    assert "Please type a name for the group." in assessor.text
    assert not steps_in(session)
    assert session.query(StoredResponse).count() == 0
    session.rollback()
    assessor.submit("/practice", go="done")
    assert assessor.path == "/q/1"
    assert status(assessor) == "0 of 4 placed"
    assert not steps_in(session)


def shown_on(page):
    """The names of the pictures on a page."""
    sources = (tile.select_one("img")["src"] for tile in page.select(".tile"))
    return [source.rpartition("/")[2].removesuffix(".webp") for source in sources]


@ON_SQLITE
@pytest.mark.parametrize("go", ["done", "next"])
def test_the_practice_is_left_also_where_nothing_is_placed_and_back_leads_before_it(
    app, session, go
):
    assessor = practising(app, session)
    assert [each.text for each in assessor.page.select("#buttons .go")] == ["Start"]
    assessor.submit("/practice", go="back")
    assert assessor.path == "/scenario"
    assessor.submit("/scenario")
    assessor.submit("/practice", go=go)
    assert assessor.path == "/q/1"


@ON_SQLITE
def test_enter_makes_a_group_in_the_practice_where_it_would_on_the_real_page(app, session):
    assessor = practising(app, session)
    assessor.submit("/practice", go="next", group="warm", document=["1", "2"])
    assert groups_on(assessor.page) == {"warm": 2, "cannot be placed": 0}


@ON_SQLITE
def test_of_a_single_topic_a_few_texts_are_practised(app, session):
    assessor = practising(app, session, topics={"5": FIRST_TOPIC}, texts="All of {}".format)
    assert len(assessor.page.select(".tile")) == 6
    assert "Tap two texts that belong together, then + New" in assessor.text
    assert "Seen from near" not in assessor.page.main.text


def test_two_documents_are_enough_for_a_practice():
    plan = a_grouping_plan(topics={"5": ["a", "b"], "7": ["b", "a"]})
    practised = KINDS["grouping"].practice_question(plan, plan.draw_questions())
    assert (practised.number, practised.documents) == (0, ("a", "b"))


@ON_SQLITE
def test_a_tenth_group_has_a_number_on_its_tiles_and_a_letter_as_its_key(assessor):
    assessor.sort("/q/1", {f"colour {number}": [name] for number, name in enumerate(FIRST_TOPIC)})
    chips = assessor.page.select("#groups button")
    assert [chip.b.text for chip in chips] == [*map(str, range(1, 13)), "?"]
    assert [chip["data-key"] for chip in chips][8:] == ["9", "a", "b", "c", "u"]
    assert [chip.kbd and chip.kbd.text for chip in chips][8:] == [None, "a", "b", "c", "u"]
    tags = {tile.select_one(".tag").contents[0] for tile in assessor.page.select(".tile")}
    assert tags == {str(number) for number in range(1, 13)}


@pytest.mark.parametrize("text", ["4", "4:2", "4:x"])
def test_a_bots_preference_that_cannot_be_is_refused(text):
    with pytest.raises(SurveyError, match="is no preference"):
        preferences_for(a_grouping_plan(), text)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"topics": {}}, "topics is empty"),
        ({"topics": {"5": ["a"]}}, "1 documents; 2 to 500"),
        ({"topics": {"5": ["a", "a"]}}, "a document twice"),
        ({"topics": [["5", ["a", "b"]], ["5", ["c", "d"]]]}, "topics has '5' 2 times; once"),
        ({"topics": {"5": ["a b", "c"]}}, "'a b' found; an id has no blanks"),
        ({"topics": {"5": [1, "2"]}}, "1 found; an id is needed, and a number needs quotes"),
        ({"topics": 7}, "topics cannot be read; each topic needs a list of documents, like"),
        ({"topics": {"5": "ab"}}, "topics cannot be read; each topic needs a list of documents"),
        ({"topics": [["5", [3.5, ["b"]]]]}, "3.5 found; an id is needed"),
        ({"design": "pool", "per_participant": 1}, "group all topics"),
        ({"sufficient_agreement": 101}, "sufficient_agreement"),
        ({"left_out": "7"}, "each topic needs a reason"),
        ({"left_out": [["7", ""]]}, "each topic needs a reason"),
        ({"left_out": {"a b": "too specific"}}, "a b"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changes, fault):
    with pytest.raises(PlanError, match=fault):
        a_grouping_plan(**changes)


def test_a_topic_that_is_left_out_is_not_asked_and_keeps_its_reason():
    plan = a_grouping_plan(left_out=[["7", "too specific"], ["9", "not diverse"]])
    assert [topic for topic, _ in plan.topics] == ["5"]
    assert plan.questions == 1
    assert dict(type(plan).from_json(plan.as_json()).left_out)["9"] == "not diverse"
    assert "left_out" not in a_grouping_plan().as_json()


def test_a_plan_is_read_again_as_it_was_stored():
    plan = a_grouping_plan()
    assert type(plan).from_json(plan.as_json()) == plan
    assert plan.questions == len(PLAN["topics"])


DOCUMENTS = [f"d{number}" for number in range(6)]


@st.composite
def rows_of_steps(draw):
    """Steps as pages make them, by a model of plain sets."""
    chance = draw(st.randoms(use_true_random=False))
    state, history, model = GroupingPresentation(1), [], {0: ("", set())}
    steps = []
    for _ in range(draw(st.integers(0, 12))):
        step, model_after = a_step(chance, state, model, history)
        steps.append(step)
        if step.action == UNDO:
            model = history.pop()
        else:
            history.append(model)
            model = model_after
        state = GroupingPresentation(1, tuple(steps))
    return state, model


def a_step(chance: random.Random, state, model, history):
    some = frozenset(chance.sample(DOCUMENTS, chance.randint(1, 3)))
    numbers = [number for number in model if number]
    after = {number: (name, set(documents)) for number, (name, documents) in model.items()}
    action = chance.choice([PUT, PUT, PUT, TAKE, RENAME, MERGE, ADOPT, UNDO])
    if action == UNDO and history:
        return GroupingStep(UNDO), None
    if action == TAKE:
        number = chance.choice([*model])
        after[number][1].difference_update(some)
        return GroupingStep(TAKE, number, documents=sorted(some)), after
    if action == RENAME and numbers:
        number, name = chance.choice(numbers), f"name {chance.randrange(10_000)}"
        after[number] = (name, after[number][1])
        return GroupingStep(RENAME, number, name), after
    if action == MERGE and len(numbers) > 1:
        gone, into = chance.sample(numbers, 2)
        after[into][1].update(after.pop(gone)[1])
        return GroupingStep(MERGE, gone, merged_into=into), after
    if action == ADOPT:
        groups = {"x": sorted(some), "unknown": [each for each in DOCUMENTS if each not in some]}
        return GroupingStep(ADOPT, groups=groups), {
            0: ("", {*groups["unknown"]}),
            1: ("x", {*some}),
        }
    number = chance.choice([*model, state.next_number])
    is_new = number not in model
    name = f"name {chance.randrange(10_000)}" if is_new else None
    if number == 0:
        for _, documents in after.values():
            documents.difference_update(some)
    else:
        after[0][1].difference_update(some)
    after.setdefault(number, (name, set()))[1].update(some)
    return GroupingStep(PUT, number, name, documents=sorted(some)), after


@given(rows_of_steps())
def test_steps_make_the_groups_that_a_plain_model_makes(made):
    state, model = made
    assert {number: (name, {*documents}) for number, (name, documents) in state.groups.items()} == (
        model
    )
    for document, names in state.clusters.items():
        assert names == {name for name, documents in model.values() if document in documents} - {""}
    assert {*state.clusters} == set().union(*(documents for _, documents in model.values()))
    taken = GroupingPresentation(1, (GroupingStep(ADOPT, groups=groups_of(state.clusters)),))
    assert taken.clusters == state.clusters


@ON_BOTH
@pytest.mark.parametrize(
    "values",
    [
        {"action": "put"},
        {"action": "throw"},
        {"action": "adopt"},
        {"action": "put", "group_number": 1, "documents": ["a"], "groups": {"a": []}},
        {"action": "rename", "name": "x"},
    ],
)
def test_the_database_refuses_a_step_that_cannot_be(assessor, session, values):
    [presentation] = session.scalars(select(Presentation).filter_by(position=1))
    row = {"presentation_id": presentation.id, "number": 1, "saved_at": now(), **values}
    with pytest.raises(IntegrityError):
        session.execute(TABLES.step.insert().values(row))
    session.rollback()


def test_a_topic_is_a_small_page_and_asks_little(assessor, engine):
    with statements(engine) as asked:
        assessor.open("/q/1")
    page = assessor.response.data
    assert len(page) <= 14_000
    assert len(gzip.compress(page, 6)) <= 4_000
    assert len([each for each in asked if each.startswith("SELECT")]) <= 10


def test_a_persons_own_data_tell_groups_and_steps_and_no_document(assessor):
    assessor.sort("/q/1", {"warm": ["red-0"]})
    content = assessor.client.get("/s/grouped/my-data.json").get_data(as_text=True)
    assert '"warm"' in content
    assert '"put"' in content
    assert "red-0" not in content


@ON_SQLITE
def test_review_and_own_data_count_what_cannot_be_placed_and_what_is_not_done(assessor):
    assessor.sort("/q/1", {"warm": ["red-0"], "": ["red-1"]})
    assessor.open("/my-data")
    answers = [row.text.strip() for row in assessor.page.select(".review td:nth-child(2)")]
    begun = "Seen from near · warm (1), cannot be placed (1)\nNot done yet"
    assert answers == [begun, "none yet"]
    assessor.open("/q/1")
    assessor.submit("/q/1", go="rest")
    assessor.submit("/q/1", go="done")
    assessor.submit("/q/2", go="rest")
    assessor.insist("/q/2", go="done")
    for path in ("/review", "/my-data"):
        assessor.open(path)
        answers = [row.text.strip() for row in assessor.page.select(".review td:nth-child(2)")]
        assert answers == [
            "Seen from near · warm (1), cannot be placed (11)",
            "Seen from far · cannot be placed (6)",
        ]


@pytest.fixture
def desk(app, session, study):
    """A researcher who owns the study."""
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    return desk


PAGES = (
    *("", "/plan", "/check", "/progress", "/items", "/invite"),
    *("/preview/1/question/2", "/preview/1/review"),
)


@ON_SQLITE
@pytest.mark.parametrize("page", PAGES)
def test_each_page_of_its_researcher_is_shown(desk, study, page):
    desk.open(f"/research/studies/grouped{page}")
    assert desk.status == 200, desk.text
    if "preview" in page:
        assert desk.page.select_one("label[for=labels]").text == "Seed"
        assert not desk.page.select_one("#labels").has_attr("pattern")
        assert desk.page.select_one("label[for=arm]").text == "Arm"


@ON_SQLITE
def test_a_draft_is_made_of_judgements_in_the_browser(desk, session):
    new = "/research/new"
    desk.open(new)
    desk.send(new, start="groups", slug="sorted")
    assert "Choose judgements. No study was made." in desk.text
    for text, fault in (("5 0 a 1\n5 0 b 0\n", "no topic with two"), ("5 0 a\n", "line 1")):
        file = (io.BytesIO(text.encode()), "qrels.txt")
        desk.send(new, start="groups", slug="sorted", files={"judgements": file})
        assert fault in desk.text
    file = (io.BytesIO(b"5 0 a 1\n5 0 b 2\n6 0 a 1\n"), "qrels.txt")
    desk.send(new, start="groups", slug="sorted", files={"judgements": file})
    assert desk.address == "/research/studies/sorted/plan"
    plan = lifecycle.find_study(session, "sorted").plan
    assert (plan.kind, plan.topics) == ("grouping", (("5", ("a", "b")),))


@ON_SQLITE
def test_a_researcher_gives_links_with_a_role(desk, session, study):
    desk.open("/research/studies/grouped/invite")
    desk.send("/research/studies/grouped/invite/guests", names="Eve", arm="third")
    [guest] = recruitment.guests_of(session, study)
    assert (guest.name, guest.arm) == ("Eve", "third")
    assert "(third)" in desk.text


@ON_SQLITE
def test_its_public_page_says_who_was_asked_which_topics(app, session):
    study = grouped(app, session)
    publications.publish(session, study, "Ada", Details("Groups", "Ada", ""))
    session.rollback()
    page = BeautifulSoup(app.test_client().get("/studies/done").text, "html.parser")
    assert (
        "3 people gave 5 answers. Each first assessor was asked 2 questions; a third assessor, "
        "only what the first two did not agree on."
    ) in " ".join(page.main.text.split())


@ON_SQLITE
def test_a_trial_says_where_a_topic_is_not_in_the_gold_standard(app, session):
    study = grouped(app, session, third=False)
    content = bundle.content_of(session, study)
    left_out, settled = (
        content.answers.tried_sheet(
            content,
            number,
            GroupingPresentation(1, [GroupingStep(PUT, 1, "mine", documents=documents)]),
            Done(1),
        )
        for number, documents in ((1, FIRST_TOPIC), (2, SECOND_TOPIC))
    )
    assert {row[1] for row in left_out.rows} == {None}
    assert left_out.note.startswith(
        "This topic is not in the gold standard (left out: no third assessor). Names of groups"
    )
    assert {row[1] for row in settled.rows} == {"red", "green"}
    assert settled.note.startswith("Names of groups")


@ON_SQLITE
def test_without_answers_there_is_nothing_to_download(desk, session, study):
    lifecycle.close_study(session, study)
    session.rollback()
    results = "/research/studies/grouped/results"
    desk.open(results)
    assert "There is no gold standard: no topic has two assessors." in desk.text
    assert "There is no answer yet." in desk.text
    assert "Download for a paper" not in desk.text
    assert "What the download holds" not in desk.text


@ON_SQLITE
@pytest.mark.slow
def test_its_results_show_topics_gold_standard_and_assessors(desk, app, session):
    study = grouped(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open("/research/studies/done/results")
    captions = [each.text for each in desk.page.select("caption")]
    assert {"Agreement by topic", "Two assessors' clusters", "The gold standard"} <= {*captions}
    # The third, who was asked because two differ, does not count for reliability.
    assert re.fullmatch(
        r"The two assessors agree on 1 of 2 topics \(adjusted Rand .80 or more; mean .\d\d, .* to "
        r"1.00\). A third decided 1.",
        desk.page.select_one("#answer").text,
    )
    assert [" ".join(row.text.split()) for row in desk.page.select(".rows li")][1:] == [
        "Settled by a third assessor: 1 topic (5).",
        "Left out: 0 topics.",
        "Gold standard: 2 of 2 topics.",
    ]
    counts = desk.page.select_one(".counts").text
    assert counts.startswith("2 assessors · 1 third assessor · 2 topics · ")
    assert "The mean may be above or below .80." in desk.page.select_one(".reach").text
    reliability = desk.page.select_one("#reliability").text
    assert "agree well enough to rely on is not decided: alpha .59 (.19 to .99)." in reliability
    contested = desk.page.select_one("#contested")
    assert [each.text for each in contested.select("h3")] == ["5: Seen from near"]
    # Green and blue pictures are apart in the one and together in the other; red ones are not.
    for item in contested.select(".pictures li"):
        document, groups = item.text.split(": ")
        assert {document.strip().partition("-")[0], "cold"} == {*groups.strip().split(" – ")}
    assert len(contested.select(".pictures li")) == 8
    picture = contested.select_one("img")["src"]
    assert desk.client.get(picture).mimetype == "image/webp"
    shows_its_figures_as_files(desk)
    content = desk.client.get("/research/studies/done/results/paper.zip").data
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert {"first.txt", "second.txt", "third.txt", "gold.txt"} <= {*names}


@ON_BOTH
def test_a_researcher_sees_who_is_where_and_how_fast(app, session):
    study = a_grouping_study(session)
    for _ in range(2):
        assessor = Assessor(app, session)
        assessor.go("/q/1")
        assessor.finish("/q/1", by_colour(FIRST_TOPIC))
    third = Assessor(app, session)
    third.go("/waiting")
    session.rollback()
    watch = list_participants(session, study)
    rows = {row.participant.arm: row for row in watch.counted.shown}
    assert watch.arms == {"first": 2, "third": 1}
    assert (rows["first"].page, rows["first"].asked) == ("question 2 of 2", 2)
    assert rows["first"].pace.pictures == len(FIRST_TOPIC)
    assert (rows["third"].page, rows["third"].asked) == ("no topic left for now", 0)
    assert rows["third"].pace is None


@ON_SQLITE
@pytest.mark.parametrize(
    ("steps", "heading", "asked"),
    [
        ([{"go": "rest"}], "Nothing of this topic can be placed", "unplaced"),
        ([{"go": "new", "group": "all"}], "All of this topic is in one group", "one_group"),
        ([{"go": "new", "group": "some", "document": ["1", "2"]}, {"go": "rest"}], None, None),
    ],
)
def test_a_topic_that_is_all_in_one_place_is_asked_about_once(
    assessor, session, steps, heading, asked
):
    everything = [str(number) for number in range(1, len(FIRST_TOPIC) + 1)]
    for step in steps:
        selected = {"document": everything} if step["go"] == "new" else {}
        assessor.submit("/q/1", **{**selected, **step})
    assessor.submit("/q/1", go="done")
    if heading:
        assert heading in assessor.page.select_one(".asks").text
        assert session.query(StoredResponse).count() == 0
        session.rollback()
        assessor.submit("/q/1", go="done")
    assert assessor.path == "/q/2"
    assert session.query(StoredResponse).one().asked == asked


@ON_SQLITE
def test_that_it_was_asked_is_stored_of_who_then_changes_the_groups_and_asked_once(
    assessor, session
):
    everything = [str(number) for number in range(1, len(FIRST_TOPIC) + 1)]
    assessor.submit("/q/1", go="new", group="all", document=everything)
    assessor.submit("/q/1", go="done")
    assert assessor.page.select_one(".asks")
    assessor.submit("/q/1", go="new", group="other", document=["1"])
    assert not assessor.page.select_one(".asks")
    assessor.submit("/q/1", go="done")
    assert assessor.path == "/q/2"
    assert session.query(StoredResponse).one().asked == "one_group"
    session.rollback()
    assessor.open("/q/1")
    other = next(each for each in assessor.page.select("#groups button") if "other" in each.text)
    assessor.submit("/q/1", go=other["value"].replace("put", "take"), document=["1"])
    assessor.submit("/q/1", go="done")
    assert assessor.path == "/q/2", "it has asked before"


@ON_SQLITE
def test_enter_puts_what_is_selected_into_the_typed_group_and_else_ends_the_topic(assessor):
    assert assessor.form("/q/1").select_one("button")["value"] == "next"
    assessor.submit("/q/1", go="next", group="warm", document=["1", "2"])
    assert "2 of 12 placed" in assessor.text
    assessor.submit("/q/1", go="next")
    assert "10 are in no group yet" in assessor.text
