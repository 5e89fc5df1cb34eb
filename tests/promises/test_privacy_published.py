"""Promise 7: a public page shows nothing of what people and researchers wrote."""

import re

import pytest

from survey.db.models import Participant
from survey.services.studies import lifecycle, publications
from survey.services.studies.publications import Details
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import steps_of, unzipped
from tests.services.exchange.test_public_bundle import CANARY, KINDS, with_canaries

pytestmark = [ON_SQLITE, pytest.mark.slow]

ADDRESSES = ("/studies", "/studies/<slug>", "/studies/<slug>/try", "/studies/<slug>/bundle.zip")
CITATIONS = ("/studies/<slug>/CITATION.cff", "/studies/<slug>/citation.bib")
DOCUMENTS = {
    "/studies/<slug>/pictures/<size>/<name>.webp",
    "/studies/<slug>/texts/<name>.html",
}


@pytest.mark.parametrize("kind", ["ordering", "rank first", "labelling", "grouping"])
def test_a_public_page_shows_nothing_that_anyone_wrote(app, session, kind, measured):
    study = KINDS[kind](app, session)
    people = with_canaries(session, study)
    hidden = [each.public_id for each in people if each.is_test]
    publications.publish(session, study, "Ada", Details("A title", "Lovelace, Ada", ""))
    client, contents = app.test_client(), []
    for address in (*ADDRESSES, *CITATIONS):
        answer = client.get(address.replace("<slug>", study.slug), buffered=True)
        assert answer.status_code == 200, address
        contents += [str(answer.headers).encode(), answer.data]
    bundle = unzipped(client.get(f"/studies/{study.slug}/bundle.zip", buffered=True).data)
    steps_of(bundle)  # replicates
    contents += bundle.values()
    traces = [re.compile(re.escape(each.encode())) for each in (CANARY, *hidden)]
    leaks = [trace for trace in traces for content in contents if trace.search(content)]
    assert leaks == []
    rules = {
        rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("published")
    }
    assert rules == {*ADDRESSES, *CITATIONS, *DOCUMENTS}
    measured(
        "A canary in every personal field, closing answer, reason, group's name, guest, code, "
        f"exclusion, look and event of a published study ({kind}), looked for in "
        f"{len(ADDRESSES + CITATIONS)} public addresses and the {len(bundle)} files of the bundle, "
        f"which replicates: {len(leaks)} found."
    )


def test_an_open_study_tells_nothing_by_its_public_addresses(app, session):
    study = KINDS["ordering"](app, session)
    publications.publish(session, study, "Ada", Details("A title", "Lovelace, Ada", ""))
    lifecycle.open_study(session, study, "Ada", "more people")
    client = app.test_client()
    asked = [each.replace("<slug>", study.slug) for each in (*ADDRESSES[1:], *CITATIONS)]
    answers = {address: client.get(address, buffered=True) for address in asked}
    assert {answer.status_code for answer in answers.values()} == {404}
    assert len({answer.data for answer in answers.values()}) == 1
    others = client.get("/studies").text
    assert "A title" not in others
    assert session.query(Participant).count()
