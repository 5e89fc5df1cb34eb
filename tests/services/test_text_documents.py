"""Documents with title, URL, snippet, text and HTML: taken in, stored, digested, handed on."""

import json

import pytest

from survey.core.collections.items import LATER_OF_ITEMS, LATER_OF_TOPICS, Item, Topic, items_digest
from survey.db import item_queries
from survey.db.models import StoredItem
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.collections import items as collection
from survey.services.exchange.bundle_import import import_bundle
from survey.services.exchange.bundle_reader import read_bundle
from survey.services.studies import lifecycle
from tests.builders import a_plan
from tests.services.exchange.changes import rows_of, steps_of
from tests.services.exchange.conftest import handed_out

DOCUMENT = Item(
    document="d1",
    title="=Trains",  # which spreadsheets would run
    url="https://rail.example/timetables?from=a&to=b",
    snippet="Six times a day.\nSeats are booked.",
    text="All of it. " * 18_000,
    html="<p>All <b>of</b> it</p>",
    alt="the page as a picture",
    lang="en-GB",
)
TOPIC = Topic("t1", text="trains", description="When?", narrative="A timetable.", lang="en")


def read_items(rows, name="items.jsonl", **needed):
    intake = collection.Intake()
    content = "\n".join(json.dumps(row) for row in rows).encode()
    items = collection.read_items(content, name, intake, collection.Needed(**needed))
    return items, intake


@pytest.fixture
def study(session):
    """A draft with a document that has all texts, and one of before there were these."""
    study = lifecycle.create_study(session, "of-texts", a_plan())
    items = [DOCUMENT, Item("d2", text="of before")]
    collection.take_in(session, study, {}, items, "Ada", topics=[TOPIC])
    return study


def test_all_columns_of_a_table_are_read(tmp_path):
    row = {**DOCUMENT._asdict(), "text": "x" * 200_000, "score": 3}
    row = {name: cell for name, cell in row.items() if cell is not None}
    items, intake = read_items([row])
    assert items == [DOCUMENT._replace(text="x" * 200_000)]
    assert intake.items_report.columns_not_read == ["score"]
    cells = [f'"{row[name]}"' for name in ("document", "title", "url", "snippet", "text", "lang")]
    table = f"Document;TITLE;url;snippet;Text;lang\r\n{';'.join(cells)}\r\n"
    [item] = collection.read_items(table.encode("utf-8-sig"), "items.csv", collection.Intake())
    assert item == DOCUMENT._replace(text="x" * 200_000, html=None, alt=None)


def test_all_columns_of_topics_are_read():
    content = "qid\tquery\tdescription\tnarrative\tlang\nt1\ttrains\tWhen?\tA timetable.\ten\n"
    assert collection.read_topics(content.encode(), "t.tsv", collection.Intake()) == [TOPIC]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"title": "x" * 501}, "column title: .* 501 characters are too many; 500 are allowed"),
        ({"url": "x" * 2_001}, "column url: .* 2,001 characters are too many; 2,000 are allowed"),
        ({"snippet": "x" * 2_001}, "column snippet: .*; 2,000 are allowed; `--cut-texts` cuts"),
        ({"text": "x" * 200_001}, "column text: .* 200,001 characters are too many; 200,000"),
        ({"html": "<p>" + "x" * 3_000_000}, "column html: .* 3,000,003 characters are too many"),
        ({"text": "x", "lang": "Greek!"}, "column lang: 'Greek!' found; the tag of a language"),
        ({"url": "https://rail.example"}, "column file: nothing found; a file or a text is needed"),
        ({"html": "<script>x</script>"}, "column file: nothing found; a file or a text is needed"),
    ],
)
def test_a_cell_that_cannot_be_taken_is_named_by_row_and_column(row, message):
    with pytest.raises(SurveyError, match=rf"items\.jsonl, row 2, {message}"):
        read_items([{"document": "d1", "text": "x"}, {"document": "d2", **row}])


