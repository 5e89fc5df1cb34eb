"""A kind of question that no module of the survey knows goes from plan to replicated bundle."""

import csv
import io
import json
import zipfile
from html import unescape
from operator import itemgetter
from pathlib import Path

import pytest
from jinja2 import ChoiceLoader, FileSystemLoader

from survey import figures, tokens
from survey.cli.planning import local_server
from survey.core.kinds import KINDS, plan_from_json, read_stored_plan
from survey.core.studies.fields import PlanError
from survey.core.studies.plan import Check
from survey.core.studies.run_lists import TextFile
from survey.errors import SurveyError
from survey.figures.exhibit import Exhibit
from survey.services import accounts
from survey.services.analysis.results import Sentence
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle, bundle_import, tables
from survey.services.exchange.bundle import analyse_stored
from survey.services.exchange.bundle_reader import analyse_files, replicate
from survey.services.exchange.input_files import BundleError, SourceFiles, open_files
from survey.services.exchange.kind_files import StudyAnswers
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle, publications
from survey.services.studies.publications import Details
from tests.builders import KEY, Visitor, a_plan
from tests.cli.conftest import run
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import described, readdressed, summed, with_cell, with_rows
from tests.tasks import words
from tests.web.desk import Desk

__all__ = ["run"]  # the command line, for these tests too

PLAN = {
    "kind": "words",
    "title": "Pick a word",
    "asked_by": "Ada",
    "purpose": "To see which of {questions} words people pick.",
    "consent": "I agree.",
    "scenario": "There are two words.",
    "question_text": "Which word is nicer?",
    "contact": "ada@example.org",
    "questions": 3,
    "practice": False,
    "pairs": [["sea", "lake"], ["dusk", "dawn"], ["oak", "elm"]],
}


@pytest.fixture
def checked(monkeypatch):
    """Give the kind an attention check: a fourth pair, of which one is no word."""
    check = Check("plain", "a pair of which one is no word", "the word is picked", 1 / 2)
    drawn = words.WordsPlan.draw_questions

    def draw_questions(plan):
        return [*drawn(plan), words.WordsQuestion(4, "word", "xxxx")]

    def are_right(kind, plan, check, answers):
        return [(row.answer.side == 2) == row.drawn.swapped for _, row in answers]

    monkeypatch.setattr(words.WordsPlan, "checks", (check,))
    monkeypatch.setattr(words.WordsPlan, "draw_questions", draw_questions)
    monkeypatch.setattr(words.Words, "are_right", are_right)


@pytest.fixture
def study(app, session, monkeypatch):
    """An open study of the kind, with its tables and its templates."""
    words.register(monkeypatch)
    folder = Path(words.__file__).with_name("templates")
    app.jinja_loader = ChoiceLoader([app.jinja_loader, FileSystemLoader(folder)])
    words.METADATA.create_all(session.get_bind())
    study = lifecycle.create_study(session, "words", plan_from_json(PLAN))
    lifecycle.open_study(session, study)
    session.rollback()
    return study


@pytest.fixture
def visitor(app, study):
    return Visitor(app.test_client(), "words")


def taken_part(visitor, sides="121"):
    visitor.go("/q/1")
    for position, side in enumerate(sides, 1):
        visitor.submit(f"/q/{position}", side=side)


def exported(session, study):
    return b"".join(bundle.stream_bundle(session, study))


def test_a_plan_is_read_by_the_rules_of_its_kind(monkeypatch):
    words.register(monkeypatch)
    with pytest.raises(PlanError, match="2 pairs found; 3 are needed"):
        plan_from_json({**PLAN, "pairs": PLAN["pairs"][:2]})
    with pytest.raises(PlanError, match="there is no field “measures”"):
        plan_from_json({**PLAN, "measures": ["AP"]})


