"""Rules about files: which module may import which, and what participants' files may not say.

A rule is one test; it collects the faults of all files, and each fault names its file.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

from survey.core.measures import MEASURES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "survey"
TEMPLATES = ROOT / "templates"

MAY_IMPORT = {
    "__main__": {"cli"},
    "figures": {"core"},
    "app": {"web", "services", "db", "core", "config"},
    "server": {"metrics", "own_process", "request_limits", "service_manager", "worker"},
    "https": {"worker"},
    "logs": set(),
    "metrics": {"worker"},
    "own_process": set(),
    "service_manager": set(),
    "worker": set(),
    "request_limits": set(),
    "kinds": {"web", "services", "figures", "db", "core", "errors"},
    "paper": {"services", "figures", "core", "errors"},
    "notebook": {"services", "paper", "core", "errors"},
    "web": {"services", "paper", "core", "errors", "tokens"},  # of core only plain types, see below
    "cli": {
        *("services", "paper", "app", "server", "config", "errors", "tokens"),
        *("https", "logs", "metrics", "release", "worker"),
    },
    "services": {"db", "core", "figures", "config", "errors", "tokens", "release"},
    "db": {"core"},
    "core": set(),
    "config": set(),
    "errors": set(),
    "tokens": set(),
    "release": set(),
}
PLAIN_TYPES = {
    f"survey.core.studies.{name}" for name in ("fields", "plan", "questions", "rankings")
} | {
    "survey.core.agreement.answers",
    "survey.core.kind",
    "survey.core.kinds",
    "survey.core.text_input",
}
NOT_IN_CORE = {
    *("flask", "flask_babel", "flask_sqlalchemy", "flask_wtf", "matplotlib"),
    *("requests", "sqlalchemy", "wtforms"),
}

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the names that a file imports, and whether only type checkers do."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    unused = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in unused) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            # The dots stay in the name: no rule allows it.
            yield "." * node.level + (node.module or ""), False
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = names & MODULES.keys()
            yield from ((name, id(node) in unused) for name in modules)
            if modules < names:
                yield node.module, id(node) in unused


@cache
def imports() -> dict[str, set[tuple[str, bool]]]:
    """Return what each module imports, as ``imports_of`` has it."""
    return {name: set(imports_of(path)) for name, path in MODULES.items()}


def place(module: str) -> tuple[str, ...]:
    """Return a module's folders and its file, without the suffix."""
    return MODULES[module].relative_to(ROOT).with_suffix("").parts


def neighbours() -> dict[str, dict[str, set[str]]]:
    """Return for each folder which of its files and folders imports which, to any depth.

    A circle of files or folders anywhere is a circle in the folder that holds all of it.
    Imports for type checkers count: a reader follows them too.
    """
    folders: dict[str, dict[str, set[str]]] = {}
    for name, names in imports().items():
        for imported in {imported for imported, _ in names} & MODULES.keys() - {name}:
            pairs = zip(place(name), place(imported), strict=False)
            shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
            graph = folders.setdefault("/".join(shared), {})
            graph.setdefault(place(name)[len(shared)], set()).add(place(imported)[len(shared)])
    return folders


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all that a node leads to; itself only where a circle leads back."""
    seen: set[str] = set()
    ahead = [*graph.get(start, ())]
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            ahead += graph.get(node, ())
    return seen


def circles(graph: dict[str, set[str]]) -> set[str]:
    """Return each largest set of nodes that all lead to one another, by their names."""
    reach = {node: reached(graph, node) for node in graph}
    return {
        ", ".join(sorted(other for other in ahead if node in reach.get(other, ())))
        for node, ahead in reach.items()
        if node in ahead
    }


def room_of(module: str) -> str:
    """Return the first part of a module's name below ``survey``."""
    return module.split(".")[1]


