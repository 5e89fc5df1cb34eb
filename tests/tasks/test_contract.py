"""What holds for every kind of question, whoever brings it: from answers to a study elsewhere."""

import io
import json
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from jinja2 import ChoiceLoader, FileSystemLoader
from sqlalchemy import func, select

from survey.core.kind import Declaration
from survey.core.kinds import KINDS, plan_from_json
from survey.core.studies.fields import value_fields
from survey.db.models import Participant
from survey.services import accounts
from survey.services.analysis.report import GROUPS, as_html
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle, bundle_import, tables
from survey.services.exchange.bundle_reader import analyse_files, replicate
from survey.services.exchange.description import DESCRIPTIONS
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.exchange.public_bundle import stream_public_bundle
from survey.services.participation import own_data
from survey.services.studies import lifecycle, publications
from survey.services.studies.publications import Details
from tests.builders import Visitor
from tests.cli.conftest import run
from tests.databases import ON_SQLITE
from tests.grouped import grouped
from tests.judged import judge
from tests.labelled import labelled
from tests.preferred import preferred
from tests.services.exchange.changes import (
    OF_THE_ADDRESS,
    readdressed,
    rows_of,
    summed,
    with_cell,
)
from tests.services.exchange.conftest import a_study
from tests.tasks import words
from tests.tasks.test_words import PLAN as WORDS
from tests.tasks.test_words import taken_part
from tests.web.desk import Desk

__all__ = ["run"]

OF_THIS_REQUEST = re.compile(r'name="csrf_token"[^>]*|As of [\d:]+ UTC')


def of_words(app, session):
    """A closed study of the kind that only the tests know; one person took part."""
    folder = words.__file__.removesuffix("words.py") + "templates"
    app.jinja_loader = ChoiceLoader([app.jinja_loader, FileSystemLoader(folder)])
    words.METADATA.create_all(session.get_bind())
    plan = plan_from_json({**WORDS, "reason_question": "Why?"})
    study = lifecycle.create_study(session, "words", plan)
    lifecycle.open_study(session, study)
    session.rollback()
    visitor = Visitor(app.test_client(), "words")
    taken_part(visitor)
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    return study


def of_orderings(app, session):
    """A closed study of orderings."""
    study = a_study(session)
    if study.status == "open":
        lifecycle.close_study(session, study)
    return study


MAKERS = {
    "ordering": of_orderings,
    "labelling": lambda app, session: labelled(app, session, reason_question="Why?"),
    "grouping": lambda app, session: grouped(app, session, reason_question="Why?"),
    "preference": preferred,
    "words": of_words,
}
SLOW = ("labelling", "grouping")  # people have to mark and sort many pictures
OF_EACH = pytest.mark.parametrize(
    "kind",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in MAKERS],
)


def of_each_kind(test):
    """Run a test for every kind of question."""
    return ON_SQLITE(OF_EACH(test))


@pytest.fixture
def study(app, session, kind, monkeypatch):
    """A closed study of the kind, with answers that count."""
    if kind == "words":
        words.register(monkeypatch)
    study = MAKERS[kind](app, session)
    session.execute(Participant.__table__.update().values(is_test=False))
    session.commit()
    return study


def exported(session, study):
    content = b"".join(bundle.stream_bundle(session, study))
    session.rollback()
    return open_files(io.BytesIO(content), "done.zip")


def test_the_contract_is_kept_by_every_kind_that_there_is():
    assert {*KINDS} <= {*MAKERS}
    assert all(isinstance(kind, Declaration) for kind in KINDS.values())


@of_each_kind
def test_a_bundle_replicates_and_is_imported_with_the_same_files(session, study, kind):
    files = exported(session, study)
    assert "analysis.json: every figure recomputed" in [*replicate(files)]
    ada, _ = accounts.add_researcher(session, "Eve")
    copy = bundle_import.import_bundle(session, files, "done.zip", "again", ada)
    assert copy.digest == study.digest
    again = readdressed(exported(session, copy), files)
    for name in files.keys() - OF_THE_ADDRESS:
        renamed = again[name].replace(b'"slug": "again"', f'"slug": "{study.slug}"'.encode())
        assert renamed == files[name], name


