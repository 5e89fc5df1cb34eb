"""Labelling: from a plan over marks, batches and new rankings to the end of a query."""

import csv
import gzip
import io
import re
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from survey import tokens
from survey.cli.planning import local_server
from survey.core.collections.items import Item, Topic
from survey.core.kinds import KINDS
from survey.core.studies.fields import PlanError
from survey.db import item_queries
from survey.db.models import Participant, Presentation, StoredResponse, now
from survey.errors import SurveyError
from survey.kinds.labelling.answer import LabellingPresentation, LabellingStep
from survey.kinds.labelling.results import Annotator, LabelResults
from survey.services import accounts
from survey.services.accounts import COMMAND_LINE
from survey.services.analysis.merged_labels import merged
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections import items as collection
from survey.services.exchange import bundle, bundle_import
from survey.services.exchange.bundle import analyse_stored, sha256_of, sums_text
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.participation import participants
from survey.services.participation.participant_list import list_participants
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle
from tests.builders import KEY, VISITOR_COOKIE, Visitor
from tests.databases import ON_BOTH, ON_SQLITE, statements
from tests.labelled import (
    ALL_IN_VIEW,
    a_labelling_plan,
    a_labelling_study,
    a_shaded_picture,
    labelled,
    ticks,
)
from tests.services.exchange.changes import OF_THE_ADDRESS, readdressed, unzipped
from tests.web.desk import Desk, shows_its_figures_as_files
from tests.written import QUERY, a_written_study

TABLES = KINDS["labelling"].tables


@pytest.fixture
def study(app, session):
    return a_labelling_study(session, shuffle_questions=False)


@pytest.fixture
def visitor(app, study):
    visitor = Visitor(app.test_client(), "labelled")
    visitor.go("/q/1")
    return visitor


def counts(visitor):
    """The first line of the answer bar."""
    return " · ".join(visitor.page.select_one(each).text for each in ("#marked", "#looked"))


def page_number(visitor):
    """What the page says of itself below the question."""
    return visitor.page.select_one("#page").text


def steps_in(session):
    table = TABLES.step
    query = select(table).order_by(table.c.presentation_id, table.c.number)
    rows = session.execute(query).all()
    session.rollback()
    return rows


def marked(session):
    return [(row.document, row.grade) for row in steps_in(session) if row.action == "mark"]


def batch_in(session, number):
    return next(row.documents for row in steps_in(session) if row.documents and row.batch == number)


@ON_SQLITE
def test_red_pictures_come_first_for_a_red_query_and_the_query_itself_is_not_shown(
    visitor, session
):
    assert counts(visitor) == "0 marked · 0 of 69 seen"
    visitor.submit("/q/1", go="next", **ticks(1, 2))
    assert set(batch_in(session, 1)[:5]) == {f"red-{n}" for n in range(1, 6)}
    assert marked(session) == [(each, 1) for each in batch_in(session, 1)[:2]]
    assert page_number(visitor) == "Page 2, best guesses first."
    assert counts(visitor) == "2 marked · 24 of 69 seen"


def test_a_mark_is_saved_at_once_and_its_key_leads_to_the_next(visitor, session):
    fields = hidden(visitor)
    for number in (1, 2):
        response = visitor.client.post(
            "/s/labelled/q/1",
            data={**fields, **ticks(*range(1, number + 1))},
            headers={"Accept": "application/json"},
        )
        assert response.status_code == 200
        fields["step_key"] = response.json["key"]
    assert [grade for _, grade in marked(session)] == [1, 1]
    assert [row.action for row in steps_in(session)] == ["next", "mark", "mark"]
    visitor.open("/q/1")
    assert len(visitor.page.select("[checked]")) == 2


def hidden(visitor, path="/q/1"):
    return {
        each["name"]: each.get("value", "") for each in visitor.form(path).select("[type=hidden]")
    }


@ON_BOTH
def test_a_form_sent_twice_is_stored_once_and_one_of_another_window_is_refused(visitor, session):
    fields = hidden(visitor)
    for _ in range(2):
        visitor.post("/q/1", **{**fields, **ticks(3)}, go="refine")
        assert visitor.status == 200
        assert "most similar to your marks first" in page_number(visitor)
    assert [row.action for row in steps_in(session)] == ["next", "mark", "refine"]
    visitor.post("/q/1", **{**fields, **ticks(4)})
    assert visitor.status == 409
    assert "changed in another window" in visitor.text
    assert len(steps_in(session)) == 3


def test_a_page_of_before_a_new_ranking_does_not_say_that_it_is_ranked_by_marks(visitor):
    visitor.submit("/q/1", go="refine", **ticks(3))
    assert page_number(visitor) == "Page 2, most similar to your marks first."
    visitor.submit("/q/1", go="previous")
    assert page_number(visitor) == "Page 1, best guesses first."
    visitor.insist("/q/1", go="done")
    visitor.submit("/q/2", go="refine")
    assert page_number(visitor) == "Page 2."  # nothing is marked, and words give no order


def test_taking_a_mark_back_is_a_step_too(visitor, session):
    visitor.submit("/q/1", **ticks(3))
    visitor.submit("/q/1")
    assert [grade for _, grade in marked(session)] == [1, 0]
    assert counts(visitor).startswith("0 marked")


def test_a_query_is_done_and_opened_again_and_a_change_is_a_revision(visitor, session):
    visitor.insist("/q/1", go="done", **ticks(1, 2, 3, 4, 5))
    assert visitor.path == "/q/2"
    visitor.insist("/q/2", go="done")
    assert visitor.path == "/review"
    assert "5 marked · 5 of 69 seen" in visitor.text
    visitor.open("/q/1")
    assert len(visitor.page.select("[checked]")) == 5
    visitor.insist("/q/1", go="done", **ticks(1, 2, 3, 4, 5))
    visitor.open("/q/1")
    visitor.insist("/q/1", go="done", **ticks(1, 2, 3, 4))
    revisions = session.execute(select(TABLES.revision.c.steps)).scalars().all()
    assert sorted(revisions) == [1, 6, 7]
    visitor.submit("/review")
    assert visitor.page.select_one(".receipt")
    visitor.post("/q/1", **ticks(1))
    assert visitor.path == "/done"