def import_faults() -> Iterator[str]:
    """Yield each import that the table of rooms forbids."""
    for module, pairs in imports().items():
        names = sorted(name for name, only_for_type_checkers in pairs if not only_for_type_checkers)
        if module == "survey":
            # Every command waits for it; importlib imports what a notebook names, when it does.
            heavy = (name for name in names if name != "importlib")
            yield from (f"survey/__init__.py imports {name}" for name in heavy)
            continue
        room = room_of(module)
        file = MODULES[module].relative_to(ROOT)
        for name in names:
            if name.startswith("."):
                yield f"{file}: relative import of {name}"
            elif name.startswith("survey."):
                if room_of(name) != room and room_of(name) not in MAY_IMPORT[room]:
                    yield f"{file}: {room} imports {name}"
                if room == "web" and room_of(name) == "core" and name not in PLAIN_TYPES:
                    yield f"{file}: a page needs no {name}"
            elif room == "core" and name.split(".")[0] in NOT_IN_CORE:
                yield f"{file}: core imports {name}"


def matches(paths: list[Path], pattern: str) -> list[str]:
    """Return what a pattern finds in files, each match with its file and line."""
    texts = {path: path.read_text() for path in paths}
    return [
        f"{path.relative_to(ROOT)}:{text[: match.start()].count(chr(10)) + 1}: {match[0].strip()}"
        for path, text in texts.items()
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]


def test_a_module_imports_only_what_its_room_may():
    assert list(import_faults()) == []


def test_no_kind_of_question_imports_another():
    kinds = {path.name for path in (PACKAGE / "kinds").iterdir() if path.is_dir()}
    faults = [
        f"{module} imports {name}"
        for module, pairs in imports().items()
        for name, _ in pairs
        if name.startswith("survey.kinds.") and module.startswith("survey.kinds.")
        if len({part for each in (module, name) for part in each.split(".")[2:3]} & kinds) > 1
    ]
    assert faults == []


def test_no_files_or_folders_import_one_another_in_a_circle():
    named = {f"{folder}: {c}" for folder, graph in neighbours().items() for c in circles(graph)}
    assert sorted(named) == []


def test_a_circle_is_named_by_all_of_its_members():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert circles(graph) == {"b, c", "d, e"}


def test_the_core_has_no_clock_and_no_global_chance():
    clock = r"\b(time\.time|datetime\.now|np\.random\.\w+\()|import secrets|^import random"
    assert matches(sorted((PACKAGE / "core").rglob("*.py")), clock) == []


def test_all_selects_are_in_queries():
    queries = {*(PACKAGE / "db").glob("*queries.py"), *(PACKAGE / "kinds").rglob("*queries.py")}
    elsewhere = sorted(set(MODULES.values()) - queries)
    assert matches(elsewhere, r"(?<!\.)\bselect\(") == []


def test_what_participants_receive_names_no_measure():
    names = [name for m in MEASURES.values() for name in (m.name, m.mean_name, m.label)]
    files = [*(ROOT / "static").iterdir(), *TEMPLATES.glob("*.html")]
    files += (TEMPLATES / "participant").rglob("*.html")
    texts = [path for path in files if path.suffix != ".woff2"]
    assert matches(texts, rf"\b({'|'.join(names)})\b") == []
    titles = {name.lower() for name in names}
    assert [path for path in files if titles & set(path.stem.lower().split("-"))] == []


def test_nothing_comes_from_another_site():
    pages = sorted(TEMPLATES.rglob("*.html"))
    assert matches(pages, r"(src|href)=\"(https?:)?//") == []


def test_no_template_holds_styles_or_scripts():
    # The report is a file of its own, with its styles in it; JSON-LD is data, which nothing runs.
    pages = set(TEMPLATES.rglob("*.html"))
    report = {path for path in pages if path.name == "report.html"}
    script = r"<script(?! src| type=\"application/ld\+json\">)"
    assert matches(sorted(pages - report), rf"<style|style=|{script}|\son\w+=") == []
    assert matches(sorted(report), r"<style(?!>)|style=|<script(?! src)|\son\w+=") == []


def test_templates_have_fewer_than_a_hundred_lines():
    lengths = {path: len(path.read_text().splitlines()) for path in TEMPLATES.rglob("*.html")}
    assert [path for path, length in lengths.items() if length >= 100] == []
