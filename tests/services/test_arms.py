"""Arms: participants are drawn at random and evenly among ways of showing the methods."""

import json
from collections import Counter

import pytest

from survey import tokens
from survey.cli.planning import local_server
from survey.core.studies.plan import study_digest
from survey.core.studies.rankings import Ranking
from survey.db.models import Participant, Study
from survey.errors import SurveyError
from survey.kinds.ordering.analysis import analysis_json
from survey.kinds.ordering.answer import OrderingAnswer
from survey.kinds.ordering.sheets import tables_of
from survey.kinds.preference.answer import PreferenceAnswer
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle_reader import replicate
from survey.services.participation.answers import all_presentations
from survey.services.participation.own_data import own_data
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies.plans import read_plan, write_plan
from tests.analyses import analyse_study, report_of
from tests.builders import KEY, Visitor, a_plan, a_ready_participant, an_open_study, save_answer
from tests.databases import ON_BOTH, ON_SQLITE
from tests.preferred import a_preference_study
from tests.services.exchange.conftest import handed_out

ARMS = ["before", "after", "never"]


@ON_BOTH
def test_participants_are_drawn_evenly_and_test_data_apart(session):
    study = an_open_study(session, arms=ARMS, participants=100, practice=False)
    for number in range(12):
        a_ready_participant(session, study, f"browser {number}")
        arms = Counter(each.arm for each in session.query(Participant))
        assert max(arms.values()) - min(arms[arm] for arm in ARMS) <= 1
    assert arms == dict.fromkeys(ARMS, 4)


@ON_SQLITE
def test_each_arm_has_its_pages(client, session):
    an_open_study(session, "arms", arms=ARMS, practice=False, questions=1)
    seen = {}
    for _ in ARMS:
        visitor = Visitor(client.application.test_client(), "arms")
        visitor.start()
        session.rollback()
        newest = session.query(Participant).order_by(Participant.id.desc()).first()
        seen[newest.arm] = visitor
    assert "Method 1" in seen["before"].text
    assert "On the next page you compare" in seen["after"].text
    assert "Method 1" not in seen["after"].page.select_one("#vote").text
    assert "Method" not in seen["never"].text
    places = {f"rank_{letter}": place for letter, place in zip("ABCDE", "11111", strict=True)}
    seen["never"].submit("/q/1", **places)
    assert seen["never"].path == "/review"
    seen["after"].submit("/q/1", **places)
    assert "differs in" in seen["after"].text or "same as yours" in seen["after"].text


@ON_SQLITE
def test_what_a_method_orders_is_in_nobodys_data_before_it_is_shown(client, session):
    study = an_open_study(session, "never", columns="never", practice=False, questions=1)
    visitor = Visitor(client, "never")
    visitor.start()
    data = own_data(session, study, session.query(Participant).one())
    assert [question["methods"] for question in data["questions"]] == [[]]


@ON_SQLITE
def test_arms_are_exported_and_replicated_and_checked(client, session):
    study = an_open_study(session, "arms", arms=["before", "never"], practice=False, questions=2)
    for _ in range(2):
        Visitor(client.application.test_client(), "arms").take_part(choice="1")
    files = handed_out(session, study)
    header, *rows = files["participants.csv"].decode().splitlines()
    assert header.endswith(",understood,arm")
    assert sorted(row.rpartition(",")[2] for row in rows) == ["before", "never"]
    assert [*replicate(files)]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"arms": ["before"]}, "two or three different ones of before, after, never are allowed"),
        ({"arms": ["before", "before"]}, "two or three different ones"),
        ({"arms": [None, []]}, "two or three different ones"),
        ({"arms": ["before", "later"]}, "arms is before, later"),
        ({"arms": ["before", "after"], "columns": "never"}, "the arms decide it; leave it out"),
    ],
)
def test_other_arms_are_refused(changes, fault):
    with pytest.raises(SurveyError, match=fault):
        a_plan(**changes)


EDUCATION = {"name": "education", "label": "Education", "kind": "text"}
EARLY = "A system does well when its photos come early."
INSTRUCTIONS = [
    {"name": "plain", "practice": False},
    {"name": "told what is good", "criterion": EARLY, "rescale_values": True},
]


