"""The documentation names what is there."""

import pkgutil
import re
from pathlib import Path

import pytest
import yaml

from survey import __version__
from survey.core.measures.catalogue import BUILT_IN
from survey.core.measures.measure import Family

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
TEXTS = [*PAGES, *(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md")]
PLACE = re.compile(r"`(survey\.(?:cli|core|db|figures|services|web)(?:\.\w+)+)`")
FOLDERS = "survey|tests|templates|static|benchmarks|deploy"
PATH = re.compile(rf"(?<![\w/.-])((?:{FOLDERS})/[\w/.-]*\w/?)`")

# A page of the guides is read in five minutes.
MOST_WORDS = 900
SHORT_PAGES = (
    *("run-your-own-study.md", "settings.md", "ethics.md", "recruitment.md", "analysis.md"),
    *(
        "publish-a-study.md",
        "tour.md",
        "from-pictures-to-a-study.md",
        "score-runs.md",
        "add-a-measure.md",
        "README.md",
    ),
)


def object_at(path):
    """Return what a dotted path names: a module, or a module's function, class or value."""
    return pkgutil.resolve_name(path)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_place_in_the_code_that_a_page_names_is_there(page):
    for path in PLACE.findall(page.read_text()):
        assert object_at(path) is not None, path


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_path_in_the_project_that_a_page_names_is_there(page):
    names = PATH.findall(page.read_text())
    assert [name for name in names if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)[#)]", text):
        assert (page.parent / target).resolve().is_file(), target
    for name in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("name", SHORT_PAGES)
def test_a_page_of_the_guides_is_short(name):
    assert len((ROOT / "docs" / name).read_text().split()) < MOST_WORDS


def test_every_measure_has_its_line_and_every_source_its_page():
    page = (ROOT / "docs" / "measures.md").read_text()
    for entry in BUILT_IN:
        name = entry.form if isinstance(entry, Family) else entry.name
        assert f"`{name}`" in page, name
    assert {one.name for one in (ROOT / "docs" / "sources").iterdir()} == {
        *("mnro-paper.md", "lecture.md", "map-ndcg.md", "mialbum.md", "imageclef.md")
    }


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    heading = f"## {__version__} ({citation['date-released']})"
    assert heading in (ROOT / "CHANGELOG.md").read_text()