@pytest.mark.parametrize("pairs", [5, "sea lake", [3], [["sea"]], [["sea", 3]], {"sea": "lake"}])
def test_the_kind_refuses_values_of_another_form(monkeypatch, pairs):
    words.register(monkeypatch)
    with pytest.raises(PlanError, match="a list of lists of two words is allowed") as caught:
        plan_from_json({**PLAN, "pairs": pairs})
    assert caught.value.faults[0].place == ("pairs",)


@ON_SQLITE
def test_a_plan_that_its_kind_fails_to_read_is_refused_in_words(desk, session, monkeypatch):
    draft = lifecycle.create_study(session, "draft", plan_from_json(PLAN))
    accounts.share(session, draft, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()

    def read(values, faults):
        values["pairs"] = tuple(map(tuple, values["pairs"]))

    monkeypatch.setattr(words.WordsPlan, "_read", read)
    sentence = "settings of kind 'words' cannot be read: 'int' object is not iterable"
    with pytest.raises(PlanError, match=sentence):
        plan_from_json({**PLAN, "pairs": 5})
    desk.open("/research/studies/draft/plan")
    desk.send("/research/studies/draft/plan", pairs="5")
    assert desk.status == 400
    assert sentence in desk.text


def test_an_unknown_kind_is_refused_naming_those_there_are():
    with pytest.raises(PlanError, match="kind is 'words'; allowed is ordering"):
        plan_from_json(PLAN)


@ON_SQLITE
def test_a_bundle_of_an_unknown_kind_is_refused_with_what_to_do(
    visitor, session, study, monkeypatch
):
    files = open_files(io.BytesIO(exported(session, study)), "words.zip")
    monkeypatch.delitem(KINDS, "words")
    sentence = r"study\.json, plan: kind is 'words'; .* needs that package"
    with pytest.raises(BundleError, match=sentence):
        [*replicate(files)]


def test_it_is_answered_reviewed_changed_and_handed_in(visitor, session, study):
    taken_part(visitor)
    assert visitor.path == "/review"
    visitor.open("/q/2")
    [checked] = visitor.page.select("[name=side][checked]")
    assert checked["value"] == "2"
    visitor.submit("/q/2", side="1")
    visitor.submit("/review")
    assert visitor.page.select_one(".receipt")
    rows = session.execute(words.TABLES.revision.select()).all()
    assert len(rows) == 4  # three answers, one of them changed
    assert sorted(row.side for row in session.execute(words.TABLES.response.select())) == [
        1,
        1,
        1,
    ]


def test_a_form_sent_twice_is_stored_once_and_an_old_one_is_refused(visitor, session, study):
    visitor.go("/q/1")
    old = visitor.form("/q/1")
    fields = {field["name"]: field["value"] for field in old.select("[type=hidden]")}
    for _ in range(2):
        visitor.post("/q/1", **fields, side="1")
    assert len(session.execute(words.TABLES.revision.select()).all()) == 1
    visitor.open("/q/1")
    visitor.submit("/q/1", side="2")
    visitor.post("/q/1", **fields, side="1")
    assert len(session.execute(words.TABLES.revision.select()).all()) == 2
    visitor.post("/q/1", **{**fields, "submission_key": "none"}, side="1")
    assert visitor.status == 409
    assert "word 2" in visitor.text


@ON_SQLITE
def test_a_mistake_is_shown_beside_what_was_filled_in(visitor, study):
    visitor.go("/q/1")
    visitor.submit("/q/1")
    assert visitor.status == 400
    assert "Pick a word." in visitor.text


def test_own_data_hold_what_was_shown_and_answered_and_erasing_takes_it(visitor, session, study):
    taken_part(visitor)
    data = visitor.client.get("/s/words/my-data.json").json
    assert [set(each["words"]) for each in data["questions"]] == [
        {"sea", "lake"},
        {"dusk", "dawn"},
        {"oak", "elm"},
    ]
    assert [each["answers"][0]["side"] for each in data["questions"]] == [1, 2, 1]
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    for table in (
        words.TABLES.presentation,
        words.TABLES.response,
        words.TABLES.revision,
    ):
        assert session.execute(table.select()).all() == []


@ON_SQLITE
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"participant": "P-NOBODY"}, "participants.csv has no such participant"),
        ({"question": 9}, "the study has no such question"),
        ({"question": 1}, r"the database cannot hold it \(UNIQUE"),
        ({"position": 1}, r"the database cannot hold it \(UNIQUE"),
        ({"revisions": -1}, r"the database cannot hold it \(CHECK"),
        ({"drawn": {"swapped": True}}, r"\{'swapped': True\} is no WordsPresentation"),
        ({"answer": 3}, "3 is no WordsAnswer"),
    ],
)
def test_an_answer_that_its_kind_reads_without_a_check_is_not_imported(
    visitor, session, study, monkeypatch, change, fault
):
    taken_part(visitor)
    lifecycle.close_study(session, study)
    files = open_files(io.BytesIO(exported(session, study)), "words.zip")
    session.rollback()

    def unchecked(content, _):
        for record in content.rows():
            new = change if record.question == 2 else {}
            own = {name: value for name, value in new.items() if name in record._fields}
            drawn, answer = new.get("drawn", record.drawn), new.get("answer", record.answer)
            yield record._replace(**own), drawn, answer

    monkeypatch.setattr(StudyAnswers, "to_import", unchecked)
    ada, _ = accounts.add_researcher(session, "Ada")
    with pytest.raises(
        BundleError, match=rf"choices\.csv, participant P-\w+, question \d: {fault}"
    ):
        bundle_import.import_bundle(session, files, "words.zip", "again", ada)
    session.commit()
    assert [each.slug for each in lifecycle.all_studies(session)] == [study.slug]


