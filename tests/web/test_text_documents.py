"""Documents that are texts, as participants of each kind see them."""

import re

import pytest

from survey.core.collections.items import Item
from survey.core.kinds import plan_from_json
from survey.db import item_queries
from survey.db.models import StoredItem
from survey.services import accounts
from survey.services.collections.reduced_html import TAGS
from survey.services.studies import lifecycle, plans, publications
from survey.services.studies.publications import Details
from tests.builders import CONTACTS, Visitor
from tests.databases import ON_SQLITE, statements
from tests.written import DOCUMENTS, PAGES, QUERY, RUNS, TOPIC, a_written_study, items_of

KINDS = ("ordering", "preference", "labelling", "grouping")
OF_EACH_KIND = pytest.mark.parametrize("kind", KINDS)
pytestmark = ON_SQLITE
TRY = "/studies/written/try"


def a_visitor(app, slug="written"):
    visitor = Visitor(app.test_client(), slug)
    visitor.go("/q/1")
    visitor.open("/q/1")
    return visitor


def cards(visitor, title):
    found = [card for card in visitor.page.select(".doc") if title in card.text]
    assert found, title
    return found


@OF_EACH_KIND
def test_every_kind_shows_title_address_and_snippet_in_one_look(app, session, kind):
    a_written_study(session, kind)
    visitor = a_visitor(app)
    for card in cards(visitor, PAGES[0]["title"]):
        url, title, body = card.find_all(recursive=False)
        assert (title.name, title["dir"], title.text) == ("b", "auto", PAGES[0]["title"])
        assert (url["class"], url["dir"], url.text) == (["url"], "ltr", PAGES[0]["url"])
        assert (body["class"], body["dir"]) == (["body"], "auto")
        assert body.text == PAGES[0]["snippet"]
    assert {card["lang"] for card in cards(visitor, "Πόσο κάνει")} == {"el"}
    assert not visitor.page.select(".doc a")


@OF_EACH_KIND
def test_without_a_snippet_the_part_with_the_words_of_the_query_is_shown(app, session, kind):
    a_written_study(session, kind)
    visitor = a_visitor(app)
    [*shown] = cards(visitor, PAGES[1]["title"])
    for card in shown:
        assert card.select_one(".body").text.startswith("… train from Athens to Thessaloniki last")


@OF_EACH_KIND
def test_a_whole_text_is_one_link_away_and_needs_no_script(app, session, kind):
    a_written_study(session, kind)
    visitor = a_visitor(app)
    wholes = {}
    for link in visitor.page.select("a.more[data-larger=text][target=_blank]"):
        assert link.text == "Whole text"
        response = visitor.client.get(link["href"])
        assert response.status_code == 200
        title = re.search("<h1[^>]*>([^<]*)</h1>", response.text)[1]
        wholes[title] = response.text
    assert wholes[PAGES[0]["title"]].count("It runs along the coast") == 40
    assert f'dir="ltr" translate="no">{PAGES[0]["url"]}<' in wholes[PAGES[0]["title"]]
    assert '<article class="whole" lang="ar">' in wholes[PAGES[3]["title"]]
    table = wholes["Fares in a table"]
    assert "<table><tbody><tr><th>To</th>" in table
    assert "<p>See more.</p>" in table
    assert "steal" not in table


@OF_EACH_KIND
def test_the_words_of_the_query_are_marked_where_the_plan_says_so(app, session, kind):
    a_written_study(session, kind)
    a_written_study(session, kind, "changed", mark_query_words=True)
    marks = {}
    for slug in ("written", "changed"):
        visitor = a_visitor(app, slug)
        marks[slug] = {mark.text for mark in visitor.page.select(".doc mark")}
    assert not marks["written"]
    # Whole words alone, so that no “trains” are among them.
    assert marks["changed"] == {"train", "Athens", "ATHENS", "Thessaloniki", "Thessaloníki"}


@pytest.mark.usefixtures("session")
def test_new_studies_of_labels_mark_the_words_of_the_query_and_earlier_ones_do_not():
    made = plans.preset_plan("labels", topics=["1"], **CONTACTS["en"])
    assert made.mark_query_words
    stored = {name: value for name, value in made.as_json().items() if name != "mark_query_words"}
    assert not plan_from_json(stored).mark_query_words
    assert not plans.preset_plan("pictures", **CONTACTS["en"]).mark_query_words


def test_marks_are_a_part_of_the_digest(session):
    digests = {
        a_written_study(session, "preference", f"marked-{marked:d}", mark_query_words=marked).digest
        for marked in (False, True)
    }
    assert len(digests) == 2


