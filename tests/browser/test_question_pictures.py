"""A question with pictures in a real browser: how it fits, what it weighs, how it is used."""

import pytest
from playwright.sync_api import expect

from survey.app import db
from survey.services.operations import demo
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.screenshots import begin
from tests.pictured import a_pictured_study

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
        expect(page.locator(":focus img")).to_have_attribute("alt", "result 2 of list A")
        context.close()


def test_long_texts_beside_pictures_are_read_on_a_phone_and_on_paper(browser, server):
    with server.app.app_context():
        a_pictured_study(db.session, text="A lighthouse near the harbour. " * 50)
        db.session.remove()
    context = prepared(browser)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 800})
    begin(page, f"{server.address}/s/pictured")
    page.locator(".results summary").first.click()
    opened = page.locator(".results details[open]").first.bounding_box()
    assert opened["width"] > 240
    assert opened["height"] < 400
    page.locator(".results a").first.click()
    assert "near the harbour" in page.locator("dialog p").inner_text()
    close = page.locator("dialog button").last.bounding_box()
    assert close["x"] + close["width"] <= 360
    assert close["y"] + close["height"] <= 800
    page.locator("dialog button").last.click()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1_000})
    assert page.evaluate(
        "[...document.querySelectorAll('.results')].every(e => e.scrollWidth <= e.clientWidth)"
    )
    texts = page.locator(".results .text p").all()
    assert len(texts) == 30
    assert all(each.is_visible() and each.bounding_box()["width"] > 400 for each in texts)
    context.close()