def test_reasons_and_closing_questions_need_nothing_of_the_kind(app, session, study, monkeypatch):
    asked = {"name": "ease", "label": "How easy was it?", "kind": "scale"}
    plan = plan_from_json({**PLAN, "reason_question": "Why?", "closing_questions": [asked]})
    study = lifecycle.create_study(session, "why", plan)
    lifecycle.open_study(session, study)
    session.rollback()
    visitor = Visitor(app.test_client(), "why")
    visitor.go("/q/1")
    visitor.submit("/q/1", side="1", reason="it rhymes")
    for position in (2, 3):
        visitor.submit(f"/q/{position}", side="1")
    visitor.submit("/closing", ease="5")
    assert "it rhymes" in visitor.text
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    files = open_files(io.BytesIO(exported(session, study)), "why.zip")
    assert [*replicate(files)]
    rows = [*csv.DictReader(io.StringIO(files["choices.csv"].decode()))]
    assert [row["reason"] for row in rows] == ["it rhymes", "", ""]
    session.rollback()
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "why.zip", "again", ada)
    again = open_files(io.BytesIO(exported(session, copy)), "again.zip")
    again = readdressed(again, files)
    for name in ("choices.csv", "participants.csv"):
        assert again[name] == files[name]


@ON_SQLITE
def test_practice_without_explanations_begins_with_its_question(app, session, study, desk):
    practised = lifecycle.create_study(
        session, "practised", plan_from_json({**PLAN, "practice": True})
    )
    accounts.share(session, practised, accounts.find_researcher(session, "Ada"), "owner")
    lifecycle.open_study(session, practised)
    session.rollback()
    visitor = Visitor(app.test_client(), "practised")
    visitor.go("/practice")
    for step in ("", "?step=0", "?step=-1", "?step=1"):
        visitor.open(f"/practice{step}")
        assert (visitor.status, "cat" in visitor.text) == (200, True), step
    visitor.submit("/practice", side="1")
    assert visitor.path == "/q/1"
    assert session.execute(words.TABLES.response.select()).all() == []
    visitor.submit("/q/1", side="1")
    assert visitor.address.endswith("/q/2")
    desk.open("/research/studies/practised/preview/as-planned/practice")
    assert (desk.status, "cat" in desk.text) == (200, True)


