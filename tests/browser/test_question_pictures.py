"""A question with pictures in a real browser: how it fits, what it weighs, how it is used."""

import io

import pytest
from PIL import Image
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


def test_a_grid_has_the_same_rows_at_every_width(browser, server):
    with server.app.app_context():
        a_pictured_study(db.session, "in-rows", grid_columns=5)
        db.session.remove()
    tops = "each => [...each.querySelectorAll('li')].map(one => Math.round(one.offsetTop))"
    for width in (320, 360, 768, 1280):
        context = prepared(browser)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 800})
        begin(page, f"{server.address}/s/in-rows")
        for of_tiles in page.locator(".results").evaluate_all(f"all => all.map({tops})"):
            rows = [of_tiles[:5], of_tiles[5:]]
            assert [len({*row}) for row in rows] == [1, 1]
            assert rows[0][0] < rows[1][0]
        assert page.evaluate("document.documentElement.scrollWidth") == width
        context.close()


def test_long_texts_beside_pictures_are_opened_on_a_phone_and_fit_paper(browser, server):
    with server.app.app_context():
        a_pictured_study(db.session, text="A lighthouse near the harbour. " * 50, layout="strip")
        db.session.remove()
    context = prepared(browser)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 800})
    begin(page, f"{server.address}/s/pictured")
    card = page.locator(".results .doc").first.bounding_box()
    assert card["height"] < 200
    page.locator(".results a.more").first.click()
    expect(page.locator("dialog")).to_contain_text("near the harbour")  # which is fetched
    close = page.locator("dialog button").last.bounding_box()
    assert close["x"] + close["width"] <= 360
    assert close["y"] + close["height"] <= 800
    page.locator("dialog button").last.click()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1_000})
    assert page.evaluate(
        "[...document.querySelectorAll('.results')].every(e => e.scrollWidth <= e.clientWidth)"
    )
    texts = page.locator(".results .text .body").all()
    assert len(texts) == 30
    assert all(each.is_visible() and each.bounding_box()["width"] > 150 for each in texts)
    context.close()


def a_screenshot(index, note):
    """A page of 1,280 × 3,000 pixels, its top in another colour than the rest."""
    picture = Image.new("RGB", (1280, 3000), "white")
    picture.paste((200, index, 0), (0, 0, 1280, 900))
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def test_a_screenshot_is_shown_in_its_own_size_in_a_box_that_scrolls(browser, server):
    with server.app.app_context():
        a_pictured_study(db.session, "screenshots", draw=a_screenshot, layout="list")
        db.session.remove()
    context = prepared(browser)
    page = context.new_page()
    begin(page, f"{server.address}/s/screenshots")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        link = page.locator(".results a").first
        box = link.locator("img").bounding_box()
        assert box["width"] == box["height"]  # its top, not a thin stripe of all
        assert link.locator("img").evaluate("each => getComputedStyle(each).objectFit") == "cover"
        link.click()
        view = page.locator("dialog[open] figure[tabindex]")
        expect(view).to_be_visible()
        size = "each => [each.naturalWidth, each.naturalHeight, each.clientHeight]"
        assert view.locator("img").evaluate(size)[:2] == [1280, 3000]
        assert view.locator("img").bounding_box()["height"] >= 800
        view.focus()
        page.keyboard.press("End")
        expect(view).not_to_have_js_property("scrollTop", 0)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.keyboard.press("Escape")
    context.close()


def a_drawing_or_a_panorama(index, note):
    """By the index: black on nothing, a panorama, one that stands upright; in turns."""
    picture = Image.new("RGBA", [(80, 80), (3_000, 300), (300, 3_000)][index % 3])
    if index % 3:
        picture.paste("skyblue", (0, 0, *picture.size))
    for place in range(0, max(picture.size), 20):
        x, y = (min(place, side - 20) for side in picture.size)
        picture.paste("black", (x + 5, y + 5, x + 6 + index % 10, y + 15))
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


PIXEL = """async ([address, left, top]) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  canvas.getContext("2d").drawImage(image, -left * image.naturalWidth, -top * image.naturalHeight);
  return [...canvas.getContext("2d").getImageData(0, 0, 1, 1).data];
}"""


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_drawings_have_a_light_ground_and_panoramas_scroll(browser, server, width, theme):
    slug = f"odd-shapes-{width}-{theme}"
    with server.app.app_context():
        a_pictured_study(db.session, slug, draw=a_drawing_or_a_panorama, layout="strip")
        db.session.remove()
    context = prepared(browser)
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    begin(page, f"{server.address}/s/{slug}")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    power = "each => Math.round(Math.log10(each.naturalWidth / each.naturalHeight))"
    by_shape = {
        link.locator("img").evaluate(power): link
        for link in page.locator(".results").first.locator("a").all()
    }
    drawing, wide, tall = (by_shape[power] for power in (0, 1, -1))
    pixel = page.evaluate(PIXEL, [drawing.get_attribute("href"), 0.9, 0.1])
    assert [abs(value - 0xD0) <= 2 for value in pixel[:3]] == [True] * 3
    ground = "each => getComputedStyle(each).backgroundColor"
    assert drawing.locator("img").evaluate(ground) == "rgb(208, 208, 208)"
    assert wide.locator("img").bounding_box()["width"] == 204
    dialog = page.locator("dialog[open]")
    larger = dialog.locator("img")
    for link, short, pixels in ((wide, "height", 256), (tall, "width", 300)):
        link.click()
        expect(dialog.locator("figure[tabindex]")).to_be_visible()
        box = larger.bounding_box()
        assert box[short] == pixels
        assert abs(max(box["width"], box["height"]) / box[short] - 10) < 0.1
        frame = dialog.bounding_box()
        assert frame["x"] >= 0
        assert frame["x"] + frame["width"] <= width
        assert frame["y"] + frame["height"] <= 800
        dialog.locator("figure").focus()
        key, where = ("ArrowRight", "scrollLeft") if link is wide else ("ArrowDown", "scrollTop")
        page.keyboard.press(key)
        expect(dialog.locator("figure")).not_to_have_js_property(where, 0)
        assert [*axe(page, f"{width} px, {theme}")] == []
        page.keyboard.press("Escape")
    context.close()
