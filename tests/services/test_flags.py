"""Flags for pace, equal answers and programs: rules of the plan that exclude no one."""

import json
import random

import pytest

from survey import tokens
from survey.cli.planning import local_server
from survey.core.kinds import KINDS
from survey.core.studies.plan import ON_PROGRAMS
from survey.db.models import Participant
from survey.db.models.base import Base
from survey.errors import SurveyError
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle import analyse_stored
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError
from survey.services.participation import answers
from survey.services.participation.participant_list import list_participants
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle
from survey.web.participant.asked_fields import WORDS_ON_PROGRAMS
from tests import builders
from tests.builders import KEY, Visitor, a_plan, a_ready_participant, save_answer
from tests.databases import ON_SQLITE
from tests.grouped import grouped
from tests.labelled import labelled
from tests.preferred import a_preference_study
from tests.services.exchange.changes import rows_of, with_cell
from tests.services.exchange.conftest import handed_out
from tests.services.test_attention import assert_copied
from tests.web.conftest import desk

__all__ = ["desk"]  # for these tests too

RULES = {
    "least_seconds": 5,
    "flag_equal_answers": True,
    "ask_program": True,
    "machine_line": True,
}
NAMES = ["pace", "equal answers", "program", "line for programs"]
CANARY = "buy cheap canaries"
COPIED, QUESTIONS = 2, 40


def test_a_plan_without_rules_is_stored_as_before():
    plan = a_plan()
    assert not RULES.keys() & plan.as_json().keys()
    assert (plan.has_flag_rules, plan.asked_at_end) == (False, plan.closing_questions)
    assert RULES.items() <= a_plan(**RULES).as_json().items()
    assert a_plan(**RULES).asked_at_end[-1] is ON_PROGRAMS


def test_the_words_on_programs_are_in_the_catalogues():
    texts = (ON_PROGRAMS.label, ON_PROGRAMS.help, *ON_PROGRAMS.options)
    assert texts == WORDS_ON_PROGRAMS


@pytest.mark.parametrize("name", ["flags", "program_answered"])
def test_columns_of_the_rules_are_taken(name):
    field = {"name": name, "label": "Anything?", "kind": "text"}
    with pytest.raises(SurveyError, match="a column that attention checks have"):
        a_plan(**RULES, closing_questions=[field])
    assert a_plan(closing_questions=[field]).asked_at_end


def a_study_with_a_copy(session):
    """Nine people who answer at random, unhurried; person 0 copies COPIED."""
    study = builders.an_open_study(session, "flagged", questions=QUESTIONS, practice=False, **RULES)
    people, own = [], {}
    for number in range(9):
        person = a_ready_participant(session, study, f"browser {number}")
        people.append(person)
        chance = random.Random(number or COPIED)
        own[number] = {each: chance.choice(study.plan.measures) for each in range(1, QUESTIONS + 1)}
        for shown in answers.all_presentations(session, study.plan, person):
            label = shown.drawn.label_order.index(own[number][shown.number]) + 1
            answer = OrderingAnswer(frozenset({label}), None)
            save_answer(session, person, shown.position, answer, 2.0 if number == 5 else 20.0)
    return study, [person.public_id for person in people]