COUNTING = ("is_test", "excluded", "flagged", "arm")


def tables_of(session, study):
    """The tables of a study's bundle, as they declare themselves."""
    tables_declared = bundle.tables_in(bundle.content_of(session, study))
    session.rollback()
    return tables_declared


@of_each_kind
def test_each_table_has_a_key_and_what_it_refers_to_is_there(session, study, kind):
    files = exported(session, study)
    for table in tables_of(session, study):
        rows = rows_of(files, table.name)
        keys = [tuple(row[name] for name in table.key) for row in rows]
        assert table.key, table.name
        assert len({*keys}) == len(keys), table.name
        assert not {"total", "all", "mean"} & {cell.lower() for key in keys for cell in key}
        for column, other in table.references.items():
            known = {row[column] for row in rows_of(files, other)}
            assert {row[column] for row in rows} <= known, (table.name, column)


@of_each_kind
def test_each_table_of_answers_says_whose_they_are_and_who_counts(session, study, kind):
    session.execute(Participant.__table__.update().values(excluded=True, exclude_reason="so"))
    session.commit()
    files = exported(session, study)
    people = {row["participant"]: row for row in rows_of(files, "participants.csv")}
    topics = {row["question"]: row["topic"] for row in rows_of(files, KINDS[kind].questions_file)}
    of_answers = []
    for table in tables_of(session, study):
        assert "query" not in table.names
        if {"participant", "question"} & {*table.names} == {"participant", "question"}:
            of_answers.append(table.name)
            assert table.names[:4] == ["study", "participant", "question", "topic"]
            assert {*COUNTING} <= {*table.names}
            for row in rows_of(files, table.name):
                person = people[row["participant"]]
                assert (row["study"], row["topic"]) == (study.slug, topics[row["question"]])
                assert [row[name] for name in COUNTING[:2]] == [person["is_test"], "1"]
                assert (row["flagged"], row["arm"]) == ("0", person["arm"])
    assert KINDS[kind].answers_file in of_answers


@of_each_kind
def test_each_list_in_a_cell_has_a_table_with_a_row_for_each_item(session, study, kind):
    files = exported(session, study)
    for table in tables_of(session, study):
        for column in table.columns:
            value_type, allowed, meaning = tables.describe_column(column)
            words = f"{allowed} {meaning}"
            if value_type in ("numbers", "whole numbers") or "separated by" in words:
                cells = {row[column.name] for row in rows_of(files, table.name)}
                # A list that is the same in each row, as where nothing is shuffled, needs none.
                assert column.twin in files or len(cells) == 1, (table.name, column)
    for row in rows_of(files, KINDS[kind].questions_file):
        for column in {"ranks", "documents"} & row.keys():
            items = [
                item["document" if column == "documents" else "position"]
                for item in rows_of(files, "list_items.csv")
                if (item["question"], item["list"]) == (row["question"], row.get("list", column))
                and (item["document"] if column == "documents" else item["relevance"] != "0")
            ]
            assert items == row[column].split()


@of_each_kind
def test_answers_join_with_questions_and_participants(session, study, kind):
    files = exported(session, study)
    answers, questions, people = (
        pd.read_csv(io.BytesIO(files[name]))
        for name in (KINDS[kind].answers_file, KINDS[kind].questions_file, "participants.csv")
    )
    joined = answers.merge(questions, on=["question", "topic"]).merge(people, on="participant")
    rows_each = questions.groupby("question").size()
    assert len(joined) == rows_each[answers["question"]].sum() > 0


@of_each_kind
def test_a_changed_cell_that_repeats_another_file_is_named(session, study, kind):
    files, name = exported(session, study), KINDS[kind].answers_file
    for column, cell in (("study", "other"), ("topic", "t99"), ("flagged", "1"), ("arm", "after")):
        with pytest.raises(BundleError, match=f"{name}, row 2, column {column}"):
            [*replicate(with_cell(files, name, 2, column, cell))]


