"""The catalogue is whole: no page escapes it, and no two pages have one title."""

import re
from collections import defaultdict

import pytest
from bs4 import BeautifulSoup

from tests.accessibility.catalogue import LANGUAGES, every_sight, sights_of
from tests.accessibility.page import PAGE, quoted, read_record
from tests.accessibility.walks_of_collections import sending_runs
from tests.accessibility.walks_of_studies import SHA256, publishing, resulting
from tests.accessibility.walks_through_questions import answering
from tests.accessibility.walks_to_questions import preparing
from tests.accessibility.walks_to_the_end import finishing

pytestmark = pytest.mark.slow

# What answers GET and is no page, with an address at which to see that.
NO_PAGES = {
    "static": "/static/survey.css",
    "health.alive": "/healthz",
    "health.ready": "/readyz",
    "help.file": "/help/files/screenshots/entry-laptop-light.png",
    "participant.download": "/s/answering-en/my-data.json",
    "preview.entry": "/research/studies/voted-el/preview/",
    "researcher.live": "/research/studies/voted-el/progress/live",  # a part of Progress
    "collections.download": "/collections/our-album/files/topics.csv",
    "published.bundle": "/studies/public-el/bundle.zip",
    "published.cff": "/studies/public-el/CITATION.cff",
    "published.bibtex": "/studies/public-el/citation.bib",
    "api.openapi": "/api/v1/openapi.json",
    "api.studies": "/api/v1/studies",
    "api.study": "/api/v1/studies/voted-el",
    "api.progress": "/api/v1/studies/voted-el/progress",
    "api.results": "/api/v1/studies/voted-el/results",
    "api.bundle": "/api/v1/studies/voted-el/bundle",
    "researcher.bundle": "/research/studies/voted-el/bundle.zip",
    "researcher.file": "/research/studies/voted-el/files/votes.csv",
    "researcher.guest_links": "/research/studies/voted-el/guests.csv",
    "researcher.arrivals": "/research/studies/voted-el/progress/arrivals.svg",
    "researcher.drawing": "/research/studies/voted-el/results/drawing/shares.svg",
    "researcher.part": "/research/studies/voted-el/results/parts/shares.csv",
    "researcher.paper": "/research/studies/voted-el/results/paper.zip",
    "researcher.example": "/research/examples/qrels.txt",
    "researcher.registration_zip": "/research/studies/voted-el/registration.zip",
    "researcher.plan_file": "/research/studies/voted-el/plan.yaml",
    "researcher.thumbnail": f"/research/studies/pictured-el/items/{SHA256}.webp",
    "researcher.qr": "/research/studies/voted-el/qr.svg",
}
# Under random names, see tests/web/test_pictured_questions.py and tests/web/test_text_documents.py.
DOCUMENTS = {
    f"{blueprint}.{view}"
    for blueprint in ("participant", "preview", "published")
    for view in ("picture", "whole_text")
}
STUDY = re.compile(r"/s/([\w-]+)")


def test_every_page_of_the_application_is_in_the_catalogue(house):
    rules = [rule for rule in house.app.url_map.iter_rules() if "GET" in rule.methods]
    seen = {sight.endpoint for sight in every_sight(house) if sight.method == "GET"}
    assert {rule.endpoint for rule in rules} - seen - set(NO_PAGES) - DOCUMENTS == set()
    assert seen & set(NO_PAGES) == set()


@pytest.mark.parametrize("endpoint", NO_PAGES)
def test_what_is_left_out_is_no_page(house, endpoint):
    walk = {"participant": answering, "published": publishing, "collections": sending_runs}.get(
        endpoint.partition(".")[0], resulting
    )
    sight = sights_of(house, walk, "en" if walk is answering else "el")[-1]
    answer = sight.client.get(NO_PAGES[endpoint])
    assert answer.status_code in (200, 302, 303, 401)
    assert b"<main" not in answer.get_data()


def test_every_kind_of_error_page_is_in_the_catalogue(house):
    statuses = {sight.status for sight in every_sight(house)}
    assert {400, 401, 403, 404, 405, 413, 429, 500, 503} <= statuses


def test_the_record_lists_every_page_in_every_state(house):
    """Else ``make accessibility`` was not run since one was added."""
    listed = {(row["page"], row["state"]) for row in read_record()}
    assert listed == {(sight.page, sight.state) for sight in every_sight(house)}


def test_the_written_page_has_the_sums_of_the_record():
    text = PAGE.read_text()
    assert text.count("<!-- checked -->") == 1
    assert quoted(text, read_record()) == text


def test_pages_of_a_study_can_be_told_apart_by_their_titles(house):
    pages = defaultdict(set)
    for sight in every_sight(house):
        title = BeautifulSoup(sight.body, "html.parser").title.get_text()
        study = STUDY.match(sight.address)
        pages[study and study[1], title].add(sight.page)
    assert {title: found for title, found in pages.items() if len(found) > 1} == {}


def test_nobody_is_asked_twice_for_the_same(house):
    """3.3.7: what was said stands there when one comes back, and after an error."""
    for language in LANGUAGES:
        kept = {sight.state: sight for sight in sights_of(house, preparing, language)}
        for state, told in (("saved", "23"), ("error: two fields", "seven")):
            page = BeautifulSoup(kept[state].body, "html.parser")
            assert page.select_one("[name=age]")["value"] == told


def test_help_stands_in_the_same_place_on_every_page(house):
    """3.2.6: whom to ask, and what is stored, end each page of a study that names a contact."""
    for language in LANGUAGES:
        for sight in sights_of(house, finishing, language):
            if sight.page != "First page":  # which names whom to ask among its facts
                page = BeautifulSoup(sight.body, "html.parser")
                assert "ada@example.org" in page.select_one("footer").get_text(), str(sight)
