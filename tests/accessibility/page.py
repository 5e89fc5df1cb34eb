"""Write into docs/accessibility.md what ``make accessibility`` found, between its markers."""

import json
import re
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

from tests.accessibility.conftest import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "accessibility.md"
BLOCK = re.compile(r"(<!-- checked -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = "| Page | State | Combinations | axe-core | Own checks |\n|---|---|---:|---:|---:|\n"


def table_of(rows: list[dict[str, Any]]) -> str:
    """A sentence with the sums, and a line for each page in each state."""
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["page"], row["state"]), []).append(row)
    listed = "".join(
        f"| {page} | {state} | {_sum(found, 'looks')} | {_sum(found, 'axe')} |"
        f" {_sum(found, 'others')} |\n"
        for (page, state), found in sorted(lines.items())
    )
    return f"{_summary(lines, rows)}\n\n{HEAD}{listed}"


def _summary(lines: dict[tuple[str, str], Any], rows: list[dict[str, Any]]) -> str:
    pages = len({page for page, _ in lines})
    return (
        f"{pages} pages in {len(lines)} states, {_sum(rows, 'looks')} combinations of state, "
        f"language, width and theme: axe-core {axe_version()} found {_sum(rows, 'axe')} faults, "
        f"our own checks {_sum(rows, 'others')}."
    )


def _sum(rows: list[dict[str, Any]], name: str) -> int:
    return sum(row[name] for row in rows)


def axe_version() -> str:
    """The version of axe-core that the tests run."""
    found = re.search(r"axe v([\d.]+)", AXE_SCRIPT[:200])
    assert found is not None
    return found[1]


if __name__ == "__main__":
    kept = [row for path in sorted(TABLE.glob("*.json")) for row in json.loads(path.read_text())]
    written = table_of(kept)
    PAGE.write_text(BLOCK.sub(lambda block: block[1] + written + block[2], PAGE.read_text()))
