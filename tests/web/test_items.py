"""Pictures and topics in the browser: taken in with and without scripts, shown, removed."""

import io
import zipfile

import pytest

from survey.services import accounts
from survey.services.collections import items as collection
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle import stream_bundle
from survey.services.studies import lifecycle
from tests.builders import a_plan
from tests.databases import ON_SQLITE
from tests.pictured import a_pictured_study
from tests.services.exchange.changes import unzipped
from tests.services.test_items import a_picture
from tests.web.desk import STUDY, Desk

ITEMS = f"{STUDY}/items"


@pytest.fixture
def desk(app, session):
    return Desk(app, session)


@pytest.fixture
def study(session, desk):
    study = lifecycle.create_study(session, "a-study", a_plan())
    accounts.share(session, study, accounts.find_researcher(session, desk.name), "owner")
    session.commit()
    return study


def uploaded(**files):
    return [(io.BytesIO(content), name.replace("_", ".")) for name, content in files.items()]


def a_zip(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"photos/{name.replace('_', '.')}", content)
    return stream.getvalue()


@ON_SQLITE
def test_pictures_are_taken_without_scripts_and_refusals_named(desk, session, study):
    desk.open(f"{STUDY}/plan")
    assert desk.page.select_one(f"a[href='{ITEMS}']")
    desk.open(ITEMS)
    assert "no pictures or texts of documents yet" in desk.text
    desk.send(ITEMS)
    assert "Choose some files first" in desk.text
    files = uploaded(d1_png=a_picture(), d2_txt=b"words", d3_png=a_picture())
    desk.send(ITEMS, files={"files": files})
    assert "Taken: 2 items" in desk.text
    assert "d2.txt : this is no picture that can be read" in desk.text
    assert "d3.png: the same picture as d1" in desk.text
    assert "d1.png: it is nearly one colour" in desk.text
    assert "2 items with 1 different picture," in desk.text
    image = desk.page.select_one(".pictures img")["src"]
    answer = desk.client.get(image)
    assert (answer.status_code, answer.mimetype) == (200, "image/webp")
    desk.send(f"{ITEMS}/remove")
    assert "no pictures or texts of documents yet" in desk.text
    assert desk.client.get(image).status_code == 404


@ON_SQLITE
def test_a_zip_brings_items_topics_and_texts(desk, session, study):
    table = b"document,file,text,alt\nd1,d1.png,,red\nd2,,words,\n"
    topics = b"topic,text,image,cluster_type\nt1,red things,d1,\n"
    content = a_zip(d1_png=a_picture(), items_csv=table, topics_csv=topics)
    desk.open(ITEMS)
    desk.send(ITEMS, files={"files": uploaded(all_zip=content)})
    assert "Taken: 2 items , 1 topic" in desk.text.replace("items,", "items ,")
    assert "t1 : red things (picture: d1)" in desk.text
    desk.send(ITEMS, files={"files": uploaded(all_zip=b"words")})
    assert "all.zip is no zip that can be read" in desk.text


@ON_SQLITE
def test_a_script_sends_some_files_at_a_time_and_gets_json(desk, session, study):
    table = b"document,file,text\nd1,a.png,\nd2,b.png,\nd3,gone.png,\nd4,,a text\n"
    desk.open(ITEMS)
    token = desk.page.select_one("[name=csrf_token]")["value"]
    answers = []
    for name, others in (("a.png", {"elsewhere": "b.png"}), ("b.png", {"later": "1"})):
        files = [(io.BytesIO(a_picture()), name), (io.BytesIO(table), "items.csv")]
        answer = desk.client.post(
            ITEMS,
            data={"csrf_token": token, "files": files} | others,
            headers={"Accept": "application/json"},
        )
        answers.append(answer.get_json())
    assert [answer["items"] for answer in answers] == [2, 1]
    assert answers[0]["refused"] == ["gone.png: there is no such file"]
    assert answers[1]["refused"] == []
    assert answers[1]["repeated"] == ["b.png: the same picture as d1"]
    seen = "it is nearly one colour, so people may see nothing in it"
    assert [answer["warnings"] for answer in answers] == [[f"a.png: {seen}"], [f"b.png: {seen}"]]
    assert collection.items_summary(session, study)["items"] == 3


@ON_SQLITE
def test_an_open_study_shows_its_pictures_and_takes_no_more(desk, app, session, study):
    desk.open(ITEMS)
    desk.send(ITEMS, files={"files": uploaded(d1_png=a_picture())})
    session.expire_all()
    lifecycle.open_study(session, study)
    session.rollback()
    desk.open(ITEMS)
    assert "1 item with 1 different picture" in desk.text
    assert not desk.page.select("input[type=file]")
    image = desk.page.select_one(".pictures img")["src"]
    assert app.test_client().get(image).status_code in (302, 303, 401)
    other = Desk(app, session, "Eve")
    assert other.client.get(image).status_code == 404


@ON_SQLITE
def test_a_copy_of_a_study_whose_pictures_are_not_here_is_said_to_lack_them(session, desk):
    study = a_pictured_study(session, text="words")
    lifecycle.close_study(session, study)
    bundle = unzipped(b"".join(stream_bundle(session, study)))
    ada = accounts.find_researcher(session, "Ada")
    imported = bundle_import.import_bundle(session, bundle, "out.zip", "again", ada)
    copy = lifecycle.copy_study(session, imported, "mine", ada)
    session.rollback()
    said = [each.text for each in lifecycle.to_mend(lifecycle.check_study(session, copy))]
    assert "40 pictures are not here; add the same files again under “Pictures and topics”" in said
    session.rollback()
    desk.open("/research/studies/mine/items")
    assert "40 pictures are not here" in desk.text
    assert not desk.page.select(".pictures img")
