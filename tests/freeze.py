"""Freeze what this version makes, for the tests of all later ones: make freeze.

It writes tests/cases/released/VERSION: a bundle of each kind of question, as its researchers and
as everyone may have it, and the database that they come from.
"""

import gzip
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session

from survey.app import create_app, db
from survey.config import Settings
from survey.db.models import Study
from survey.release import made_by
from survey.services.exchange.public_bundle import stream_public_bundle
from tests.builders import KEY
from tests.commands import CONTACT

RELEASED = Path(__file__).parent / "cases" / "released"
SUMS = RELEASED / "SHA256SUMS"
PUBLIC = "-public"
DATABASE = "database.gz"
COLOURS = ("red", "green", "blue")
DOCUMENTS = [f"{colour}-{number}" for colour in COLOURS for number in range(1, 5)]
LISTS = ("--qrels", "qrels.txt", "--run", "alpha.txt", "beta.txt", "--collection-size", "12")
ITEMS = ("--items", "pictures", "--topics-file", "pictures/topics.csv")
STUDIES = {
    "ordering": ("--questions", "4", "--seed", "11"),
    "of-runs": (*LISTS, *ITEMS),
    "labelling": ("--kind", "labelling", *ITEMS),
    "grouping": ("--kind", "grouping", "--qrels", "qrels.txt", *ITEMS),
    "preference": ("--kind", "preference", *LISTS, *ITEMS),
}
PREFERENCES = {
    "ordering": "MNRO=.5,NMRR=.3,AP=.1,OTHER=.1",
    "of-runs": "AP=.5,OTHER=.5",
    "labelling": "qrels.txt:0.1",
    "grouping": "3:0.2",
    "preference": "AP:0.3",
}


def freeze() -> None:
    """Write the folder of this version, and the sums of its files."""
    version = made_by()["survey"]
    target = RELEASED / version
    if target.exists():
        sys.exit(f"{target} is there already, and is never rewritten.")
    if made_by().get("modified"):
        sys.exit("Commit first: bundles name the commit that made them.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_collection(folder)
        make_studies(folder)
        shutil.copytree(folder / "made", target)
    lines = [f"{digest}  {version}/{name}\n" for name, digest in sums_in(target).items()]
    with SUMS.open("a") as file:
        file.writelines(lines)


def sums_in(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest() for path in paths
    }


def write_collection(folder: Path) -> None:
    """Write pictures, topics, judgements and two runs."""
    chance = random.Random(4)
    (folder / "pictures").mkdir()
    for document in DOCUMENTS:
        picture = Image.new("RGB", (24, 18), document.partition("-")[0])
        for _ in range(40):
            spot = chance.randrange(24), chance.randrange(18)
            picture.putpixel(spot, tuple(chance.choices(range(256), k=3)))
        picture.save(folder / "pictures" / f"{document}.png")
    topics = "topic,text,image\nt1,Something red,\nt2,Something green,green-1\n"
    (folder / "pictures" / "topics.csv").write_text(topics)
    judged = [
        f"{topic} 0 {document} {int(document.startswith(colour)) * (1 + document.endswith('1'))}\n"
        for topic, colour in (("t1", "red"), ("t2", "green"))
        for document in DOCUMENTS
    ]
    (folder / "qrels.txt").write_text("".join(judged))
    for run in ("alpha", "beta"):
        lines = [
            f"{topic} Q0 {document} {rank} {20 - rank} {run}\n"
            for topic in ("t1", "t2")
            for rank, document in enumerate(chance.sample(DOCUMENTS, len(DOCUMENTS)), 1)
        ]
        (folder / f"{run}.txt").write_text("".join(lines))


def make_studies(folder: Path) -> None:
    """Make the studies by the command, and write their bundles and the database."""
    instance, made = folder / "instance", folder / "made"
    made.mkdir()
    environment = {**os.environ, "SURVEY_INSTANCE": str(instance), "SURVEY_SECRET_KEY": KEY}

    def survey(*words: str) -> None:
        command = [sys.executable, "-m", "survey", *words]
        subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)

    survey("init")
    survey("researcher", "add", "Ada")
    for slug, options in STUDIES.items():
        survey("study", "new", slug, *options, *CONTACT)
        survey("study", "open", slug, "--anyway", "for the tests of later versions")
        prefer = PREFERENCES[slug]
        survey("simulate", slug, "--participants", "4", "--prefer", prefer, "--seed", "3")
        survey("study", "close", slug)
    file = instance / "survey.sqlite3"
    connection = sqlite3.connect(file)
    with connection:  # as people who took part, else no public bundle would have any
        connection.execute("UPDATE participant SET is_test = 0")
    connection.close()
    for slug in STUDIES:
        survey("export", slug, "--to", str(made / f"{slug}.zip"), "--with-identities")
    survey("backup", str(folder / "backup"))
    content = (folder / "backup").read_bytes()
    (made / DATABASE).write_bytes(gzip.compress(content, mtime=0))
    app = create_app(Settings(instance, f"sqlite:///{file}", KEY))
    with app.app_context(), Session(db.engine) as session:
        for study in session.scalars(select(Study)).all():
            bundle = b"".join(stream_public_bundle(session, study))
            (made / f"{study.slug}{PUBLIC}.zip").write_bytes(bundle)


if __name__ == "__main__":
    freeze()