@pytest.mark.parametrize(
    ("arms", "fault"),
    [
        ([{"name": "one"}], "2 to 8 different names are allowed"),
        ([{"name": "one"}, {"name": "one"}], "2 to 8 different names are allowed"),
        ([{"name": "one"}, {"criterion": EARLY}], "an arm has no name"),
        ([{"name": "one"}, {"name": "x_y"}], "an arm cannot be named 'x_y'; up to 40 letters"),
        ([{"name": "one"}, {"name": "two", "measures": ["AP"]}], "no field “measures” of an arm"),
        ([{"name": "one"}, {"name": "two", "columns": "later"}], "arm two: columns is 'later'"),
        ([{"name": "one"}, {"name": "two", "criterion": "{all}"}], "{all} found in criterion"),
        ([{"name": "one"}, {"name": "AP", "practice": False}], None),
    ],
)
def test_settings_of_arms_are_checked_as_a_plan_is(arms, fault):
    if fault is None:
        assert a_plan(arms=arms).arms == ("one", "AP")
        return
    with pytest.raises(SurveyError, match=fault):
        a_plan(arms=arms)


def test_an_arm_can_leave_practice_out_and_not_add_it():
    with pytest.raises(SurveyError, match="arm b: practice can be left out in an arm, and not"):
        a_plan(practice=False, arms=[{"name": "a"}, {"name": "b", "practice": True}])


def test_an_arm_can_rescale_values_and_not_show_them_as_computed():
    with pytest.raises(SurveyError, match="arm b: rescale_values can be added in an arm, and not"):
        a_plan(rescale_values=True, arms=[{"name": "a"}, {"name": "b", "rescale_values": False}])


def test_a_plan_with_arms_is_written_and_read_as_the_same():
    plan = a_plan(arms=INSTRUCTIONS)
    assert read_plan(write_plan(plan)).plan == plan
    assert plan.as_json()["arms"] == INSTRUCTIONS
    assert "arm_settings" not in plan.as_json()
    other = a_plan(arms=INSTRUCTIONS[::-1])  # the first is the one that others are compared with
    assert study_digest(plan, [], 1) != study_digest(other, [], 1)
    assert plan.in_arm("told what is good").story.endswith(EARLY)
    assert plan.in_arm("plain").story == plan.scenario


@ON_SQLITE
def test_an_instruction_is_read_in_its_arm_only(client, session):
    study = an_open_study(session, "arms", arms=INSTRUCTIONS, questions=2, show_values=True)
    for _ in range(2):
        visitor = Visitor(client.application.test_client(), "arms")
        visitor.go("/scenario")
        session.rollback()
        newest = session.query(Participant).order_by(Participant.id.desc()).first()
        assert newest.arm in study.plan.arms  # drawn before the scenario, which differs
        told = newest.arm == "told what is good"
        visitor.open("/scenario")
        assert (EARLY in visitor.text) == told
        visitor.submit("/scenario")
        assert visitor.path == ("/practice" if told else "/q/1")
        if told:
            visitor.submit("/practice/check", better="1")
            while visitor.path == "/practice":
                visitor.submit("/practice")
        assert (EARLY in visitor.text) == told
        values = {cell.text.strip() for cell in visitor.page.select(".scores td")}
        assert ({"0", "100"} <= values) == told  # rescaled
        assert own_data(session, study, newest)["arm"] == newest.arm
        for position in (1, 2):
            visitor.submit(f"/q/{position}", choice=["1"])
        visitor.submit("/review")
    files = handed_out(session, study)
    assert [*replicate(files)]
    effects = analysis_json(analyse_study(session, study))["arms"]
    assert [each["arm"] for each in effects["arms"]] == [*study.plan.arms]
    assert effects["statistic"] == "share"
    assert "What the arms change" in report_of(analyse_study(session, study))


@ON_SQLITE
def test_bots_prefer_what_their_arm_is_told_to_prefer(app, session):
    arms = [{"name": "plain"}, {"name": "early", "criterion": EARLY}]
    plan = an_open_study(
        session, "bots", arms=arms, practice=False, generator="discriminative"
    ).plan
    session.rollback()
    preferences = preferences_for(plan, "MNRO=1; early: AP=1")
    with local_server(app) as address:
        token = tokens.test_run_token(KEY, "bots")
        simulate(f"{address}/s/bots?test={token}", plan, 6, preferences, seed=1)
    session.expire_all()
    study = session.query(Study).one()
    analysis = analyse_study(session, study, AnalysisOptions(include_test=True))
    means = {each.arm: each.means for each in analysis.arms.arms}
    assert {name: dict(each) for name, each in means.items()} == {
        "plain": {"AP": 0, "NMRR": 0, "MNRO": 1},
        "early": {"AP": 1, "NMRR": 0, "MNRO": 0},
    }