@ON_SQLITE
def test_answers_that_are_equal_and_quick_ones_are_flagged(app, session):
    study, people = a_study_with_a_copy(session)
    session.query(Participant).filter_by(public_id=people[7]).one().machine_line = True
    session.commit()
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions())
    flagged = results.attention.flagged_by
    assert [*flagged] == NAMES
    assert flagged["equal answers"] == {people[0], people[COPIED]}
    assert flagged["pace"] == {people[5]}
    assert (flagged["program"], flagged["line for programs"]) == (set(), {people[7]})
    assert results.attention.flags_of(people[5]) == "pace"
    by_name = {each["flag"]: each for each in results.all_json()["attention"]["rules"]}
    assert (by_name["pace"]["people"], by_name["pace"]["flagged"]) == (9, 1)
    assert by_name["pace"]["without"].startswith("Without the 1 flagged participant")
    assert (by_name["program"]["people"], by_name["program"]["flagged"]) == (0, 0)
    [reason] = [each.reason for each in results.attention.flags if each.kind == "pace"]
    assert reason == "median 2.0 seconds"
    assert {each.kind for each in results.analysis.flags} >= {"pace", "equal answers"}
    sheet = results.sheet_of["flag-rules"]
    assert [row[:3] for row in sheet.rows] == [
        ("pace", 9, 1),
        ("equal answers", 9, 2),
        ("program", 0, 0),
        ("line for programs", 9, 1),
    ]
    assert "99.8 % of 6,000 attention checks" in sheet.note
    assert results.repeated.startswith("Without the 4 flagged participants")
    assert [*results.participants] == sorted(people)  # no one is excluded
    without = analyse_stored(session, study, AnalysisOptions(exclude_flagged=True))
    assert len(without.participants) == 5
    assert without.headline in results.repeated
    files = handed_out(session, study)
    rows = {row["participant"]: row for row in rows_of(files, "participants.csv")}
    assert rows[people[0]]["flags"] == "equal answers"
    assert [rows[each]["machine_line"] for each in people[6:8]] == ["0", "1"]
    assert rows[people[1]]["flags"] == ""
    assert [*replicate(files)]
    row = 2 + [*rows].index(people[5])
    with pytest.raises(BundleError, match=r"column flags.*recomputed 'pace'"):
        [*replicate(with_cell(files, "participants.csv", row, "flags", ""))]
    session.rollback()
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "done.zip", "again", ada)
    again = handed_out(session, copy)
    assert again["participants.csv"] == files["participants.csv"]
    assert (copy.digest, [*replicate(again)] != []) == (study.digest, True)


@ON_SQLITE
def test_what_changes_without_the_flagged_is_said(app, session):
    """All agree on AP but the quick ones, without whom it is decided."""
    study = builders.an_open_study(session, "split", questions=8, practice=False, least_seconds=5)
    for number in range(12):
        person = a_ready_participant(session, study, f"browser {number}")
        for shown in answers.all_presentations(session, study.plan, person):
            wanted = "MNRO" if number % 2 else "AP"
            label = shown.drawn.label_order.index(wanted) + 1
            answer = OrderingAnswer(frozenset({label}), None)
            save_answer(session, person, shown.position, answer, 1.0 if number % 2 else 20.0)
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions())
    without = analyse_stored(session, study, AnalysisOptions(exclude_flagged=True))
    assert without.headline != results.headline
    assert results.repeated.startswith(f"Without the 6 flagged participants: {without.headline}")
    assert "the verdict is the same" not in results.repeated


@ON_SQLITE
def test_a_program_that_fills_in_each_field_is_flagged_and_its_words_are_not_stored(app, session):
    study = builders.an_open_study(session, **RULES)
    person, program, another = (Visitor(app.test_client()) for _ in range(3))
    another.go("/consent")
    assert "If you come upon it, leave it empty." in another.text
    another.submit("/decline")
    person.start()
    [field] = person.page.select("input[name=machine_line]")
    hidden = field.find_parent("p")
    assert (hidden["aria-hidden"], field["tabindex"], field["autocomplete"]) == (
        *("true", "-1", "off"),
    )
    assert "For programs only; people leave this empty" in hidden.text
    for position in (1, 2, 3):
        person.submit(f"/q/{position}", choice="1", machine_line=" ")
    assert "It has no effect on your payment." in person.text
    person.submit("/closing", program_answered="No")
    assert "Did a program answer for you? No" in person.text
    person.submit("/review")
    program.start()
    for position in (1, 2, 3):
        program.submit(f"/q/{position}", choice="1", machine_line=CANARY)
    program.submit("/closing", program_answered="Yes")
    program.submit("/review")
    session.rollback()
    program.open("/my-data")
    assert "The field for programs filled in" in program.text
    session.rollback()
    finished = session.query(Participant).filter_by(status="complete")
    lines = [(each.machine_line, each.closing) for each in finished.order_by(Participant.id)]
    assert lines == [
        (False, {"program_answered": "No"}),
        (True, {"program_answered": "Yes"}),
    ]
    assert CANARY not in everything(session)
    watch = list_participants(session, study)
    assert watch.counted.flags == {"pace": 2, "program": 1, "line for programs": 1}
    assert {each.attention for each in watch.counted.shown} - {""} == {
        "pace",
        "pace, program, line for programs",
    }
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions())
    assert [len(each) for each in results.attention.flagged_by.values()] == [2, 0, 1, 1]
    assert "Not judged: no question has the 6 answers" in str(results.sheet_of["flag-rules"].rows)


