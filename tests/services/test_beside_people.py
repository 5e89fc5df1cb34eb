"""The figures of a machine beside people, held against the answers that both gave."""

import json
from statistics import fmean
from types import SimpleNamespace

import pytest
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from survey.core.agreement.machines import unit_errors
from survey.core.studies.plan import EPSILON
from survey.kinds.labelling.kind import LabellingKind
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle import content_of
from survey.services.machines.beside_people import beside, figures_of
from survey.services.machines.machine_results import results_of_machine
from survey.services.machines.records import ANSWERED, FIRST, MachineAnswer, MachineRecord
from survey.services.studies import lifecycle
from survey.services.studies.plans import parse_plan
from tests.cli.conftest import run
from tests.databases import ON_SQLITE
from tests.judged import a_record
from tests.labelled import a_labelling_plan
from tests.pooled import a_text_collection, pooling
from tests.preferred import a_participant, a_preference_plan, a_preference_study

__all__ = ["run"]

pytestmark = ON_SQLITE
QUESTIONS = 5
SIDES = ("left", "right", "neither", "right", "left", "equal")
COUNT_TEST = AnalysisOptions(include_test=True)


@pytest.fixture
def content(app, session):
    """A closed study in which three people preferred lists."""
    study = a_preference_study(session, show_items=True)  # else some requests are the same
    for number in range(3):
        visitor = a_participant(app)
        for position in range(1, QUESTIONS + 1):
            side = SIDES[(position * (number + 1)) % len(SIDES)]
            visitor.insist(f"/q/{position}", preferred=side)
        visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    return content_of(session, study)


def answers_of(content):
    """Each person's answer to each question: a letter, or that no list is better."""
    people = {}
    for row in content.answers.rows():
        sides = dict(zip(("left", "right"), row.drawn.sides, strict=True))
        answer = sides.get(row.answer.preferred, "no list")
        people.setdefault(row.participant, {})[row.question] = answer
    return people


def for_letter(letter):
    """A reply that prefers a list, wherever it is."""
    return lambda asked: {"preferred": ("left", "right")[asked.asked.drawn.sides.index(letter)]}


def test_who_prefers_a_side_prefers_no_list(content):
    figures = figures_of(content, a_record(content, lambda _: {"preferred": "left"}), COUNT_TEST)
    bias = figures["position_bias"]
    assert (bias["left"], bias["decided"]) == (1.0, 2 * QUESTIONS)
    assert bias["p"] == pytest.approx(binomtest(2 * QUESTIONS, 2 * QUESTIONS).pvalue)
    assert (bias["unchanged"], bias["swapped"]) == (0.0, QUESTIONS)
    table = figures["confusion"]
    column = table["answers"].index("no list")
    people = [answer for answers in answers_of(content).values() for answer in answers.values()]
    for name, counts in zip(table["answers"], table["people_by_machine"], strict=True):
        assert counts[column] == sum(counts) == people.count(name)


def test_who_prefers_a_list_prefers_no_side_and_agrees_as_kappa_says(content):
    machine = a_record(content, for_letter("A"))
    figures = figures_of(content, machine, COUNT_TEST)
    bias = figures["position_bias"]
    assert (bias["left"], bias["p"], bias["unchanged"]) == (0.5, 1.0, 1.0)
    people = [
        [answers[number] for number in range(1, QUESTIONS + 1)]
        for answers in answers_of(content).values()
    ]
    kappas = [
        cohen_kappa_score(first, second)
        for place, first in enumerate(people)
        for second in people[:place]
    ]
    agreed = figures["agreement"]
    assert agreed["coefficient"] == "kappa"
    assert agreed["hh"]["value"] == pytest.approx(fmean(kappas))
    of_machine = fmean(cohen_kappa_score(person, ["A"] * QUESTIONS) for person in people)
    assert agreed["hm"]["value"] == pytest.approx(of_machine)
    errors = figures["errors"]
    wrong = [answer != "A" for person in people for answer in person]
    assert errors["machine"] == pytest.approx(fmean(wrong))
    assert {each["topic"] for each in errors["worst"]} <= {str(each) for each in range(1, 7)}
    for item in errors["worst"]:
        given = [answers[item["question"]] for answers in answers_of(content).values()]
        assert item["people_answers"] == {each: given.count(each) for each in {*given}}
        assert item["machine_answer"] == "A"


def test_a_machine_is_as_sure_as_its_samples_agree(content):
    def reply(asked):
        return for_letter("A" if asked.sample <= 3 else "B")(asked)

    figures = figures_of(content, a_record(content, reply, samples=5), COUNT_TEST)
    people = answers_of(content).values()
    share = fmean(answer == "A" for answers in people for answer in answers.values())
    calibrated = figures["calibration"]
    assert (calibrated["n"], calibrated["mean_confidence"]) == (QUESTIONS, pytest.approx(0.6))
    assert calibrated["mean_agreement"] == pytest.approx(share)
    assert calibrated["ece"] == pytest.approx(abs(share - 0.6))
    few = figures_of(content, a_record(content, reply, samples=4), COUNT_TEST)
    assert few["calibration"] is None


def test_what_is_refused_or_unreadable_is_missing_and_gets_no_default(content):
    replies = {1: None, 2: "I prefer the left one."}

    def reply(asked):
        return replies.get(asked.number, {"preferred": "equal"})

    figures = figures_of(content, a_record(content, reply), COUNT_TEST)
    assert figures["answers"] == {"answered": 6, "unreadable": 2, "refused": 2}
    assert figures["missing"] == {"units": 2, "of": QUESTIONS}
    assert figures["errors"]["units"] == QUESTIONS - 2


