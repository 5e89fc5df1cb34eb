"""``survey assess``: assessors' files merged, compared and joined."""

import csv
import gzip
import json

import pytest
from click.testing import CliRunner

from survey.cli import survey

ANN = "1 0 d1 2\n1 0 d2 1\n1 0 d4 0\n2 0 x 1\n"
BOB = "1 0 d1 1\n1 0 d3 1\n2 0 x 0\n"
EVE = "1 0 d1 3\n1 0 d2 2\n"

COARSE = """\
3 s1 zeus
3 s2 zeus
3 s3 buddha
3 s4 buddha
5 b1 bird
5 b2 bird
5 b3 bird
5 b4 bird
5 d1 dolphin
5 d2 dolphin
"""
FINE = """\
3 s1 Zeus, standing
3 s2 Zeus, standing
3 s3 Buddha
3 s4 Buddha
3 s5 unknown
5 b1 pelican
5 b2 pelican
5 b3 condor
5 b4 condor
5 d1 dolphin
5 d2 dolphin
16 g1 gate
"""
THIRD = "\n".join(line for line in FINE.splitlines() if line.startswith("5 "))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run ``survey assess`` in a folder with everybody's files; it needs no database."""
    monkeypatch.chdir(tmp_path)
    files = {"ann": ANN, "bob": BOB, "eve": EVE, "a1": COARSE, "a2": FINE, "a3": THIRD}
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text)

    def invoke(*arguments, status=0):
        done = CliRunner().invoke(survey, ["assess", *map(str, arguments)])
        assert done.exit_code == status, done.output
        assert "Traceback" not in done.output
        return " ".join(done.output.split())

    return invoke


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_merging_writes_weights_judgements_and_agreement(run, tmp_path):
    said = run("merge", "ann.txt", "bob.txt", "eve.txt", "--to", "out/merged")
    folder = tmp_path / "out" / "merged"
    assert (folder / "weights.csv").read_text() == (
        "topic,document,chosen,assessors,weight\n1,d1,3,3,1.0\n1,d2,2,3,0.6666666666666666\n"
        "1,d3,1,3,0.3333333333333333\n1,d4,0,3,0.0\n2,x,1,2,0.5\n"
    )
    weights = [line.split() for line in (folder / "weights.txt").read_text().splitlines()]
    # what nobody chose (d4) has no weight; 2/3 and 1/3 read back to the last digit
    assert {(topic, document): float(weight) for topic, document, weight in weights} == {
        ("1", "d1"): 1,
        ("1", "d2"): 2 / 3,
        ("1", "d3"): 1 / 3,
        ("2", "x"): 1 / 2,
    }
    # grades d1 2 1 3, d2 1 0 2: the medians 2 and 1
    assert (folder / "qrels.txt").read_text() == (
        "1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n1 0 d4 0\n2 0 x 0\n"
    )
    first, second = rows_of(folder / "agreement.csv")
    assert float(first["jaccard"]) == pytest.approx(5 / 9)  # (1/3 + 1 + 1/3) / 3
    assert (first["assessors"], first["relevant"], second["assessors"]) == ("3", "2", "2")
    assert "3 assessors, 2 topics: 2 of 5 documents listed are relevant, chosen by more" in said
    assert "Not judged by all assessors: topic 2 (2 of 3)." in said
    assert "Without a relevant document: topic 2." in said
    # How far the assessors can be relied on comes first.
    assert said.startswith("Whether the 3 annotators agree well enough is not decided: ")
    assert "alpha" not in said.partition("3 assessors, 2 topics")[2]


def test_at_least_sets_how_many_must_have_chosen_a_document(run, tmp_path):
    found = json.loads(run("merge", "ann.txt", "bob.txt", "--to", "o", "--at-least", 1, "--json"))
    assert [one["relevant"] for one in found["topics"]] == [3, 1]
    assert (found["assessors"], found["at_least"]) == (2, 1)
    assert "at-least 3: there are 2" in run(
        *("merge", "ann.txt", "bob.txt", "--to", "p", "--at-least", 3), status=2
    )


def test_packed_files_give_the_same(run, tmp_path):
    (tmp_path / "bob.gz").write_bytes(gzip.compress(BOB.encode()))
    run("merge", "ann.txt", "bob.txt", "--to", "plain")
    run("merge", "ann.txt", "bob.gz", "--to", "packed")
    for path in (tmp_path / "plain").iterdir():
        assert path.read_bytes() == (tmp_path / "packed" / path.name).read_bytes()


