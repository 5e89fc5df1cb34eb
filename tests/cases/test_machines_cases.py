"""Statistics of a machine's judgements beside people's, computed apart from this code."""

import json
import math
from pathlib import Path

import pytest

from survey.core.statistics import beside_people

GROUPS = (
    "alternative_annotator_test",
    "prediction_powered_mean",
    "relevant_count",
    "preference_share",
    "preference_crossed",
    "pooled",
    "pooled_shared_questions",
    "calibration",
)
CASES = json.loads((Path(__file__).parent / "machines.json").read_text(encoding="utf-8"))
NOTES = ("name", "expected", "published_code_agrees", "metafor_3_8_1_max_difference")


def agrees(value, expected):
    if isinstance(expected, dict):
        return all(agrees(value[key], each) for key, each in expected.items())
    if isinstance(expected, list):
        return len(value) == len(expected) and all(map(agrees, value, expected))
    if expected is None or isinstance(expected, str | bool):
        return value == expected
    return math.isclose(value, expected, rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("group", "case"),
    [
        pytest.param(group, case, id=f"{group}: {case.get('name') or case['strata']}")
        for group in GROUPS
        for case in CASES[group]
    ],
)
def test_the_figures_are_those_computed_apart(group, case):
    fields = {name: value for name, value in case.items() if name not in NOTES}
    figures = getattr(beside_people, group)(**fields)
    assert agrees(figures, case["expected"]), figures


def test_a_figure_that_differs_is_noticed():
    assert not agrees({"a": [1.0, 2.0]}, {"a": [1.0, 2.00001]})
    assert not agrees({"a": 1.0}, {"a": None})
    assert sum(len(CASES[group]) for group in GROUPS) == 22
