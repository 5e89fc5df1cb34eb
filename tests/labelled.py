"""A small open study whose annotators label pictures and texts."""

import io
import random
from functools import cache, partial

from PIL import Image

from survey.core.collections.items import Item, Topic
from survey.core.kinds import plan_from_json
from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor
from tests.databases import copied_later

PLAN = {
    "kind": "labelling",
    "title": "Which pictures match?",
    "asked_by": "Ada",
    "purpose": "To learn which pictures match {questions} queries.",
    "consent": "I agree.",
    "scenario": "There are pictures.",
    "question_text": "Mark every picture that shows the same.",
    "contact": "ada@example.org",
    "topics": ["like-red", "word"],
    "batch": 24,
    "participants": 7,
    "practice": False,
}
COLOURS = {"red": 6, "green": 40, "blue": 24}
DOCUMENTS = [f"{colour}-{number}" for colour, count in COLOURS.items() for number in range(count)]
TOPICS = [
    Topic("like-red", image="red-0"),
    Topic("word", text="Meadow"),
    Topic("elsewhere", image="elsewhere.png"),
]


@cache
def a_shaded_picture(colour, seed, size=(40, 30)):
    """A picture of about this colour, with spots, unlike any other."""
    chance = random.Random(seed)
    picture = Image.new("RGB", size, colour)
    for _ in range(30):
        spot = tuple(chance.randrange(90, 150) for _ in range(3))
        picture.putpixel((chance.randrange(size[0]), chance.randrange(size[1])), spot)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def a_labelling_plan(**changes):
    return plan_from_json({**PLAN, **changes})


@copied_later
def a_labelling_study(
    session,
    slug="labelled",
    researcher=None,
    texts=(),
    rename=lambda name: name,
    meadow="a meadow, seen from afar",
    classes=None,
    **changes,
):
    """Open a study of 70 pictures, of which six are red; the words of three green say meadow.

    ``rename``: the ids of documents, files and topics to other ones; ``meadow``: these words;
    ``classes``: the keywords of documents.
    """
    topics = [rename(topic) for topic in changes.pop("topics", PLAN["topics"])]
    plan = a_labelling_plan(topics=topics, **changes)
    study = lifecycle.create_owned_study(session, researcher, slug, plan, Recruitment())
    files = {
        f"{rename(document)}.png": partial(a_shaded_picture, document.split("-")[0], document)
        for document in DOCUMENTS
    }
    files[rename("elsewhere.png")] = partial(a_shaded_picture, "blue", "elsewhere")
    words = {f"green-{number}": meadow for number in (3, 8, 30)}
    classes = classes or {}
    items = [
        Item(rename(each), f"{rename(each)}.png", text=words.get(each), keywords=classes.get(each))
        for each in DOCUMENTS
    ]
    searched = [
        each._replace(topic=rename(each.topic), image=each.image and rename(each.image))
        for each in TOPICS
    ]
    collection.take_in(session, study, files, [*items, *texts], COMMAND_LINE, topics=searched)
    lifecycle.open_study(session, study, anyway="tests may show nothing")
    session.rollback()
    return study


def ticks(*numbers):
    return {"document": [str(number) for number in numbers], "grade": "1"}


ALL_IN_VIEW = " ".join(map(str, range(1, PLAN["batch"] + 1)))


def labelled(app, session, people=3, **changes):
    """A closed study whose people have marked the first two to four of each query.

    Their browsers run scripts: the form says that the whole batch was in view.
    """
    study = a_labelling_study(session, "done", **changes)
    for person in range(people):
        visitor = Visitor(app.test_client(), "done")
        visitor.go("/q/1")
        for position in (1, 2):
            visitor.submit(
                f"/q/{position}", go="refine", seen=ALL_IN_VIEW, **ticks(*range(1, person + 3))
            )
            visitor.insist(f"/q/{position}", go="done", seen=ALL_IN_VIEW, **ticks(1))
        visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    return study
