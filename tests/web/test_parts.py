"""Parts of pages that many see alike: rendered once for all on which they depend."""

import pytest
from flask import g, render_template_string

from survey.web import parts
from survey.web.language import speak
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE

PAGE = "{% call part('greeting', name) %}{{ _('Back') }}, {{ name }}{% endcall %}"


@pytest.fixture
def request_context(app):
    with app.test_request_context():
        yield


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(parts, "_kept", parts.Kept())


@ON_SQLITE
def test_a_part_is_rendered_once_for_each_it_depends_on(request_context):
    rendered = []

    def render():
        rendered.append(1)
        return str(len(rendered))

    assert [parts.part("a", 1, caller=render) for _ in range(3)] == ["1", "1", "1"]
    assert parts.part("a", 2, caller=render) == "2"


@ON_SQLITE
def test_a_part_speaks_the_language_of_its_page(request_context):
    in_english = render_template_string(PAGE, name="A")
    speak("el")
    in_greek = render_template_string(PAGE, name="A")
    assert (in_english, in_greek) == ("Back, A", "Πίσω, A")
    assert g.language == "el"


@ON_SQLITE
def test_a_part_stays_escaped(request_context):
    for _ in range(2):
        assert "&lt;i&gt;" in render_template_string(PAGE, name="<i>")


@ON_SQLITE
def test_no_more_is_kept_than_there_is_room_for(request_context, monkeypatch):
    monkeypatch.setattr(parts, "MOST", 10)
    for number in range(100):
        assert parts.part(number, caller=lambda number=number: f"part {number}") == f"part {number}"
    assert len(parts._kept) <= 10


@ON_SQLITE
def test_two_studies_whose_scenarios_differ_show_their_own(app, session):
    for slug in ("one", "two"):
        an_open_study(session, slug, scenario=f"The scenario of study {slug}.", practice=False)
    for slug in ("one", "two", "one"):
        visitor = Visitor(app.test_client(), slug)
        visitor.prepare()
        assert visitor.path == "/q/1"
        assert f"The scenario of study {slug}." in visitor.text
