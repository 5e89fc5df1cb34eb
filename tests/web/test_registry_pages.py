"""What pages say of a study's runs elsewhere: from the stored copy of registries alone."""

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from survey.services.exchange.registry import STORED
from tests.databases import ON_SQLITE
from tests.services.exchange.test_registry import RUN as LISTED
from tests.web.desk import STUDY
from tests.web.test_published import (  # noqa: F401 - fixtures
    AUTHORS,
    PUBLIC,
    closed,
    publish,
    study,
    visitor,
)

pytestmark = ON_SQLITE

RUN = replace(LISTED, digest="", authors=("Hopper, Grace",), results={})


@pytest.fixture
def store(app):
    """Store runs as `survey registry update` does."""

    def write(*runs):
        path = app.config["INSTANCE"] / STORED
        path.write_text("".join(run.line for run in runs))

    return write


def runs_on(html):
    return BeautifulSoup(html, "html.parser").select_one("#runs")


def rows_of(section):
    rows = section.select("tbody tr")
    return [[cell.get_text(" ", strip=True) for cell in row.select("th, td")] for row in rows]


def test_a_public_page_says_how_often_the_study_was_run(desk, closed, visitor, store):  # noqa: F811
    publish(desk)
    first = visitor.get(PUBLIC)
    assert runs_on(first.text) is None
    pair, points = "MNRO-NMRR", 12.0
    run = replace(RUN, digest=closed.digest, results={pair: points})
    others = [
        run,
        replace(run, sha256="c" * 64, address="https://x.org/<i>.zip", digest="d" * 64),
        replace(run, sha256="e" * 64, address="https://y.org/", doi="10.5281/z.1", month="2026-01"),
        replace(run, sha256="f" * 64, address="https://z.org/", replicates=False),
    ]
    store(*others)
    etag = {"If-None-Match": first.headers["ETag"]}
    page = visitor.get(PUBLIC, headers=etag)
    assert page.status_code == 200  # though nothing of the study itself changed
    section = runs_on(page.text)
    assert section.h2.text.startswith("This study was run 4 times; ")
    assert "1 of the bundles does not replicate." in section.h2.text
    rows = rows_of(section)
    assert [row[0] for row in rows] == ["this one", *["Hopper, Grace"] * 3]
    assert [row[4] for row in rows] == ["–", "2026-01", "2026-05", "2026-05"]
    assert "does not replicate" in [row[1] for row in rows]
    links = [link["href"] for link in section.select("a")]
    assert links == ["https://doi.org/10.5281/z.1", "https://x.org/a.zip", "https://z.org/"]


def test_the_studys_own_bundle_is_no_other_run(desk, closed, visitor, store):  # noqa: F811
    publish(desk)
    store(replace(RUN, digest=closed.digest, address=f"http://localhost{PUBLIC}/bundle.zip"))
    assert runs_on(visitor.get(PUBLIC).text) is None


def test_the_results_page_says_the_same(desk, closed, visitor, store):  # noqa: F811
    publish(desk)
    store(replace(RUN, digest=closed.digest, authors=(), results={"MNRO-AP": -3.0}))
    desk.open(f"{STUDY}/results")
    section = desk.page.select_one("#runs")
    assert section.h2.text == runs_on(visitor.get(PUBLIC).text).h2.text
    assert rows_of(section)[1][0] == "A study"
