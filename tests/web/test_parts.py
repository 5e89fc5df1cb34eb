"""Parts of pages that many see alike: rendered once for all on which they depend."""

from random import Random

import pytest
from flask import g, render_template_string

from survey import tokens
from survey.core.studies.questions import draw_blinding
from survey.db.models import Participant
from survey.kinds.ordering import kind as ordering
from survey.web import requests
from survey.web.language import set_language
from survey.web.participant.questions import MARK_TOKENS
from tests.builders import KEY, Visitor, an_open_study
from tests.databases import ON_SQLITE

OWN = ("csrf_token", "submission_key")
PAGE = "{% call part('greeting', name) %}{{ _('Back') }}, {{ name }}{% endcall %}"


@pytest.fixture
def request_context(app):
    with app.test_request_context():
        yield


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    monkeypatch.setattr(requests, "_cache", requests.PartCache())


@ON_SQLITE
def test_a_part_is_rendered_once_for_each_it_depends_on(request_context):
    rendered = []

    def render():
        rendered.append(1)
        return str(len(rendered))

    assert [requests.part("a", 1, caller=render) for _ in range(3)] == ["1", "1", "1"]
    assert requests.part("a", 2, caller=render) == "2"


@ON_SQLITE
def test_a_part_speaks_the_language_of_its_page(request_context):
    in_english = render_template_string(PAGE, name="A")
    set_language("el")
    in_greek = render_template_string(PAGE, name="A")
    assert (in_english, in_greek) == ("Back, A", "Πίσω, A")
    assert g.language == "el"


@ON_SQLITE
def test_a_part_stays_escaped(request_context):
    for _ in range(2):
        assert "&lt;i&gt;" in render_template_string(PAGE, name="<i>")


@ON_SQLITE
def test_no_more_is_kept_than_there_is_room_for(request_context, monkeypatch):
    monkeypatch.setattr(requests, "MAX_CHARACTERS", 10)
    for number in range(100):
        assert (
            requests.part(number, caller=lambda number=number: f"part {number}") == f"part {number}"
        )
    assert len(requests._cache) <= 10


@ON_SQLITE
def test_two_studies_whose_scenarios_differ_show_their_own(app, session):
    for slug in ("one", "two"):
        an_open_study(session, slug, scenario=f"The scenario of study {slug}.", practice=False)
    for slug in ("one", "two", "one"):
        visitor = Visitor(app.test_client(), slug)
        visitor.prepare()
        assert visitor.path == "/q/1"
        assert f"The scenario of study {slug}." in visitor.text


@ON_SQLITE
def test_a_page_that_two_see_alike_holds_each_ones_own(app, session, monkeypatch):
    study = an_open_study(session, practice=False)
    alike = draw_blinding(study.plan.measures, study.plan.letters, Random(1))
    monkeypatch.setattr(ordering, "draw_blinding", lambda *_, **__: alike)
    pages, own = [], []
    for _ in range(2):
        visitor = Visitor(app.test_client())
        visitor.prepare()
        assert visitor.path == "/q/1"
        who = session.query(Participant).order_by(Participant.id.desc()).first()
        hidden = [visitor.page.select_one(f"[name={name}]")["value"] for name in OWN]
        own.append([*hidden, tokens.resume_code(KEY, who.public_id)])
        pages.append(visitor.text)
        assert own[-1][-1] in visitor.text
    assert not set(own[0]) & set(own[1])
    assert not any(mark in page for mark in MARK_TOKENS.values() for page in pages)
    for page, others in zip(pages, reversed(own), strict=True):
        assert not any(one in page for one in others)
