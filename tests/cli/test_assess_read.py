"""``survey assess read``: judgements that other programs exported."""

import csv
import json
import shlex
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from survey.cli import survey
from survey.core.collections.runs import read_judgements
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import FaultyFilesError, FileFaults
from survey.services.collections.tool_exports import (
    TOOLS,
    ReadingOptions,
    document_of,
    read_exports,
)

CASES = json.loads((Path(__file__).parents[1] / "cases" / "machines.json").read_text("utf-8"))[
    "importers"
]
QUEPID = "query,docid,rating\nstar wars,11,3\nstar wars,22,0\n"
MTURK = "--from mturk --topic Input.query --document Input.doc --grade Answer.rel"
STUDIO = "--from label-studio --grades 'relevant=1,not relevant=0'"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write files and read them into the folder ``read``; return what was printed."""
    monkeypatch.chdir(tmp_path)

    def invoke(options, status=0, **files):
        for name, content in files.items():
            content = content if isinstance(content, str | bytes) else json.dumps(content)
            content = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(content)
        words = [*files, *shlex.split(options), "--to", "read"]
        done = CliRunner().invoke(survey, ["assess", "read", *words])
        assert done.exit_code == status, done.output
        assert "Traceback" not in done.output
        return done.output

    return invoke


def rows_of(path):
    with path.open(newline="") as file:
        return [*csv.reader(file)][1:]


def judged_in(path):
    lines = [line.split() for line in path.read_text().splitlines()]
    return [[topic, document, int(grade)] for topic, _, document, grade in lines]


def task(number=1, image="/data/upload/1/0a1b2c3d-d1.jpg", *, by=1, choices=("relevant",), **more):
    result = {"from_name": "rel", "type": "choices", "value": {"choices": [*choices]}}
    annotation = {"id": number * 10, "completed_by": by, "result": [result]}
    return {
        "id": number,
        "data": {"image": image, "query": "q1"},
        "annotations": [annotation],
    } | more


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_other_programs_export_is_read_as_worked_out_apart(case, read, tmp_path):
    read(f"--from {case['from']} {case['options']}", export=case["input"])
    folder, expected = tmp_path / "read", case["expected"]
    assert {path.stem: judged_in(path) for path in folder.glob("A*.txt")} == expected["assessors"]
    assert rows_of(folder / "left_out.csv") == expected["left_out"]
    machines = {path.stem: judged_in(path) for path in folder.glob("machines/*.txt")}
    assert machines == expected.get("machine", {})
    if "private" in expected:
        assert dict(rows_of(folder / "private.csv")) == expected["private"]
    if "topics" in expected:
        assert dict(rows_of(folder / "topics.csv")) == expected["topics"]


def test_each_grade_is_told_with_what_it_became_and_names_stay_private(read, tmp_path):
    tasks = [
        task(1, by="ann@x.org"),
        task(2, "/a/d2.jpg", by="ann@x.org", choices=["not relevant"]),
    ]
    printed = read(STUDIO, export=tasks)
    assert "relevant → 1 (1 judgement)" in printed
    assert "not relevant → 0 (1 judgement)" in printed
    assert "private.csv says who A1 is" in printed
    assert "ann@x.org" not in printed
    for name, mode in (("private.csv", 0o600), ("left_out.csv", 0o600)):
        assert stat.S_IMODE((tmp_path / "read" / name).stat().st_mode) == mode
    content = json.loads(read(f"{STUDIO} --json --force", export=tasks))
    assert content["grades"] == {"relevant": 1, "not relevant": 0}
    assert "ann@x.org" not in json.dumps(content)


def test_fields_are_told_with_what_became_of_them(read):
    printed = read(STUDIO, export=[task()])
    assert "Read as topic: query; document: image, like 'd1' of '/data/upload/1/0a1b" in printed
    assert "grade: the one choice or rating; assessor: completed_by" in printed
    labelled = '{"id": 1, "query": "q1", "label": ["yes"]}'
    options = "--from doccano --grades yes=1 --force"
    assert "topic: query; document: id;" in read(f"{options} --topic query", ann=labelled)
    typed = read(f"{options} --topic qury", ann=labelled)
    assert "topic: qury itself, as there is no such field; document: id;" in typed
    assert "assessor: the file's name." in typed


def test_an_empty_file_is_told_to_be_empty(read):
    assert "none, the file is empty" in read(STUDIO, status=1, export="")


def test_the_files_of_two_raters_are_merged_to_alpha_and_kappa(read, tmp_path):
    both = 'query,docid,rating\nstar wars,11,3\nstar wars,22,0\nstar wars,33,1\n"lord, rings",4,0\n'
    read("--from quepid", **{"ann.csv": both, "bob.csv": both.replace("33,1", "33,0")})
    assert rows_of(tmp_path / "read" / "private.csv") == [["A1", "ann"], ["A2", "bob"]]
    words = [
        "assess",
        "merge",
        "read/A1.txt",
        "read/A2.txt",
        "--to",
        "merged",
        "--pooled",
        "--json",
    ]
    done = CliRunner().invoke(survey, words)
    assert done.exit_code == 0, done.output
    first = json.loads(done.output)["topics"][0]
    # Of 11, 22, 33 two agree: kappa of (1, 0, 1) and (1, 0, 0) is (2/3 − 4/9)/(1 − 4/9).
    assert first["cohen_kappa"] == pytest.approx(0.4)
    # Ordinal: observed 8/6, expected 180/30.
    assert first["krippendorff_alpha"] == pytest.approx(1 - (8 / 6) / 6)


def test_a_machines_answers_are_judgements_that_judge_reads(read, tmp_path):
    prediction = task(9, choices=["not relevant"])["annotations"][0] | {"model_version": "M 1"}
    printed = read(STUDIO, export=[task(predictions=[prediction, {"id": 5, "result": []}])])
    assert "1 answer of the model M 1 in read/machines/m-1.txt" in printed
    faults, path = FileFaults(), tmp_path / "read" / "machines" / "m-1.txt"
    assert read_judgements(path.name, path.read_text().splitlines(), faults) == {"q1": {"d1": 0}}
    assert not faults.sentences
    assert ["prediction 5", "empty result"] in rows_of(tmp_path / "read" / "left_out.csv")


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff" + QUEPID,
        QUEPID.replace("\n", "\r\n"),
        ("\ufeff" + QUEPID).encode("utf-16-le"),
        QUEPID.replace(",", ";"),
        "sep=;\n" + QUEPID.replace(",", ";"),
        QUEPID.replace("query,docid", "Query,DocID").replace("3\n", "3.0\n"),
    ],
    ids=["a mark", "CRLF", "UTF-16", "semicolons", "Excel's line", "capitals"],
)
def test_tables_of_spreadsheets_are_read_alike(content, read, tmp_path):
    read("--from quepid", export=content)
    assert judged_in(tmp_path / "read" / "A1.txt") == [["q1", "11", 3], ["q1", "22", 0]]


@pytest.mark.parametrize(
    ("options", "content", "fault"),
    [
        (
            "--from quepid",
            QUEPID + "star wars,11,2\n",
            "line 4: topic 'star wars', document '11' wa",
        ),
        (
            "--from quepid",
            QUEPID.replace("3", "good"),
            "line 2: the grade 'good' has no number; --gr",
        ),
        (
            "--from quepid",
            QUEPID.replace("3", "12"),
            "line 2: the grade '12' has no number; a whole",
        ),
        (
            "--from quepid",
            QUEPID.replace("rating", "stars"),
            "no column rating. Columns found: quer",
        ),
        ("--from quepid", QUEPID.replace("11", "1 1"), "the document '1 1' holds a blank"),
        ("--from quepid", "query,docid,rating\n", "no judgement is left"),
        ("--from quepid", b"PK\x03\x04[Content_Types].xml", "Save it as “CSV UTF-8”"),
        ("--from quepid", b"query,docid,rating\n\xff,1,1\n", "row 2: not UTF-8"),
        (
            "--from mturk",
            "WorkerId,Input.doc\nw,1\n",
            "--topic has to name a column. Columns found: W",
        ),
        (
            MTURK,
            "WorkerId,Input.doc\nw,1\n",
            "no columns Input.query, Answer.rel, AssignmentStatus",
        ),
        (
            "--from doccano",
            '{"id": 1, "label": ["a"]}',
            "line 1: --topic, a field or the topic itsel",
        ),
        (
            "--from doccano --topic t",
            '{"id": 1, "label": ["a"]}',
            "line 1: the grade 'a' has no nu",
        ),
        (
            "--from doccano --topic t",
            '{"text": "x", "label": []}',
            "no field id. Fields found: text",
        ),
        (
            "--from doccano --topic t",
            '{"id": 1, "label": [1, 2]}',
            "field label: '[1, 2]' found; a",
        ),
        ("--from doccano --topic t", '{"id": 1', "cannot be read as JSON"),
        (
            "--from argilla --topic a --document b",
            "[3]",
            "record 1: '3' found; an object is needed",
        ),
        (
            STUDIO,
            [{"image": "x", "choice": "relevant"}],
            "no field annotations with a list of object",
        ),
        (STUDIO, [task(image="")], "field image: '\"\"' found; a text or a number is needed"),
        (
            STUDIO,
            [task(), task(2, "/a/d2.jpg", choices=["maybe"])],
            "annotation 20: the grade 'maybe'",
        ),
        (STUDIO, [task(choices=["a", "b"])], 'annotation 10: \'["a", "b"]\' chosen; one choice'),
        (
            STUDIO,
            [task(), task(3)],
            "annotation 30: topic 'q1', document 'd1' was judged by the same",
        ),
        (
            STUDIO,
            [task(), task(2, "/data/upload/1/ffffffff-d1.jpg", by=2)],
            "annotation 20: '/data/upload/1/ffffffff-d1.jpg' and, at annotation 10, '/data/upload/1"
            "/0a1b2c3d-d1.jpg' are two files of one name, d1",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(options, content, fault, read, tmp_path):
    printed = read(options, status=1, export=content)
    assert fault in printed
    assert "export" in printed
    assert not (tmp_path / "read").exists()


def test_a_rating_needs_the_name_of_its_question_where_there_are_two(read, tmp_path):
    rating = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    both = task()
    both["annotations"][0]["result"].append(rating)
    assert "--grade names one of rel, stars" in read("--from label-studio", 1, export=[both])
    read("--from label-studio --grade stars", export=[both])
    assert judged_in(tmp_path / "read" / "A1.txt") == [["q1", "d1", 4]]


def test_the_csv_of_label_studio_says_that_it_cannot_tell_skipped_from_empty(read, tmp_path):
    text = "image,query,rel,annotator\n/x/0a1b2c3d-d1.jpg,q1,relevant,3\n/x/d2.jpg,q1,,3\n"
    printed = read(f"{STUDIO} --grade rel", export=text)
    assert "the file does not tell which" in printed
    assert judged_in(tmp_path / "read" / "A1.txt") == [["q1", "d1", 1]]


def test_an_empty_label_of_doccano_is_a_grade_where_that_is_said(read, tmp_path):
    lines = '{"id": 1, "q": "a", "label": ["relevant"]}\n{"id": 2, "q": "b", "label": []}\n'
    printed = read("--from doccano --topic q --grades relevant=1 --empty 0", export=lines)
    assert "[] → 0 (1 judgement)" in printed
    assert judged_in(tmp_path / "read" / "A1.txt") == [["a", "1", 1], ["b", "2", 0]]
    assert "--empty is for doccano" in read("--from quepid --empty 0", 2, export=QUEPID)


def test_a_second_reading_replaces_the_first_only_by_force_and_leaves_nothing_of_it(read, tmp_path):
    read("--from quepid", **{"ann.csv": QUEPID, "bob.csv": QUEPID})
    assert "is there already" in read("--from quepid", 1, **{"ann.csv": QUEPID})
    read("--from quepid --force", **{"ann.csv": QUEPID})
    assert [path.name for path in (tmp_path / "read").glob("A*.txt")] == ["A1.txt"]


@pytest.mark.parametrize("grades", ["relevant", "relevant=x", "relevant=10", "a=1,a=2"])
def test_grades_are_texts_with_a_number(grades, read):
    assert "--grades" in read(f"--from quepid --grades {grades}", 2, export=QUEPID)


@pytest.mark.parametrize(
    ("address", "document"),
    [
        ("/data/upload/1/0a1b2c3d-d1.jpg", "d1"),
        ("/data/local-files/?d=folder/my%20d1.jpg", "my d1"),
        ("https://x.org/b/d1.v2.png?signature=1/2", "d1.v2"),
        ("s3://bucket/doc.1", "doc.1"),
        ("d1.jpg", "d1.jpg"),
        ("/deadbeef-", "deadbeef-"),
    ],
)
def test_a_document_is_the_name_of_its_file(address, document):
    assert document_of(address) == document


NAMES = (
    "id data image query annotations predictions result completed_by type value choices label "
    "responses rel user_id status"
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES.split()), values, max_size=6)
    ),
    max_leaves=30,
)


@given(st.sampled_from([*TOOLS]), st.lists(VALUES, max_size=4), st.booleans())
def test_whatever_a_file_holds_it_is_read_or_refused_with_its_name(tool, records, is_lines):
    text = "\n".join(map(json.dumps, records)) if is_lines else json.dumps(records)
    options = ReadingOptions("query", "id", "rel", {"relevant": 1})
    faults = ()
    try:
        assert read_exports([TextFile("export", text, "")], tool, options).assessors
    except FaultyFilesError as error:
        faults = error.faults
    assert all(fault.startswith(("export", "and ")) for fault in faults)
