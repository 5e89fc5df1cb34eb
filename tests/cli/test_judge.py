"""`survey judge`: files, bundles, budgets, and what happens when its process is killed."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.db.item_queries import Thumbnail
from survey.services.exchange.bundle import bundle_files, stream_zip
from survey.services.machines.fake_endpoint import FakeEndpoint, planted, serving
from survey.services.machines.judging import AT_ONCE, usual_orders
from tests.freeze import RELEASED
from tests.services.machines.desk import PREFERENCES, Colours, content_named, judging_of

LABELLING = next(RELEASED.glob("*/labelling.zip"))
ORDERING = next(RELEASED.glob("*/ordering.zip"))


@pytest.fixture
def bundle(tmp_path):
    """A bundle without pictures, in a folder of its own."""
    path = tmp_path / "ordering.zip"
    path.write_bytes(ORDERING.read_bytes())
    return path


@pytest.fixture
def survey_(tmp_path):
    """Run a command without a database; return what it printed, and its exit status."""

    def run(*words):
        settings = {"SURVEY_INSTANCE": str(tmp_path / "instance")}
        done = CliRunner().invoke(survey, [*map(str, words)], env=settings)
        assert "Traceback" not in done.output
        return done

    return run


def judge(survey_, target, *words):
    return survey_("judge", target, *words)


def test_a_bundle_is_judged_into_a_new_one(survey_, bundle, tmp_path):
    new = tmp_path / "new.zip"
    done = judge(survey_, bundle, "--simulate", "MNRO=1", "--to", str(new), "--json")
    printed = json.loads(done.stdout)
    assert printed["answered"] == 4
    assert f"machines/{printed['record']}: 4 answers" in survey_("replicate", str(new)).stdout
    again = judge(survey_, new, "--simulate", "MNRO=1", "--to", str(tmp_path / "newer.zip"))
    assert again.exit_code == 1
    assert "is there already" in again.stderr


def test_a_dry_run_prints_a_prompt_and_sends_nothing(survey_, bundle):
    words = ["--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--dry-run"]
    done = judge(survey_, bundle, *words, "--price-in", "1", "--price-out", "2")
    assert "4 requests like this one, with 0 pictures" in done.stdout
    assert "Nothing was sent." in done.stdout
    assert '"scenario"' in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Name one of --endpoint, --file, --simulate, --show and --remove."),
        (["--simulate", "MNRO=1", "--endpoint", "http://localhost"], "Name one of"),
        (["--endpoint", "http://localhost/v1"], "Name the model with --model"),
        (["--simulate", "MNRO=1", "--most-cost", "1"], "--most-cost needs --price-in"),
        (["--simulate", "MNRO=1"], "A bundle is not changed; name a new one with --to."),
        (["--simulate", "MNRO=1", "--orders", "both", "--dry-run"], "this one has no sides"),
        (["--simulate", "XYZ=1", "--to", "x.zip"], "can be preferred"),
    ],
)
def test_what_cannot_be_asked_for_is_said(survey_, bundle, words, said):
    done = judge(survey_, bundle, *words)
    assert done.exit_code in (1, 2)
    assert said in done.stderr


def test_texts_go_to_another_machine_only_after_yes(survey_, bundle, tmp_path):
    words = ["--endpoint", "https://judge.example/v1", "--model", "m", "--to", "x.zip"]
    done = judge(survey_, bundle, *words)
    assert done.exit_code == 1
    assert "0 pictures and 4 texts go to judge.example. Continue?" in done.stderr


def test_judgements_from_elsewhere(survey_, tmp_path):
    new = tmp_path / "new.zip"
    judgements = tmp_path / "qrels.txt"
    documents = [question.document for question, _ in judging_of("labelling").questions()]
    topics = [question.topic for question, _ in judging_of("labelling").questions()]
    lines = [
        f"{t} 0 {d} {int(i % 3 == 0)}"
        for i, (t, d) in enumerate(zip(topics, documents, strict=True))
    ]
    judgements.write_text("\n".join(lines))
    words = ["--file", str(judgements), "--model", "elsewhere", "--to", str(new)]
    done = judge(survey_, LABELLING, *words)
    assert f"{len(lines)} answers of elsewhere" in done.stdout, done.output
    assert "answers of elsewhere, from a file" in survey_("replicate", str(new)).stdout
    judgements.write_text(lines[0].rsplit(" ", 1)[0] + " 7")
    wrong = judge(survey_, LABELLING, *words[:-1], str(tmp_path / "newer.zip"))
    assert "'7' is not a grade; allowed are [0, 1" in wrong.stderr


def test_a_table_from_elsewhere_says_which_row_is_wrong(survey_, bundle, tmp_path):
    table = tmp_path / "answers.csv"
    words = ["--file", str(table), "--model", "m", "--to", str(tmp_path / "new.zip")]
    table.write_text("question,answer\n1,A>B\n")
    done = judge(survey_, bundle, *words)
    assert "answers.csv, row 2, column answer" in done.stderr
    assert "missing in the ranking" in done.stderr
    table.write_text("question,answer\n9,A>B\n")
    assert "the study has no such question" in judge(survey_, bundle, *words).stderr


def test_a_study_in_the_database_keeps_the_record_and_exports_it(run, tmp_path):
    run("init")
    run("researcher", "add", "Ada")
    run("import", ORDERING, "--as", "taken-in", "--owner", "Ada")
    printed = json.loads(run("judge", "taken-in", "--simulate", "MNRO=1", "--json"))
    bundle = tmp_path / "judged.zip"
    run("export", "taken-in", "--to", bundle)
    folder = f"machines/{printed['record']}"
    assert f"{folder}: 4 answers of simulated machine: parsed again" in run("replicate", bundle)
    assert "is there already" in run("judge", "taken-in", "--simulate", "MNRO=1", status=1)
    run("import", bundle, "--as", "again", "--owner", "Ada")
    run("export", "again", "--to", tmp_path / "again.zip")
    with ZipFile(bundle) as first, ZipFile(tmp_path / "again.zip") as second:
        names = [name for name in first.namelist() if name.startswith(folder)]
        assert len(names) == 4
        assert all(first.read(name) == second.read(name) for name in names)


def test_a_draft_is_not_judged(run):
    run("init")
    run("researcher", "add", "Ada")
    run("study", "new", "some-draft", "--owner", "Ada")
    assert "is a draft" in run("judge", "some-draft", "--simulate", "MNRO=1", status=1)


def with_pictures(name, folder):
    """Write a frozen bundle with a picture for each document, and return its path."""
    content, colours = content_named(name), Colours()
    named = (*content.items, *content.topics)
    sums = sorted({one.sha256 for one in named if one.sha256})
    thumbnails = [Thumbnail(sha256, 8, 6, colours[sha256]) for sha256 in sums]
    path = folder / f"{name}.zip"
    with path.open("wb") as file:
        pictured = replace(content, thumbnails=(lambda: thumbnails) if sums else None)
        file.writelines(stream_zip(bundle_files(pictured)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "samples"), [("ordering", 10), ("labelling", 2), ("preference", 6), ("grouping", 14)]
)
def test_a_killed_start_is_gone_on_with_and_asks_nothing_twice(name, samples, tmp_path):
    judging = judging_of(name, samples=samples, orders=usual_orders(content_named(name)))
    fake = FakeEndpoint(planted(judging, PREFERENCES.get(name)), fault="slow", fault_share=1.0)
    total, new = len([*judging.questions()]), tmp_path / "new.zip"
    environment = {**os.environ, "SURVEY_INSTANCE": str(tmp_path / "instance")}
    with serving(fake) as url:
        words = [sys.executable, "-m", "survey", "judge", str(with_pictures(name, tmp_path))]
        words += ["--endpoint", url, "--model", "a model", "--samples", str(samples), "--to", new]
        first = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while len(fake.bodies) < 12:
            assert time.monotonic() < deadline
            assert first.poll() is None, first.stderr.read()
            time.sleep(0.05)
        first.kill()
        first.communicate()
        before = len(fake.bodies)
        second = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert f"{total} answers of a model are stored" in second.stdout
    assert before < total <= len(fake.bodies) <= total + AT_ONCE  # those that were on their way
    assert not [*(tmp_path / "instance" / "machines").glob("*")]
    replicated = [sys.executable, "-m", "survey", "replicate", new]
    done = subprocess.run(replicated, capture_output=True, text=True, check=True)
    assert f"{total} answers of a model: parsed again from the replies" in done.stdout
