"""Worlds for a study that differ in nothing but its measures: their names, their order.

In a world every request takes a second, and all that is drawn comes out of one stream, so
that two worlds can be compared byte for byte.
"""

import importlib
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any

import flask.sessions
import itsdangerous
import pytest
import werkzeug.http
from flask import Flask
from sqlalchemy.orm import Session

import survey
from survey.app import create_app, db
from survey.config import Settings
from survey.core.measures import MEASURES, Measure
from survey.core.measures.catalogue import AP, BUILT_IN_MEASURES, MNRO, NMRR
from survey.core.measures.measure import Family
from survey.core.measures.registry import Registry
from survey.db.models import now
from survey.services.operations.database import upgrade_database
from tests.builders import KEY
from tests.conftest import TidyClient

SHIPPED = (AP, NMRR, MNRO)
PACKAGE = Path(survey.__file__).parent


@dataclass(frozen=True)
class World:
    """``measures`` as they are registered; ``columns``: a measure's name → which column it is.

    Draws go by columns, so that in every world the same columns come out where they come out.
    """

    measures: tuple[Measure, ...]
    columns: Mapping[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """What a study of this world compares."""
        return tuple(measure.name for measure in self.measures)


def world_of(measures: Sequence[Measure]) -> World:
    """A world in which the columns are those of these measures, in this order."""
    return World(tuple(measures), {one.name: column for column, one in enumerate(measures)})


def canaries() -> World:
    """The shipped measures under names that no page can hold by accident."""
    letters = Random(20)
    return world_of([_named(one, *(_canary(letters) for _ in range(4))) for one in SHIPPED])


def _canary(letters: Random) -> str:
    return "".join(letters.choices(ascii_uppercase, k=16))


def _named(column: Measure, name: str, mean_name: str, label: str, source: str) -> Measure:
    return replace(column, name=name, mean_name=mean_name, label=label.lower(), source=source)


def as_shipped() -> World:
    """The world as it is."""
    return world_of(SHIPPED)


def renamed() -> World:
    """The world in which each measure stands behind another one's column."""
    others = (*SHIPPED[1:], SHIPPED[0])
    pairs = zip(SHIPPED, others, strict=True)
    return world_of([_named(a, b.name, b.mean_name, b.label, b.source) for a, b in pairs])


def renamed_and_turned() -> World:
    """The same, and the measures are registered, and so stored, in the opposite order."""
    world = renamed()
    return World(world.measures[::-1], world.columns)


class Chance(Random):
    """The only source of chance in a world, in place of the system's."""

    def __init__(self, seed: int, columns: Mapping[str, int]) -> None:
        super().__init__(seed)
        self.columns = columns

    def sample(self, population: Any, k: int, **more: Any) -> list[Any]:
        """Draw; measures by their columns, whatever they are called here."""
        known = sorted(population, key=lambda one: self.columns.get(one, 0))
        return super().sample(known, k, **more)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.time = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)

    def now(self) -> datetime:
        """The moment it shows."""
        return self.time

    def move(self, **by: float) -> None:
        """Turn it on."""
        self.time += timedelta(**by)


def register(patch: pytest.MonkeyPatch, measures: Sequence[Measure]) -> None:
    """Let the registry hold these measures beside the shipped ones, or in their place."""
    taken = {new.name for new in measures}
    others = [one for one in BUILT_IN_MEASURES if isinstance(one, Family) or one.name not in taken]
    fresh = Registry([*measures, *others])
    _replace_everywhere(patch, "MEASURES", MEASURES, fresh)


def _replace_everywhere(patch: pytest.MonkeyPatch, name: str, old: object, new: object) -> None:
    """Replace what modules import by name; a module loaded meanwhile would keep the new one."""
    for path in PACKAGE.rglob("*.py"):
        if name in path.read_text() and path.stem != "env":
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
            if vars(module).get(name) is old:
                patch.setattr(module, name, new)


def draw_from(patch: pytest.MonkeyPatch, stream: Random) -> None:
    """Let all that the survey and its libraries draw come out of this stream."""
    patch.setattr(secrets, "SystemRandom", lambda: stream)
    patch.setattr(secrets, "choice", stream.choice)
    patch.setattr(secrets, "randbelow", stream.randrange)
    patch.setattr(secrets, "token_bytes", lambda count=32: stream.randbytes(count or 32))
    patch.setattr(os, "urandom", stream.randbytes)


def set_clock(patch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Let the survey and its libraries read this clock."""

    class Moments(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # noqa: ARG003 - the clock is in UTC
            return clock.now()

    _replace_everywhere(patch, "now", now, clock.now)
    patch.setattr(flask.sessions, "datetime", Moments)
    patch.setattr(werkzeug.http, "datetime", Moments)
    seconds = lambda *_: int(clock.now().timestamp())  # noqa: E731 - a method's stand-in
    patch.setattr(itsdangerous.TimestampSigner, "get_timestamp", seconds)


@dataclass(frozen=True)
class Place:
    """An application in a world, on an empty database."""

    app: Flask
    session: Session
    clock: Clock
    chance: Chance
    world: World


@contextmanager
def living_in(world: World, folder: Path, seed: int = 7) -> Iterator[Place]:
    """An application in this world; everything is as it was afterwards."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        clock, chance = Clock(), Chance(seed, world.columns)
        register(patch, world.measures)
        set_clock(patch, clock)
        draw_from(patch, chance)
        app = create_app(Settings(folder, f"sqlite:///{folder / 'survey.sqlite3'}", KEY))
        app.test_client_class = TidyClient
        app.before_request(lambda: clock.move(seconds=1))
        with app.app_context():
            engine = db.engine
        upgrade_database(engine)
        with Session(engine) as session:
            app.extensions["test_session"] = session
            yield Place(app, session, clock, chance, world)
        engine.dispose()
