"""The README and the guides say what is there; tests/guides runs their commands."""

import re
import shlex
import tomllib
from dataclasses import replace
from importlib.metadata import EntryPoint

import click
import numpy as np
import pytest

from benchmarks.speed.pages import findings_table
from benchmarks.speed.part import kept
from benchmarks.speed.parts import NAMES
from survey.cli import survey
from survey.core.measures import MEASURES, Setting, as_lists
from survey.core.measures.registry import load_plugins
from survey.services.operations import demo
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import read_plan
from tests.databases import ON_SQLITE
from tests.guides.pages import PAGES, ROOT, block_of, page_named

README = (ROOT / "README.md").read_text()
# In prose: `survey study new`, `survey export --with-identities`.
SPOKEN_OF = re.compile(r"`(?:\.venv/bin/)?survey ((?:[a-z-]|--)[^`\n]*)`")


def test_the_start_and_what_each_of_the_three_does_first_are_on_the_first_screen():
    before, _, first = README.partition("## What you do first")
    assert before.count("\n") < 25
    assert before.count("![") == 1
    assert "```sh\nmake run " in before
    assert not [name for name in ("MNRO", "nDCG", "precision") if name in before]
    table = first.partition("## ")[0]
    for who in ("a participant", "a researcher", "a replicator"):
        assert f"| **{who}** |" in table
    for command in ("make run", "make install", "survey replicate"):
        assert command in table


@pytest.mark.slow
@ON_SQLITE
def test_the_demo_study_and_a_study_of_its_seed_have_the_same_questions(app, session):
    first = demo.ensure_studies(session)
    plan = plans.preset_plan("mnro", seed=2039, **demo.DEMO_CONTACT)
    again = lifecycle.create_study(session, "replication", plan)
    lifecycle.open_study(session, again)
    assert again.digest == first.digest
    assert (
        "survey study new replication --seed 2039"
        in page_named("replicate-the-paper.md").read_text()
    )


def test_the_recipe_for_a_measure_works(tmp_path, monkeypatch):
    page = page_named("add-a-measure.md")
    (tmp_path / "screens.py").write_text(block_of(page, "screens/screens.py"))
    monkeypatch.syspath_prepend(str(tmp_path))
    project = tomllib.loads(block_of(page, "screens/pyproject.toml"))["project"]
    entries = project["entry-points"]["survey.measures"]
    others = load_plugins(
        [EntryPoint(*one, "survey.measures") for one in entries.items()], MEASURES
    )
    assert not others.faults
    lists, setting = as_lists([[1, 9], [2, 30], [40, 50]], 100), Setting()
    assert others.measures["screen"].compute(lists, setting).tolist() == [1, 0.5, 0]
    shown = others.measures["screen"].shown(lists, setting)
    assert np.array(shown, dtype=float).tolist() == [0, 0.5, 1]


def test_the_plan_file_of_the_guide_is_the_plan_it_speaks_of():
    plan_file = read_plan(block_of(page_named("settings.md"), "plan.yaml"))
    assert (plan_file.plan.generator, plan_file.plan.asked) == ("random", 10)
    assert (plan_file.plan.personal_until, plan_file.plan.marked) == ("2027-06-30", ())
    assert plan_file.recruitment.code_complete == "C1A2B3"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_and_option_that_prose_speaks_of_is_there(page):
    for said in SPOKEN_OF.findall(page.read_text()):
        command: click.Command = survey
        for word in shlex.split(re.sub(r"[⟨⟩…()]", " ", said)):
            if isinstance(command, click.Group) and not word.startswith("-"):
                found = command.get_command(click.Context(command), word)
                assert found is not None, said
                command = found
            elif word.startswith("--"):
                assert any(word in one.opts for one in command.get_params(click.Context(command)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page):
    for target in re.findall(r"\]\((?!http)([^)]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if heading:
            assert heading in headings_of(file), target


def headings_of(page):
    """The names by which a page's headings are linked to."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_guide_stands_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index, page.name


def test_figures_quoted_from_speed_are_those_of_speed():
    findings = [one for name in NAMES for one in kept(name)[0].findings]
    measured = findings_table([replace(one, note="") for one in findings])
    quoted = page_named("thousand-participants.md").read_text().partition("| Measured | Found |")[2]
    rows = re.findall(r"^(\| .+) \|$", quoted.partition("\n\n")[0], re.MULTILINE)
    assert len(rows) == 3
    for row in rows:
        assert row in measured, row
