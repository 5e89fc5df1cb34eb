"""Enter presses the first submit button of a form: that one never leads back, and loses nothing."""

import pytest

from tests.builders import SLUG, Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study
from tests.preferred import a_preference_study

pytestmark = ON_SQLITE

STUDIES = {
    "ordering": lambda session: an_open_study(session),
    "own first": lambda session: an_open_study(session, columns="after", practice=False),
    "own alone": lambda session: an_open_study(session, columns="never", practice=False),
    "labelling": lambda session: a_labelling_study(session, SLUG),
    "grouping": lambda session: a_grouping_study(session, SLUG),
    "preference": lambda session: a_preference_study(session, SLUG),
}


def pressed_by_enter(page):
    """The first submit button of each form, of those too that stand elsewhere on the page."""
    for form in page.select("form[method=post]"):
        buttons = page.select("button:not([type=button])")
        name = form.get("id", "")
        own = [
            button
            for button in buttons
            if button.get("form", "") == name and (name or form in button.parents)
        ] + [
            button for button in form.select("button:not([type=button])") if not button.get("form")
        ]
        yield from sorted(own, key=buttons.index)[:1]


@pytest.mark.parametrize("name", STUDIES)
def test_no_form_has_back_as_its_first_button(client, session, name):
    STUDIES[name](session)
    visitor = Visitor(client, SLUG)
    visitor.go("/q/1")
    for path in ("/consent", "/about-you", "/scenario", "/practice", "/q/1"):
        visitor.open(path)
        pressed = [button.get("value") for button in pressed_by_enter(visitor.page)]
        assert not {"back", "previous", "undo"} & {*pressed}, path
    assert "next" in pressed
    if name in ("ordering", "preference"):
        visitor.submit("/q/1", go="next")  # refused: the page with errors has the same button first
        assert visitor.status == 400
        assert "next" in [button.get("value") for button in pressed_by_enter(visitor.page)]
