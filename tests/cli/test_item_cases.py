"""Items, topics and pictures as people have them: cases of tests/cases/field."""

import json
import unicodedata
import zipfile
from pathlib import Path

import pytest

from tests.databases import ON_SQLITE
from tests.services.test_items import a_picture

CASES = Path(__file__).parents[1] / "cases/field"
AS_ASKED = ("--asked-by", "X", "--contact", "x@example.org")
RUNS = ("--qrels", CASES / "p08/qrels.txt", "--collection-size", "12", "--run")
RUNS = (*RUNS, *(CASES / f"p08/r{number}.txt" for number in range(3)))

pytestmark = ON_SQLITE


@pytest.fixture
def take(run):
    """Take items into a draft without lists; return the JSON."""
    run("init")
    run("study", "new", "drawn", *AS_ASKED)

    def taken(*arguments, status=0):
        return json.loads(run("study", "items", "drawn", *arguments, "--json", status=status))

    return taken


def texts(content, code):
    return [each["text"] for each in content["warnings"] if each["code"] == code]


@pytest.mark.parametrize(
    "source",
    [
        "p03/cp932-items.zip",
        "p03/mac-items.zip",
        *(f"p04/{case}" for case in ("bom", "caps-heading", "caps-name", "order", "ragged")),
        *(f"p04/{case}" for case in ("sep", "trailing", "unknowncol", "utf16")),
        *(f"p04/{case}" for case in ("upper-ext", "url")),
    ],
)
def test_a_table_and_its_picture_become_an_item(take, source):
    content = take(CASES / source)
    assert content["taken"]["items"] == content["pictures"] == 1
    assert content["refused"] == []
    [report] = content["files"]
    assert (report["rows"], report["taken"], report["not_needed"]) == (1, 1, 0)
    found = {
        "p04/upper-ext": ["items.csv names a.jpg; a.JPG was taken"],
        "p04/url": ["items.csv names https://example.org/a.jpg; a.jpg was taken"],
    }
    assert texts(content, "picture-found") == found.get(source, [])
    unread = ["caption", "label"] if source == "p04/unknowncol" else []
    assert report["columns_not_read"] == unread


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("p04/cp1252", "items.csv, row 2: not UTF-8. In Excel, save as “CSV UTF-8”"),
        ("p04/xlsx", "items.xlsx is "),
    ],
)
def test_a_table_that_cannot_be_read_stores_nothing_and_names_the_remedy(
    run, take, source, message
):
    assert message in run("study", "items", "drawn", CASES / source, status=1)
    assert take("--topics-file", CASES / "t01/semi.csv")["items"] == 0


def test_topics_with_semicolons_are_read(run, take):
    content = take("--topics-file", CASES / "t01/semi.csv")
    assert content["files"] == [
        {
            **{"file": "semi.csv", "read_as": "CSV with semicolons", "rows": 1, "taken": 1},
            **{"not_needed": 0, "columns_not_read": [], "first_not_needed": ""},
            **{"links_as_text": 0, "pictures_left_out": 0},
        }
    ]


def test_names_of_a_zip_that_nothing_tells_how_to_read_are_refused(take):
    content = take(CASES / "p03/cp850.zip", status=1)
    [refusal] = content["refused"]
    assert refusal["name"] == "cp850.zip"
    assert "Pack the files with names in UTF-8, as 7-Zip does" in refusal["reason"]


def test_files_with_their_ending_are_the_documents_that_runs_name_so(run):
    run("init")
    items = CASES / "p08/items"
    new = ("study", "new", "p08", "--preset", "pictures", "--items", items, *RUNS, *AS_ASKED)
    content = json.loads(run(*new, "--json"))
    assert content["files"][0]["taken"] == 12
    named = "12 pictures are taken with their extension, as the study names them (first: IMG_0.jpg)"
    assert texts(content, "document-named") == [named]
    findings = run("study", "check", "p08", status=1)  # there is no text of a topic yet
    assert "documents have no picture" not in findings
    assert "1 of 1 topic has no text or picture" in findings


