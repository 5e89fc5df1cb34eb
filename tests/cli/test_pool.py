"""``survey pool``: what it prints and writes, and with which status it refuses."""

import json

import pytest
from click.testing import CliRunner

from survey.cli import survey
from tests.services.exchange.changes import zipped
from tests.sites import site_bundles

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pooled")
    for name, files in site_bundles(made).items():
        (made / f"{name}.zip").write_bytes(zipped(files))
    return made


def run(folder, *arguments):
    paths = [str(folder / each) if each.endswith(".zip") else each for each in arguments]
    return CliRunner().invoke(survey, ["pool", *paths])


def test_it_prints_the_sentence_and_writes_the_files(folder, tmp_path):
    sites = [f"{name}.zip" for name in ("rome", "lyon", "oslo", "bern", "kyiv")]
    done = run(folder, *sites, "--to", str(tmp_path / "paper"), "--json")
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    start = "Five studies, 37 people, the same 8 questions: "
    assert content["sentence"].startswith(start)
    assert (tmp_path / "paper" / "pooled.csv").is_file()
    assert json.loads((tmp_path / "paper" / "analysis.json").read_text()) == content
    printed = run(folder, *sites)
    assert start in " ".join(printed.stdout.split())
    assert "How unlike the studies are" in printed.stdout


def test_other_seeds_take_the_option(folder):
    seeds = ("six.zip", "seven.zip", "eight.zip", "nine.zip")
    refused = run(folder, *seeds)
    assert refused.exit_code == 1
    assert "seven.zip: it differs from six.zip in seed: 7 and 6" in refused.output
    assert "Traceback" not in refused.output
    assert run(folder, *seeds, "--same-design").exit_code == 0


def test_one_bundle_is_refused_and_none_is_wrong_usage(folder):
    assert run(folder, "rome.zip").exit_code == 1
    assert run(folder).exit_code == 2
    assert run(folder, "rome.zip", "lyon.zip", "--figure-width", "4").exit_code == 2
