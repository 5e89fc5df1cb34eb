"""Pictures: taking ten thousand in, and thirty people who open a question at the same time."""

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any

from sqlalchemy.orm import Session

from benchmarks.speed.intake import draw
from benchmarks.speed.part import Finding, Growth, Part
from survey.app import db
from survey.services.operations import demo
from tests.builders import Visitor
from tests.serving import OverHttp, Server, free_port

PICTURES = Path(__file__).parents[3] / "build" / "pictures"
SIZES = (1_000, 10_000)
PEOPLE = 30
CONNECTIONS = 6  # that a browser opens to a host
ROUNDS = 5
SHOWN = re.compile(r'src="(/s/[^"]+/small/[^"]+)"')


def run() -> Part:
    """Measure."""
    draw(PICTURES, SIZES[-1])
    taken = [_taken(count) for count in SIZES]
    many = taken[-1]
    what = f"taking in {SIZES[-1]:,} pictures of 1000 × 750 (100 kB each)"
    crowd = [*crowds(ROUNDS)]
    people = f"{PEOPLE} people open a question with pictures at once"
    return Part(
        name="pictures",
        title="Pictures",
        findings=[
            Finding(what, [many["seconds"]], "s", note="both sizes made and stored"),
            Finding(f"{what}: processor time", [many["worked"]], "s"),
            Finding(f"{what}: peak memory of the process", [many["peak"]], "MB", "≤ 500"),
            Finding(f"{what}: size in the database", [many["stored"] / 1e6], "MB"),
            Finding(
                f"{people}: the first picture, slowest",
                [max(each[0]) for each in crowd],
                "s",
                "≤ 1",
            ),
            Finding(
                f"{people}: the first picture, median", [median(each[0]) for each in crowd], "s"
            ),
            Finding(
                f"{people}: the last picture, median", [median(each[1]) for each in crowd], "s"
            ),
        ],
        growth=[
            Growth(
                "processor time",
                "pictures taken in",
                SIZES,
                [each["worked"] for each in taken],
                "s",
            ),
            Growth(
                "peak memory", "pictures taken in", SIZES, [each["peak"] for each in taken], "MB"
            ),
        ],
        said=[
            "Pictures are drawn: smooth noise, as JPEG. Each intake is a process of its own.",
            "The people are at the first question of the demonstration with pictures, served by "
            "`survey serve` with two processes and SQLite. Each opens the page, and then its 29 "
            f"to 41 pictures over {CONNECTIONS} connections, like a browser with an empty cache. "
            "They are played by threads on the same two processors.",
        ],
    )


def _taken(count: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed.intake", str(PICTURES), str(count)]
    # No shell, and nothing but this repository's own module is run.
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout)
    return found


def crowds(rounds: int) -> Iterator[tuple[list[float], list[float]]]:
    """Let people open a question at once, again and again.

    Yield for each round the seconds until everyone's first picture, and until their last.
    """
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), free_port())
        with server.app.app_context(), Session(db.engine) as session:
            demo.create_picture_study(session)
        server.start()
        try:
            cookies = [_person(server) for _ in range(PEOPLE)]
            for _ in range(rounds):
                look = partial(_look, server.port, Barrier(PEOPLE))
                with ThreadPoolExecutor(PEOPLE) as people:
                    seen = people.map(look, cookies)
                    first, last = zip(*seen, strict=True)
                yield [*first], [*last]
        finally:
            server.kill()


def _person(server: Server) -> str:
    """Let a person come as far as question 1; return their cookie."""
    browser: Any = OverHttp(server.address)
    Visitor(browser, demo.PICTURES_SLUG).start()
    return "; ".join(f"{each.name}={each.value}" for each in browser.browser.cookies)


def _look(port: int, barrier: Barrier, cookie: str) -> tuple[float, float]:
    """Open the question and its pictures; return when the first and the last had come."""
    connections = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(CONNECTIONS)]
    barrier.wait()
    begun = time.perf_counter()
    page = _get(connections[0], f"/s/{demo.PICTURES_SLUG}/q/1", cookie).decode()
    addresses = iter(dict.fromkeys(SHOWN.findall(page)))

    def load(connection: http.client.HTTPConnection) -> list[float]:
        moments = []
        for address in addresses:  # which all connections share
            _get(connection, address, cookie)
            moments.append(time.perf_counter() - begun)
        connection.close()
        return moments

    with ThreadPoolExecutor(CONNECTIONS) as loading:
        moments = [moment for each in loading.map(load, connections) for moment in each]
    return min(moments), max(moments)


def _get(connection: http.client.HTTPConnection, path: str, cookie: str) -> bytes:
    connection.request("GET", path, headers={"Cookie": cookie})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise AssertionError(f"{path} was answered with {answer.status}")
    return body