def test_only_documents_that_the_study_names_are_taken_and_the_rest_counted(run, tmp_path):
    run("init")
    run("study", "new", "p08", "--preset", "pictures", *RUNS, *AS_ASKED)
    rows = [f"IMG_{number}.jpg,words,.5" for number in range(100)]
    table = tmp_path / "items.csv"
    table.write_text("\n".join(["document,text,score", *rows]))
    output = run("study", "items", "p08", table)
    report = (
        "items.csv: 100 rows, 12 taken, 88 not needed (first: IMG_12.jpg). Columns not read: score."
    )
    assert report in output.splitlines()
    content = json.loads(run("study", "items", "p08", table, "--json"))
    assert content["items"] == content["files"][0]["taken"] == 12
    table.write_text("document,text\nIMG_1,words\n")
    refused = run("study", "items", "p08", table, status=1)
    assert "items.csv: none of its documents is in a question of the study (it has" in refused
    assert "“IMG_1”" in refused


def test_a_topics_picture_is_needed_although_no_list_names_it(run, tmp_path):
    run("init")
    run("study", "new", "p08", "--preset", "pictures", *RUNS, *AS_ASKED)
    folder = tmp_path / "queries"
    folder.mkdir()
    for name in ("query.png", "other.png"):
        (folder / name).write_bytes(a_picture())
    (folder / "topics.csv").write_text("topic,image\n1,query\n")
    content = json.loads(run("study", "items", "p08", folder, "--json"))
    assert content["taken"] == {"items": 1, "topics": 1, "vectors": 0}
    assert content["files"][0]["not_needed"] == 1


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_pictures_of_one_name_in_two_folders_are_told_apart_by_path(take, tmp_path, form):
    folder = tmp_path / "albums"
    rows = ["document,file", "a,cats/1.jpg", "b,dogs/1.jpg", "c,1.jpg", "d,2.jpg"]
    files = {
        "cats/1.jpg": a_picture("red", "JPEG"),
        "dogs/1.jpg": a_picture("blue", "JPEG"),
        "dogs/2.jpg": a_picture("green", "JPEG"),
        "items.csv": "\n".join(rows).encode(),
    }
    for path, file in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(file)
    source = folder
    if form == "zip":
        source = tmp_path / "albums.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for path, file in files.items():
                archive.writestr(f"albums/{path}", file)
    content = take(source)
    assert content["taken"]["items"] == content["pictures"] == 3
    assert content["refused"] == [
        {
            "name": "1.jpg",
            "reason": "cats/1.jpg and dogs/1.jpg have one name. Name them by path in items.csv, "
            "or use `survey collect`",
        }
    ]
    assert texts(content, "picture-found") == ["items.csv names 2.jpg; dogs/2.jpg was taken"]


def test_both_tables_faults_are_told_at_once_and_nothing_is_stored(run, take, tmp_path):
    (tmp_path / "items.csv").write_text("document,text\nd1,words\nd1,again\n")
    (tmp_path / "topics.csv").write_text("topic,text\nt 1,words\n")
    output = run("study", "items", "drawn", tmp_path, status=1)
    assert "items.csv, row 3, column document: 'd1' found; row 2 has it already" in output
    assert "topics.csv, row 2, column topic: 't 1' found" in output
    (tmp_path / "items.csv").write_text("document,text\nd1,words\n")
    run("study", "items", "drawn", tmp_path, status=1)
    (tmp_path / "topics.csv").write_text("topic,text\nt1,words\n")
    content = take(tmp_path)
    assert (content["items"], content["topics"]) == (1, 1)


