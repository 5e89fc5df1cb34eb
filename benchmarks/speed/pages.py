"""Quoting the kept figures: between ``<!-- speed: NAME -->`` and ``<!-- end -->``.

``headlines`` are the findings of all parts that matter most; NAME is a part, whose other findings
are listed; ``NAME growth`` its growth; ``NAME run`` when and where it ran. Prose around the blocks
is written by hand and gives no figure of its own. Notes, how a part was measured and what is in
``RECORD_ONLY`` are in ``results/`` alone.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.part import OURS, Finding, Growth, Part, kept
from benchmarks.speed.parts import NAMES

# Findings on which nobody who reads the page acts.
RECORD_ONLY = frozenset(
    {
        "the same from rows of bytes",
        "the same, a half of the lists in each of two threads",
        "the five lists of a question, the same measures",
        "32 participants without a pause: ours, answers acknowledged",
        "300 people who read, for 5 minutes, answers acknowledged",
        "32 without a pause: nginx, two processes, PostgreSQL, answers acknowledged",
        "the same of an application that only stores a row and returns a fixed page: against "
        "oTree's",
        "A question shown (GET), writes",
        "An answer stored (POST), writes",
        "A question's page",
        "1,000,000 participants × 10 questions from SQLite: of this the reading",
        "1,000,000 participants × 10 questions from SQLite: processor time of our process",
        "1,000,000 participants × 10 questions from PostgreSQL: of this the reading",
        "1,000,000 participants × 10 questions from PostgreSQL: processor time of our process",
        "the tables of a bundle of 10,000,000 answers from PostgreSQL: size of the zip",
        "taking in 10,000 pictures of 1000 × 750 (100 kB each): processor time",
        "30 people open a question with pictures at once: the first picture, median",
        "the results page of 30 participants × 10 questions: the figure of its first screen",
        "the results page of 300 participants × 50 questions: the figure of its first screen",
        "the results page of 300 participants × 50 questions, the first of a process",
        "200 whole studies of 30 × 10: blinded, voted, every figure of the analysis",
        "the same beside Python that does nothing",
    }
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "speed.md"
BLOCK = re.compile(r"(<!-- speed: (\w+)( growth| run)? -->\n).*?(<!-- end -->)", re.DOTALL)


def quoted(page: str) -> str:
    """Return a page with the kept figures in its blocks."""
    return BLOCK.sub(lambda block: f"{block[1]}{_told(block[2], block[3] or '')}{block[4]}", page)


def _told(name: str, of: str) -> str:
    if name == "headlines":
        return findings_table(
            [one for part in NAMES for one in kept(part)[0].findings if one.headline], brief=True
        )
    part, run = kept(name)
    if of == " growth":
        return growth_lines(part.growth)
    if of == " run":
        return ran(part, run)
    listed = [one for one in part.findings if not one.headline and one.what not in RECORD_ONLY]
    return findings_table(listed, brief=True)


def findings_table(findings: Sequence[Finding], *, brief: bool = False) -> str:
    """Return one row a finding: what, how much, what was to be reached.

    ``brief``: without notes, and with "…" for a beginning that repeats the row before.
    """
    rows = ["| Measured | Found | To reach |", "|---|---|---|"]
    before = ""
    for one in findings:
        reached = {None: "", True: f"{one.target}", False: f"{one.target}: **missed**"}[one.reached]
        what = shortened(one.what, before) if brief else f"{one.what}{_note(one)}"
        rows.append(f"| {what} | {number(one.value)} {one.unit}{_spread(one)} | {reached} |")
        before = one.what
    return "\n".join(rows) + "\n"


def shortened(what: str, before: str) -> str:
    """Return the words of a row with "…" for those, up to a comma or colon, of the row before."""
    if what == before:
        return "…"
    for end in reversed([found.start() for found in re.finditer("[:,] ", what)]):
        if re.match(rf"{re.escape(what[:end])}([:,] |$)", before):
            return f"…{what[end + 1 :]}"
    return what


def _note(one: Finding) -> str:
    return f" ({one.note})" if one.note else ""


def _spread(one: Finding) -> str:
    low, high = number(min(one.rounds)), number(max(one.rounds))
    return "" if low == high else f" ({low}–{high})"


def growth_lines(growths: Sequence[Growth]) -> str:
    """Return a line for each growth: the cost at each size."""
    lines, before = [], ""
    for one in growths:
        sizes = "; ".join(f"{size:,}" for size in one.sizes)
        values = "; ".join(number(value) for value in one.values)
        what = shortened(one.what, before)
        lines.append(f"- {what} with {sizes} {one.grows}: {values} {one.unit}\n")
        before = one.what
    return "".join(lines)


def ran(part: Part, run: dict[str, Any]) -> str:
    """Say when, on what machine and beside which peers and servers a part ran."""
    machine = run["machine"]
    libraries = OURS[:-1]  # all but the server
    others = [f"; {name} {part.versions[name]}" for name in part.versions if name not in libraries]
    return (
        f"*{run['on']}: {machine['processors']} processors ({machine['processor']}), "
        f"{machine['memory_gb']} GB{''.join(others)}.*\n"
    )


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
