"""“New study”: each card makes a draft of its example files, and no mistake makes one."""

import io
import re
from datetime import timedelta

import pytest

from survey.core.ways_in import DOCUMENTS, PASSAGES, PICTURES, POSITIONS
from survey.errors import CannotOpenError
from survey.services import new_studies
from survey.services.accounts import researcher_named
from survey.services.participation import participants
from survey.services.studies import lifecycle
from survey.services.studies.plans import PRESETS, parse_plan, preset_plan, texts_for
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE
NEW = "/research/new"
FIELD_OF = {"topics.csv": "topics_file", "lists.csv": "lists", "plan.yaml": "plan"} | {
    "qrels.txt": "judgements",
    "items.csv": "items",
    "pool.csv": "pool_file",
    "judged.txt": "judged",
    "gold.csv": "gold",
    "bundle.zip": "bundle",
    "classes.zip": "folder",
}
RUNS = ("alpha.txt", "beta.txt", "gamma.txt")
IN_PLACE = ("pool.csv",)  # of other example files
WITH_EXAMPLES = [way.name for _, way in new_studies.ways_in().values() if way.examples]


def an_example(name):
    return io.BytesIO(new_studies.example_content(name)), name


def examples_of(name, *left_out):
    """Return the example files of a card by the field that each is chosen in."""
    files = {}
    for each in new_studies.ways_in()[name][1].examples:
        runs = "pool" if name == "pool" else "runs"
        field = runs if each in RUNS else FIELD_OF[each]
        if each not in (left_out or IN_PLACE):
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
        assert desk.client.get(link["href"]).data == new_studies.example_content(link.text)
    choose(desk, name, asked_by="us", contact="us@example.org")
    assert desk.address == "/research/studies/made/plan", desk.text
    stops = lifecycle.stops_of(lifecycle.check_study(session, made(session)))
    assert [each.text for each in stops] == []


@pytest.mark.parametrize(
    ("name", "left_out", "items"),
    [
        ("runs", ("items.csv", "topics.csv"), POSITIONS),
        ("runs", (), DOCUMENTS),
        ("preference", ("items.csv", "topics.csv"), POSITIONS),
        ("preference", (), DOCUMENTS),
        ("labels", (), DOCUMENTS),
        ("groups", (), DOCUMENTS),
        ("collect", (), PICTURES),
    ],
)
@pytest.mark.parametrize("language", ["en", "el"])
def test_texts_follow_what_is_shown(desk, session, name, left_out, items, language):
    choose(desk, name, *left_out, language=language)
    plan = made(session).plan
    preset = {"labels": "labels", "groups": "groups", "preference": "preference"}.get(name, "runs")
    texts = texts_for(preset, items, language)
    unsized = name in ("runs", "preference")
    for field in ("title", "scenario", "question_text"):
        wanted = texts[field].replace("{collection_size} ", "") if unsized else texts[field]
        assert getattr(plan, field) == wanted, field


def test_documents_without_titles_are_passages_and_an_edited_text_stays(desk, session):
    choose(desk, "labels", "items.csv")
    edited = {**made(session).plan.as_json(), "scenario": "Mark what you like."}
    lifecycle.change_plan(session, made(session), parse_plan(edited), "Ada")
    session.rollback()
    page = "/research/studies/made/items"
    desk.open(page)
    table = (io.BytesIO(b"document,text\nd1,Bees dance.\nd2,Bread rises.\n"), "items.csv")
    desk.send(page, files={"files": table})
    plan = made(session).plan
    assert plan.title == texts_for("labels", PASSAGES, "en")["title"] == "Which passages match?"
    assert plan.scenario == "Mark what you like."


def test_labelling_takes_the_topics_that_there_are(desk, session):
    choose(desk, "labels")
    assert len(made(session).plan.topics) == 6
    ticked = desk.page.select("#topics input[checked]")
    assert [each["value"] for each in ticked] == [*made(session).plan.topics]
    desk.send("/research/studies/made/plan", topics=[each["value"] for each in ticked[:2]])
    assert len(made(session).plan.topics) == 2


