"""The first page shows some pictures of the collection, and its files are light and kept."""

import gzip
import re

import pytest

from survey.services.collections.items import ENTRY_BYTES, ENTRY_PICTURES, ENTRY_ROW
from tests.builders import Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.pictured import a_pictured_study


def mosaic(visitor):
    """The addresses of the pictures on the first page."""
    visitor.open()
    return [image["src"] for image in visitor.page.select(".mosaic img")]


@ON_BOTH
def test_pictures_are_the_same_for_all_in_whole_rows_and_small(app, session):
    a_pictured_study(session)
    addresses = mosaic(Visitor(app.test_client(), "pictured"))
    assert addresses == mosaic(Visitor(app.test_client(), "pictured"))
    assert ENTRY_ROW <= len(addresses) <= ENTRY_PICTURES
    assert len(addresses) % ENTRY_ROW == 0
    contents = [app.test_client().get(address) for address in addresses]
    assert {answer.status_code for answer in contents} == {200}
    assert sum(len(answer.data) for answer in contents) <= ENTRY_BYTES
    assert all("/pictures/small/" in address for address in addresses)


@ON_SQLITE
def test_other_pictures_and_larger_ones_are_for_participants(app, session):
    a_pictured_study(session)
    stranger = app.test_client()
    shown = mosaic(Visitor(stranger, "pictured"))
    assert stranger.get(shown[0].replace("/small/", "/large/")).status_code == 404
    participant = Visitor(app.test_client(), "pictured")
    participant.start()
    seen = {image["src"] for image in participant.page.select(".results img")} - {*shown}
    assert seen
    assert {stranger.get(address).status_code for address in seen} == {404}


@ON_SQLITE
def test_numbers_have_a_drawing_that_tells_positions(client, session):
    an_open_study(session)
    visitor = Visitor(client)
    assert mosaic(visitor) == []
    drawn = visitor.page.select_one(".art.drawn")
    assert drawn["aria-hidden"] == "true"
    matches = [use["href"] for use in drawn.select("use")].count("#match")
    assert matches == len(drawn.select("text:not(.of-list)")) == 15


@ON_SQLITE
def test_a_style_sheet_names_its_fonts_by_their_content(client):
    page = client.get("/")
    sheet = re.search(r"/static/tokens\.\w+\.css", page.text)[0]
    assert "font-src 'self'" in page.headers["Content-Security-Policy"]
    fonts = re.findall(r"url\(([^)]+)\)", client.get(sheet).text)
    assert len(fonts) == 2
    for font in fonts:
        answer = client.get(f"/static/{font}")
        assert (answer.status_code, answer.mimetype) == (200, "font/woff2")
        assert "immutable" in answer.headers["Cache-Control"]
        assert "Content-Encoding" not in answer.headers


@ON_SQLITE
@pytest.mark.parametrize("encoding", ["gzip", "gzip, br", "identity", ""])
def test_texts_are_compressed_for_browsers_that_say_so(client, encoding):
    address = re.search(r"/static/survey\.\w+\.css", client.get("/").text)[0]
    plain = client.get(address)
    answer = client.get(address, headers={"Accept-Encoding": encoding})
    assert plain.headers["Vary"] == answer.headers["Vary"] == "Accept-Encoding"
    is_compressed = encoding.startswith("gzip")
    assert (answer.headers.get("Content-Encoding") == "gzip") is is_compressed
    content = gzip.decompress(answer.data) if is_compressed else answer.data
    assert content == plain.data
    again = {"Accept-Encoding": encoding, "If-None-Match": answer.headers["ETag"]}
    assert client.get(address, headers=again).status_code == 304
