"""What a plan asks beside each question, whatever the kind: page, database, bundle, results."""

import csv
import io
import json
import zipfile
from statistics import mean, stdev

import pytest
from jinja2 import ChoiceLoader, FileSystemLoader
from sqlalchemy import select

from survey.core.kinds import plan_from_json
from survey.core.studies.fields import PlanError
from survey.core.studies.plan import study_digest
from survey.db.models import Participant, Revision, StoredResponse
from survey.services import accounts
from survey.services.analysis.beside import beside_sheets
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle, bundle_import
from survey.services.exchange.bundle_reader import analyse_files, replicate
from survey.services.exchange.description import left_out
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.exchange.public_bundle import stream_public_bundle
from survey.services.participation import own_data
from survey.services.studies import lifecycle
from tests.builders import Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE
from tests.grouped import FIRST_TOPIC, Assessor, a_grouping_study, by_colour
from tests.labelled import ALL_IN_VIEW, a_labelling_study, ticks
from tests.preferred import a_participant, a_preference_study
from tests.tasks import words
from tests.tasks.test_words import PLAN as WORDS

SURE = {"name": "sure", "kind": "scale", "label": "How sure are you?", "from": 1, "to": 7}
KNOWN = {"name": "known", "kind": "choice", "label": "Known before?", "options": ["yes", "no"]}
ODD = {"name": "odd", "kind": "text", "label": "Anything odd?", "required": False}
ASK = [SURE, KNOWN, ODD]
NEEDED = {"beside_sure": "6", "beside_known": "no"}
MISSING = "Please fill in: How sure are you."


def stored(session, model=StoredResponse):
    session.rollback()
    return session.scalars(select(model.beside).order_by(model.id)).all()


@pytest.fixture
def study(session):
    return an_open_study(session, questions=2, ask=ASK)


@pytest.fixture
def visitor(client, study):
    visitor = Visitor(client)
    visitor.go("/q/1")
    return visitor


def handed_in(visitor):
    visitor.submit("/q/1", choice="1", **NEEDED, beside_odd="=odd, quite")
    visitor.submit("/q/2", choice="1", **{**NEEDED, "beside_sure": "2"})
    visitor.submit("/review")
    assert visitor.path == "/done"


def exported(session, study, stream=bundle.stream_bundle):
    content = b"".join(stream(session, study))
    session.rollback()
    return content


def files_of(content):
    return open_files(io.BytesIO(content), "study.zip")


def rows_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [*csv.DictReader(io.StringIO(archive.read("beside.csv").decode()))]


def closed(session, study):
    session.rollback()
    lifecycle.close_study(session, study)
    return study


@ON_SQLITE
def test_it_is_asked_below_the_answer_but_not_for_practice(client, study):
    visitor = Visitor(client)
    visitor.prepare()
    while visitor.path == "/practice":
        assert not visitor.page.select("[name^=beside_]")
        visitor.submit("/practice")
    assert visitor.path == "/q/1"
    assert [each["value"] for each in visitor.page.select("[name=beside_sure]")] == [*"1234567"]
    assert "Please do not write any names." in visitor.text


@ON_SQLITE
def test_an_answer_without_what_is_needed_is_not_saved_and_keeps_what_was_chosen(visitor, session):
    visitor.submit("/q/1", choice="1", beside_known="yes", beside_odd="a bit")
    assert visitor.status == 400
    assert MISSING in visitor.text
    assert visitor.page.select_one(".problems a[href='#beside_sure']")
    assert visitor.page.select_one("[name=beside_known] [selected]")["value"] == "yes"
    assert visitor.page.select_one("[name=beside_odd]").text.strip() == "a bit"
    assert visitor.page.select_one("[name=choice][value='1'][checked]")
    assert stored(session) == []
    visitor.submit("/q/1", choice="1", beside_sure="8", beside_known="maybe")
    assert "How sure are you: a whole number from 1 to 7, please." in visitor.text
    assert "Known before: please choose one of the options." in visitor.text


def test_it_is_stored_once_shown_again_and_changed_as_a_new_version(visitor, session, study):
    visitor.submit("/q/1", choice="1", **NEEDED)
    assert visitor.path == "/q/2"
    assert stored(session) == [{"sure": 6, "known": "no"}]
    visitor.open("/q/1")
    assert visitor.page.select_one("[name=beside_sure][checked]")["value"] == "6"
    visitor.submit("/q/1", choice="1", **NEEDED)  # nothing is changed, so it is no new version
    assert len(stored(session, Revision)) == 1
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="1", **{**NEEDED, "beside_sure": "3"})
    assert [each["sure"] for each in stored(session, Revision)] == [6, 3]
    assert stored(session)[0]["sure"] == 3
    visitor.open("/my-data")
    assert "How sure are you? 3" in visitor.text
    who = session.scalars(select(Participant)).one()
    answers = own_data.own_data(session, study, who)["questions"][0]["answers"]
    assert [each["beside"]["sure"] for each in answers] == [6, 3]


