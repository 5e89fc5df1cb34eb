"""Looks at results before the last answers came: stored with a reason, exported, and said."""

import json

import pytest

from survey.core.agreement.answers import Answers, Response
from survey.core.statistics.sequential import look_levels
from survey.core.studies.fields import ParticipantRecord, PlanError
from survey.db.models import Study
from survey.db.models.base import now
from survey.errors import SurveyError
from survey.kinds.ordering.analysis import analyse_records, analysis_json
from survey.services import accounts
from survey.services.analysis.study_results import AnalysisOptions, people_from
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError
from survey.services.studies import lifecycle, plans
from tests.analyses import analyse_study, report_of
from tests.builders import Visitor, a_plan, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.services.exchange.changes import with_json
from tests.services.exchange.conftest import handed_out

NOW = now()


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
def test_results_of_the_same_answers_are_one_look_however_often_they_are_seen(study, session):
    lifecycle.unblind(session, study, "Ada", "the ethics board asks")
    lifecycle.unblind(session, study, "Ada", "once more")
    assert [look["reason"] for look in study.looks] == ["the ethics board asks"]
    lifecycle.close_study(session, study)
    lifecycle.open_study(session, study)
    assert [look["reason"] for look in study.looks[1:]] == ["no reason was given"]


@ON_BOTH
def test_seeing_results_again_is_another_look_where_more_have_finished(study, session, client):
    lifecycle.note_look(session, study)
    assert study.looks == []  # hidden still
    lifecycle.unblind(session, study, "Ada", "a pilot")
    for _ in range(2):
        Visitor(client.application.test_client()).take_part()
        session.rollback()
        lifecycle.note_look(session, study)
        lifecycle.note_look(session, study)
    lifecycle.log_early_results(session, study, "command line", "analysed")
    seen = [(look["participants"], look["reason"]) for look in study.looks]
    assert seen == [(1, "a pilot"), (2, "seen again"), (3, "seen again")]
    words = "when 1 participant had finished (a pilot; again when 2 had; again when 3 had). A study"
    assert words in analyse_study(session, study).early_looks
    lifecycle.close_study(session, study)
    lifecycle.note_look(session, study)
    assert len(study.looks) == 3


@pytest.mark.slow
@ON_SQLITE
def test_looks_are_exported_said_replicated_and_imported(study, session, client):
    before = analysis_json(analyse_study(session, study))
    assert "looks" not in before["study"]
    assert "could be seen" not in report_of(analyse_study(session, study))
    lifecycle.unblind(session, study, "Ada", "a pilot")
    Visitor(client.application.test_client()).take_part()
    lifecycle.close_study(session, study)
    analysis = analyse_study(session, study)
    assert analysis.early_looks.startswith(
        "Results could be seen before the last answers came: when 1 participant had "
        "finished (a pilot)."
    )
    assert "when 1 participant had finished (a pilot)" in report_of(analysis)
    assert analysis_json(analysis)["study"]["looks"] == study.looks
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


PLANNED = {"looks": [4, 8], "participants": 12, "questions": 6, "practice": False}


def analysed(seen, finished, **plan):
    """The analysis of ``finished`` people who always tick AP, after looks when ``seen`` had."""
    design = a_plan(**{**PLANNED, **plan})
    questions = [each for each in design.draw_questions() if each.number]
    records = [
        ParticipantRecord(f"P{n}", "complete", {}, 1, NOW, NOW, False, False, None)
        for n in range(finished)
    ]
    answers = Answers.of(
        Response(f"P{n}", question.number, design.measures, frozenset([1]))
        for n in range(finished)
        for question in questions
    )
    facts = {"looks": [{"at": "", "participants": n, "reason": "planned"} for n in seen]}
    return analyse_records(
        facts, design, questions, people_from(records), answers, list, AnalysisOptions()
    )


def test_planned_looks_share_the_level():
    assert analysed([], 4).votes.level == pytest.approx(look_levels([1 / 3])[0])
    assert analysed([4], 8).votes.level == pytest.approx(look_levels([1 / 3, 2 / 3])[1])
    levels = look_levels([1 / 3, 2 / 3, 1])
    last = analysed([4, 8], 12)
    assert last.votes.level == pytest.approx(levels[2])
    assert "a corrected test decides below p = .0" in last.early_looks
    assert analysed([], 12).votes.level == pytest.approx(0.05)
    assert analysed([], 12).early_looks == ""


def test_without_a_plan_for_looks_the_level_stays():
    assert analysed([4], 12, looks=[]).votes.level == 0.05


def test_an_early_look_calls_nothing_preferred_that_the_end_would():
    at_the_end, early = analysed([], 12), analysed([], 4)
    names = [verdict.preferred for verdict in early.verdicts]
    assert names == [None, None, None]
    assert any(verdict.preferred for verdict in at_the_end.verdicts)


@pytest.mark.parametrize("looks", [[0], [5, 3], [6], ["x"], [2.5], [True]])
def test_looks_that_cannot_be_planned_are_refused(looks):
    values = {**plans.preset_values("mnro"), "participants": 6, "looks": looks}
    with pytest.raises(PlanError, match="looks has"):
        plans.parse_plan(values)
