"""The pictures in the documentation show the pages as they are."""

from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw

from tests.browser.pictures import visible_difference
from tests.browser.screenshots import FOLDER, take_all


@pytest.mark.slow
@pytest.mark.usefixtures("browser")
def test_every_picture_shows_its_page_as_it_is(playwright, tmp_path):
    take_all(playwright, tmp_path)
    names = [{path.name for path in folder.iterdir()} for folder in (FOLDER, tmp_path)]
    assert names[0] == names[1]
    differences = {name: visible_difference(FOLDER / name, tmp_path / name) for name in names[0]}
    changed = [f"{name}: {what}" for name, what in sorted(differences.items()) if what]
    assert changed == [], "look at these pages, then: make screenshots"


def a_picture(path, text, left=0, smoothed=False):
    large = Image.new("RGB", (800, 160), "white")
    ImageDraw.Draw(large).text((40 + left, 40), text, "black", font_size=64)
    if smoothed:  # as another browser draws it: half a pixel further
        large = Image.blend(large, ImageChops.offset(large, 2), 0.5)
    large.resize((200, 40), Image.Resampling.BOX).save(path)
    return path


def test_a_word_that_changed_is_seen_and_other_smoothing_is_not(tmp_path):
    old = a_picture(tmp_path / "old.png", "Save answer")
    assert not visible_difference(old, a_picture(tmp_path / "a.png", "Save answer"))
    assert not visible_difference(old, a_picture(tmp_path / "b.png", "Save answer", smoothed=True))
    assert visible_difference(old, a_picture(tmp_path / "c.png", "Send answer"))
    assert visible_difference(old, a_picture(tmp_path / "d.png", "Save answer", left=16))


def test_a_box_in_another_colour_is_seen(tmp_path):
    for name, blue in (("old", 180), ("new", 210)):
        Image.new("RGB", (64, 64), (30, 90, blue)).save(tmp_path / f"{name}.png")
    assert visible_difference(tmp_path / "old.png", tmp_path / "new.png")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.png")), ids=lambda path: path.stem)
def test_every_screenshot_is_shown_somewhere(path):
    root = Path(__file__).parents[2]
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    assert any(f"screenshots/{path.name}" in page.read_text() for page in pages)


def test_the_recording_is_short_and_light():
    path = FOLDER / "study.gif"
    assert path.stat().st_size < 1_000_000
    with Image.open(path) as recording:
        seconds = 0
        for frame in range(recording.n_frames):
            recording.seek(frame)
            seconds += recording.info["duration"] / 1000
    assert 10 < seconds < 40
