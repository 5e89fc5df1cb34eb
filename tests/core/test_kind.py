"""What is wrong with a declaration is said to whoever writes it, before anybody is asked."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.kind import declaration_faults
from survey.core.kinds import KINDS, Kinds
from survey.core.studies.fields import (
    Choice,
    Declared,
    NotAllowedValueError,
    Rule,
    Switch,
    Text,
    Whole,
    declared,
    value_fields,
)
from survey.kinds import Kind, Unvaried
from survey.services.analysis.results import Results
from survey.services.exchange.input_files import CsvRow
from survey.services.exchange.kind_files import read_fields, read_value
from survey.services.exchange.tables import cell_of
from tests.tasks import words


def kind_with(answer, presentation=Unvaried):
    """What a kind with these types declares."""
    of_words = {"plan": words.WordsPlan, "question": words.WordsQuestion}
    return SimpleNamespace(**of_words, presentation=presentation, answer=answer)


class NoAnalysis(Kind):
    """It does not say what its answers tell."""

    name, plan, question = "silent", words.WordsPlan, words.WordsQuestion
    presentation, answer = words.WordsPresentation, words.WordsAnswer
    draw, show = words.Words.draw, words.Words.show


def test_a_kind_without_an_analysis_is_refused_when_it_is_loaded():
    point = EntryPoint("silent", f"{__name__}:NoAnalysis", "survey.kinds")
    kinds = Kinds({}, lambda: [point])
    assert [*kinds] == []
    assert "abstract method" in kinds.faults[0]
    assert "analyse" in kinds.faults[0]


def an_answer(name, hint, rule, **more):
    """A type of answers with one field."""
    members = {
        "__annotations__": {name: hint},
        name: declared(rule, **more),
        "__module__": __name__,
    }
    return dataclass(frozen=True)(type("Answer", (Declared,), members))


LISTED, SHARE = Choice("?", {1: "a"}), Whole("?", 0, 1)
MIXED, SWITCHED = Choice("?", {1: "a", "b": "b"}), Switch("?", asked_by="ask_sure")


@pytest.mark.parametrize(
    ("name", "hint", "rule", "fault"),
    [
        ("many", list, LISTED, "Answer.many is of type list; allowed are str, int, bool"),
        ("share", float, SHARE, "Answer.share is of type float; allowed are str, int, bool"),
        ("side", int, MIXED, "is a Choice whose values are not all of its type, int"),
        ("reason", str | None, Text("Why?"), "has a name that every answer has something of"),
        ("position", int, SHARE, "has a name that every answer has something of"),
        ("words", str, Text("?"), "may be missing, so its type has to allow None: str | None"),
        ("sure", bool | None, SWITCHED, "is asked by ask_sure, which WordsPlan does not have"),
        ("sure", bool | None, Switch(only_with=("x", 1)), "only with x, which is no field before"),
    ],
)
def test_a_field_that_cannot_be_is_named(name, hint, rule, fault):
    assert fault in "; ".join(declaration_faults(kind_with(an_answer(name, hint, rule))))


def test_a_default_that_is_not_allowed_is_named():
    answer = an_answer("stars", int, Whole("?", 1, 5), default=9)
    [fault] = declaration_faults(kind_with(answer))
    assert fault == "Answer.stars has a default that it does not allow: it is 9; 1 to 5 are allowed"


def test_a_name_that_presentation_and_answer_share_is_named():
    answer = an_answer("swapped", bool, Switch("?"))
    [fault] = declaration_faults(kind_with(answer, words.WordsPresentation))
    assert fault == "swapped is a field of the presentation and of the answer; rename one"


@dataclass(frozen=True)
class Judged(Declared):
    """An answer with all that a field can depend on."""

    liked: str = declared(Choice("?", {"yes": "yes", "no": "no"}))
    stars: int | None = declared(Whole("?", 1, 5, only_with=("liked", "yes")), None)
    left: int | None = declared(Whole("?", 1, 3, asked_by="ask_both"), None)
    right: int | None = declared(Whole("?", 1, 3, asked_by="ask_both"), None)


values = st.none() | st.integers(-1, 6)


@given(st.sampled_from(["yes", "no", "other"]), values, values, values)
def test_an_answer_is_refused_exactly_where_a_rule_of_a_field_is_broken(liked, stars, left, right):
    is_allowed = (
        liked in ("yes", "no")
        and (stars is None or (liked == "yes" and 1 <= stars <= 5))
        and all(side is None or 1 <= side <= 3 for side in (left, right))
        and (left is None) == (right is None)
    )
    if is_allowed:
        Judged(liked, stars, left, right)
        return
    with pytest.raises(NotAllowedValueError) as caught:
        Judged(liked, stars, left, right)
    assert caught.value.field in [each.name for each in value_fields(Judged)]


@dataclass(frozen=True)
class Measured(Declared):
    """A value of each type that a column can have."""

    share: float = declared(Rule())
    count: int = declared(Whole("?", -(10**9), 10**9))
    is_known: bool = declared(Switch("?"))
    name: str = declared(Text("?"))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
measured = st.builds(
    Measured,
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**9), 10**9),
    st.booleans(),
    texts.filter(str.strip),
)


@given(measured)
def test_every_value_that_is_written_into_a_cell_is_read_again(value):
    for field in value_fields(Measured):
        kept = getattr(value, field.name)
        [[cell]] = csv.reader(io.StringIO(cell_of(kept), newline=""))
        assert read_value(CsvRow("answers.csv", 2, {field.name: cell}), field) == kept


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"action": "mark", "batch": 1, "document": "d"}, "grade is missing; mark has one"),
        (
            {"action": "next", "batch": 1, "grade": 1, "documents": ["d"]},
            "grade is 1; there is one",
        ),
        ({"action": "jump", "batch": 1}, "action is 'jump'; allowed is mark, next"),
        ({"action": "turn", "batch": 0}, "batch is 0; 1 to"),
    ],
)
def test_a_step_has_what_its_action_has_and_nothing_else(values, fault):
    with pytest.raises(NotAllowedValueError, match=re.escape(fault)):
        KINDS["labelling"].step(**values)


def test_an_empty_list_of_a_step_is_told_from_none():
    row = CsvRow("steps.csv", 2, {"action": "next", "batch": "1", "documents": ""})
    assert read_fields(row, KINDS["labelling"].step).documents == ()
    row = CsvRow("steps.csv", 2, {"action": "turn", "batch": "1", "documents": ""})
    assert read_fields(row, KINDS["labelling"].step).documents is None


def test_a_field_of_results_cannot_take_the_place_of_what_all_results_have():
    with pytest.raises(TypeError, match="the field counts of Named has a name that all results"):
        type("Named", (Results,), {"__annotations__": {"counts": dict}})


def test_a_plan_can_hold_lists_and_is_still_part_of_the_key_of_a_page():
    @dataclass(frozen=True)
    class Listed(words.WordsPlan):
        more: Sequence[str] = ()

    needed = ("title", "asked_by", "purpose", "consent", "scenario")
    values = dict.fromkeys(needed, "some text")
    plan = Listed(
        **values, question_text="?", reminder="", more=["a"], questions=1, pairs=(("a", "b"),)
    )
    assert {plan: 1}[plan] == 1


def test_a_page_says_with_which_answers_a_field_is_asked(app):
    kind = KINDS["preference"]
    _, strength, *_ = value_fields(kind.answer)
    with app.test_request_context():
        assert kind.asked_only_with(strength) == "List 1, List 2"
