"""The page that pools studies: bundles and studies here, refusals beside them, what they say."""

import io
import json
import zipfile

import pytest

from survey.services import accounts
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import zipped
from tests.sites import site_bundles
from tests.voted import CLEAR, a_closed_study
from tests.web.desk import HOME

pytestmark = [ON_SQLITE, pytest.mark.slow]
PAGE = "/research/pool"


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    bundles = site_bundles(tmp_path_factory.mktemp("sites"))
    return {name: zipped(files) for name, files in bundles.items()}


def chosen(sites, *names):
    return {"bundle": [(io.BytesIO(sites[name]), f"{name}.zip") for name in names]}


def files_listed(desk):
    """The files that the page keeps, with what is said against each."""
    return {
        entry.strong.text: [reason.text for reason in entry.select("p.wrong")]
        for entry in desk.page.select(".kept li")
    }


def test_the_page_is_reached_from_home_and_asks_for_studies(desk):
    desk.open(HOME)
    assert desk.page.select_one(f"a[href='{PAGE}']")
    desk.open(PAGE)
    desk.send(PAGE)
    assert desk.status == 400
    assert "Choose two or more studies" in desk.text


def test_bundles_are_pooled_and_downloaded(desk, sites):
    desk.open(PAGE)
    desk.send(PAGE, chosen(sites, "rome", "lyon", "oslo", "bern"))
    assert desk.status == 200, desk.text
    answer = desk.page.select_one("#answer").text
    assert answer.startswith("Four studies, 28 people, the same 8 questions: ")
    assert desk.page.select_one(".lead svg")
    assert len(desk.page.select(".rows li")) == 3
    assert answer in desk.page.select_one(".copied pre").text
    assert desk.page.select_one("#computed")
    assert [*files_listed(desk)] == ["rome.zip", "lyon.zip", "oslo.zip", "bern.zip"]
    desk.send(PAGE, download="zip")
    with zipfile.ZipFile(io.BytesIO(desk.response.data)) as archive:
        assert {"report.html", "pooled.csv", "figures/forest.pdf"} <= {*archive.namelist()}
        assert json.loads(archive.read("analysis.json"))["sentence"] == answer


def test_refusals_are_beside_their_files_which_stay(desk, sites):
    desk.open(PAGE)
    desk.send(PAGE, chosen(sites, "rome", "six", "lyon"), include_test="y")
    assert desk.status == 400
    assert files_listed(desk) == {
        "rome.zip": [],
        "six.zip": [
            "its digest differs from that of rome.zip",
            "it differs from rome.zip in seed: 6 and 5",
            "“The studies drew their questions by different seeds” pools studies that differ in "
            "nothing else",
        ],
        "lyon.zip": [],
    }
    assert desk.page.select_one("[name=include_test]").has_attr("checked")
    desk.send(PAGE, **{"drop-bundle": "on"})
    desk.send(PAGE, chosen(sites, "six", "seven", "eight"), same_design="y")
    assert "8 questions of their own each" in desk.page.select_one("#answer").text


def test_what_is_no_bundle_is_named_beside_it(desk, sites):
    desk.open(PAGE)
    files = chosen(sites, "rome")
    files["bundle"].append((io.BytesIO(b"none"), "notes.zip"))
    desk.send(PAGE, files)
    [why] = files_listed(desk)["notes.zip"]
    assert why.startswith("notes.zip is not a bundle")


def test_closed_studies_here_are_pooled_with_bundles(desk, session, sites):
    ada = accounts.find_researcher(session, "Ada")
    a_closed_study(session, ada, "here", CLEAR[:5])
    session.rollback()
    desk.open(PAGE)
    assert [box["value"] for box in desk.page.select("[name=study]")] == ["here"]
    desk.send(PAGE, chosen(sites, "rome", "lyon"), study="here")
    assert "Three studies" in desk.page.select_one("#answer").text
    desk.open(PAGE)
    desk.send(PAGE, chosen(sites, "six"), study="here")
    [why, *_] = [reason.text for reason in desk.page.select("#study p.wrong")]
    assert why == "its digest differs from that of six.zip"


def test_no_tick_is_named_that_would_not_help(desk, session, sites):
    """Studies of one seed have the same questions, so a tick would be refused next."""
    ada = accounts.find_researcher(session, "Ada")
    a_closed_study(session, ada, "here", CLEAR[:5], title="Another title")
    session.rollback()
    desk.open(PAGE)
    desk.send(PAGE, chosen(sites, "rome"), study="here")
    reasons = [reason.text for reason in desk.page.select("#study .reasons p")]
    remedy = "the seed 5 is that of another study: it draws the same questions, so the plans "
    assert reasons[-1] == f"{remedy}must be the same"
    desk.send(PAGE, study="here", same_design="y")
    assert [reason.text for reason in desk.page.select("#study .reasons p")] == reasons[-1:]


def test_a_script_reads_how_many_are_computed(desk):
    answer = desk.client.get(PAGE, headers={"Accept": "application/json"})
    assert answer.json == {"done": 0}
