"""The containers' backup and its way back, with a folder in the container's place."""

import os
import subprocess
import sys

import pytest

from tests.guides.in_process import run_survey
from tests.guides.pages import ROOT

pytestmark = pytest.mark.slow

# `docker compose exec -T survey …`, `cp survey:FROM TO` and `restart`; the container is a folder.
DOCKER = f"""#!{sys.executable}
import os, shutil, subprocess, sys
inside = lambda text: text.replace("/data", os.environ["BOX"] + "/data").replace(
    "/backups/", os.environ["BOX"] + "/backups/")
compose, what, *rest = sys.argv[1:]
if what == "exec":
    sys.exit(subprocess.call([inside(word) for word in rest[2:]]))
if what == "cp":
    shutil.copy2(inside(rest[0].removeprefix("survey:")), rest[1])
"""
SURVEY = f"""#!/bin/sh
SURVEY_INSTANCE="$BOX/data" exec {sys.executable} -m survey "$@"
"""


class Box:
    """A container's folders, and what is run on the machine that holds it."""

    def __init__(self, folder):
        self.folder, self.data = folder, folder / "data"
        for made in ("commands", "backups"):
            (folder / made).mkdir(parents=True)
        for name, text in (("docker", DOCKER), ("survey", SURVEY)):
            (folder / "commands" / name).write_text(text)
            (folder / "commands" / name).chmod(0o755)

    def run(self, *command):
        path = f"{self.folder}/commands:{os.environ['PATH']}"
        given = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "BOX": str(self.folder)}
        for name in ("SURVEY_INSTANCE", "SURVEY_DATABASE_URI"):
            given.pop(name, None)
        done = subprocess.run(command, env=given, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def asked(self, command):
        return run_survey(command, {"SURVEY_INSTANCE": str(self.data)}, self.folder)


@pytest.fixture
def kept(tmp_path):
    """The folder of the backups, outside every copy of the repository."""
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


def test_a_backup_and_its_way_back_bring_the_key_and_who_was_erased(tmp_path, kept):
    old, new = Box(tmp_path / "old"), Box(tmp_path / "new")
    old.asked("survey init")
    old.asked("survey study new in-a-container")
    old.run("sh", str(ROOT / "deploy/backup.sh"), str(kept))
    assert not (kept / "erased.txt").exists()
    (old.data / "erased.txt").write_text("a" * 64 + "\n")
    old.run("sh", str(ROOT / "deploy/backup.sh"), str(kept))
    (backup,) = kept.glob("survey-*.sqlite3")
    assert {one.name for one in kept.iterdir()} == {"secret_key", "erased.txt", backup.name}
    assert all(one.stat().st_mode & 0o077 == 0 for one in (backup, kept / "secret_key"))

    new.data.mkdir(mode=0o700)
    (new.data / "erased.txt").write_text("b" * 64 + "\n")
    new.run("sh", str(ROOT / "deploy/restore.sh"), str(kept), backup.name)
    assert "in-a-container" in new.asked("survey study list")
    assert (new.data / "secret_key").read_text() == (old.data / "secret_key").read_text()
    assert (new.data / "erased.txt").read_text().split() == ["b" * 64, "a" * 64]
