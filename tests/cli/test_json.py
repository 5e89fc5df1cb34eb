"""``--json`` everywhere: facts for scripts on stdout, and nothing else there."""

import json
import shlex

import pytest

from tests.cli.desk import LEAVES
from tests.commands import CONTACT

WITHOUT = {
    "survey serve": "it runs until it is stopped, and tells people where; scripts ask /readyz",
    "survey completion": "it prints a script",
    "survey study schema": "it prints JSON in any case",
}
ELSEWHERE = {
    "survey collection submit": "it needs a server: tests/cli/test_collection.py",
}


def has_json(command):
    return any("--json" in option.opts for option in command.params)


def test_every_command_has_the_option_but_for_a_few_with_a_reason():
    assert {path for path, one in LEAVES.items() if not has_json(one)} == WITHOUT.keys()


@pytest.mark.parametrize("path", [path for path in LEAVES if path not in {*WITHOUT, *ELSEWHERE}])
def test_every_command_prints_json_and_nothing_else(desk, path):
    example, _, _ = LEAVES[path].examples[0].partition("  #")
    line = example.partition(" > ")[0].removesuffix(" --json")
    found = json.loads(desk.run(f"{line} --json").stdout)
    assert isinstance(found, dict | list)
    assert found


def facts(desk, line):
    return json.loads(desk.run(f"{line} --json").stdout)


def test_a_studys_life_is_told_in_the_same_words_at_every_step(desk):
    made = facts(desk, "survey study new pilot --seed 1 --questions 2")
    assert (made.pop("warnings"), made.pop("files")) == ([], [])
    told = [made[name] for name in ("slug", "status", "digest", "seed")]
    assert told == ["pilot", "draft", None, 1]
    opened = facts(desk, f"survey study open pilot {shlex.join(CONTACT)}")
    assert opened == made | {"status": "open", "digest": opened["digest"]}
    assert facts(desk, "survey study close pilot") == opened | {"status": "closed", "under_way": 0}
    copied = facts(desk, "survey study copy pilot again")
    assert copied == made | {"slug": "again", "address": "/s/again"}
    assert facts(desk, 'survey study share again "Alan Turing"') == {
        "study": "again",
        "researcher": "Alan Turing",
        "role": "owner",
    }


def test_a_plan_as_json_makes_the_same_study(desk):
    desk.run("survey study plan five-systems --json > plan.json")
    desk.run("survey study new again --from plan.json")
    digests = [
        facts(desk, f"survey study open {slug} {shlex.join(CONTACT)}")["digest"]
        for slug in ("again",)
    ]
    assert digests == [facts(desk, "survey study show five-systems")["digest"]]


def test_links_and_accounts_are_told(desk):
    added = facts(desk, "survey researcher add Grace --at https://survey.example.org/")
    assert added["link"].startswith("https://survey.example.org/research/welcome/")
    assert (added["name"], added["good_for_minutes"]) == ("Grace", 30)
    known = {one["name"]: one["password_set"] for one in facts(desk, "survey researcher list")}
    assert known == {"Ada Lovelace": False, "Alan Turing": False, "Grace": False}
    reset = facts(desk, "survey researcher reset-second-factor Grace")
    assert reset == {"reset": "Grace"}
    assert facts(desk, "survey researcher remove Grace --yes") == {"removed": "Grace"}


def test_nothing_is_asked_with_json(desk):
    done = desk.run('survey researcher remove "Ada Lovelace" --json', status=2)
    assert "it needs --yes" in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_the_database_its_backup_and_its_restoring_are_told(desk):
    there = facts(desk, "survey init")
    assert there["before"] == there["revision"] == facts(desk, "survey upgrade")["revision"]
    kept = facts(desk, "survey backup now.sqlite3")
    assert (kept["file"], kept["rows"]["study"]) == ("now.sqlite3", 5)
    back = facts(desk, "SURVEY_INSTANCE=/srv/survey survey restore now.sqlite3")
    assert (back["rows"], back["erased_again"], back["kept"]) == (kept["rows"], 0, None)


@pytest.mark.slow
def test_a_bundle_written_checked_and_taken_in_is_told(desk):
    written = facts(desk, "survey export five-systems --to new.zip --include-test")
    assert (written["written"], written["include_test"]) == ("new.zip", True)
    checked = facts(desk, "survey replicate new.zip")
    assert checked["agrees"] is True
    assert any(written["digest"] in step for step in checked["checked"])
    taken = facts(desk, 'survey import new.zip --as again --owner "Ada Lovelace"')
    assert (taken["slug"], taken["digest"]) == ("again", written["digest"])


@pytest.mark.slow
def test_a_simulation_tells_what_was_planted(desk):
    asked = "survey simulate five-systems --participants 1 --seed 7 --prefer MNRO=.6,AP=.4"
    assert facts(desk, asked) == {
        "study": "five-systems",
        "participants": 1,
        "questions_each": 3,
        "seed": 7,
        "prefer": {"MNRO": 0.6, "AP": 0.4},
    }


def test_a_gold_standard_tells_each_topics_rule(desk):
    found = facts(desk, "survey assess gold one.txt two.txt --to gold.txt")
    assert [(one["topic"], one["rule"]) for one in found["topics"]] == [("3", "union of two")]
    assert found["statistics"][0]["topics"] == 1
    assert [name for name in found["files"] if (desk.folder / name).is_file()] == found["files"]


def test_a_bundle_that_does_not_agree_is_a_fact_too(desk):
    done = desk.run("survey replicate qrels.txt --json", status=1)
    found = json.loads(done.stdout)
    assert found["agrees"] is False
    assert done.stderr == f"Error: {found['why']}\n"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("survey study show nowhere --json", 1),
        ("survey restore survey-sunday.sqlite3 --json", 1),
        ("survey measure 1,x --json", 2),
    ],
)
def test_errors_stay_on_stderr_and_stdout_stays_empty(desk, line, status):
    done = desk.run(line, status=status)
    assert done.stdout == ""
    assert "Error: " in done.stderr
