"""Plans as YAML: every fault with its line, and the same study as from the form."""

import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from survey.core.studies.fields import PlanError
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import study_digest
from survey.errors import SurveyError
from survey.services.studies import plans
from survey.services.studies.plans import PlanFileError, read_plan, write_plan
from survey.services.studies.recruitment import Recruitment
from tests.builders import a_plan
from tests.grouped import PLAN as GROUPING
from tests.preferred import a_preference_plan

OF_KINDS = ("labels", "groups", "preference")


def faults_of(text):
    with pytest.raises(PlanFileError) as error:
        read_plan(text, "plan.yaml")
    return error.value.faults


@pytest.mark.parametrize("preset", plans.PRESETS)
@pytest.mark.parametrize("language", ["en", "el"])
def test_a_preset_comes_back_from_its_file(preset, language):
    plan = plans.preset_plan(preset, language=language, seed=4)
    again = read_plan(write_plan(plan)).plan
    assert again == plan


@pytest.mark.parametrize("preset", [*plans.PRESETS, *OF_KINDS])
def test_presets_have_a_least_age_and_ask_for_education_without_needing_it(preset):
    age, education = plans.preset_values(preset)["personal_fields"]
    assert (age["screen_below"], education["required"]) == (16, False)


def test_the_scenario_of_preferences_holds_where_no_topic_is_shown():
    assert "You see what each" in plans.preset_values("preference", "en")["scenario"]


def test_the_scenario_for_runs_holds_where_the_plan_shows_pictures_too():
    assert "position" not in plans.preset_plan("runs").scenario


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029", "\xa0", "\ufeff"])
@pytest.mark.parametrize("text", ["One{}two", "One\n\ntwo{} three\n{}four"])
def test_unusual_blanks_and_line_ends_come_back_from_a_file(character, text):
    plan = a_plan(scenario=text.format(character, character))
    assert character in plan.scenario
    assert read_plan(write_plan(plan)).plan == plan


def test_recruitment_travels_with_the_plan():
    settings = Recruitment(code_complete="C1", return_url="https://x.example/?cc={code}")
    read = read_plan(write_plan(a_plan(), settings))
    assert read.recruitment == settings


def test_a_file_names_a_preset_and_what_differs():
    assert len({read_plan("preset: mnro\n").plan.seed for _ in range(3)}) > 1
    plan = read_plan("preset: mnro\nseed: 2013\n").plan
    demo = plans.preset_plan("mnro", seed=2013)
    digests = {study_digest(one, one.draw_questions(), GENERATOR_VERSION) for one in (plan, demo)}
    assert len(digests) == 1


def test_a_preset_in_another_language_has_that_languages_texts():
    assert "συστήματα" in read_plan("preset: mnro\nlanguage: el\n").plan.scenario


