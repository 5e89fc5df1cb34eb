"""Into the container's image, and into git, goes what is meant to and nothing that is secret."""

import re
import subprocess
import tomllib

from tests.guides.pages import ROOT

# What a server's administrator may have lying in the checkout, and what nobody thought of.
PRIVATE = (
    *(".env", "secret_key", "erased.txt", "survey.sqlite3", "survey.sqlite3-wal"),
    *("backups/survey-2027-01-31.sqlite3", "survey-backup/secret_key", "instance/secret_key"),
    *("survey/secret_key", "static/erased.txt", "templates/survey.sqlite3"),
)


def is_copied(path):
    """Whether `COPY . /source` sees a file: the last pattern of .dockerignore that fits decides."""
    copied = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        if pattern and not pattern.startswith("#") and fits(pattern, path):
            copied = line.startswith("!")
    return copied


def fits(pattern, path):
    """Whether a pattern is a file or a folder above it; ** is any number of folders."""
    meant = re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
    return re.fullmatch(f"{meant}(/.*)?", path) is not None


def test_no_key_backup_or_password_gets_into_the_image():
    assert [path for path in PRIVATE if is_copied(path)] == []
    assert not any(is_copied(f"{made}/anything") for made in ("new-folder", "instance", ".git"))
    assert not is_copied("a-file-nobody-thought-of")


def test_the_image_copies_nothing_but_what_the_ignore_file_lets_through():
    copies = re.findall(r"^(?:COPY|ADD) .*$", (ROOT / "Containerfile").read_text(), re.MULTILINE)
    assert copies == ["COPY . /source"]


def test_all_that_the_wheel_is_made_of_gets_into_the_image():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    built = project["tool"]["hatch"]
    named = [project["project"]["readme"], *project["project"]["license-files"]]
    named += [built["version"]["path"], "pyproject.toml", "requirements.lock"]
    assert all(is_copied(name) for name in named)
    wheel = built["build"]["targets"]["wheel"]
    folders = (*wheel["packages"], *wheel["force-include"])
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True)
    tracked = listed.stdout.splitlines()
    assert len(tracked) > 100
    assert [path for path in tracked if not is_copied(path)] == []


def test_git_takes_no_key_backup_or_password():
    asked = ["git", "check-ignore", "--no-index", *PRIVATE]
    ignored = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert ignored.stdout.splitlines() == list(PRIVATE)
