"""The screenshots in the documentation show the pages as they are."""

from pathlib import Path

import pytest
from PIL import Image

from tests.browser.screenshots import FOLDER, MADE_FROM, source


def test_screenshots_are_of_the_present_pages():
    assert MADE_FROM.read_text().strip() == source(), "pages changed: make screenshots"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.png")), ids=lambda path: path.stem)
def test_every_screenshot_is_shown_somewhere(path):
    root = Path(__file__).parents[1]
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
