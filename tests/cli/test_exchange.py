"""Handing a study out and replicating it, from the command line."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey.app import create_app, db
from survey.cli import survey
from survey.config import Settings
from survey.db.models import Participant
from survey.services import accounts
from survey.services.participation import own_data
from survey.services.studies import lifecycle
from tests.builders import KEY, SLUG, Visitor
from tests.commands import CONTACT, environment_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def answered_file(tmp_path_factory):
    """A closed study with one who finished, one who did not, and test data; made once."""
    folder = tmp_path_factory.mktemp("answered")
    path = folder / "survey.sqlite3"
    app = create_app(Settings(folder, f"sqlite:///{path}", KEY))

    def run(*arguments):
        done = CliRunner().invoke(survey, arguments, env=environment_of(app))
        assert done.exit_code == 0, done.output

    run("init")
    run("study", "new", SLUG, "--seed", "5", "--questions", "3")
    run("study", "open", SLUG, *CONTACT)
    Visitor(app.test_client()).take_part()
    half = Visitor(app.test_client())
    half.open("?PROLIFIC_PID=person-1")
    half.submit("/begin")
    run("simulate", SLUG, "--participants", "1")
    run("study", "close", SLUG)
    with app.app_context():
        db.engine.dispose()
    return path


@pytest.fixture
def database_uri(answered_file, tmp_path):
    """A copy of it: these tests look at files. The pages' tests hand out from both databases."""
    path = tmp_path / "instance" / "survey.sqlite3"
    path.parent.mkdir()
    shutil.copyfile(answered_file, path)
    return f"sqlite:///{path}"


@pytest.fixture
def answered(run):
    """Run a command where that study is."""
    return run


@pytest.mark.slow
def test_a_report_is_not_written_into_a_bundle(answered, tmp_path):
    target, folder = tmp_path / "my.zip", tmp_path / "unpacked"
    answered("export", SLUG, "--to", target)
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder)
    assert "is a bundle, which a report" in answered("analyse", folder, "--to", folder, status=2)
    answered("replicate", folder)


@pytest.mark.slow
def test_an_exported_study_replicates_zipped_and_unpacked(answered, tmp_path):
    target, folder = tmp_path / "my.zip", tmp_path / "unpacked"
    told = answered("export", SLUG, "--to", target)
    assert f"{target} holds the study 'five-systems'." in told
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder)
    for bundle in (target, folder):
        told = answered("replicate", bundle)
        assert "✓ 3 answers of 2 participants can be read" in told
        assert "✓ votes.csv: credits recomputed from what was ticked" in told
        assert told.endswith("The bundle agrees in everything that can be recomputed.\n")
    assert sorted(tmp_path.glob("*.zip*")) == [target]