@ON_SQLITE
def test_a_changed_word_does_not_replicate(visitor, session, study):
    taken_part(visitor)
    lifecycle.close_study(session, study)
    files = dict(open_files(io.BytesIO(exported(session, study)), "words.zip"))
    files["words.csv"] = files["words.csv"].replace(b"sea", b"bay")
    with pytest.raises(BundleError, match=r"words\.csv was changed"):
        [*replicate(files)]


@ON_SQLITE
def test_judgements_that_its_questions_do_not_come_from_are_refused(visitor, session, study):
    taken_part(visitor)
    lifecycle.close_study(session, study)
    files = open_files(io.BytesIO(exported(session, study)), "words.zip")
    sources = SourceFiles(TextFile("qrels.txt", "1 0 a 1"), [TextFile("run.txt", "1 Q0 a 1 1 r")])
    with pytest.raises(BundleError, match="words of this study are not made of judgements and ru"):
        [*replicate(files, sources)]


@ON_SQLITE
@pytest.mark.parametrize(
    ("row", "column", "cell", "fault"),
    [
        (2, "participant", "P-NOBODY", "column participant: 'P-NOBODY' found; no such participant"),
        (2, "question", "4", "no such participant or question"),
        (3, "question", "1", "column question: '1' found; one answer of each participant to each"),
        (2, "side", "3", "column side: '3' found; allowed: 1, 2"),
    ],
)
def test_an_answer_that_cannot_be_is_named_with_its_row(
    visitor, session, study, row, column, cell, fault
):
    taken_part(visitor)
    lifecycle.close_study(session, study)
    files = dict(open_files(io.BytesIO(exported(session, study)), "words.zip"))
    files = with_rows(files, "choices.csv", lambda rows: sorted(rows, key=itemgetter("question")))
    with pytest.raises(BundleError, match=rf"choices\.csv, row {row}, .*{fault}"):
        [*replicate(with_cell(files, "choices.csv", row, column, cell))]


@ON_SQLITE
def test_results_that_the_kind_does_not_name_are_recomputed_too(
    visitor, session, study, monkeypatch
):
    @tables.row_lines
    def shares(content):
        total = content.results.picked.total()
        for word, count in sorted(content.results.picked.items()):
            yield word, count / total

    columns = [tables.Column("word"), tables.Column("share", value_type="number")]
    results = [tables.Table("shares.csv", columns, shares)]
    judgements = {"judgements/all.qrels": ["1 0 sea 1\n"]}

    class JudgedWords(words.Words):
        tables = words.TABLES

        def result_tables(self, _):
            return results

        def judgement_files(self, _):
            return judgements.items()

    monkeypatch.setitem(KINDS, "words", JudgedWords())
    taken_part(visitor)
    lifecycle.close_study(session, study)
    files = dict(open_files(io.BytesIO(exported(session, study)), "words.zip"))
    passed = [*replicate(files)]
    assert "shares.csv: recomputed" in passed
    assert "1 files of judgements: recomputed from the answers" in passed
    other_machine = described(with_cell(files, "shares.csv", 2, "share", "0.33333333333333337"))
    assert [*replicate(other_machine)]
    with pytest.raises(BundleError, match=r"shares\.csv, row 2, column share: '0\.9' found"):
        [*replicate(with_cell(files, "shares.csv", 2, "share", "0.9"))]
    forged = summed({**files, "judgements/all.qrels": b"1 0 sea 0\n"})
    with pytest.raises(BundleError, match=r"judgements/all\.qrels, line 1"):
        [*replicate(forged)]


@ON_SQLITE
def test_a_researcher_checks_previews_and_describes_it(app, session, study):
    [finding] = lifecycle.check_study(session, study)
    assert finding.text == "3 questions take about 5 minutes, and participants read “about 20”"
    described = lifecycle.describe(study)
    assert (described["kind"], described["pairs"]) == ("words", 3)


