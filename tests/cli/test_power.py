"""``survey power``, as its user meets it."""

import csv
import json
import re

import pytest

from survey.core.studies.rankings import Ranking, contrast, is_balanced
from tests.databases import ON_SQLITE
from tests.guides.pages import ROOT
from tests.preferred import a_preference_study

pytestmark = ON_SQLITE
SMALL = ("--participants", "20,30", "--questions", 10, "--difference", ".3", "--replicates", 200)


def test_power_prints_a_table_a_reading_and_its_limits(run, tmp_path):
    shown = run("power", *SMALL, "--to", tmp_path / "power.csv")
    assert "With 20 participants answering all of 10 questions, the verdict finds a diff" in shown
    assert "A difference of 30 points: 20 participants × all of 10 questions (200 answers)" in shown
    assert "80 % take about" in shown or "which is enough" in shown
    assert "The two measures' orders contradict each other in 100 % of the questions" in shown
    assert "Not covered:" in shown
    with (tmp_path / "power.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["design"], row["participants"]) for row in rows] == [
        *(("all", "20"), ("pool", "20"), ("all", "30"), ("pool", "30"))
    ]
    assert all(float(row["power_low"]) < float(row["power"]) for row in rows)
    assert all(row["power_for_order"] == row["power"] != row["power_equal"] for row in rows)


def test_the_guide_quotes_what_its_first_command_prints(run):
    text = (ROOT / "docs/run-your-own-study.md").read_text(encoding="utf-8")
    [options, *_] = re.findall(r"^survey power (.+)$", text, re.MULTILINE)
    studies = json.loads(run("power", *options.split(), "--json"))["studies"]
    quoted = re.findall(r"in (\d+) % \(±2\) of studies of 10 questions, and in\s(\d+) %", text)
    assert quoted == [tuple(f"{100 * study['power']:.0f}" for study in studies)]


def test_the_study_asked_for_has_a_single_power_also_where_it_is_the_largest(run):
    asked = ("--participants", 6, "--questions", 50, "--pool", "none", "--measures", 2)
    spreads = ("--decided", ".9", "--between-questions", ".2", "--difference", ".2")
    shown = " ".join(run("power", *asked, *spreads).split())
    assert shown.count("6 participants × all of 50 questions") == 1
    assert "More than 50 questions for each are not tried." in shown
    assert "help more" not in shown
    figures = json.loads(run("power", *asked, *spreads, "--json"))
    [study], [_, questions] = figures["studies"], figures["enough"]
    assert questions == {"power": 0.8, "more": "questions for each", "reached": False, **study}


def test_a_study_that_can_decide_nothing_says_why(run):
    asked = ("--participants", 20, "--pool", "none", "--difference", ".1", "--replicates", 100)
    shown = " ".join(run("power", *asked, "--questions", 5).split())
    why = "Of questions of this kind nothing can be said: with 5 questions no p is below .0625; it"
    assert (
        "in 0 % of studies (±2), for questions of this kind, corrected for 3 comparisons" in shown
    )
    assert why in shown
    [study] = json.loads(run("power", *asked, "--questions", 5, "--json"))["studies"]
    assert (study["power"], study["why"]) == (0, f"{why} takes 6.")
    [study] = json.loads(run("power", *asked, "--questions", 6, "--json"))["studies"]
    assert "why" not in study


@pytest.mark.slow
def test_the_figures_do_not_depend_on_the_workers(run):
    one, two = (
        json.loads(run("power", *SMALL, "--json", "--workers", workers)) for workers in (1, 2)
    )
    assert one == two
    assert len(one["studies"]) == 4
    assert (one["alpha"], one["decided"], one["seed"]) == (0.05, 0.68, 1)
    assert (one["measures"], one["contrasts"]) == (
        3,
        {"contradicting": 1.0, "balanced": 1.0},
    )
    assert [way["more"] for way in one["enough"]] == [
        *("participants", "participants with a pool", "questions for each")
    ]


@pytest.mark.slow
def test_power_takes_a_studys_plan_and_options_override_it(run):
    run("init")
    run("study", "new", "pilot", "--questions", 7, "--participants", 12)
    options = ("--study", "pilot", "--replicates", 100, "--difference", 0.1, "--json")
    planned = json.loads(run("power", *options))["studies"]
    assert [(s["participants"], s["questions"], s["design"]) for s in planned] == [(12, 7, "all")]
    found = json.loads(run("power", *options))
    assert found["studies"] == planned
    checked = json.loads(run("study", "check", "pilot", "--json"))
    orders = [each["rankings"] for each in checked["questions"] if each["question"]]
    both = [[Ranking.parse(of[name]) for name in ("MNRO", "NMRR")] for of in orders]
    kinds = [contrast(*of) for of in both]
    balanced = [of for of in both if contrast(*of) == "contradicting" and is_balanced(*of)]
    assert found["contrasts"].pop("balanced", 0) == len(balanced) / 7
    assert found["contrasts"] == {kind: kinds.count(kind) / 7 for kind in kinds}
    opposed, ties, same = (
        f"{100 * kinds.count(kind) / 7:.0f} %"
        for kind in ("contradicting", "ties_only", "identical")
    )
    shown = run("power", *options[:-1])
    assert f"orders of MNRO and NMRR contradict each other in {opposed} of the questions" in shown
    assert f"; in {ties} one only breaks ties of the other, in {same} they are identical." in shown
    more = json.loads(run("power", *options, "--participants", "12,24"))["studies"]
    assert [study["participants"] for study in more] == [12, 24]


