"""Studies of runs, and of lists with grades or clusters, from the command line to Table 4."""

import gzip
import hashlib
import json
import zipfile

import pytest
import yaml

from tests.commands import CONTACT
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import rows_of, unzipped, with_cell, zipped
from tests.services.test_items import a_picture

# Three topics; documents of grade 1 and 2. Where the two runs have them:
#   t1  d1 (2) d2 (1) d3 (1)   first: 1, 2, 9    second: 9, 1, 2
#   t2  d4 (1) d5 (2)          first: 3, 4       second: 1, 12
#   t3  d6 (1) d7 (1) d8 (2)   first: 5, 6, 7    second: 2, 8, 1
QRELS = """
t1 0 d1 2
t1 0 d2 1
t1 0 d3 1
t2 0 d4 1
t2 0 d5 2
t3 0 d6 1
t3 0 d7 1
t3 0 d8 2
t3 0 d9 0
"""
FIRST = {
    "t1": {"d1": 1, "d2": 2, "d3": 9},
    "t2": {"d4": 3, "d5": 4},
    "t3": {"d6": 5, "d7": 6, "d8": 7},
}
SECOND = {
    "t1": {"d1": 9, "d2": 1, "d3": 2},
    "t2": {"d4": 1, "d5": 12},
    "t3": {"d6": 2, "d7": 8, "d8": 1},
}
CLUSTERS = (
    "t1 d1 red\nt1 d2 red\nt1 d3 deep blue\nt2 d4 a\nt2 d5 a\nt2 d5 b\nt3 d6 x\nt3 d7 unknown\n"
)


# A list may begin with an item in no cluster, which a bundle writes as '- to be no formula.
OWN = """question,list,ranks,collection_size,clusters
1,A,1 8 9,50,- a b
1,B,1 3 40,50,a b -
"""


SEED = 7  # the letters of question 1 are in the order of the runs


def run_file(places):
    """A run that returns fifteen documents for each topic, the relevant ones at these places."""
    lines = []
    for topic, wanted in places.items():
        at = {place: document for document, place in wanted.items()}
        for place in range(1, 16):
            lines.append(f"{topic} Q0 {at.get(place, f'n{place}')} {place} {100 - place} tag\n")
    return "".join(lines)


RUN_FILES = ("--run", "first.txt", "second.txt.gz")
ALL_FILES = ("--qrels", "qrels.txt", *RUN_FILES)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The judgements and both runs, the second gzipped."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "first.txt").write_text(run_file(FIRST))
    (tmp_path / "second.txt.gz").write_bytes(gzip.compress(run_file(SECOND).encode()))
    (tmp_path / "clusters.txt").write_text(CLUSTERS)
    return tmp_path


def new_from_runs(run, *more):
    return run(
        "study", "new", "two-runs", *ALL_FILES, "--collection-size", 200, "--seed", SEED, *more
    )


@pytest.mark.slow
@ON_SQLITE
def test_ap_ndcg_and_mnro_on_two_runs_go_from_study_new_to_table_4(run, files):
    run("init")
    new_from_runs(run, "--graded", "--measures", "AP,nDCG@10,MNRO")
    checked = json.loads(run("study", "check", "two-runs", "--json"))
    assert checked["questions"][0]["lists"] == {"A": [1, 2, 9], "B": [1, 2, 9]}
    # By hand, question 1: the positions are the same, so AP and MNRO tie; nDCG@10 does not:
    # A has 2 1 . 1, B 1 1 … 2, which is worse.
    assert checked["questions"][0]["rankings"] == {"AP": "A=B", "MNRO": "A=B", "nDCG@10": "A>B"}
    run("study", "open", "two-runs", *CONTACT)
    prefer = ("--prefer", "nDCG@10=.6,MNRO=.3,AP=.1")
    run("simulate", "two-runs", "--participants", 4, *prefer, "--seed", 4)
    run("study", "close", "two-runs")
    found = json.loads(run("analyse", "two-runs", "--include-test", "--json"))
    assert found["n"]["responses"] == 12
    assert [row["merged"] for row in found["table4"]["rows"]] == [4, 4, 4]
    assert {one["pair"] for one in found["differences"]} == {
        "nDCG@10-MNRO",
        "nDCG@10-AP",
        "MNRO-AP",
    }
    table = run("analyse", "two-runs", "--include-test")
    assert "nDCG@10" in table