def test_the_bundle_replicates_is_imported_and_has_the_same_figures(visitor, session, study):
    handed_in(visitor)
    closed(session, study)
    content = exported(session, study)
    assert {**rows_of(content)[0], "participant": ""} == {
        **{"study": study.slug, "participant": "", "question": "1", "topic": ""},
        **{"sure": "6", "known": "no", "odd": "'=odd, quite"},
        **{"is_test": "0", "excluded": "0", "flagged": "1", "arm": ""},
    }
    assert any("analysis.json: every figure" in line for line in replicate(files_of(content)))
    results = bundle.results_of(session, study, AnalysisOptions())
    assert results.all_json() == analyse_files(files_of(content), AnalysisOptions()).all_json()
    sure = {each["question"]: each for each in results.all_json()["beside"]["sure"]}
    assert sure["all"] == {
        **{"question": "all", "answers": 2, "mean": 4.0, "sd": stdev([6, 2])},
        **{str(point): int(point in (6, 2)) for point in range(1, 8)},
    }
    assert "a standard deviation two" in sure["1"]["why"]
    assert {"beside-sure", "beside-known", "beside-odd"} <= {each.name for each in results.sections}
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files_of(content), "b.zip", "copy", ada)
    assert exported(session, copy) != b""
    again = rows_of(exported(session, copy))
    assert [{**row, "study": study.slug} for row in again] == rows_of(content)


@ON_SQLITE
def test_control_questions_are_in_the_file_and_not_among_the_figures(app, session):
    study = an_open_study(session, slug="checked", questions=2, repeated=1, ask=[SURE])
    visitor = Visitor(app.test_client(), "checked")
    visitor.go("/q/1")
    for position in (1, 2, 3):
        visitor.submit(f"/q/{position}", choice="1", beside_sure=str(position))
    visitor.submit("/review")
    closed(session, study)
    assert [each["question"] for each in rows_of(exported(session, study))] == ["1", "2", "3"]
    figures = bundle.results_of(session, study, AnalysisOptions()).all_json()["beside"]["sure"]
    assert [each["question"] for each in figures] == ["1", "2", "all"]


@ON_SQLITE
def test_everyone_gets_choices_and_no_texts(visitor, session, study):
    handed_in(visitor)
    closed(session, study)
    content = exported(session, study, stream_public_bundle)
    assert [(each["sure"], each["odd"]) for each in rows_of(content)] == [("6", ""), ("2", "")]
    assert [*replicate(files_of(content))]
    assert "odd" in left_out(study.plan)
    assert "known" not in left_out(study.plan)


