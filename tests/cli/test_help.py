"""What every command says of itself: examples that run, in lines that fit."""

import pytest
from click.testing import CliRunner

from survey.cli import survey
from tests.cli.desk import ALL, LEAVES

WIDTH = 80

MAILS = "it needs a mail server: tests/cli/test_invite.py"
# Examples that cannot be run here, and where what they show is tested.
ELSEWHERE = {
    "survey serve": "it serves until it is stopped: tests/browser and tests/promises",
    "survey power --replicates 100000": "it needs a cluster: tests/services/test_executors.py",
    "survey power --from-bundle": "it needs answers: tests/cli/test_power.py",
    "survey study new better": "its runs contradict nowhere: tests/tasks/test_preference.py",
    "survey study new ordered --judgements-of": "it needs labels: tests/cli/test_labelling.py",
    "survey feedback --qrels judgements": "it needs labels: tests/cli/test_labelling.py",
    "survey collection submit": "it needs a server: tests/cli/test_collection.py",
    "survey study invite spring-study --guests people.csv --send": MAILS,
    "survey study invite spring-study --remind": MAILS,
}
EXAMPLES = [(path, one.examples) for path, one in ALL.items()]


@pytest.mark.parametrize("path", ALL)
def test_every_help_fits_80_columns_and_ends_with_examples(path):
    told = CliRunner().invoke(survey, [*path.split()[1:], "--help"], prog_name="survey").output
    lines = told.splitlines()
    assert max(map(len, lines)) <= WIDTH, max(lines, key=len)
    *_, examples = told.split("\nExamples:\n")
    assert 1 <= examples.count("  survey ") + examples.count(" survey restore ") <= 6
    assert examples.splitlines() == [
        f"  {line}" for one in ALL[path].examples for line in one.splitlines()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "examples"), EXAMPLES, ids=ALL)
def test_every_example_runs_as_it_is_printed(desk, path, examples):
    for example in examples:
        if not example.startswith(tuple(ELSEWHERE)):
            desk.run(example)


@pytest.mark.parametrize("path", LEAVES)
def test_examples_are_of_their_own_command(path):
    assert any(f"{path} " in f"{example} " for example in ALL[path].examples)


def test_the_first_help_lists_all_commands_by_what_they_are_for(desk):
    told = desk.run("survey --help").stdout
    places = [told.index(f"\n  {path.split()[1]} ") for path in ALL if path.count(" ") == 1]
    assert len(places) >= 20
    assert places == sorted(places)
    headings = ("Run a study:", "Analyse and export:", "Score lists and runs:", "Administer:")
    assert sorted(told.index(one) for one in headings) == [told.index(one) for one in headings]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("survey analyze", "Did you mean 'analyse'?"),
        ("survey studi list", "Did you mean 'study'?"),
        ("survey study opne x", "'open'"),
        ("survey assess mergee", "Did you mean 'merge'?"),
        ("survey analyse --jsno", "Did you mean one of: '--json', '--to'?"),
        ("survey evaluate --baselin x", "Did you mean '--baseline'?"),
        ("survey paper tabel4", "'tabel4' is not one of 'table1'"),
    ],
)
def test_a_word_mistyped_is_told_with_what_was_probably_meant(desk, typed, meant):
    done = desk.run(typed, status=2)
    assert meant in done.stderr
    assert done.stdout == ""


def test_the_command_alone_prints_its_help(desk):
    done = desk.run("survey", status=2)
    assert done.output == desk.run("survey --help").output
