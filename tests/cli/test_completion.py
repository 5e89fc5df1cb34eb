"""Completion on Tab: a real bash, quick, and silent where there is nothing to say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "flask", "sqlalchemy", "matplotlib", "rich")

# What bash does for Tab: it parts the words, calls the function and takes COMPREPLY.
TAB = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_survey_completion survey
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def shell(furnished, tmp_path_factory):
    """A folder with the command on the PATH, and the script that it printed."""
    folder = tmp_path_factory.mktemp("shell")
    command = folder / "survey"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m survey "$@"\n')
    command.chmod(0o755)
    known = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SURVEY_INSTANCE": str(furnished / "instance"),
    }
    script = subprocess.run(
        ["survey", "completion", "bash"], env=known, capture_output=True, text=True, check=True
    )
    (folder / "completion.bash").write_text(script.stdout)
    return folder, known


@pytest.fixture
def tab(shell):
    """Press Tab in a real bash, after these words; it says what it would offer, and no more."""
    folder, known = shell

    def press(*words, **settings):
        done = subprocess.run(
            ["bash", "--norc", "-c", TAB, "bash", folder / "completion.bash", "survey", *words],
            env=known | settings,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return press


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ex"], ["export"]),
        (["re"], ["researcher", "replicate", "registry", "receipt", "restore"]),
        (["study", "c"], ["check", "close", "copy", "code"]),
        (
            ["study", "check", ""],
            ["five-systems", "spring-study", "lyon", "two-runs", "winter-study"],
        ),
        (["analyse", "f"], ["five-systems"]),
        (["power", "--study", "s"], ["spring-study"]),
        (["researcher", "link", "A"], ["Ada\\ Lovelace", "Alan\\ Turing"]),
        (["researcher", "link", "Ada\\ L"], ["Ada\\ Lovelace"]),
        (["researcher", "link", "'Ada L"], ["Ada Lovelace"]),
        (["study", "share", "five-systems", "Al"], ["Alan\\ Turing"]),
        (["study", "new", "x", "--preset", "mnro-d"], ["mnro-discriminative"]),
        (["study", "new", "x", "--generator", ""], ["random", "discriminative"]),
        (["measure", "1,2", "--measures", "AP,nmr"], ["AP,NMRR"]),
        (["measure", "1,2", "--measures", "nDCG@"], ["nDCG@10"]),
        (["evaluate", "--measures", "AP", "MN"], ["MNRO"]),
        (["evaluate", "--measures=AP", "MN"], ["MNRO"]),
        (["evaluate", "--measures", "AP", "--base"], ["--baseline"]),
        (["paper", "co"], ["correlations"]),
        (["paper", "table4", "--j"], ["--json"]),
        (["completion", "b"], ["bash"]),
    ],
)
def test_bash_offers_what_could_come_next(tab, words, offered):
    assert [one for one in tab(*words) if one] == offered


@pytest.mark.slow
def test_without_a_database_names_are_not_offered_and_nothing_is_made(tab, tmp_path):
    empty = tmp_path / "instance"
    assert tab("study", "check", "", SURVEY_INSTANCE=str(empty)) == [""]
    empty.mkdir()
    assert tab("study", "check", "", SURVEY_INSTANCE=str(empty)) == [""]
    assert list(empty.iterdir()) == []
    (empty / "survey.sqlite3").write_text("this is no database, but as long as its header is")
    assert tab("researcher", "link", "", SURVEY_INSTANCE=str(empty)) == [""]
    elsewhere = "postgresql://nobody@127.0.0.1:1/nothing"
    assert tab("study", "check", "", SURVEY_DATABASE_URI=elsewhere) == [""]
    assert tab("study", "cl", SURVEY_TRUSTED_PROXIES="many") == ["close"]


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("survey analyse ./", "file"),
        ("survey replicate ", "file"),
        ("survey evaluate --run a.txt ", "file"),
        ("survey assess merge a b ", "file"),
        ("survey export five-systems --parquet ", "dir"),
    ],
)
def test_files_and_folders_are_left_to_the_shell(shell, typed, kind):
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), **shell[1]}
    done = subprocess.run(
        ["survey"],
        env=asked | {"_SURVEY_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.partition(",")[0] == kind


def test_tab_loads_no_heavy_library(shell):
    probe = (
        "import contextlib, sys; from survey.__main__ import main\n"
        "with contextlib.suppress(SystemExit): main()\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    asked_for = {
        "survey ex": "plain,export",
        "survey study op": "plain,open",
        "survey study open s": "spring-study",
    }
    for typed, offered in asked_for.items():
        asked = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        done = subprocess.run(
            [sys.executable, "-c", probe],
            env=shell[1] | asked | {"_SURVEY_COMPLETE": "bash_complete"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert offered in done.stdout
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("name", "holds", "check"),
    [
        ("bash", "complete -o nosort -F _survey_completion survey", ["bash", "-n"]),
        ("zsh", "#compdef survey", ["zsh", "-n"]),
        ("fish", 'string split --max 1 "," $completion', ["fish", "--no-execute"]),
    ],
)
def test_each_shell_gets_its_script(desk, name, holds, check):
    script = desk.run(f"survey completion {name}").stdout
    assert holds in script
    (desk.folder / "script").write_text(script)
    if shutil.which(check[0]):
        subprocess.run([*check, desk.folder / "script"], check=True)
