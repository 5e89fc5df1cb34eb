"""A page that comes back with a fault holds all that it held, and what was filled in."""

from collections import Counter
from urllib.parse import urlsplit

import pytest

from survey import tokens
from tests.builders import KEY, Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study
from tests.pictured import a_pictured_study
from tests.preferred import a_preference_study

pytestmark = ON_SQLITE

FIELDS = [
    {"name": "age", "label": "Your age", "kind": "number", "lowest": 10, "screen_below": 18},
    {"name": "weight", "label": "Your weight", "kind": "number", "lowest": 0, "required": False},
    {"name": "sort", "label": "Your sort", "kind": "choice", "options": ["One", "Another"]},
    {"name": "job", "label": "Your job", "kind": "text", "help": "Or what you study."},
    {"name": "sure", "label": "How sure are you?", "kind": "scale", "required": False},
]
CLOSING = [{**field, "name": f"{field['name']}_too"} for field in FIELDS[1:]]
NOT_FILLED_IN = ("csrf_token", "active_seconds", "go")  # tokens, a clock, buttons
NOT_READ = ("script", "style", "title", "textarea")
# The list of errors, the error beside a field, and what is filled in, in words.
OF_FAULTS = "#problems, .wrong, #echo"


def read(page):
    """All that a page holds, its texts, links, pictures and controls, without the errors.

    Of a field that can be filled in, the name: ``filled_in`` reads the values, of which the page's
    words say no more.
    """
    for part in page.select(OF_FAULTS):
        part.extract()
    held = Counter()
    for text in page.find_all(string=True):
        if text.strip() and text.parent.name not in NOT_READ:
            held["text", " ".join(text.split())] += 1
    for link in page.select("a[href]"):
        held["link", link["href"]] += 1
    for picture in page.select("img"):
        held["picture", picture["src"], picture.get("alt")] += 1
    for control in page.select("input, button, select, textarea"):
        has_own_value = control.get("type") in ("radio", "checkbox", "submit")
        value = control.get("value") if has_own_value else None
        held["control", control.name, control.get("type"), control.get("name"), value] += 1
    for option in page.select("option"):
        held["option", option.parent.get("name"), option.get("value"), option.text] += 1
    return held


def filled_in(form):
    """What a form sends: (name, value) of each control that is not left out."""
    sent = Counter()
    for control in form.select("input[name], select[name], textarea[name]"):
        if control["name"] in NOT_FILLED_IN:
            continue
        if control.get("type") in ("radio", "checkbox"):
            values = [control["value"]] if control.has_attr("checked") else []
        elif control.name == "select":
            values = [option["value"] for option in control.select("option[selected]")] or [""]
        else:
            values = [control.text if control.name == "textarea" else control.get("value", "")]
        sent.update((control["name"], value.strip()) for value in values)
    return sent


def sent_with(form, **changes):
    """What a form sends with other values, as fields of a POST; None leaves a field out."""
    fields = {}
    for name, value in filled_in(form).elements():
        fields.setdefault(name, []).append(value)
    fields["csrf_token"] = form.select_one("[name=csrf_token]")["value"]
    fields |= changes
    return {name: value for name, value in fields.items() if value is not None}


def path_of(visitor, form):
    action = urlsplit(form.get("action") or visitor.address)
    query = f"?{action.query}" if action.query else ""
    return action.path.removeprefix(visitor.home) + query


def faulty(visitor, path, **changes):
    """Send the form that posts to a path with a fault; the page must hold what it held."""
    before, form = read(visitor.page), visitor.form(path)
    fields = sent_with(form, **changes)
    sent = Counter(
        (name, value)
        for name, values in fields.items()
        if name not in NOT_FILLED_IN
        for value in ([values] if isinstance(values, str) else values)
    )
    visitor.post(path_of(visitor, form), **fields)
    assert visitor.status in (400, 404, 409), visitor.text
    assert visitor.page.select_one("#problems"), visitor.text
    assert visitor.page.title.text.startswith("Error: ")
    assert filled_in(visitor.form(path)) == sent
    assert [*(before - read(visitor.page))] == []


@pytest.fixture
def visitor(client):
    return Visitor(client)


@pytest.fixture
def study(session):
    return an_open_study(session, personal_fields=FIELDS, closing_questions=CLOSING)


def expired(visitor, path):
    """Send a page's form as it is, with a token that has expired."""
    faulty(visitor, path, csrf_token="another")


def test_the_first_page(visitor, study):
    visitor.open()
    expired(visitor, "/begin")
    visitor.open()
    faulty(visitor, "/resume", code="A1B2C-D3E4F-G5H6")
    expired(visitor, "/resume")


def test_the_first_page_in_a_browser_that_has_begun_meanwhile(visitor, study):
    visitor.open()
    form = sent_with(visitor.form("/resume"), code="A1B2C-D3E4F-G5H6")
    visitor.go("/q/1")
    visitor.open()
    before = read(visitor.page)
    visitor.post("/resume", **form)
    assert visitor.page.select_one("#code")["value"] == form["code"]
    assert [*(before - read(visitor.page))] == []


