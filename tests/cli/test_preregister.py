"""``survey study preregister``, and ``survey analyse --registration``."""

import json
import shutil

import pytest

from survey.services.studies.registration import FILES, sum_of
from tests.commands import CONTACT
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE


@pytest.fixture
def draft(run, tmp_path):
    run("init")
    run("study", "new", "pilot", "--questions", 3, "--seed", 5)
    return tmp_path


def registered(run, folder, *words, **options):
    return run("study", "preregister", "pilot", "--to", folder, *words, **options)


def test_four_files_are_written_and_named_with_their_sum(run, draft):
    folder = draft / "registered"
    printed = registered(run, folder, "--hypothesis", "MNRO leads AP")
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    text = (folder / "registration.json").read_text()
    assert f"SHA-256 of registration.json: {sum_of(text)}" in printed
    assert "Only an external registry proves the date" in printed
    assert "Not stated: Reason for the sample, Data already seen." in printed
    assert json.loads(text)["typed"]["hypothesis"] == "MNRO leads AP"
    content = json.loads(registered(run, draft / "again", "--json"))
    assert (content["sha256"], content["files"]) == (sum_of(text), [*FILES])
    assert (draft / "again" / "registration.json").read_text() == text  # what was stated stays


def test_fields_come_from_a_file_and_options_win(run, draft):
    (draft / "stated.yaml").write_text("hypothesis: from the file\nexisting_data: none\n")
    words = ("--fields", draft / "stated.yaml", "--hypothesis", "from the option")
    registered(run, draft / "one", *words)
    typed = json.loads((draft / "one" / "registration.json").read_text())["typed"]
    expected = {"hypothesis": "from the option", "existing_data": "none", "rationale": ""}
    assert typed == expected
    (draft / "stated.json").write_text('{"rationale": "a class"}')
    registered(run, draft / "two", "--fields", draft / "stated.json")
    typed = json.loads((draft / "two" / "registration.json").read_text())["typed"]
    assert typed == {**expected, "rationale": "a class"}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("hypotesis: x", "stated.yaml: there is no field 'hypotesis'; allowed are hypothesis,"),
        ("hypothesis: [1]", "stated.yaml: hypothesis is "),
        ("just a text", "stated.yaml holds no fields; it has lines like `hypothesis: …`"),
        ("hypothesis: {", "stated.yaml"),
    ],
)
def test_a_faulty_file_of_fields_is_named(run, draft, content, fault):
    (draft / "stated.yaml").write_text(content)
    words = ("--fields", draft / "stated.yaml")
    assert fault in registered(run, draft / "one", *words, status=1)
    assert not (draft / "one").exists()


def test_a_draft_that_cannot_open_is_told_to_be_registered_again(run, draft):
    run("study", "set", "pilot", "asked_by=", "contact=")
    printed = registered(run, draft / "files")
    assert "cannot open yet: participants do not read who asks" in printed
    run("study", "set", "pilot", "asked_by=the IR group", "contact=ir@example.org")
    printed = registered(run, draft / "files", "--force")
    assert "cannot open yet" not in printed
    assert "then `survey study open pilot`." in printed


def test_files_that_exist_are_replaced_only_with_force(run, draft):
    registered(run, draft / "one")
    assert "--force" in registered(run, draft / "one", status=1)
    registered(run, draft / "one", "--force")


def test_opening_warns_of_what_changed_and_only_then(run, draft):
    registered(run, draft / "one")
    printed = run("study", "open", "pilot", *CONTACT)
    assert "Warning: the study is not the registered one; changed: fields of the plan (" in printed
    assert "contact" in printed
    assert "was opened" in registered(run, draft / "two", status=1)


def test_the_analysis_says_first_whether_it_is_the_registered_one(run, draft):
    registered(run, draft / "one")
    run("study", "open", "pilot", *CONTACT)
    run("simulate", "pilot", "--participants", 2)
    run("study", "close", "pilot")
    first = run("analyse", "pilot", "--include-test").splitlines()[0]
    assert first.startswith("The analysis is not the registered one. Changed: digest, sample size")
    content = json.loads(run("analyse", "pilot", "--include-test", "--json"))["registration"]
    assert not content["is_registered"]
    statuses = {item["item"]: item["status"] for item in content["items"]}
    assert statuses["test"] == statuses["pairs"] == statuses["level"] == "same"
    run("analyse", "pilot", "--include-test", "--strict", status=1)
    run("export", "pilot", "--to", draft / "pilot.zip", "--include-test")
    of_bundle = json.loads(run("analyse", draft / "pilot.zip", "--json"))
    assert of_bundle["registration"]["sha256"] == content["sha256"]
    run("analyse", draft / "pilot.zip", "--include-test", "--strict", status=1)
    _same_by_another_file(run, draft)


def _same_by_another_file(run, draft):
    """A registration that fits what was done is no reason to exit with 1."""
    done = json.loads(run("analyse", draft / "pilot.zip", "--include-test", "--json"))
    registration = json.loads((draft / "one" / "registration.json").read_text())
    registration["items"] = {item["item"]: item["done"] for item in done["registration"]["items"]}
    file = draft / "fitting.json"
    file.write_text(json.dumps(registration))
    words = (draft / "pilot.zip", "--include-test", "--registration", file, "--strict")
    assert run("analyse", *words).startswith("The analysis is the registered one.")
    run("analyse", "pilot", *words[1:], "--to", draft / "paper")
    methods = (draft / "paper" / "methods.md").read_text()
    assert "The analysis is the registered one." in methods
    assert "MNRO − NMRR: mean difference" in methods or "not tested" in methods


def test_without_a_registration_strict_is_wrong_usage(run, furnished, tmp_path):
    folder = tmp_path / "votes"
    shutil.copytree(furnished / "votes", folder)
    bundle = furnished / "five-systems.zip"
    assert "There is no registration" in run("analyse", bundle, "--strict", status=2)
    (tmp_path / "r.json").write_text("{}")
    words = ("--registration", tmp_path / "r.json")
    assert "r.json, format: None found" in run("analyse", bundle, *words, status=1)


def test_of_files_from_elsewhere_little_can_be_compared(run, draft, furnished):
    registered(run, draft / "one")
    words = ("--registration", draft / "one" / "registration.json", "--json", "--strict")
    content = json.loads(run("analyse", furnished / "votes", *words))["registration"]
    statuses = {item["item"]: item["status"] for item in content["items"]}
    assert statuses.pop("options") == statuses.pop("version") == "same"
    assert {*statuses.values()} == {"cannot be compared"}
