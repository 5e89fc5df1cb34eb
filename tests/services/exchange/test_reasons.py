"""Reasons and closing questions in a bundle: written, replicated and imported."""

import csv
import io
import json

import pytest

from survey.services import accounts
from survey.services.exchange import bundle, bundle_import
from survey.services.exchange.bundle_reader import read_bundle, replicate
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.studies import lifecycle
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import readdressed
from tests.web.test_closing import QUESTIONS


@pytest.fixture
def files(client, session):
    """The bundle of a study that asks for reasons and has closing questions."""
    study = an_open_study(session, closing_questions=QUESTIONS, reason_question="Why?", questions=2)
    visitor = Visitor(client)
    visitor.go("/q/2")
    visitor.submit("/q/2", choice="1", reason='=1+1, "so"\nit is')
    visitor.submit("/closing", ease="4", remarks="+ 5,\n– 3")
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    return open_files(io.BytesIO(b"".join(bundle.stream_bundle(session, study))), "a.zip")


def rows_of(files, name):
    return [*csv.DictReader(io.StringIO(files[name].decode(), newline=""))]


def test_reasons_and_closing_answers_are_exported_replicated_and_imported(files, session):
    assert any("participants" in line for line in replicate(files))
    first, second = rows_of(files, "responses.csv")
    assert [*first][-1] == "reason"
    assert (first["reason"], second["reason"]) == ("because", '\'=1+1, "so"\nit is')
    [person] = rows_of(files, "participants.csv")
    assert [*person][-3:] == ["ease", "sure", "remarks"]
    assert [person[name] for name in ("ease", "sure", "remarks")] == ["4", "", "'+ 5,\n– 3"]
    texts = json.loads(files["study.json"])["texts"]
    assert next(iter(texts.values()))["remarks"] == "+ 5,\n– 3"
    numbers = json.loads(files["analysis.json"])["table3"]["numbers"]
    assert (numbers["ease"]["mean"], numbers["sure"]["mean"]) == (4.0, None)
    assert "ease_mean,4.0000" in files["table3.csv"].decode()
    meanings = {
        (row["file"], row["column"]): (row["type"], row["allowed"], row["meaning"])
        for row in rows_of(files, "codebook.csv")
    }
    assert meanings["participants.csv", "ease"] == (
        *("whole number", "1 to 5: very hard to very easy", "asked: How easy was it?"),
    )
    assert meanings["participants.csv", "remarks"][1] == "up to 2000 characters; may be empty"
    assert meanings["responses.csv", "reason"][1] == "may be empty"
    session.rollback()
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "a.zip", "again", ada)
    again = open_files(io.BytesIO(b"".join(bundle.stream_bundle(session, copy))), "b.zip")
    again = readdressed(again, files)
    for name in ("responses.csv", "participants.csv", "codebook.csv"):
        assert again[name] == files[name]


@ON_SQLITE
def test_fields_may_be_called_as_the_fields_of_a_record(client, session):
    """Otherwise their column held what the record has under this name."""
    names = ("personal", "closing", "public_id")
    asked = [{"name": name, "label": name, "kind": "text", "required": False} for name in names]
    for slug, personal, closing in (("a", asked, []), ("b", [], asked)):
        study = an_open_study(
            session, slug, personal_fields=personal, closing_questions=closing, questions=1
        )
        visitor = Visitor(client, slug)
        visitor.go("/closing", "/review", closing="so")
        if closing:
            visitor.submit("/closing", closing="so")
        visitor.submit("/review")
        session.rollback()
        lifecycle.close_study(session, study)
        files = open_files(io.BytesIO(b"".join(bundle.stream_bundle(session, study))), "a.zip")
        [person] = rows_of(files, "participants.csv")
        assert [person[name] for name in names] == ["", "so", ""]
        assert [*replicate(files)]
        session.rollback()


@ON_SQLITE
@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("participants.csv", ",4,", ",6,", "column ease: '6' found; allowed is 1 to 5"),
        ("responses.csv", "because", "x" * 2001, "2000 characters at most is needed"),
    ],
)
def test_a_bundle_with_an_impossible_value_is_refused(files, name, old, new, fault):
    changed = {**files, name: files[name].replace(old.encode(), new.encode())}
    with pytest.raises(BundleError, match=fault):
        read_bundle(changed)


def test_a_study_that_asks_nothing_more_has_the_columns_that_it_always_had(session):
    study = an_open_study(session)
    session.rollback()
    files = open_files(io.BytesIO(b"".join(bundle.stream_bundle(session, study))), "a.zip")
    assert files["responses.csv"].decode().splitlines()[0].endswith(",typed,scores_seen")
    assert files["participants.csv"].decode().splitlines()[0].endswith(",understood,arm")
