"""Labelling at MiAlbum's size: seven annotators at once, and a million labels written as files."""

import io
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from benchmarks.speed.memory import peak_mb
from benchmarks.speed.part import Finding, Growth, Part
from survey.app import db
from survey.core.collections.items import Item, Topic
from survey.core.collections.likeness import VECTOR_WIDTH, stored_vector
from survey.core.kinds import KINDS, plan_from_json
from survey.db import item_queries
from survey.db.models import Presentation, Study, now
from survey.kinds.labelling.answer import MARK, NEXT, REFINE
from survey.kinds.steps import Done
from survey.services.analysis.report import report_files
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections.items import digest_of
from survey.services.exchange.bundle import results_of
from survey.services.operations.database import begin_reading
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor, a_ready_participant, save_answer
from tests.commands import environment_of
from tests.labelled import PLAN
from tests.serving import OverHttp, Server, free_port

POOLS = (1_000, 10_009)
QUERIES, ANNOTATORS = 200, 7
ROUNDS = 5
RELEVANT = 6
BATCHES = 12  # of 60, in the study whose files are written
SLUG = "labelled"
LIMITS = {"survey analyse": "≤ 120"}  # as long as a page of results may take
COMMAND = """
import sys
from benchmarks.speed.memory import peak_mb
from survey.cli import survey
survey(sys.argv[1:], standalone_mode=False)
print(peak_mb())
"""
RESIDENT = re.compile(r"VmRSS:\s+(\d+) kB")


def run() -> Part:
    """Measure."""
    labels, written, commands = _files()  # first, so that the peak is its own
    pools = [_annotated(size) for size in POOLS]
    large = pools[-1]
    crowd = f"{ANNOTATORS} annotators at once, {POOLS[-1]:,} pictures, {QUERIES} queries"
    of_labels = f"of {labels:,} labels"
    return Part(
        name="labelling",
        title="Labelling",
        findings=[
            Finding(f"{crowd}: first batch, slowest", large["first"], "s", "≤ 0.5"),
            Finding(f"{crowd}: refine, slowest", large["refine"], "s", "≤ 0.5"),
            Finding(f"{crowd}: next batch, slowest", large["next"], "s", "≤ 0.5"),
            Finding("memory of a web process that has read the pool", [large["before"]], "MB"),
            Finding(
                f"the same after {ROUNDS * 3 * ANNOTATORS} more pages: grown by",
                [large["after"] - large["before"]],
                "MB",
                "≤ 20",
            ),
            *(
                finding
                for what, (seconds, peak) in {"writing the files": written, **commands}.items()
                for finding in (
                    Finding(f"{what} {of_labels}", [seconds], "s", LIMITS.get(what, "")),
                    Finding(f"{what} {of_labels}: peak memory", [peak], "MB", "≤ 400"),
                )
            ),
        ],
        growth=[
            Growth(
                "refine, slowest of seven",
                "pictures in the pool",
                POOLS,
                [median(each["refine"]) for each in pools],
                "s",
            ),
        ],
        said=[
            "Pictures are small, their vectors random. Served by `survey serve` with two "
            "processes and SQLite; the annotators are threads on the same two processors. Each "
            f"round is another query: its first batch of 60, then a refine by {RELEVANT} marks, "
            "then the next batch, each by all seven at the same moment.",
            "A label is a picture that was looked at; each annotator has refined each query once. "
            "Each command is a process of its own; one that reads nothing takes 115 MB.",
        ],
    )


def a_study(session: Session, size: int) -> Study:
    """Open a study with so many pictures, of which the first are the queries."""
    names = [f"d{number:05}" for number in range(size)]
    topics = [Topic(f"t{number:03}", image=names[number]) for number in range(QUERIES)]
    plan = plan_from_json({**PLAN, "topics": [each.topic for each in topics], "batch": 60})
    study = lifecycle.create_owned_study(session, None, SLUG, plan, Recruitment())
    stream = io.BytesIO()
    Image.new("RGB", (144, 108), "teal").save(stream, "WEBP")
    chance = np.random.default_rng(1)
    for start in range(0, size, 500):
        some = names[start : start + 500]
        pictures = [
            {
                **{"sha256": name.rjust(64, "0"), "width": 640, "height": 480},
                **{"thumbnail": stream.getvalue(), "larger": stream.getvalue()},
                "vector": stored_vector(chance.random(VECTOR_WIDTH)),
            }
            for name in some
        ]
        item_queries.store_pictures(session, study.id, pictures)
        rows = [Item(each, f"{each}.webp", each.rjust(64, "0")) for each in some]
        item_queries.store_items(session, study.id, rows)
    item_queries.store_topics(
        session,
        study.id,
        [each._replace(sha256=(each.image or "").rjust(64, "0")) for each in topics],
    )
    study.items_digest = digest_of(session, study.id)
    session.commit()
    lifecycle.open_study(session, study)
    return study


