"""Read a page of the documentation: its blocks, in order, and what they are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

# A fenced block, or lines that are indented by four and stand alone.
BLOCK = re.compile(
    r"^```(?P<info>[^\n`]*)\n(?P<fenced>.*?)^```$|(?<=\n\n)(?P<indented>(?: {4}[^\n]*\n+)+)",
    re.MULTILINE | re.DOTALL,
)
COMMANDS = ("survey ", "make ")


@dataclass(frozen=True)
class Block:
    """``language``: the first word after the fence; ``name``: the file it is, or ""."""

    language: str
    name: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The shell's lines, continued ones joined, without comments of their own."""
        lines = (line.strip() for line in self.text.replace("\\\n", " ").splitlines())
        return [line for line in lines if line and not line.startswith("#")]


def blocks_of(page: Path) -> Iterator[Block]:
    """Give a page's blocks from top to bottom."""
    for found in BLOCK.finditer(page.read_text()):
        if found["indented"] is not None:
            text = re.sub(r"^ {4}", "", found["indented"], flags=re.MULTILINE)
            yield Block("sh" if text.startswith(COMMANDS) else "", "", text)
        else:
            language, _, name = found["info"].partition(" ")
            yield Block(language, name.strip(), found["fenced"])


def block_of(page: Path, name: str) -> str:
    """Return the text of the file that a page gives."""
    return next(block.text for block in blocks_of(page) if block.name == name)


def page_named(name: str) -> Path:
    """Return a page by its file's name."""
    return next(page for page in PAGES if page.name == name)
