"""Files as people have them, after public reports of what other tools do with them.

The inputs are those of tests/cases/field, each in the folder of its case.
"""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from survey.services.studies import lifecycle
from tests.databases import ON_SQLITE

CASES = Path(__file__).parents[1] / "cases/field"
BASE = CASES / "base/qrels.txt"

pytestmark = ON_SQLITE


@pytest.fixture
def evaluated(run):
    """Evaluate runs, by AP where nothing else is asked; returns the JSON."""

    def evaluate(*runs, qrels=BASE, measures=("AP",), options=()):
        paths = [each if "=" in str(each) else CASES / each for each in runs]
        words = ("evaluate", "--qrels", qrels, "--run", *paths, "--measures", *measures, *options)
        return json.loads(run(*words, "--json"))

    return evaluate


def warned(content, code):
    [warning] = [each for each in content["warnings"] if each["code"] == code]
    return warning


def printed(run, *arguments, status=0):
    return " ".join(run(*arguments, status=status).split())


@pytest.mark.parametrize(
    ("file", "name", "words", "example"),
    [
        ("f13/jpg.txt", "jpg", "the extension", ["d0.jpg", "d0"]),
        ("f13/case.txt", "case", "upper and lower case", ["D0", "d0"]),
        ("f13/path.txt", "path", "the folder", ["images/d0", "d0"]),
    ],
)
def test_ids_that_do_not_meet_are_said_with_their_cause(run, evaluated, file, name, words, example):
    warning = warned(evaluated("f06/sim.txt", file), "ids-differ")
    assert (warning["of"], warning["count"], warning["total"]) == (name, 30, 30)
    assert f"would be without {words} (run" in warning["text"]
    assert warning["example"] == example
    told = printed(run, "evaluate", "--qrels", BASE, "--run", CASES / file, "--measures", "AP")
    assert "0.0000" in told
    assert f"Warning: Run {name}: 30 of 30 documents are not judged under their ids" in told


def test_ids_are_equal_in_both_unicode_forms(evaluated):
    judged = CASES / "f09/qjp.txt"
    runs = evaluated("f09/jp.txt", "f09/nfd.txt", qrels=judged)["runs"]
    assert runs["jp"]["mean"]["AP"] == runs["nfd"]["mean"]["AP"] == 0.5


def test_a_blank_that_is_not_ascii_is_a_part_of_an_id_and_is_named(evaluated):
    content = evaluated("f09/ideo.txt", qrels=CASES / "f09/qjp.txt")
    text = warned(content, "ids-differ")["text"]
    assert "without blanks that are not ASCII (run “東京<U+3000>駅”, judgements “東京駅”)" in text
    assert "d3<U+00A0>x" not in str(content)
    strange = evaluated("f09/nbsp.txt")
    text = "1 of 2 documents is not judged, and its id holds a no-break space, U+00A0"
    assert warned(strange, "blanks-in-ids")["text"] == f"Run nbsp: {text} (“d3<U+00A0>x”)"


def test_distances_stop_a_study_before_people_judge_reversed_lists(run, session):
    runs = [CASES / "f06/dist.txt", CASES / "f06/sim.txt"]
    options = ("--qrels", BASE, "--run", *runs, "--collection-size", 12, "--missing-last")
    reversed_list = (
        "Warning: Run dist: scores rise with the ranks in 3 of 3 topics. The list is read "
        "backwards. For distances make the study again with `survey study new … --scores "
        "distances` under another address, or give the files again in the plan."
    )
    told = printed(run, "study", "new", "near", *options, "--preset", "runs", status=1)
    assert reversed_list in told
    content = json.loads(run("study", "check", "near", "--json", status=1))
    assert (warned(content, "ranks-reversed")["level"], content["verdict"][-1:]) == ("stop", ".")
    study = lifecycle.find_study(session, "near")
    assert {each.code for each in lifecycle.check_study(session, study) if each.stops} >= {
        "ranks-reversed"
    }


def test_ranks_and_scores_that_disagree_are_counted(evaluated):
    content = evaluated("f06/ikat.txt")
    assert content["runs"]["ikat"]["mean"]["AP"] == pytest.approx(0.8042, abs=5e-5)
    warning = warned(content, "rank-conflict")
    assert (warning["count"], warning["total"]) == (3, 27)
    assert warning["example"] == ["d1", "d6"]
    assert "The score decides" in warning["text"]


def test_judgements_by_sub_topic_are_clusters(run, evaluated):
    file = CASES / "f03/diversity-qrels.txt"
    options = ("--clusters", file)
    content = evaluated("base/a.txt", measures=("S-recall@5",), options=options)
    assert content["runs"]["a"]["mean"]["S-recall@5"] > 0
    told = printed(run, "evaluate", "--qrels", file, "--run", CASES / "base/a.txt", status=1)
    assert "these are judgements by sub-topic. Give them to --clusters" in told


