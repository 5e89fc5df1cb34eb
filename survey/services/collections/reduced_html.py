"""HTML that researchers give, reduced to text and its layout before it is stored."""

import re
from collections import Counter
from typing import NamedTuple

import nh3

from survey.core.collections.texts import text_of_html

# An element that is neither here nor in REMOVED goes and leaves its text.
TAGS = {
    *("p", "br", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("b", "strong", "i", "em", "sub", "sup"),
    *("ul", "ol", "li", "blockquote", "pre", "code"),
    *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"),
}
# They become paragraphs: else <div>a</div><div>b</div> would read "ab".
BLOCKS = {
    *("div", "section", "article", "main", "header", "footer", "aside", "nav", "address"),
    *("figure", "figcaption", "dl", "dt", "dd", "details", "summary", "fieldset", "center", "hr"),
}
PICTURE_TAGS = {"img", "svg"}
REMOVED = {  # with all that is in them
    *("head", "title", "script", "style", "noscript", "template"),
    *("form", "button", "input", "select", "textarea"),
    *("frame", "frameset", "iframe", "object", "embed", "applet", "dialog"),
    *("svg", "math", "audio", "video", "canvas", "map"),
}
CELL_ATTRIBUTES = {"colspan": re.compile(r"[1-9]\d{0,2}"), "rowspan": re.compile(r"[1-9]\d{0,2}")}
VALUES = {
    "dir": re.compile(r"ltr|rtl|auto", re.IGNORECASE),
    "lang": re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*"),
    **CELL_ATTRIBUTES,
}
# Writing elements takes the square of their depth: 200,000 characters of <ul><li> took 24 seconds.
MOST_NESTED = 2_500
TAG_NAME = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
# The next of them, or the end of what is around, ends them: their tags nest nothing.
UNNESTED_TAGS = {
    *("p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option"),
    *("br", "hr", "img", "col", "wbr", "input", "meta", "link", "base", "area", "embed", "source"),
}
BLOCK_TAG = re.compile(rf"<(/?)(?:{'|'.join(sorted(BLOCKS))})\b([^<>]*)>")
EMPTY = re.compile(r"<p\b[^<>]*>\s*</p>")


class Reduced(NamedTuple):
    """HTML that is safe to show, and how many links became text and pictures were left out."""

    html: str
    links: int = 0
    pictures: int = 0


def reduce_html(html: str) -> Reduced:
    """Return HTML with the elements of TAGS and the attributes of VALUES alone; "" without text.

    Links leave their text. Scripts, styles, forms, frames, SVG and media leave nothing.
    """
    tags = _tags_in(html)
    blocks = _cleaned(html, TAGS | BLOCKS)  # in which < is nothing but the beginning of a tag
    reduced = EMPTY.sub("", _cleaned(BLOCK_TAG.sub(r"<\1p\2>", blocks), TAGS)).strip()
    pictures = sum(tags[name] for name in PICTURE_TAGS)
    return Reduced(reduced if text_of_html(reduced) else "", tags["a"], pictures)


def is_too_nested(html: str) -> bool:
    """Return whether elements are in one another more than MOST_NESTED deep, by their tags."""
    opened: Counter[str] = Counter()
    depth = 0
    for slash, name in TAG_NAME.findall(html):
        tag = name.lower()
        if tag in UNNESTED_TAGS or (slash and not opened[tag]):
            continue
        step = -1 if slash else 1
        opened[tag] += step
        depth += step
        if depth > MOST_NESTED:
            return True
    return False


def _cleaned(html: str, tags: set[str]) -> str:
    attributes = {
        "*": VALUES.keys() - CELL_ATTRIBUTES.keys(),
        "th": {*CELL_ATTRIBUTES},
        "td": {*CELL_ATTRIBUTES},
    }
    return nh3.clean(
        html,
        tags=tags,
        clean_content_tags=REMOVED,
        attributes=attributes,
        attribute_filter=_checked_value,
        link_rel=None,
    )


def _checked_value(_: str, name: str, value: str) -> str | None:
    return value if name in VALUES and VALUES[name].fullmatch(value) else None


def _tags_in(html: str) -> Counter[str]:
    """Count the links, those that lead somewhere, and the pictures that a reader would see."""
    tags: Counter[str] = Counter()

    def count(tag: str, name: str, _: str) -> None:
        tags.update(["a"] * (tag == "a" and name == "href"))

    shown = nh3.clean(
        html,
        tags={"a", *PICTURE_TAGS},
        clean_content_tags=REMOVED - PICTURE_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=count,
        link_rel=None,
    )
    tags.update(re.findall(r"<(img|svg)>", shown))
    return tags
