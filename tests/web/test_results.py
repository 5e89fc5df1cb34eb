"""The results page of a closed study: verdicts, figures with their numbers, switches, downloads."""

import io
import json
import re
import zipfile
from xml.etree import ElementTree

import pytest

from survey.core.studies.rankings import Ranking
from survey.db.models import Participant
from survey.figures import INK
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle import analyse_stored
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import a_plan, a_ready_participant, save_answer
from tests.databases import ON_SQLITE
from tests.web.desk import STUDY, Desk, open_it

RESULTS = f"{STUDY}/results"
pytestmark = [pytest.mark.slow, ON_SQLITE]


@pytest.fixture
def desk(app, session):
    """Ada's, with a closed study: three people took two seconds for each answer."""
    desk = Desk(app, session)
    ada = accounts.find_researcher(session, "Ada")
    study = lifecycle.create_owned_study(session, ada, "a-study", a_plan(), Recruitment())
    open_it(session, study)
    for number, labels in enumerate(({1}, {1}, {1, 2})):
        participant = a_ready_participant(session, study, f"browser {number}")
        for position in (1, 2, 3):
            given = OrderingAnswer(frozenset(labels), None)
            save_answer(session, participant, position, given, 2.0)
    lifecycle.close_study(session, study, "Ada")
    session.rollback()
    return desk


def test_the_page_says_for_each_pair_what_the_votes_support(desk):
    desk.open(RESULTS)
    told = [item.get_text(" ", strip=True) for item in desk.page.select(".verdicts li")]
    pairs = ("MNRO − NMRR", "MNRO − AP", "NMRR − AP")
    assert [text.startswith(pair) for text, pair in zip(told, pairs, strict=True)] == [True] * 3
    assert all("dentical orders" in text or "rders are identical" in text for text in told)


def test_every_figure_has_its_numbers_beside_it_and_is_told_in_words(desk):
    desk.open(RESULTS)
    figures = desk.page.select("figure.exhibit")
    of_participants = [each for each in figures if "participants" in each["id"]]
    assert len(figures) - len(of_participants) == 7  # labels are drawn: some pairs may have no lead
    for figure in figures:
        image = figure.select_one("img[loading=lazy]")
        assert image["alt"] == figure.figcaption.text
        drawing = ElementTree.fromstring(desk.client.get(image["src"]).text)
        assert drawing.get("role") == "img"
        assert drawing.findtext("{*}desc") == figure.figcaption.text
        files = [link["href"].rpartition(".")[2] for link in figure.select("a[download]")]
        assert files == ["csv", "tex", "svg", "pdf"]
        assert len(figure.select("table tbody tr")) >= (1 if figure in of_participants else 3)
    assert not desk.page.select("[style]")
    ids = [element["id"] for element in desk.page.select("[id]")]
    assert len(ids) == len(set(ids))


def test_every_table_is_on_the_page(desk, session):
    results = analyse_stored(session, lifecycle.find_study(session, "a-study"), AnalysisOptions())
    session.rollback()
    desk.open(RESULTS)
    captions = {caption.text for caption in desk.page.select("caption")}
    missing = {each.title for each in results.sheets if each.rows} - captions
    assert not missing, f"OrderingResults.sections has no place for {missing}"


def test_the_first_screen_says_who_leads_and_whether_it_holds(desk):
    desk.open(RESULTS)
    answer = desk.page.select_one(".answer")
    assert "measure" in answer.h2.text or "agree" in answer.h2.text or "lead" in answer.h2.text
    assert answer.select_one(".chip").text
    assert "3 participants · 3 questions · 9 answers" in answer.text
    assert len(answer.select(".rows li")) == 3
    assert "n: 3 participants · 3 questions · 9 answers." in answer.select_one(".copied pre").text
    assert answer.select_one("#for-a-paper button")
    assert answer.img["loading"] == "eager"


