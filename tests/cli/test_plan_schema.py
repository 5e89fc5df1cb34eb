"""The JSON Schema of plan files allows what the survey reads, and is the one in docs."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from survey.core.kinds import BUILT_IN_KINDS, KINDS
from survey.services.studies import plans
from survey.services.studies.plan_schema import plan_schema
from tests.builders import a_plan
from tests.grouped import a_grouping_plan
from tests.labelled import a_labelling_plan
from tests.preferred import a_preference_plan

DOCS = Path(__file__).parents[2] / "docs"
ASK = [{"name": "sure", "kind": "scale", "label": "How sure?", "from": 1, "to": 7}]
PLANS = [a_plan, a_grouping_plan, a_labelling_plan, a_preference_plan]
IN_DOCS = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    if page.stem != "add-a-kind"  # its kind is not installed here
    for number, text in enumerate(re.findall(r"```yaml \S+\n(.*?)```", page.read_text(), re.DOTALL))
]


def faults_of(values):
    return [error.message for error in Draft7Validator(plan_schema()).iter_errors(values)]


def test_it_is_a_schema_of_the_fields_of_all_kinds():
    schema = plan_schema()
    Draft7Validator.check_schema(schema)
    names = {item.name for kind in BUILT_IN_KINDS for item in fields(KINDS[kind].plan)}
    names.remove("arm_settings")  # within the arms
    assert names <= schema["properties"].keys()


def test_the_one_in_docs_is_what_the_command_prints(run):
    assert run("study", "schema") == (DOCS / "plan.schema.json").read_text()


@pytest.mark.parametrize("make", PLANS)
def test_it_allows_every_plan_that_the_survey_writes(make):
    plan = make(ask=ASK)
    assert faults_of(yaml.safe_load(plans.write_plan(plan))) == []


@pytest.mark.parametrize("text", IN_DOCS)
def test_it_allows_the_plans_of_the_guides(text):
    assert faults_of(json.loads(json.dumps(plans.read_plan_text(text).values, default=str))) == []


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"qestions": 3}, "'qestions' was unexpected"),
        ({"questions": 9999}, "9999 is not valid"),
        ({"design": "some"}, "'some' is not one of"),
        ({"exclude_failed_check": "no"}, "'no' is not of type 'boolean'"),
        ({"ask": [{"name": "sure", "kind": "slider", "label": "?"}]}, "'slider' is not one of"),
        ({"ask": [{"kind": "scale", "label": "?"}]}, "'name' is a required property"),
        ({"recruitment": {"acess": "public"}}, "'acess' was unexpected"),
    ],
)
def test_it_finds_a_slip(values, fault):
    assert any(fault in each for each in faults_of(values)), faults_of(values)