@ON_SQLITE
def test_the_bundle_is_a_zip_with_the_kinds_files_and_the_frame(visitor, session, study):
    taken_part(visitor)
    names = zipfile.ZipFile(io.BytesIO(exported(session, study))).namelist()
    assert names == [
        *("words.csv", "choices.csv", "participants.csv", "codebook.csv"),
        *("study.json", "analysis.json", "README.md", "CITATION.cff"),
        *("datapackage.json", "ro-crate-metadata.json", "SHA256SUMS"),
    ]


@pytest.fixture
def desk(app, session, study):
    """A researcher who owns the study."""
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    return desk


@ON_SQLITE
@pytest.mark.parametrize(
    "page",
    ["", "/plan", "/check", "/power", "/progress", "/preview/as-planned/question/2"],
)
def test_each_page_of_its_researcher_is_shown(desk, study, page):
    address = f"/research/studies/words{page}"
    if page == "/power":
        address = "/research/planning?study=words"
    desk.open(address)
    assert desk.status == 200, desk.text
    if "preview" in page:
        assert "dusk" in desk.text


@ON_SQLITE
def test_the_bar_of_a_preview_takes_any_name_of_a_variant(desk, study):
    desk.open("/research/studies/words/preview/")
    assert desk.page.select_one("label[for=labels]").text == "Order of words"
    assert "Method 1" not in desk.page.select_one("#labels-help").text
    field = desk.page.select_one("#labels")
    assert (field["value"], field["size"]) == ("as-planned", "10")
    assert not field.has_attr("pattern")
    assert not field.has_attr("maxlength")


@ON_SQLITE
def test_its_results_are_figures_until_a_kind_has_a_report(desk, visitor, session, study):
    taken_part(visitor)
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    desk.open("/research/studies/words/results")
    assert desk.status == 200
    assert sum(json.loads(desk.page.select_one("#numbers pre").text)["picked"].values()) == 3


@ON_SQLITE
def test_bots_answer_it_and_the_command_analyses_it(app, session, study, tmp_path):
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/words?test={tokens.test_run_token(KEY, 'words')}"
        simulate(entry, plan, 3, preferences_for(plan, None), seed=1)
    session.rollback()
    lifecycle.close_study(session, study)
    figures = analyse_stored(session, study, AnalysisOptions(include_test=True)).as_json()
    assert sum(figures["picked"].values()) == 9
    path = tmp_path / "words.zip"
    path.write_bytes(b"".join(bundle.stream_bundle(session, study, include_test=True)))
    files = open_files(path, str(path))
    assert analyse_files(files, AnalysisOptions(include_test=True)).as_json() == figures


@ON_SQLITE
@pytest.mark.usefixtures("checked")
def test_its_attention_check_is_declared_in_a_few_lines(app, session, study):
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/words?test={tokens.test_run_token(KEY, 'words')}"
        simulate(entry, plan, 12, preferences_for(plan, None), seed=1)
    session.rollback()
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions(include_test=True))
    [scores] = results.attention.scores
    flagged = len(results.attention.flagged)
    assert (len(scores.ids), scores.check.name) == (12, "plain")
    assert 0 < flagged < 12  # bots pick at random
    assert sum(results.as_json()["picked"].values()) == 3 * 12  # without the fourth
    assert results.repeated.startswith(f"Without the {flagged} flagged participants: Most often")
    content = b"".join(bundle.stream_bundle(session, study, include_test=True))
    assert [*replicate(open_files(io.BytesIO(content), "words.zip"))]


@pytest.fixture
def with_means(desk, visitor, session, study, monkeypatch):
    """Results of the closed and published study that have an exhibit of the kind's own."""

    def own_exhibits(self):
        rows = tuple(self.picked.items())
        yield Exhibit("means", "Means", ("word", "picked"), rows, "Bars.")

    monkeypatch.setattr(words.WordsResults, "own_exhibits", own_exhibits)
    publish(visitor, session, study, monkeypatch)


