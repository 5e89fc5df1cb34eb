"""Build the collection beside this file: cut photographs into patches and collect these.

    python -m survey.services.collections.textures.build PHOTOGRAPHS TARGET

PHOTOGRAPHS is a folder with the files of SOURCES.csv, without the folders that they are in there.
"""

import csv
import sys
import tempfile
from pathlib import Path, PurePosixPath

from PIL import Image

from survey.services.collections.picture_folder import Collection, collect

LONGEST_SIDE = 160  # pixels of a patch


def cut(photograph: Image.Image) -> list[Image.Image]:
    """Return six squares from the middles of 3 × 2 equal parts (2 × 3 where it is upright)."""
    columns, rows = (3, 2) if photograph.width >= photograph.height else (2, 3)
    width, height = photograph.width / columns, photograph.height / rows
    side = min(width, height) / 2
    middles = [((c + 0.5) * width, (r + 0.5) * height) for r in range(rows) for c in range(columns)]
    patches = [
        photograph.crop((round(x - side), round(y - side), round(x + side), round(y + side)))
        for x, y in middles
    ]
    for patch in patches:
        patch.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    return patches


def build(photographs: Path, target: Path) -> Collection:
    """Cut all photographs, collect the patches and return the collection."""
    with Path(__file__).with_name("SOURCES.csv").open(encoding="utf-8", newline="") as file:
        sources = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            with Image.open(photographs / PurePosixPath(source["file"]).name) as photograph:
                patches = cut(photograph.convert("RGB"))
            # The first is searched for: the one with which the measures contradict each other.
            patches.insert(0, patches.pop(int(source["query"]) - 1))
            patch_folder = Path(folder) / source["photograph"]
            patch_folder.mkdir()
            for number, patch in enumerate(patches, 1):
                patch.save(patch_folder / f"{number}.png")
        return collect(Path(folder), target)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
