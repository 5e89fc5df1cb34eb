"""The background work of a server process."""

from threading import Event

import pytest

from survey import app as application
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE


@pytest.fixture
def loaded(app, monkeypatch):
    """An event that is set when what results need is being loaded."""
    loading = Event()
    monkeypatch.setattr(application, "load_libraries", loading.set)
    application._load_in_background.cache_clear()
    app.before_request(application._preload_for_researchers)
    yield loading
    application._load_in_background.cache_clear()


def test_what_results_need_is_loaded_once_a_researcher_comes(client, loaded):
    client.get("/research/")
    assert loaded.wait(5)


def test_participants_do_not_wait_for_what_only_results_need(client, loaded):
    client.get("/")
    client.get("/s/none")
    assert not loaded.wait(0.2)