def test_comparing_lists_the_topics_for_a_third_assessor(run):
    said = run("compare", "a1.txt", "a2.txt")
    assert "For a third assessor: 5" in said
    assert "granularity" in said
    assert "Only in a2.txt: topic 16." in said
    assert said.startswith("Whether the 2 assessors agree well enough to rely on")
    assert "Topic 3: documents in a1.txt alone: 0, in a2.txt alone: 1;" in said
    found = json.loads(run("compare", "a1.txt", "a2.txt", "--json"))
    assert (found["third"], found["only_first"], found["only_second"]) == (["5"], [], ["16"])
    statue, animal = found["topics"]
    assert statue["only_second"] == ["s5"]
    assert (statue["adjusted_rand"], statue["needs_third"], statue["why"]) == (1, False, None)
    # topic 5: of 15 pairs 3 are together in both, 4 in the first alone, 8 in neither
    assert animal["pair_agreement"] == 11 / 15
    assert animal["adjusted_rand"] == pytest.approx(2 * 3 * 8 / (7 * 12 + 3 * 8))
    assert (animal["clusters"], animal["granularity"]) == ([2, 3], 1.5)
    # topics 3 and 5: of 42 answers on 21 pairs 14 are “together”; on 4 pairs the two differ
    reliability = found["reliability"]
    assert reliability["alpha"] == pytest.approx(1 - 4 * 2 / (2 * 14 * 28 / 41))
    assert [each["topic"] for each in reliability["by_topic"]] == ["3", "5", "16"]
    assert [each["assessor"] for each in reliability["by_assessor"]] == ["a1", "a2"]
    assert (
        "Whether the 2 assessors agree well enough to rely on is not decided: alpha .58 (−.14 to "
        "1.00); topic 5 may be chance. For .80 it takes 3 assessors, averaged pair by pair."
    ) in said


def test_a_lower_threshold_needs_no_third(run):
    assert "No topic needs a third" in run("compare", "a1.txt", "a2.txt", "--threshold", ".4")


def test_gold_is_written_with_its_rules_and_statistics(run, tmp_path):
    said = run("gold", "a1.txt", "a2.txt", "--third", "a3.txt", "--to", "gold.txt")
    assert (tmp_path / "gold.txt").read_text() == (
        "3 s1 zeus\n3 s2 zeus\n3 s3 buddha\n3 s4 buddha\n3 s5 unknown\n"
        "5 b1 pelican\n5 b2 pelican\n5 b3 condor\n5 b4 condor\n5 d1 dolphin\n5 d2 dolphin\n"
    )
    rules = {row["topic"]: row["rule"] for row in rows_of(tmp_path / "gold-topics.csv")}
    assert rules == {
        "3": "union of two",
        "5": "of three, that of assessor 2",
        "16": "left out: only one of the first two assessors",
    }
    clusters, documents, *_ = rows_of(tmp_path / "gold-statistics.csv")
    # clusters 2 and 3, documents 5 (one of them unknown) and 6: sd of each √½
    assert (clusters["mean"], documents["mean"]) == ("2.5", "5.5")
    assert float(clusters["sd"]) == float(documents["sd"]) == pytest.approx(0.5**0.5)
    assert (clusters["smallest"], clusters["largest"]) == ("2", "3")
    assert "Left out: only one of the first two assessors: topic 16." in said
    assert "different documents, see -topics.csv: topic 3." in said  # s5


def test_the_counts_of_the_paper_are_written(run, tmp_path):
    # d is in two clusters, and in both topics; e of topic 2 is unknown; topic 3 is left out
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(
            "1 a x\n1 b y\n1 d x\n1 d y\n2 d x\n2 f x\n2 g y\n2 e unknown\n3 a x\n3 b y\n"
        )
    (tmp_path / "topics.csv").write_text(
        "topic,cluster_type,left_out\n1,animal,\n2,animal,\n3,city,too difficult to cluster\n"
        "4,city,too specific\n"
    )
    said = run("gold", "one.txt", "two.txt", "--topics-file", "topics.csv", "--to", "gold.txt")
    rows = {row["description"]: row for row in rows_of(tmp_path / "gold-statistics.csv")}
    several = rows["documents in several clusters"]
    assert (several["topics"], several["total"]) == ("1", "1")
    assert (rows["unknown documents"]["topics"], rows["unknown documents"]["total"]) == ("1", "1")
    assert rows["unknown documents, % of the topic"]["largest"] == "25.0"  # one of four
    assert rows["different documents"]["total"] == "6"  # a b d e f g
    assert rows["documents relevant to 2 topics"]["total"] == "1"  # d
    assert rows["topics clustered by animal"]["topics"] == "2"
    assert "topics clustered by city" not in rows
    rules = {row["topic"]: row["rule"] for row in rows_of(tmp_path / "gold-topics.csv")}
    assert rules["3"] == "left out: too difficult to cluster"
    assert rules["4"] == "left out: too specific"
    assert "Left out: too specific: topic 4." in said


