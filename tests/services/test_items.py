"""What documents and topics stand for: taken in, refused by name, frozen, exported, deleted."""

import base64
import io
import zipfile

import pytest
from PIL import Image
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from survey.core.collections.items import Item, Topic, items_digest
from survey.core.collections.likeness import VECTOR_WIDTH
from survey.db import item_queries
from survey.db.models import StoredItem, StoredPicture, StoredTopic, StoredVector, Study
from survey.errors import NotAllowedError, SurveyError
from survey.services import accounts
from survey.services.collections import item_files
from survey.services.collections import items as collection
from survey.services.collections.pictures import PictureError, make_picture
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle import stream_bundle
from survey.services.exchange.input_files import BundleError
from survey.services.studies import lifecycle
from tests.builders import a_plan
from tests.pictured import a_png_of
from tests.services.exchange.changes import steps_of, unzipped, with_cell

WHO = "Ada"


def a_picture(colour="red", form="PNG", size=(40, 30), **options):
    """A picture of one colour, as a file."""
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, form, **options)
    return stream.getvalue()


def readers(**files):
    """Files in memory; ``a_png`` is the name a.png."""
    return {
        name.replace("_", "."): lambda content=content: content for name, content in files.items()
    }


def take(session, study, files, topics=None):
    intake = collection.Intake()
    items = collection.items_of_files(files, "photographs", intake)
    return collection.take_in(session, study, files, items, WHO, topics=topics, intake=intake)


@pytest.fixture
def study(session):
    return lifecycle.create_study(session, "of-pictures", a_plan())


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF"])
def test_a_picture_becomes_two_small_ones(form):
    picture = make_picture(a_picture(form=form, size=(1000, 500)))
    size = (1000, 500) if form == "PNG" else (640, 320)
    assert (picture.width, picture.height) == size
    small, larger = (Image.open(io.BytesIO(each)) for each in (picture.thumbnail, picture.larger))
    assert (small.format, small.size, larger.size) == ("WEBP", (144, 72), size)


def test_a_picture_is_turned_and_its_metadata_are_dropped():
    exif = Image.Exif()
    exif[274] = 6  # turned by a quarter
    exif[270] = "secret place"
    picture = make_picture(a_picture(form="JPEG", size=(400, 200), exif=exif))
    assert (picture.width, picture.height) == (200, 400)
    for content in (picture.thumbnail, picture.larger):
        assert b"secret" not in content
        assert not Image.open(io.BytesIO(content)).getexif()


def test_of_an_animation_the_first_frame_is_taken():
    stream = io.BytesIO()
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    frames[0].save(stream, "GIF", save_all=True, append_images=frames[1:])
    red, _, blue = Image.open(io.BytesIO(make_picture(stream.getvalue()).larger)).getpixel((5, 5))
    assert red > 200 > blue


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty; JPEG, PNG, WebP and GIF are allowed"),
        (b"only words", "this is no picture that can be read"),
        (b"<?xml version='1.0'?><svg xmlns='x'/>", "an SVG may hold scripts"),
        (a_picture()[:60], "the picture is damaged or cut off"),
        (a_picture(form="JPEG", size=(300, 300))[:500], "the picture is damaged or cut off"),
        (a_picture(form="BMP"), "this is no picture that can be read"),
        (a_png_of(60_000, 60_000), "more than 50,000,000 pixels found"),
        (a_png_of(9_000, 9_000), "9000 × 9000 pixels found; 50,000,000 are allowed"),
    ],
)
def test_what_is_no_picture_is_refused_with_a_reason(content, reason):
    with pytest.raises(PictureError, match="^" + reason):
        make_picture(content)


def test_good_pictures_of_a_folder_are_taken_and_the_others_named(session, study, tmp_path):
    files = {
        "good.png": a_picture(),
        "again.png": a_picture(),
        "other.jpg": a_picture("blue", "JPEG"),
        "good.jpg": a_picture("green", "JPEG"),
        "notes.txt": b"only words",
        "two words.png": a_picture("white"),
        "a\u200fb.png": a_picture("black"),
        "#1.png": a_picture("white"),
        ".hidden": b"",
    }
    folder = tmp_path / "photographs"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    intake = take(session, study, item_files.files_in_folder(folder))
    assert [tuple(each) for each in intake.refusals] == [
        (
            "#1.png",
            "an id begins with no #, with which comments begin in judgements and other files",
        ),
        ("a\u200fb.png", "it has a sign that cannot be seen (a<U+200F>b); take it out"),
        ("good.png", "good.jpg is the document good already"),
        ("two words.png", "ids in runs and judgements have no blanks"),
        ("notes.txt", "this is no picture that can be read; JPEG, PNG, WebP and GIF are allowed"),
    ]
    assert [each.document for each in item_queries.items_of(session, study.id)] == [
        *("again", "good", "other"),
    ]
    assert intake.repeated == []