def test_what_a_run_is_packed_with_is_named(run, evaluated):
    told = printed(run, "evaluate", "--qrels", BASE, "--run", CASES / "f04/a.zip", status=1)
    assert "a.zip is a zip. Unpack it, or pack it with gzip" in told
    assert "UTF-8" not in told
    assert evaluated("f04/a.run")["runs"]  # packed with gzip under another name


def test_runs_keep_what_their_files_are_called(evaluated):
    archived = [CASES / "f02/input.uogtr.gz", CASES / "f02/input.sab05.gz"]
    assert [*evaluated(*archived)["runs"]] == ["input.uogtr", "input.sab05"]
    assert [*evaluated("f02/k1_0.9")["runs"]] == ["k1_0.9"]


def test_files_of_one_name_are_told_apart_by_their_tags(evaluated, tmp_path):
    paths = []
    for name in ("uogtr", "sab05"):
        paths.append(tmp_path / name / "input.gz")
        paths[-1].parent.mkdir()
        shutil.copy(CASES / f"f02/input.{name}.gz", paths[-1])
    tags = [gzip.decompress(path.read_bytes()).split()[5].decode() for path in paths]
    assert [*evaluated(*paths)["runs"]] == tags
    assert [*evaluated(f"one={paths[0]}", f"two={paths[1]}")["runs"]] == ["one", "two"]


def test_binary_measures_count_from_a_grade_on(evaluated):
    measures = ("AP", "P@1", "RR", "AP(rel=2)")
    judged = CASES / "f15/qrels.txt"
    content = evaluated("f15/run.txt", qrels=judged, measures=measures)
    assert warned(content, "level")["text"].startswith("Grades are 0 to 3. Binary measures count 1")
    means = content["runs"]["run"]["mean"]
    assert [means[each] for each in ("AP", "P@1", "RR")] == pytest.approx([29 / 36, 1, 1])
    assert means["AP-rel2"] == pytest.approx(5 / 12)
    options = ("--relevant-from", 2)
    means = evaluated("f15/run.txt", qrels=judged, measures=measures, options=options)
    level = means["runs"]["run"]["mean"]
    assert [level[each] for each in ("AP", "P@1", "RR")] == pytest.approx([5 / 12, 0, 1 / 3])


def test_a_table_of_another_tool_has_one_fault_that_names_its_columns(run):
    file = CASES / "d01/Batch_1_batch_results.csv"
    told = printed(run, "evaluate", "--qrels", file, "--run", CASES / "base/a.txt", status=1)
    assert told.count("Batch_1_batch_results.csv") == 1
    assert "no columns topic, document, relevance. Columns found: HITId, HITTypeId, Title" in told


def test_what_is_no_bundle_is_said_to_need_one(run):
    told = printed(run, "replicate", CASES / "d04/all_apps_wide.csv", status=1)
    assert (
        "is not a bundle: a bundle is the zip, or the unpacked folder, that `survey export`" in told
    )


def test_measures_that_order_the_lists_alike_are_named_with_what_to_do(run):
    runs = [CASES / "base/a.txt", CASES / "base/b.txt"]
    options = ("--qrels", BASE, "--run", *runs, "--collection-size", 100, "--missing-last")
    run("init")
    run("study", "new", "alike", *options, "--measures", "AP,RR")
    told = printed(run, "study", "check", "alike")
    assert told.startswith("AP and RR order the lists differently in 0 of 2 questions; in 2 all")
    assert (
        "AP and RR put the lists in the same order in both questions, so this study cannot compare "
        "AP with RR. Use other runs or topics, or leave one out (lists)"
    ) in told
    assert told.count("AP and RR") == 2


@pytest.mark.parametrize(("preset", "status"), [("runs", 0), ("pictures", 1)])
def test_documents_without_an_item_stop_a_study_that_shows_them(run, preset, status):
    folder = CASES.parent / "intake/c04-items-missing"
    runs = [folder / "alpha.run", folder / "beta.run"]
    options = ("--qrels", folder / "qrels.txt", "--run", *runs, "--collection-size", 20)
    asks = ("--missing-last", "--asked-by", "X", "--contact", "x@example.org")
    run("init")
    run("study", "new", "c04", "--preset", preset, *options, *asks)
    run("study", "items", "c04", folder / "items.csv", "--topics-file", folder / "topics.csv")
    missing = "2 of 24 documents of the lists have no item (first: “11-4”)"
    not_shown = " (not shown in this kind of study)" if preset == "runs" else ""
    assert f"{missing}{not_shown}" in printed(run, "study", "check", "c04")
    told = printed(run, "study", "open", "c04", status=status)
    assert f"{missing}{not_shown}." in told
    assert ("cannot open" in told) == (preset == "pictures")
    if status:
        told = printed(run, "study", "open", "c04", "--anyway", "two are lost")
        assert f"Warning: {missing}." in told
