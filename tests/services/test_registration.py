"""A registration: canonical, compared item by item, written in the order of registries' forms."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.kinds import KINDS
from survey.errors import NotAllowedError, SurveyError
from survey.services.planning import preregistration
from survey.services.studies import lifecycle
from survey.services.studies.registration import (
    CHANGED,
    ITEMS,
    SAME,
    UNKNOWN,
    Typed,
    canonical,
    changes_since,
    compare,
    items_of,
    read_registration,
    sum_of,
    typed_fields,
)
from survey.services.studies.registration_texts import registration_files
from tests.builders import a_plan, an_open_study
from tests.databases import ON_SQLITE

DIGEST = "a" * 64
AGE = {"name": "age", "label": "Age", "kind": "number", "screen_below": 18}
# What a plan changes, and the items that say so.
CHANGES = {
    "measures": ({"measures": ["AP", "NMRR", "RR"]}, {"measures", "pairs"}),
    "participants": ({"participants": 40}, {"sample_size"}),
    "looks": ({"looks": [10, 20]}, {"looks", "stop", "level"}),
    "screening": ({"personal_fields": [AGE]}, {"exclusion_rule"}),
    "check": ({"exclude_failed_check": True}, {"exclusion_rule"}),
    "arms": ({"arms": ["before", "after"]}, {"arms"}),
    "primary": ({"primary": "NMRR-AP"}, {"pairs"}),
    "texts": ({"scenario": "Another story."}, set()),
}
BEGUN = {"personal_fields": [], "practice": True, "exclude_failed_check": False}
AS_PREDICTED = (
    "Data collected|Hypothesis|Dependent variable|Conditions|Analyses|Outliers and exclusions|"
    "Sample size|Other"
)
OSF = (
    "Title|Description|Hypotheses|Study type|Blinding|Study design|Randomisation|Existing data|"
    "Data collection procedures|Sample size|Sample size rationale|Stopping rule|"
    "Manipulated variables|Measured variables|Indices|Statistical models|Transformations|"
    "Inference criteria|Data exclusion|Missing data|Exploratory analysis"
)
STATED = Typed("MNRO leads AP.", "As many as can come.", "None.")

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50)


@pytest.fixture
def draft(session):
    study = lifecycle.create_study(session, "a-draft", a_plan(questions=8))
    session.rollback()
    return study


def test_every_item_has_a_value_of_every_kind():
    assert {*items_of(a_plan(), DIGEST)} == {*ITEMS}
    assert all(KINDS[name].protocol for name in KINDS)


@given(st.sets(st.sampled_from([*CHANGES])))
def test_what_changes_in_a_plan_changes_its_items_and_no_other(names):
    before = a_plan(**BEGUN)
    changes, expected = dict(BEGUN), {"digest"}
    for name in names:
        fields, items = CHANGES[name]
        changes |= fields
        expected |= items
    registered = {"format": 1, **_empty(before), "items": items_of(before, DIGEST)}
    compared = compare(canonical(registered), items_of(a_plan(**changes), "b" * 64))
    assert {item.item for item in compared.items if item.status == CHANGED} == expected
    assert compared.sentence.startswith("The analysis is not the registered one. Changed: digest")
    assert len(compared.deviations) == len(expected)


def _empty(plan):
    parts = {name: {} for name in ("fields", "design", "power", "typed")}
    return {**parts, "title": plan.title, "slug": "x", "kind": plan.kind, "address": "/s/x"}


@given(texts, texts, texts)
def test_a_registration_is_canonical_and_its_sum_is_stable(hypothesis, rationale, existing_data):
    values = {"hypothesis": hypothesis, "rationale": rationale, "existing_data": existing_data}
    typed, plan = typed_fields(values), a_plan()
    registered = {
        **_empty(plan),
        "format": 1,
        "items": items_of(plan, DIGEST),
        "typed": vars(typed),
    }
    text = canonical(registered)
    backwards = dict(reversed(registered.items()))
    assert canonical(backwards) == text == canonical(json.loads(text))
    assert sum_of(text) == sum_of(canonical(read_registration(text)))
    assert typed_fields(vars(typed)) == typed
    assert [*json.loads(text)] == sorted(registered)


def test_what_is_not_known_is_not_compared():
    registered = {"format": 1, **_empty(a_plan()), "items": items_of(a_plan(), DIGEST)}
    done = {"options": registered["items"]["options"], "version": "0"}
    compared = compare(canonical(registered), done)
    statuses = {item.item: item.status for item in compared.items}
    assert statuses.pop("options") == SAME
    assert statuses.pop("version") == CHANGED
    assert {*statuses.values()} == {UNKNOWN}
    same = compare(canonical(registered), {"options": done["options"]})
    assert same.sentence.startswith("The analysis is the registered one as far as it can be")
    every = compare(canonical(registered), registered["items"])
    assert every.sentence == "The analysis is the registered one."
    assert every.as_json()["is_registered"]


@pytest.mark.parametrize(("finished", "status"), [(10, SAME), (11, CHANGED), (30, SAME)])
def test_a_planned_look_may_stop_a_study_with_fewer(finished, status):
    items = items_of(a_plan(looks=[10, 20]), DIGEST)
    registered = {"format": 1, **_empty(a_plan()), "items": items}
    compared = compare(canonical(registered), {**items, "sample_size": finished})
    [size] = [item for item in compared.items if item.item == "sample_size"]
    assert size.status == status


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("no JSON", "r.json cannot be read as JSON"),
        ("[1]", "r.json holds no registration"),
        ('{"format": 2}', "r.json, format: 2 found; 1 can be read"),
        ('{"format": true}', "r.json, format: True found"),
        ('{"format": 1}', "r.json, items: it is missing"),
        ('{"format": 1, "title": "\\ud800"}', "r.json holds no registration"),
        ("[" * 100_000, "r.json cannot be read as JSON"),
    ],
)
def test_what_is_no_registration_is_refused_with_its_place(text, fault):
    with pytest.raises(SurveyError, match="`survey study preregister` writes one") as error:
        read_registration(text, "r.json")
    assert fault in str(error.value)


@pytest.mark.parametrize("name", ["fields", "design", "typed"])
def test_texts_of_a_registration_are_texts(name):
    registered = {"format": 1, **_empty(a_plan()), "items": {}, name: {"x": 1}}
    with pytest.raises(SurveyError, match=rf"registration\.json, {name}: texts are needed"):
        read_registration(canonical(registered))


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"hypotheses": "x"}, "there is no field 'hypotheses'; allowed are hypothesis, rationale"),
        ({"rationale": 5}, "rationale is 5; a text is needed"),
        ({"hypothesis": "\0"}, "hypothesis holds a character that cannot be stored"),
        ({"hypothesis": "x" * 5001}, "hypothesis has 5001 characters; 5000 are allowed"),
    ],
)
def test_typed_fields_are_checked(values, fault):
    with pytest.raises(SurveyError) as error:
        typed_fields(values, "stated.yaml")
    assert str(error.value).startswith(f"stated.yaml: {fault}")


@ON_SQLITE
def test_a_draft_keeps_its_registration_with_power_and_seed(session, draft):
    registered = preregistration.preregister(session, draft, STATED, "Ada")
    stored = preregistration.stored_registration(draft)
    assert stored == json.loads(canonical(registered)) == registered
    assert draft.registration == canonical(registered)
    assert preregistration.stored_fields(draft) == STATED
    assert registered["items"]["digest"] == lifecycle.current_digest(draft)
    assert (registered["power"]["seed"], registered["power"]["pair"]) == (1, "MNRO-NMRR")
    assert canonical(preregistration.registration_of(draft, STATED)) == draft.registration
    [event] = [event for event, _ in _log(session, draft) if event.kind == "preregistered"]
    assert event.detail == f"SHA-256 {sum_of(draft.registration)}"


def _log(session, study):
    from survey.services import accounts

    return accounts.log_of(session, study)


@ON_SQLITE
def test_the_texts_have_the_fields_of_the_forms_in_their_order(session, draft):
    files = dict(registration_files(preregistration.registration_of(draft, STATED)))
    assert [*files] == ["registration.md", "registration.json", "osf.md", "aspredicted.md"]
    numbered = [f"{number}. {name}" for number, name in enumerate(AS_PREDICTED.split("|"), 1)]
    assert _headings(files["aspredicted.md"]) == numbered
    assert _headings(files["osf.md"]) == OSF.split("|")
    text, checksum = files["registration.md"], sum_of(files["registration.json"])
    for statement in (
        *vars(STATED).values(),
        lifecycle.current_digest(draft),
        checksum,
        "the seed 1",
    ):
        assert statement in text, statement
    assert "(not stated)" not in "".join(files.values())
    unstated = dict(registration_files(preregistration.registration_of(draft, Typed())))
    assert unstated["aspredicted.md"].count("(not stated)") == 2
    assert "who finish. The reason for it is not stated." in unstated["registration.md"]


def _headings(text):
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]


@ON_SQLITE
def test_a_changed_draft_says_what_is_not_as_registered(session, draft):
    registered = preregistration.preregister(session, draft, STATED, "Ada")
    assert not _warnings(session, draft)
    plan = replace(draft.plan, participants=12, scenario="Another.", registered=True)
    lifecycle.change_plan(session, draft, plan, "Ada")
    [warning] = _warnings(session, draft)
    assert "sample size (registered 30, now 12)" in warning.text
    assert "fields of the plan (participants, scenario)" in warning.text
    again = replace(plan, participants=30, scenario=a_plan().scenario, registered=True)
    lifecycle.change_plan(session, draft, again, "Ada")
    assert not _warnings(session, draft)
    assert changes_since(registered, draft.plan, DIGEST) == ["questions, pictures or topics"]


def _warnings(session, study):
    warnings = lifecycle.check_study(session, study)
    return [warning for warning in warnings if warning.code == lifecycle.NOT_REGISTERED]


@ON_SQLITE
def test_a_study_that_opened_can_no_longer_be_preregistered(session):
    study = an_open_study(session)
    with pytest.raises(NotAllowedError):
        preregistration.preregister(session, study, STATED, "Ada")
    assert study.registration is None


@ON_SQLITE
def test_power_that_cannot_be_simulated_is_said_to_be_so(session):
    study = lifecycle.create_study(session, "no-methods", a_plan(columns="never"))
    power = preregistration.registration_of(study, Typed())["power"]
    assert power == {
        "sentence": "Power cannot be simulated: This study never shows methods, so it "
        "has no votes to simulate."
    }
    small = lifecycle.create_study(session, "small", a_plan(participants=1))
    assert preregistration.registration_of(small, Typed())["power"]["sentence"].startswith(
        "Power cannot be simulated: "
    )