@pytest.mark.slow
@ON_SQLITE
def test_a_graded_bundle_carries_its_marks_and_replicates(run, files):
    run("init")
    new_from_runs(run, "--graded", "--clusters", "clusters.txt", "--topics", "t1,t2")
    run("study", "open", "two-runs", *CONTACT)
    run("simulate", "two-runs", "--participants", 2)
    run("export", "two-runs", "--to", "out.zip", "--include-test")
    assert "agrees in everything" in run("replicate", "out.zip")
    with zipfile.ZipFile("out.zip") as bundle:
        rows = bundle.read("questions.csv").decode().splitlines()
        assert "grades" in bundle.read("codebook.csv").decode()
    assert rows[:3] == [
        "question,list,ranks,collection_size,grades,clusters,topic,run,documents",
        "1,A,1 2 9,200,2 1 1,red red deep_blue,t1,first,d1 d2 n3 n4 n5 n6 n7 n8 d3 n10",
        "1,B,1 2 9,200,1 1 2,red deep_blue red,t1,second,d2 d3 n3 n4 n5 n6 n7 n8 d1 n10",
    ]
    told = run("replicate", "out.zip", "--qrels", "qrels.txt", *RUN_FILES)
    assert "not recomputed: the positions, as --clusters does not name" in told
    told = run("replicate", "out.zip", *ALL_FILES, "--clusters", "clusters.txt")
    assert "the positions of 2 questions come out of 2 runs and judgements again" in told
    assert "4 files have the SHA-256 that the plan gives" in told


@pytest.fixture
def bundle(run, files):
    """The bundle of a study of two runs and three topics, with simulated answers."""
    run("init")
    new_from_runs(run, "--graded", "--depth", 3)
    run("study", "open", "two-runs", *CONTACT)
    run("simulate", "two-runs", "--participants", 2, "--seed", 1)
    run("export", "two-runs", "--to", "out.zip", "--include-test")
    return unzipped((files / "out.zip").read_bytes())


@pytest.mark.slow
@ON_SQLITE
def test_a_bundle_of_runs_says_where_its_lists_come_from(run, files, bundle):
    study = json.loads(bundle["study.json"])
    assert study["sources"] == study["plan"]["provenance"]["sources"]
    assert [(each["role"], each["name"], each["sha256"]) for each in study["sources"]] == [
        (role, name, hashlib.sha256((files / name).read_bytes()).hexdigest())
        for role, name in (
            ("judgements", "qrels.txt"),
            ("run", "first.txt"),
            ("run", "second.txt.gz"),
        )
    ]
    rows = rows_of(bundle, "questions.csv")
    places = {"first": FIRST, "second": SECOND}
    for row in rows:
        relevant = places[row["run"]][row["topic"]]
        assert sorted(relevant.values()) == [*map(int, row["ranks"].split())]
        first = [name for name in row["documents"].split() if name in relevant]
        assert first == sorted((d for d in relevant if relevant[d] < 4), key=relevant.get)
        assert len(row["documents"].split()) == 3
    letters = {(row["question"], row["run"]): row["list"] for row in rows}
    assert len({letters[question, "first"] for question in "123"}) == 2  # dealt by chance
    figures = json.loads(bundle["analysis.json"])["by_run"]
    places = [figures[name]["mean_place"] for name in ("first", "second")]
    assert sum(places) == pytest.approx(3)
    by_ap = [figures[name]["measures"]["AP"] for name in ("first", "second")]
    assert sum(by_ap) == pytest.approx(3)


@pytest.mark.slow
@ON_SQLITE
def test_positions_are_recomputed_from_the_files_of_a_study_of_runs(run, files, bundle):
    told = run("replicate", "out.zip")
    assert "not recomputed: the positions, as --qrels and --run do not name" in told
    assert "agrees in everything" in told
    told = run(
        "replicate", "out.zip", "--qrels", "qrels.txt", "--run", "second.txt.gz", "first.txt"
    )
    assert "the positions of 3 questions come out of 2 runs and judgements again" in told
    assert "3 files have the SHA-256 that the plan gives" in told
    (files / "first.txt").write_text(f"# the same\n{run_file(FIRST)}")
    told = run("replicate", "out.zip", *ALL_FILES, status=1)
    assert "first.txt: its SHA-256 is" in told
    assert "the positions are the same" in told
    moved = FIRST | {"t2": {"d4": 3, "d5": 5}}
    (files / "first.txt").write_text(run_file(moved))
    told = run("replicate", "out.zip", *ALL_FILES, status=1)
    assert "topic t2, run first: the plan has the positions 3 4; the files give 3 5" in told
    told = run("replicate", "out.zip", "--qrels", "qrels.txt", "--run", "first.txt", status=1)
    assert "the runs first were read; the study's are first and second" in told
    run("replicate", "out.zip", "--qrels", "qrels.txt", status=2)