def test_pictures_in_folders_of_classes_are_named_as_collect_names_them(tmp_path):
    for path in ("cat/1.png", "dog/1.png", "train/owl/1.png", "train/owl/2.png"):
        (tmp_path / "albums" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "albums" / path).write_bytes(a_picture())
    with collection.open_source(tmp_path / "albums", None) as source:
        assert source.items == [Item("cat-1", "cat/1.png"), Item("dog-1", "dog/1.png")]
        assert source.intake.refusals == [
            ("train/owl", "it is one folder too deep; give the folder train")
        ]
        assert source.intake.warnings == []  # before anything is taken


def test_a_folder_without_files_is_refused(tmp_path):
    (tmp_path / "albums/cat").mkdir(parents=True)
    with (
        pytest.raises(SurveyError, match=r"albums holds no file\.$"),
        collection.open_source(tmp_path / "albums", None),
    ):
        pass


def test_a_file_too_large_is_refused_before_it_is_read(session, study, tmp_path):
    folder = tmp_path / "photographs"
    folder.mkdir()
    with (folder / "large.png").open("wb") as file:
        file.truncate(10**10)
    intake = take(session, study, item_files.files_in_folder(folder))
    assert [tuple(each) for each in intake.refusals] == [
        ("large.png", "10,000,000,000 bytes found; 40,000,000 are allowed")
    ]


def test_equal_pictures_are_stored_once_and_said(session, study):
    intake = take(session, study, readers(a_png=a_picture(), b_png=a_picture()))
    assert [tuple(each) for each in intake.repeated] == [("b.png", "the same picture as a")]
    assert collection.items_summary(session, study)["pictures"] == 1
    first, second = item_queries.items_of(session, study.id)
    assert first.sha256 == second.sha256


def test_items_of_a_csv_have_texts_and_pictures_beside_it(session, study, tmp_path):
    (tmp_path / "one.png").write_bytes(a_picture())
    (tmp_path / "items.csv").write_text(
        "document,file,text,alt\nd1,one.png,,a red square\nd2,,some words,\nd3,gone.png,,\n"
    )
    (tmp_path / "topics.csv").write_text(
        "topic,text,image,cluster_type\nt1,squares,d1,colour\nt2,,one.png,\nt3,,gone.png,\n"
    )
    source = (tmp_path / "items.csv", tmp_path / "topics.csv")
    with collection.open_source(*source) as opened:
        rest = {"topics": opened.topics, "intake": opened.intake}
        intake = collection.take_in(session, study, opened.files, opened.items, WHO, **rest)
    assert [tuple(each) for each in intake.refusals] == [
        ("gone.png", "there is no such file"),
        ("topic t3", "'gone.png' is neither an item nor a picture: there is no such file"),
    ]
    first, second = item_queries.items_of(session, study.id)
    assert (first.alt, second.text, second.sha256) == ("a red square", "some words", None)
    assert item_queries.topics_of(session, study.id) == [
        Topic("t1", "squares", "d1", first.sha256, "colour"),
        Topic("t2", None, "one.png", first.sha256, None),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document,file\nd1,a.png\nd1,b.png\n", "row 3, column document: 'd1' found; row 2 has it"),
        ("document,file\nd 1,a.png\n", "row 2, column document: 'd 1' found; ids in runs and"),
        ("document,file\n#1,a.png\n", "row 2, column document: '#1' found; an id begins with no #"),
        ("document,text\nd1,\n", "row 2, column file: nothing found; a file or a text is needed"),
        ("file,doc\na.png,d1\n", r"items.csv: no column document\. Columns found: file, doc"),
        (f"document,alt,file\nd1,{'x' * 301},a\n", "301 characters are too many; 300 are allowed"),
    ],
)
def test_a_faulty_row_of_items_is_named(text, message):
    with pytest.raises(SurveyError, match=message):
        collection.read_items(text.encode(), "items.csv", collection.Intake())


def test_a_part_of_an_upload_of_which_nothing_is_needed_is_no_error():
    intake, needed = collection.Intake(), collection.Needed({"d9": "d9"})
    table = b"document,text\nd1,words\n"
    assert collection.read_items(table, "items.csv", intake, needed, is_whole=False) == []
    [refusal] = intake.refusals
    assert refusal.reason.startswith("none of its documents is in a question of the study")
    with pytest.raises(SurveyError, match="Nothing was changed"):
        collection.read_items(table, "items.csv", intake, needed)


