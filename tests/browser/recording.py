"""A short recording: pictures of a page as it is used, one after the other, as a GIF."""

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

WIDTH = 800  # of the recording, in pixels
COLOURS = 128


class Recording:
    """Frames of a page, each shown for some seconds."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.milliseconds: list[int] = []

    def frame(self, seconds: float) -> None:
        """Take a frame of what is in view now."""
        picture = Image.open(BytesIO(self.page.screenshot(animations="disabled"))).convert("RGB")
        height = round(picture.height * WIDTH / picture.width)
        self.frames.append(picture.resize((WIDTH, height), Image.Resampling.LANCZOS))
        self.milliseconds.append(round(1000 * seconds))

    def save(self, path: Path) -> None:
        """Write it, in colours that all frames share."""
        strip = Image.new("RGB", (WIDTH, sum(one.height for one in self.frames)))
        top = 0
        for one in self.frames:
            strip.paste(one, (0, top))
            top += one.height
        palette = strip.quantize(COLOURS)
        first, *rest = (
            one.quantize(palette=palette, dither=Image.Dither.NONE) for one in self.frames
        )
        first.save(
            path,
            save_all=True,
            append_images=rest,
            duration=self.milliseconds,
            loop=0,
            optimize=True,
        )
