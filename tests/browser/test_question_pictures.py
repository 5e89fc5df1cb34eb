"""A question with pictures in a real browser: how it fits, what it weighs, how it is used."""

import pytest

from survey.app import db
from survey.services.operations import demo
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.screenshots import begin

pytestmark = pytest.mark.slow

WEIGHT = "performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize || 0), 0)"


def test_pictures_fit_and_are_light_and_open_larger(browser, server):
    with server.app.app_context():
        demo.create_picture_study(db.session)
        db.session.remove()
    for width, theme in ((1280, "light"), (360, "light"), (1280, "dark"), (360, "dark")):
        context = prepared(browser)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 3_000})
        page.emulate_media(color_scheme=theme)
        begin(page, f"{server.address}/s/{demo.PICTURES_SLUG}")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        loaded = "[...document.images].filter(each => each.naturalWidth > 0).length"
        assert page.evaluate(loaded) == 51 if width > 360 else page.evaluate(loaded) > 15
        assert page.evaluate(WEIGHT) < 250_000
        where = f"{width} px, {theme}"
        checks = ("misnamed", "small", "smallAnswers", "faint", "unseen", "sideways", "cutOff")
        faults = [*axe(page, where), *(each for name in checks for each in ask(page, name, where))]
        assert faults == []
        page.reload()
        page.wait_for_load_state("networkidle")
        assert page.evaluate(WEIGHT) < 30_000
        page.locator(".results a").first.press("Enter")
        larger = page.locator("dialog[open] img")
        assert larger.get_attribute("alt") == "result 1 of list A"
        page.keyboard.press("ArrowRight")
        assert larger.get_attribute("alt") == "result 2 of list A"
        page.keyboard.press("Escape")
        page.wait_for_function(
            "document.activeElement.querySelector('img')?.alt === 'result 2 of list A'"
        )
        context.close()