def test_columns_of_items_may_be_in_any_order_and_are_named_where_they_are_not_read():
    intake = collection.Intake()
    table = b"Caption;FILE;Document\na square;a.png;d1\n"
    items = collection.read_items(table, "items.csv", intake)
    assert items == [Item("d1", "a.png")]
    [warned] = intake.warnings
    assert (warned.code, warned.of) == ("columns-not-read", "items.csv")
    assert warned.text == "items.csv: columns not read: Caption"


def test_a_table_of_items_is_known_in_any_case_and_systems_files_are_none():
    files = {
        "Items.csv": b"document,file\nd1,a.png\n",
        **{"a.png": a_picture(), "Thumbs.db": b"", "desktop.ini": b"", "__MACOSX/a.png": b""},
    }
    uploads = {name: io.BytesIO(content) for name, content in files.items()}
    with collection.open_uploads(uploads) as source:
        assert source.items == [Item("d1", "a.png")]
        assert sorted(source.files) == ["Items.csv", "a.png"]


def test_a_zip_is_taken_as_a_folder_is(session, study):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("photos/a.png", a_picture())
        archive.writestr("photos/b.png", a_picture("blue"))
        archive.writestr("__MACOSX/photos/a.png", b"")
    stream.seek(0)
    with item_files.files_in_zip(stream, "photos.zip", []) as files:
        assert take(session, study, files).items == 2
    with pytest.raises(SurveyError, match=r"notes\.zip is no zip"):
        item_files.files_in_zip(io.BytesIO(b"words"), "notes.zip", []).__enter__()


def test_an_entry_with_a_password_is_refused_as_such(session, study):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("locked.png", a_picture())
    content = bytearray(stream.getvalue())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # as zip -e sets them
        content[content.index(mark) + flags] |= 1
    with item_files.files_in_zip(io.BytesIO(content), "locked.zip", []) as files:
        intake = take(session, study, files)
    assert intake.refusals == [("locked.png", "its entry in the zip has a password")]


def test_an_item_replaces_one_of_the_same_document(session, study):
    take(session, study, readers(a_png=a_picture("red")))
    before = study.items_digest
    take(session, study, readers(a_png=a_picture("blue")))
    session.refresh(study)
    assert study.items_digest != before
    assert collection.items_summary(session, study) | {"items_digest": 0} == {
        **{"items": 1, "pictures": 1, "absent": 0, "topics": 0, "items_digest": 0},
    }
    collection.remove_all(session, study, WHO)
    assert collection.items_summary(session, study) == {
        **{"items": 0, "pictures": 0, "absent": 0, "topics": 0, "items_digest": None},
    }


def test_the_digest_of_items_is_that_of_their_content_in_any_order():
    items = [Item("a", "one.png", "1" * 64), Item("b", None, None, "words")]
    renamed = [items[1], items[0]._replace(file="other.png")]
    assert items_digest(items, ()) == items_digest(renamed, ())
    assert items_digest([], []) is None
    for change in ({"sha256": "2" * 64}, {"alt": "x"}, {"text": "x"}, {"document": "c"}):
        assert items_digest([items[0]._replace(**change), items[1]], ()) != items_digest(items, ())
    assert items_digest(items, [Topic("t")]) != items_digest(items, ())


def test_a_study_is_frozen_with_its_items(session, study):
    plain = lifecycle.current_digest(study)
    take(session, study, readers(a_png=a_picture()), topics=[Topic("t1", "red")])
    session.refresh(study)
    lifecycle.open_study(session, study)
    assert study.digest != plain
    with pytest.raises(NotAllowedError, match="frozen"):
        take(session, study, readers(b_png=a_picture("blue")))
    for table in (StoredItem, StoredPicture, StoredTopic):
        with pytest.raises(DBAPIError, match="cannot change"):
            session.execute(table.__table__.delete())
        session.rollback()
    with pytest.raises(DBAPIError, match="cannot change"):
        session.execute(Study.__table__.update().values(items_digest="0" * 64))
    session.rollback()