def test_all_faults_are_told_at_once_each_with_its_line():
    assert faults_of(
        "preset: mnro\n"
        "questions: many\n"
        "colour: blue\n"
        "personal_fields:\n"
        "  - name: Age\n"
        "    label: Your age\n"
        "    kind: number\n"
        "  - name: group\n"
        "    label: Your group\n"
        "    kind: choice\n"
        "    options: [one]\n"
        "recruitment:\n"
        "  access: everyone\n"
    ) == (
        "plan.yaml, line 3: there is no field “colour”; a plan has "
        + faults_of("preset: mnro\ncolour: blue")[0].partition("a plan has ")[2],
        "plan.yaml, line 5, personal_fields 1, name: the personal field 'Age' cannot be a column; "
        "a lower-case word that is no keyword of Python is allowed",
        "plan.yaml, line 11, personal_fields 2, options: the personal field group needs at least "
        "two options, and 50 at most; found 1",
        "plan.yaml, line 2: questions is 'many'; a whole number is needed",
        "plan.yaml, line 13, recruitment: access is 'everyone'; allowed is public, personal",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "plan.yaml holds no fields"),
        ("- a\n- b\n", "plan.yaml holds no fields"),
        ("title: [a\n", "plan.yaml, line 1: the list that begins with [ is not closed by ]"),
        ("title: a: b\n", "line 1: a text that holds a colon needs quotation marks"),
        ("title: @a\n", "line 1: a text that begins with a sign needs quotation"),
        ("a:\n  b: 1\n\tc: 2\n", "line 3: blanks are needed before a line in place of tabs"),
        ("a: &x [1]\nb: *x\n", "uses a YAML alias"),
        ("seed: 1\nseed: 2\n", "line 1: seed occurs twice, again on line 2"),
        ("preset: other\n", "line 1: preset is 'other'; allowed is mnro"),
        ("preset: mnro\nseed: 2013-01-01\n", "seed is 2013-01-01; a whole number"),
        ("preset: mnro\nlanguage: xx\n", "there is no translation into 'xx'; there are en, el"),
        ("preset: mnro\ndesign: pool\n", "per_participant is empty; a pool needs"),
        ("preset: mnro\nscenario: '{sytems}'\n", "{sytems} found in scenario; allowed are {lists}"),
        ("preset: mnro\npersonal_fields: 3\n", "personal_fields is 3; a list is needed"),
        ("[" * 3_500, "nested deeper than any plan"),
        ('preset: mnro\ntitle: "a\\ud800b"\n', "plan.yaml, line 2"),
        ("x" * 20_000_001, "20000001 characters; 20000000 are allowed"),
        (f"a: [{'1,' * 500_000}]", "more than 500000 values, which are allowed"),
        (f"a: 1\nb: {':1' * 500_000}", "line 2: a number of 1000000 characters found; 100 are"),
        (f"b: !!int '{'1:' * 500_000}1'", "line 1: a number of 1000001 characters found; 100 are"),
    ],
)
def test_what_is_no_plan_is_explained(text, told):
    assert told in faults_of(text)[0]


TEXTS = ["101", "012", "1.10", "12:30", "2024-01-02", "yes", "No", "1_000", "0x1F", "1e3", ".5"]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_and_ids_are_read_as_they_are_written(text):
    plan = read_plan(
        f"preset: mnro\ntitle: {text}\npersonal_fields:\n- name: age\n  label: {text}\n"
        f"  kind: choice\n  options: [{text}, other]\n  screen_out: [{text}]\n"
    ).plan
    [field] = plan.personal_fields
    assert (plan.title, field.label, field.options) == (text, text, (text, "other"))
    assert field.screen_out == (text,)
    settings = read_plan(f"preset: mnro\nrecruitment:\n  code_complete: {text}\n").recruitment
    assert settings.code_complete == text


def test_the_names_in_a_plan_of_runs_come_back_from_a_file_without_quotes():
    written = write_plan(a_preference_plan())
    texts = [
        written.replace("- '1'\n", f"- {quote}012{quote}\n").replace(
            "- alpha\n", f"- {quote}1.10{quote}\n"
        )
        for quote in ("'", "")
    ]
    quoted, plain = (read_plan(text).plan for text in texts)
    assert (plain.topics[0], plain.runs[0]) == ("012", "1.10")
    assert plain == quoted


@pytest.mark.parametrize(
    ("number", "base"), [("010", 8), ("-017", 8), ("0_17", 8), ("12:30", 60), ("1:20.5", 60)]
)
def test_a_number_that_yaml_would_change_is_refused(number, base):
    [fault] = faults_of(f"preset: mnro\nquestions: {number}\n")
    assert fault.startswith(
        f"plan.yaml, line 2, questions: {number} found, which YAML reads as a number in base {base}"
    )
    [fault] = faults_of(f"preset: mnro\nown_lists:\n- [[1, 2], [1, {number}]]\n")
    assert fault.startswith("plan.yaml, line 3, own_lists 1 2 2: ")


def test_whole_numbers_as_people_write_them_are_numbers():
    plan = read_plan("preset: mnro\nquestions: 07\nminutes: 10\ncollection_size: 1_000\n").plan
    assert (plan.questions, plan.minutes, plan.collection_size) == (7, 10, 1_000)


