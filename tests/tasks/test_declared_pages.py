"""The page of a question whose answer is declared: what is asked in its bar, what above it."""

from dataclasses import dataclass

import pytest
from jinja2 import ChoiceLoader, FileSystemLoader

from survey.core.kinds import KINDS, plan_from_json
from survey.core.studies.fields import Choice, Declared, Text, Whole, declared, value_fields
from survey.services import accounts
from survey.services.studies import lifecycle
from tests.builders import Visitor
from tests.databases import ON_SQLITE
from tests.tasks import words
from tests.tasks.test_words import PLAN
from tests.web.desk import Desk

DECLARED = "participant/declared/question.html"


class Plain(words.Words):
    """Words, without a page of their own."""

    question_template = DECLARED
    tables = words.TABLES


@dataclass(frozen=True)
class Judged(Declared):
    """Several answers to one question."""

    use: str = declared(
        Choice("Of use?", {"yes": "Much", "no": "None at all"}, missing="Say whether.")
    )
    ease: int = declared(Whole("How easy", 1, 12))
    pages: int | None = declared(Whole("Pages", 0, 500, only_with=("use", "yes")), None)
    why: str | None = declared(Text("Why not?", needed=False, only_with=("use", "no")), None)


class Several(Plain):
    """Words about which several things are asked."""

    answer = Judged


@pytest.fixture
def opened(app, session, monkeypatch):
    """Open a study of one of these kinds; return a researcher who may preview it."""

    def open_study(kind, **changes):
        monkeypatch.setitem(KINDS, "words", kind)
        folder = FileSystemLoader(kind.folder / "templates")
        app.jinja_loader = ChoiceLoader([app.jinja_loader, folder])
        words.METADATA.create_all(session.get_bind())
        study = lifecycle.create_study(session, "words", plan_from_json({**PLAN, **changes}))
        lifecycle.open_study(session, study)
        desk = Desk(app, session)
        accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
        session.commit()
        return desk

    return open_study


def question(desk, **sent):
    """The page of question 1 in a preview, after a form was sent."""
    address = "/research/studies/words/preview/as-planned/question/1"
    desk.open(address)
    if sent:
        desk.send(address, **sent)
    return desk.page


def first_line(page):
    return page.select_one("#echo").text


@ON_SQLITE
def test_the_only_field_is_asked_in_the_bar_whose_first_line_has_its_label(opened):
    desk = opened(Plain())
    page = question(desk)
    assert len(page.select(".bar [name=side]")) == 2
    assert not page.select(".above")
    assert first_line(page) == "Which word"
    assert [each["data-said"] for each in page.select("[name=side]")] == [
        *("Which word: word 1.", "Which word: word 2.")
    ]
    assert {each.text for each in page.select("main .lead")} == {"sea", "lake"}


@ON_SQLITE
def test_a_mistake_is_in_the_bar_and_leads_to_the_control(opened):
    page = question(opened(Plain()), side="3")
    [link] = page.select(".bar .problems a")
    assert link.text == "Pick a word."
    field = page.select_one(link["href"])
    assert (field.name, field["aria-describedby"]) == ("fieldset", "problems")


@ON_SQLITE
def test_several_fields_are_asked_above_the_bar_which_says_what_is_chosen(opened):
    desk = opened(Several())
    page = question(desk)
    for name, count in (("use", 2), ("ease", 12), ("pages", 1), ("why", 1)):
        assert len(page.select(f".above [name={name}]")) == count, name
    assert not page.select(".bar [type=radio]")
    assert first_line(page) == "Please answer what is asked above."
    before = [(each["data-before"], each["data-values"]) for each in page.select("[data-before]")]
    assert before == [("use", '["yes"]'), ("use", '["no"]')]
    page = question(desk, use="no", ease="7", pages="20", why="It is long.")
    assert desk.address.endswith("/question/2")
    page = question(desk, use="no", pages="20", why="It is long.")
    assert first_line(page) == "Of use? None at all."  # pages are asked with another answer only
    assert page.select_one("#ease-error").text == "Please answer this."
    assert page.select_one("[name=why]").text == "It is long."


def kind_with(rule, type_=int):
    made = type("One", (Declared,), {"__annotations__": {"one": type_}, "one": declared(rule)})
    return type("OfOne", (Plain,), {"answer": dataclass(frozen=True)(made)})()


@pytest.mark.parametrize(
    ("rule", "type_", "is_in_bar"),
    [
        (Whole("?", 1, 10), int, True),
        (Whole("?", 1, 11), int, False),
        (Whole("?", 0, 1_000), int, False),
        (Choice("?", {str(each): "a" for each in range(6)}), str, True),
        (Choice("?", {str(each): "a" for each in range(7)}), str, False),
        (Choice("?", {"a": "a", "b": "b" * 31}), str, False),
    ],
)
def test_a_field_is_in_the_bar_where_a_phone_has_room_for_its_values(rule, type_, is_in_bar):
    assert bool(kind_with(rule, type_).field_in_bar(plan=None)) == is_in_bar


@pytest.mark.parametrize(
    ("label", "said"),
    [("How many stars?", "How many stars? 4."), ("Stars", "Stars: 4."), ("Stars:", "Stars: 4.")],
)
def test_a_value_is_said_with_its_label(app, label, said):
    kind = kind_with(Whole(label, 1, 5))
    [field] = value_fields(kind.answer)
    with app.test_request_context():
        assert kind.said(field, 4) == said


@ON_SQLITE
def test_practice_is_the_page_of_the_kind_itself_and_stores_nothing(app, session, opened):
    opened(Plain(), practice=True)
    visitor = Visitor(app.test_client(), "words")
    visitor.go("/practice")
    assert visitor.page.select_one(".task").text.startswith("Try it")
    assert visitor.page.select_one(".bar .go").text == "Start"
    assert {each.text for each in visitor.page.select("main .lead")} == {"cat", "dog"}
    visitor.submit("/practice", go="back")
    assert visitor.path == "/scenario"
    visitor.open("/practice")
    visitor.submit("/practice", side="1")
    assert visitor.path == "/q/1"
    assert session.execute(words.TABLES.response.select()).all() == []
