"""Promise 9: every text that people can write goes through the real export, and comes back."""

import csv
import io
import itertools
import json

import pytest

from survey.app import create_app, db
from survey.config import Settings
from survey.core.kinds import plan_from_json
from survey.core.studies.fields import is_storable, tidy_text
from survey.core.text_input import unescaped
from survey.db.models import Guest, Identity, Participant, Study
from survey.errors import SurveyError
from survey.kinds.ordering.answer import OrderingAnswer
from survey.kinds.ordering.sheets import tables_of
from survey.services import accounts
from survey.services.analysis.sheets import as_csv
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle import content_of
from survey.services.operations.database import upgrade_database
from survey.services.participation import participants
from survey.services.participation.participants import Arrival
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import recruitment_of
from tests.builders import KEY, an_open_study, save_answer
from tests.promises.spreadsheet import formulas_in
from tests.promises.test_exports import DANGERS
from tests.services.exchange.changes import OF_THE_ADDRESS
from tests.services.exchange.conftest import handed_out

TEXTS = [danger for danger in DANGERS if is_storable(danger)]
FIELDS = [f"text{number}" for number in range(17)]
AN_ID = str.maketrans("=", "+", "{}%&")
OPTIONS = list(dict.fromkeys(tidy_text(danger) for danger in DANGERS[::50] if is_storable(danger)))
PLAN = {
    "title": "=1+1",
    "asked_by": "\u00a0@us",
    "purpose": "We ask;=1+1",
    "consent": "=cmd|' /C calc'!A0\n-1+1;＝1",
    "contact": '"=HYPERLINK("http://x.example")',
    "scenario": "+1\n=2",
    "reminder": "﹦1",
    "question_text": "|x",
    "list_noun": "-system",
    "participants": 1000,
    "questions": 1,
    "practice": False,
    "personal_fields": [
        {"name": "warmth", "label": "=1;=2", "kind": "number", "lowest": -50, "highest": 50},
        {"name": "chosen", "label": "\n=3", "kind": "choice", "options": OPTIONS[:50]},
        *({"name": one, "label": f"={one}", "help": "@", "kind": "text"} for one in FIELDS),
    ],
}


@pytest.fixture(scope="module")
def database_uri(tmp_path_factory):
    """One kind of database, filled once: what is tested here are files."""
    return f"sqlite:///{tmp_path_factory.mktemp('exports') / 'survey.sqlite3'}"


@pytest.fixture(scope="module")
def session(database_uri, tmp_path_factory):
    app = create_app(Settings(tmp_path_factory.mktemp("instance"), database_uri, KEY))
    with app.app_context():
        upgrade_database(db.engine)
        yield db.session
        db.session.remove()
        db.engine.dispose()


@pytest.fixture(scope="module")
def study(session):
    """A closed study whose researcher and participants all wrote formulas."""
    study = an_open_study(session, **PLAN)
    texts = iter(TEXTS)
    for number in itertools.count():
        personal = dict(zip(FIELDS, texts, strict=False))
        if not personal:
            break
        _take_part(session, study, number, personal)
    names = " ".join(TEXTS).split()
    recruitment.add_guests(session, study, sorted(set(names)))
    lifecycle.close_study(session, study, "Ada")
    return study


def _take_part(session, study, number, personal):
    reason = personal.pop(FIELDS[-1], "") if number % 3 else ""
    text = personal[FIELDS[0]]
    # An id with one of these signs would be refused as a placeholder or a part of a link.
    sent = {"PROLIFIC_PID": f"{text}{number}".translate(AN_ID), "STUDY_ID": text}
    kept = recruitment_of(study).select_parameters(sent)
    one = participants.begin(session, study, str(number), KEY, Arrival(parameters=kept))
    participants.agree(session, one, participants.consent_text(session, study).digest)
    told = {"warmth": -number % 50 - 50, "chosen": OPTIONS[number % len(OPTIONS[:50])]}
    participants.store_personal_answers(session, study, one, {**told, **personal})
    if number < 9:
        _finish(session, study, one)
    if reason.strip():
        lifecycle.exclude(session, study, one, "Ada", reason)


def _finish(session, study, one):
    participants.confirm_scenario(session, one)
    save_answer(session, one, 1, OrderingAnswer(frozenset({1}), None))
    participants.finish(session, one)


@pytest.fixture(scope="module")
def bundle(session, study):
    return handed_out(session, study, with_identities=True)


def rows_of(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline=""), strict=True))