def test_a_plan_of_many_topics_may_be_longer_than_a_million_characters():
    documents = {f"topic-{n}": [f"clueweb-{n:06}-{m:06}" for m in range(400)] for n in range(130)}
    text = json.dumps({**GROUPING, "questions": 130, "topics": documents})
    assert len(text) > 1_000_000
    assert dict(read_plan(text).plan.topics).keys() == documents.keys()


def own_lists(relevant, questions=50, lists=10):
    """Fields of a plan with lists of its own, the same in each question."""
    ranks = [tuple(range(first, first + relevant)) for first in range(1, lists + 1)]
    return {"own_lists": [ranks] * questions, "collection_size": 100_000, "practice": False}


def test_a_plan_that_no_file_could_hold_is_not_made():
    message = (
        r"the plan has 5,000,5\d\d values, 5,000,551 of them in own_lists; 490,000 are allowed, "
        "so that a plan file can hold them"
    )
    with pytest.raises(SurveyError, match=message):
        plans.preset_plan("mnro", **own_lists(10_000))
    lists = plans.OwnLists(tuple(own_lists(10_000)["own_lists"]), 100_000)
    with pytest.raises(PlanError, match=message):
        plans.with_lists(a_plan(), lists)


def test_a_plan_s_values_are_counted_as_its_file_has_them():
    marks = {"grades": [[1, 2]] * 3, "clusters": [[["a"], ["b", "c"]]] * 3}
    values = {**own_lists(2, 2, 3), "own_marks": [marks] * 2}
    plan = plans.preset_plan("mnro", **values)
    for name in ("own_lists", "own_marks"):
        text = yaml.safe_dump(json.loads(json.dumps(plans.plan_values(plan)[name])))
        events = yaml.parse(text)
        kinds = yaml.ScalarEvent | yaml.CollectionStartEvent
        in_file = sum(isinstance(event, kinds) for event in events)
        assert plans._count_values(plan.content()[name]) == in_file
        assert plans._count_values(values[name]) == in_file


@pytest.mark.slow
def test_the_largest_plan_that_is_made_comes_back_from_its_file():
    plan = plans.preset_plan("mnro", **own_lists(978))
    assert read_plan(write_plan(plan, Recruitment(code_complete="C1"))).plan == plan
    with pytest.raises(SurveyError, match="490,000 are allowed"):
        plans.preset_plan("mnro", **own_lists(979))


def test_a_number_of_a_pool_hides_no_other_fault():
    without_pool = "preset: mnro\nper_participant: 99\n"
    assert faults_of(without_pool)[0].endswith(
        "per_participant is 99, but the design is all; leave it out, or choose the design pool"
    )
    faults = faults_of("preset: mnro\ndesign: pool\nper_participant: 99\nrelevant: 200\n")
    assert ["per_participant is 99" in faults[0], "200 relevant items" in faults[1]] == [True, True]


@given(st.text(max_size=200))
def test_any_text_is_a_plan_or_a_plan_file_error(text):
    with contextlib.suppress(PlanFileError):
        read_plan(text)


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from(sorted(a_plan().as_json())),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=5,
        ),
        max_size=4,
    )
)
def test_any_values_make_a_plan_or_are_refused_with_a_reason(changes):
    values = {**a_plan().as_json(), "questions": 1, "practice": False, **changes}
    with contextlib.suppress(ValueError):
        plan = plans.parse_plan(values)
        assert plans.parse_plan(plan.as_json()) == plan


@pytest.mark.parametrize(
    ("kind", "topics"),
    [
        ("labelling", ["t1", "t\u202e2"]),
        ("grouping", {"t\u202e2": ["a", "b"]}),
        ("grouping", {"t1": ["a", "t\u202e2"]}),
    ],
)
def test_an_id_with_a_sign_that_is_not_seen_is_refused(kind, topics):
    values = {
        **{"kind": kind, "topics": topics, "title": "Pictures", "asked_by": "Ada"},
        **dict.fromkeys(("purpose", "consent", "scenario", "question_text"), "Text."),
        "contact": "ada@example.org",
    }
    with pytest.raises(PlanError, match=r"'t<U\+202E>2' has a sign that cannot be seen"):
        plans.parse_plan(values)
