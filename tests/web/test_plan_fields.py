"""A plan's fields are declared once: form and command follow their rules."""

from dataclasses import fields

import click
import pytest

from survey.cli.study import new
from survey.core.studies.fields import Choice, PersonalField, Whole, placeholders, rules_of
from survey.kinds.ordering.plan import OrderingPlan
from survey.services.studies.plans import preset_plan
from survey.services.studies.recruitment import Recruitment
from survey.web.researcher.mails import MailsForm
from survey.web.researcher.people import RecruitmentForm
from survey.web.researcher.plan import PersonalFieldForm, form_of
from tests.builders import a_plan
from tests.databases import ON_SQLITE
from tests.grouped import a_grouping_plan
from tests.labelled import a_labelling_plan
from tests.preferred import a_preference_plan

RULES = rules_of(OrderingPlan)
ON_A_PAGE_OF_THEIR_OWN = {"own_lists", "own_marks", "provenance"}
FORMS = [
    ((form_of(OrderingPlan),), OrderingPlan),
    ((PersonalFieldForm,), PersonalField),
    ((RecruitmentForm, MailsForm), Recruitment),
]
OPTIONS = {
    option.name: option
    for option in new.params
    if isinstance(option, click.Option) and option.name in RULES
}


@ON_SQLITE
@pytest.mark.parametrize(("forms", "settings"), FORMS)
def test_forms_ask_for_every_field_with_the_label_and_help_of_its_rule(app, forms, settings):
    with app.test_request_context():
        inputs = {field.name: field for form in forms for field in form()}
        rules = rules_of(settings)
        asked = {name: (inputs[name].label.text, inputs[name].description) for name in rules}
    assert asked == {name: (rule.label, rule.help) for name, rule in rules.items()}


@ON_SQLITE
def test_the_plans_form_has_a_field_for_each_setting_of_a_plan(app):
    with app.test_request_context():
        asked = {field.name for field in form_of(OrderingPlan)()}
    settings = {field.name for field in fields(OrderingPlan)} - ON_A_PAGE_OF_THEIR_OWN
    assert settings - asked == {"marks"}
    assert {"grades", "weights", "clusters"} <= asked


@pytest.mark.parametrize("settings", [settings for _, settings in FORMS])
def test_every_rule_has_a_label_of_its_own(settings):
    labels = [rule.label for rule in rules_of(settings).values()]
    assert all(labels)
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("make", [a_plan, a_labelling_plan, a_grouping_plan, a_preference_plan])
def test_the_help_of_the_scenario_names_what_the_kinds_texts_may_hold(make):
    plan = make()
    names = placeholders(rules_of(type(plan))["scenario"].help)
    assert names
    assert {*names} <= {*plan.placeholder_names}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_the_command_takes_what_the_rule_of_its_field_allows(name):
    rule, type_ = RULES[name], OPTIONS[name].type
    if isinstance(rule, Whole):
        assert type_.name.startswith("integer")
        assert getattr(type_, "min", rule.lowest) == rule.lowest
    elif isinstance(rule, Choice):
        assert {*type_.choices} <= {*rule.allowed}
    else:
        assert isinstance(
            type_, click.Choice if name == "language" else click.types.StringParamType
        )


@pytest.mark.parametrize(
    "name", [name for name, option in OPTIONS.items() if option.help.endswith(").")]
)
def test_the_value_that_an_option_names_is_that_of_a_new_plan(name):
    value = getattr(preset_plan("mnro"), name)
    assert OPTIONS[name].help.endswith(f"({value}).")
