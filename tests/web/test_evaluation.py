"""The page that scores runs of a test collection."""

import io
import json
import zipfile

import pytest

from tests.databases import ON_SQLITE, statements
from tests.web.desk import HOME, Desk, a_file

pytestmark = ON_SQLITE
PAGE = "/research/evaluation"
QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\n"
ONE = "q1 Q0 a 1 2 t\nq1 Q0 c 2 1 t\nq2 Q0 a 1 1 t\n"
TWO = "q1 Q0 c 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 a 1 1 t\n"


@pytest.fixture
def desk(app, session):
    found = Desk(app, session)
    found.open(PAGE)
    return found


def files(**changed):
    given = {"qrels": a_file(QRELS, "qrels.txt")}
    given["runs"] = [a_file(ONE, "one.txt"), a_file(TWO, "two.txt")]
    return {**given, **changed}


def wrong(desk):
    return {
        field.select_one("label")["for"]: [each.text for each in field.select(".wrong:not(li)")]
        for field in desk.page.select(".field:has(.wrong)")
    }


def tables(desk):
    return {
        table.caption.text: [[cell.text for cell in row.select("th, td")] for row in rows]
        for table in desk.page.select("table")
        if (rows := table.select("tbody tr"))
    }


def test_it_is_reached_from_the_studies(desk):
    desk.open(HOME)
    assert desk.page.select_one(f"a[href='{PAGE}']")


def test_uploaded_runs_are_scored_compared_and_drawn(desk):
    clusters = a_file("q1 a x\nq1 b y\nq2 a x\n", "clusters.txt")
    desk.send(
        PAGE,
        files(clusters=clusters),
        measures="AP, alpha-nDCG@10",
        collection_size="50",
        baseline="two",
    )
    assert desk.status == 200
    shown = tables(desk)
    # one: (1/2 + 1)/2; two: (1/4 + 1)/2.
    assert shown["Means over 2 queries"][0][:2] == ["one", "0.7500"]
    assert shown["Means over 2 queries"][1][:2] == ["two", "0.6250"]
    assert shown["Differences from two over 2 queries"][0][:3] == ["one", "MAP", "0.1250"]
    drawn = [figure["id"] for figure in desk.page.select("figure:has(svg)")]
    assert drawn == [
        f"figure-{name}"
        for name in (
            *("mean-AP", "mean-alpha-nDCG-10", "precision-recall-11", "precision-recall", "roc"),
            *("precision-by-generality", "s-recall", "s-precision"),
        )
    ]
    assert (
        "survey evaluate --qrels qrels.txt --run one.txt two.txt --clusters clusters.txt "
        "--measures AP alpha-nDCG@10 --collection-size 50 --baseline two --to FOLDER"
    ) in desk.text


def test_rows_of_pictures_and_topics_that_no_run_returned_can_be_counted(desk):
    def more():
        return files(qrels=a_file("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq3 0 a 1\n", "qrels.txt"))

    name = "RBP-RS-p0.9-gamma0.3@5"
    desk.send(PAGE, more(), measures=name)
    assert desk.status == 400
    assert f"{name} needs" in desk.text
    desk.send(PAGE, more(), measures=name, columns="2", complete="y")
    assert "Means over 3 queries" in tables(desk)
    assert f"--measures {name} --columns 2 --complete --to FOLDER" in desk.text
    desk.send(PAGE, files(), measures="AP", columns="0")
    assert "'0' found; a whole number from 1 to 1,000 is allowed." in desk.text


@pytest.mark.slow
def test_the_zip_holds_what_the_command_writes(desk):
    desk.send(PAGE, files(), download="zip")
    with zipfile.ZipFile(io.BytesIO(desk.response.data)) as archive:
        names = set(archive.namelist())
        content = json.loads(archive.read("evaluation.json"))
    assert {"tables/means.tex", "figures/precision-recall.svg"} <= names
    assert content["runs"]["one"]["mean"]["AP"] == 0.75


@pytest.mark.slow
def test_the_zip_has_the_widths_and_the_font_that_were_typed(desk):
    look = {"figure-width": "5", "font": "serif", "table-width": "347"}
    desk.send(PAGE, files(), measures="AP", **look)
    assert "--figure-width 5 --font serif --table-width 347 --to FOLDER" in desk.text
    typed = desk.page.select_one("#figure-width")["value"]
    assert (typed, desk.page.select_one("#font [selected]")["value"]) == ("5.0", "serif")
    desk.send(PAGE, measures="AP", download="zip")  # files and look as they were chosen
    with zipfile.ZipFile(io.BytesIO(desk.response.data)) as archive:
        captions = archive.read("figures.tex").decode()
        figure = archive.read("figures/precision-recall.svg")
        table = archive.read("tables/means.tex")
    assert r"\includegraphics[width=5in]{figures/precision-recall.pdf}" in captions
    assert b"STIXGeneral" in figure
    assert b"347 pt" in table