@of_each_kind
def test_a_public_bundle_replicates_and_holds_no_reason(session, study, kind):
    content = b"".join(stream_public_bundle(session, study))
    session.rollback()
    files = open_files(io.BytesIO(content), "public.zip")
    assert [*replicate(files)]
    reasons = [row.get("reason") for row in rows_of(files, KINDS[kind].answers_file)]
    assert {*reasons} <= {"", None}


@of_each_kind
def test_a_report_says_who_was_asked_what_and_how_it_was_analysed(session, study, kind):
    results = bundle.analyse_stored(session, study, AnalysisOptions())
    session.rollback()
    page = BeautifulSoup(as_html(results), "html.parser")
    groups = [each.text for each in page.select(".group")]
    titles = ["Who took part", "What was asked", "Methods"]
    assert [each.text for each in page.select("h2") if each.text in titles] == titles
    assert {*groups} <= {*GROUPS.values()}
    links = [link["href"].removeprefix("#") for link in page.select(".contents > ul a")]
    assert all(page.select_one(f"[id='{link}']") for link in links)
    assert len({each["id"] for each in page.select("[id]")}) == len(page.select("[id]"))
    assert study.plan.scenario.split()[0] in page.text
    assert "{" not in page.main.text
    [methods] = [each for each in page.select("p") if "Digest of the frozen study" in each.text]
    assert study.digest in methods.text
    assert "protocol, without departures" in methods.text
    assert results.numbers in methods.text


@of_each_kind
def test_results_are_the_same_from_the_database_and_from_files(session, study, kind):
    options = AnalysisOptions()
    stored = bundle.analyse_stored(session, study, options)
    session.rollback()
    assert isinstance(stored, Results)
    assert not stored.nothing
    assert stored.headline
    read = analyse_files(exported(session, study), options)
    assert json.loads(json.dumps(read.as_json())) == json.loads(json.dumps(stored.as_json()))


@of_each_kind
def test_every_column_of_every_file_is_in_the_codebook_with_its_meaning(session, study, kind):
    files = exported(session, study)
    codebook = {(row["file"], row["column"]): row for row in rows_of(files, "codebook.csv")}
    for name in [name for name in files if name.endswith(".csv")]:
        for column in files[name].decode().partition("\n")[0].strip().split(","):
            assert codebook[name, column.strip('"')]["meaning"], (name, column)


@of_each_kind
def test_tables_hold_the_answers_and_erasing_a_person_leaves_none(session, study, kind, tmp_path):
    held = [table for table in KINDS[kind].tables.all if table.name != f"{kind}_step"]
    assert all(count(session, table) for table in held)
    for participant in session.scalars(select(Participant)).all():
        own_data.erase(session, study, participant, tmp_path)
    session.rollback()
    assert [count(session, table) for table in KINDS[kind].tables.all] == [
        0 for _ in KINDS[kind].tables.all
    ]


def count(session, table):
    return session.execute(select(func.count()).select_from(table)).scalar_one()


@of_each_kind
def test_what_is_stored_is_listed_with_its_purpose_and_period(study, kind):
    listed = {each.name: each for group in tables.stored_tables().values() for each in group}
    for table in KINDS[kind].tables.all:
        assert listed[table.name].meaning
        assert listed[table.name].retention
        assert all(purpose for _, purpose in listed[table.name].fields)


@of_each_kind
def test_the_pages_of_its_researcher_are_shown(app, session, study, kind):
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    variant = KINDS[kind].usual_variant(study.plan)
    pages = ("", "/plan", "/check", "/progress", "/results", "/machines")
    for page in (*pages, f"/preview/{variant}/question/1"):
        desk.open(f"/research/studies/{study.slug}{page}")
        assert desk.status == 200, (page, desk.text[:300])