@pytest.mark.slow
@ON_SQLITE
@pytest.mark.parametrize(
    ("column", "cell"), [("topic", "t9"), ("run", "third"), ("documents", "d1 d2 d9")]
)
def test_a_changed_source_of_a_list_is_named(run, files, bundle, column, cell):
    changed = with_cell(bundle, "questions.csv", 2, column, cell)
    (files / "changed.zip").write_bytes(zipped(changed))
    told = run("replicate", "changed.zip", status=1)
    assert "questions.csv, question 1: the plan gives another topic, run or documents" in told


@ON_SQLITE
def test_check_remarks_on_different_numbers_of_relevant_items(run, files):
    run("init")
    new_from_runs(run, "--topics", "t2 t3")
    verdict, _, remarks = run("study", "check", "two-runs").partition("Summary")
    # Three pairs of measures, two of the contact, and how few questions there are.
    assert "6 warnings" in verdict
    assert "from 2 to 3 relevant items per list; look whether a text names one number" in remarks


@ON_SQLITE
def test_check_warns_of_letters_that_are_the_same_in_every_question(run, files):
    run("init")
    new_from_runs(run, "--graded")
    told = run("study", "check", "two-runs")
    assert "letters are the same" not in told
    plan = yaml.safe_load(run("study", "plan", "two-runs"))
    assert plan.pop("shuffle_letters") is True
    (files / "plan.yaml").write_text(yaml.safe_dump(plan))
    run("study", "new", "fixed", "--from", "plan.yaml")
    told = run("study", "check", "fixed")
    assert "letters are the same in every question (A is first and B is second)" in told
    assert "Question 1, topic t1" in told
    questions = json.loads(run("study", "check", "fixed", "--json"))["questions"]
    assert [each["runs"] for each in questions] == [{"A": "first", "B": "second"}] * 3
    (files / "plan.yaml").write_text("preset: runs\nasked_by: us\nshuffle_letters: false\n")
    new = ("study", "new", "kept", "--from", "plan.yaml", *ALL_FILES)
    run(*new, "--graded", "--collection-size", 200)
    assert "letters are the same" in run("study", "check", "kept")


@pytest.mark.slow
@ON_SQLITE
@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("grades", "1 1 2", "question 1: the plan gives other grades and clusters"),
        ("clusters", "red red red", "question 1: the plan gives other grades and clusters"),
        ("grades", "2 1", "row 2, column grades: '2 1' found; 2 grades found for 3"),
        ("grades", "2 x 1", "row 2, column grades: '2 x 1' found"),
        ("grades", "", "question 1: no grades found; every list needs them where one has them"),
    ],
)
def test_a_mark_that_was_changed_is_named(run, files, column, cell, message):
    run("init")
    new_from_runs(run, "--graded", "--clusters", "clusters.txt", "--topics", "t1 t2")
    run("study", "open", "two-runs", *CONTACT)
    run("simulate", "two-runs", "--participants", 1)
    run("export", "two-runs", "--to", "out.zip", "--include-test")
    bundle = unzipped((files / "out.zip").read_bytes())
    changed = with_cell(bundle, "questions.csv", 2, column, cell)
    (files / "changed.zip").write_bytes(zipped(changed))
    assert message in run("replicate", "changed.zip", status=1)


@ON_SQLITE
def test_without_graded_the_judgements_grades_stay_out_of_sight(run, files):
    run("init")
    new_from_runs(run, "--topics", "t2 t3", "--measures", "AP,MNRO")
    plan = yaml.safe_load(run("study", "plan", "two-runs"))
    assert "own_marks" not in plan
    assert plan["list_noun"] == "System"