@ON_SQLITE
def test_a_query_may_be_a_picture_that_is_no_document(app, session):
    a_labelling_study(session, "elsewhere", topics=["elsewhere"])
    visitor = Visitor(app.test_client(), "elsewhere")
    visitor.go("/q/1")
    visitor.submit("/q/1", go="next")
    shown = batch_in(session, 1)
    assert len(shown) == 24
    assert all(each.startswith("blue") for each in shown)


@ON_SQLITE
def test_words_that_hold_the_keyword_come_first(visitor, session):
    visitor.insist("/q/1", go="done")
    visitor.submit("/q/2", go="next", **ticks(1, 2, 3))
    first = steps_in(session)[-6].documents
    assert {*first[:3]} == {"green-3", "green-8", "green-30"}


FILED = {"blue-4": "meadow", "blue-9": "Grass; Meadow", "red-1": "meadows"}


@ON_SQLITE
def test_what_has_the_keyword_as_its_class_comes_first_too(app, session):
    a_labelling_study(session, "filed", topics=["word"], classes=FILED)
    visitor = Visitor(app.test_client(), "filed")
    visitor.go("/q/1")
    visitor.submit("/q/1", go="next")
    assert {*batch_in(session, 1)[:5]} == {"green-3", "green-8", "green-30", "blue-4", "blue-9"}
    assert "meadow" not in visitor.page.select_one("#tiles").prettify().replace("a meadow", "")


@ON_SQLITE
def test_marks_of_a_class_count_once_they_were_in_view_and_can_be_taken_away(app, session):
    a_labelling_study(
        session, "filed", topics=["word"], classes=FILED, annotate_categories=True, batch=24
    )
    visitor = Visitor(app.test_client(), "filed")
    visitor.go("/q/1")
    checked = [each["value"] for each in visitor.page.select("[checked]")]
    assert len(checked) == 2
    assert counts(visitor) == "2 marked · 0 of 70 seen"
    assert "filed under this word" in visitor.text
    visitor.submit("/q/1", seen="", **ticks(*checked))  # out of view
    assert marked(session) == []
    kept, taken_away = checked
    visitor.submit("/q/1", seen=kept, **ticks(kept))
    by_place = dict(enumerate(batch_in(session, 1), 1))
    assert dict(marked(session)) == {by_place[int(kept)]: 1, by_place[int(taken_away)]: 0}
    visitor.open("/q/1")
    assert [each["value"] for each in visitor.page.select("[checked]")] == [kept]
    assert "filed under this word" not in visitor.text


@ON_SQLITE
def test_earlier_batches_can_be_looked_at_again_and_refining_shows_what_is_like_the_marks(
    visitor, session
):
    visitor.insist("/q/1", go="done")
    visitor.submit("/q/2", go="refine", **ticks(1, 2, 3))
    green = [each for each in steps_in(session)[-1].documents if each.startswith("green")]
    assert len(green) > 16  # of 24; 8 by chance
    visitor.submit("/q/2", go="previous")
    assert len(visitor.page.select("[checked]")) == 3
    visitor.submit("/q/2", go="next", **ticks(1, 2, 3))
    assert "most similar to your marks first" in page_number(visitor)
    assert [row.action for row in steps_in(session)][-4:] == ["refine", "turn", "shown", "turn"]


@ON_SQLITE
def test_every_document_is_shown_once_and_then_no_batch_is_left(visitor, session):
    for _ in range(3):
        visitor.submit("/q/1", go="next")
    assert counts(visitor) == "0 marked · 69 of 69 seen"
    assert not visitor.page.select(".bar [value=next], .bar [value=refine]")
    new = [row.documents for row in steps_in(session) if row.action == "next"]
    shown = [each for documents in new for each in documents]
    assert len(shown) == len({*shown}) == 69


@ON_SQLITE
def test_no_page_names_a_document(visitor):
    assert "red-" not in visitor.page.prettify()
    assert "green" not in visitor.page.prettify()


@ON_SQLITE
@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"batch": "2"}, 409),
        ({"batch": "x"}, 400),
        ({"batch": ""}, 400),
        ({"document": "1", "grade": "7"}, 400),
        ({"document": ["1", "2", "3"], "grade": ["1", "1"]}, 400),
        ({"step_key": "1-x"}, 409),
    ],
)
def test_what_no_page_sends_is_refused(visitor, session, fields, status):
    visitor.post("/q/1", **{**hidden(visitor), **fields})
    assert visitor.status == status
    assert steps_in(session) == []


@ON_SQLITE
def test_grades_are_asked_where_the_plan_says_so(app, session):
    a_labelling_study(session, "graded", graded=True)
    visitor = Visitor(app.test_client(), "graded")
    visitor.go("/q/1")
    visitor.submit("/q/1", document=["2", "4", "5"], grade=["3", "1", "0"])
    assert [grade for _, grade in marked(session)] == [3, 1]
    assert [each.text for each in visitor.page.select("[selected]")][:4] == ["0", "3", "0", "1"]


@ON_SQLITE
def test_own_data_show_the_marks_of_a_query_that_is_not_done(visitor):
    visitor.submit("/q/1", go="", **ticks(2))
    visitor.open("/my-data")
    answers = [row.text.strip() for row in visitor.page.select(".review td:nth-child(2)")]
    assert answers == ["1 marked · 1 of 69 seen\nNot done yet", "none yet"]


