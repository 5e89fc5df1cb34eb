"""The documentation names what is there."""

import pkgutil
import re
from pathlib import Path

import pytest
import yaml

from survey import __version__
from survey.core.measures.catalogue import BUILT_IN_MEASURES
from survey.core.measures.measure import Family
from tests.promises import page as promises

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
TEXTS = [*PAGES, *(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md")]
PLACE = re.compile(r"`(survey\.(?:cli|core|db|figures|services|web)(?:\.\w+)+)`")
FOLDERS = "survey|tests|templates|static|benchmarks|deploy"
PATH = re.compile(rf"(?<![\w/.-])((?:{FOLDERS})/[\w/.-]*\w/?)`")

# A page of the guides is read in five minutes.
MOST_WORDS = 900
MOST_WORDS_IN_ALL = 40_000
SHORT_PAGES = (
    *("run-your-own-study.md", "settings.md", "ethics.md", "recruitment.md", "analysis.md"),
    *(
        "publish-a-study.md",
        "tour.md",
        "from-pictures-to-a-study.md",
        "score-runs.md",
        "add-a-measure.md",
        "machines.md",
        "python.md",
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


def words_in(page):
    """Count the words of a page: the bars of a table and the signs of a formula are none."""
    return sum(any(map(str.isalnum, word)) for word in page.read_text().split())


@pytest.mark.parametrize("name", SHORT_PAGES)
def test_a_page_of_the_guides_is_short(name):
    assert words_in(ROOT / "docs" / name) < MOST_WORDS


def test_all_documents_are_short():
    written = [page for page in TEXTS if page.name != "DEPENDENCIES.md"]  # that one is generated
    words = {page.name: words_in(page) for page in written}
    assert sum(words.values()) < MOST_WORDS_IN_ALL, sorted(words.items(), key=lambda each: each[1])


def test_every_measure_has_its_line_and_every_source_its_page():
    page = (ROOT / "docs" / "measures.md").read_text()
    for entry in BUILT_IN_MEASURES:
        name = entry.form if isinstance(entry, Family) else entry.name
        assert f"`{name}`" in page, name
    assert {one.name for one in (ROOT / "docs" / "sources").iterdir()} == {
        *("mnro-paper.md", "lecture.md", "map-ndcg.md", "mialbum.md", "imageclef.md")
    }


def test_the_page_of_promises_quotes_what_is_recorded():
    text, record = promises.PAGE.read_text(), promises.RECORD.read_text()
    blocks = [block[2] for block in promises.BLOCK.finditer(text)]
    assert blocks == [block[2] for block in promises.BLOCK.finditer(record)]
    assert text.count("<!-- measured: ") == len(blocks) == 10
    assert promises.quoted(text, record) == text
    assert promises.recorded(record, []) == record


def test_what_a_promise_measured_again_replaces_what_it_measured():
    record = "<!-- measured: forms -->\n- 1 sent (`b`)\n<!-- end -->\n"
    page = f"Before\n{record}after\n"
    notes = [{"promise": "forms", "test": test, "sentence": f"2 {test}"} for test in ("b", "a")]
    again = promises.recorded(record, notes)
    assert again == "<!-- measured: forms -->\n- 2 a (`a`)\n- 2 b (`b`)\n<!-- end -->\n"
    assert promises.quoted(page, again) == page.replace("1 sent", "2 b")


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    heading = f"## {__version__} ({citation['date-released']})"
    assert heading in (ROOT / "CHANGELOG.md").read_text()