def test_longer_texts_are_cut_where_that_is_asked_for():
    row = {"document": "d1", "title": "t" * 600, "html": "<p>" + "x" * 300_000 + "</p>"}
    [item], intake = read_items([row], cut_texts=True)
    assert (len(item.title), item.html) == (500, "<p>" + "x" * 199_997 + "</p>")
    [warning] = intake.warnings
    assert warning.text == "items.jsonl: 2 texts were cut at the longest that is allowed " + (
        "(first: row 1)"
    )


def test_html_is_reduced_before_it_is_stored_and_the_report_counts_what_it_lost(session):
    study = lifecycle.create_study(session, "of-html", a_plan())
    rows = [
        {"document": "d1", "html": "<script>steal()</script><p onclick=x>a <a href=/b>b</a></p>"},
        {"document": "d2", "html": "<img src=a><img src=b>" + "<a href=/c>c</a>" * 1_500},
    ]
    items, intake = read_items(rows, "page.html.jsonl")
    collection.take_in(session, study, {}, items, "Ada", intake=intake)
    assert "page.html.jsonl: 1,501 links became text, 2 pictures were left out." in (
        intake.items_report.sentence()
    )
    stored = {item.document: item.html for item in item_queries.items_of(session, study.id)}
    assert stored == {"d1": "<p>a b</p>", "d2": "c" * 1_500}
    only_reduced = [Item("d1", html="<p>a b</p>"), Item("d2", html="c" * 1_500)]
    assert study.items_digest == items_digest(only_reduced, [])


def test_a_column_that_is_empty_everywhere_does_not_change_the_digest():
    # Computed by the version before there were these columns.
    of_before = "3a5567db7281c95f12460d2add2765450f36b420db70505c8c5309d127dfb5b1"
    items = [Item("d1", sha256="a", text="words"), Item("d2", alt="b")]
    topics = [Topic("t", text="x", cluster_type="y")]
    assert items_digest(items, topics) == of_before


@pytest.mark.parametrize("name", LATER_OF_ITEMS)
def test_every_text_of_an_item_is_in_the_digest(name):
    items = [Item("d1", text="x"), Item("d2", text="y")]
    digests = {
        items_digest(items, []),
        items_digest([items[0]._replace(**{name: "z"}), items[1]], []),
        items_digest([items[0], items[1]._replace(**{name: "z"})], []),
    }
    assert len(digests) == 3


@pytest.mark.parametrize("name", LATER_OF_TOPICS)
def test_every_text_of_a_topic_is_in_the_digest(name):
    topic = Topic("t", text="x")
    assert items_digest([], [topic]) != items_digest([], [topic._replace(**{name: "z"})])


def test_a_bundle_holds_all_texts_and_an_import_has_them(session, study):
    ada, _ = accounts.add_researcher(session, "Ada")
    session.commit()
    lifecycle.open_study(session, study, anyway="nothing is shown")
    files = handed_out(session, study)
    assert [row["title"] for row in rows_of(files, "items.csv")] == ["'=Trains", ""]
    [topic] = rows_of(files, "topics.csv")
    assert (topic["description"], topic["lang"]) == ("When?", "en")
    of_items = [row for row in rows_of(files, "codebook.csv") if row["file"] == "items.csv"]
    assert {*LATER_OF_ITEMS} < {row["column"] for row in of_items}
    assert all(row["meaning"] for row in of_items)
    assert any("digest" in step for step in steps_of(files))
    content, _ = read_bundle(files)
    assert content.items[0] == DOCUMENT
    assert [*content.topics] == [TOPIC]
    session.rollback()  # which only read
    imported = import_bundle(session, files, "z", "again", ada)
    assert collection.items_and_topics(session, imported) == collection.items_and_topics(
        session, study
    )
    assert handed_out(session, imported)["items.csv"] == files["items.csv"]


def test_a_copy_has_all_texts_under_other_addresses(session, study):
    copy = lifecycle.create_study(session, "a-copy", a_plan())
    item_queries.copy_items(session, study.id, copy.id)
    session.commit()
    assert collection.digest_of(session, copy.id) == study.items_digest
    names = [row.name for row in session.query(StoredItem)]
    assert len({*names}) == len(names) == 4
