"""``survey power``, as its user meets it."""

import csv
import json

import pytest

from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE
SMALL = ("--participants", "20,30", "--questions", 10, "--replicates", 200)


def test_power_prints_a_table_a_reading_and_its_limits(run, tmp_path):
    shown = run("power", *SMALL, "--difference", ".1", "--to", tmp_path / "power.csv")
    assert "With 20 participants answering all of 10 questions, a difference of 10 points" in shown
    assert "20 participants × 10 of 30 questions (200 answers) in" in shown
    assert "Not covered:" in shown
    with (tmp_path / "power.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["design"], row["participants"]) for row in rows] == [
        *(("all", "20"), ("pool", "20"), ("all", "30"), ("pool", "30"))
    ]
    assert all(float(row["power_low"]) < float(row["power"]) for row in rows)


def test_the_figures_do_not_depend_on_the_workers(run):
    one, two = (
        json.loads(run("power", *SMALL, "--json", "--workers", workers)) for workers in (1, 2)
    )
    assert one == two
    assert len(one["studies"]) == 12
    assert (one["alpha"], one["decided"], one["seed"]) == (0.05, 0.68, 1)


def test_power_takes_a_studys_plan_and_options_override_it(run):
    run("init")
    run("study", "new", "pilot", "--questions", 7, "--participants", 12)
    options = ("--study", "pilot", "--replicates", 100, "--difference", 0.1, "--json")
    planned = json.loads(run("power", *options))["studies"]
    assert [(s["participants"], s["questions"], s["design"]) for s in planned] == [(12, 7, "all")]
    more = json.loads(run("power", *options, "--participants", "12,24"))["studies"]
    assert [study["participants"] for study in more] == [12, 24]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--participants", "few"], 2, "Error: participants is 'few'; one to 10 whole numbers"),
        (["--difference", ".9"], 2, "difference is 0.9; where a share of 0.68"),
        (["--workers", "0"], 2, "0 is not in the range"),
        (["--to", "nowhere/power.csv"], 2, "There is no folder nowhere to write power.csv to."),
        (["--study", "nowhere"], 1, "There is no study 'nowhere'."),
    ],
)
def test_wrong_values_end_in_one_sentence(run, arguments, status, message):
    run("init")
    assert message in run("power", *arguments, status=status)