@ON_SQLITE
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda rows: rows[:1], "beside.csv has 1 rows for 2 answers"),
        (lambda rows: [rows[0], rows[0]], "each participant has a row for each answer"),
        (lambda rows: [{**rows[0], "sure": "9"}, rows[1]], "'9' found; allowed is 1 to 7"),
        (lambda rows: [{**rows[0], "sure": ""}, rows[1]], "the study needs an answer"),
        (lambda rows: [{**rows[0], "known": "so"}, rows[1]], "allowed are yes, no"),
        (lambda rows: [{**rows[0], "question": "3"}, rows[1]], "no such participant or question"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_its_place(visitor, session, study, change, fault):
    handed_in(visitor)
    closed(session, study)
    content = exported(session, study)
    changed = io.StringIO()
    rows = change(rows_of(content))
    writer = csv.DictWriter(changed, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    files = files_of(content)
    altered = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(altered, "w") as other:
        for name in archive.namelist():
            if name != "SHA256SUMS":
                text = changed.getvalue() if name == "beside.csv" else archive.read(name).decode()
                other.writestr(name, text)
    assert files
    with pytest.raises(BundleError, match=fault):
        analyse_files(files_of(altered.getvalue()), AnalysisOptions())


@ON_SQLITE
def test_of_a_kind_that_is_declared(app, session, monkeypatch):
    words.register(monkeypatch)
    folder = words.__file__.removesuffix("words.py") + "templates"
    app.jinja_loader = ChoiceLoader([app.jinja_loader, FileSystemLoader(folder)])
    words.METADATA.create_all(session.get_bind())
    study = lifecycle.create_study(session, "words", plan_from_json({**WORDS, "ask": ASK}))
    lifecycle.open_study(session, study)
    session.rollback()
    visitor = Visitor(app.test_client(), "words")
    visitor.go("/q/1")
    visitor.submit("/q/1", side="1")
    assert MISSING in visitor.text
    for position in (1, 2, 3):
        visitor.submit(f"/q/{position}", side="1", **NEEDED)
    assert visitor.path == "/review"
    assert "How sure are you? 6" in visitor.text


@ON_SQLITE
def test_of_preferences(app, session):
    study = a_preference_study(session, ask=ASK)
    visitor = a_participant(app)
    visitor.submit("/q/1", preferred="left")
    assert MISSING in visitor.text
    visitor.submit("/q/1", preferred="left", **NEEDED)
    assert stored(session)[-1] == {"sure": 6, "known": "no"}
    assert [*replicate(files_of(exported(session, closed(session, study))))]


@ON_SQLITE
def test_labels_are_stored_step_by_step_and_the_rest_with_the_end_of_the_query(app, session):
    a_labelling_study(session, "done", ask=ASK)
    visitor = Visitor(app.test_client(), "done")
    visitor.go("/q/1")
    visitor.submit("/q/1", go="refine", seen=ALL_IN_VIEW, **ticks(1), beside_odd="a bit")
    assert visitor.status == 200
    assert visitor.page.select_one("[name=beside_odd]").text.strip() == "a bit"
    visitor.insist("/q/1", go="done", seen=ALL_IN_VIEW, **ticks(1))
    assert visitor.status == 400
    assert MISSING in visitor.text
    assert stored(session) == []
    visitor.insist("/q/1", go="done", seen=ALL_IN_VIEW, **ticks(1), **NEEDED)
    assert visitor.path == "/q/2"
    assert stored(session) == [{"sure": 6, "known": "no"}]


@ON_SQLITE
def test_groups_are_stored_step_by_step_and_the_rest_with_the_end_of_the_topic(app, session):
    a_grouping_study(session, "done", ask=[SURE])
    assessor = Assessor(app, session, "done")
    assessor.go("/q/1")
    assessor.finish("/q/1", by_colour(FIRST_TOPIC))
    assert MISSING in assessor.text
    assessor.submit("/q/1", go="done", beside_sure="2")
    assert assessor.path == "/q/2"
    assert stored(session) == [{"sure": 2}]


def test_numbers_are_told_of_each_question_and_of_all():
    plan = a_plan(ask=[{"name": "years", "label": "How old?", "kind": "number"}])
    [sheet] = beside_sheets(
        plan.ask, [(1, {"years": 5}), (2, {"years": 8}), (1, {"years": 3}), (2, {})]
    )
    assert sheet.columns == ("question", "answers", "mean", "sd", "median", "lowest", "highest")
    assert sheet.rows == (
        ("1", 2, 4.0, stdev([5, 3]), 4.0, 3, 5),
        ("2", 1, 8.0, None, 8.0, 8, 8),
        ("all", 3, mean([5, 8, 3]), stdev([5, 8, 3]), 5.0, 3, 8),
    )


def test_a_plan_that_asks_nothing_more_is_the_same_as_before():
    plan = a_plan()
    assert "ask" not in plan.as_json()
    assert "ask" not in plan.content()
    asking = a_plan(ask=[SURE])
    again = plan_from_json(json.loads(json.dumps(asking.as_json())))
    assert again == asking
    assert study_digest(again, [], 1) == study_digest(asking, [], 1) != study_digest(plan, [], 1)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ([{**SURE, "to": 12}], "a scale has 2 to 11 points; 1 to 12 found"),
        ([{**SURE, "to": 1}], "a scale has 2 to 11 points; 1 to 1 found"),
        ([{**SURE, "from": 9}], "lowest is 9, more than highest, 7"),
        ([{**SURE, "options": ["low"]}], "the words for 1 and for 7, or none; found 1"),
        ([{**SURE, "name": "question"}], "the further question 'question' cannot be a column"),
        ([{**KNOWN, "screen_out": ["no"]}], "known is a further question"),
        ([SURE, SURE], "the further question sure is there twice"),
        ([{**SURE, "name": "age"}], "the further question age is there twice"),
        ([{**SURE, "form": 1}], "there is no field “form”"),
        ("sure", "ask is 'sure'; a list is needed"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(fields, fault):
    with pytest.raises(PlanError) as caught:
        plan_from_json({**a_plan().as_json(), "ask": fields})
    assert fault in str(caught.value)
