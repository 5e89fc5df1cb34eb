"""Steps of a question that were acknowledged are stored, each once and in order, under kills."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from bs4 import BeautifulSoup
from sqlalchemy import select

from survey.app import db
from survey.core.kinds import KINDS
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study
from tests.promises.crowd import Ledger
from tests.promises.killing import Killer
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

MARKS, KILLS = 60, 5
PATIENCE = 120  # seconds


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path, free_port())
    with running.app.app_context():
        a_labelling_study(db.session, "marks", topics=["word"])
        a_grouping_study(db.session, "groups")
        db.session.remove()
    running.start()
    yield running
    running.kill()


class Annotator:
    """Marks tiles and takes marks back; each form is sent until it is acknowledged."""

    people, slug, work_area, accepts = 3, "marks", "#batch", "application/json"

    def __init__(self, server, seed):
        self.browser, self.home = requests.Session(), f"{server.address}/s/{self.slug}"
        self.chance, self.marked, self.made = random.Random(seed), set(), []

    def send(self, path, **fields):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                headers = {"Accept": self.accepts}
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
            path = (form.get("action") or page.url).partition(f"/s/{self.slug}")[2]
            page = self.browser.post(self.home + path, {**fields, "agree": "y"})
        form = BeautifulSoup(page.text, "html.parser").select_one(self.work_area)
        self.fields = {each["name"]: each.get("value", "") for each in form.select("[type=hidden]")}

    def work(self, ledger):
        for _ in range(MARKS):
            tile = self.chance.randint(1, 24)
            self.marked ^= {tile}
            self.fields["document"] = sorted(self.marked)
            self.fields["step_key"] = self.send("/q/1", **self.fields).json()["key"]
            self.made.append((tile, int(tile in self.marked)))
            ledger.note("acknowledged")


class Assessor(Annotator):
    """Puts tiles into a group, takes them out and undoes it, until each form is acknowledged."""

    people, slug, work_area, accepts = 2, "groups", "#work", "text/html"  # a third would wait

    def work(self, ledger):
        left = 0  # steps that were not undone; the group's first stays
        for number in range(MARKS):
            tile = self.chance.randint(1, 12)
            possible = ["put-1", "put-0", "take-1", *(["undo"] if left > 1 else [])]
            go = self.chance.choice(possible) if number else "new"
            left += -1 if go == "undo" else 1
            ticks = {"group": "a"} if go == "new" else {}
            page = self.send("/q/1", **self.fields, document=tile, **ticks, go=go)
            form = BeautifulSoup(page.text, "html.parser").select_one("#work")
            self.fields["step_key"] = form.select_one("[name=step_key]")["value"]
            self.made.append((go.partition("-")[0].replace("new", "put"), tile))
            ledger.note("acknowledged")


def stored_marks(server):
    """The marks of each presentation, as (number of the tile, grade)."""
    table = KINDS["labelling"].tables.step
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


def stored_groups(server):
    """The steps of each presentation: (action, number of the tile)."""
    table = KINDS["grouping"].tables.step
    with server.app.app_context():
        query = select(table).order_by(table.c.presentation_id, table.c.number)
        rows = db.session.execute(query).all()
        db.session.remove()
    steps = {}
    for row in rows:
        steps.setdefault(row.presentation_id, []).append((row.action, row.documents))
    return [*steps.values()]


@pytest.fixture
def work(server):
    """Let people work while processes are killed; return them."""

    def at_work(kind):
        people = [kind(server, seed) for seed in range(kind.people)]
        for each in people:
            each.begin()
        ledger = Ledger()
        killer = Killer(server, ledger, 0.8 * kind.people * MARKS / KILLS, {})
        with killer.at_work(), ThreadPoolExecutor(kind.people) as pool:
            for _ in pool.map(lambda each: each.work(ledger), people):
                continue
            killer.stop()
        assert killer.kills.total() >= 1
        return people

    return at_work


def test_no_mark_is_lost_or_doubled_while_processes_are_killed(server, work):
    annotators = work(Annotator)
    assert sorted(stored_marks(server)) == sorted(each.made for each in annotators)


def test_no_step_of_groups_is_lost_or_doubled_while_processes_are_killed(server, work):
    assessors = work(Assessor)
    stored = sorted([action for action, _ in steps] for steps in stored_groups(server))
    assert stored == sorted([action for action, _ in each.made] for each in assessors)