def test_own_data_hold_every_step_and_erasing_takes_them(visitor, session):
    visitor.insist("/q/1", go="done", **ticks(2))
    [first, _] = visitor.client.get("/s/labelled/my-data.json").json["questions"]
    assert [step["what"] for step in first["steps"]] == ["next", "mark"]
    assert (first["steps"][1]["picture"], first["steps"][1]["grade"]) == (2, 1)
    assert first["answers"][0]["done_after_steps"] == 2
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    for table in TABLES.all:
        assert session.execute(select(table)).all() == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"topics": []}, "topics is empty"),
        ({"topics": ["a", "a"]}, "topics has 'a' 2 times; once is allowed"),
        ({"topics": ["a b"]}, "'a b' found; an id has no blanks"),
        ({"topics": ["x" * 1_001]}, "an id of 1001 characters found; 1000 are allowed"),
        ({"topics": [None]}, "nothing found; an id is needed, and in YAML null and ~ need quotes"),
        ({"topics": 3}, "topics is 3; a list of topics' ids is needed"),
        ({"batch": 5}, "batch is 5; 6 to 60"),
        ({"queries_for_all": 1}, "queries_for_all is 1; a pool"),
    ],
)
def test_faults_of_a_plan_are_named(changes, fault):
    with pytest.raises(PlanError, match=fault):
        a_labelling_plan(**changes)


def test_a_plan_may_have_hundreds_of_queries():
    topics = [f"t{number}" for number in range(200)]
    plan = a_labelling_plan(topics=topics, design="pool", per_participant=80, queries_for_all=20)
    assert (plan.questions, plan.asked) == (200, 80)
    assert plan_again(plan) == plan


def plan_again(plan):
    return type(plan).from_json(plan.as_json())


def exported(session, study):
    content = b"".join(bundle.stream_bundle(session, study))
    session.rollback()
    return open_files(io.BytesIO(content), "done.zip")


def test_a_bundle_replicates_and_is_imported_with_the_same_files(app, session):
    study = labelled(app, session, reason_question="Why?")
    files = exported(session, study)
    checks = [*replicate(files)]
    assert "the topics of 2 queries are the plan's" in checks
    assert "weights.csv: recounted from the marks" in checks
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "done.zip", "again", ada)
    again = readdressed(exported(session, copy), files)
    for name in files.keys() - OF_THE_ADDRESS:
        assert again[name] == files[name], name


@ON_SQLITE
@pytest.mark.slow
def test_results_say_who_differs_most_and_where(app, session):
    study = labelled(app, session)
    figures = analyse_stored(session, study, AnalysisOptions()).as_json()
    people = figures["annotators"]
    assert [each["queries"] for each in people] == [2, 2, 2]
    assert sorted(each["marked"] for each in people) == [6, 8, 10]
    assert all(0 < each["jaccard"] < 1 and len(each["jaccard_with"]) == 2 for each in people)
    assert {each["topic"] for each in figures["agreement"]["topics"]} == {"like-red", "word"}


@ON_SQLITE
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("weights.csv", (b",0.", b",1."), "weights.csv"),
        ("steps.csv", (b"mark,1,", b"mark,9,"), "not shown"),
        ("steps.csv", (b"red-1 ", b"red-9 "), "steps.csv"),
        ("questions.csv", (b"word", b"wood"), "questions.csv"),
    ],
)
def test_a_changed_bundle_does_not_replicate(app, session, name, change, fault):
    files = dict(exported(session, labelled(app, session, people=2)))
    assert change[0] in files[name]
    files[name] = files[name].replace(*change)
    sums = {each: sha256_of(files[each]) for each in files if each != "SHA256SUMS"}
    files["SHA256SUMS"] = sums_text(sums).encode()
    with pytest.raises(BundleError, match=fault):
        [*replicate(files)]


@ON_SQLITE
@pytest.mark.slow
def test_bots_label_it_and_the_command_analyses_it(app, session):
    study = a_labelling_study(session)
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/labelled?test={tokens.test_run_token(KEY, 'labelled')}"
        simulate(entry, plan, 3, preferences_for(plan, "6:0.05"), seed=1)
    session.rollback()
    lifecycle.close_study(session, study)
    figures = analyse_stored(session, study, AnalysisOptions(include_test=True)).as_json()
    assert [each["queries"] for each in figures["annotators"]] == [2, 2, 2]
    assert figures["agreement"]["topics"][0]["jaccard"] > 0.3


@pytest.mark.parametrize(
    ("people", "why"),
    [
        (1, "Whether annotators agree is not known: only one has finished a query."),
        (2, "Whether the 2 annotators agree well enough is not decided: all labels are the same."),
    ],
)
def test_where_agreement_is_open_the_sentence_says_why(people, why):
    labels = [{"red": {"red-1": 0, "red-2": 0}}] * people
    annotators = [Annotator(f"P{who}", each, 0.0) for who, each in enumerate(labels)]
    results = LabelResults(
        annotators, merged(labels, [each.participant for each in annotators]), {}
    )
    assert [each.text for each in results.sentences] == [
        why,
        "Result: 0 of 2 judged documents are relevant. Rule: more than half marked it.",
    ]


def test_the_headline_counts_a_document_once_for_each_of_two_queries():
    """One annotator marks one of the two that the other marks for red; both mark one for blue."""
    labels = [{"red": {"x": 1, "y": grade}, "blue": {"x": 1}} for grade in (0, 1)]
    annotators = [Annotator(f"P{who}", each, 0.0) for who, each in enumerate(labels)]
    results = LabelResults(annotators, merged(labels, ["P0", "P1"], at_least=1), {})
    assert [each.text for each in results.sentences] == [
        "Whether the 2 annotators agree well enough is not decided: alpha .00, without an "
        "interval: it needs 6 documents.",
        "Both merged: alpha .00.",
        "Result: 3 of 3 judged documents are relevant. Rule: 1 or more marked it.",
    ]


def test_a_participant_who_agrees_with_all_others_differs_in_no_query():
    labels = [{"red": {"x": 1, "y": 0}, "blue": {"x": 1}}] * 2
    annotators = [Annotator(f"P{who}", each, 0.0) for who, each in enumerate(labels)]
    results = LabelResults(
        annotators, merged(labels, [each.participant for each in annotators]), {}
    )
    assert [each["differs_most_in"] for each in results.compared] == ["blue", "blue"]
    [people] = [sheet for sheet in results.sheets if sheet.name == "annotators"]
    assert [row[-1] for row in people.rows] == [None, None]