def test_all_else_is_folded_and_each_link_of_the_contents_leads_into_a_part(desk):
    desk.open(f"{RESULTS}?ties=split")
    folded = desk.page.select("details.part")
    assert not any(part.has_attr("open") for part in folded if not part.select("#options"))
    links = [link["href"].removeprefix("#") for link in desk.page.select(".contents a")]
    parts = [part.select_one("div")["id"] for part in folded]
    for part in folded:
        assert re.search(r"\d", part.summary.text), part.summary.text
    assert set(links) == set(parts) - {"download"}
    assert not any(word in desk.page.main.text for word in ("T1 from", "T2 from", "(T1)", "(T2)"))


def test_a_drawing_is_kept_by_browsers_under_the_digest_of_what_it_shows(desk):
    desk.open(RESULTS)
    address = desk.page.select_one(".answer img")["src"]
    answer = desk.client.get(address)
    assert answer.mimetype == "image/svg+xml"
    assert "immutable" in answer.headers["Cache-Control"]
    dark = answer.text.replace(INK[False], INK[True])
    of_dark_pages = desk.page.select_one(".answer picture source")["srcset"]
    assert desk.client.get(of_dark_pages).text == dark != answer.text
    other = desk.client.get(address.replace("digest=", "digest=0"))
    assert "immutable" not in other.headers.get("Cache-Control", "")
    assert desk.client.get(f"{RESULTS}/drawing/none.svg").status_code == 404
    desk.open(f"{RESULTS}?without=2")
    assert desk.page.select_one(".answer img")["src"] not in (address, f"{address}&without=2")


@pytest.mark.parametrize(
    ("file", "start"),
    [
        ("differences.csv", b"pair,"),
        ("votes-per-question.tex", b"% Needs"),
        ("contrasts.md", b"**Where"),
        ("shares.pdf", b"%PDF"),
        ("participants-1.csv", b"place,"),
    ],
)
def test_each_figure_and_table_is_a_file_of_its_own(desk, file, start):
    answer = desk.client.get(f"{RESULTS}/parts/{file}?ties=split")
    assert answer.data.startswith(start)
    name = f"a-study-{file}"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.parametrize("file", ["none.csv", "differences.exe", "table4.pdf"])
def test_what_is_no_part_of_the_results_is_not_found(desk, file):
    assert desk.client.get(f"{RESULTS}/parts/{file}").status_code == 404


def test_switches_change_what_is_counted_and_the_page_says_so(desk):
    desk.open(RESULTS)
    assert "3 participants gave 9 answers" in desk.text
    assert not desk.page.select(".notice")
    desk.open(f"{RESULTS}?without=2&ties=dropped")
    assert "3 participants gave 6 answers" in desk.text
    assert "question 2 is left out, shared votes are dropped" in desk.text
    assert "votes that credit several measures are left out" in desk.text
    assert "counts for both" not in desk.text
    assert desk.page.select_one("#ties option[selected]")["value"] == "dropped"
    assert desk.page.select_one("details.switches").has_attr("open")


def test_answers_of_an_arm_without_methods_alone_are_not_called_missing(app, session):
    desk = Desk(app, session)
    ada = accounts.find_researcher(session, "Ada")
    plan = a_plan(arms=["before", "never"], questions=1)
    study = lifecycle.create_owned_study(session, ada, "a-study", plan, Recruitment())
    open_it(session, study)
    participants = [a_ready_participant(session, study, f"browser {number}") for number in (1, 2)]
    [unseen] = [each for each in participants if each.arm == "never"]
    save_answer(session, unseen, 1, OrderingAnswer(frozenset(), Ranking.parse("A>B>C>D>E")), 20.0)
    lifecycle.close_study(session, study, "Ada")
    session.rollback()
    desk.open(RESULTS)
    assert "1 in an arm that shows no measures" in desk.text
    assert "No question is answered yet." not in desk.text


def test_flagged_participants_are_listed_and_can_be_left_out(desk, session):
    desk.open(RESULTS)
    assert "too fast" in desk.text  # nobody reads five lists in two seconds
    desk.open(f"{RESULTS}?unflagged=1")
    assert "no answer counts." in desk.text
    assert "3 flagged" in desk.text
    assert session.query(Participant).filter_by(excluded=True).count() == 0


