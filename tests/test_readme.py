"""The README's commands and code do what it says."""

import re
import shlex
import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from survey.cli import survey
from survey.core.measures import Measure, Setting, as_ranks
from survey.services import studies
from survey.services.plan_files import read_plan
from tests.databases import ON_SQLITE

README = (Path(__file__).parents[1] / "README.md").read_text()
COMMANDS = re.findall(r"^ {4}(?:\.venv/bin/)?survey (.+?)(?: +#.*)?$", README, re.MULTILINE)


@ON_SQLITE
def test_every_command_of_the_readme_runs(app, session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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


def test_the_recipe_for_a_measure_works():
    module, entry = (
        textwrap.dedent(block) for block in re.findall(r" {3}```python\n(.+?) {3}```", README, re.S)
    )
    names = {"Measure": Measure, "Fraction": Fraction}
    exec(module, names)
    measure = eval(entry.strip().rstrip(","), names)
    ranks = as_ranks([[1, 9], [2, 3], [4, 5]], 10)
    assert measure.compute(ranks, Setting()).tolist() == [1, 0.5, 0.25]
    shown = measure.shown(ranks, Setting())
    assert np.array(shown, dtype=float).tolist() == [0, 0.5, 0.75]


def test_the_files_the_readme_links_to_are_there():
    root = Path(__file__).parents[1]
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (root / target).is_file(), target


def test_the_plan_file_of_the_readme_is_a_plan():
    text = re.search(r"```yaml\n(.+?)```", README, re.S).group(1)
    found = read_plan(text)
    assert (found.plan.generator, found.plan.asked) == ("discriminative", 10)
    assert found.recruitment.code_complete == "C1A2B3"