def test_a_query_with_no_document_to_show_leaves_the_others_to_be_analysed():
    labels = [{"alone": {}, "red": {"red-1": 1, "red-2": 0}}] * 2
    annotators = [Annotator(f"P{who}", each, 0.0) for who, each in enumerate(labels)]
    results = LabelResults(
        annotators, merged(labels, [each.participant for each in annotators]), {}
    )
    assert [each.text for each in results.sentences] == [
        "Whether the 2 annotators agree well enough is not decided: alpha 1.00, without an "
        "interval: it needs 6 documents.",
        "Both merged: alpha 1.00.",
        "Result: 1 of 2 judged documents is relevant. Rule: more than half marked it.",
    ]
    assert [each["topic"] for each in results.as_json()["agreement"]["topics"]] == ["alone", "red"]
    assert [sheet.rows for sheet in results.sheets]
    assert [exhibit.rows for exhibit in results.exhibits]
    assert "red-1" in dict(results.files())["qrels.txt"]


@ON_SQLITE
def test_a_bot_with_judgements_marks_what_they_say(app, session, tmp_path):
    long = Item("long", text=f"A meadow, {'and so on, ' * 20}")
    study = a_labelling_study(session, topics=["like-red", "word", "elsewhere"], texts=[long])
    relevant = {"like-red": "red-1", "word": "long", "elsewhere": "blue-5"}
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"{topic} 0 {each} 1\n" for topic, each in relevant.items()))
    shown = collection.shown(session, study)
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/labelled?test={tokens.test_run_token(KEY, 'labelled')}"
        simulate(entry, plan, 1, preferences_for(plan, f"{path}:0", shown), seed=1)
    assert {*marked(session)} <= {(each, 1) for each in relevant.values()}
    assert {("red-1", 1), ("long", 1)} <= {*marked(session)}


@pytest.mark.parametrize("text", ["5", "5:2", "nowhere.txt:0.1"])
def test_a_bots_preference_that_cannot_be_is_refused(text):
    with pytest.raises(SurveyError, match=r"is no preference|nowhere"):
        preferences_for(a_labelling_plan(), text)


@pytest.fixture
def desk(app, session, study):
    """A researcher who owns the study."""
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    return desk