def test_groups_come_from_judgements_as_a_table(desk, session):
    choose(desk, "groups")
    rows = [[cell.text for cell in row("td")[1:]] for row in desk.page.select("#topics tbody tr")]
    assert rows[0] == ["why does bread rise", "what it explains", "3"]
    values = [each["value"] for each in desk.page.select("#topics input[checked]")]
    desk.send("/research/studies/made/plan", topics=values[1:])
    assert [topic for topic, _ in made(session).plan.topics] == [
        value.split()[0] for value in values[1:]
    ]


def test_the_size_may_be_unknown_and_what_was_not_returned_is_said(desk, session):
    choose(desk, "runs", "items.csv", "topics.csv")
    assert "MNRO left out: the number of documents that the runs searched is unknown" in desk.text
    assert "runs alpha, beta, gamma for 5 topics" in desk.page.select_one("#origin").text
    study = made(session)
    assert study.plan.measures == ("AP", "NMRR")
    assert "collection_size" not in study.plan.scenario
    missing = sum(map(sum, study.plan.provenance.unreturned))
    [finding] = [
        each for each in lifecycle.check_study(session, study) if each.code == "not-returned"
    ]
    assert finding.text.startswith(f"{missing} relevant documents were not returned")
    pages = [
        desk.client.get(f"/research/studies/made/check?question={n}").text for n in range(1, 6)
    ]
    counts = re.findall(r"\((\d+) not returned\)</data>", " ".join(pages))
    assert sum(map(int, counts)) == missing


def test_a_study_that_admits_no_one_closes_when_the_last_have_gone(desk, session, study, app):
    lifecycle.open_study(session, study)
    Visitor(app.test_client(), "a-study").go("/q/1")
    lifecycle.end_admission(session, study)
    assert participants.close_ended(session) == 0
    assert study.closes_at - study.admission_ended_at == timedelta(hours=48)
    study.closes_at -= timedelta(hours=48, seconds=1)
    session.commit()
    assert participants.close_ended(session) == 1
    assert (study.status, participants.close_ended(session)) == ("closed", 0)


def test_a_long_study_is_told_to_ask_each_person_some_of_it(desk, session):
    plan = preset_plan("mnro", questions=40)
    lifecycle.create_study(session, "long", plan)
    found = lifecycle.check_study(session, lifecycle.find_study(session, "long"))
    [text] = [each.text for each in found if each.code == "long"]
    fewer = int(re.search(r"Ask each person (\d+) of them", text)[1])
    pool = preset_plan("mnro", questions=40, design="pool", per_participant=fewer)
    assert pool.expected_minutes() <= 30 < plan.expected_minutes()


def test_a_copy_and_a_seen_study_begin_another(desk, session, study):
    desk.open(f"{NEW}?start=copy")
    desk.send(NEW, study="a-study", slug="again")
    assert made(session, "again").plan == made(session, "a-study").plan
    desk.open(f"{NEW}?start=copy")
    desk.send(NEW, study="no-study", slug="never")
    assert "Choose a study. No study was made." in desk.text


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
    choose(desk, "pool", *RUNS, *IN_PLACE)
    assert "Choose the runs, or a file of the pool. No study was made." in desk.text
    assert desk.page.select_one("#pool_depth")["value"] == "20"
    for depth in ("0", "1001", "deep"):
        choose(desk, "pool", pool_depth=depth)
        assert "found; a whole number from 1 to 1,000 is needed" in desk.text
        assert desk.page.select_one("#pool_depth")["aria-invalid"] == "true"
    assert lifecycle.all_studies(session) == []


def test_people_may_judge_a_sample_of_a_pool_and_the_plan_changes_it(desk, session):
    choose(desk, "pool", sample_documents="many", asked_by="us", contact="us@example.org")
    assert desk.page.select_one("#sample_documents")["aria-invalid"] == "true"
    choose(desk, "pool", sample_documents="99999", asked_by="us", contact="us@example.org")
    assert "fewer are drawn, or leave it out" in desk.text
    choose(desk, "pool", sample_documents="7", asked_by="us", contact="us@example.org")
    assert len(made(session).plan.sampled) == 7
    desk.open("/research/studies/made/plan?step=who")
    assert desk.page.select_one("#sample").text.strip() == "documents: 7"
    desk.send("/research/studies/made/plan", sample="topics: 1")
    session.expire_all()
    assert made(session).plan.sample == {"topics": 1}
    assert len({each.topic for each in made(session).plan.draw_questions()}) == 1
    desk.open("/research/studies/made/plan?step=who")
    desk.send("/research/studies/made/plan", sample="")
    session.expire_all()
    assert made(session).plan.sample is None


