"""The house keeps its order: who may import whom, and what participants' files may not say."""

import ast
import re
from pathlib import Path

import pytest

from survey.core.measures import MEASURES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "survey"

MAY_IMPORT = {
    "__main__": {"cli", "app", "config"},
    "assets": set(),
    "figures": {"core"},
    "app": {"web", "cli", "db", "config", "assets"},
    "web": {"services", "core"},  # of core only plain types, see below
    "cli": {"services"},
    "services": {"db", "core", "figures", "assets"},
    "db": {"core"},
    "core": set(),
    "config": set(),
}
PLAIN_TYPES = {
    f"survey.core.stimuli.{name}"
    for name in (*("blinding", "faults", "personal", "plan", "rankings", "words"),)
}
NOT_IN_CORE = {
    *("flask", "flask_babel", "flask_sqlalchemy", "flask_wtf", "matplotlib"),
    *("requests", "sqlalchemy", "wtforms"),
}


def imports_of(path):
    """The modules a file imports when it runs; imports for type checkers only are left out."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "survey":
                yield from (f"survey.{alias.name}" for alias in node.names)


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


MODULES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path):
    room = room_of(path)
    for name in imports_of(path):
        if name.startswith("survey.") and name != "survey.__version__":
            imported = name.split(".")[1]
            assert imported == room or imported in MAY_IMPORT[room], f"{room} imports {name}"
        if room == "core":
            assert name.split(".")[0] not in NOT_IN_CORE
        if room == "web" and name.startswith("survey.core"):
            assert name in PLAIN_TYPES, f"a page needs no {name}"


def test_the_package_itself_imports_nothing():
    assert list(imports_of(PACKAGE / "__init__.py")) == []


def test_the_core_has_no_clock_and_no_global_chance():
    for path in (PACKAGE / "core").rglob("*.py"):
        source = path.read_text()
        assert not re.search(r"\b(time\.time|datetime\.now|np\.random\.\w+\()", source), path
        assert "import secrets" not in source, path
        assert not re.search(r"^import random", source, re.MULTILINE), path


def test_all_selects_stand_in_queries():
    for path in MODULES:
        if path.parent != PACKAGE / "db" or not path.stem.endswith("queries"):
            assert not re.search(r"(?<!\.)\bselect\(", path.read_text()), path


def test_what_participants_receive_names_no_measure():
    names = [name for m in MEASURES.values() for name in (m.name, m.mean_name, m.label)]
    files = [*(ROOT / "static").iterdir(), *(ROOT / "templates").glob("*.html")]
    for path in [*files, *(ROOT / "templates" / "participant").iterdir()]:
        for name in names:
            assert not re.search(rf"\b{name}\b", path.read_text()), (path, name)
            assert name.lower() not in path.stem.lower().split("-")


def test_nothing_comes_from_elsewhere_and_nothing_is_inline():
    for path in (ROOT / "templates").rglob("*.html"):
        source = path.read_text()
        assert not re.search(r"(src|href)=\"(https?:)?//", source), path
        if path.name == "report.html":  # a file of its own, with all it needs in it
            source = source.replace("<style>", "")
        assert not re.search(r"<style|style=|<script(?! src)|\son\w+=", source), path


def test_templates_stay_under_a_hundred_lines():
    for path in (ROOT / "templates").rglob("*.html"):
        assert len(path.read_text().splitlines()) < 100, path