def publish(visitor, session, study, monkeypatch):
    """Close and publish the study with the answers of one participant."""
    monkeypatch.setattr(publications, "FEWEST_PEOPLE", 1)
    taken_part(visitor)
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    publications.publish(session, study, "Ada", Details("Words to pick", "Ada", "CC-BY-4.0"))


RESULTS = "/research/studies/words/results"
MEANS = [
    *(RESULTS, f"{RESULTS}/drawing/means.svg", f"{RESULTS}/parts/means.pdf"),
    *(f"{RESULTS}/paper.zip", "/studies/words"),
]


@ON_SQLITE
@pytest.mark.parametrize("address", MEANS)
def test_an_exhibit_of_its_own_is_drawn_where_its_drawing_is_registered(
    desk, with_means, monkeypatch, address
):
    def draw(axes, exhibit):
        axes.bar(*zip(*exhibit.rows, strict=True))

    monkeypatch.setitem(figures.DRAWINGS, "means", (draw, lambda _: 1.5))
    response = desk.client.get(address)
    assert response.status_code == 200
    if address.endswith(".zip"):
        assert "figures/means.svg" in zipfile.ZipFile(io.BytesIO(response.data)).namelist()


@ON_SQLITE
def test_its_sentences_are_a_file_of_the_download_which_says_what_it_holds(
    desk, visitor, session, study, run, tmp_path, monkeypatch
):
    sentences = [Sentence("People pick words of the sea.")]
    monkeypatch.setattr(words.WordsResults, "sentences", sentences)
    monkeypatch.setattr(words.WordsResults, "files_note", "the words of the sea")
    publish(visitor, session, study, monkeypatch)
    desk.open(RESULTS)
    assert [each.text.strip() for each in desk.page.select(".rows li")] == [sentences[0].text]
    assert "all statistics as JSON; also the words of the sea." in desk.text
    run("analyse", "words", "--to", tmp_path / "report")
    assert (tmp_path / "report" / "verdicts.txt").read_text() == f"{sentences[0].text}\n"
    assert sentences[0].text in (tmp_path / "report" / "report.html").read_text()


@ON_SQLITE
@pytest.mark.parametrize("address", MEANS)
def test_an_exhibit_without_a_drawing_is_named_with_the_registry(desk, with_means, address):
    response = desk.client.get(address)
    assert response.status_code == 400
    sentence = "The exhibit 'means' cannot be drawn: 'means' is not in DRAWINGS of survey.figures."
    assert sentence in unescape(response.text)


@ON_SQLITE
def test_no_file_is_written_where_an_exhibit_has_no_drawing(run, with_means, tmp_path):
    printed = run("analyse", "words", "--to", tmp_path / "rep", status=1)
    assert "The exhibit 'means' cannot be drawn" in printed
    assert not (tmp_path / "rep").exists()