@pytest.mark.slow
def test_spreads_drop_outs_and_what_decides_come_from_a_past_study(run, tmp_path):
    text = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    for name, content in re.findall(r"```csv votes/(\S+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    figures = json.loads(run("analyse", tmp_path, "--json"))
    options = ("--from-bundle", tmp_path, *SMALL, "--pair", "NMRR-AP", "--json")
    found = json.loads(run("power", *options))
    pair = next(each for each in figures["differences"] if each["pair"] == "NMRR-AP")
    test = pair["components"]
    assert found["between_questions"] == pytest.approx(max(0, test["question"]) ** 0.5, abs=6e-4)
    spread = max(0, test["participant"]) ** 0.5
    assert found["between_participants"] == pytest.approx(spread, abs=6e-4)
    decided = (pair["mcnemar"]["n10"] + pair["mcnemar"]["n01"]) / figures["n"]["responses"]
    assert found["decided"] == pytest.approx(decided, abs=6e-4)
    other = json.loads(run("power", *options, "--between-questions", ".3"))
    assert other["between_questions"] == 0.3
    wrong = run("power", "--from-bundle", tmp_path, "--pair", "AP-F1", status=1)
    assert "a pair is like MNRO-NMRR" in wrong


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--participants", "few"], 2, "Error: participants is 'few'; one to 10 whole numbers"),
        (["--difference", ".9"], 2, "difference is 0.9; where a share of 0.68"),
        (["--workers", "0"], 2, "0 is not in the range"),
        (["--to", "nowhere/power.csv"], 2, "There is no folder nowhere to write power.csv to."),
        (["--study", "nowhere"], 1, "There is no study 'nowhere'."),
        (["--pair", "MNRO-AP"], 2, "--pair names measures of --study or --from-bundle"),
    ],
)
def test_wrong_values_end_in_one_sentence(run, arguments, status, message):
    run("init")
    assert message in run("power", *arguments, status=status)


def test_a_study_in_which_no_lists_are_ordered_is_refused(run, session):
    run("init")
    a_preference_study(session, slug="pairs")
    printed = " ".join(run("power", "--study", "pairs", status=1).split())
    assert "so of studies of kind 'ordering'; this study is of kind 'preference'." in printed


def test_the_bundle_that_is_read_is_not_replaced(run, tmp_path):
    bundle = tmp_path / "past.zip"
    bundle.write_bytes(b"a bundle")
    printed = run("power", "--from-bundle", bundle, "--to", bundle, status=1)
    assert "is a file that is read" in " ".join(printed.split())
    assert bundle.read_bytes() == b"a bundle"


def test_figures_are_printed_also_where_their_file_cannot_be_written(run, tmp_path):
    run("init")
    (tmp_path / "full").symlink_to("/dev/full")
    printed = run("power", "--replicates", 100, "--to", tmp_path / "full", status=1)
    assert "participants" in printed
    assert "full cannot be written: No space left on device." in printed


def test_what_a_machine_saves_is_computed_and_written(run, tmp_path):
    options = ("--machine-correlation", ".8", "--pool-size", 4000, "--to", tmp_path / "saved.csv")
    told = run("power", *options, "--judged", "10,200")
    assert "200 judged by people and 4,000 by a machine the 95 % interval is ±.041" in told
    assert "Estimates use a machine only from 20 units of people on" in told
    assert (tmp_path / "saved.csv").read_text().splitlines()[1].startswith("10,4000,0.8,")
    useless = run("power", "--machine-correlation", "0", "--pool-size", 30)
    assert useless.count("The machine saves nothing.") == 1


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--pool-size", "40", "--judged", "50"), "judged is 50; it is at most 40"),
        (("--judged", "50", "--participants", "30"), "--participants is about simulated studies"),
        (("--machine-correlation", "2"), "machine_correlation is 2; a share from 0 to 1"),
    ],
)
def test_what_no_machine_saves_is_refused(run, options, fault):
    assert fault in " ".join(run("power", *options, status=2).split())