@OF_EACH_KIND
def test_what_counts_as_relevant_is_open_when_a_topic_begins(app, session, kind):
    a_written_study(session, kind)
    visitor = a_visitor(app)
    [relevance] = visitor.page.select("details.relevance")
    assert relevance.has_attr("open")
    assert relevance.summary.text == "What counts as relevant"
    assert [each.text for each in relevance.select("p[dir=auto]")] == [
        TOPIC.description,
        TOPIC.narrative,
    ]
    steps = {"labelling": {"document": "1", "grade": "1", "go": ""}, "grouping": {"go": "new"}}
    if kind in steps:
        steps["grouping"] |= {"document": "1", "group": "a"}
        visitor.submit("/q/1", **steps[kind])
        visitor.open("/q/1")
        assert not visitor.page.select_one("details.relevance").has_attr("open")


@OF_EACH_KIND
def test_nothing_that_participants_get_names_a_document_or_a_run(app, session, kind):
    """A URL is content, and shown on purpose; ids of documents, topics and runs are not."""
    a_written_study(session, kind)
    visitor = a_visitor(app)
    pages = [visitor.response.text]
    links = [link["href"] for link in visitor.page.select("[href]")]
    pages += [visitor.client.get(link).text for link in links if "/texts/" in link]
    assert len(pages) > 5
    for hidden in (*DOCUMENTS, "clueweb", TOPIC.topic, *RUNS, "lucene"):
        assert not [page for page in pages if hidden in page]
    names = {link.rpartition("/")[2] for link in links if "/texts/" in link}
    assert all(name.endswith(".html") for name in names)  # as no tail of a name does that is cut
    names = {name.removesuffix(".html") for name in names}
    assert names < {name for (name,) in session.query(StoredItem.name)}
    assert all(re.fullmatch("[-\\w]{16}", name) for name in names)


def test_a_whole_text_is_for_those_alone_who_agreed_and_of_their_study(app, session):
    a_written_study(session, "preference")
    a_written_study(session, "preference", "other")
    visitor = a_visitor(app)
    address = visitor.page.select_one("a.more")["href"]
    assert app.test_client().get(address).status_code == 404
    assert visitor.client.get(f"{address[:-9]}AAAA.html").status_code == 404
    other = a_visitor(app, "other").page.select_one("a.more")["href"]
    name = other.rpartition("/")[2]
    assert visitor.client.get(f"{address.rpartition('/')[0]}/{name}").status_code == 404
    response = visitor.client.get(address)
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("word", ["train and bus ", "τρένο και λεωφορείο ", "<&> train "])
def test_two_lists_of_ten_are_a_small_page_however_long_their_texts_are(app, session, word):
    def of(length):
        return (word * length)[:length].strip()

    texts = {"title": of(500), "url": of(2_000), "snippet": of(2_000), "text": of(200_000)}
    items = [Item(each, html=f"<p>{of(100_000)}", **texts) for each in DOCUMENTS]
    topic = TOPIC._replace(description=of(2_000))
    a_written_study(session, "preference", items=items, topic=topic, mark_query_words=True)
    visitor = a_visitor(app)
    assert len(visitor.page.select(".results li")) == 20
    assert len(visitor.response.data) < 60_000


def test_parts_of_long_texts_are_read_and_computed_once(app, session, engine):
    items = [Item(each, text=f"{'nothing ' * 9_000}train") for each in DOCUMENTS]
    a_written_study(session, "labelling", items=items)
    visitor = a_visitor(app)
    assert all(
        body.text.startswith("nothing") or "train" in body.text
        for body in visitor.page.select(".doc .body")
    )
    with statements(engine) as told:
        visitor.open("/q/1")
    assert not [each for each in told if "item.text, item.html" in each]
    assert len(item_queries._parts) <= item_queries.MOST_CACHED_QUERIES


def test_a_whole_text_holds_no_elements_but_those_that_are_left(app, session):
    a_written_study(session, "preference", items=items_of())
    visitor = a_visitor(app)
    for link in visitor.page.select("a.more"):
        visitor.open(link["href"].removeprefix("/s/written"))
        body = visitor.page.select_one("article .body")
        assert {tag.name for tag in body.find_all()} <= TAGS
    assert QUERY not in visitor.text  # of no topic, since the address is of none


def test_previews_and_public_pages_lead_to_whole_texts_too(app, session, desk):
    ada = accounts.find_researcher(session, "Ada")
    session.rollback()
    study = a_written_study(session, "preference", researcher=ada)
    desk.open("/research/studies/written/preview/A/question/1")
    address = desk.page.select_one("a.more")["href"]
    assert address.startswith("/research/studies/written/preview/")
    assert "<article" in desk.client.get(address).text
    for _ in range(3):
        visitor = a_visitor(app)
        visitor.submit("/q/1", preferred="left")
        visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study, "Ada")
    publications.publish(session, study, "Ada", Details("A title", "Lovelace, Ada", ""))
    client = app.test_client()
    address = re.search('href="(/studies/written/texts/[^"]+)"', client.get(TRY).text)[1]
    assert "<article" in client.get(address).text
    assert client.get(f"{address[:-9]}AAAA.html").status_code == 404
