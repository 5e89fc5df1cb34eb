"""Small open studies of each kind whose documents are web pages: title, URL, snippet, text."""

import json

from survey.core.collections.items import Topic
from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from survey.services.studies.plans import as_fields, from_trec, preset_plan
from survey.services.studies.recruitment import Recruitment
from tests.databases import copied_later
from tests.grouped import a_grouping_plan
from tests.labelled import a_labelling_plan
from tests.pictured import a_file
from tests.preferred import a_preference_plan, as_pairs

QUERY = "train Athens Thessaloniki"
LONG = "It runs along the coast, and nobody hurries there at noon. " * 40
PAGES = [
    {
        "title": "Athens to Thessaloniki by train: times and fares",
        "url": "https://rail.example/timetables/athens-thessaloniki",
        "snippet": "Direct trains leave ATHENS six times a day and reach Thessaloníki in about "
        "four hours. Seats can be booked 60 days ahead.",
        "text": LONG,
    },
    {
        "title": "Is the train or the bus faster to the north?",
        "url": "https://forum.example/travel/48213?sort=newest&page=2#answer-of-the-month-of-may",
        "text": f"{LONG}I took the train from Athens to Thessaloniki last month. {LONG}",
    },
    {
        "title": "Πόσο κάνει το τρένο για Θεσσαλονίκη; Τιμές, ώρες και όλα όσα πρέπει να ξέρετε "
        "πριν από το ταξίδι, με παραδείγματα και έναν χάρτη των σταθμών",
        "url": "https://θεσσαλονικη.example/τρενα",
        "snippet": "Το εισιτήριο κοστίζει από 23 ευρώ· το ταξίδι κρατά τέσσερις ώρες.",
        "lang": "el",
    },
    {
        "title": "القطار من أثينا إلى سالونيك",
        "url": "https://arabic.example/train",
        "snippet": "يغادر القطار Athens ست مرات في اليوم ويصل Thessaloniki بعد أربع ساعات.",
        "html": "<h2>المواعيد</h2><p>ست مرات في اليوم.</p>",
        "lang": "ar",
    },
    {"title": "A page without a text", "url": "https://empty.example/"},
    {"text": "Only words, as items had them before there were titles."},
    {
        "title": "Fares in a table",
        "html": "<p>All fares of the train.</p><table><tr><th>To</th><th>Fare</th></tr><tr>"
        '<td>Athens</td><td>23 €</td></tr></table><p onclick="steal()">See <a href="/x">more</a>.'
        "</p><script>steal()</script>",
    },
]
TOPIC = Topic(
    "t-51",
    text=QUERY,
    description="Find pages that say how to go from Athens to Thessaloniki by train.",
    narrative="A relevant page names times, prices or stations of the train. Pages about buses "
    "are not relevant.",
)
DOCUMENTS = [f"clueweb-{number}" for number in range(24)]
RUNS = ("indri-run", "terrier-run")


def items_of(pages=PAGES, **changes):
    """Items of all documents, read from a table: each has one of the pages in turn."""
    rows = [
        {"document": document, **pages[index % len(pages)], **changes}
        for index, document in enumerate(DOCUMENTS)
    ]
    content = "\n".join(map(json.dumps, rows)).encode()
    return collection.read_items(content, "items.jsonl", collection.Intake())


def runs_of(topics, names=RUNS):
    """Judgements and runs of ten and more documents; each run begins with another one."""
    qrels = "".join(f"{topic} 0 {document} 1\n" for topic in topics for document in DOCUMENTS[:4])
    runs = []
    for shift, name in enumerate(names):
        order = DOCUMENTS[shift:] + DOCUMENTS[:shift]
        lines = [
            f"{topic} Q0 {document} 0 {100 - rank} {name}\n"
            for topic in topics
            for rank, document in enumerate(order)
        ]
        runs.append(a_file(f"{name}.txt", "".join(lines)))
    return a_file("qrels.txt", qrels), runs


def plan_of(kind, **changes):
    topic = TOPIC.topic
    if kind == "labelling":
        return a_labelling_plan(topics=[topic], **changes)
    if kind == "grouping":
        return a_grouping_plan(topics={topic: DOCUMENTS[:12]}, **changes)
    if kind == "preference":
        lists = from_trec(*runs_of([topic]), collection_size="24", paired=True)
        shown = {"show_items": True, "show_positions": False, **changes}
        values = {**a_preference_plan().as_json(), "questions": 1, "measures": ["AP"], **shown}
        del values["own_lists"], values["own_marks"], values["provenance"]
        return a_preference_plan(**values | as_pairs(lists, values))
    names = [*RUNS, "lucene-run"]
    lists = from_trec(*runs_of([topic], names), collection_size="24")
    shown = {"mark_relevant": False, "show_positions": False, "practice": False, **changes}
    fields = {**as_fields(lists), "asked_by": "us", "contact": "a@b.example"}
    return preset_plan("pictures", **fields | shown)


@copied_later
def a_written_study(
    session, kind, slug="written", researcher=None, items=None, topic=TOPIC, **changes
):
    """Open a study of a kind with one topic and web pages as its documents."""
    plan = plan_of(kind, **changes)
    study = lifecycle.create_owned_study(session, researcher, slug, plan, Recruitment())
    items = items_of() if items is None else items
    collection.take_in(session, study, {}, items, COMMAND_LINE, topics=[topic])
    lifecycle.open_study(session, study, anyway="tests may show nothing")
    session.rollback()
    return study
