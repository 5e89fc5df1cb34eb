"""What commands need in tests: settings of an application, and files to read."""

import gzip
import itertools
import random

from flask import Flask
from PIL import Image

# Options of a command that opens a study.
CONTACT = ("--asked-by", "the IR group", "--contact", "ir@x.example")
QRELS = "".join(f"t{t} 0 d{d} {1 + d % 2}\n" for t in (1, 2) for d in (1, 2, 3))


def runs_for(folder, names=("a.txt", "b.txt.gz", "base.txt", "new.txt.gz")):
    """The files that documented commands read: judgements, and runs of two topics."""
    (folder / "qrels.txt").write_text(QRELS)
    photographs = folder / "photographs"
    photographs.mkdir(exist_ok=True)
    for number, colour in enumerate(("red", "green", "blue"), 1):
        Image.new("RGB", (60, 40), colour).save(photographs / f"d{number}.png")
    (folder / "items.csv").write_text("document,file,text\nd4,photographs/none.png,\nd5,,words\n")
    (folder / "topics.csv").write_text("topic,text,image\n1,a red square,d1\n")
    for turn, name in enumerate(names):
        order = [1 + (d + turn) % 5 for d in range(5)]
        lines = "".join(
            f"t{t} Q0 d{d} {place} {9 - place} run\n"
            for t in (1, 2)
            for place, d in enumerate(order, t)
        )
        packed = gzip.compress(lines.encode()) if name.endswith("gz") else lines.encode()
        (folder / name).write_bytes(packed)


def albums_in(folder, classes=("beach", "wood"), pictures=4):
    """A folder of pictures with a subfolder for each class; no two are alike."""
    for number, name in enumerate(classes):
        (folder / "albums" / name).mkdir(parents=True)
        for each in range(1, pictures + 1):
            chance = random.Random(f"{name} {each}")
            picture = Image.new("RGB", (24, 16), (90 * number, 120, 200 - 40 * each))
            for place in itertools.product(range(0, 24, 2), range(0, 16, each)):
                picture.putpixel(place, tuple(chance.choices(range(256), k=3)))
            picture.save(folder / "albums" / name / f"{each}.png")


def environment_of(app: Flask) -> dict[str, str]:
    """The variables with which a command has the instance and the database of an application."""
    return {
        "SURVEY_INSTANCE": str(app.config["INSTANCE"]),
        "SURVEY_DATABASE_URI": app.config["SQLALCHEMY_DATABASE_URI"].render_as_string(
            hide_password=False
        ),
        "SURVEY_SECRET_KEY": app.config["SECRET_KEY"],
    }
