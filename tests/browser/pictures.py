"""What differs between two pictures so that a person would see it."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageFilter

# Edges are smoothed otherwise by another version of the browser, up to a pixel away; a
# difference beyond that, by more than this of 255, in any colour is seen.
SEEN = 60
# So many of such pixels may be scattered over a picture.
SCATTERED = 12


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
            if seen > SCATTERED:
                return f"{seen} pixels" + (f" of frame {frame + 1}" if frames[0] > 1 else "")
    return ""


def seen_pixels(before: Image.Image, after: Image.Image) -> int:
    """Count the pixels of either picture that are far from all neighbours in the other."""
    unlike = [_far_from(before, after), _far_from(after, before)]
    return int(np.logical_or(*unlike).sum())


def _far_from(picture: Image.Image, other: Image.Image) -> np.ndarray:
    lightest = other.filter(ImageFilter.MaxFilter(3))
    darkest = other.filter(ImageFilter.MinFilter(3))
    above = ImageChops.subtract(picture, lightest)
    below = ImageChops.subtract(darkest, picture)
    return (np.asarray(ImageChops.lighter(above, below)) > SEEN).any(axis=2)