def test_items_are_deleted_with_their_study_and_copied_with_its_plan(session, study):
    take(session, study, readers(a_png=a_picture()), topics=[Topic("t1", "red", "a")])
    researcher, _ = accounts.add_researcher(session, "Ada")
    copy = lifecycle.copy_study(session, study, "second-round", researcher)
    assert copy.items_digest == study.items_digest == collection.digest_of(session, copy.id)
    lifecycle.delete(session, study, WHO)
    for table in (StoredItem, StoredPicture, StoredTopic):
        assert session.scalar(select(func.count()).select_from(table)) == 1
    lifecycle.delete(session, copy, WHO)
    for table in (StoredItem, StoredPicture, StoredTopic):
        assert session.scalar(select(func.count()).select_from(table)) == 0


@pytest.mark.parametrize("with_pictures", [False, True])
def test_a_bundle_holds_ids_and_digests_and_by_choice_the_pictures(session, study, with_pictures):
    files = readers(a_png=a_picture(), b_png=a_picture("blue"))
    take(session, study, files, topics=[Topic("t1", "=red", "a")])
    session.refresh(study)
    lifecycle.open_study(session, study)
    lifecycle.close_study(session, study)
    bundle = unzipped(b"".join(stream_bundle(session, study, with_pictures=with_pictures)))
    assert ("thumbnails.csv" in bundle) == with_pictures
    assert bundle["items.csv"].decode().splitlines()[1].startswith("a,a.png,")
    assert any("the digest is that" in step for step in steps_of(bundle))
    changed = with_cell(bundle, "items.csv", 2, "sha256", "0" * 64)
    with pytest.raises(BundleError, match=r"study\.json, digest"):
        steps_of(changed)
    session.rollback()
    researcher, _ = accounts.add_researcher(session, "Ada")
    again = bundle_import.import_bundle(session, bundle, "out.zip", "again", researcher)
    assert again.digest == lifecycle.current_digest(again)
    assert collection.digest_of(session, again.id) == study.items_digest
    pictures = [*item_queries.thumbnails_of(session, again.id)]
    assert len(pictures) == 2 * with_pictures
    assert collection.items_summary(session, again)["absent"] == 2 * (not with_pictures)
    session.rollback()
    exported = unzipped(b"".join(stream_bundle(session, again, with_pictures=with_pictures)))
    for name in ("items.csv", "topics.csv", "thumbnails.csv"):
        assert exported.get(name) == bundle.get(name)


def test_a_bundle_whose_ids_have_signs_that_are_not_seen_is_not_taken_in(session, study):
    item_queries.store_items(session, study.id, [Item("a\u202eb", text="words")])
    study.items_digest = collection.digest_of(session, study.id)
    session.commit()
    lifecycle.open_study(session, study)
    lifecycle.close_study(session, study)
    bundle = unzipped(b"".join(stream_bundle(session, study)))
    session.rollback()
    assert steps_of(bundle)
    researcher, _ = accounts.add_researcher(session, "Ada")
    with pytest.raises(BundleError, match=r"the id 'a<U\+202E>b' has a sign that cannot be seen"):
        bundle_import.import_bundle(session, bundle, "out.zip", "again", researcher)


@pytest.mark.parametrize("html", ["<ul><li>" * 25_000, "<div></b>" * 20_000, "<p>x" * 60_000])
def test_html_that_takes_long_to_reduce_is_refused_before(html, monkeypatch):
    monkeypatch.setattr(collection, "reduce_html", pytest.fail)
    content = f"document,html\nd1,{html}\n".encode()
    with pytest.raises(SurveyError, match=r"nested more than 2,500 deep|are too many; 200,000"):
        collection.read_items(content, "items.csv", collection.Intake())


def vectors_of(session, study):
    pool = item_queries.StudyItems(session, study.id).pool()
    return {
        each.document: row.tolist() for each, row in zip(pool.entries, pool.vectors, strict=True)
    }


def test_vectors_of_the_researcher_take_the_place_of_those_that_are_computed(session, study):
    files = readers(a_png=a_picture(), b_png=a_picture("blue"))
    take(session, study, files)
    before = study.items_digest
    assert {len(vector) for vector in vectors_of(session, study).values()} == {VECTOR_WIDTH}
    features = b"document,x,y\nb,3,4\nq.png,0,-2\n"
    more = readers(features_csv=features, q_png=a_picture("green"))
    intake = take(session, study, files | more, topics=[Topic("t1", image="q.png")])
    assert (intake.vectors, intake.refusals) == (2, [])
    assert vectors_of(session, study) == {"a": [0, 0], "b": [614, 819], "q": [0, 0]}
    session.refresh(study)
    assert study.items_digest != before
    assert study.items_digest == collection.digest_of(session, study.id)
    broken = take(session, study, files | readers(features_csv=b"document,x\nb,1\nother,2\n"))
    [refusal] = broken.refusals
    assert refusal.reason == "features.csv, row 3: 'other' found; the id of an item is needed"
    assert vectors_of(session, study)["b"] == [614, 819]


