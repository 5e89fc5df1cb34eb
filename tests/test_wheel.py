"""The built wheel runs alone, with templates, static files, migrations, presets and pictures."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from survey import __version__
from survey.release import commit_of
from tests.commands import CONTACT

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The wheel's content, as an installer would lay it out."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(site, folder, *arguments):
    """Run a piece of Python that sees the wheel's survey first, and no checkout."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    environment.pop("SURVEY_INSTANCE", None)
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True
    )


def test_pages_and_commands_work_from_the_wheel_in_a_default_instance(unpacked, tmp_path):
    for arguments in (
        ["init"],
        ["study", "new", "pilot", "--seed", "1"],
        ["study", "open", "pilot", *CONTACT],
    ):
        done = run(unpacked, tmp_path, "-m", "survey", *arguments)
        assert done.returncode == 0, done.stderr
    probe = (
        "import json, survey; from survey.app import create_app\n"
        "client = create_app().test_client()\n"
        "paths = ['/s/pilot', '/static/survey.css', '/readyz', '/help/tour',"
        " '/help/files/screenshots/entry-laptop-light.png']\n"
        "print(json.dumps([survey.__file__, *(client.get(p).status_code for p in paths)]))"
    )
    where, *statuses = json.loads(run(unpacked, tmp_path, "-c", probe).stdout)
    assert where.startswith(str(unpacked))
    assert statuses == [200] * 5
    assert (unpacked / "survey" / "deploy" / "Caddyfile").is_file()
    assert (tmp_path / "instance" / "survey.sqlite3").is_file()


def test_the_wheel_knows_the_commit_that_it_was_built_from(unpacked, tmp_path):
    printed = run(unpacked, tmp_path, "-m", "survey", "--version").stdout
    assert printed.startswith(f"survey, version {__version__} (commit {commit_of(ROOT)[:40]}")


def test_the_languages_travel_in_the_wheel(unpacked, tmp_path):
    probe = (
        "from survey.services.studies.plans import preset_plan\n"
        "from survey.services.studies.languages import languages\n"
        "print(*languages(), preset_plan('mnro', language='el').list_noun != 'System')"
    )
    done = run(unpacked, tmp_path, "-c", probe)
    assert done.stdout.split() == ["en", "el", "True"], done.stderr


def test_the_pictures_of_the_demo_travel_in_the_wheel(unpacked, tmp_path):
    done = run(unpacked, tmp_path, "-m", "survey", "paper", "generality", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert {row["ranking"] for row in rows} >= {"colour-histogram", "binary-patterns"}
    pictures = unpacked / "survey" / "services" / "collections" / "albums" / "collection"
    assert len([*pictures.glob("*.webp")]) == 120
    assert (pictures.parent / "SOURCES.csv").is_file()


def test_the_server_key_is_made_once_and_only_its_owner_may_read_it(unpacked, tmp_path):
    for _ in range(2):
        assert run(unpacked, tmp_path, "-m", "survey", "init").returncode == 0
    key = tmp_path / "instance" / "secret_key"
    assert len(key.read_text()) == 64
    assert key.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "instance").stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in (tmp_path / "instance").iterdir()) == [
        "secret_key",
        "survey.sqlite3",
    ]