@pytest.fixture
def unknown_kind(desk, visitor, session, study, monkeypatch):
    """The program does not know the kind of a published study; another study is an ordering."""
    publish(visitor, session, study, monkeypatch)
    other = lifecycle.create_study(session, "known", a_plan(title="An ordering"))
    accounts.share(session, other, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    monkeypatch.delitem(KINDS, "words")
    read_stored_plan.cache_clear()


@ON_SQLITE
def test_lists_name_a_study_of_an_unknown_kind_with_what_to_do(desk, unknown_kind, run):
    desk.open("/research/")
    assert desk.status == 200
    assert "An ordering" in desk.text
    assert "Pick a word /s/words The study 'words' is of kind 'words', which is not" in desk.text
    desk.open("/research/new")
    assert desk.status == 200
    desk.open("/studies")
    assert desk.status == 200
    assert "Words to pick" not in desk.text
    printed = run("study", "list")
    assert "known" in printed
    assert "Install the package that brings it, or write its rows" in " ".join(printed.split())
    listed = json.loads(run("study", "list", "--json"))
    assert [each["slug"] for each in listed] == ["words", "known"]


@ON_SQLITE
def test_a_study_of_an_unknown_kind_is_named_with_what_to_do(desk, visitor, unknown_kind, run):
    sentence = "The study 'words' is of kind 'words', which is not installed here. Install"
    assert sentence in " ".join(run("study", "show", "words", status=1).split())
    desk.open("/research/studies/words")
    assert desk.status == 403
    assert sentence in desk.text
    visitor.open("")
    assert visitor.status == 500
    assert "kind" not in visitor.text
    assert visitor.client.get("/studies/words").status_code == 404


def test_the_rows_of_an_unknown_kind_are_written_as_they_are(unknown_kind, run, tmp_path):
    run("export", "words", "--rows", tmp_path / "rows")
    rows = {
        path.stem: [*csv.DictReader(io.StringIO(path.read_text()))]
        for path in sorted((tmp_path / "rows").glob("*.csv"))
    }
    assert {*rows} == {"question", "participant", "presentation", "response", "revision"}
    assert rows["question"][0]["content"] == '{"first": "sea", "second": "lake"}'
    assert [(each["question"], each["side"]) for each in rows["response"]] == [
        *(("1", "1"), ("2", "2"), ("3", "1"))
    ]
    assert {each["swapped"] for each in rows["presentation"]} <= {"0", "1", "False", "True"}
    study = json.loads((tmp_path / "rows" / "study.json").read_text())
    assert (study["slug"], study["plan"]["kind"]) == ("words", "words")
    told = run("export", "words", "--to", tmp_path / "words.zip", status=1)
    assert "`survey export words --rows FOLDER`" in " ".join(told.split())


@ON_SQLITE
def test_the_doctor_names_studies_of_an_unknown_kind(unknown_kind, run):
    found = {each["check"]: each for each in json.loads(run("doctor", "--json"))}
    assert found["studies' plans"]["level"] == "warning"
    assert "'words' is of kind 'words', which is" in found["studies' plans"]["text"]


@ON_SQLITE
def test_a_plan_of_a_newer_version_keeps_no_page_from_other_studies(desk, session, study, run):
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    newer = lifecycle.create_study(session, "newer", a_plan())
    accounts.share(session, newer, accounts.find_researcher(session, "Ada"), "owner")
    newer.plan_json = {**newer.plan_json, "of_tomorrow": 1}
    session.commit()
    for page in ("/research/", "/research/new", "/studies", "/"):
        desk.open(page)
        assert desk.status == 200
    assert [each["slug"] for each in json.loads(run("study", "list", "--json"))] == [
        *("words", "newer")
    ]
    found = {each["check"]: each for each in json.loads(run("doctor", "--json"))}
    sentence = "The plan of the study 'newer' cannot be read by this version: there is no field"
    assert sentence in found["studies' plans"]["text"]
    desk.open("/research/studies/newer")
    assert desk.status == 403
    assert "Run the version that made it." in desk.text


@ON_SQLITE
@pytest.mark.parametrize(
    ("options", "query", "names"),
    [
        ({"without_question": 2}, "without=2", "--without-question"),
        (
            {"exclude_flagged": True, "ties": "split"},
            "unflagged=1&ties=split",
            "--exclude-flagged and --ties",
        ),
    ],
)
def test_an_option_that_its_analysis_lacks_is_refused(
    desk, visitor, session, study, options, query, names
):
    taken_part(visitor)
    session.rollback()
    lifecycle.close_study(session, study)
    files = open_files(io.BytesIO(exported(session, study)), "words.zip")
    fault = f"study of kind 'words' does not have {names}"
    with pytest.raises(SurveyError, match=fault):
        analyse_files(files, AnalysisOptions(**options))
    with pytest.raises(SurveyError, match=fault):
        analyse_stored(session, study, AnalysisOptions(**options))
    session.rollback()
    desk.open(f"/research/studies/words/results?{query}")
    assert desk.status == 400
    assert fault in desk.text
