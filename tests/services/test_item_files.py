"""Names of files as programs write them, in zips and folders, and as tables name them."""

import io
import unicodedata
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.errors import SurveyError
from survey.services.collections import items as collection
from survey.services.collections.item_files import (
    FileNames,
    files_in_folder,
    files_in_zip,
    table_named,
)
from survey.services.collections.pictures import PictureError

# Letters that programs write in the code page of their country.
LETTERS = {
    "utf-8": "aß東ñ漢カφ 1",
    "cp932": "a東京駅の写真表カ 1",
    "cp437": "aäöüßÄéñ 1",
    "cp850": "aäöüßÁÀãðø 1",
}


class RawName(zipfile.ZipInfo):
    """An entry whose name is written as bytes, without the mark of UTF-8."""

    def _encodeFilenameFlags(self):  # noqa: N802 - as zipfile calls it
        return self.raw, self.flag_bits


def a_zip(entries, marked=()):
    """A zip of entries, (bytes of a name, content); the names of ``marked`` are in UTF-8."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries:
            entry = RawName(f"entry {len(archive.filelist)}")
            entry.raw = name
            archive.writestr(entry, content)
        for name, content in marked:
            archive.writestr(name, content)
    stream.seek(0)
    return stream


def a_table(names):
    rows = [f'd{number},"{name}"' for number, name in enumerate(names)]
    return "\n".join(["document,file", *rows]).encode()


@st.composite
def names_and_encoding(draw):
    encoding = draw(st.sampled_from([*LETTERS]))
    letters = st.text(LETTERS[encoding], min_size=1, max_size=6).map(str.strip).filter(bool)
    stems = st.lists(letters, min_size=1, max_size=4, unique_by=str.casefold)
    form = draw(st.sampled_from(["NFC", "NFD"] if encoding == "utf-8" else ["NFC"]))
    return [f"{stem}.png" for stem in draw(stems)], encoding, form


@given(names_and_encoding(), st.sampled_from(["in the zip", "beside it"]))
def test_a_row_gets_the_file_that_it_names_in_any_encoding_or_none(drawn, place):
    names, encoding, form = drawn
    written = [unicodedata.normalize(form, name).encode(encoding) for name in names]
    entries = [(raw, name.encode()) for raw, name in zip(written, names, strict=True)]
    table = a_table(names)
    within = [(b"items.csv", table)] if place == "in the zip" else []
    uploads = {"all.zip": a_zip([*entries, *within])}
    uploads |= {} if within else {"items.csv": io.BytesIO(table)}
    with collection.open_uploads(uploads) as source:
        for name, item in zip(names, source.items, strict=True):
            if item.file in source.files:
                assert source.files[item.file]() == name.encode()
            else:
                assert [each.name for each in source.intake.refusals] == ["all.zip"]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("東京駅の写真.png", "cp932"),
        ("表.png", "cp932"),  # its second byte is that of a backslash
        ("Größe.png", "cp437"),
        ("Ångström.png", "cp850"),
        ("façade-ø.png", "cp850"),
        ("Größe.png", "utf-8"),
    ],
)
def test_a_name_without_mark_is_read_as_a_table_names_it(name, encoding):
    entries = [(name.encode(encoding), b"1"), ("übrig.png".encode(encoding, "ignore"), b"2")]
    with collection.open_uploads(
        {"all.zip": a_zip([*entries, (b"items.csv", a_table([name]))])}
    ) as source:
        [item] = source.items
        assert item.file == name
        assert source.files[name]() == b"1"


def test_names_that_are_utf8_need_no_table_and_others_are_refused_together():
    entries = [("Größe.png".encode(), b""), *((f"{n}ö.png".encode("cp850"), b"") for n in "ab")]
    refusals = []
    with files_in_zip(a_zip(entries), "all.zip", refusals) as files:
        assert [*files] == ["Größe.png"]
    [refusal] = refusals
    assert refusal.name == "all.zip"
    assert refusal.reason.startswith(
        "the names of 2 of its 3 files cannot be read (first: 'aö.png')"
    )


def test_the_documents_of_the_study_say_how_names_are_read():
    entries = [("東京.png".encode("cp932"), b"")]
    needed = collection.Needed({"東京": "東京"})
    with collection.open_uploads({"all.zip": a_zip(entries)}, needed=needed) as source:
        assert [(item.document, item.file) for item in source.items] == [("東京", "東京.png")]


def test_a_marked_name_is_read_anew_only_where_a_table_names_it_otherwise():
    garbled = "Größe.png".encode().decode("cp437")
    for names, file in ((["Größe.png"], "Größe.png"), ([garbled], garbled)):
        marked = [(garbled, b""), ("items.csv", a_table(names))]
        with collection.open_uploads({"all.zip": a_zip([], marked)}) as source:
            assert [item.file for item in source.items] == [file]


def test_paths_of_a_zip_lead_nowhere_else_and_its_common_folder_is_left_out():
    marked = [(f"photos/{name}", b"") for name in ("cats/1.png", "dogs/1.png", "notes.txt")]
    odd = [(b"photos\\birds\\2.png", b""), (b"../../photos/fish/3.png", b"")]
    with files_in_zip(a_zip(odd, marked), "all.zip", []) as files:
        assert sorted(files) == [
            *("birds/2.png", "cats/1.png", "dogs/1.png", "fish/3.png", "notes.txt"),
        ]


def test_two_zips_that_hold_one_name_are_refused():
    uploads = {name: a_zip([(b"1.png", b"")]) for name in ("a.zip", "b.zip")}
    with (
        pytest.raises(SurveyError, match=r"^b\.zip holds 1\.png, which another file is called\.$"),
        collection.open_uploads(uploads),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "paths", "expected"),
    [
        ("a.jpg", ["a.jpg", "b/a.jpg", "a.JPG"], "a.jpg"),
        ("cafe\u0301.jpg", ["caf\u00e9.jpg"], "caf\u00e9.jpg"),
        ("caf\u00e9.jpg", ["cafe\u0301.jpg"], "cafe\u0301.jpg"),
        ("photos/a.jpg", ["a.jpg"], "a.jpg"),
        ("a.jpg", ["photos/a.jpg", "photos/b.jpg"], "photos/a.jpg"),
        ("C:\\data\\cats\\a.jpg", ["cats/a.jpg", "dogs/a.jpg"], "cats/a.jpg"),
        ("cats/a.jpg", ["cats/a.JPG", "dogs/a.jpg"], "cats/a.JPG"),
        ("photos/a.jpg", ["img/a.jpg"], "img/a.jpg"),
        ("a", ["a.jpg", "b.jpg"], "a.jpg"),
        ("a.jpg", ["a", "b"], "a"),
        ("a.jpg", ["A.PNG"], "A.PNG"),
        ("a.jpg", ["a.txt", "a.csv"], None),
        ("d1.5", ["d1.jpg"], None),
        ("d1.5", ["d1.5.jpg", "d1.jpg"], "d1.5.jpg"),
    ],
)
def test_a_file_is_found_by_the_closest_name(name, paths, expected):
    assert FileNames(paths).find(name) == expected


@pytest.mark.parametrize(
    ("name", "paths", "reason"),
    [
        ("1.jpg", ["cats/1.jpg", "dogs/1.jpg"], "cats/1.jpg and dogs/1.jpg have one name"),
        ("1.jpg", ["a/1.jpg", "b/1.jpg", "c/1.jpg"], "a/1.jpg and 2 more have one name"),
        ("a.jpg", ["a.png", "a.webp"], "a.png and a.webp all fit. Name one of them as its file"),
        ("A.jpg", ["a.jpg", "a.JPG"], "a.JPG and a.jpg all fit"),
    ],
)
def test_where_several_fit_none_is_taken(name, paths, reason):
    with pytest.raises(PictureError, match=reason):
        FileNames(paths).find(name)


def test_a_tables_folder_is_read_as_far_as_the_table_names_folders(tmp_path):
    for path in ("a.png", "cats/b.png", "cats/deep/c.png", "other/d.png", ".hidden/e.png"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "cats/again").symlink_to(tmp_path)
    assert sorted(files_in_folder(tmp_path, ["CATS/b.png"])) == ["a.png", "cats/b.png"]
    assert sorted(files_in_folder(tmp_path)) == [
        *("a.png", "cats/b.png", "cats/deep/c.png", "other/d.png"),
    ]


def test_of_two_tables_of_items_none_is_taken():
    files = dict.fromkeys(["items.csv", "Items.JSONL.gz", "old/items.csv"], bytes)
    with pytest.raises(SurveyError, match=r"items\.csv and Items\.JSONL\.gz found; one table of"):
        table_named(files, "items")
    assert table_named({"old/items.csv": bytes}, "items") == "old/items.csv"
