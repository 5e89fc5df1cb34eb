"""The README's commands and code do what it says."""

import re
import shlex
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from survey.cli import survey
from survey.core.measures import MEASURES, Setting, as_lists
from survey.core.measures.registry import others_of
from survey.services import studies
from survey.services.plan_files import read_plan
from tests.commands import runs_for
from tests.databases import ON_SQLITE

README = (Path(__file__).parents[1] / "README.md").read_text()
COMMANDS = re.findall(
    r"^ {4}(?:\.venv/bin/)?survey (.+?)(?: +#.*)?$", README.replace("\\\n", " "), re.MULTILINE
)


@ON_SQLITE
def test_every_command_of_the_readme_runs(app, session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs_for(tmp_path)
    studies.ensure_demo_study(session)
    session.rollback()
    assert len(COMMANDS) >= 20
    for command in COMMANDS:
        arguments = shlex.split(command.replace("--participants 30", "--participants 1"))
        if arguments[0] == "serve":
            arguments = ["serve", "--help"]
        done = CliRunner().invoke(survey, arguments, obj=lambda **_: app)
        assert done.exit_code == 0, (command, done.output)


def test_the_demo_study_and_a_study_of_its_seed_have_the_same_questions(app, session):
    demo = studies.ensure_demo_study(session)
    again = studies.create_study(session, "replication", studies.preset_plan("mnro", seed=2013))
    studies.open_study(session, again)
    assert again.digest == demo.digest
    assert "survey study new replication --seed 2013" in README


def test_the_recipe_for_a_measure_works(tmp_path, monkeypatch):
    module, project = (
        re.search(rf"```{kind}\n(.+?)```", README, re.S).group(1) for kind in ("python", "toml")
    )
    (tmp_path / "screens.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = tomllib.loads(project)["project"]["entry-points"]["survey.measures"]
    others = others_of([EntryPoint(*one, "survey.measures") for one in entries.items()], MEASURES)
    assert not others.faults
    lists, setting = as_lists([[1, 9], [2, 30], [40, 50]], 100), Setting()
    assert others.measures["screen"].compute(lists, setting).tolist() == [1, 0.5, 0]
    shown = others.measures["screen"].shown(lists, setting)
    assert np.array(shown, dtype=float).tolist() == [0, 0.5, 1]


def test_the_files_the_readme_links_to_are_there():
    root = Path(__file__).parents[1]
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (root / target).is_file(), target


def test_the_plan_file_of_the_readme_is_a_plan():
    text = re.search(r"```yaml\n(.+?)```", README, re.S).group(1)
    found = read_plan(text)
    assert (found.plan.generator, found.plan.asked) == ("random", 10)
    assert found.recruitment.code_complete == "C1A2B3"