@pytest.mark.slow
def test_no_file_of_a_bundle_holds_a_formula(session, study, bundle, measured):
    files = {name: content.decode() for name, content in bundle.items() if name[-4:] == ".csv"}
    links = recruitment.personal_links(
        recruitment.guests_of(session, study), KEY, "https://x.example/s/a"
    )
    files["links.csv"] = recruitment.links_csv(links)
    analysis = content_of(session, study).results.analysis
    files |= {f"{one.name}.csv": as_csv(one) for one in tables_of(analysis)}
    for name, text in files.items():
        assert formulas_in(text) == [], name
    measured(
        f"{len(TEXTS):,} such texts as personal answers, reasons, platforms' ids and names of "
        f"guests, and formulas in every text of the plan: {len(files)} CSV files of the real "
        "export without a formula; the raw texts are in study.json, and taking the bundle in "
        "gives the same texts again."
    )


@pytest.mark.slow
def test_raw_texts_are_in_study_json_and_come_out_of_the_tables(session, study, bundle):
    told = json.loads(bundle["study.json"])
    assert plan_from_json(told["plan"]) == study.plan
    assert told["title"] == PLAN["title"]
    assert [one["text"] for one in told["consent"]] == [PLAN["consent"]]
    rows = {row["participant"]: row for row in rows_of(bundle["participants.csv"])}
    found = set()
    for one in session.query(Participant).filter_by(study_id=study.id):
        texts = told["texts"][one.public_id]
        for name, text in {**one.personal, "exclude_reason": one.exclude_reason}.items():
            if isinstance(text, str):
                assert texts[name] == unescaped(rows[one.public_id][name]) == text
                found.add(text)
    assert all(text in found or text.strip() in found for text in TEXTS)


@pytest.mark.slow
def test_identities_come_out_of_their_table_as_they_were(session, study, bundle):
    rows = {row["participant"]: row for row in rows_of(bundle["identities.csv"])}
    found = session.query(Participant, Identity).join(Identity)
    assert found.count() == len(rows) > 100
    for one, identity in found:
        row = rows[one.public_id]
        assert unescaped(row["external_id"]) == identity.external_id
        assert json.loads(unescaped(row["parameters"])) == identity.parameters


@pytest.mark.slow
def test_guests_come_out_of_their_list_as_they_were(session, study):
    listed = recruitment.guests_of(session, study)
    links = recruitment.personal_links(listed, KEY, "https://x.example/s/a")
    names = [unescaped(row["name"]) for row in rows_of(recruitment.links_csv(links).encode())]
    assert names == [guest.name for guest in session.query(Guest).order_by(Guest.id)]


@pytest.mark.slow
def test_numbers_stay_numbers_below_zero_too(study, bundle):
    book = {
        (row["file"], row["column"]): row["type"]
        for row in rows_of(bundle["codebook.csv"])
        if row["type"] in ("whole number", "number")
    }
    found = []
    for name in {file for file, _ in book}:
        for row in rows_of(bundle[name]):
            found += [float(row[column] or 0) for file, column in book if file == name]
    assert min(found) < -40
    means = {row["quantity"]: row["value"] for row in rows_of(bundle["table3.csv"])}
    assert float(means["warmth_mean"]) < 0


@pytest.mark.slow
def test_what_was_taken_in_again_is_what_was_there(session, study, bundle, tmp_path):
    app = create_app(Settings(tmp_path, f"sqlite:///{tmp_path / 'other.sqlite3'}", KEY))
    with app.app_context():
        upgrade_database(db.engine)
        ada, _ = accounts.add_researcher(db.session, "Ada")
        taken = bundle_import.import_bundle(db.session, bundle, "=my.zip", "", ada)
        again = handed_out(db.session, taken, with_identities=True)
        people = {one.public_id: one for one in db.session.query(Participant)}
        assert db.session.query(Study).one().plan == study.plan
        db.session.remove()
        db.engine.dispose()
    for one in session.query(Participant).filter_by(study_id=study.id):
        twin = people[one.public_id]
        assert (twin.personal, twin.exclude_reason) == (one.personal, one.exclude_reason)
    differing = {name for name in again if again[name] != bundle[name]}
    assert differing <= {"identities.csv", *OF_THE_ADDRESS}


def test_an_address_that_names_files_holds_no_sign_of_a_formula(session):
    for danger in DANGERS:
        with pytest.raises(SurveyError):
            lifecycle.require_valid_slug(session, danger)