@ON_SQLITE
def test_two_runs_alike_on_a_topic_are_refused_by_name(run, files):
    run("init")
    (files / "again.txt").write_text(run_file(FIRST))
    told = run(
        *("study", "new", "alike", "--qrels", "qrels.txt", "--run", "first.txt", "again.txt"),
        *("--collection-size", 200),
        status=1,
    )
    assert "the runs first and again have the relevant documents at the same positions" in told


@ON_SQLITE
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--own-lists", "own.csv", "--grades", "2,1"), "--grades cannot be combined with"),
        (("--own-lists", "own.csv", "--questions", "3"), "--questions cannot be combined with"),
        (("--run", "first.txt"), "--run needs --qrels as well.\n"),
        (("--qrels", "qrels.txt"), "--qrels needs --run as well. Without runs, --qrels is for"),
        (("--graded",), "Error: --graded needs --qrels and --run as well."),
        (("--graded", "--run", "first.txt"), "Error: --run and --graded need --qrels as well.\n"),
        (("--measures", "AP,MAP"), "there is no measure 'MAP'"),
        (("--measures", "AP"), "measures is AP; 2 to 6 different ones are allowed"),
        (("--measures", "AP,S-recall@5"), "S-recall@5 needs to know the clusters"),
        (
            ("--measures", "AP,RBP-RS(p=0.9,gamma=0.3)@20"),
            "RBP-RS-p0.9-gamma0.3@20 needs pictures in rows",
        ),
        (("--measures", "AP,AP-rel2"), "AP-rel2 counts grades from 2 on, and the lists have no"),
        (("--measures", "AP,RR-rel3", "--grades", "2,1,1,1,1"), "RR-rel3 counts grades from 3 on"),
        (("--measures", "AP,RBU@20"), "RBU@20 charges for each item that is looked at"),
        (("--measures", "AP,P@5,F1.0@5"), "the measure F1.0@5 is written F1@5"),
        (("--grades", "2,1"), "marks: 2 grades found in each row; one for each of the 5 relevant"),
        (("--grades", "2,1,1,1,0"), "row 1, grade 5: 0 found; a whole number from 1 to 30"),
        (("--grades", "2,1,1,1,x"), "grades is '2 1 1 1 x'; a number for every relevant item"),
        (("--grades", f"2,1,1,1,{'9' * 400}"), "a number for every relevant item is allowed"),
        (
            ("--grades", "2,1,1,1,1", "--generator", "discriminative"),
            "marks are dealt to drawn lists by the generator random; it is discriminative",
        ),
    ],
)
def test_options_that_do_not_fit_are_told(run, files, options, message):
    run("init")
    (files / "own.csv").write_text(OWN)
    usage = any(words in message for words in ("as well", "cannot be combined"))
    assert message in run("study", "new", "one", *options, status=2 if usage else 1)


@ON_SQLITE
def test_a_plan_file_deals_clusters_to_drawn_lists_and_comes_out_again(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text(
        "preset: mnro\nasked_by: us\ncontact: a@b.org\n"
        "measures: [AP, S-recall@20, S-precision@0.5]\n"
        "marks:\n  clusters: a a b c c+d\nquestions: 2\nseed: 3\n"
    )
    run("init")
    run("study", "new", "one", "--from", "plan.yaml")
    (tmp_path / "again.yaml").write_text(run("study", "plan", "one"))
    run("study", "new", "again", "--from", "again.yaml")
    first, second = (
        json.loads(run("study", "check", slug, "--json"))["questions"] for slug in ("one", "again")
    )
    assert first == second
    for slug in ("one", "again"):
        run("study", "open", slug)
    digests = {
        json.loads(run("study", "show", slug, "--json"))["digest"] for slug in ("one", "again")
    }
    assert len(digests) == 1


@ON_SQLITE
def test_measure_scores_graded_and_clustered_lists(run):
    # 2^2 − 1 at rank 1 and 1 at rank 4: 3 + 1/log2 5; ideal 3 + 1/log2 3. 1 of 2 clusters by 3.
    marks = ("--grades", "2,1", "--grades", "1,2", "--clusters", "a,b")
    names = ("--measures", "nDCG@5,S-recall@3,CG@4")
    found = json.loads(run("measure", "1,4", "1,4", *marks, *names, "--json"))["lists"]
    assert found["A"]["nDCG@5"] == pytest.approx((3 + 0.430677) / (3 + 0.630930), abs=1e-5)
    assert found["B"]["nDCG@5"] == pytest.approx((1 + 3 * 0.430677) / (3 + 0.630930), abs=1e-5)
    assert (found["A"]["S-recall@3"], found["A"]["CG@4"]) == (0.5, 3)


@ON_SQLITE
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--grades", "1"), "list 1, grades: 1 grades found for 2 ranks; one each is needed"),
        (("--grades", "1,a"), "list 1, grades: 'a' found; a whole number for each rank is needed"),
        (("--weights", "1,a"), "list 1, weights: 'a' found; a number for each rank is needed"),
        (("--measures", "S-recall@5"), "clusters are needed, and these lists have none"),
        (("--measures", "XY"), "there is no measure 'XY'"),
    ],
)
def test_measure_says_what_is_wrong_with_marks(run, options, message):
    assert message in run("measure", "1,4", "2,3", *options, status=2)