@pytest.mark.parametrize("query", ["without=9", "ties=ignored"])
def test_a_switch_that_is_none_is_told(desk, query):
    desk.open(f"{RESULTS}?{query}")
    assert desk.status == 400
    assert "was found" in desk.text or "There is no question 9" in desk.text


def test_the_zip_for_a_paper_holds_report_tables_and_figures_as_chosen(desk):
    answer = desk.client.get(f"{RESULTS}/paper.zip?ties=split")
    files = zipfile.ZipFile(io.BytesIO(answer.data))
    assert {
        "report.html",
        "analysis.json",
        "answer.txt",
        "tables/table3.tex",
        "figures/shares.pdf",
    } <= set(files.namelist())
    assert "tables/participants.csv" in files.namelist()
    found = json.loads(files.read("analysis.json"))
    assert found["choices"]["ties"] == "split"
    assert found["study"]["slug"] == "a-study"
    assert b"shared votes are split" in files.read("report.html")
    expected = int(answer.headers["X-Expected-Bytes"])
    assert 0.3 < len(answer.data) / expected < 3


def test_the_zip_for_a_paper_has_the_widths_and_the_font_that_were_typed(desk):
    desk.open(RESULTS)
    form = desk.page.select_one("#for-a-paper")
    typed = {each["name"]: each["value"] for each in form.select("input[type=number]")}
    assert typed == {"figure-width": "3.33", "table-width": "241"}
    assert [each["value"] for each in form.select("#font option")] == ["sans", "serif"]
    answer = desk.client.get(f"{RESULTS}/paper.zip?figure-width=5&font=serif&table-width=347")
    files = zipfile.ZipFile(io.BytesIO(answer.data))
    captions = files.read("figures.tex").decode()
    assert r"\includegraphics[width=5in]{figures/shares.pdf}" in captions
    assert r"\label{fig:a-study-shares}" in captions
    assert "3 participants, 3 questions, 9 answers." in captions
    assert b"STIXGeneral" in files.read("figures/shares.svg")
    assert b'viewBox="0 0 360 ' in files.read("figures/shares.svg")
    assert b"347 pt" in files.read("tables/table4.tex")
    assert rb"\label{tab:a-study-table4}" in files.read("tables/table4.tex")


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        ("figure-width=99", "figure-width is '99'; 2.5 to 10 inches are allowed."),
        ("table-width=x", "table-width is 'x'; 160 to 600 points are allowed."),
        ("font=comic", "font is 'comic'; sans and serif are allowed."),
    ],
)
def test_a_width_or_font_that_cannot_be_is_told(desk, query, allowed):
    desk.open(f"{RESULTS}/paper.zip?{query}")
    assert desk.status == 400
    assert allowed in desk.text


def test_downloads_are_as_chosen_whatever_else_the_address_says(desk):
    desk.open(f"{RESULTS}?test=1&without=2&ties=split")
    link = desk.page.select_one("#for-a-paper .way a")["href"]
    assert link == f"{RESULTS}/report.html?test=1&without=2&ties=split"
    sent = {one["name"]: one["value"] for one in desk.page.select("#for-a-paper [type=hidden]")}
    assert sent == {"test": "1", "without": "2", "ties": "split"}
    desk.open(f"{RESULTS}?endpoint=x&_method=POST&_external=1&_anchor=x&slug=other")
    assert desk.status == 200
    assert desk.page.select_one("#for-a-paper .way a")["href"] == f"{RESULTS}/report.html"
    assert not desk.page.select("#for-a-paper [type=hidden]")


def test_the_report_is_one_file_that_says_which_study_it_is_of(desk, session):
    report = desk.client.get(f"{RESULTS}/report.html")
    assert report.headers["Content-Disposition"] == 'attachment; filename="a-study-report.html"'
    desk.open(STUDY)
    digest = desk.page.select_one(".digest").text
    assert digest in report.text
    assert "<link" not in report.text
    assert "<script" not in report.text


def test_nobody_elses_results_are_handed_out(desk, app, session):
    other = Desk(app, session, "Bob")
    for path in ("", "/report.html", "/paper.zip", "/parts/shares.csv", "/drawing/shares.svg"):
        assert other.client.get(RESULTS + path).status_code == 404
