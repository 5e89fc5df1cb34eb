"""Every page of the documentation works from top to bottom."""

import subprocess

import pytest

from tests.guides.pages import PAGES, blocks_of, page_named
from tests.guides.story import Story
from tests.guides.supposed import (
    AFTERWARDS,
    CONTINUED_BY,
    FEWER,
    MEANWHILE,
    ON_POSTGRESQL,
    SUPPOSED,
)
from tests.guides.unrun import UNRUN, reason_not_to_run

pytestmark = pytest.mark.slow

TOLD = [page for page in PAGES if any(block.language == "sh" for block in blocks_of(page))]
LATER = {name for names in CONTINUED_BY.values() for name in names}
BEGINNINGS = [page for page in TOLD if page.name not in LATER]


@pytest.fixture
def story(request, tmp_path, monkeypatch):
    """A fresh folder, where nothing is set in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("INSTANCE", "DATABASE_URI", "TRUSTED_PROXIES", "ADDRESS"):
        monkeypatch.delenv(f"SURVEY_{name}", raising=False)
    begun = Story(tmp_path, fewer=FEWER)
    yield begun
    begun.end()


@pytest.mark.parametrize("page", BEGINNINGS, ids=lambda page: page.stem)
def test_a_page_works_from_top_to_bottom(page, story, request):
    if page.name in ON_POSTGRESQL:
        databases = request.getfixturevalue("postgresql")
        story.database_uri = databases.make(filled=False)
        request.addfinalizer(lambda: databases.drop(story.database_uri))
        request.addfinalizer(story.end)
    story.meanwhile = dict(MEANWHILE.get(page.name, {}))
    SUPPOSED.get(page.name, lambda _: None)(story.folder)
    for part in (page, *map(page_named, CONTINUED_BY.get(page.name, ()))):
        for block in blocks_of(part):
            story.tell(block)
    AFTERWARDS.get(page.name, lambda _: None)(story.said)


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.stem)
def test_bash_can_read_every_command(page):
    for block in blocks_of(page):
        if block.language == "sh":
            subprocess.run(["bash", "-n", "-c", block.text], check=True)


def test_what_is_not_run_is_in_some_page_and_has_its_reason():
    commands = [one for page in TOLD for block in blocks_of(page) for one in block.commands]
    for start, why in UNRUN.items():
        assert any(reason_not_to_run(command) == why for command in commands), start