@pytest.mark.slow
@ON_SQLITE
def test_its_results_show_tables_what_people_differ_in_and_give_the_files(desk, app, session):
    study = labelled(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open("/research/studies/done/results")
    captions = [each.text for each in desk.page.select("caption")]
    assert {"Agreement by query", "What refining gained"} <= {*captions}
    answer = desk.page.select_one("#answer").text
    assert answer.startswith("Whether the 3 annotators agree well enough")
    rows = [" ".join(row.text.split()) for row in desk.page.select(".rows li")]
    *_, merged_row, annotators, relevant = rows
    assert merged_row.startswith("All three merged: alpha .")
    assert annotators.startswith("No annotator differs (kappa ")
    # How many were looked at depends on each annotator's own order of a keyword's pictures.
    assert re.fullmatch(
        r"Result: \d+ of \d+ judged documents are relevant. Rule: more than half marked it\.",
        relevant,
    )
    shows_its_figures_as_files(desk)
    assert "1 of 3" in desk.text
    assert "How far the annotators chose the same documents" in captions
    headings = [each.text for each in desk.page.select("#contested h3")]
    assert headings == ["like-red", "word: Meadow"]
    assert "what was searched for" in desk.page.select_one(".pictures li").text
    links = [each.text for each in desk.page.select(".contents > ul a")]
    assert links[:4] == ["Where they differ", "Queries", "Annotators", "Refining"]
    picture = desk.page.select_one(".pictures img")["src"]
    assert desk.client.get(picture).mimetype == "image/webp"
    report = desk.client.get("/research/studies/done/results/report.html").text
    assert "How far the annotators chose the same documents" in report
    content = desk.client.get("/research/studies/done/results/paper.zip").data
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert {"weights.txt", "qrels.txt", "agreement.csv"} <= {*names}
    assert sum(name.startswith("labels/P-") for name in names) == 3
    desk.open("/research/studies/done/results?test=1")
    desk.open(desk.page.find("a", string="Leave test data out")["href"])
    assert "Count test data too" in desk.text


RUN = "like-red Q0 red-{0} 1 2 x\nlike-red Q0 red-{1} 2 1 x\nlike-red Q0 blue-{0} 3 0 x\n"


@pytest.mark.slow
@ON_SQLITE
def test_an_ordering_study_is_made_of_judgements_and_uploaded_runs(app, session):
    desk = Desk(app, session)
    study = labelled(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open("/research/studies/done/results")
    address = "/research/studies/done/results/ordering-study"
    runs = [(io.BytesIO(RUN.format(n, n + 1).encode()), f"run{n}.txt") for n in (1, 2, 3)]
    desk.send(address, slug="ordered", runs=runs[:1])
    assert desk.status == 400
    assert "2" in desk.page.select_one(".problems").text
    runs = [(io.BytesIO(RUN.format(n, n + 1).encode()), f"run{n}.txt") for n in (1, 2, 3)]
    desk.send(address, slug="ordered", runs=runs)
    assert desk.address == "/research/studies/ordered/check", desk.text
    made = lifecycle.find_study(session, "ordered")
    assert made.items_digest == study.items_digest
    assert made.plan.provenance.topics == ("like-red",)
    assert made.plan.provenance.sources[0].name == "done-qrels.txt"
    assert (made.plan.collection_size, made.plan.contact) == (70, study.plan.contact)


@ON_SQLITE
def test_an_excluded_annotator_is_left_out_of_the_results_and_stays_in_the_bundle(app, session):
    study = labelled(app, session, people=2)
    person = session.scalars(select(Participant)).first()
    lifecycle.exclude(session, study, person, "Ada", "marked at random")
    files = exported(session, study)
    assert [*replicate(files)]
    assert len(files["queries.csv"].decode().splitlines()) == 5
    [left] = analyse_stored(session, study, AnalysisOptions()).as_json()["annotators"]
    assert left["jaccard"] is None


def test_a_batch_is_a_small_page_and_asks_little(visitor, engine):
    with statements(engine) as asked:
        visitor.open("/q/1")
    page = visitor.response.data
    assert len(page) <= 12_500
    assert len(gzip.compress(page, 6)) <= 3_500
    assert len([each for each in asked if each.startswith("SELECT")]) <= 10


@ON_SQLITE
def test_a_pool_is_read_once_by_all_threads_and_pages_ask_no_more_where_it_is_large(
    app, session, engine, monkeypatch
):
    asked = []
    item_queries._pools.clear()
    read = item_queries.StudyItems._read_pool
    pools = []
    monkeypatch.setattr(
        item_queries.StudyItems, "_read_pool", lambda self: pools.append(1) or read(self)
    )
    for texts in ((), [Item(f"text-{n}", text=f"Snippet {n}") for n in range(300)]):
        slug = f"pool-of-{len(texts)}"
        a_labelling_study(session, slug, texts=texts, shuffle_questions=False)
        visitor = Visitor(app.test_client(), slug)
        visitor.go("/q/1")
        with statements(engine) as told:
            visitor.submit("/q/1", go="refine", **ticks(1, 2))
        asked.append(len([each for each in told if each.startswith("SELECT")]))
    assert asked[0] == asked[1]
    assert len(pools) == 2
    item_queries._pools.clear()
    cookie = visitor.client.get_cookie(VISITOR_COOKIE)

    def look(_):
        client = app.test_client()
        client.set_cookie(cookie.key, cookie.value)
        return client.get(f"/s/{slug}/q/1").status_code

    with ThreadPoolExecutor(7) as people:
        assert {*people.map(look, range(7))} == {200}
    assert len(pools) == 3


@ON_SQLITE
def test_a_check_names_what_is_missing(app, session):
    plan = a_labelling_plan(
        topics=["sea", "word"], design="pool", per_participant=1, queries_for_all=0, minutes=10
    )
    study = lifecycle.create_study(session, "bare", plan)
    assert [each.text for each in lifecycle.check_study(session, study)] == [
        "no query goes to everybody, so two annotators may have none in common; queries_for_all in "
        "the plan changes that",
        "the study has no pictures or texts of documents yet",
    ]


@ON_SQLITE
def test_a_check_names_a_query_without_a_document_to_judge(app, session):
    plan = a_labelling_plan(topics=["alone", "same", "word"], minutes=5)
    study = lifecycle.create_study(session, "alone", plan)
    files = {name: partial(a_shaded_picture, "red", "red") for name in ("a.png", "b.png")}
    topics = [Topic("alone", image="red-1"), Topic("same", image="b.png"), Topic("word", "Meadow")]
    documents = [Item("red-1", "a.png")]
    collection.take_in(session, study, files, documents, COMMAND_LINE, topics=topics)
    shown = "shows nothing to judge, as all documents are its own picture; add other documents, or "
    expected = [
        (1, f"query 1 {shown}take the topic alone out of the plan", "items"),
        (2, f"query 2 {shown}take the topic same out of the plan", "items"),
    ]
    findings = lifecycle.check_study(session, study)
    assert [(each.question, each.text, each.mend) for each in findings] == expected
    assert lifecycle.check_verdict(study, findings) == "3 queries to label; 2 warnings."
    documents = [*documents, Item("green-1", text="a meadow")]
    collection.take_in(session, study, {}, documents, COMMAND_LINE)
    assert not lifecycle.check_study(session, study)


@ON_SQLITE
@pytest.mark.parametrize("uploaded", [0, 6])
def test_a_check_names_a_topic_of_the_plan_that_is_not_uploaded_once(app, session, uploaded):
    study = lifecycle.create_study(session, "unknown", a_labelling_plan(topics=["topic-9"]))
    topics = [Topic(f"t{number}", "Meadow") for number in range(uploaded)]
    items = [Item("green-1", text="a meadow")]
    collection.take_in(session, study, {}, items, COMMAND_LINE, topics=topics)
    findings = [each for each in lifecycle.check_study(session, study) if "topic-9" in each.text]
    assert [(each.text, each.mend) for each in findings] == [
        ("1 of 1 topic has no text or picture (first: “topic-9”)", "items")
    ]


def test_queries_for_all_go_to_all_and_the_others_evenly(app, session):
    topics = [f"t{number}" for number in range(9)]
    plan = {"topics": topics, "design": "pool", "per_participant": 5, "queries_for_all": 2}
    study = a_labelling_study(session, "dealt", **plan)
    asked = Counter()
    for token in range(7):
        participant = participants.begin(session, study, f"browser {token}", KEY)
        participants.agree(session, participant, participants.consent_text(session, study).digest)
        participants.store_personal_answers(session, study, participant, {})
        participants.confirm_scenario(session, participant)
        shown = session.scalars(select(Presentation).filter_by(participant_id=participant.id))
        asked.update(each.question.number for each in shown)
    assert [asked[number] for number in (1, 2)] == [7, 7]
    assert [asked[number] for number in range(3, 10)] == [3] * 7


@ON_BOTH
def test_two_forms_at_once_are_stored_as_one(app, session, visitor):
    fields = {**hidden(visitor), **ticks(1)}
    cookies = visitor.client.get_cookie(VISITOR_COOKIE)
    at_once = [lambda: send(app, cookies, fields) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        statuses = {each.result() for each in [pool.submit(send) for send in at_once]}
    assert statuses == {200}
    assert [row.action for row in steps_in(session)] == ["next", "mark"]


def send(app, cookie, fields):
    client = app.test_client()
    client.set_cookie(cookie.key, cookie.value)
    headers = {"Accept": "application/json"}
    return client.post("/s/labelled/q/1", data=fields, headers=headers).status_code


PAGES = ("", "/plan", "/check", "/progress", "/items", "/preview/1/question/2", "/preview/1/review")


@ON_SQLITE
@pytest.mark.parametrize("page", PAGES)
def test_each_page_of_its_researcher_is_shown(desk, study, page):
    desk.open(f"/research/studies/labelled{page}")
    assert desk.status == 200, desk.text
    if "preview" in page:
        assert desk.page.select_one("label[for=labels]").text == "Seed"
        assert not desk.page.select_one("#labels").has_attr("pattern")


@ON_SQLITE
def test_a_study_of_labels_is_made_in_the_browser(app, session):
    desk = Desk(app, session)
    desk.open("/research/new")
    desk.send("/research/new", start="labels", slug="mine", language="el")
    assert desk.address == "/research/studies/mine/plan", desk.text
    assert desk.page.select_one("#topics input[checked]")["value"] == "topic-1"
    desk.send(desk.address, topics="sea\nword")
    assert lifecycle.find_study(session, "mine").plan.topics == ("sea", "word")


@ON_SQLITE
def test_a_preview_shows_the_first_batch_and_goes_on(desk, study):
    desk.open("/research/studies/labelled/preview/1/question/1")
    assert len(desk.page.select(".tiles input")) == 24
    action = "/research/studies/labelled/preview/1/question/1"
    desk.send(action, go="refine", document="2", grade="1")
    assert desk.address.endswith("/preview/1/question/2")


@ON_BOTH
@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"number": 0}, "counts_from_1"),
        ({"batch": 0}, "counts_from_1"),
        ({"action": "jump", "documents": None}, "action_known"),
        ({"action": "mark", "documents": None}, "mark_has_a_grade"),
        ({"action": "mark", "documents": None, "document": "red-1", "grade": 10}, "grade_known"),
        ({"grade": 1}, "mark_has_a_grade"),
        ({"documents": None}, "batch_has_documents"),
    ],
)
def test_the_database_refuses_a_step_that_cannot_be(visitor, session, changes, rule):
    [presentation, *_] = session.execute(select(TABLES.presentation.c.presentation_id)).scalars()
    step = {"presentation_id": presentation, "number": 1, "saved_at": now(), "action": "next"}
    step |= {
        "batch": 1,
        "document": None,
        "grade": None,
        "documents": ["red-1"],
        **changes,
    }
    with pytest.raises(IntegrityError, match=rule):
        session.execute(TABLES.step.insert().values(**step))


