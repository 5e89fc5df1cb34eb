"""The guides in docs/, as the pages of help show them, and the glossary's terms.

Everything is read from the files that came with this version, once for each process.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from survey.config import folder
from survey.errors import NotFoundError

if TYPE_CHECKING:
    from markdown_it.token import Token

INDEX = "README"  # the page that lists the others
GLOSSARY = "glossary"
# What a guide shows or links to, with its type; text is shown, never run.
FILE_TYPES = {
    **{".png": "image/png", ".gif": "image/gif"},
    **dict.fromkeys((".yaml", ".json", ".py", ".csv"), "text/plain"),
}
NAMED_BY_FILE = re.compile(r"[\w.-]+\.md")
TERM = re.compile(r"^- \*\*(?P<words>[^*]+)\*\*: (?P<meaning>.+(?:\n  .+)*)$", re.MULTILINE)
SCROLLS = 'tabindex="0" role="group" aria-label="{} {}"'  # a name, for what scrolls in itself
# Of HTML that Markdown makes, and no more: nh3 removes all else.
ALLOWED = {
    "a": {"href"},
    "img": {"src", "alt", "loading"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "pre": {"tabindex", "role", "aria-label"},
    "table": {"class"},
    "th": {"class", "scope"},
    "td": {"class"},
    **{name: {"id"} for name in ("h1", "h2", "h3", "h4")},
}
PLAIN = "p ul ol li code em strong blockquote hr br thead tbody tr"  # allowed without attributes


@dataclass(frozen=True)
class Section:
    """A heading of a guide below its title: ``level`` 2 or 3, its ``id`` in addresses, its text."""

    level: int
    id: str
    text: str


@dataclass(frozen=True)
class Guide:
    """A guide as HTML that is safe to show, with its title and its sections."""

    title: str
    sections: Sequence[Section]
    html: str


@cache
def guide_names() -> dict[str, Path]:
    """Return the files of the guides by their names, such as "tour" and "decisions/0009-speed"."""
    top = Path(folder("docs"))
    return {
        path.relative_to(top).with_suffix("").as_posix(): path for path in sorted(top.rglob("*.md"))
    }


def file_of_guides(name: str) -> tuple[Path, str]:
    """Return a file that guides show or link to, with its type; raises NotFoundError."""
    top = Path(folder("docs"))
    known = {path.relative_to(top).as_posix(): path for path in top.rglob("*.*")}
    if name not in known or (kind := FILE_TYPES.get(known[name].suffix)) is None:
        raise NotFoundError("The guides have no such file.")
    return known[name], kind


@lru_cache(maxsize=200)
def read_guide(name: str, address: str) -> Guide:
    """Return a guide; ``address``: of the index, below which the others are.

    Raises NotFoundError for an unknown name.
    """
    import nh3
    from markdown_it import MarkdownIt

    if name not in guide_names():
        raise NotFoundError("There is no guide of this name.")
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(guide_names()[name].read_text(encoding="utf-8"))
    sections = list(_name_headings(tokens))
    _name_what_scrolls(tokens)
    for token in tokens:
        if token.children:
            token.children = _with_addresses(token.children, name, address)
    html = parser.renderer.render(tokens, parser.options, {})
    tags = {*ALLOWED, *PLAIN.split()}
    html = nh3.clean(html, tags=tags, attributes=ALLOWED, link_rel=None)
    return Guide(sections[0].text, [item for item in sections if item.level in (2, 3)], html)


@cache
def title_of(name: str) -> str:
    """Return the title of a guide, its first heading."""
    return guide_names()[name].read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _name_headings(tokens: Sequence["Token"]) -> Iterator[Section]:
    """Give headings the ids that links name, and let those below the title link to themselves."""
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        words = re.sub(r"[^\w\- ]", "", inline.content.lower())
        opening.attrs["id"] = words.replace(" ", "-")
        text = "".join(child.content for child in inline.children or ())
        level = int(opening.tag[1])
        yield Section(level, str(opening.attrs["id"]), text)
        if level > 1 and not any(child.type == "link_open" for child in inline.children or ()):
            inline.children = _linked(inline.children or [], f"#{opening.attrs['id']}")


def _linked(children: list["Token"], target: str) -> list["Token"]:
    from markdown_it.token import Token

    link = Token("link_open", "a", 1, attrs={"href": target})
    return [link, *children, Token("link_close", "a", -1)]


def _name_what_scrolls(tokens: list["Token"]) -> None:
    """Put tables into regions that scroll, and name these and blocks of code, in place."""
    from markdown_it.token import Token

    tables, examples = count(1), count(1)
    for place, token in reversed([*enumerate(tokens)]):
        if token.type == "table_open":
            token.attrs["class"] = "listing"
        elif token.type == "th_open":
            has_text = bool(tokens[place + 1].content)
            tokens[place].tag = tokens[place + 2].tag = "th" if has_text else "td"
            token.attrs |= {"scope": "col"} if has_text else {}
        if "style" in token.attrs:  # a column of numbers; no page has styles of its own
            token.attrs["class"] = "number"
            del token.attrs["style"]
    placed: list[Token] = []
    for token in tokens:
        if token.type == "table_open":
            names = SCROLLS.format("Table", next(tables))
            placed.append(_html(f'<div class="scroll" {names}>'))
        if token.type in ("fence", "code_block"):
            names = SCROLLS.format("Example", next(examples))
            token = _html(f"<pre {names}><code>{_escaped(token.content)}</code></pre>\n")
        placed.append(token)
        if token.type == "table_close":
            placed.append(_html("</div>"))
    tokens[:] = placed


def _html(content: str) -> "Token":
    from markdown_it.token import Token

    return Token("html_block", "", 0, content=content)


def _escaped(text: str) -> str:
    from markdown_it.common.utils import escapeHtml

    return escapeHtml(text)


def _with_addresses(children: list["Token"], name: str, address: str) -> list["Token"]:
    """Return the parts of a line with the addresses of help in place of the files' names.

    A link to a file that is not among the guides becomes its text. A link that is called like its
    file gets the title of the guide.
    """
    base = Path(folder("docs")) / f"{name}.md"
    kept: list[Any] = []
    ends: list[bool] = []
    for token in children:
        if token.type == "image":
            token.attrs["src"] = _address(base, str(token.attrs["src"]), address) or ""
            token.attrs["loading"] = "lazy"
        elif token.type == "link_open":
            target = _address(base, str(token.attrs["href"]), address)
            ends.append(target is not None)
            if target is None:
                continue
            token.attrs["href"] = target
        elif token.type == "link_close" and not ends.pop():
            continue
        elif kept and kept[-1].type == "link_open" and NAMED_BY_FILE.fullmatch(token.content):
            guide = str(kept[-1].attrs["href"]).removeprefix(f"{address}/").partition("#")[0]
            token.content = title_of(guide) if guide in guide_names() else token.content
        kept.append(token)
    return kept


def _address(base: Path, target: str, address: str) -> str | None:
    """Return where a link of the guide in file ``base`` leads; None for a file elsewhere."""
    path, sign, place = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    top = Path(folder("docs"))
    file = (base.parent / path).resolve()
    if not file.is_file() or not file.is_relative_to(top.resolve()):
        return None
    name = file.relative_to(top.resolve()).as_posix()
    if file.suffix == ".md":
        name = name.removesuffix(".md")
        return f"{address}{sign}{place}" if name == INDEX else f"{address}/{name}{sign}{place}"
    return f"{address}/files/{name}" if file.suffix in FILE_TYPES else None


@cache
def glossary() -> dict[str, str]:
    """Return the meanings of the glossary's terms, each also under its other names."""
    text = guide_names()[GLOSSARY].read_text(encoding="utf-8")
    return {
        word: " ".join(entry["meaning"].split())
        for entry in TERM.finditer(text)
        for word in entry["words"].split(", ")
    }
