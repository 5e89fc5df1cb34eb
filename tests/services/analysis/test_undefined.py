"""Each figure that is undefined, in the JSON of every kind, has a "why" beside it or above."""

import json
from dataclasses import replace

import numpy as np
import pytest

from survey.core.agreement.reliability import reliability_of
from survey.core.studies.rankings import Ranking
from survey.kinds.grouping.results import Assessor, GroupResults
from survey.kinds.labelling.results import Annotator, LabelResults
from survey.kinds.ordering.analysis import Votes, analysis_json
from survey.kinds.preference.results import Judgement, PreferenceResults
from survey.services.analysis.merged_labels import merged, reliability_json
from tests.core.agreement.test_verdicts import MEASURES, answers_of
from tests.preferred import a_preference_plan
from tests.services.test_analysis import analysed

DIFFERENT = {"AP": "A>B>C", "NMRR": "B>A>C", "MNRO": "C>B>A"}
TIED = {"AP": "A=B>C", "NMRR": "A=B>C", "MNRO": "A>B>C"}
NAN = np.nan
NO_FIGURES = ("why", "preferred", "at_least")  # at_least: more than half, by default
SMALL_VOTES = {
    "all agree": ["M" * 8] * 7,
    "all but one": [*["M" * 10] * 5, "M" * 9 + "A"],
    "equal means": ["MA", "AM"],
    "one person": ["MMM"],
    "one answer": ["M"],
    "own orderings": ["OOO"] * 3,
    "some own": ["OM", "MO", "OO"],
}


def undefined_without_why(content, place="", *, is_above=False):
    """The places where something is None without a reason; a verdict may prefer none."""
    if isinstance(content, list):
        for each in content:
            yield from undefined_without_why(each, f"{place}[]", is_above=is_above)
    elif isinstance(content, dict):
        has_why = bool(content.get("why"))
        for name, value in content.items():
            if value is None and not (has_why or is_above) and name not in NO_FIGURES:
                yield f"{place}.{name}"
            yield from undefined_without_why(value, f"{place}.{name}", is_above=has_why)


def require_reasons(content):
    assert sorted(set(undefined_without_why(json.loads(json.dumps(content))))) == []


@pytest.mark.parametrize("only_ordered", [False, True])
@pytest.mark.parametrize("orders", [DIFFERENT, TIED], ids=["different", "tied"])
@pytest.mark.parametrize("rows", SMALL_VOTES.values(), ids=SMALL_VOTES)
def test_of_votes_and_own_orderings(rows, orders, only_ordered):
    of_question = {name: Ranking.parse(order) for name, order in orders.items()}
    rankings = dict.fromkeys(range(1, len(rows[0]) + 1), of_question)
    study = {"digest": None, "generator": None}
    votes = Votes(study, MEASURES, rankings, len(rankings), answers_of(*rows))
    votes = replace(votes, smallest_difference=0.1, only_ordered=only_ordered)
    content = analysis_json(analysed(votes))
    for name in ("choices", "verdicts", "study"):  # None means "no question", "no preference"
        del content[name]
    require_reasons(content)


SIGNS = {
    "none": lambda _, __: None,
    "one": lambda person, question: 1 if person == question == 1 else None,
    "one person": lambda person, question: (-1) ** question if person == 1 else None,
    "all agree": lambda _, __: 1,
    "no list": lambda _, __: 0,
    "mixed": lambda person, question: (1, -1, 0)[(person * question + person) % 3],
    "apart": lambda person, question: 1 if person == question else None,
}


@pytest.mark.parametrize("ask_strength", [False, True])
@pytest.mark.parametrize("sign_of", SIGNS.values(), ids=SIGNS)
def test_of_preferences(sign_of, ask_strength):
    plan = a_preference_plan(ask_strength=ask_strength)
    questions = plan.draw_questions()
    judgements = []
    for person in range(1, 8):
        for question in questions:
            sign = sign_of(person, question.number)
            if sign is not None:
                preferred = {1: "A", -1: "B", 0: "equal"}[sign]
                side = "left" if sign else "equal"
                of = (f"P{person}", question.number, preferred, side, 1 if sign else None, {})
                judgements.append(Judgement(*of))
    require_reasons(PreferenceResults(plan, questions, judgements).as_json())


@pytest.mark.parametrize(
    "topics",
    [
        {},
        {"1": [[0, 1], [1, 1], [0, 0]]},
        {"1": [[0, 1, NAN], [0, NAN, 1]]},
        {"1": [[1, 1], [1, 1]]},
        {"1": [[1, 1], [1, 1]], "2": [[0, 1], [1, 1], [0, 0]]},
        {"1": [[1, NAN], [0, NAN]]},
        {"1": [[1, 0]]},
        {"1": [[1, 0, NAN], [0, 1, NAN], [1, 1, NAN], [1, 0, NAN]]},
    ],
)
def test_of_annotators(topics):
    values = {name: np.array(rows, dtype=float) for name, rows in topics.items()}
    people = max([each.shape[1] for each in values.values()], default=2)
    names = [f"person {number}" for number in range(people)]
    require_reasons(reliability_json(reliability_of(names, values.items())))


@pytest.mark.parametrize(
    "labels",
    [
        [],
        [{}],
        [{"red": {}}],
        [{"red": {"x": 1, "y": 0}}],
        [{"red": {"x": 0, "y": 0}}] * 2,
        [{"red": {"x": 1, "y": 1}}] * 2,
        [{"red": {"x": 1, "y": 0}, "blue": {"x": 1}}] * 2,
        [{"red": {"x": 1, "y": 0}}, {"blue": {"x": 1}}],
        [{"red": {"x": 1, "y": 0}}, {"red": {"x": 0, "y": 1}}, {"blue": {}}],
    ],
)
def test_of_labels(labels):
    annotators = [Annotator(f"P{number}", each, 9.0) for number, each in enumerate(labels)]
    of_all = merged(labels, [each.participant for each in annotators])
    require_reasons(LabelResults(annotators, of_all, {}).as_json())


ALONE, TOGETHER = {"x": {"1"}, "y": {"2"}, "z": {"1"}}, {"x": {"1"}, "y": {"1"}, "z": {"1"}}


@pytest.mark.parametrize(
    "clusters",
    [
        [],
        [{}],
        [{"5": {}}, {"5": {}}],
        [{"5": {"x": {"1"}}}, {"5": {"x": {"1"}}}],
        [{"5": ALONE}],
        [{"5": ALONE}, {"7": ALONE}],
        [{"5": ALONE}] * 2,
        [{"5": TOGETHER}] * 2,
        [{"5": ALONE, "7": TOGETHER}, {"5": TOGETHER, "7": ALONE}],
        [{"5": ALONE}, {"5": TOGETHER}, {"5": ALONE}],
        [{"5": ALONE}, {"5": TOGETHER}, {"5": {}}],
        [{"5": {"x": set(), "y": set()}}] * 2,
    ],
)
def test_of_groups(clusters):
    frozen = [
        {
            topic: {name: frozenset(groups) for name, groups in of.items()}
            for topic, of in each.items()
        }
        for each in clusters
    ]
    assessors = [
        Assessor(f"P{number}", "third" if number == 2 else "first", each, 9)
        for number, each in enumerate(frozen)
    ]
    require_reasons(GroupResults(assessors, 0.9, 0.2, {}).as_json())