@ON_BOTH
def test_a_researcher_sees_how_many_pictures_a_minute_and_nothing_of_the_marks(app, session):
    study = a_labelling_study(session)
    people = [Visitor(app.test_client(), "labelled") for _ in range(2)]
    for person, numbers in zip(people, ((), (1, 4)), strict=True):
        person.go("/q/1")
        person.submit("/q/1", go="next", **ticks(*numbers))
    session.rollback()
    an_hour_ago = now() - timedelta(hours=1)
    shown = session.scalars(select(Presentation).where(Presentation.position == 1)).all()
    for each in shown:
        each.shown_at = an_hour_ago
    session.commit()
    watch = list_participants(session, study)
    assert watch.has_paces
    for row in watch.counted.shown:
        assert (row.page, row.answered, row.asked) == ("question 1 of 2", 0, 2)
        assert row.pace.pictures == 48
        assert row.pace.a_minute == pytest.approx(48 / 60, rel=0.05)


def labels_of(session, study):
    """labels.csv of a study, as rows."""
    session.rollback()
    lines = "".join(bundle.stream_file(session, study, "labels.csv")).splitlines()
    session.rollback()
    return [*csv.DictReader(lines)]


def exposures(session, study):
    """The numbers of labels by grade and exposure."""
    return Counter((each["grade"], each["exposure"]) for each in labels_of(session, study))


@ON_SQLITE
def test_what_was_never_in_view_has_no_grade_and_is_no_judgement(app, session):
    """Three clicks handed in ninety rows of grade 0 before."""
    study = a_labelling_study(session, topics=["like-red"])
    visitor = Visitor(app.test_client(), "labelled")
    visitor.go("/q/1")
    visitor.insist("/q/1", go="next", seen="1 2 3", **ticks(2))
    visitor.insist("/q/1", go="done", seen="1")
    assert visitor.path == "/review"
    assert "1 marked · 4 of 69 seen" in visitor.text
    visitor.submit("/review")
    assert exposures(session, study) == {("", ""): 44, ("0", "seen"): 3, ("1", "seen"): 1}
    files = unzipped(b"".join(bundle.stream_bundle(session, study)))
    session.rollback()
    assert len(files["qrels.txt"].splitlines()) == 4
    [own] = [name for name in files if name.startswith("judgements/")]
    assert len(files[own].splitlines()) == 4
    assert [*replicate(files)]


@ON_SQLITE
def test_without_scripts_a_batch_that_was_left_for_the_next_was_looked_at(app, session):
    study = a_labelling_study(session, topics=["like-red"])
    visitor = Visitor(app.test_client(), "labelled")
    visitor.go("/q/1")
    visitor.submit("/q/1", go="next", **ticks(2))
    visitor.submit("/q/1", go="previous")
    visitor.submit("/q/1", go="next", **ticks(2))
    visitor.submit("/q/1", go="done", **ticks(3))
    visitor.submit("/q/1", go="done", **ticks(3))
    assert exposures(session, study) == {
        **{("", ""): 23, ("0", "shown"): 23},
        ("1", "seen"): 2,
    }


@ON_SQLITE
def test_what_was_shown_and_comes_into_view_later_was_seen(app, session):
    study = a_labelling_study(session, topics=["like-red"])
    visitor = Visitor(app.test_client(), "labelled")
    visitor.go("/q/1")
    visitor.submit("/q/1", go="next", **ticks(1))
    visitor.submit("/q/1", go="previous", seen="")
    visitor.submit("/q/1", go="next", seen=["2", "3 4"], **ticks(1))
    visitor.insist("/q/1", go="done", seen="")
    expected = {("", ""): 24, ("0", "shown"): 20, ("0", "seen"): 3, ("1", "seen"): 1}
    assert exposures(session, study) == expected