def test_without_a_third_disputed_topics_are_left_out(run, tmp_path):
    said = run("gold", "a1.txt", "a2.txt", "--to", "gold.txt.gz")
    assert "Left out: no third assessor: topic 5." in said
    lines = gzip.decompress((tmp_path / "gold.txt.gz").read_bytes()).decode().splitlines()
    assert {line.split()[0] for line in lines} == {"3"}
    assert (tmp_path / "gold-topics.csv").is_file()


def test_a_gold_standard_without_a_topic_is_not_written(run, tmp_path):
    said = run("gold", "a1.txt", "a3.txt", "--to", "gold.txt", status=1)
    assert said.startswith("Error: No topic is left for a gold standard ('3': left out: only one")
    assert not (tmp_path / "gold.txt").exists()


def test_faults_of_all_files_are_told_at_once(run, tmp_path):
    (tmp_path / "bob.txt").write_text("1 0 d1 12\n")
    (tmp_path / "eve.txt").write_text("1 0 d1\n")
    said = run("merge", "ann.txt", "bob.txt", "eve.txt", "--to", "out", status=1)
    assert said == (
        "Error: bob.txt, line 1: relevance '12' found; a whole number from 0 (not chosen) to 9 is "
        "allowed eve.txt, line 1: 3 fields found, '1 0 d1'; 4 are allowed: topic iteration "
        "document relevance"
    )
    assert not (tmp_path / "out").exists()


def test_files_that_are_no_text_are_named(run, tmp_path):
    (tmp_path / "bob.txt").write_bytes("1 0 d1 1\n1 0 dé 1\n".encode("latin-1"))
    assert run("merge", "ann.txt", "bob.txt", "--to", "out", status=1) == (
        "Error: bob.txt, row 2: not UTF-8. Save it as UTF-8."
    )
    for broken in (gzip.compress(b"1 0 d1 1\n")[:-4], b"\x1f\x8b"):
        (tmp_path / "bob.gz").write_bytes(broken)
        assert "bob.gz begins like a gzip file, but is none" in run(
            "merge", "ann.txt", "bob.gz", "--to", "out", status=1
        )


def test_nothing_is_overwritten_unasked_and_no_assessors_file_ever(run, tmp_path):
    arguments = ("gold", "a1.txt", "a2.txt", "--third", "a3.txt", "--to")
    run(*arguments, "gold.txt")
    (tmp_path / "gold.txt").write_text("mine")
    assert "gold.txt is there already; --force" in run(*arguments, "gold.txt", status=1)
    assert (tmp_path / "gold.txt").read_text() == "mine"
    run(*arguments, "gold.txt", "--force")
    assert (tmp_path / "gold.txt").read_text() != "mine"
    assert "one of the assessors' files" in run(*arguments, "a3.txt", "--force", status=1)
    assert (tmp_path / "a3.txt").read_text() == THIRD


def test_an_assessor_is_not_compared_with_themselves(run, tmp_path):
    assert "a1.txt is given twice" in run("compare", "a1.txt", tmp_path / "a1.txt", status=2)
    assert "two assessors or more" in run("merge", "ann.txt", "--to", "out", status=2)


def test_thresholds_are_shares(run):
    for wrong in ("nan", "-1", "1.5"):
        assert "0 to 1 is allowed" in run(
            *("compare", "a1.txt", "a2.txt", f"--threshold={wrong}"), status=2
        )


def test_files_without_a_common_topic_cannot_be_compared(run, tmp_path):
    (tmp_path / "a4.txt").write_text("99 z z\n")
    assert run("compare", "a1.txt", "a4.txt", status=1) == (
        "Error: a1.txt and a4.txt have no topic in common."
    )
