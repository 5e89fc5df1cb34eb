"""A small open study whose participants say which of two lists is better."""

from functools import partial

from survey.core.collections.items import Item, Topic
from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from survey.services.studies.plans import KINDS, Sources, TextFile, from_trec, parse_plan
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor
from tests.databases import copied_later
from tests.labelled import a_shaded_picture

PLAN = {
    "kind": "preference",
    "title": "Which results are better?",
    "asked_by": "Ada",
    "purpose": "To learn which of two lists people like in {questions} questions.",
    "consent": "I agree.",
    "scenario": "There are two lists.",
    "question_text": "Which list would you rather get?",
    "contact": "ada@example.org",
    "measures": ["AP", "RR"],
    "shuffle_questions": False,
    "practice": False,
}
DOCUMENTS = [f"{colour}-{number}" for colour in ("red", "green", "blue") for number in range(4)]
RUNS, PREFIX = ("alpha", "beta"), ""  # of documents' ids
RELEVANT = ("red-0", "red-1", "red-2")
# AP prefers the second list, whose others come early; RR the first, which begins with one.
LATE = ["red-0", *DOCUMENTS[4:], "red-1", "red-2", "red-3"]
EARLY = ["green-0", "red-0", "red-1", "red-2", "red-3", *DOCUMENTS[5:]]
ORDERS = {  # of each topic, by run: either run is favoured twice by either measure
    "1": {"alpha": LATE, "beta": EARLY},
    "2": {"alpha": EARLY, "beta": LATE},
    "3": {"alpha": LATE, "beta": EARLY},
    "4": {"alpha": EARLY, "beta": LATE},
    "5": {"alpha": [*RELEVANT, *DOCUMENTS[3:]], "beta": DOCUMENTS[::-1]},
    "6": {"alpha": DOCUMENTS, "beta": DOCUMENTS},
}
TOPICS = [Topic(topic, text=f"Something red, {topic}") for topic in ORDERS]


def text_file(name, lines):
    return TextFile(name, "".join(f"{line}\n" for line in lines), "0" * 64)


def a_qrels():
    return text_file("qrels.txt", [f"{topic} 0 {each} 1" for topic in ORDERS for each in RELEVANT])


def a_run(name):
    lines = [
        f"{topic} Q0 {document} {rank} {12 - rank} {name}"
        for topic, orders in ORDERS.items()
        for rank, document in enumerate(orders[name], 1)
    ]
    return text_file(f"{name}.txt", lines)


def as_pairs(lists, changes):
    """Return the fields of a plan that compares these lists."""
    return KINDS["preference"].begin(Sources(lists=lists), changes)


def some_lists():
    some = [a_run(name) for name in RUNS]
    return from_trec(a_qrels(), some, collection_size="12", missing_last=True, paired=True)


def a_preference_plan(**changes):
    values = {**PLAN, **changes}
    return parse_plan({**values, **as_pairs(some_lists(), values), **changes})


@copied_later
def a_preference_study(session, slug="preferred", researcher=None, texts=None, **changes):
    """Open a study of the pairs above; where the plan shows items, with pictures or ``texts``."""
    plan = a_preference_plan(**changes)
    study = lifecycle.create_owned_study(session, researcher, slug, plan, Recruitment())
    if plan.show_items:
        files = {
            f"{each}.png": partial(a_shaded_picture, each.split("-")[0], each) for each in DOCUMENTS
        }
        items = [Item(PREFIX + each, f"{each}.png") for each in DOCUMENTS]
        if texts is not None:
            files, items = {}, [Item(each, text=text) for each, text in texts.items()]
        topics = TOPICS if plan.language == "en" else []
        collection.take_in(session, study, files, items, COMMAND_LINE, topics=topics)
    lifecycle.open_study(session, study, anyway="tests may show nothing")
    session.rollback()
    return study


def a_participant(app, slug="preferred"):
    visitor = Visitor(app.test_client(), slug)
    visitor.go("/q/1")
    return visitor


def sides_on(page):
    """The positions that the page shows, from left to right."""
    return [tuple(int(rank.text) for rank in side.select(".rank")) for side in page.select(".side")]


def preferred(app, session):
    """A closed study with reasons, strengths and satisfaction; one person took part."""
    study = a_preference_study(
        session, ask_strength=True, ask_satisfaction=True, reason_question="Why?"
    )
    visitor = a_participant(app)
    for position, answer in enumerate(["left", "right", "equal", "neither", "left"], 1):
        chosen = {"strength": "2", "satisfaction_left": "4", "satisfaction_right": "1"}
        visitor.insist(f"/q/{position}", preferred=answer, reason="=so", **chosen)
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    return study
