"""Files that are not what was meant: what commands say of them, and that nothing is made then."""

import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.databases import ON_SQLITE
from tests.services.test_items import a_picture

CASES = Path(__file__).parents[1] / "cases/field"
QRELS, RUN, OTHER_RUN = (CASES / f"base/{name}.txt" for name in ("qrels", "a", "b"))
PICTURED = ("--qrels", CASES / "p08/qrels.txt", "--collection-size", "12", "--run")
PICTURED = (*PICTURED, *(CASES / f"p08/r{number}.txt" for number in range(3)))
EVALUATE = ("evaluate", "--qrels", QRELS, "--run")
LABELLING = ("study", "new", "found", "--kind", "labelling")
PLAN = """kind: labelling
title: Which match?
asked_by: the field group
contact: someone@example.org
purpose: We compare programs.
consent: I take part.
scenario: Mark them.
question_text: Mark every picture that shows the same.
topics: [101, 102]
batch: 24
participants: 3
minutes: 10
"""

pytestmark = ON_SQLITE


@pytest.fixture
def told(run):
    """Run a command on a new database; return what it prints, on one line."""
    run("init")

    def told_by(*arguments, status=1):
        return " ".join(run(*arguments, status=status).split())

    return told_by


@pytest.fixture
def written(tmp_path):
    """Write a file and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def studies(run):
    return [each["slug"] for each in json.loads(run("study", "list", "--json"))]


@pytest.mark.parametrize(
    ("name", "content", "looks_like"),
    [
        ("qrels.txt", QRELS.read_text(), "judgements (36 lines of topic iteration document"),
        ("a.txt", f"red\n{RUN.read_text()}", "a run (30 lines of topic Q0 document rank"),
        ("k.csv", "document,keyword,weight\nd1,cat,1\n", "a table of documents' keywords (doc"),
    ],
)
def test_a_file_of_another_sort_makes_no_queries(run, told, written, name, content, looks_like):
    message = told(*LABELLING, "--keywords", written(name, content))
    assert f"{name} looks like {looks_like}" in message
    assert message.endswith("--keywords takes a text file with one query per line")
    assert studies(run) == []


def test_a_new_study_names_its_first_queries(told, written):
    words = written("words.txt", "red car\ntop 10 films 2020\nsea\n")
    made = told(*LABELLING, "--keywords", words, status=0)
    assert "Queries of words.txt, first: “red car” and “top 10 films 2020”." in made


def test_a_missing_round_and_a_person_without_the_first_are_named(told, tmp_path):
    for path in ("ann/round0.txt", "ann/Round2.TXT", "bob/round1.txt", "cy/notes.txt"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(RUN, tmp_path / path)
    message = told("feedback", "--qrels", QRELS, "--rounds", tmp_path, status=2)
    for file in ("ann has no round1.txt", "bob has no round0.txt", "cy has no round0.txt"):
        assert file in message


def test_rounds_are_read_by_names_in_any_case(told, tmp_path):
    for person in ("ann", "bob"):
        (tmp_path / person).mkdir()
        shutil.copy(RUN, tmp_path / person / "round0.txt")
        shutil.copy(OTHER_RUN, tmp_path / person / "ROUND1.txt")
    feedback = ("feedback", "--qrels", QRELS, "--rounds", tmp_path)
    assert json.loads(told(*feedback, "--json", status=0))["rounds"] == ["round0", "round1"]
    shutil.copy(RUN, tmp_path / "ann" / "round1.txt")
    assert "are both round 1" in told(*feedback, status=2)


def test_a_heading_without_rows_takes_no_topics_away(run, told, written):
    run("study", "new", "drawn")
    topics = written("topics.csv", "topic,text\n1,red\n2,blue\n")
    assert "Taken: 0 items and 2 topics." in told(
        "study", "items", "drawn", "--topics-file", topics, status=0
    )
    empty = written("t5.csv", "topic,text\n")
    message = told("study", "items", "drawn", "--topics-file", empty)
    assert "t5.csv has a heading but no rows; nothing was changed" in message
    again = told("study", "items", "drawn", "--topics-file", topics, status=0)
    assert "2 topics, in place of the 2 topics that were there." in again


def test_items_of_which_the_study_names_none_make_no_study(run, told, written):
    folder = written("items/other.png", a_picture()).parent
    message = told("study", "new", "u4", "--preset", "pictures", *PICTURED, "--items", folder)
    none = "none of its documents is in a question of the study (it has “other”, the study “IMG_"
    assert f"items: {none}" in message
    assert studies(run) == []
    run("study", "new", "u4", "--preset", "pictures", *PICTURED)
    assert none in told("study", "items", "u4", folder)
    assert json.loads(run("study", "check", "u4", "--json", status=1))["warnings"]


def test_a_document_that_is_not_needed_and_a_text_that_is_too_long_are_named(told, written):
    told("study", "new", "p08", "--preset", "pictures", *PICTURED, status=0)
    table = written("it.csv", "document,text\nIMG_0.jpg,hello\nIMG_99.jpg,x\nIMG_98.jpg,x\n")
    taken = told("study", "items", "p08", table, status=0)
    assert "it.csv: 3 rows, 1 taken, 2 not needed (first: IMG_99.jpg)." in taken
    table = written("it.csv", f"document,snippet\nIMG_0.jpg,{'x' * 2001}\n")
    message = told("study", "items", "p08", table)
    assert "found; 2,001 characters are too many; 2,000 are allowed; `--cut-texts`" in message


def test_how_pictures_are_named_is_not_said_where_none_is_taken(told, written):
    told("study", "new", "p08", "--preset", "pictures", *PICTURED, status=0)
    folder = written("items/IMG_0.jpg", "no picture").parent
    assert "as the study names" not in told("study", "items", "p08", folder)
    written("items/IMG_1.jpg", a_picture())
    taken = told("study", "items", "p08", folder, status=0)
    assert "1 picture is taken with its extension, as the study names it (IMG_1.jpg)." in taken


def test_a_file_of_vectors_is_called_as_it_was_given(told, written):
    told("study", "new", "drawn", status=0)
    folder = written("items/d1.png", a_picture()).parent
    vectors = written("good.csv", "name,x\nd1,.5\n")
    message = told("study", "items", "drawn", folder, "--features", vectors, status=0)
    assert "good.csv: no column document" in message
    assert "features.csv" not in message


def test_why_a_class_has_no_query_is_said_once(told, written, tmp_path):
    for name, colour in (("cats/1", "red"), ("cats/2", "blue"), ("dogs/1", "green")):
        written(f"albums/{name}.png", a_picture(colour=colour))
    message = told("collect", tmp_path / "albums", "--to", tmp_path / "ours", status=0)
    assert "ours holds 2 pictures, 1 query and 5 runs." in message
    assert message.count("Class dogs has 1 picture, so it has no query; 2 are needed.") == 1
    written("albums/cats/1.png", "no picture")
    written("albums/cats/2.png", "no picture")
    message = told("collect", tmp_path / "albums", "--to", tmp_path / "other")
    assert "Each class needs 2 different pictures; cats has 0 that can be read, dogs has 1." in (
        message
    )


def tar_of(content):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x93NUMPY\x01\0", "an array of numpy. Write what it holds to a text file"),
        (tar_of(b"1 Q0 d1 1 1 a\n"), "a tar archive. Unpack it, and give the file that is in it"),
        (b"PAR1\x15\0", "a Parquet file. Save it as CSV"),
        (b"SQLite format 3\0\1", "an SQLite database. Save its table as CSV"),
    ],
)
def test_a_file_that_is_no_text_is_called_what_it_is(told, written, content, kind):
    assert f"x.run is {kind}" in told(*EVALUATE, written("x.run", content))


def test_bytes_that_no_text_has_are_not_printed(told, written):
    message = told(*EVALUATE, written("x.run", RUN.read_text().encode("utf-16-le")))
    assert "x.run holds bytes that no text in UTF-8 has. Save it as UTF-8" in message
    assert "\\x00" not in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*EVALUATE, QRELS), "qrels.txt has 4 columns like judgements, not 6 like a run. Were "),
        ((*EVALUATE[:2], RUN, "--run", RUN), "a.txt has 6 columns like a run, not 4 like judgeme"),
        ((*EVALUATE, RUN, "--weights", QRELS), "has 4 columns like judgements, not 3 like weights"),
        ((*EVALUATE, RUN, "--clusters", RUN), "has 6 columns like a run, not 3 like clusters"),
    ],
)
def test_a_file_of_another_sort_is_one_fault(told, options, message):
    told_of = told(*options)
    assert message in told_of
    assert "line" not in told_of
    assert "more like these" not in told_of


def test_a_plan_is_no_run(told, written):
    message = told(*EVALUATE, written("plan.yaml", PLAN))
    assert "looks like a plan in YAML, not like a run; a plan is given to --from" in message


def test_headings_that_are_missing_or_one_too_many_are_said(told, written):
    bare = written("bare.csv", "1,0,d0,1\n1,0,d1,1\n")
    message = told("evaluate", "--qrels", bare, "--run", RUN)
    assert "The first row looks like data; a table needs a first row with the names of" in message
    headed = written("headed.txt", f"topic Q0 document rank score tag\n{RUN.read_text()}")
    assert "headed.txt: line 1 is a heading; delete it" in told(*EVALUATE, headed)
    mturk = CASES / "d01/Batch_1_batch_results.csv"
    renamed = "rename Input.query to topic, Input.doc to document, Answer.relevance to relevance"
    assert renamed in told("evaluate", "--qrels", mturk, "--run", RUN)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((RUN, RUN), "Error: the same file is given twice: "),
        ((RUN, "--keywords", RUN), "--qrels and --keywords were both given; leave one out"),
        ((RUN, "--collection-size", "10,000"), "'10,000' found; a whole number without commas is"),
        ((RUN, "--collection-size", "ten"), "'ten' found; a whole number is needed."),
    ],
)
def test_options_that_cannot_be_meant_are_said(told, options, message):
    assert message in told(*EVALUATE, *options, status=2)


def test_a_zip_that_is_no_bundle_is_told_from_one_without_checksums(run, told, written, tmp_path):
    other = tmp_path / "a.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.run", RUN.read_text())
    run("researcher", "add", "Ada Lovelace")
    no_bundle = "a.zip is not a bundle: a bundle is the zip, or the unpacked folder, that"
    assert no_bundle in told("import", other, "--owner", "Ada Lovelace")
    assert no_bundle in told("replicate", other)
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("study.json", "{}")
    assert "a.zip has no SHA256SUMS, the list of checksums" in told("replicate", other)


def test_a_closed_study_is_copied_to_be_tried(run, told):
    run("study", "new", "base1")
    assert "`survey study open base1` lets participants in" in told(
        "simulate", "base1", "--participants", 1
    )
    run("study", "open", "base1", "--asked-by", "us", "--contact", "x@example.org")
    run("study", "close", "base1")
    message = told("simulate", "base1", "--participants", 1)
    assert "copy it: `survey study copy base1 base1-try`" in message
    assert "study open base1" not in message


def test_names_that_were_probably_meant_come_first_and_few_others(run, told):
    for number in range(7):
        run("study", "new", f"base{number}")
    message = told("study", "check", "base_1")
    assert "There is no study 'base_1'. Did you mean base1? There are: base" in message
    assert message.endswith("and 2 more.")
    assert "Did you mean" not in told("study", "check", "quite-another")
    run("researcher", "add", "Ada Lovelace")
    for command in (
        ("study", "share", "base1", "Ada Lovlace"),
        ("study", "new", "more", "--owner", "Ada Lovlace"),
        ("researcher", "link", "ada lovlace"),
    ):
        assert "Did you mean 'Ada Lovelace'?" in told(*command)


def test_a_draft_has_no_judgements_and_commands_of_groups_are_found(run, told):
    run(*LABELLING, "--items", CASES / "p08/items", "--topics", "1")
    more = ("study", "new", "s8", "--judgements-of", "found", "--run", RUN, OTHER_RUN)
    message = "found is still a draft and has no judgements; open it and collect them first."
    assert message in told(*more)
    message = told("open", "found", status=2)
    assert "No such command 'open'. Did you mean `survey study open`?" in message
    assert "Did you mean 'serve'?" in told("serv", status=2)


@pytest.mark.parametrize(
    ("line", "typed", "message"),
    [
        ("topics: [101, 102]", "topics: [t1", "line 9: the list that begins with [ is not closed"),
        ("title: Which", "title:Which", "line 2: a blank is needed after “title:”"),
        ("title: Which match?", "title", "line 2: a line like `title: Which match?` is needed"),
        ("consent: I", 'consent: "I', "line 6: the quotation mark is not closed"),
        ("batch: 24", " batch: 24", "line 10: begins with a blank; the other fields do not"),
        ("asked_by: the", " asked_by: the", "line 3: begins with a blank; the other fields do"),
        ("purpose: We", "purpose: First: we", "line 5: a text that holds a colon needs quotation"),
        ("consent: I take", "consent: 'I' take", "line 6: cannot be read as YAML (did not find"),
        ("batch: 24", "batch:", "line 10: batch is empty; a whole number is needed"),
        ("minutes: 10", "minutes: 10\nbatch: 30", "line 10: batch occurs twice, again on line 13"),
        ("question_text", "qestion_text", "line 8: there is no field “qestion_text”; did you mean"),
    ],
)
def test_a_fault_of_a_plan_names_its_line_and_what_to_do(told, written, line, typed, message):
    plan = written("plan.yaml", PLAN.replace(line, typed))
    faults = told("study", "new", "planned", "--from", plan)
    assert f"plan.yaml, {message}" in faults
    assert faults.count("plan.yaml") == 1


def test_a_field_like_no_other_is_answered_with_all_that_there_are(told, written):
    plan = written("plan.yaml", f"{PLAN}xyz: 1\n")
    faults = told("study", "new", "planned", "--from", plan)
    assert (
        "there is no field “xyz”; a plan has annotate_categories, arms, ask, ask_program, asked_by"
        in faults
    )
