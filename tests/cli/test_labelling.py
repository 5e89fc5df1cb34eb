"""Labels as files: what the commands make of them is what the study's own results are."""

import csv
import io
import json
import re

import pytest

from survey.services.analysis.merged_labels import MERGED
from survey.services.exchange import bundle
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import open_files
from survey.services.studies import lifecycle
from tests.builders import Visitor
from tests.databases import ON_SQLITE
from tests.labelled import ALL_IN_VIEW, DOCUMENTS, a_labelling_study, labelled, ticks

pytestmark = ON_SQLITE


@pytest.mark.slow
def test_the_command_makes_the_same_of_the_files_byte_for_byte(app, session, run, tmp_path):
    study = labelled(app, session)
    content = b"".join(bundle.stream_bundle(session, study))
    bundled = open_files(io.BytesIO(content), "done.zip")
    run("analyse", "done", "--to", tmp_path)
    labels = sorted((tmp_path / "labels").iterdir())
    assert len(labels) == 3
    run("assess", "merge", *labels, "--to", tmp_path / "merged")
    for name in ("weights.csv", "weights.txt", "qrels.txt", "agreement.csv"):
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / name).read_bytes()
    for name in ("weights.csv", "agreement.csv"):
        assert (tmp_path / name).read_bytes() == bundled[name]
    weights = [*csv.DictReader(io.StringIO(bundled["weights.csv"].decode()))]
    [row] = [each for each in weights if (each["topic"], each["document"]) == ("word", "green-3")]
    assert row["assessors"] == "3"
    keywords = [*csv.DictReader((tmp_path / "keywords.csv").read_text().splitlines())]
    assert {each["keyword"] for each in keywords} == {"Meadow"}
    assert {"document": "green-3", "keyword": "Meadow", "weight": row["weight"]} in keywords


def test_who_looked_at_nothing_of_a_query_is_no_annotator_of_it(app, session, run, tmp_path):
    study = a_labelling_study(session, topics=["like-red"])
    looked = {"seen": ALL_IN_VIEW, **ticks(1)}
    for fields in (looked, looked, {"seen": ""}):
        visitor = Visitor(app.test_client(), "labelled")
        visitor.go("/q/1")
        visitor.insist("/q/1", go="done", **fields)
        visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    run("analyse", "labelled", "--to", tmp_path)
    run("assess", "merge", *(tmp_path / "labels").iterdir(), "--to", tmp_path / "merged")
    for name in MERGED:
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / name).read_bytes()
    rows = [*csv.DictReader((tmp_path / "weights.csv").read_text().splitlines())]
    assert {row["assessors"] for row in rows} == {"2"}
    assert [row["weight"] for row in rows if row["chosen"] == "2"] == ["1.0"]
    files = open_files(io.BytesIO(b"".join(bundle.stream_bundle(session, study))), "labelled.zip")
    assert [*replicate(files)]


