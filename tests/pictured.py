"""A small open study whose lists are pictures."""

import random
from hashlib import sha256

from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from survey.services.studies.plans import (
    TextFile,
    as_fields,
    default_contact,
    from_trec,
    preset_plan,
)
from survey.services.studies.recruitment import Recruitment
from tests.services.test_items import a_picture

COLOURS = ("red", "green", "blue", "orange", "purple", "brown", "pink", "olive", "navy", "teal")
DOCUMENTS = tuple(f"holiday-{number}" for number in range(40))
RUNS = ("alphanet", "betanet", "gammanet")
TOPIC_WITHOUT_TEXT = "mountain"
SEARCHED = {"sea": (0, 4, 9), "mountain": (2, 11, 17)}


def a_file(name, text):
    return TextFile(name, text, sha256(text.encode()).hexdigest())


def a_pictured_study(session, slug="pictured", researcher=None, text=None, items=(), **changes):
    """Open a study of three runs of 40 documents; participants see ten of each.

    ``text``: of each document, beside its picture. ``items``: more of the collection.
    """
    chance = random.Random(5)
    qrels = "".join(
        f"{topic} 0 {DOCUMENTS[index]} 1\n" for topic, found in SEARCHED.items() for index in found
    )
    runs = []
    for run in RUNS:
        rows = []
        for topic in SEARCHED:
            order = chance.sample(DOCUMENTS, len(DOCUMENTS))
            rows += [f"{topic} Q0 {each} 0 {100 - n} {run}\n" for n, each in enumerate(order)]
        runs.append(a_file(f"{run}.txt", "".join(rows)))
    lists = from_trec(a_file("qrels.txt", qrels), runs, collection_size="40")
    fields = {**as_fields(lists), **default_contact(), "asked_by": "us", "contact": "a@b.example"}
    plan = preset_plan("pictures", **fields | changes)
    study = lifecycle.create_owned_study(session, researcher, slug, plan, Recruitment())
    files = {
        f"{document}.png": lambda size=size: a_picture(
            COLOURS[size % len(COLOURS)], size=(40 + size, 30)
        )
        for size, document in enumerate(DOCUMENTS)
    }
    found = [each._replace(text=text) for each in collection.items_in(files)[0]] + [*items]
    topics = [collection.Topic("sea", text="the sea"), collection.Topic("mountain")]
    collection.take_in(session, study, files, found, COMMAND_LINE, topics=topics)
    lifecycle.open_study(session, study)
    return study