def _annotated(size: int) -> dict[str, Any]:
    """Let annotators label a pool; return the slowest of each round, and memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), free_port())
        with server.app.app_context(), Session(db.engine) as session:
            a_study(session, size)
        server.start()
        try:
            browsers: list[Any] = [OverHttp(server.address) for _ in range(ANNOTATORS)]
            people = [Visitor(each, SLUG) for each in browsers]
            for person in people:
                person.go("/q/1")
            found: dict[str, Any] = {"first": [], "refine": [], "next": []}
            before = 0.0
            for number in range(2, ROUNDS + 3):
                slowest = _round(people, number)
                if number == 2:  # both processes read the pool
                    before = _resident(server)
                    continue
                for name, seconds in slowest.items():
                    found[name].append(seconds)
            return found | {"before": before, "after": _resident(server)}
        finally:
            server.kill()


def _round(people: list[Any], number: int) -> dict[str, float]:
    """Let all open a query, refine and go on at the same moments; return the slowest of each."""
    steps = {
        "first": lambda person: person.open(f"/q/{number}"),
        "refine": lambda person: person.submit(
            f"/q/{number}",
            go="refine",
            document=[str(n) for n in range(1, RELEVANT + 1)],
            grade="1",
        ),
        "next": lambda person: person.submit(f"/q/{number}", go="next"),
    }
    for person in people:
        person.submit(f"/q/{number - 1}", go="done")
    slowest = {}
    for name, step in steps.items():
        _ = [person.page for person in people]  # parsed before the click, as by a browser
        barrier = Barrier(len(people))

        def timed(person: Any, step: Any = step, barrier: Barrier = barrier) -> float:
            barrier.wait()
            begun = time.perf_counter()
            step(person)
            return time.perf_counter() - begun

        with ThreadPoolExecutor(len(people)) as threads:
            slowest[name] = max(threads.map(timed, people))
    return slowest


def _resident(server: Server) -> float:
    """Return the memory of the largest process of a server, in MB."""
    group = server.process.pid if server.process else 0
    sizes = [0]
    for status in Path("/proc").glob("[0-9]*/stat"):
        fields = status.read_text().rpartition(")")[2].split()
        if int(fields[2]) == group:
            found = RESIDENT.search((status.parent / "status").read_text())
            sizes.append(int(found[1]) if found else 0)
    return max(sizes) * 1024 / 1e6


Cost = tuple[float, float]
"""Seconds, and the peak of the memory in MB."""


def _files() -> tuple[int, Cost, dict[str, Cost]]:
    """Write the files of a study with a million labels; return labels, and what each took."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), free_port())  # is not started
        with server.app.app_context(), Session(db.engine) as session:
            study = a_study(session, POOLS[-1])
            labels = sum(_label(session, study, seed) for seed in range(ANNOTATORS))
            lifecycle.close_study(session, study)
            begun = time.perf_counter()
            begin_reading(session)
            for _ in report_files(results_of(session, study, AnalysisOptions())):
                """Each file is made, and forgotten."""
            written = time.perf_counter() - begun, peak_mb()
        path = str(Path(folder) / "bundle.zip")
        return (
            labels,
            written,
            {
                "survey export": _command(server, "export", SLUG, "--to", path),
                "survey replicate": _command(server, "replicate", path),
                "survey analyse": _command(server, "analyse", SLUG, "--json"),
            },
        )


def _command(server: Server, *words: str) -> Cost:
    """Run a command on a server's database in a process of its own."""
    begun = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", COMMAND, *words],
        env={**os.environ, **environment_of(server.app)},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begun, float(done.stdout.split()[-1])


def _label(session: Session, study: Study, seed: int) -> int:
    """Store an annotator who did all queries, BATCHES of 60 each; return their labels."""
    person = a_ready_participant(session, study, f"browser {seed}")
    person.personal = {}  # the plan asks for nothing, and a bundle has no other answers
    chance = np.random.default_rng(seed)
    table: Any = KINDS["labelling"].tables.step
    query = select(Presentation).where(Presentation.participant_id == person.id)
    for shown in session.scalars(query).all():
        drawn = chance.permutation(POOLS[-1])[: 60 * BATCHES]
        documents = [f"d{each:05}" for each in drawn.tolist()]
        batches: list[dict[str, Any]] = [
            {
                "action": REFINE if batch == 1 else NEXT,
                "batch": batch + 1,
                "documents": documents[60 * batch :][:60],
            }
            for batch in range(BATCHES)
        ]
        marks = [
            {"action": MARK, "batch": 1, "document": each, "grade": 1}
            for each in documents[:RELEVANT]
        ]
        steps = [*batches[:1], *marks, *batches[1:]]
        columns = {"document": None, "grade": None, "documents": None}
        stored = {"presentation_id": shown.id, "saved_at": now()}
        rows = [{**columns, **stored, **step, "number": n} for n, step in enumerate(steps, 1)]
        session.execute(insert(table), rows)
        save_answer(session, person, shown.position, Done(len(rows)))
    return QUERIES * 60 * BATCHES