def test_vectors_are_frozen_copied_exported_by_digest_and_removed(session, study):
    features = b"document,x,y\na,1,0\nb,0,1\n"
    files = readers(a_png=a_picture(), b_png=a_picture("blue"), features_csv=features)
    take(session, study, files)
    session.refresh(study)
    researcher, _ = accounts.add_researcher(session, "Ada")
    copy = lifecycle.copy_study(session, study, "second-round", researcher)
    assert vectors_of(session, copy) == vectors_of(session, study)
    assert collection.digest_of(session, copy.id) == copy.items_digest == study.items_digest
    collection.remove_all(session, copy, WHO)
    assert session.scalar(select(func.count()).select_from(StoredVector)) == 2
    lifecycle.open_study(session, study)
    with pytest.raises(DBAPIError, match="cannot change"):
        session.execute(StoredVector.__table__.delete())
    session.rollback()
    lifecycle.close_study(session, study)
    bundle = unzipped(b"".join(stream_bundle(session, study)))
    session.rollback()
    again = bundle_import.import_bundle(session, bundle, "out.zip", "again", researcher)
    assert again.digest == lifecycle.current_digest(again)
    assert again.vectors_digest == study.vectors_digest is not None


def test_a_thumbnail_that_is_no_picture_is_named(session, study):
    take(session, study, readers(a_png=a_picture()))
    session.refresh(study)
    lifecycle.open_study(session, study)
    bundle = unzipped(b"".join(stream_bundle(session, study, with_pictures=True)))
    page = base64.b64encode(b"<script>alert(1)</script>").decode()
    changed = with_cell(bundle, "thumbnails.csv", 2, "thumbnail", page)
    with pytest.raises(BundleError, match="a WebP picture in base64 is needed"):
        steps_of(changed)


def test_a_study_has_so_many_items_at_most(session, study, monkeypatch):
    monkeypatch.setattr(collection, "MOST_ITEMS", 1)
    with pytest.raises(SurveyError, match="would have 2 items; 1 are allowed"):
        take(session, study, readers(a_png=a_picture(), b_png=a_picture("blue")))


@pytest.mark.parametrize("stop_after", [0, 1, 2, 3])  # calls of on_item
def test_a_stop_leaves_a_study_as_it_was(session, study, monkeypatch, stop_after):
    monkeypatch.setattr(collection, "PICTURES_AT_ONCE", 1)
    monkeypatch.setattr(collection, "ITEMS_AT_ONCE", 1)
    take(session, study, readers(a_png=a_picture("red")), [Topic("t", text="before")])
    before = collection.items_and_topics(session, study), study.items_digest
    files = readers(a_png=a_picture("blue"), b_png=a_picture("green"))
    items = [Item("a", "a.png"), Item("b", "b.png"), Item("c", text="words")]
    calls = []

    def stop(count):
        if len(calls) == stop_after:
            raise KeyboardInterrupt
        calls.append(count)

    with pytest.raises(KeyboardInterrupt):
        collection.take_in(session, study, files, items, WHO, topics=[], on_item=stop)
    session.rollback()
    assert (collection.items_and_topics(session, study), study.items_digest) == before
    counted = []
    collection.take_in(session, study, files, items, WHO, topics=[], on_item=counted.append)
    assert sum(counted) == len(items)
    assert {each.document for each in collection.items_and_topics(session, study)[0]} == set("abc")
    stored = (
        select(func.count()).select_from(StoredPicture).where(StoredPicture.study_id == study.id)
    )
    assert session.scalar(stored) == 2  # the red one is no longer used


def test_files_taken_in_at_the_same_time_do_not_remove_each_others_pictures(session, study):
    """What ends first removes pictures that nothing uses, among them those of the other."""
    files = readers(a_png=a_picture("blue"))
    items = [Item("a", "a.png"), Item("b", text="words")]

    def end_another(count):
        if count and not others:
            others.append(take(session, study, readers(c_png=a_picture("green"))))

    others = []
    with pytest.raises(SurveyError, match="taken in at the same time"):
        collection.take_in(session, study, files, items, WHO, on_item=end_another)
    assert [each.document for each in collection.items_and_topics(session, study)[0]] == ["c"]
    collection.take_in(session, study, files, items, WHO)
    assert item_queries.absent_pictures(session, study.id) == set()