@ON_SQLITE
def test_grades_are_given_once_or_for_each_list(run):
    three = ("measure", "1,4", "2,3", "1,2")
    told = run(*three, "--grades", "1,1", "--grades", "2,1", status=2)
    assert "--grades is given 2 times for 3 lists; once for all or once for each" in told


@pytest.mark.slow
@ON_SQLITE
@pytest.mark.parametrize("way", ["runs", "own"])
def test_measures_of_clusters_come_with_the_lists_that_bring_them(run, files, way):
    run("init")
    if way == "runs":
        new_from_runs(run, "--clusters", "clusters.txt", "--measures", "AP,S-recall@5")
    else:
        (files / "own.csv").write_text(OWN)
        own = ("--own-lists", "own.csv", "--measures", "AP,S-recall@5", "--preset", "runs")
        run("study", "new", "two-runs", *own)
    run("study", "open", "two-runs", *CONTACT)
    run("simulate", "two-runs", "--participants", 1)
    run("export", "two-runs", "--to", "out.zip", "--include-test")
    assert "agrees in everything" in run("replicate", "out.zip")
    assert "AP" in run("analyse", "out.zip", "--include-test")


@ON_SQLITE
def test_k_is_told_for_all_sizes_of_a_studys_lists(run, files):
    run("init")
    new_from_runs(run, "--measures", "AP,NMRR,MNRO", "--topics", "t2,t3")
    told = run("study", "check", "two-runs")
    assert "NMRR: K = 8 to 12, by the relevant items, of 200 positions" in told


@ON_SQLITE
def test_items_and_topics_come_with_a_new_study_or_later(run, files):
    run("init")
    photographs = files / "photographs"
    photographs.mkdir()
    for name, colour in (("d1", "red"), ("d2", "blue"), ("d3", "blue")):
        (photographs / f"{name}.png").write_bytes(a_picture(colour))
    (photographs / "notes.txt").write_text("words")
    (files / "topics.csv").write_text("topic,text,image\nt1,red,d1\n")
    told = new_from_runs(run, "--graded", "--items", "photographs", "--topics-file", "topics.csv")
    assert "Taken: 3 items and 1 topic." in told
    assert "Not taken: notes.txt: this is no picture that can be read" in told
    assert "Taken, but d3.png is the same picture as d2." in told
    seen = "it is nearly one colour, so people may see nothing in it"
    assert f"Warning: d1.png: {seen}." in told
    content = json.loads(run("study", "items", "two-runs", "photographs", "--json"))
    first = content["warnings"][0]
    assert (first["code"], first["of"], first["text"]) == ("picture", "d1.png", f"d1.png: {seen}")
    (files / "items.csv").write_text("document,text\nd4,some words\n")
    content = json.loads(run("study", "items", "two-runs", "items.csv", "--json"))
    assert (content["items"], content["pictures"], content["topics"]) == (4, 2, 1)
    run("study", "open", "two-runs", *CONTACT)
    run("export", "two-runs", "--to", "out.zip", "--with-pictures")
    bundle = unzipped((files / "out.zip").read_bytes())
    assert len(rows_of(bundle, "thumbnails.csv")) == 2
    assert json.loads(bundle["study.json"])["items_digest"] == content["items_digest"]
    assert "agrees in everything" in run("replicate", "out.zip")
    assert "frozen" in run("study", "items", "two-runs", "items.csv", status=1)
    run("study", "items", "two-runs", status=2)