@ON_SQLITE
@pytest.mark.parametrize("seen", ["x", "0", "1,2", "100", "-1"])
def test_a_tile_in_view_that_no_page_has_is_refused(visitor, session, seen):
    visitor.post("/q/1", **{**hidden(visitor), "seen": seen})
    assert visitor.status == 400
    assert steps_in(session) == []


def primary(visitor):
    """The button that Enter presses, the first of the form, and the coloured one."""
    form = visitor.form(visitor.path)
    return form.select_one("button")["value"], [each["value"] for each in form.select("button.go")]


@ON_SQLITE
def test_the_next_batch_is_the_way_on_until_a_batch_had_no_match(visitor):
    assert primary(visitor) == ("next", ["next"])
    visitor.submit("/q/1", go="next")
    assert primary(visitor) == ("next", ["next"])  # the first batch alone had none
    visitor.submit("/q/1", seen=ALL_IN_VIEW)
    assert primary(visitor) == ("done", ["done"])
    visitor.submit("/q/1", **ticks(4))
    assert primary(visitor) == ("next", ["next"])
    visitor.submit("/q/1")
    visitor.submit("/q/1", go="next")
    assert primary(visitor) == ("done", ["done"])  # the last one


@ON_SQLITE
def test_next_after_the_last_batch_ends_the_query(visitor):
    for _ in range(2):
        visitor.submit("/q/1", go="next", **ticks(1))
    assert page_number(visitor).startswith("Page 3")
    visitor.submit("/q/1", go="next")
    assert visitor.path == "/q/2"


@ON_SQLITE
@pytest.mark.parametrize(
    ("fields", "heading", "asked"),
    [
        ({"seen": "1 2"}, "22 results have not been on your screen yet", "unseen"),
        ({"seen": ALL_IN_VIEW}, "You have marked nothing for this search", "unmarked"),
        ({}, "You have marked nothing for this search", "unmarked"),
        ({"seen": ALL_IN_VIEW, **ticks(3)}, "This page had 1 match", "unfinished"),
        (ticks(3), "This page had 1 match", "unfinished"),
    ],
)
def test_a_query_that_may_not_be_at_its_end_is_asked_about_once(
    visitor, session, fields, heading, asked
):
    visitor.submit("/q/1", go="done", **fields)
    assert (visitor.status, visitor.path) == (200, "/q/1")
    assert visitor.page.select_one(".asks h2").text == heading
    assert len(visitor.page.select("[checked]")) == len(fields.get("document", ()))
    assert session.query(StoredResponse).count() == 0
    session.rollback()
    visitor.submit("/q/1", go="done", **fields)
    assert visitor.path == "/q/2"
    assert session.query(StoredResponse).one().asked == asked
    session.rollback()
    visitor.open("/q/1")
    visitor.submit("/q/1", go="done", **ticks(5, 6))  # once per query
    assert visitor.path == "/q/2"
    assert session.query(StoredResponse).one().asked == asked


@ON_SQLITE
def test_a_query_whose_last_batch_has_no_match_is_not_asked_about(visitor, session):
    visitor.submit("/q/1", go="next", seen=ALL_IN_VIEW, **ticks(3))
    visitor.submit("/q/1", go="done", seen=ALL_IN_VIEW)
    assert visitor.path == "/q/2"
    assert session.query(StoredResponse).one().asked is None


@ON_SQLITE
def test_what_was_asked_back_is_counted_in_the_results(app, session):
    study = a_labelling_study(session, topics=["like-red"])
    for fields in ({"seen": "1"}, {"seen": ALL_IN_VIEW}, ticks(1)):
        visitor = Visitor(app.test_client(), "labelled")
        visitor.go("/q/1")
        visitor.insist("/q/1", go="done", **fields)
    results = analyse_stored(session, study, AnalysisOptions())
    assert results.as_json()["asked_back"] == {"unseen": 1, "unmarked": 1, "unfinished": 1}
    sentence = "Of the queries that were done, pages asked back about 1: whether nothing matches."
    [people] = [sheet for sheet in results.sheets if sheet.name == "annotators"]
    assert sentence in people.note


def test_nothing_is_known_of_a_document_that_was_shown_and_not_looked_at():
    first = LabellingStep("next", 1, documents=["a", "b"])
    state = LabellingPresentation(1, [first, LabellingStep("mark", 1, "a", 1)])
    assert state.grades == {"a": 1}
    assert [(label.grade, label.exposure) for label in state.labels] == [(1, "seen"), (None, None)]


@ON_SQLITE
def test_a_query_is_asked_about_once_whatever_follows_and_it_is_stored(visitor, session):
    seen = " ".join(map(str, range(1, 25)))
    visitor.submit("/q/1", go="done", seen=seen, **ticks(1))
    assert visitor.page.select_one(".asks h2").text == "This page had 1 match"
    visitor.submit("/q/1", go="next", seen=seen, **ticks(1))
    visitor.submit("/q/1", go="done", seen="1 2", **ticks(1))
    assert visitor.path == "/q/2"
    assert session.query(StoredResponse).one().asked == "unfinished"


@ON_SQLITE
@pytest.mark.parametrize(("seen", "looked_at"), [(None, 70), ("1 2 3", 6)])
def test_without_scripts_the_last_batch_counts_as_shown_once_the_query_is_done(
    app, session, seen, looked_at
):
    a_labelling_study(session, "last", topics=["word"], batch=60, shuffle_questions=False)
    visitor = Visitor(app.test_client(), "last")
    visitor.go("/q/1")
    sent = {} if seen is None else {"seen": seen}
    visitor.submit("/q/1", go="done", **sent, **ticks(1))
    visitor.submit("/q/1", go="next", **sent)
    visitor.submit("/q/1", go="done", **sent)
    assert visitor.path == "/review"
    assert f"{looked_at} of 70 seen" in visitor.text


