"""``survey pool``: what it prints and writes, and with which status it refuses."""

import json
from statistics import mean

import pytest
from click.testing import CliRunner
from scipy.stats import ttest_1samp

from survey.cli import survey
from tests.cli.conftest import run as run_command
from tests.databases import ON_SQLITE
from tests.preferred import RUNS, a_preference_study
from tests.services.exchange.changes import rows_of, unzipped, zipped
from tests.sites import site_bundles

__all__ = ["run_command"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    bundles = tmp_path_factory.mktemp("pooled")
    for name, files in site_bundles(bundles).items():
        (bundles / f"{name}.zip").write_bytes(zipped(files))
    return bundles


def run(folder, *arguments):
    paths = [str(folder / word) if word.endswith(".zip") else word for word in arguments]
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


def test_files_of_one_name_are_told_apart_by_their_folders(folder, tmp_path):
    for name in ("rome", "lyon"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bundle.zip").write_bytes((folder / f"{name}.zip").read_bytes())
    paths = [str(tmp_path / name / "bundle.zip") for name in ("rome", "lyon")]
    content = json.loads(CliRunner().invoke(survey, ["pool", *paths, "--json"]).stdout)
    assert [site["site"] for site in content["sites"]] == ["rome-bundle", "lyon-bundle"]
    refused = CliRunner().invoke(survey, ["pool", *paths, paths[0]])
    assert f"{paths[0]}: it is the same bundle as that in {paths[0]}" in refused.output


def test_one_bundle_is_refused_and_none_is_wrong_usage(folder):
    assert run(folder, "rome.zip").exit_code == 1
    assert run(folder).exit_code == 2
    assert run(folder, "rome.zip", "lyon.zip", "--figure-width", "4").exit_code == 2


def lead_of(files):
    """How many more answers prefer the first run than the second, of all: of the mean person."""
    by_person = {}
    for row in rows_of(files, "preferences.csv"):
        better = row.get(row["preferred"])  # the run on the side that is better
        value = {RUNS[0]: 1, RUNS[1]: -1}.get(better, 0)
        by_person.setdefault(row["participant"], []).append(value)
    return mean(map(mean, by_person.values()))


@ON_SQLITE
def test_preferences_are_pooled_from_the_study_to_the_sentence(run_command, session, tmp_path):
    leads, paths = [], []
    for number, slug in enumerate(("rome", "lyon", "oslo", "bern")):
        a_preference_study(session, slug)
        run_command("simulate", slug, "--participants", 4 + number, "--seed", number)
        paths.append(tmp_path / f"{slug}.zip")
        run_command("export", slug, "--to", paths[-1], "--include-test")
        leads.append(lead_of(unzipped(paths[-1].read_bytes())))
    pooled = json.loads(run_command("pool", *paths, "--include-test", "--json"))
    [pair] = pooled["pairs"]
    assert pair["pair"] == "-".join(RUNS)
    assert [study["mean"] for study in pair["studies"]] == pytest.approx(leads)
    test = ttest_1samp(leads, 0)
    assert (pair["mean"], pair["p"]) == pytest.approx((mean(leads), test.pvalue))
    assert pair["ci95"] == pytest.approx([*test.confidence_interval()])
    assert pooled["sentence"].startswith("Four studies, 22 people, the same 5 questions: ")
    assert {*RUNS} <= {*pooled["sentence"].replace(";", "").split()}
    refused = run_command("pool", *paths, status=1)
    assert refused.count("no answer counts: Only test participants have answered.") == 4
