"""Quoting the kept figures: between ``<!-- speed: NAME -->`` and ``<!-- end -->``.

NAME is a part, whose findings are listed; ``NAME growth`` its growth; ``NAME run`` when and
where it ran; ``headlines`` are the findings of all parts that matter most. Prose
around the blocks is written by hand and gives no figure of its own.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.part import Finding, Growth, Part, kept
from benchmarks.speed.parts import NAMES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "speed.md"
BLOCK = re.compile(r"(<!-- speed: (\w+)( growth| run)? -->\n).*?(<!-- end -->)", re.DOTALL)


def quoted(page: str) -> str:
    """Return a page with the kept figures in its blocks."""
    return BLOCK.sub(lambda block: f"{block[1]}{_told(block[2], block[3] or '')}{block[4]}", page)


def _told(name: str, of: str) -> str:
    if name == "headlines":
        return findings_table(
            [one for part in NAMES for one in kept(part)[0].findings if one.headline]
        )
    part, run = kept(name)
    if of == " growth":
        return "\n".join(growth_table(one) for one in part.growth)
    if of == " run":
        return ran(part, run)
    return findings_table(part.findings)


def findings_table(findings: Sequence[Finding]) -> str:
    """Return one row a finding: what, how much, what was to be reached."""
    rows = ["| Measured | Found | To reach |", "|---|---|---|"]
    for one in findings:
        reached = {None: "", True: f"{one.target}", False: f"{one.target}: **missed**"}[one.reached]
        rows.append(
            f"| {one.what}{_note(one)} | {number(one.value)} {one.unit}{_spread(one)} | {reached} |"
        )
    return "\n".join(rows) + "\n"


def _note(one: Finding) -> str:
    return f" ({one.note})" if one.note else ""


def _spread(one: Finding) -> str:
    low, high = number(min(one.rounds)), number(max(one.rounds))
    return "" if low == high else f" ({low}–{high})"


def growth_table(growth: Growth) -> str:
    """Return a growth as a table: a column a size."""
    sizes = " | ".join(f"{size:,}" for size in growth.sizes)
    values = " | ".join(f"{number(value)} {growth.unit}" for value in growth.values)
    return (
        f"| {growth.grows} | {sizes} |\n|---|{'---|' * len(growth.sizes)}\n"
        f"| {growth.what} | {values} |\n"
    )


def ran(part: Part, run: dict[str, Any]) -> str:
    """Say when and on what machine a part ran, and how it was measured."""
    machine = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in part.versions.items())
    where = (
        f"{machine['processors']} processors ({machine['processor']}), {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}, {versions}; {run['on']}"
    )
    return f"*{where}.* {' '.join(part.said)}\n"


def number(value: float) -> str:
    """Print three significant digits, whole numbers whole."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - int(f"{value:e}".partition("e")[2]))
    return f"{value:.{digits}f}"


def renew() -> bool:
    """Write the kept figures into the page; return whether it changed."""
    before = PAGE.read_text(encoding="utf-8")
    after = quoted(before)
    PAGE.write_text(after, encoding="utf-8")
    return after != before