@pytest.mark.slow
def test_what_refining_gained_is_measured_on_the_rounds(app, session, run, tmp_path):
    labelled(app, session)
    run("analyse", "done", "--to", tmp_path)
    rounds = sorted(next((tmp_path / "runs").iterdir()).iterdir())
    assert [each.name for each in rounds] == ["round0.txt", "round1.txt"]
    options = ("--qrels", tmp_path / "qrels.txt", "--weights", tmp_path / "weights.txt")
    shown = run("feedback", *options, "--run", *rounds, "--json")
    assert json.loads(shown)["rounds"] == ["round0", "round1"]
    pooled = json.loads(run("feedback", *options, "--rounds", tmp_path / "runs", "--json"))
    means = []
    for folder in (tmp_path / "runs").iterdir():
        files = sorted(folder.iterdir())
        means.append(json.loads(run("feedback", *options, "--run", *files, "--json"))["runs"])
    for name in ("round0", "round1"):
        for measure, mean in pooled["runs"][name]["mean"].items():
            by_person = [each[name]["mean"][measure] for each in means]
            assert mean == pytest.approx(sum(by_person) / 3)
    run("feedback", *options, "--rounds", tmp_path / "labels", status=2)
    alone = tmp_path / "runs-without-negatives"
    refining = json.loads(run("analyse", "done", "--json"))["refining"]
    assert refining["refined"] == [6]
    assert refining["why"] is None
    for name, figures in (
        ("with_negatives", pooled),
        ("without_negatives", json.loads(run("feedback", *options, "--rounds", alone, "--json"))),
    ):
        for key in ("runs", "significance", "baseline", "notes"):
            assert refining[name][key] == figures[key], (name, key)
    assert refining["with_negatives"]["runs"] != refining["without_negatives"]["runs"]
    printed = " ".join(run("analyse", "done").split())
    answer, _, rest = printed.partition(" 3 annotators · ")
    assert re.match("(The|Whether the) 3 annotators .*: alpha", answer)
    assert " judged documents are relevant. Rule: more than half marked it." in answer
    assert "How reliable the annotators are" in rest
    assert "What refining gained" in printed
    assert "1 marked, not marked 6 " in printed
    assert "1 marked alone 6 " in printed
    first = rounds[0].read_text().splitlines()
    assert len(first) == 69 + 70  # the red query's own picture is left out
    assert first[0].split()[:4] == ["like-red", "Q0", first[0].split()[2], "1"]


def test_a_bundle_gives_the_same_report_without_rounds(app, session, run, tmp_path):
    study = labelled(app, session, people=1)
    path = tmp_path / "done.zip"
    path.write_bytes(b"".join(bundle.stream_bundle(session, study)))
    run("analyse", path, "--to", tmp_path / "out")
    run("analyse", "done", "--to", tmp_path / "stored")
    of_bundle, stored = (
        {str(each.relative_to(folder)) for each in folder.rglob("*.*")}
        for folder in (tmp_path / "out", tmp_path / "stored")
    )
    assert {name.partition("/")[0] for name in stored - of_bundle} <= {
        *("runs", "runs-without-negatives", "tables", "figures", "figures.tex")
    }
    assert {"report.html", "qrels.txt", "verdicts.txt"} <= of_bundle


def test_a_study_is_checked_and_shown_without_lists(app, session, run):
    a_labelling_study(session, minutes=10)
    assert json.loads(run("study", "check", "labelled", "--json"))["questions"] == [
        {"question": 1, "topic": "like-red"},
        {"question": 2, "topic": "word"},
    ]
    printed = run("study", "check", "labelled")
    assert [line for line in printed.splitlines() if line] == [
        "2 queries to label; no warnings.",
        "Summary",
        "all: 1 of 3 topics is in no question (first: “elsewhere”)",
    ]
    assert "kind" in run("study", "show", "labelled")
    assert "topics:" in run("study", "plan", "labelled")


@pytest.mark.slow
def test_an_ordering_study_is_made_of_judgements_and_runs_in_one_step(app, session, run, tmp_path):
    labelled(app, session)
    runs = []
    for number in (1, 2, 3):
        runs.append(tmp_path / f"run{number}.txt")
        order = [*DOCUMENTS[number:], *DOCUMENTS[:number]]
        lines = [f"like-red Q0 {each} 1 {-place} x\n" for place, each in enumerate(order)]
        runs[-1].write_text("".join(lines))
    content = run("study", "new", "ordered", "--judgements-of", "done", "--run", *runs, "--json")
    assert json.loads(content)["slug"] == "ordered"
    plan = json.loads(run("study", "plan", "ordered", "--json"))
    assert plan["collection_size"] == 70
    assert plan["show_items"] is True
    run("study", "new", "other", "--judgements-of", "done", "--qrels", runs[0], status=2)
    refused = run("study", "new", "other", "--judgements-of", "ordered", "--run", *runs, status=1)
    assert "stay hidden until the study is closed" in refused or "draft" in refused
