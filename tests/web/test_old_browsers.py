"""What scripts and stylesheets use of a browser, and since when three engines have it.

A browser of 2021 must do without what came later; ``without`` says how. The years are in
tests/cases/browser_features.csv.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC, TEMPLATES = ROOT / "static", ROOT / "templates"
NEWEST = 2021
# Names in scripts that are neither the browser's nor declared or written as a key in a script: of
# fields of forms, of words that pages have as JSON, of what data- attributes and files are called.
OWN_NAMES = {
    *(
        "alone",
        "and",
        "by_how_much",
        "column",
        "csrf_token",
        "dragged",
        "dropped",
        "field",
        "heading",
    ),
    *("isRefused", "later", "loses", "mine", "more", "new", "not_needed", "nothing", "options"),
    *("satisfied", "short", "strengths", "way"),
    *("soFar", "step_key", "table", "taking", "ticks", "tied", "vectors", "version", "zip"),
}
# Members of objects that every browser of this century has.
OLDEST = {"Object", "direction", "document", "prototype", "size", "transform"}
CSS_NAMES = {
    "property": r"[{;]\s*([a-z-]+)\s*:(?=[^{};]*[;}])",
    "selector": r":{1,2}([a-z-]+)",
    "at-rule": r"@([a-z-]+)",
    "media": r"\((?:min-|max-)?([a-z-]+)(?=[:)])",
    "function": r"([a-z-]+)\(",
    "unit": r"(?<![\w#-])\d*\.?\d+([a-z]+)\b",
}


def text_of(ending: str) -> str:
    """All files of ours with this ending, without their comments."""
    paths = sorted(STATIC.glob(f"*.{ending}"))
    text = "\n".join(path.read_text() for path in paths if "bootstrap" not in path.name)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return text if ending == "css" else re.sub(r"(^|\s)//.*", "", text)


def features() -> Iterator[dict[str, str]]:
    """The rows of the table."""
    with (ROOT / "tests/cases/browser_features.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def table(kind: str) -> set[str]:
    """The names of a kind in the table."""
    return {row["name"] for row in features() if row["kind"] == kind}


def names_in_scripts() -> set[str]:
    """Members and constructors that scripts use and do not declare."""
    code = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text_of("js"))
    declared = re.findall(r"\b([A-Za-z_]\w*):", code)
    declared += re.findall(r"\b(?:const|let|var|function|class)\s+(\w+)", code)
    pages = "\n".join(path.read_text() for path in TEMPLATES.rglob("*.html"))
    for name in re.findall(r"data-([a-z-]+)", pages):
        declared.append(re.sub("-(.)", lambda match: match[1].upper(), name))
    known = table("script")
    members = set(re.findall(r"\.([A-Za-z_]\w*)", code)) - OWN_NAMES - OLDEST
    made = set(re.findall(r"\bnew ([A-Z]\w*)", code))
    return {name for name in members | made if name in known or name not in declared}


def names_in_stylesheets(kind: str) -> set[str]:
    """Names of a kind that stylesheets use."""
    css = text_of("css")
    if kind == "media":
        css = "\n".join(re.findall(r"@media[^{]*", css))
    elif kind == "selector":
        css = re.sub(r"\{[^{}]*\}", "{}", css)  # of rules, only what selects
        css = re.sub(r"@media[^{]*", "", css)
    elif kind == "function":
        css = re.sub(r":[a-z-]+\(|@[^{]*", "", css)
    names = set(re.findall(CSS_NAMES[kind], css))
    return {name for name in names if not name.startswith("--")}


def test_the_table_has_all_that_scripts_use_and_nothing_else():
    assert names_in_scripts() == table("script")


@pytest.mark.parametrize("kind", CSS_NAMES)
def test_the_table_has_all_that_stylesheets_use_and_nothing_else(kind):
    assert names_in_stylesheets(kind) == table(kind)


@pytest.mark.parametrize(("kind", "ending"), [("syntax", "js"), ("value", "css")])
def test_syntax_and_values_of_the_table_are_in_use(kind, ending):
    text = text_of(ending)
    assert [name for name in table(kind) if name not in text] == []


def test_nothing_younger_than_2021_is_used_unless_a_browser_can_do_without():
    for row in features():
        years = [int(row[engine] or 9999) for engine in ("chrome", "firefox", "safari")]
        assert (max(years) > NEWEST) == bool(row["without"]), row["name"]