def figures_of_people(app, session, study, desk):
    """All that tells of people's answers: results, pages, files and the public page."""
    figures = {}
    for options in (AnalysisOptions(), AnalysisOptions(include_test=True)):
        results = bundle.analyse_stored(session, study, options)
        figures[options.include_test] = json.dumps(results.all_json()), results.answer_text
        session.rollback()
    for page in ("", "/progress", "/progress/live", "/results", "/results/report.html"):
        desk.open(f"/research/studies/{study.slug}{page}")
        assert desk.status == 200
        figures[page] = OF_THIS_REQUEST.sub("", desk.response.text)
    public = app.test_client().get(f"/studies/{study.slug}").text
    figures["public"] = re.sub(r'<script type="application/ld\+json">.*?</script>', "", public)
    figures["public totals"] = app.test_client().get("/studies").text
    files = exported(session, study)
    # What describes the files lists those of machines too.
    others = files.keys() - DESCRIPTIONS - {"SHA256SUMS"}
    figures |= {name: files[name] for name in others if not name.startswith("machines/")}
    return figures


@of_each_kind
def test_a_machines_answers_are_in_no_figure_of_people(app, session, study, kind, monkeypatch):
    monkeypatch.setattr(publications, "FEWEST_PEOPLE", 1)
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    details = Details("Of people", "Lovelace, Ada", "CC-BY-4.0")
    publications.publish(session, study, "Ada", details)
    before = figures_of_people(app, session, study, desk)
    record = judge(session, study)
    assert record.counts["answered"]
    assert figures_of_people(app, session, study, desk) == before


@of_each_kind
def test_a_machines_record_is_in_the_bundle_and_recomputed(session, study, kind):
    record = judge(session, study)
    files = exported(session, study)
    name = f"machines/{record.name}/beside_people.json"
    assert f"{name}: every figure recomputed" in [*replicate(files)]
    figures = json.loads(files[name])
    assert figures["answers"]["answered"] == len(record.answers)
    assert figures["people"] >= 1
    assert figures["decision"]["sentence"].startswith("It is not shown")
    figures["people"] += 1
    changed = summed({**files, name: json.dumps(figures).encode()})
    with pytest.raises(BundleError, match=r"beside_people\.json, people"):
        [*replicate(changed)]


@of_each_kind
def test_own_data_tell_what_was_shown_and_answered(session, study, kind):
    participant = session.scalars(
        select(Participant).where(Participant.status == "complete")
    ).first()
    told = own_data.own_data(session, study, participant)["questions"]
    assert told
    assert json.dumps(told, default=str)
    assert all(each["answers"] for each in told)


@of_each_kind
def test_its_rows_are_written_as_they_are(session, study, kind, run, tmp_path):
    session.rollback()
    run("export", study.slug, "--rows", tmp_path / "rows")
    written = {path.stem for path in (tmp_path / "rows").glob("*.csv")}
    assert {"question", "participant", "presentation", "response", "revision"} <= written
    assert ("step" in written) == (KINDS[kind].tables.step is not None)


@ON_SQLITE
@pytest.mark.parametrize("kind", MAKERS)
def test_an_example_answer_is_told_in_words_and_a_form_in_the_same(app, kind, monkeypatch):
    words.register(monkeypatch)
    answer = KINDS[kind].example_answer()
    with app.test_request_context():
        said = KINDS[kind].in_words(answer)
        assert said
        declared = value_fields(type(answer))
        if declared and not KINDS[kind].step:
            sent = {
                each.name: [each.sent(getattr(answer, each.name))]
                for each in declared
                if getattr(answer, each.name) is not None
            }
            assert KINDS[kind].sent_in_words(sent) == said
        assert KINDS[kind].sent_in_words({"of another kind": ["1"]}) == ""


def test_a_view_of_a_question_is_hashable_and_the_same_for_the_same_presentation(monkeypatch):
    words.register(monkeypatch)
    question = SimpleNamespace(first="sea", second="lake")
    drawn = words.WordsPresentation(True)
    assert hash(KINDS["words"].show(question, drawn)) == hash(KINDS["words"].show(question, drawn))
