"""Looks at results before the last answers came: stored with a reason, exported, and said."""

import json

import pytest

from survey.db.models import Study
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.analysis.report import as_html, report_of
from survey.services.analysis.study_results import analyse_study, as_json
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError
from survey.services.studies import lifecycle
from tests.builders import Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.services.exchange.changes import with_json
from tests.services.exchange.conftest import handed_out


@pytest.fixture
def study(client, session):
    study = an_open_study(session, questions=2, practice=False)
    Visitor(client.application.test_client()).take_part()
    session.rollback()
    return study


@ON_BOTH
def test_opening_again_after_answers_is_a_look(study, session):
    lifecycle.close_study(session, study)
    closed_at = study.closed_at
    lifecycle.open_study(session, study, "Ada", "two more people came")
    session.expire_all()
    assert study.looks == [
        {
            "at": closed_at.isoformat(timespec="seconds"),
            "participants": 1,
            "reason": "two more people came",
        }
    ]


@ON_SQLITE
def test_no_answers_no_look(session):
    study = an_open_study(session)
    lifecycle.close_study(session, study)
    assert not lifecycle.needs_reason_to_open(session, study)
    lifecycle.open_study(session, study)
    assert study.looks == []


@ON_SQLITE
def test_results_of_an_open_study_are_one_look_however_often_they_are_seen(study, session):
    lifecycle.unblind(session, study, "Ada", "the ethics board asks")
    lifecycle.unblind(session, study, "Ada", "once more")
    assert [look["reason"] for look in study.looks] == ["the ethics board asks"]
    lifecycle.close_study(session, study)
    lifecycle.open_study(session, study)
    assert [look["reason"] for look in study.looks[1:]] == ["no reason was given"]


@ON_SQLITE
def test_looks_are_exported_said_replicated_and_imported(study, session, client):
    before = as_json(analyse_study(session, study))
    assert "looks" not in before["study"]
    assert "could be seen" not in as_html(report_of(analyse_study(session, study)))
    lifecycle.unblind(session, study, "Ada", "a pilot")
    Visitor(client.application.test_client()).take_part()
    lifecycle.close_study(session, study)
    analysis = analyse_study(session, study)
    assert analysis.early_looks.startswith(
        "Results could be seen before the last answers came: when 1 participant had "
        "finished (a pilot)."
    )
    assert "when 1 participant had finished (a pilot)" in as_html(report_of(analysis))
    assert as_json(analysis)["study"]["looks"] == study.looks
    files = handed_out(session, study)
    assert json.loads(files["study.json"])["looks"] == study.looks
    assert [*replicate(files)]
    session.rollback()  # it read only
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "a.zip", "the-copy", ada)
    assert copy.looks == session.get_one(Study, study.id).looks


@ON_SQLITE
@pytest.mark.parametrize(
    "looks", ["yesterday", [1], [{"at": "x"}], [{"at": 1, "participants": 1, "reason": ""}]]
)
def test_looks_of_a_bundle_that_cannot_be_are_refused(study, session, looks):
    files = with_json(handed_out(session, study), "study.json", lambda c: c.update(looks=looks))
    with pytest.raises(BundleError, match="looks: at, participants and reason are needed"):
        [*replicate(files)]


@ON_SQLITE
def test_a_look_that_was_removed_from_a_bundle_is_noticed(study, session):
    lifecycle.unblind(session, study, "Ada", "a pilot")
    files = with_json(handed_out(session, study), "study.json", lambda c: c.pop("looks"))
    with pytest.raises(BundleError):
        [*replicate(files)]


@ON_SQLITE
def test_a_reason_that_cannot_be_stored_opens_nothing(study, session):
    lifecycle.close_study(session, study)
    with pytest.raises(SurveyError, match="cannot be stored"):
        lifecycle.open_study(session, study, "Ada", "a\0b")
    session.rollback()
    assert study.status == "closed"
