"""The closing questions of a plan, and their faults."""

import pytest

from survey.core.kinds import plan_from_json
from survey.core.studies.fields import PlanError
from survey.services.studies.plans import read_plan, write_plan
from tests.builders import a_plan
from tests.web.test_closing import QUESTIONS


def test_the_paper_asks_for_nothing_more():
    assert (a_plan().reason_question, a_plan().closing_questions) == ("", ())
    assert not {"reason_question", "closing_questions"} & a_plan().content().keys()


def test_they_are_written_and_read_as_yaml():
    plan = a_plan(closing_questions=QUESTIONS, reason_question="Why?")
    assert read_plan(write_plan(plan)).plan == plan
    assert plan.content()["closing_questions"][2] == QUESTIONS[2]


@pytest.mark.parametrize(
    ("questions", "place", "fault"),
    [
        ([{**QUESTIONS[0], "options": ["hard"]}], "options", "the words for 1 and for 5, or none"),
        ([{**QUESTIONS[0], "name": "age"}], "name", "the closing question age is there twice"),
        ([{**QUESTIONS[0], "name": "arm"}], "name", "exports have a column of this name"),
        ([{**QUESTIONS[0], "screen_out": ["very hard"]}], "screen_out", "is a closing question"),
        (
            [{"name": "age", "label": "Age?", "kind": "number", "screen_below": 18}],
            "screen_below",
            "screen_below is set, and age is a closing question",
        ),
        ([{"name": "x"}], None, "the closing question x has no label"),
        ("x", None, "closing_questions is 'x'; a list is needed"),
    ],
)
def test_a_plan_names_the_faults_of_its_closing_questions(questions, place, fault):
    with pytest.raises(PlanError, match=fault) as error:
        plan_from_json(a_plan().as_json() | {"closing_questions": questions})
    assert {each.place[0] for each in error.value.faults} == {"closing_questions"}
    assert place is None or place in {each.place[-1] for each in error.value.faults}