@pytest.mark.slow
def test_exporting_twice_gives_the_same_bytes(answered, tmp_path):
    for name in ("one.zip", "two.zip"):
        answered("export", SLUG, "--to", tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_test_data_and_identities_come_only_when_asked_for(answered, tmp_path):
    def exported(*options):
        target = tmp_path / f"{len(list(tmp_path.iterdir()))}.zip"
        answered("export", SLUG, "--to", target, *options)
        assert "✓" in answered("replicate", target)
        with zipfile.ZipFile(target) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    plain = exported()
    assert "identities.csv" not in plain
    assert not any(b"person-1" in content for content in plain.values())
    people = {
        name: exported(*options)["participants.csv"].count(b"\n") - 1
        for name, options in {"plain": (), "test": ("--include-test",)}.items()
    }
    assert people == {"plain": 2, "test": 3}
    identified = exported("--with-identities")
    assert [name for name in identified if b"person-1" in identified[name]] == ["identities.csv"]


def test_identities_are_not_exported_unlogged(answered, session, tmp_path):
    answered("export", SLUG, "--to", tmp_path / "my.zip", "--with-identities")
    events = accounts.events_of(session, lifecycle.find_study(session, SLUG))
    assert (events[0].kind, events[0].detail) == ("exported", "bundle with identities")


def test_a_file_that_is_there_is_replaced_only_when_forced(answered, tmp_path):
    target = tmp_path / "my.zip"
    target.write_bytes(b"something dear")
    told = answered("export", SLUG, "--to", target, status=1)
    assert told == f"Error: {target} is there already; --force replaces it.\n"
    assert target.read_bytes() == b"something dear"
    answered("export", SLUG, "--to", target, "--force")
    assert zipfile.is_zipfile(target)


def test_the_database_is_not_replaced_by_a_bundle(answered, session):
    file = Path(session.get_bind().engine.url.database)
    told = answered("export", SLUG, "--to", file, "--force", status=1)
    assert "is the survey's database itself" in " ".join(told.split())


def test_what_cannot_be_exported_is_told_and_leaves_no_file(run, tmp_path):
    told = run("export", "nowhere", "--to", tmp_path / "my.zip", status=1)
    assert told == f"Error: There is no study 'nowhere'. There are: {SLUG}.\n"
    gone = tmp_path / "gone"
    told = run("export", SLUG, "--to", gone / "my.zip", status=1)
    assert told == f"Error: There is no folder {gone}.\n"
    assert not list(tmp_path.glob("**/*.zip*"))
    assert "--to FILE.zip, --parquet FOLDER, --psych-ds FOLDER or --rows FOLDER" in run(
        "export", SLUG, status=2
    )


@pytest.mark.slow
def test_options_of_replicate_that_need_others_are_named_and_no_more(answered, tmp_path):
    file = tmp_path / "qrels.txt"
    file.write_text("")
    for option, missing in (("--qrels", "--run"), ("--clusters", "--qrels")):
        output = answered("replicate", tmp_path, option, file, status=2)
        assert f"Error: {option} needs {missing}" in output


def test_replicate_needs_neither_database_nor_instance_folder(answered, tmp_path):
    target, elsewhere = tmp_path / "my.zip", tmp_path / "elsewhere"
    answered("export", SLUG, "--to", target)
    elsewhere.mkdir()

    def replicate():
        return subprocess.run(
            [sys.executable, "-m", "survey", "replicate", str(target)],
            capture_output=True,
            text=True,
            cwd=elsewhere,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTHONIOENCODING": "utf-8",
                "SURVEY_INSTANCE": str(elsewhere / "instance"),
            },
        )

    done = replicate()
    assert (done.returncode, done.stderr) == (0, "")
    assert list(elsewhere.iterdir()) == []

    content = bytearray(target.read_bytes())
    with zipfile.ZipFile(target) as archive:
        entry = archive.getinfo("votes.csv")
    content[entry.header_offset + 30 + len("votes.csv") + entry.compress_size // 2] ^= 1
    target.write_bytes(content)
    done = replicate()
    assert done.returncode == 1
    assert done.stderr.startswith("Error: votes.csv is damaged")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_changed_table_is_told_with_its_row(answered, tmp_path):
    target, folder = tmp_path / "my.zip", tmp_path / "unpacked"
    answered("export", SLUG, "--to", target)
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder)
    table = folder / "table4.csv"
    table.write_bytes(table.read_bytes().replace(b"\n1,", b"\n7,"))
    told = answered("replicate", folder, status=1)
    assert told.startswith("Error: table4.csv was changed: row ")
    assert "column question: '7' found; '1' was published\nTake these files" in told
    assert "does not exist" in answered("replicate", tmp_path / "gone.zip", status=2)


def test_a_bundle_is_imported_once_and_for_a_researcher(answered, tmp_path):
    target = tmp_path / "my.zip"
    answered("export", SLUG, "--to", target)
    assert "There is no researcher 'ada'" in answered(
        "import", target, "--owner", "ada", "--as", "again", status=1
    )
    answered("researcher", "add", "ada")
    told = answered("import", target, "--owner", "ada", "--as", "again")
    assert told.startswith("The study is at /research/studies/again, read-only.\n")
    listed = [line.split()[:2] for line in answered("study", "list").splitlines()]
    assert [SLUG, "closed"] in listed
    assert ["again", "imported"] in listed
    assert "imported" in answered("study", "show", "again")
    again = answered("import", target, "--owner", "ada", status=1)
    assert "There is a study 'five-systems' already" in again


def test_who_was_erased_here_is_left_out_of_an_import_which_says_so(answered, session, tmp_path):
    target = tmp_path / "my.zip"
    answered("export", SLUG, "--to", target)
    answered("researcher", "add", "ada")
    for one in session.query(Participant).filter_by(is_test=False).all():
        own_data.erase(session, lifecycle.find_study(session, SLUG), one, tmp_path)
    told = answered("import", target, "--owner", "ada", "--as", "again")
    assert "2 participants who have deleted their data here: left out" in told


def test_a_study_is_exported_as_parquet_files(answered, tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "tables"
    told = answered("export", SLUG, "--parquet", folder)
    assert told.endswith(f"{folder} holds the study 'five-systems'.\n")
    assert {"votes.parquet", "study.json", "codebook.csv"} < {one.name for one in folder.iterdir()}
    told = answered("export", SLUG, "--parquet", folder, "--force", status=1)
    assert told.endswith(f"Error: {folder} is there already.\n")
    assert [one.name for one in tmp_path.glob("*tables*")] == ["tables"]
    told = answered("export", SLUG, "--parquet", folder, "--to", tmp_path / "my.zip", status=2)
    assert "--to FILE.zip, --parquet FOLDER, --psych-ds FOLDER or --rows FOLDER" in told


def test_a_command_that_shows_results_of_an_open_study_stores_why(answered, session):
    answered("study", "open", SLUG, "--reason", "two more came")
    answered("analyse", SLUG, "--reason", "the board asked")
    study = lifecycle.find_study(session, SLUG)
    assert [look["reason"] for look in study.looks] == ["two more came", "the board asked"]
