"""A small open study whose assessors sort pictures into groups."""

from functools import partial
from itertools import chain

from survey.core.collections.items import Item, Topic
from survey.core.kinds import plan_from_json
from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor
from tests.databases import copied_later
from tests.labelled import a_shaded_picture

COLOURS = ("red", "green", "blue")
FIRST_TOPIC = [f"{colour}-{number}" for colour in COLOURS for number in range(4)]
SECOND_TOPIC = [f"{colour}-{number}" for colour in COLOURS[:2] for number in range(3)]
PLAN = {
    "kind": "grouping",
    "title": "Which pictures belong together?",
    "asked_by": "Ada",
    "purpose": "To learn which groups {questions} topics have.",
    "consent": "I agree.",
    "scenario": "There are pictures.",
    "question_text": "Put what belongs together into a group.",
    "contact": "ada@example.org",
    "topics": {"5": FIRST_TOPIC, "7": SECOND_TOPIC},
    "shuffle_questions": False,
    "practice": False,
}
TOPICS = [
    Topic("5", text="Seen from near", cluster_type="colour"),
    Topic("7", text="Seen from far"),
]


def a_grouping_plan(**changes):
    return plan_from_json({**PLAN, **changes})


@copied_later
def a_grouping_study(
    session,
    slug="grouped",
    researcher=None,
    rename=lambda name: name,
    texts=None,
    image=None,
    **changes,
):
    """Open a study of two topics with pictures, or ``texts``, in three colours and in two.

    ``rename``: the ids of documents, files and topics to other ones; ``image``: of the topics.
    """
    named = {
        rename(topic): [rename(each) for each in documents]
        for topic, documents in PLAN["topics"].items()
    }
    plan = a_grouping_plan(**{"topics": named, **changes})
    study = lifecycle.create_owned_study(session, researcher, slug, plan, Recruitment())
    documents = sorted({each for _, some in plan.topics for each in some})
    originals = {rename(each): each for each in [*FIRST_TOPIC, *SECOND_TOPIC]}
    files = {
        f"{document}.png": partial(a_shaded_picture, original.split("-")[0], original)
        for document in documents
        for original in [originals.get(document, document)]
    }
    items = [Item(each, f"{each}.png") for each in documents]
    if texts is not None:
        files, items = {}, [Item(each, text=texts(each)) for each in documents]
    topics = [each._replace(topic=rename(each.topic), image=image) for each in TOPICS]
    topics = topics if plan.language == "en" else []
    collection.take_in(session, study, files, items, COMMAND_LINE, topics=topics)
    lifecycle.open_study(session, study, anyway="tests may show nothing")
    session.rollback()
    return study


class Assessor(Visitor):
    """A visitor who sorts pictures by what the page's addresses stand for."""

    def __init__(self, app, session, slug="grouped"):
        super().__init__(app.test_client(), slug)
        study = lifecycle.find_study(session, slug)
        self.shown = collection.shown(session, study)
        self.documents = {name: each for each, (name, _) in self.shown.documents.items()}
        session.rollback()

    def tiles(self, *documents):
        """The fields that select these documents on the page."""
        ticked = {document: [] for document in documents}
        for tile in self.page.select(".tile"):
            name = tile.select_one("img")["src"].rpartition("/")[2].removesuffix(".webp")
            if self.documents[name] in documents:
                ticked[self.documents[name]].append(tile.select_one("input")["value"])
        assert all(ticked.values())
        return {"document": [*chain.from_iterable(map(self.which, ticked.values()))]}

    def which(self, tiles):
        """Of the tiles of a document, those to select: two where it is shown twice."""
        return tiles

    def sort(self, path, groups):
        """Put documents into groups, name → documents ("" for unknown)."""
        self.open(path)
        for name, documents in groups.items():
            button = {"group": name, "go": "new"} if name else {"go": "put-0"}
            self.submit(path, **self.tiles(*documents), **button)
            assert self.status == 200, self.text

    def finish(self, path, groups):
        self.sort(path, groups)
        self.insist(path, go="done")


def by_colour(documents):
    return {
        colour: [each for each in documents if each.startswith(colour)]
        for colour in dict.fromkeys(each.split("-")[0] for each in documents)
    }


def warm_and_cold(documents):
    red = [each for each in documents if each.startswith("red")]
    return {"warm": red, "cold": [each for each in documents if each not in red]}


def grouped(app, session, third=True, **changes):
    """A closed study: two agree on one topic; a third settles the other."""
    study = a_grouping_study(session, "done", **changes)
    for first in (by_colour, warm_and_cold):
        assessor = Assessor(app, session, "done")
        assessor.go("/q/1")
        assessor.finish("/q/1", first(FIRST_TOPIC))
        assessor.finish("/q/2", by_colour(SECOND_TOPIC))
        assessor.submit("/review")
    if third:
        assessor = Assessor(app, session, "done")
        assessor.go("/q/1")
        assessor.finish("/q/1", by_colour(FIRST_TOPIC))
        assessor.submit("/q/1", go="done")
        assessor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    return study