@ON_SQLITE
def test_without_the_switch_nothing_is_shown_or_stored(app, session):
    builders.an_open_study(session)
    visitor, another = Visitor(app.test_client()), Visitor(app.test_client())
    another.go("/consent")
    assert "programs" not in another.text
    another.submit("/decline")
    visitor.start()
    assert not visitor.page.select("[name=machine_line]")
    visitor.submit("/q/1", choice="1", machine_line=CANARY)
    session.rollback()
    assert not any(each.machine_line for each in session.query(Participant))


@ON_SQLITE
def test_a_form_of_another_site_flags_no_one(app, session):
    builders.an_open_study(session, machine_line=True)
    visitor = Visitor(app.test_client())
    visitor.start()
    visitor.post("/q/1", choice="1", machine_line=CANARY, csrf_token="another's")
    session.rollback()
    assert not session.query(Participant).one().machine_line


def everything(session):
    """All that the database holds, as one text."""
    return str([session.execute(table.select()).all() for table in Base.metadata.sorted_tables])


@ON_SQLITE
@pytest.mark.parametrize("kind", ["labelling", "grouping"])
def test_kinds_in_steps_have_the_rules_too(app, session, kind):
    make = {"labelling": labelled, "grouping": grouped}[kind]
    more = {"people": 7} if kind == "labelling" else {"third": False}
    study = make(app, session, least_seconds=3_000, flag_equal_answers=True, **more)
    results = analyse_stored(session, study, AnalysisOptions())
    pace, equal = results.attention.rules
    assert len(pace.reasons) == pace.people == len(results.participants)
    assert (equal.people, bool(equal.why)) == ((7, False) if kind == "labelling" else (0, True))
    assert results.repeated.startswith(f"Without the {pace.people} flagged participants: ")
    assert json.loads(handed_out(session, study)["analysis.json"])["attention"]["rules"]
    assert_copied(session, study)


@ON_SQLITE
def test_careless_bots_trip_the_rules_and_others_do_not(app, session, desk):
    study = a_preference_study(session, **{**RULES, "machine_line": True})
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    plan = study.plan
    session.commit()
    careless = preferences_for(plan, KINDS["preference"].careless(plan))
    with local_server(app) as address:
        entry = f"{address}/s/preferred?test={tokens.test_run_token(KEY, 'preferred')}"
        simulate(entry, plan, 5, preferences_for(plan, None), seed=3, careless=[careless] * 2)
    session.rollback()
    desk.open("/research/studies/preferred/progress")
    assert "pace, program, line for programs" in desk.text
    session.rollback()
    listed = list_participants(session, study).test.shown
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions(include_test=True))
    quick = {row.participant.public_id for row in listed if "pace" in row.attention}
    assert quick == results.attention.flagged_by["pace"]
    counts = {name: len(each) for name, each in results.attention.flagged_by.items()}
    assert counts == {"pace": 2, "equal answers": 0, "program": 2, "line for programs": 2}
    desk.open("/research/studies/preferred/results?test=1")
    assert "Participants by flag" in desk.page.select_one("#attention").text
