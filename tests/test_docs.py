"""The documentation names what is there."""

import importlib
import re
from pathlib import Path

import pytest

from survey.core.measures.catalogue import BUILT_IN
from survey.core.measures.measure import Family

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
PLACE = re.compile(r"`(survey\.(?:cli|core|db|figures|services|web)(?:\.\w+)+)`")


def found_at(path):
    """What a dotted path names: a module's function, class or value."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_place_in_the_code_that_a_page_names_is_there(page):
    for path in PLACE.findall(page.read_text()):
        assert found_at(path) is not None, path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)[#)]", text):
        assert (page.parent / target).resolve().is_file(), target
    for name in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / name).is_file(), name


def test_every_measure_has_its_line_and_every_source_its_page():
    page = (ROOT / "docs" / "measures.md").read_text()
    for entry in BUILT_IN:
        name = entry.form if isinstance(entry, Family) else entry.name
        assert f"`{name}`" in page, name
    assert {one.name for one in (ROOT / "docs" / "sources").iterdir()} == {
        *("mnro-paper.md", "lecture.md", "map-ndcg.md", "mialbum.md", "imageclef.md")
    }