def test_the_first_page_of_a_link_with_parameters(visitor, study):
    visitor.open("?PROLIFIC_PID=p1&STUDY_ID=s1")
    expired(visitor, "/begin")


def test_the_first_page_of_a_test_run(visitor, study):
    token = tokens.test_run_token(KEY, study.slug)
    visitor.open(f"?test={token}")
    expired(visitor, "/begin")
    assert visitor.page.select_one(f"form[action$='/begin?test={token}']")


def test_consent(visitor, study):
    visitor.go("/consent")
    expired(visitor, "/consent")
    visitor.open("/consent")
    faulty(visitor, "/consent", agree=None)
    faulty(visitor, "/consent", agree=["y"], csrf_token="another")
    visitor.submit("/consent", agree="y")
    visitor.open("/consent")
    faulty(visitor, "/consent", agree=None)


def test_about_you(visitor, study):
    visitor.go("/about-you")
    expired(visitor, "/about-you")
    visitor.open("/about-you")
    faulty(visitor, "/about-you", age="x", weight="y", sort="Another", job="cook", sure="3")
    faulty(visitor, "/about-you", age="", sort="", job="", sure="")


def test_about_you_once_it_is_stored(visitor, study):
    visitor.go("/scenario", age="23", sort="One", job="cook", sure="4")
    visitor.open("/about-you")
    faulty(visitor, "/about-you", age="", sort="One", job="", sure="")


def test_the_scenario(visitor, study):
    visitor.go("/scenario")
    expired(visitor, "/scenario")


def test_closing_questions(visitor, study):
    visitor.go("/closing")
    expired(visitor, "/closing")
    visitor.open("/closing")
    faulty(visitor, "/closing", weight_too="x", sort_too="Another", job_too="cook", sure_too="2")


def test_review(visitor, study):
    visitor.go("/review")
    expired(visitor, "/review")


def test_ones_data(visitor, study):
    visitor.go("/q/2")
    visitor.open("/my-data")
    expired(visitor, "/erase")
    visitor.open("/my-data")
    faulty(visitor, "/erase", sure=None)


def test_whose_data(visitor, study):
    visitor.open("/my-data")
    expired(visitor, "/my-data")
    visitor.open("/my-data")
    faulty(visitor, "/my-data", code="A1B2C-D3E4F-G5H6")


WHY = {"reason_question": "Why?"}
TOO_LONG = {"reason": "because" * 500}
PREFERRED = {"preferred": "left", "strength": "1", "satisfaction_left": "4"}
# Each kind and design: how its study is made, and faulty answers to a question.
STUDIES = {
    "ordering": (an_open_study, {}, [{}, {"rank-C": "1"}, {"rank-A": "1", "rank-B": "1"}]),
    "ordering, no methods": (an_open_study, {"columns": "never"}, [{}, {"rank-A": "2"}]),
    "ordering of pictures": (a_pictured_study, {}, [{}, {"rank-B": "1"}]),
    "labelling": (a_labelling_study, {}, [{"document": ["1", "3"], **TOO_LONG}]),
    "grouping": (a_grouping_study, {}, [{"document": ["1", "3"], "go": "new"}]),
    "preference": (
        a_preference_study,
        {"ask_strength": True, "ask_satisfaction": True},
        [{}, {"preferred": "left"}, PREFERRED],
    ),
}


@pytest.mark.parametrize("design", STUDIES)
def test_a_question(client, session, design):
    make, plan, faults = STUDIES[design]
    visitor = Visitor(client, make(session, **plan, **WHY).slug)
    visitor.start()
    for fault in (*faults, TOO_LONG):
        visitor.open("/q/1")
        faulty(visitor, "/q/1", **fault)
        expired(visitor, "/q/1")


def test_a_question_that_is_answered(visitor, session):
    an_open_study(session, **WHY)
    visitor.go("/q/2")
    visitor.open("/q/1")
    faulty(visitor, "/q/1", **TOO_LONG)


def test_practice(visitor, study):
    visitor.go("/practice")
    visitor.open("/practice?step=1")
    before = read(visitor.page)
    visitor.submit("/practice/check", better="0")  # the wrong one, which is explained
    assert visitor.page.select_one(".notice")
    assert [*(before - read(visitor.page))] == []
    visitor.open("/practice?step=4")
    visitor.submit("/practice", csrf_token="another")
    assert visitor.status == 400
    assert visitor.page.select_one("#problems")
    assert visitor.page.select_one("button.go").text == "Start"
    visitor.submit("/practice")
    assert visitor.path == "/q/1"


def test_an_own_ordering_and_its_comparison_with_the_methods(visitor, session):
    an_open_study(session, columns="after", **WHY)
    visitor.start()
    path = "/q/1"
    faulty(visitor, path, **{"rank-A": "2"})
    expired(visitor, path)
    visitor.insist(path, **{f"rank-{letter}": str(n) for n, letter in enumerate("ABCDE", 1)})
    assert visitor.page.select_one("[name=choice]")
    expired(visitor, path)
    for fault in ({"choice": ["own", "1"]}, {"rank-A": ""}):
        faulty(visitor, path, **fault)
        expired(visitor, path)