def test_a_pool_leaves_out_topics_without_a_row_in_the_file_of_topics(desk, session):
    files = examples_of("pool", "topics.csv", "gold.csv", *IN_PLACE)
    known = first_topic(files)
    files["topics_file"] = [(io.BytesIO(f"topic,text\n{known},a text\n".encode()), "topics.csv")]
    desk.open(f"{NEW}?start=pool")
    desk.send(NEW, files=files, slug="made")
    assert [*made(session).plan.topics] == [known]
    assert "without a row in the file of topics" in desk.text


def test_a_pool_takes_judgements_and_gold_which_its_check_asks_everybody(desk, session):
    choose(desk, "pool", *RUNS, asked_by="us", contact="us@example.org")
    study = made(session)
    plan = study.plan
    assert plan.pool.runs == {}
    assert plan.pool.depth is None  # which is of runs
    assert {"tides-1", "tides-2"} < {*plan.pool.of_topic("tides")}
    assert plan.judged["bread"] == {"bread-1": 1, "bread-3": 1}
    known = {(each.topic, each.document): each.relevance for each in plan.gold}
    assert (len(known), known["tides", "tides-1"], known["tides", "bread-1"]) == (8, 1, 0)
    assert "judged.txt: 12 pooled documents are judged." in desk.text
    assert "gold.csv: 2 of its 8 documents are in the pool. They are shown as gold" in desk.text
    desk.open("/research/studies/made/check")
    assert "Documents with known answers (gold): 8 in 6 topics" in " ".join(desk.text.split())
    assert lifecycle.stops_of(lifecycle.check_study(session, study)) == []


def test_files_of_a_pool_that_cannot_be_used_are_named_and_stay(desk, session):
    choose(desk, "pool", "-", slug="made")
    both = "Runs and a file of the pool both say what is judged; choose one of them."
    assert both in desk.page.select_one("#pool_file-error").text
    files = examples_of("pool")
    files["gold"] = [(io.BytesIO(b"topic,document,relevance\ntides,echo-1,perhaps\n"), "gold.csv")]
    desk.open(f"{NEW}?start=pool")
    desk.send(NEW, files=files, slug="made")
    [fault] = [each.text for each in desk.page.select(".faults li")]
    assert fault.startswith("gold.csv, row 2, column relevance: 'perhaps' found; a whole number")
    kept = {each["name"] for each in desk.page.select("[type=hidden][name^=kept-]")}
    assert {"kept-pool", "kept-judged", "kept-gold"} <= kept
    assert lifecycle.all_studies(session) == []


def first_topic(files):
    """Return the first topic of the first run of a form's files."""
    run, _ = files["pool"][0]
    return run.getvalue().decode().split()[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_who_asks_and_whom_to_ask_are_empty_with_an_example_as_hint(desk, session, preset):
    desk.open(NEW)
    for name, example in (("asked_by", "the retrieval group of X"), ("contact", "ir@example.org")):
        assert not desk.page.find(id=name).get("value")
        assert example in desk.page.find(id=f"{name}-help").text
    plan = preset_plan(preset, **({"show_items": False} if preset == "pictures" else {}))
    assert (plan.asked_by, plan.contact) == ("", "")
    ada = researcher_named(session, "Ada")
    lifecycle.create_owned_study(session, ada, "new", plan, Recruitment())
    session.rollback()
    desk.open("/research/studies/new/preview/")
    assert "Asked by" not in desk.text
    home = "/research/studies/new"
    desk.open(f"{home}/open")
    assert "participants do not read who asks" in desk.text.lower()
    assert not desk.page.select(f"form[action='{home}/open'] button")
    with pytest.raises(CannotOpenError, match="whom they can ask"):
        lifecycle.open_study(session, lifecycle.find_study(session, "new"), anyway="a pilot")
    session.rollback()
    desk.open("/research/studies/new/check")
    assert {"asked_by", "contact"} <= {
        link["href"].partition("#")[2] for link in desk.page.select(".mend a")
    }
