"""``survey registry``: runs added, checked, listed, fetched."""

import json
import shutil

import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.services.exchange.registry import STORED
from tests.services.exchange.test_registry import RELEASED, RUN


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(RELEASED / "ordering-public.zip", tmp_path / "a.zip")

    def invoke(line, status=0):
        done = CliRunner().invoke(survey, ["registry", *line.split()])
        assert done.exit_code == status, done.output
        assert "Traceback" not in done.output
        return done.output

    return invoke


def marks_in(path):
    return [json.loads(line).get("replicates") for line in path.read_text().splitlines()]


def test_a_run_is_added_checked_and_listed(run, tmp_path):
    added = json.loads(run("add r.jsonl a.zip --address a.zip --month 2026-05 --author Ada --json"))
    assert json.loads((tmp_path / "r.jsonl").read_text()).items() <= added.items()
    assert run("check r.jsonl") == "✓ line 1: a.zip: replicates\n"
    listed = run(f"list r.jsonl {added['digest'][:8]}")
    assert "2026-05" in listed
    assert "1 run of this study in r.jsonl." in listed
    assert json.loads(run(f"list r.jsonl {added['digest']} --json"))["runs"][0]["authors"] == [
        "Ada"
    ]
    assert "0 runs" in run("list r.jsonl 00000000")
    assert "8 to 64 digits" in run("list r.jsonl 12", 2)


def test_a_check_that_fails_ends_with_1_and_marks_what_does_not_replicate(run, tmp_path):
    run("add r.jsonl a.zip --address a.zip --month 2026-05")
    lines = (tmp_path / "r.jsonl").read_text()
    (tmp_path / "r.jsonl").write_text(lines + RUN.line.replace("https://x.org/a.zip", "b.zip"))
    printed = run("check r.jsonl --mark", 1)
    assert "– line 2: b.zip: there is no such file beside the registry." in printed
    assert "1 of 2 bundles fails." in printed
    assert marks_in(tmp_path / "r.jsonl") == [
        True,
        None,
    ]  # a bundle that is not there may be there tomorrow
    with (tmp_path / "a.zip").open("ab") as bundle:
        bundle.write(b" ")
    results = json.loads(run("check r.jsonl --mark --json", 1).partition("Error")[0])["runs"]
    assert [result["agrees"] for result in results] == [False, False]
    assert marks_in(tmp_path / "r.jsonl")[0] is False


def test_a_malformed_registry_is_refused_with_line_and_field(run, tmp_path):
    (tmp_path / "r.jsonl").write_text(RUN.line.replace("2026-05", "May"))
    assert "r.jsonl, line 1, field month: 'May' found" in run("check r.jsonl", 1)


def test_registries_are_fetched_from_the_public_internet_only(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SURVEY_INSTANCE", str(tmp_path))
    assert "names no registry" in run("update")
    monkeypatch.setenv("SURVEY_REGISTRIES", "https://127.0.0.1/r.jsonl")
    assert "127.0.0.1 is at 127.0.0.1, a private address" in run("update", 1)
    assert (tmp_path / STORED).read_text() == ""
