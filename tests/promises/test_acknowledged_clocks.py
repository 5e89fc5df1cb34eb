"""Acknowledged means stored, exactly once: while clocks are set back, run ahead, and differ."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from survey.app import db
from survey.db.models import Browser as BoundBrowser
from survey.db.models import Participant, StoredResponse
from tests.builders import VISITOR_COOKIE, Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.promises.crowd import Browser, Ledger, Person
from tests.promises.stored import Faults, faults
from tests.promises.worlds import Clock, set_clock
from tests.serving import Server, free_port

DAY = 86_400
STEPS = [-1, -2, -3_600, 3_600, -400 * DAY, 400 * DAY]
PEOPLE, QUESTIONS = 60, 3
# Run by Python when it starts: adds the seconds in a file to what the clock shows.
OTHER_CLOCK = """
import os, time
clock, shown = time.time, os.environ["SECONDS_OFF"]
def seconds():
    with open(shown) as file:
        return clock() + float(file.read() or 0)
time.time = seconds
"""


@pytest.fixture
def clock(app, monkeypatch):
    clock = Clock()
    set_clock(monkeypatch, clock)
    return clock


@ON_SQLITE
@pytest.mark.parametrize("seconds", STEPS)
def test_a_clock_that_is_set_anew_loses_neither_an_answer_nor_the_participant(
    client, session, clock, seconds
):
    an_open_study(session, practice=False)
    visitor = Visitor(client)
    visitor.start()
    cookie = visitor.client.get_cookie(VISITOR_COOKIE).value
    clock.move(seconds=seconds)
    visitor.submit("/q/1", choice="1")
    assert visitor.path == "/q/2"
    assert session.query(StoredResponse).count() == 1
    session.rollback()
    clock.move(seconds=-seconds)
    for page in ("/q/2", "/q/3"):
        visitor.submit(page, choice="1")
    visitor.submit("/review")
    people = session.query(Participant, BoundBrowser).join(BoundBrowser).all()
    assert [person.status for person, _ in people] == ["complete"]
    again = visitor.client.get_cookie(VISITOR_COOKIE).value
    assert again.partition(".")[0] == cookie.partition(".")[0], "the content is the same"


@pytest.mark.slow
@ON_SQLITE
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.integers(-800 * DAY, 800 * DAY), min_size=1, max_size=12))
def test_whatever_the_clock_shows_at_each_page_one_participant_finishes(app, session, clock, steps):
    slug = f"study-{random.SystemRandom().randrange(10**9)}"
    study_id, onward = an_open_study(session, slug, practice=False).id, cycle(steps)
    session.rollback()
    visitor = Visitor(app.test_client(), slug)
    opened = visitor.client.open

    def open_later(*args, **kwargs):
        clock.time = Clock().time
        clock.move(seconds=next(onward))
        return opened(*args, **kwargs)

    visitor.client.open = open_later
    visitor.take_part()
    people = session.query(Participant).filter_by(study_id=study_id).all()
    assert [person.status for person in people] == ["complete"]
    session.rollback()


class WanderingBrowser(Browser):
    """A browser whose requests go to several servers in turn."""

    def __init__(self, ports, ledger):
        super().__init__(ports[0], ledger)
        self.ports = cycle(ports)

    def _once(self, *request):
        self.close()
        self.port = next(self.ports)
        return super()._once(*request)


@pytest.fixture
def servers(tmp_path):
    """Two servers of one database, each with a file that says how far its clock is off.

    libfaketime would step the clock below Python too, but breaks Python's sleep.
    """
    made, path = [], f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    (tmp_path / "sitecustomize.py").write_text(OTHER_CLOCK)
    for name in ("ahead", "behind"):
        shown = tmp_path / name
        shown.write_text("0")
        fake = {"SECONDS_OFF": str(shown), "PYTHONPATH": path}
        made.append((Server(tmp_path, free_port(), environment=fake, workers=1), shown))
    try:
        yield made
    finally:
        for server, _ in made:
            server.kill()


@pytest.mark.trial
def test_servers_whose_clocks_differ_and_are_set_back_lose_nobody(servers, measured):
    (first, clock), (second, other_clock) = servers
    home = first.open_study("clocks", questions=QUESTIONS, practice=False, participants=10_000)
    home = home.removeprefix(first.address)
    first.start()
    second.start()
    other_clock.write_text("-1")
    ledger, ports = Ledger(), (first.port, second.port)

    def take_part(number):
        person = Person(first.port, home, ledger, random.Random(number))
        person.browser = WanderingBrowser(ports, ledger)
        for _ in person.take_part(QUESTIONS):
            time.sleep(0.01)

    steps = cycle(["0", *map(str, STEPS)])
    with ThreadPoolExecutor(8) as pool:
        coming = [pool.submit(take_part, number) for number in range(PEOPLE)]
        while not all(one.done() for one in coming):
            clock.write_text(next(steps))
            time.sleep(0.3)
    for one in coming:
        one.result()
    with first.app.app_context():
        assert faults(db.engine, ledger.answers) == Faults()
    assert first.count(Participant) == first.count(BoundBrowser) == PEOPLE
    refused = sum(number for what, number in ledger.seen.items() if what.startswith("status 4"))
    assert refused == 0
    measured(
        f"Two servers, their clocks a second apart, one set back and ahead by up to 400 days "
        f"every .3 s: {PEOPLE} people sent each request to the other server; all began, "
        f"{ledger.seen['acknowledged']} answers were acknowledged and stored once, 0 refused."
    )
