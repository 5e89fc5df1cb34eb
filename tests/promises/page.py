"""Quote in docs/promises.md what the tests of its promises measured.

Run by ``make promises``. Between ``<!-- measured: NAME -->`` and ``<!-- end -->`` stand the
sentences of the tests in ``test_NAME*.py``; sentences of tests that did not run stay.
"""

import json
import re
from pathlib import Path

from tests.promises.conftest import MEASURED

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LINE = re.compile(r"- (?P<sentence>.*) \(`(?P<test>[^`]*)`\)")


def quoted(page: str, notes: list[dict[str, str]]) -> str:
    """Return the page with these notes in the blocks of their promises."""

    def renew(block: re.Match[str]) -> str:
        lines = {found["test"]: found["sentence"] for found in LINE.finditer(block[3])}
        lines |= {one["test"]: one["sentence"] for one in notes if one["promise"] == block[2]}
        listed = "".join(f"- {lines[test]} (`{test}`)\n" for test in sorted(lines))
        return f"{block[1]}{listed}{block[4]}"

    return BLOCK.sub(renew, page)


if __name__ == "__main__":
    found = [json.loads(path.read_text()) for path in sorted(MEASURED.glob("*.json"))]
    PAGE.write_text(quoted(PAGE.read_text(), found))