@ON_SQLITE
def test_the_next_page_is_asked_about_first_where_tiles_were_not_in_view_and_once(visitor, session):
    visitor.submit("/q/1", go="next", seen="1 2", **ticks(3))
    assert visitor.page.select_one(".asks h2").text.startswith("21 results have not been")
    assert len(visitor.page.select("[checked]")) == 1
    assert [row.action for row in steps_in(session)] == ["next", "mark", "seen"]  # no new page
    visitor.submit("/q/1", go="next", seen="1 2", **ticks(3))
    assert page_number(visitor).startswith("Page 2")
    visitor.submit("/q/1", go="next", seen="1")
    assert page_number(visitor).startswith("Page 3")
    visitor.submit("/q/1", go="done", seen="1")
    assert visitor.path == "/q/2"
    assert session.query(StoredResponse).one().asked == "unseen"


@ON_SQLITE
def test_who_was_asked_about_tiles_and_loads_the_page_again_is_not_asked_again(visitor, session):
    visitor.submit("/q/1", go="next", seen="1 2")
    visitor.open("/q/1")
    assert not visitor.page.select(".asks")
    visitor.submit("/q/1", go="next", seen="1 2")
    assert page_number(visitor).startswith("Page 2")


@ON_SQLITE
@pytest.mark.parametrize("fields", [{}, {"seen": ALL_IN_VIEW}, {"seen": "1", "go": "refine"}])
def test_the_next_page_comes_at_once_without_scripts_or_where_all_was_seen(visitor, fields):
    visitor.submit("/q/1", **{"go": "next", **fields})
    assert page_number(visitor).startswith("Page 2")


@ON_SQLITE
@pytest.mark.parametrize(
    ("topic", "question"),
    [("like-red", "Tap all that match this picture"), ("word", "Tap all that match this search")],
)
def test_without_a_task_of_the_plan_the_question_fits_what_is_searched_for(
    app, session, topic, question
):
    a_labelling_study(session, "asks", topics=[topic], question_text="")
    visitor = Visitor(app.test_client(), "asks")
    visitor.go("/q/1")
    assert visitor.page.h1.text == question
    is_picture = "The picture that is searched for." in visitor.text
    assert is_picture == (topic == "like-red")


@ON_SQLITE
def test_texts_are_asked_about_as_pages_that_answer(app, session):
    a_written_study(session, "labelling", question_text="")
    visitor = Visitor(app.test_client(), "written")
    visitor.go("/q/1")
    assert visitor.page.h1.text == "Mark every page that answers this search"
    assert visitor.page.select_one(".typed").text == QUERY


def practising(app, session, **changes):
    """Somebody at the practice."""
    a_labelling_study(session, "practised", practice=True, **changes)
    visitor = Visitor(app.test_client(), "practised")
    visitor.go("/practice")
    return visitor


def buttons(visitor):
    return [each["value"] for each in visitor.page.select(".way button")]


@ON_SQLITE
def test_practice_is_a_page_and_another_with_start_and_stores_nothing(app, session):
    visitor = practising(app, session)
    assert buttons(visitor) == ["back", "next"]
    assert not visitor.page.select("form[data-steps]")
    visitor.submit("/practice", go="next", seen="1", **ticks(2))  # nothing is asked back
    assert (buttons(visitor), visitor.page.select_one(".go").text) == (
        ["previous", "done"],
        "Start",
    )
    assert visitor.page.select_one("#marked").text == "1 marked"
    visitor.submit("/practice", go="previous")
    assert len(visitor.page.select("[checked]")) == 1
    visitor.submit("/practice", go="next", **ticks(2))
    visitor.submit("/practice", go="done")
    assert visitor.path == "/q/1"
    assert visitor.page.select_one("#marked").text == "0 marked"
    assert steps_in(session) == []
    assert session.query(StoredResponse).count() == 0


@ON_SQLITE
@pytest.mark.parametrize("go", ["back", "done"])
def test_practice_can_be_left_without_an_answer(app, session, go):
    visitor = practising(app, session)
    visitor.submit("/practice", go=go)
    assert visitor.path == {"back": "/scenario", "done": "/q/1"}[go]


def searched_for(visitor):
    picture = visitor.page.select_one(".find img")
    return picture and picture["src"]


@ON_SQLITE
@pytest.mark.parametrize(
    ("topics", "practised"),
    [
        (["word"], "picture"),  # no words are left, so it is one of the two pictures
        (["like-red"], "picture"),  # the other picture comes before the words
        (["like-red", "elsewhere"], "words"),
        (["word", "elsewhere", "like-red"], "picture"),  # nothing is left: the last
    ],
)
def test_a_search_that_no_one_is_asked_is_practised_where_there_is_one(
    app, session, topics, practised
):
    visitor = practising(app, session, topics=topics, shuffle_questions=False)
    first = searched_for(visitor)
    assert ("picture" if first else "words") == practised
    visitor.submit("/practice", go="done")
    asked = [searched_for(visitor)]
    for position in range(1, len(topics)):
        visitor.insist(f"/q/{position}", go="done")
        asked.append(searched_for(visitor))
    if first:
        assert (first in asked) == (len(topics) == 3)


@ON_SQLITE
def test_practice_of_a_collection_with_one_page_begins_with_start(app, session):
    visitor = practising(app, session, topics=["like-red"], batch=60)
    visitor.submit("/practice", go="next")
    assert buttons(visitor) == ["previous", "done"]
    a_written_study(session, "labelling", practice=True)
    visitor = Visitor(app.test_client(), "written")
    visitor.go("/practice")
    assert buttons(visitor) == ["back", "done"]
    assert visitor.page.select_one(".go").text == "Start"


@ON_SQLITE
def test_own_data_hold_nothing_of_the_practice(app, session):
    visitor = practising(app, session)
    visitor.submit("/practice", go="next", **ticks(1, 2))
    visitor.submit("/practice", go="done")
    [first] = visitor.client.get("/s/practised/my-data.json").json["questions"]
    assert first["steps"] == []
