"""What tables for a paper print are the figures of the JSON, in their units."""

from dataclasses import replace

import pytest

from survey.core.studies.rankings import Ranking
from survey.kinds.ordering.analysis import Votes, analysis_json
from survey.kinds.ordering.sheets import tables_of
from survey.kinds.preference.results import Judgement, PreferenceResults
from tests.core.agreement.test_verdicts import MEASURES, answers_of
from tests.preferred import a_preference_plan
from tests.services.test_analysis import analysed

ORDERS = [
    {"AP": "A>B>C", "NMRR": "B>A>C", "MNRO": "C>B>A"},  # all balanced
    {"AP": "A>B>C", "NMRR": "C>A=B", "MNRO": "C>B>A"},  # MNRO breaks a tie of NMRR
    {"AP": "A>B>C", "NMRR": "B>A=C", "MNRO": "C>B>A"},  # contradict, unbalanced
    {"AP": "A>B>C", "NMRR": "C>B>A", "MNRO": "C>B>A"},  # identical
]
VOTES = ["MMNMMAMO", "MNMMAMMM", "NMMAMMNM", "MMMMNMOM", "AMMNMMMA", "MMNMMMMN"]


@pytest.fixture(scope="module")
def analysis():
    rankings = {
        number: {name: Ranking.parse(order) for name, order in ORDERS[number % 4].items()}
        for number in range(1, 9)
    }
    study = {"digest": None, "generator": None}
    votes = Votes(study, MEASURES, rankings, len(rankings), answers_of(*VOTES))
    return analysed(replace(votes, smallest_difference=0.2))


@pytest.fixture(scope="module")
def tables(analysis):
    return {sheet.name: sheet for sheet in tables_of(analysis)}


def printed(sheet):
    """The rows by their column; of a pair only the text of the JSON."""
    return [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]


def points(value):
    return None if value is None else pytest.approx(100 * value)


def pairs(analysis):
    return {each["pair"]: each for each in analysis_json(analysis)["differences"]}


def test_differences(analysis, tables):
    of_pair = pairs(analysis)
    rows = printed(tables["differences"])
    assert len(rows) == 2 * len(of_pair) == 6
    for row in rows:
        each = of_pair[str(row["pair"])]
        is_kind = row["population"] == "questions of this kind"
        test = each["kind" if is_kind else "these"]
        assert row["difference"] == points(each["mean"])
        assert [row["from"], row["to"]] == [points(end) for end in test["ci95"]]
        together = [row["together from"], row["together to"]]
        assert together == [points(end) for end in test["ci95_simultaneous"]]
        assert float(row["p (corrected)"]) == pytest.approx(test["p"])
        error = each["components" if is_kind else "participants"]["se"]
        assert row["standard error"] == points(error)
        assert row["of independent answers"] == points(each["components"]["se_independent"])


def test_balanced_and_unbalanced_contradictions(analysis, tables):
    of_pair = pairs(analysis)
    seen = set()
    for row in printed(tables["contrasts"]):
        parts = of_pair[str(row["pair"])]["by_contrast"]
        part, is_test = {
            "contradict": (parts["contradicting"], False),
            "contradict, balanced": (parts["balanced"], False),
            "balanced, less random orders": (parts["balanced"]["above_random_orders"], True),
            "contradict, unbalanced": (parts["unbalanced"], False),
            "ties only": (parts["ties_only"], False),
            "identical": (parts["identical"], False),
        }[row["the two orders"]]
        if not is_test:
            assert row["questions"] == part["questions"]
        if row["part of the difference"] is not None:
            assert row["part of the difference"] == points(part["contribution"])
        mean = (part.get("components") or part).get("mean")
        assert row["difference there"] == points(mean)
        if is_test and part["components"]["p"] is not None:
            assert float(row["p, this kind"]) == pytest.approx(part["components"]["p"])
            seen.add("tested")
        seen.add((row["the two orders"], bool(row["questions"])))
    assert {("contradict, balanced", True), ("contradict, unbalanced", True), "tested"} <= seen


def test_equality_by_itself_and_corrected(analysis, tables):
    of_pair = pairs(analysis)
    rows = printed(tables["equivalence"])
    assert len(rows) == 6
    for row in rows:
        is_kind = row["population"] == "questions of this kind"
        test = of_pair[str(row["pair"])]["equivalence"]["kind" if is_kind else "these"]
        assert [row["from"], row["to"]] == [points(end) for end in test["ci90"]]
        assert float(row["p"]) == pytest.approx(test["p"])
        assert float(row["p, Holm"]) == pytest.approx(test["p_holm"])


def test_measures_of_preferences():
    plan = a_preference_plan()
    judgements = [
        Judgement(f"P{person}", question.number, *of, {})
        for person in range(1, 8)
        for question in plan.draw_questions()
        for of in [("AB"[(person * question.number) % 3 == 0], "left", None)]
    ]
    results = PreferenceResults(plan, plan.draw_questions(), judgements)
    of_pair = {each["pair"]: each for each in results.as_json()["differences"]}
    sheet = next(each for each in results.sheets if each.name == "differences")
    assert len(sheet.rows) == len(of_pair) > 0
    for row in printed(sheet):
        each = of_pair[str(row["pair"])]
        assert row["difference"] == pytest.approx(each["mean"])
        assert row["standard error"] == pytest.approx(each["components"]["se"])
        assert row["of independent answers"] == pytest.approx(each["components"]["se_independent"])
