"""``python -m benchmarks.speed.intake FOLDER COUNT``: take pictures in, in a process of its own.

Prints as JSON the seconds, those of them that the processor worked, the most memory of the process,
and the bytes of the database.
"""

import json
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image
from sqlalchemy.orm import Session

from benchmarks.speed.memory import peak_mb
from survey.app import create_app, db
from survey.config import Settings
from survey.services.accounts import COMMAND_LINE
from survey.services.collections import item_files, items
from survey.services.operations import demo
from survey.services.operations.database import upgrade_database
from survey.services.studies import lifecycle, plans

SIZE = (1_000, 750)


def draw(folder: Path, count: int) -> None:
    """Draw those of ``count`` pictures that a folder lacks: JPEGs of smooth noise, 100 kB each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / f"d{number:05}.jpg"
        if not path.exists():
            noise = np.random.default_rng(number).integers(0, 256, (30, 40, 3), dtype=np.uint8)
            Image.fromarray(noise).resize(SIZE, Image.Resampling.BICUBIC).save(path, quality=85)


def measured(folder: Path, count: int) -> dict[str, float]:
    """Take the first ``count`` pictures of a folder in as the items of a draft."""
    with tempfile.TemporaryDirectory() as instance:
        path = Path(instance) / "survey.sqlite3"
        app = create_app(Settings(Path(instance), f"sqlite:///{path}", "a key for benchmarks only"))
        with app.app_context():
            upgrade_database(db.engine)
            plan = plans.preset_plan("mnro", **demo.DEMO_CONTACT)
            files = dict(islice(item_files.files_in_folder(folder).items(), count))
            documents = items.items_of_files(files, folder.name, items.Intake())
            empty = path.stat().st_size
            with Session(db.engine) as session:
                study = lifecycle.create_study(session, "pictures", plan)
                begun, worked = time.perf_counter(), time.process_time()
                intake = items.take_in(session, study, files, documents, COMMAND_LINE)
                seconds, worked = time.perf_counter() - begun, time.process_time() - worked
            db.engine.dispose()  # empties the log into the file
        if intake.items != count or intake.refusals:
            raise AssertionError(f"{intake.items} of {count} pictures were taken")
        stored = path.stat().st_size - empty
        return {"seconds": seconds, "worked": worked, "peak": peak_mb(), "stored": stored}


if __name__ == "__main__":
    json.dump(measured(Path(sys.argv[1]), int(sys.argv[2])), sys.stdout)
