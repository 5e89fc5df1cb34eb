"""Write into docs/accessibility.md what ``make accessibility`` found, between its markers.

The page has the sums; ``checked.csv`` a row for each page in each state.
"""

import csv
import json
import re
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

from tests.accessibility.conftest import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "accessibility.md"
RECORD = Path(__file__).parent / "checked.csv"
BLOCK = re.compile(r"(<!-- checked -->\n).*?(<!-- end -->)", re.DOTALL)
COUNTS = ("combinations", "axe_core", "own_checks")


def record_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each page in each state, with the sums of what was looked at and found."""
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["page"], row["state"]), []).append(row)
    return [
        {
            "page": page,
            "state": state,
            "combinations": _sum(found, "looks"),
            "axe_core": _sum(found, "axe"),
            "own_checks": _sum(found, "others"),
        }
        for (page, state), found in sorted(lines.items())
    ]


def read_record() -> list[dict[str, Any]]:
    """Return the rows of ``checked.csv``."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        return [row | {name: int(row[name]) for name in COUNTS} for row in csv.DictReader(file)]


def write_record(rows: list[dict[str, Any]]) -> None:
    """Write ``checked.csv``."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["page", "state", *COUNTS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def summary(rows: list[dict[str, Any]]) -> str:
    """Return a sentence with the sums."""
    pages = len({row["page"] for row in rows})
    return (
        f"{pages} pages in {len(rows)} states, {_sum(rows, 'combinations')} combinations of state, "
        f"language, width and theme: axe-core {axe_version()} found "
        f"{_sum(rows, 'axe_core')} faults, our own checks {_sum(rows, 'own_checks')}."
    )


def quoted(page: str, rows: list[dict[str, Any]]) -> str:
    """Return the page with the sums of these rows."""
    return BLOCK.sub(lambda block: f"{block[1]}{summary(rows)}\n{block[2]}", page)


def _sum(rows: list[dict[str, Any]], name: str) -> int:
    return sum(row[name] for row in rows)


def axe_version() -> str:
    """The version of axe-core that the tests run."""
    found = re.search(r"axe v([\d.]+)", AXE_SCRIPT[:200])
    assert found is not None
    return found[1]


if __name__ == "__main__":
    kept = [row for path in sorted(TABLE.glob("*.json")) for row in json.loads(path.read_text())]
    write_record(record_rows(kept))
    PAGE.write_text(quoted(PAGE.read_text(), read_record()))
