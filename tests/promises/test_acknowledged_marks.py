"""Marks of a query that were acknowledged are stored, each once and in their order, under kills."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from bs4 import BeautifulSoup
from sqlalchemy import select

from survey.app import db
from survey.db.models import TASK_TABLES
from tests.labelled import a_labelling_study
from tests.promises.crowd import Ledger
from tests.promises.killing import Killer
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

ANNOTATORS, MARKS, KILLS = 3, 60, 5
PATIENCE = 120  # seconds


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path, free_port())
    with running.app.app_context():
        a_labelling_study(db.session, "marks", topics=["word"])
        db.session.remove()
    running.start()
    yield running
    running.kill()


class Annotator:
    """Marks tiles and takes marks back; each form is sent until it is acknowledged."""

    def __init__(self, server, seed):
        self.browser, self.home = requests.Session(), f"{server.address}/s/marks"
        self.chance, self.marked, self.made = random.Random(seed), set(), []

    def send(self, path, **fields):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                headers = {"Accept": "application/json"}
                answer = self.browser.post(self.home + path, fields, headers=headers, timeout=10)
                if answer.ok:
                    return answer
                assert answer.status_code == 503, answer.text
            except requests.RequestException:
                pass
            time.sleep(0.02)
        raise AssertionError(f"{path} was never answered")

    def begin(self):
        """Go to the query, before anything is killed."""
        page = self.browser.get(self.home)
        while "/q/1" not in page.url:
            form = BeautifulSoup(page.text, "html.parser").select_one("form:has(button.go)")
            fields = {each["name"]: each["value"] for each in form.select("[type=hidden]")}
            path = (form.get("action") or page.url).partition("/s/marks")[2]
            page = self.browser.post(self.home + path, {**fields, "agree": "y"})
        form = BeautifulSoup(page.text, "html.parser").select_one("#batch")
        self.fields = {each["name"]: each.get("value", "") for each in form.select("[type=hidden]")}

    def work(self, ledger):
        for _ in range(MARKS):
            tile = self.chance.randint(1, 24)
            self.marked ^= {tile}
            ticks = {f"grade-{each}": "1" for each in self.marked}
            self.fields["step_key"] = self.send("/q/1", **self.fields, **ticks).json()["key"]
            self.made.append((tile, int(tile in self.marked)))
            ledger.note("acknowledged")


def stored_marks(server):
    """The marks of each presentation, as (number of the tile, grade)."""
    table = TASK_TABLES["labelling"].step
    with server.app.app_context():
        order = table.c.presentation_id, table.c.number
        rows = db.session.execute(select(table).order_by(*order)).all()
        db.session.remove()
    marks = {}
    for row in rows:
        if row.documents:
            marks[row.presentation_id] = (list(row.documents), [])
        else:
            documents, made = marks[row.presentation_id]
            made.append((documents.index(row.document) + 1, row.grade))
    return [made for _, made in marks.values()]


def test_no_mark_is_lost_or_doubled_while_processes_are_killed(server):
    annotators = [Annotator(server, seed) for seed in range(ANNOTATORS)]
    for each in annotators:
        each.begin()
    ledger = Ledger()
    killer = Killer(server, ledger, 0.8 * ANNOTATORS * MARKS / KILLS, {})
    with killer.at_work(), ThreadPoolExecutor(ANNOTATORS) as pool:
        for _ in pool.map(lambda each: each.work(ledger), annotators):
            continue
        killer.stop()
    assert killer.kills.total() >= 1
    assert sorted(stored_marks(server)) == sorted(each.made for each in annotators)