def test_longer_texts_are_refused_with_their_row_or_cut(run, take, tmp_path):
    table = tmp_path / "items.csv"
    table.write_text(f"document,title,text\nd1,a title,words\nd2,{'t' * 501},{'x' * 200_001}\n")
    output = run("study", "items", "drawn", table, status=1)
    for place in ("title: 'ttt", "text: 'xxx"):
        assert f"items.csv, row 3, column {place}" in output
    assert "501 characters are too many; 500 are allowed; `--cut-texts` cuts longer ones" in output
    assert "200,001 characters are too many; 200,000 are allowed" in output
    content = take(table, "--cut-texts")
    assert content["items"] == 2
    assert texts(content, "texts-cut") == [
        "items.csv: 2 texts were cut at the longest that is allowed (first: row 3)"
    ]


def test_ten_warnings_of_a_kind_are_printed_and_the_others_counted(run, take, tmp_path):
    rows = ["document,file"]
    for number in range(22):
        rows.append(f"d{number},{number}.jpg")
        (tmp_path / f"{number}.JPG").write_bytes(a_picture(form="JPEG", size=(300, 6)))
    (tmp_path / "items.csv").write_text("\n".join(rows))
    output = run("study", "items", "drawn", tmp_path)
    assert output.count("JPG was taken.") == 10
    assert output.splitlines().count("Warning: and 12 more.") == 2  # names, and shapes
    assert len(texts(take(tmp_path), "picture-found")) == 22


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("talk.mp3", b"ID3", "talk.mp3 is audio. Pictures and texts can be shown"),
        ("talk", b"ID3\x03", "this is audio. Pictures and texts can be shown"),
        ("talk.MOV", b"\0\0\0\x14ftypqt  ", "talk.MOV is video. Pictures and texts can be shown"),
        ("a.jpg", b"\0\0\0\x18ftypheic", "this is HEIC, as phones store pictures. Export it as"),
        ("a.jpg", b"%PDF-1.7", "this is a PDF. Export its page as PNG or JPEG"),
        ("a.jpg", b"<!DOCTYPE html><html>", "this is a web page. Save the picture itself"),
        ("a.jpg", b"II*\0", "this is TIFF. Export it as JPEG or PNG"),
        ("a.jpg", b"PK\x03\x04", "this is a zip or a document. Unpack it, or save its pictures"),
    ],
)
def test_what_is_no_picture_is_named_with_what_to_do(take, tmp_path, name, content, reason):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / name).write_bytes(content)
    [refusal] = take(tmp_path / "photos", status=1)["refused"]
    assert refusal["reason"].startswith(reason)


def test_classes_one_level_deeper_are_refused_with_the_folder_to_give(run, tmp_path, monkeypatch):
    monkeypatch.chdir(CASES / "c01")
    output = run("collect", "deep", "--to", tmp_path / "ours", status=1)
    assert "deep/train/cats is one level too deep; give deep/train." in output
    assert "deep/test/cats is one level too deep; give deep/test." in output


def test_a_class_is_the_same_in_any_case_and_unicode_form(run, tmp_path):
    classes = [
        unicodedata.normalize(form, name) for form in ("NFC", "NFD") for name in ("Café", "café")
    ]
    for number in range(8):
        folder = tmp_path / "albums" / classes[number % 4]
        folder.mkdir(parents=True, exist_ok=True)
        picture = a_picture((30 * number, 255 - 30 * number, 100))
        (folder / f"{number}.png").write_bytes(picture)
    target = tmp_path / "ours"
    content = json.loads(run("collect", tmp_path / "albums", "--to", target, "--json"))
    assert (content["collection_size"], len(content["queries"])) == (7, 1)
    assert (target / "qrels.txt").read_text().count(" 1\n") == 7
    names = {line.rsplit(",", 1)[1] for line in (target / "items.csv").read_text().split()[1:]}
    assert names == {"Café"}


def test_collect_names_what_it_did_not_take(run, tmp_path):
    content = json.loads(run("collect", CASES / "c01/win", "--to", tmp_path / "ours", "--json"))
    assert content["collection_size"] == 4
    assert {each["name"] for each in content["refused"]} == {
        *("readme.txt", "cat/IMG_9.HEIC", "dog/IMG_9.HEIC", "dog/same.jpg"),
    }