def test_figures_are_the_same_each_time_and_follow_the_record(content):
    machine = a_record(content, for_letter("A"))
    first = json.dumps(figures_of(content, machine, COUNT_TEST))
    assert json.dumps(figures_of(content, machine, COUNT_TEST)) == first
    other = a_record(content, for_letter("A"), model="another")
    assert other.digest != machine.digest
    assert figures_of(content, other, COUNT_TEST)["errors"] == json.loads(first)["errors"]


def test_nobody_is_compared_where_no_one_counts(app, session):
    study = a_preference_study(session)
    content = content_of(session, study)
    results = results_of_machine(content, a_record(content, simulated="AP:0"), AnalysisOptions())
    assert results.nothing == "There is no answer yet."
    assert "0 people cannot test it (3 are needed)" in results.headline
    assert results.headline.startswith("Simulated machine. ")
    assert [sheet.name for sheet in results.sheets if sheet.rows] == ["agreement"]


@pytest.mark.parametrize("who", EPSILON)
def test_the_margin_follows_who_answers_and_is_stored_only_where_it_is_another(session, who):
    plan = a_preference_plan(expertise=who)
    assert ("expertise" in plan.as_json()) == (who != "crowd")
    assert parse_plan(plan.as_json()).expertise == who


def test_the_margin_is_that_of_the_plan(app, session):
    study = a_preference_study(session, expertise="experts")
    content = content_of(session, study)
    figures = figures_of(content, a_record(content), AnalysisOptions())
    assert figures["test"]["epsilon"] == 0.2


GIVEN = {  # the grades of two people and the machine, of four documents
    "P-1": "0120",
    "P-2": "0221",
    "machine": "0012",
}


@pytest.mark.parametrize("most", [1, 2])
def test_grades_are_compared_by_their_difference_and_two_by_equality(session, monkeypatch, most):
    """Errors by hand: of each person, how far the machine and they are from the other's answer."""
    plan = a_labelling_plan(topics=["like-red"], graded=most > 1)
    given = {
        name: {
            (1, document): str(min(int(grade), most))
            for document, grade in zip("abcd", row, strict=True)
        }
        for name, row in GIVEN.items()
    }
    of_machine = given.pop("machine")
    answers = [
        MachineAnswer(1, "like-red", document, FIRST, 1, grade, ANSWERED, "")
        for (_, document), grade in of_machine.items()
    ]
    about = {"model": "m", "samples": 1, "orders": [FIRST]}
    questions = [question for question in plan.draw_questions() if question.number]
    content = SimpleNamespace(plan=plan, questions=questions, include_test=False)
    monkeypatch.setattr(LabellingKind, "people_answers", lambda *_: given)
    figures = beside(content, MachineRecord(about, answers, []), AnalysisOptions())
    assert figures.comparison.is_graded == (most > 1)
    [first, second] = given.values()
    apart = [
        abs(int(of_machine[unit]) - int(other[unit]))
        for unit in of_machine
        for other in given.values()
    ]
    errors = unit_errors(figures.comparison)
    assert fmean(error.machine for error in errors) == pytest.approx(fmean(apart))
    between = [abs(int(first[unit]) - int(second[unit])) for unit in first]
    assert fmean(error.person for error in errors) == pytest.approx(fmean(between))


@pytest.mark.slow
def test_runs_are_ranked_by_the_machine_as_by_people_or_the_other_way(run, session, tmp_path):
    runs = a_text_collection(tmp_path, topics=10, runs=5, documents=10, returned=8)
    who = ("--asked-by", "the group", "--contact", "ada@example.org")
    run("study", "new", "lab", *pooling(tmp_path, runs, depth=4), *who)
    run("study", "open", "lab", "--anyway", "a test")
    run("simulate", "lab", "--participants", 3, "--prefer", f"{tmp_path}/qrels.txt:0")
    session.rollback()
    study = lifecycle.find_study(session, "lab")
    content = content_of(session, study, include_test=True)
    lines = (tmp_path / "qrels.txt").read_text().splitlines()
    truth = {(each.split()[0], each.split()[2]): int(each.split()[3] != "0") for each in lines}

    def right(asked):
        return {"grade": truth[asked.topic, asked.document]}

    figures = figures_of(content, a_record(content, right), COUNT_TEST)
    assert figures["units"] == "documents"
    assert figures["errors"]["machine"] == 0.0
    assert figures["agreement"]["hm"]["value"] == 1.0
    ranked = figures["runs"]
    assert (ranked["measure"], ranked["runs"], ranked["topics"]) == ("AP", 5, 10)
    assert (ranked["all_runs"]["value"], ranked["reversed_pairs"]) == (pytest.approx(1.0), ())
    wrong = a_record(content, lambda asked: {"grade": 1 - right(asked)["grade"]})
    ranked = figures_of(content, wrong, COUNT_TEST)["runs"]
    assert ranked["all_runs"]["value"] < 0
    assert len(ranked["reversed_pairs"]) <= ranked["separated"]
    never = figures_of(content, a_record(content, lambda _: {"grade": 0}), COUNT_TEST)["runs"]
    assert (never["topics"], never["all_runs"]["value"]) == (10, None)
    assert figures_of(content, wrong, AnalysisOptions())["runs"]["why"]  # no one counts yet
    results = results_of_machine(content, wrong, COUNT_TEST)
    assert {"ranking", "errors"} <= {section.name for section in results.sections}
