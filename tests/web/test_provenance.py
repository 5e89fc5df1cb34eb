"""Participants of a study of runs read neither its topics nor its runs, documents or files."""

import pytest

from survey.services.studies import lifecycle
from survey.services.studies.plans import preset_plan
from tests.builders import CONTACTS, Visitor
from tests.databases import ON_SQLITE

NAMES = {
    "topics": ["topicone", "topictwo"],
    "runs": ["alpharun", "betarun", "gammarun"],
    "documents": [[["docalpha"], ["docbeta"], ["docgamma"]]] * 2,
    "sources": [{"role": "run", "name": "filealpha.txt", "sha256": "abcd" * 16}],
}
SECRETS = (
    "topicone",
    "topictwo",
    "alpharun",
    "docalpha",
    "docbeta",
    "docgamma",
    "filealpha",
    "abcdabcd",
)


@pytest.fixture
def study(session):
    plan = preset_plan(
        "runs",
        **{"questions": 2, "collection_size": 50, "own_lists": [[(1, 9), (2, 8), (3, 4)]] * 2},
        **{"provenance": NAMES, "practice": False, **CONTACTS["en"]},
    )
    study = lifecycle.create_study(session, "of-lists", plan)
    lifecycle.open_study(session, study)
    return study


class Collector(Visitor):
    """A visitor who keeps every page, with all its markup."""

    def _see(self, response):
        self.pages = [*getattr(self, "pages", []), response.get_data(as_text=True)]
        return super()._see(response)


@ON_SQLITE
def test_no_page_on_a_participants_way_names_a_topic_run_or_document(client, study):
    visitor = Collector(client, study.slug)
    visitor.take_part()
    for path in ("/q/1", "/q/2", "/my-data"):
        visitor.open(path)
    own_data = client.get(f"/s/{study.slug}/my-data.json")
    assert own_data.status_code == 200
    pages = [*visitor.pages, own_data.get_data(as_text=True)]
    assert len(pages) > 8
    for page in pages:
        assert not [word for word in SECRETS if word in page]