def test_a_width_that_cannot_be_is_refused_and_costs_no_file(desk):
    desk.send(PAGE, files(), download="zip", **{"figure-width": "99"})
    assert desk.status == 400
    assert "figure-width is '99'; 2.5 to 10 inches are allowed." in desk.text
    assert desk.page.select_one("details[open] #figure-width")
    assert len(desk.page.select("[type=hidden][name=kept-runs]")) == 2


@pytest.mark.parametrize("measures", ["", "none"])
def test_nothing_is_stored_and_no_lock_is_taken_after_scoring(desk, engine, measures):
    with statements(engine) as told:
        desk.send(PAGE, files(), measures=measures)
    assert [each for each in told if each.startswith("BEGIN")][-1] == "BEGIN DEFERRED"
    assert not [each for each in told if each.startswith(("INSERT", "UPDATE", "DELETE"))]


@pytest.mark.parametrize(
    ("changed", "fields", "faults"),
    [
        (
            {"qrels": None, "runs": None},
            {},
            {"qrels": ["Choose a file."], "runs": ["Choose a file."]},
        ),
        (
            {"qrels": a_file("q1 0 a x", "qrels.txt"), "runs": [a_file("q1 Q0 a", "one.txt")]},
            {},
            {
                "qrels": [
                    "qrels.txt, line 1: relevance 'x' found; a whole number up to 30 is allowed."
                ],
                "runs": [
                    "one.txt, line 1: 3 fields found, 'q1 Q0 a'; 6 are allowed: topic Q0 "
                    "document rank score tag."
                ],
            },
        ),
        (
            {"runs": [a_file(ONE, "qrels.txt")]},
            {},
            {"runs": ["Two files are named qrels.txt; rename one."]},
        ),
        (
            {},
            {"relevant_from": "two"},
            {"relevant_from": ["'two' found; a whole number from 1 to 30 is allowed."]},
        ),
        (
            {},
            {"measures": "MNRO"},
            {"measures": ["MNRO needs the collection size."]},
        ),
        (
            {},
            {"baseline": "three", "collection_size": "50"},
            {"baseline": ["the baseline 'three' is none of the runs; these are one, two."]},
        ),
        (
            {},
            {"collection_size": "many"},
            {
                "collection_size": [
                    "'many' found; a whole number from 1 to 1,000,000,000,000 is allowed."
                ]
            },
        ),
        (
            {"qrels": (io.BytesIO(b"q1 0 \xff 1"), "qrels.txt")},
            {},
            {"qrels": ["qrels.txt, row 1: not UTF-8. Save it as UTF-8."]},
        ),
    ],
)
def test_what_is_wrong_stands_beside_its_field(desk, changed, fields, faults):
    desk.send(PAGE, files(**changed), **fields)
    assert desk.status == 400
    assert wrong(desk) == faults


def test_files_are_read_as_the_form_says(desk):
    with_endings = ONE.replace(" a ", " a.png ").replace(" c ", " c.png ")
    runs = [a_file(with_endings, "web.txt"), a_file(TWO, "two.txt")]
    desk.send(PAGE, files(runs=runs), ids="without-extension", relevant_from="2")
    told = [each.text for each in desk.page.select("#warnings li")]
    assert not [each for each in told if "not judged under their ids" in each]
    assert "Binary measures take documents as relevant from grade 2 on." in desk.text
    assert "--ids without-extension --relevant-from 2 --to FOLDER" in desk.text


def test_what_may_be_otherwise_than_meant_stands_above_the_tables(desk):
    with_endings = ONE.replace(" a ", " a.png ").replace(" c ", " c.png ")
    desk.send(PAGE, files(runs=[a_file(with_endings, "web.txt"), a_file(TWO, "two.txt")]))
    told = [each.text for each in desk.page.select("#warnings li")]
    assert told[0] == (
        "Run web: 2 of 3 documents are not judged under their ids, and would be without the "
        "extension (run “a.png”, judgements “a”). They count as not relevant. "
        "--ids without-extension reads them so."
    )
    assert not [each for each in told if each.startswith("Run two: 1 of")]
    desk.send(PAGE, files(qrels=a_file(QRELS.upper().replace("Q1 0", "Q1 0"), "qrels.txt")))
    assert "Topics of runs and judgements differ by upper and lower case" in desk.text
