"""Acknowledged means stored, exactly once: what a browser does with what is not acknowledged."""

import re

import pytest
from playwright.sync_api import expect

from survey.db.engine import sqlite_library
from survey.db.models import StoredResponse
from tests.browser.test_participant import at, press, save, start, tick
from tests.browsing import watched

pytestmark = pytest.mark.slow


def back_at(page, path):
    """Wait until the script has sent the answer again: up to eight seconds pass in between."""
    expect(page).to_have_url(re.compile(path + "$"), timeout=20_000)
    page.wait_for_load_state("load")


@pytest.fixture
def lock(server):
    """Lock the database against writing, and unlock it."""
    held = sqlite_library().connect(server.instance / "survey.sqlite3", isolation_level=None)
    yield held
    held.close()


def test_an_answer_sent_while_the_server_is_gone_is_saved_by_itself_when_it_is_back(
    server, page, link, measured
):
    start(page, link)
    before = server.count(StoredResponse)
    tick(page, 1)
    server.kill()
    press(page)
    expect(page.locator(".saving")).to_contain_text("Not saved yet. Leave this page open")
    expect(page.locator("input[name=choice][value='1']")).to_be_checked()
    server.start()
    back_at(page, "/q/2")
    assert server.count(StoredResponse) == before + 1
    page.faults[:] = [one for one in page.faults if "ERR_CONNECTION" not in one]
    assert page.faults == []
    measured(
        "A browser whose server was killed kept the answer on its page and sent it when the "
        "server was back: 1 row stored."
    )


def test_while_it_is_not_saved_the_page_asks_before_it_is_left(server, page, link):
    start(page, link)
    tick(page, 1)
    server.kill()
    press(page)
    expect(page.locator(".saving")).to_contain_text("Not saved yet")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    server.start()
    back_at(page, "/q/2")


def test_an_answer_can_be_changed_while_it_waits(server, page, link):
    start(page, link)
    tick(page, 1)
    server.kill()
    press(page)
    expect(page.locator(".saving")).to_contain_text("Not saved yet")
    page.locator("input[name=choice][value='1']").uncheck()
    tick(page, 2)
    server.start()
    back_at(page, "/q/2")
    page.go_back()
    at(page, "/q/1")
    expect(page.locator("input[name=choice][value='2']")).to_be_checked()


def test_back_is_still_back_after_a_wait(server, page, link):
    start(page, link)
    tick(page, 1)
    server.kill()
    page.get_by_role("button", name="Back").click()
    expect(page.locator(".saving")).to_contain_text("Not saved yet")
    server.start()
    back_at(page, "/practice")


def test_without_scripts_a_locked_database_shows_the_answer_and_a_button(
    browser, server, lock, link
):
    context = browser.new_context(java_script_enabled=False)
    page = watched(context.new_page())
    start(page, link)
    before = server.count(StoredResponse)
    tick(page, 3)
    lock.execute("BEGIN IMMEDIATE")
    save(page)
    expect(page.get_by_text("Your answer is not saved yet")).to_be_visible(timeout=15_000)
    expect(page.locator("input[name=choice][value='3']")).to_be_checked()
    lock.execute("ROLLBACK")
    save(page)
    at(page, "/q/2")
    assert server.count(StoredResponse) == before + 1
    context.close()
