"""The pictures of a question: which are shown, to whom, and what their addresses tell."""

import io
import re

import pytest
from PIL import Image

from survey.core.collections.items import Item, Topic
from survey.services.collections import items
from survey.services.studies import lifecycle
from survey.services.studies.plans import DEFAULT_CONTACT, preset_plan
from tests.builders import Visitor
from tests.databases import ON_SQLITE
from tests.services.test_items import a_picture
from tests.web.test_provenance import NAMES, SECRETS

COLOURS = {"docalpha": "red", "docbeta": "green", "docgamma": "blue", "sought": "white"}


def a_study(session, slug):
    lists = [[(1, 9), (2, 8), (3, 4)]] * 2
    plan = preset_plan(
        "pictures",
        **{"questions": 2, "collection_size": 50, "own_lists": lists, "provenance": NAMES},
        **{"practice": False, "shuffle_letters": False, **DEFAULT_CONTACT},
    )
    study = lifecycle.create_study(session, slug, plan)
    files = {
        f"{name}.png": lambda colour=colour: a_picture(colour, size=(300, 200))
        for name, colour in COLOURS.items()
    }
    documents = [
        Item("docalpha", "docalpha.png", alt="something red"),
        Item("docbeta", "docbeta.png"),
        Item("docgamma", text="words of a text"),
    ]
    topics = [Topic("topicone", "white things", "sought.png"), Topic("topictwo")]
    items.take_in(session, study, files, documents, "Ada", topics=topics)
    lifecycle.open_study(session, study)
    return study


@pytest.fixture
def study(session):
    return a_study(session, "of-pictures")


@pytest.fixture
def visitor(client, study):
    visitor = Visitor(client, study.slug)
    visitor.go("/review")
    return visitor


def place_of(visitor, number):
    """The position at which this visitor is asked the study's question of that number."""
    for position in (1, 2):
        visitor.open(f"/q/{position}")
        if ("white things" in visitor.text) == (number == 1):
            return position
    raise AssertionError


def colour_of(response):
    with Image.open(io.BytesIO(response.data)) as image:
        pixel = image.convert("RGB").getpixel((10, 10))
        return max(COLOURS, key=lambda name: -distance(pixel, COLOURS[name])), image.size


def distance(pixel, colour):
    wanted = Image.new("RGB", (1, 1), colour).getpixel((0, 0))
    return sum(abs(one - other) for one, other in zip(pixel, wanted, strict=True))


@ON_SQLITE
def test_a_question_shows_what_was_searched_for_and_first_results_with_matches(visitor):
    place_of(visitor, 1)
    section = visitor.page.select_one(".pictures")
    searched, first, second = section.select("img")
    assert "white things" in section.select_one("figcaption").text
    assert [each["alt"] for each in (searched, first, second)] == [
        "what was searched for",
        "something red",
        "result 1 of list B",
    ]
    assert section.select("ol")[2].select_one(".words").text == "words of a text"
    # Only list A has a match at position 1, and its marks say so in words.
    assert [bool(each.select(".match")) for each in section.select("ol")] == [True, False, False]
    assert "match" in section.select_one(".match").text
    for image, name in ((searched, "sought"), (first, "docalpha"), (second, "docbeta")):
        small = visitor.client.get(image["src"])
        assert (small.status_code, small.mimetype) == (200, "image/webp")
        assert colour_of(small) == (name, (144, 96))
        assert small.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        large = visitor.client.get(image.parent["href"])
        assert colour_of(large) == (name, (300, 200))


@ON_SQLITE
def test_addresses_tell_neither_document_nor_topic_run_or_question(visitor, study, session):
    addresses = []
    for position in (1, 2):
        visitor.open(f"/q/{position}")
        html = str(visitor.page)
        assert not [word for word in (*SECRETS, "sought") if word in html]
        addresses += re.findall(r'src="(/s/[^"]+webp)"', html)
    codes = {address.split("/")[4] for address in addresses}
    assert len(codes) == 2, "one for each question"
    assert all(
        re.fullmatch(r"/s/of-pictures/pictures/[0-9a-f]{24}/(topic|[ABC]\d+)\.small\.webp", address)
        for address in addresses
    )
    other = a_study(session, "of-others")
    for address in addresses:
        elsewhere = address.replace(study.slug, other.slug)
        assert visitor.client.get(elsewhere).status_code == 404
    stranger = Visitor(visitor.client, other.slug)
    stranger.go("/q/1")
    for address in addresses:
        assert visitor.client.get(address.replace(study.slug, other.slug)).status_code == 404


@ON_SQLITE
def test_only_participants_get_a_picture_and_only_one_that_is_shown(visitor, app):
    place_of(visitor, 1)
    address = visitor.page.select_one(".results img")["src"]
    refused = app.test_client().get(address)
    assert refused.status_code == 404
    assert refused.headers["Cache-Control"] == "no-store"
    for wrong in ("A2", "A0", "D1", "C1", "A", "topics", "A١", "A1.5"):
        assert visitor.client.get(address.replace("A1", wrong)).status_code == 404, wrong
    assert visitor.client.get(address.replace("small", "huge")).status_code == 404


@ON_SQLITE
def test_a_study_of_runs_without_items_has_no_pictures(client, session):
    plan = preset_plan(
        "runs",
        **{"questions": 2, "collection_size": 50, "own_lists": [[(1, 9), (2, 8), (3, 4)]] * 2},
        **{"provenance": NAMES, "practice": False, **DEFAULT_CONTACT},
    )
    study = lifecycle.create_study(session, "of-lists", plan)
    lifecycle.open_study(session, study)
    visitor = Visitor(client, study.slug)
    visitor.go("/q/1")
    assert visitor.page.select(".pictures, img") == []