@pytest.mark.parametrize("text", ["early: AP=1; early: MNRO=1", "AP=1; MNRO=1"])
def test_two_preferences_for_the_same_bots_are_refused(text):
    plan = a_plan(arms=[{"name": "plain"}, {"name": "early", "criterion": EARLY}])
    with pytest.raises(SurveyError, match="Two preferences found"):
        preferences_for(plan, text)


def test_a_plan_is_as_its_arm_has_it():
    plan = a_plan(arms=ARMS)
    assert plan.in_arm(None) is plan
    assert {arm: plan.in_arm(arm).columns for arm in ARMS} == dict(zip(ARMS, ARMS, strict=True))


@pytest.mark.slow
@ON_SQLITE
def test_the_analysis_compares_the_arms_and_counts_votes_where_there_were_columns(client, session):
    study = an_open_study(session, arms=ARMS, practice=False, questions=2)
    for _ in range(6):
        Visitor(client.application.test_client()).take_part(choice="1")
    analysis = analyse_study(session, study)
    groups = [(arm.arm, arm.orderings, arm.participants) for arm in analysis.anchoring.arms]
    assert groups == [
        ("before", "answer", 2),
        ("after", "answer", 2),
        ("never", "answer", 2),
        ("after", "own ordering first", 2),
    ]
    assert (analysis.participants, analysis.without_columns, analysis.missing) == (4, 2, 0)
    assert "2 in an arm that shows no measures." in report_of(analysis)
    assert analysis.table3.participants == 6
    assert analysis.agreement.table4.totals["OTHER"] == 0
    content = analysis_json(analysis)
    assert content["n"]["without_columns"] == 2
    arms = content["anchoring"]["arms"]
    assert [arms[arm]["participants"] for arm in ARMS] == [2, 2, 2]
    assert set(arms["after"]["first"]["tau_b"]) == {"AP", "NMRR", "MNRO", "nearest"}
    assert {each["statistic"] for each in content["anchoring"]["difference"]} == {
        "tau_b",
        "agreement_rate",
    }
    sheets = {sheet.name: sheet for sheet in tables_of(analysis)}
    assert any("before, answer − never, answer" in row for row in sheets["anchoring"].rows)
    assert [*replicate(handed_out(session, study))]


@pytest.mark.slow
@ON_SQLITE
def test_where_no_one_is_shown_columns_verdicts_are_of_the_own_orderings(session):
    study = an_open_study(session, columns="never", practice=False)
    for number in range(4):
        participant = a_ready_participant(session, study, f"browser {number}")
        for position in (1, 2, 3):
            order = Ranking.by_key(dict(zip("ABCDE", (number % 3, 1, 2, 3, 4), strict=True)))
            save_answer(session, participant, position, OrderingAnswer(frozenset(), order))
    analysis = analyse_study(session, study)
    content = analysis_json(analysis)
    sentences = [verdict["sentence"] for verdict in content["verdicts"]]
    assert all("own orderings" in sentence for sentence in sentences)
    assert [each["verdict"]["sentence"] for each in content["differences"]] == sentences
    compared = content["own_orderings"]["differences"]
    assert [each["statistic"] for each in compared] == [
        *["pairs"] * 3,
        *["tau_b"] * 3,
        *["agreement_rate"] * 3,
    ]
    assert "own-orderings" in [sheet.name for sheet in tables_of(analysis)]
    page = report_of(analysis)
    assert "nothing could be ticked" in page
    assert "“Preferred” is said only" not in page
    assert [*replicate(handed_out(session, study))]


@ON_SQLITE
def test_arms_of_preferences_are_compared_in_their_agreement(session):
    arms = [{"name": "unmarked"}, {"name": "marked", "mark_relevant": True}]
    study = a_preference_study(session, arms=arms, personal_fields=[EDUCATION])
    preferred = {"unmarked": "A", "marked": "B"}  # list A in the one arm, list B in the other
    for number in range(8):
        participant = a_ready_participant(session, study, f"browser {number}")
        for shown in all_presentations(session, study.plan, participant):
            side = "left" if shown.view.left_list == preferred[participant.arm] else "right"
            save_answer(session, participant, shown.position, PreferenceAnswer(side))
    files = handed_out(session, study)
    assert [*replicate(files)]
    effects = json.loads(files["analysis.json"])["arms"]
    assert effects["statistic"] == "agreement"
    means = [each["means"] for each in effects["arms"]]
    for name in study.plan.measures:
        assert means[0][name] + means[1][name] == pytest.approx(1)  # each prefers the other list
    assert all("With “marked” " in each["sentence"] for each in effects["effects"] if each["mean"])
