"""What differs between two pictures so that a person would see it."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageFilter

# Another version of the browser smooths edges otherwise, up to a pixel away: a pixel counts
# that differs from all its neighbours by more than this of 255, in any colour. A page shifted
# by half a pixel has at most two such pixels, another digit has three or more.
SEEN = 100
ALLOWED = 2
# Heavier letters change the mean colour of a larger square by up to 20; a box in another
# colour changes it by more.
SQUARE = 16
SEEN_IN_A_SQUARE = 24


def visible_difference(old: Path, new: Path) -> str:
    """Return how two pictures differ, in words; nothing where a person would see no difference.

    A moving picture differs where one of its frames does.
    """
    with Image.open(old) as before, Image.open(new) as after:
        frames = [getattr(picture, "n_frames", 1) for picture in (before, after)]
        if before.size != after.size or frames[0] != frames[1]:
            sizes = [
                f"{picture.size}, {number} frames"
                for picture, number in zip((before, after), frames, strict=True)
            ]
            return f"{sizes[0]} before, {sizes[1]} now"
        for frame in range(frames[0]):
            before.seek(frame)
            after.seek(frame)
            seen = seen_pixels(before.convert("RGB"), after.convert("RGB"))
            if seen > ALLOWED:
                return f"{seen} pixels" + (f" of frame {frame + 1}" if frames[0] > 1 else "")
    return ""


def seen_pixels(before: Image.Image, after: Image.Image) -> int:
    """Count the pixels that differ so that a person sees it, single ones and whole squares."""
    if not ImageChops.difference(before, after).getbbox():
        return 0  # as the filters would say, a hundred times as slowly
    unlike = [_far_from(before, after), _far_from(after, before)]
    means = [np.asarray(picture.reduce(SQUARE), dtype=int) for picture in (before, after)]
    squares = (abs(means[0] - means[1]) > SEEN_IN_A_SQUARE).any(axis=2)
    return int(np.logical_or(*unlike).sum() + squares.sum() * SQUARE**2)


def _far_from(picture: Image.Image, other: Image.Image) -> np.ndarray:
    lightest = other.filter(ImageFilter.MaxFilter(3))
    darkest = other.filter(ImageFilter.MinFilter(3))
    above = ImageChops.subtract(picture, lightest)
    below = ImageChops.subtract(darkest, picture)
    return (np.asarray(ImageChops.lighter(above, below)) > SEEN).any(axis=2)
