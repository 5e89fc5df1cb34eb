"""Handing out: a bundle as a stream, beside the database's own scan of its answers."""

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager

from benchmarks.speed import crowds
from benchmarks.speed.crowd import SLUG
from benchmarks.speed.crowds import MILLION
from benchmarks.speed.part import Finding, Growth, Part
from benchmarks.speed.parts.bundle_stream import opened, select_of
from benchmarks.speed.timing import in_turn, ratios
from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse
from survey.kinds.ordering.files import responses_table
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingPresentation
from survey.kinds.ordering.plan import ordering_plan
from survey.services.exchange.bundle import content_of
from survey.services.studies.lifecycle import find_study

QUESTIONS = 10
FEW, SOME = 10_000, 100_000  # participants
ROUNDS = 2
SAID = (
    "Each bundle is streamed by a process of its own, which first lets the database read the rows "
    "of responses.csv in their order and give none of them: SQLite adds up the lengths of all "
    "cells, PostgreSQL copies them to /dev/null. The bundle reads these rows, then those of "
    "votes.csv, and the participants twice. All answers were analysed before, as the tables say "
    "whom the analysis flags; this takes the time and memory of “Analysis” and is not counted "
    "here. Memory is the most the process ever held, less the most until the analysis was done.",
    "table3.csv, table4.csv and analysis.json, which are computed from all answers and not "
    "streamed, are measured apart.",
)


def run() -> Part:
    """Measure."""
    with tempfile.TemporaryDirectory(prefix="survey-speed-") as folder:
        addresses = {people: f"sqlite:///{folder}/{people}" for people in (FEW, SOME)}
        for people, uri in addresses.items():
            crowds.fill(uri, people)
        sqlite = {people: _rounds(uri) for people, uri in addresses.items()}
        beside = [*_beside_others(addresses[FEW]), _analysis(addresses[FEW])]
    sqlite[MILLION] = _rounds(crowds.million_in_sqlite(), 1)
    with crowds.million_in_postgresql() as address:
        postgresql = _rounds(address, 1)
    return Part(
        name="bundle",
        title="Handing out",
        findings=[
            *_findings("SQLite", MILLION, sqlite[MILLION]),
            *_findings("PostgreSQL", MILLION, postgresql),
            *beside,
        ],
        growth=[*_growth({size: sqlite[size] for size in (FEW, SOME, MILLION)})],
        said=SAID,
        versions={"psycopg": version("psycopg"), "pysqlite3": version("pysqlite3")},
    )


def _rounds(uri: str, rounds: int = ROUNDS) -> list[dict[str, float]]:
    """Hand a database's study out, once a round."""
    return [_streamed(uri) for _ in range(rounds)]


def _streamed(uri: str, only: str = "tables") -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.parts.bundle_stream", uri, only]
    done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _findings(where: str, people: int, rounds: list[dict[str, float]]) -> Iterator[Finding]:
    what = f"the tables of a bundle of {people * QUESTIONS:,} answers from {where}"
    seconds = [one["bundle"] for one in rounds]
    scanned = ratios(seconds, [one["scan"] for one in rounds])
    yield Finding(
        f"{what}, beside its own scan", scanned, "× the scan's time", "≤ 10", headline=True
    )
    held = [one["peak_mb"] - one["analysed_mb"] for one in rounds]
    note = "the peak, beyond that of the analysis"
    yield Finding(
        f"{what}: memory beyond its analysis", held, "MB", "≤ 64", note, headline=where == "SQLite"
    )
    yield Finding(f"{what}: time", seconds, "s")
    yield Finding(f"{what}: size of the zip", [rounds[0]["bytes"] / 1e6], "MB")


def _growth(measured: dict[int, list[dict[str, float]]]) -> Iterator[Growth]:
    sizes = [people * QUESTIONS for people in measured]
    for what, key, unit in (
        *(
            ("the tables of a bundle from SQLite", "bundle", "s"),
            ("SQLite's own scan", "scan", "s"),
        ),
        ("memory of the process", "peak_mb", "MB"),
    ):
        values = [min(one[key] for one in rounds) for rounds in measured.values()]
        yield Growth(what, "answers", sizes, values, unit)


def _beside_others(uri: str) -> Iterator[Finding]:
    """Write the answers alone: by us, by the ORM as we did, and bare, by the csv module."""
    with Session(opened(uri)) as session, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        study = find_study(session, SLUG)
        statement = select_of(session, study)
        content = content_of(session, study)

        def ours() -> None:
            table = responses_table(ordering_plan(content.plan))
            nowhere.writelines(table.lines(content))

        def by_orm() -> None:
            csv.writer(nowhere).writerows(_by_orm(session, study.id))

        def bare() -> None:
            result = session.connection().exec_driver_sql(statement)
            cursor: Any = result.cursor
            csv.writer(nowhere).writerows(cursor)

        ours()  # which analyses the answers; that is measured apart
        seconds = in_turn({"ours": ours, "orm": by_orm, "bare": bare}, rounds=ROUNDS)
    what = f"responses.csv of {FEW * QUESTIONS:,} answers from SQLite"
    yield Finding(
        f"{what}, beside a loop over objects of SQLAlchemy's ORM",
        ratios(seconds["orm"], seconds["ours"]),
        "× as fast",
        note="theirs escapes nothing and writes times as they come",
    )
    yield Finding(
        f"{what}, beside csv.writerows(cursor)",
        ratios(seconds["ours"], seconds["bare"]),
        "× its time",
        note="theirs are the bare cells, JSON as it is stored",
    )


def _by_orm(session: Session, study_id: int) -> Iterator[tuple[Any, ...]]:
    rows = session.execute(
        select(
            *(Participant, Presentation, StoredOrderingPresentation),
            *(StoredResponse, StoredOrderingAnswer),
        )
        .join(Presentation, Presentation.participant_id == Participant.id)
        .join(
            StoredOrderingPresentation,
            StoredOrderingPresentation.presentation_id == Presentation.id,
        )
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .join(StoredOrderingAnswer, StoredOrderingAnswer.response_id == StoredResponse.id)
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .options(contains_eager(Presentation.question))
        .where(Participant.study_id == study_id, StoredQuestion.number > 0)
        .order_by(Participant.public_id, StoredQuestion.number)
        .execution_options(yield_per=500)
    )
    for one, shown, drawn, given, answer in rows:
        yield (
            *(one.public_id, shown.question.number, shown.position, *drawn.label_order),
            *(*drawn.column_order, *drawn.list_order, *answer.clicked, answer.own),
            *(shown.shown_at, given.submitted_at, given.active_seconds, given.revisions),
            *(one.is_test, one.excluded),
        )


def _analysis(uri: str) -> Finding:
    told = _streamed(uri, "analysis")
    return Finding(
        f"the files of the analysis of {FEW * QUESTIONS:,} answers", [told["bundle"]], "s"
    )
