"""`survey collection` and `receipt`, from the publication to the check of a receipt."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.services.collections.sending import TOKEN_VARIABLE
from tests.secret_album import a_run, album_files


def printed_by(*words, token="", folder=".", instance="none", status=0):
    """Return what a command printed, with this token and instance in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TOKEN_VARIABLE, token)
        patch.setenv("SURVEY_INSTANCE", str(instance))
        patch.chdir(folder)
        done = CliRunner().invoke(survey, words, prog_name="survey")
    assert done.exit_code == status, done.output
    return done.output


@pytest.mark.slow
def test_a_collection_is_published_answered_closed_and_checked_by_commands(server, tmp_path):
    def survey(*words, **options):
        return printed_by(*words, folder=tmp_path, instance=server.instance, **options)

    files = album_files(tmp_path)
    name = f"album-{os.getpid()}"
    publish = ("--qrels", str(files["qrels"]), "--secret", str(files["secret"]))
    published = survey(
        *("collection", "publish", name, *publish, "--baseline", "base.txt", "--json")
    )
    digest = json.loads(published)["digest"]
    added = survey("collection", "group", "add", name, "ACME", "--json")
    token = json.loads(added)["token"]
    address = f"{server.address}/collections/{name}"
    (tmp_path / "faulty.txt").write_text("t1 Q0 d1 1 high tag\n")
    printed = survey("collection", "submit", address, "faulty.txt", token=token, status=1)
    assert "line 1: score 'high' found" in printed
    assert not (tmp_path / "faulty.txt.receipt.json").exists()
    run = tmp_path / "run.txt"
    run.write_text(a_run(3.0))
    printed = survey("collection", "submit", address, "run.txt", token=token)
    assert "AP: ." in printed
    assert "(*** against the baseline base)" in printed
    saved = Path(f"{run}.receipt.json")
    assert json.loads(saved.read_text())["digest"] == digest
    key = json.loads(saved.read_text())["public_key"]
    assert "is as it was signed: ACME" in survey("receipt", "check", str(saved))
    assert "is valid: ACME" in survey("receipt", "check", str(saved), "--key", key)
    other = survey("receipt", "check", str(saved), "--key", "00" * 32, status=1)
    assert "is not valid: it is signed by the key" in other
    saved.write_text(saved.read_text().replace('"number": 1', '"number": 2'))
    changed = survey("receipt", "check", str(saved), status=1)
    assert "is not valid: it was changed after it was signed" in changed
    printed = survey("collection", "submit", address, "run.txt", token=token, status=1)
    assert "is there already; --force replaces it" in printed
    again = survey("collection", "submit", address, "run.txt", "--force", "--json", token=token)
    assert json.loads(again)["number"] == 1
    (tmp_path / "other.txt").write_text(a_run(1.0, 2))
    printed = survey("collection", "submit", address, "other.txt", token=token, status=1)
    assert "has sent its run of today" in printed
    closed = survey("collection", "close", name, "--json")
    assert [row["name"] for row in json.loads(closed)["final"]] == ["ACME", "baseline base"]
    survey("collection", "reveal", name)


@pytest.mark.parametrize(
    ("address", "token", "status", "sentence"),
    [
        ("https://survey.example.org/collections/x", "", 2, f"{TOKEN_VARIABLE} is not set"),
        ("http://survey.example.org/collections/x", "t", 1, "use https"),
        ("survey.example.org", "t", 1, "is not the address of a collection's page"),
        ("http://127.0.0.1:9/collections/x", "t", 1, "does not answer (ConnectionError)"),
    ],
)
def test_an_address_that_cannot_be_asked_is_named(tmp_path, address, token, status, sentence):
    run = tmp_path / "run.txt"
    run.write_text(a_run(1.0))
    printed = printed_by("collection", "submit", address, str(run), token=token, status=status)
    assert sentence in printed
    assert token == "" or f" {token} " not in printed


def test_a_file_that_is_no_receipt_is_named(tmp_path):
    for text in ("", "[]", "{}", '{"format": "survey receipt 1"}', "\x00"):
        file = tmp_path / "receipt.json"
        file.write_text(text)
        assert "receipt" in printed_by("receipt", "check", str(file), status=1)
