"""What the tests of accessibility share: a house to walk in, and a tab to look through."""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from survey import figures
from tests.accessibility.looking import prepared
from tests.accessibility.sights import House, Stage, build_house

TABLE = Path(__file__).parents[2] / "build" / "accessibility"


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An application in which every walk is made once in a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "render", lru_cache(figures.render))  # many pages show the same
        made = build_house(tmp_path_factory.mktemp("house"))
        yield made
        made.let_go()


@pytest.fixture
def stage(browser: Browser) -> Iterator[Stage]:
    """A tab on which sights are shown."""
    context = prepared(browser)
    yield Stage(context)
    context.close()


def write_row(name: str, rows: list[dict[str, object]]) -> None:
    """Keep what ``make accessibility`` found, for the table of the docs."""
    TABLE.mkdir(parents=True, exist_ok=True)
    (TABLE / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False))
