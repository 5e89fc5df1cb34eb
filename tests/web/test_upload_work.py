"""What an upload may make the server do, however few bytes it has: refused before it is done."""

import gzip
import io
import zipfile

import pytest
from sqlalchemy import func, select

from survey.core import given_tables
from survey.db.models import StoredItem, StoredPicture
from survey.services import accounts
from survey.services.collections import item_files
from survey.services.collections import items as collection
from survey.services.studies import lifecycle
from tests.builders import a_plan
from tests.databases import ON_SQLITE
from tests.pictured import a_png_of
from tests.web.desk import STUDY, Desk

pytestmark = ON_SQLITE
ITEMS = f"{STUDY}/items"
LARGE = a_png_of(10_000, 5_000)  # the header of 50 million pixels; no decoder gets further


@pytest.fixture
def desk(app, session):
    desk = Desk(app, session)
    study = lifecycle.create_study(session, "a-study", a_plan())
    accounts.share(session, study, accounts.find_researcher(session, desk.name), "owner")
    session.commit()
    desk.open(ITEMS)
    return desk


@pytest.fixture
def decoded(monkeypatch):
    """The sizes of files that are decoded."""
    sizes = []
    make_picture = collection.make_picture

    def counted(content):
        sizes.append(len(content))
        return make_picture(content)

    monkeypatch.setattr(collection, "make_picture", counted)
    return sizes


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def sent(desk, session, **files):
    """Send files; return the text of the page and how many items and pictures are stored."""
    named = [(io.BytesIO(content), name.replace("_", ".")) for name, content in files.items()]
    desk.send(ITEMS, files={"files": named})
    stored = [
        session.scalar(select(func.count()).select_from(table))
        for table in (StoredItem, StoredPicture)
    ]
    return desk.text, stored


def test_many_large_pictures_in_a_small_zip_are_refused_undecoded(desk, session, decoded):
    content = zipped({f"d{number}.png": LARGE for number in range(60)})
    assert len(content) < 37_000
    text, stored = sent(desk, session, a_zip=content)
    assert "The pictures have 3,000 million pixels; 1,000 million are allowed" in text
    assert "Nothing was taken" in text
    assert (stored, decoded) == ([0, 0], [])


def test_as_many_pixels_as_are_allowed_are_decoded(desk, session, decoded):
    text, _ = sent(desk, session, a_zip=zipped({f"d{n}.png": LARGE for n in range(20)}))
    assert "million pixels; " not in text
    assert decoded == [len(LARGE)] * 20


def test_a_picture_counts_as_often_as_rows_name_it(desk, session, decoded):
    rows = "".join(f"d{number},a.png\n" for number in range(21))
    files = {"a.png": LARGE, "items.csv": "document,file\n" + rows}
    text, stored = sent(desk, session, a_zip=zipped(files))
    assert "The pictures have 1,050 million pixels" in text
    assert (stored, decoded) == ([0, 0], [])


def test_pictures_of_topics_count_too(desk, session, decoded):
    rows = "".join(f"t{number},a.png\n" for number in range(21))
    files = {"a.png": LARGE, "items.csv": "document,text\nd,words\n", "topics.csv": "topic,image\n"}
    text, stored = sent(desk, session, a_zip=zipped(files | {"topics.csv": "topic,image\n" + rows}))
    assert "The pictures have 1,050 million pixels" in text
    assert (stored, decoded) == ([0, 0], [])


def test_more_pictures_than_there_is_time_for_are_refused(desk, session, decoded):
    rows = "".join(f"d{number},a.png\n" for number in range(2_001))
    files = {"a.png": a_png_of(40, 30), "items.csv": "document,file\n" + rows}
    text, stored = sent(desk, session, a_zip=zipped(files))
    assert "2,001 pictures are named; 2,000 are allowed in one upload" in text
    assert (stored, decoded) == ([0, 0], [])


def test_pictures_that_unpack_to_too_many_bytes_are_refused(desk, session, decoded, monkeypatch):
    monkeypatch.setattr(item_files, "MOST_UNPACKED", 3_000_000)
    files = {f"d{number}.png": a_png_of(40, 30) + bytes(1_000_000) for number in range(4)}
    content = zipped(files)
    assert len(content) < 10_000
    text, stored = sent(desk, session, a_zip=content)
    assert "unpack to more than 3 million bytes" in text
    assert (stored, decoded) == ([0, 0], [])


@pytest.mark.parametrize("name", ["items_csv", "topics_csv", "features_csv"])
def test_a_table_that_unpacks_to_too_many_bytes_is_refused(desk, session, monkeypatch, name):
    monkeypatch.setattr(given_tables, "LARGEST_TABLE", 100_000)
    monkeypatch.setattr("survey.core.collections.vectors.LARGEST_TABLE", 100_000)
    heading = {"items_csv": "document,text\nd,", "topics_csv": "topic,text\nt,"}
    content = gzip.compress(heading.get(name, "document,x\nd,").encode() + b"1" * 200_000)
    items = {} if name == "items_csv" else {"items_csv": b"document,text\nd,words\n"}
    text, _ = sent(desk, session, **{name: content}, **items)
    assert "unpacks to more than 100,000 bytes; no more are allowed" in text
