"""Times on a participant's pages are in the reader's time zone; without scripts in UTC, named."""

import re
from datetime import datetime, timedelta, timezone

import pytest

from tests.browser.test_participant import start
from tests.browsing import watched

INDIA = timezone(timedelta(hours=5, minutes=30))


@pytest.fixture
def own_data(browser, server):
    """Open the page of one's own data in a browser in India; return each time with its moment."""
    contexts = []

    def open_page(language, **settings):
        link = server.open_study(f"times-{language}-{len(settings)}", language=language)
        contexts.append(browser.new_context(timezone_id="Asia/Kolkata", **settings))
        page = watched(contexts[-1].new_page())
        start(page, link)
        page.goto(f"{link}/my-data")
        times = page.locator("time").all()
        stored = page.request.get(f"{link}/my-data.json").json()
        moments = [datetime.fromisoformat(time.get_attribute("datetime")) for time in times]
        assert page.faults == []
        shown = (stored["began"], stored["consent"]["agreed"], stored["last_seen"])
        assert moments == [datetime.fromisoformat(text).replace(microsecond=0) for text in shown]
        assert {moment.utcoffset() for moment in moments} == {timedelta()}
        return [(moment, time.inner_text()) for moment, time in zip(moments, times, strict=True)]

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("language", ["en", "el"])
def test_times_are_in_the_readers_zone(own_data, language):
    for moment, text in own_data(language):
        assert written(moment.astimezone(INDIA)).match(text)
        assert not text.endswith("UTC")


@pytest.mark.parametrize("language", ["en", "el"])
def test_without_scripts_times_are_in_utc(own_data, language):
    for moment, text in own_data(language, java_script_enabled=False):
        assert written(moment).match(text)
        assert text.endswith(" UTC")


def written(moment):
    """How a page writes a moment, whatever the language calls the month and the zone."""
    return re.compile(rf"{moment.day} [^\W\d]+ {moment.year}, {moment:%H:%M} \(?[^\W\d]")
