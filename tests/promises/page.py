"""Write down what the tests of promises measured, and quote it in docs/promises.md.

Run by ``make promises``. Between ``<!-- measured: NAME -->`` and ``<!-- end -->`` are sentences of
the tests in ``test_NAME*.py``. ``measured.md`` has them all, with the newest of each test;
docs/promises.md has those of the tests that it names.
"""

import json
import re
from pathlib import Path

from tests.promises.conftest import MEASURED

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
RECORD = Path(__file__).parent / "measured.md"
BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LINE = re.compile(r"- (?P<sentence>.*) \(`(?P<test>[^`]*)`\)")


def recorded(record: str, notes: list[dict[str, str]]) -> str:
    """Return the record with these notes; sentences of tests that did not run stay."""

    def renew(block: re.Match[str]) -> str:
        lines = _sentences(block[3])
        lines |= {one["test"]: one["sentence"] for one in notes if one["promise"] == block[2]}
        return f"{block[1]}{_listed(lines, sorted(lines))}{block[4]}"

    return BLOCK.sub(renew, record)


def quoted(page: str, record: str) -> str:
    """Return the page with the record's sentences of the tests that it names."""
    lines = {block[2]: _sentences(block[3]) for block in BLOCK.finditer(record)}

    def renew(block: re.Match[str]) -> str:
        return f"{block[1]}{_listed(lines[block[2]], list(_sentences(block[3])))}{block[4]}"

    return BLOCK.sub(renew, page)


def _sentences(block: str) -> dict[str, str]:
    return {found["test"]: found["sentence"] for found in LINE.finditer(block)}


def _listed(lines: dict[str, str], tests: list[str]) -> str:
    return "".join(f"- {lines[test]} (`{test}`)\n" for test in tests)


if __name__ == "__main__":
    found = [json.loads(path.read_text()) for path in sorted(MEASURED.glob("*.json"))]
    RECORD.write_text(recorded(RECORD.read_text(), found))
    PAGE.write_text(quoted(PAGE.read_text(), RECORD.read_text()))
