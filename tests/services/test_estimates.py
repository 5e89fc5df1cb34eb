"""Estimates from a sample that people judge and a pool that a machine judges."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from survey.core.collections.items import Item
from survey.core.collections.labels import NOT_JUDGED
from survey.core.kinds import KINDS
from survey.core.studies.fields import PlanError
from survey.kinds.labelling.estimates import LabelEstimates
from survey.kinds.labelling.pool_results import PoolResults
from survey.kinds.preference.estimates import PreferenceEstimates
from survey.services.analysis.merged_labels import merged
from survey.services.machines.estimates import estimate_sheets
from tests.labelled import a_labelling_plan
from tests.preferred import a_preference_plan

TOPICS, DOCUMENTS = 50, 8  # of each topic
RUNS = ("alpha", "beta")


def a_sampled_plan(sample, seed=1, **changes):
    """A pool of two runs that rank the same documents, each in an order of its own."""
    chance = np.random.default_rng(1)
    runs = {
        name: {
            f"t{topic}": [f"d{topic}-{place}" for place in chance.permutation(DOCUMENTS)]
            for topic in range(TOPICS)
        }
        for name in RUNS
    }
    pool = {"depth": DOCUMENTS, "runs": runs, **changes.pop("pool", {})}
    return a_labelling_plan(pool=pool, sample=sample, seed=seed, topics=[], **changes)


def grades_of_pool(plan, seed=2, error=0.0, truth=None):
    """Draw the grades of all pooled documents, or those of a truth with a share of errors."""
    chance = np.random.default_rng(seed)
    if truth is None:
        rates = dict(zip(plan.topics, chance.beta(1, 2, len(plan.topics)), strict=True))
        return {pair: int(chance.random() < rates[pair[0]]) for pair in plan.population}
    return {pair: grade ^ int(chance.random() < error) for pair, grade in truth.items()}


def estimated(plan, truth, machine, without=(), asked=None):
    """The estimates where one annotator judges the sample rightly, some documents left out."""
    labels = {}
    for topic, document in plan.sampled:
        if (topic, document) not in without:
            labels.setdefault(topic, {})[document] = truth[topic, document]
    judged = Counter((topic, each) for topic, of in labels.items() for each in of)
    results = merged([labels], ["P1"], unlisted=NOT_JUDGED)
    asked = frozenset(machine) if asked is None else asked
    return LabelEstimates(PoolResults(plan, (), judged, results), asked, machine).estimates()


def figure(estimates, name):
    return next(each for each in estimates.made if each.name == name).as_json()


def width(side):
    return side["ci95"][1] - side["ci95"][0]


def holds(side, value):
    return side["ci95"][0] <= value <= side["ci95"][1]


def test_a_sample_is_drawn_by_the_seed_and_changes_the_plan():
    plan = a_sampled_plan({"documents": 120})
    assert len(plan.sampled) == 120
    assert plan.sampled == a_sampled_plan({"documents": 120}).sampled
    assert plan.sampled != a_sampled_plan({"documents": 120}, seed=2).sampled
    asked = {(each.topic, name) for each in plan.draw_questions() for name in each.documents}
    assert asked == plan.sampled
    assert plan.as_json()["sample"] == {"documents": 120}
    assert "sample" not in a_sampled_plan(None).as_json()
    assert type(plan).from_json(plan.as_json()) == plan
    assert plan.sample_sentence == (
        "people judge 120 of 400 documents, drawn at random; a machine judges all"
    )


def test_a_check_says_what_people_judge_and_what_a_machine_cannot():
    plan, kind = a_sampled_plan({"documents": 120}), KINDS["labelling"]
    [first, *_] = kind.findings(plan, plan.draw_questions())
    assert first.text == plan.sample_sentence
    items = [Item(document, text="?") for _, document in plan.population]
    assert [*kind.item_findings(plan, items, [])] == []
    [lacking] = kind.item_findings(plan, items[2:], [])
    assert lacking.text == (
        "2 of 400 documents that a machine judges have no picture or text, such as "
        f"{items[0].document}"
    )


def test_each_document_is_drawn_equally_often():
    counts = Counter()
    for seed in range(300):
        counts.update(a_sampled_plan({"documents": 100}, seed=seed).sampled)
    drawn = np.array([*counts.values()])
    assert len(drawn) == TOPICS * DOCUMENTS
    # Of a binomial count the variance is n p (1 - p).
    assert drawn.var() == pytest.approx(300 * 0.25 * 0.75, rel=0.2)


@pytest.mark.parametrize(
    ("sample", "changes", "fault"),
    [
        ({"documents": 400}, {}, "sample has 400 documents of 400; fewer are drawn"),
        ({"documents": 0}, {}, "sample has 0 documents; a whole number from 1 is needed"),
        ({"documents": 9, "topics": 2}, {}, "it is written like {documents: 30} or {topics: 30}"),
        ({"queries": 9}, {}, "sample is {queries: 9}; it is written like"),
        (30, {}, "sample is 30; it is written like"),
        ({"documents": 9, "machine": "0a"}, {}, "a machine's answers cannot choose them"),
        ({"documents": 9}, {"pool": {"order": "likeness"}}, "does not go with order: likeness"),
    ],
)
def test_what_is_no_sample_is_refused(sample, changes, fault):
    with pytest.raises(PlanError) as error:
        a_sampled_plan(sample, **changes)
    assert fault in str(error.value)


@pytest.mark.parametrize("sample", [{"documents": 150}, {"topics": 24}])
def test_intervals_hold_the_truth_about_as_often_as_they_say(sample):
    """Of 60 intervals at 95 % eight or more miss in one of 100 trials."""
    truth = grades_of_pool(a_sampled_plan(sample))
    machine = grades_of_pool(None, 3, 0.1, truth)
    name = "relevant" if "documents" in sample else "AP alpha"
    held = [0, 0]
    for seed in range(60):
        plan = a_sampled_plan(sample, seed=seed)
        known = np.mean([*truth.values()] if "documents" in sample else precisions(plan, truth))
        made = figure(estimated(plan, truth, machine), name)
        held[0] += holds(made["with_machine"], known)
        held[1] += holds(made["people_alone"], known)
    assert min(held) >= 53


def precisions(plan, truth):
    """The average precision of the run alpha for each topic, 0 where nothing is relevant."""
    values = []
    for topic, documents in plan.pool.runs["alpha"].items():
        ranks = [rank for rank, each in enumerate(documents, 1) if truth[topic, each]]
        values.append(np.mean([found / rank for found, rank in enumerate(ranks, 1)] or [0.0]))
    return values


@pytest.mark.parametrize("sample", [{"documents": 150}, {"topics": 24}])
def test_a_useless_machine_leaves_peoples_interval_within_five_per_cent(sample):
    plan = a_sampled_plan(sample)
    truth = grades_of_pool(plan)
    ratios = []
    for seed in range(20):
        machine = grades_of_pool(plan, 10 + seed)  # drawn without looking at the truth
        for each in estimated(plan, truth, machine).made:
            made = each.as_json()
            ratios.append(width(made["with_machine"]) / width(made["people_alone"]))
    assert np.mean(ratios) <= 1.05
    for each in estimated(plan, truth, dict.fromkeys(truth, 0)).made:
        made = each.as_json()
        assert width(made["with_machine"]) == pytest.approx(width(made["people_alone"]))


def test_a_good_machine_narrows_the_interval():
    plan = a_sampled_plan({"documents": 150})
    truth = grades_of_pool(plan)
    made = figure(estimated(plan, truth, grades_of_pool(None, 3, 0.05, truth)), "relevant")
    assert width(made["with_machine"]) < 0.7 * width(made["people_alone"])
    assert made["correlation"] > 0.8
    assert made["sentence"].startswith("With 150 human and 400 machine judgements ")


def test_a_drawn_document_without_an_answer_leaves_peoples_interval_only():
    plan = a_sampled_plan({"documents": 150})
    truth = grades_of_pool(plan)
    made = figure(estimated(plan, truth, truth, without=[min(plan.sampled)]), "relevant")
    assert "with_machine" not in made
    assert made["people_alone"]["ci95"]
    assert made["missing"] == [
        "1 of the 150 drawn documents have no complete answer, so those that have one are no "
        "random sample"
    ]
    topics = a_sampled_plan({"topics": 24})
    made = figure(estimated(topics, truth, truth, without=[min(topics.sampled)]), "AP alpha")
    assert made["missing"][0].startswith("1 of the 24 drawn topics")
    assert made["n"] == 23


def test_a_machine_that_judged_the_sample_only_adds_nothing():
    plan = a_sampled_plan({"documents": 150})
    truth = grades_of_pool(plan)
    some = {pair: truth[pair] for pair in plan.sampled}
    made = figure(estimated(plan, truth, some), "relevant")
    assert made["missing"] == ["the machine was asked about 150 of the 400 documents, not all"]
    unread = figure(estimated(plan, truth, some, asked=frozenset(truth)), "relevant")
    assert unread["missing"] == []  # what it could not read is a stratum


def test_too_few_answers_say_what_is_missing():
    plan = a_sampled_plan({"documents": 60})
    truth = grades_of_pool(plan)
    made = figure(estimated(plan, truth, truth), "relevant")
    assert "100 documents that people judged are needed, there are 60" in made["sentence"]
    assert "with_machine" not in made
    nothing = figure(estimated(plan, truth, truth, without=plan.sampled), "relevant")
    assert nothing["sentence"].startswith("There is no estimate yet: ")
    few = estimated(a_sampled_plan({"topics": 2}), truth, truth)
    assert figure(few, "AP alpha")["missing"] == ["3 judged topics are needed for an interval"]


def test_the_table_has_people_beside_the_machine_and_the_assumptions():
    plan = a_sampled_plan({"topics": 24})
    truth = grades_of_pool(plan)
    estimates = estimated(plan, truth, grades_of_pool(None, 3, 0.1, truth))
    figures = {
        "assumptions": ["The 24 units are a sample."],
        "figures": [each.as_json() for each in estimates.made],
    }
    [sheet] = estimate_sheets(figures)
    assert all(len(row) == len(sheet.columns) for row in sheet.rows)
    assert [row[0] for row in sheet.rows][1:4] == [
        "AP of alpha",
        "AP of beta",
        "AP, alpha less beta",
    ]
    assert "AP of alpha: With 192 human and 400 machine judgements" in sheet.note
    assert "The 24 units are a sample." in sheet.note
    assert estimate_sheets({}) == []


def test_preferences_below_the_minimum_are_peoples_alone():
    plan = a_preference_plan(questions=4, sample={"questions": 3})
    questions = plan.draw_questions()
    people = {f"P{who}": dict.fromkeys(plan.sampled, "A") for who in range(3)}
    machine = {each.number: "A" for each in questions}
    asked = frozenset(machine)
    made = PreferenceEstimates(plan, questions, people, asked, machine).estimates()
    for each in made.made:
        told = each.as_json()
        assert "with_machine" not in told
        assert "30 questions that people answered are needed, there are 3" in told["missing"]
    none = PreferenceEstimates(plan, questions, {}, asked, machine).estimates()
    assert none.answered == 0
    assert none.made[0].as_json()["sentence"].startswith("There is no estimate yet: ")


def test_a_sample_of_preferences_is_of_questions_that_all_are_asked():
    plan = a_preference_plan(questions=4, sample={"questions": 2})
    assert plan.blocks == (plan.sampled,)
    assert (plan.counted, plan.questions, len(plan.sampled)) == (2, 4, 2)
    with pytest.raises(PlanError, match="sample does not go with design: pool"):
        a_preference_plan(questions=4, sample={"questions": 2}, design="pool", per_participant=2)
    other = next(each for each in range(1, 5) if each not in plan.sampled)
    with pytest.raises(PlanError, match=f"asked_again is {other}, which the sample has not"):
        a_preference_plan(
            questions=4, sample={"questions": 2}, asked_again=other, shuffle_questions=True
        )
    assert a_preference_plan(questions=4, design="pool", per_participant=2).sample is None


def test_a_machine_is_asked_about_each_document_once_whatever_people_are_asked():
    plan = a_sampled_plan(None, chunk=3, judges=1, participants=9)
    pool = {"t0": [f"d0-{place}" for place in range(DOCUMENTS)] + ["more"]}
    units = [*KINDS["labelling"].document_units(SimpleNamespace(plan=plan), pool)]
    assert Counter(document for _, document in units) == Counter(pool["t0"])
    assert all(document in (*question.documents, "more") for question, document in units)
    sampled = a_sampled_plan({"topics": 2})
    whole = {topic: [document] for topic, document in sampled.population}
    units = [*KINDS["labelling"].document_units(SimpleNamespace(plan=sampled), whole)]
    assert {question.topic for question, _ in units} == {*sampled.topics}
    assert len({question.number for question, _ in units}) == TOPICS
