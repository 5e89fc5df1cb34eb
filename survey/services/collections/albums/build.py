"""Build the collection beside this file: fit drawings into squares and collect these.

    python -m survey.services.collections.albums.build PACKAGE TARGET

PACKAGE is a folder into which Debian's package openclipart-png, in the version that SOURCES.csv
names, was unpacked (``dpkg -x``). Its 8,121 drawings (131 MB) are not in this repository: only 120
of them are, as small pictures. Titles and authors are those in the SVG files of openclipart-svg.
"""

import csv
import hashlib
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

from survey.errors import SurveyError
from survey.services.collections.picture_folder import Collection, collect

SIDE = 160  # pixels of a picture
MARGIN = 6  # white pixels around a drawing


def fit(drawing: Image.Image) -> Image.Image:
    """Return a drawing as large as fits in the middle of a white square."""
    transparent = drawing.convert("RGBA")
    white = Image.new("RGBA", drawing.size, "white")
    opaque = Image.alpha_composite(white, transparent).convert("RGB")
    empty = Image.new("RGB", drawing.size, "white")
    drawn = opaque.crop(ImageChops.difference(opaque, empty).getbbox())
    scale = (SIDE - 2 * MARGIN) / max(drawn.size)
    size = (max(1, round(drawn.width * scale)), max(1, round(drawn.height * scale)))
    picture = Image.new("RGB", (SIDE, SIDE), "white")
    place = ((SIDE - size[0]) // 2, (SIDE - size[1]) // 2)
    picture.paste(drawn.resize(size, Image.Resampling.LANCZOS), place)
    return picture


def build(package: Path, target: Path) -> Collection:
    """Fit all drawings into squares, collect these and return the collection.

    Raises SurveyError for a drawing that is missing or has changed since SOURCES.csv was written.
    """
    with Path(__file__).with_name("SOURCES.csv").open(encoding="utf-8", newline="") as file:
        sources = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            album, _, number = source["picture"].rpartition("-")
            (Path(folder) / album).mkdir(exist_ok=True)
            with Image.open(io.BytesIO(_drawing(package, source))) as drawing:
                fit(drawing).save(Path(folder) / album / f"{number}.png")
        return collect(Path(folder), target)


def _drawing(package: Path, source: dict[str, str]) -> bytes:
    path = package / source["file"]
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != source["sha256"]:
        raise SurveyError(
            f"{path} is not the file of {source['package']}. Unpack this package with `dpkg -x`."
        )
    return content


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
