"""What a page says of itself: language, title, headings, landmarks, tables, fields.

It is read from the page as it was sent, which is what a browser without scripts shows too.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from bs4 import BeautifulSoup, Tag

from tests.accessibility.sights import Fault, Sight, is_error

GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]{2,}")
LATIN = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}")  # a phrase, rather than a name
ERROR = {"en": "Error: ", "el": "Σφάλμα: "}
UNSPOKEN = "script, style, code, pre, svg, [hidden], option, textarea, input"
UNREAD = ("script", "style")
FILLED_IN_BY_BROWSERS = {"name": "username", "password": "current-password"}


def _language(page: BeautifulSoup, sight: Sight) -> Iterator[str]:
    said = page.html.get("lang") if page.html else None
    if said != sight.language:
        yield f"the page says it is in {said}"
    for text in page.body.find_all(string=True):
        parent, *others = around = list(text.parents)
        if parent.name in UNREAD or any(tag.name in (*UNREAD, "svg") for tag in others):
            continue
        spoken = next(tag["lang"] for tag in around if tag.get("lang"))
        if spoken == "en" and GREEK.search(text):
            yield f"Greek in English: <{parent.name}> {text.strip()[:50]!r}"
        if spoken == "el" and LATIN.search(text) and not parent.find_parent("code"):
            yield f"English in Greek: <{parent.name}> {text.strip()[:50]!r}"
    for tag in page.select("[aria-label], [title], [alt], [placeholder]"):
        spoken = next(one["lang"] for one in [tag, *tag.parents] if one.get("lang"))
        for name in ("aria-label", "title", "alt", "placeholder"):
            if spoken == "el" and LATIN.search(str(tag.get(name, ""))):
                yield f"English in Greek: {name}={tag[name]!r}"


def _title(page: BeautifulSoup, sight: Sight) -> Iterator[str]:
    title = page.title.get_text(strip=True) if page.title else ""
    if not title:
        yield "no title"
    if title.startswith(ERROR[sight.language]) != is_error(sight):
        yield f"the title is {title!r}"


def _headings(page: BeautifulSoup, _: Sight) -> Iterator[str]:
    levels = [int(tag.name[1]) for tag in page.select("h1, h2, h3, h4, h5, h6")]
    if levels.count(1) != 1:
        yield f"{levels.count(1)} headings of the first level"
    for before, after in pairwise(levels):
        if after > before + 1:
            yield f"a heading of level {after} comes after one of level {before}"


def _landmarks(page: BeautifulSoup, _: Sight) -> Iterator[str]:
    if len(page.select("main, [role=main]")) != 1:
        yield f"{len(page.select('main, [role=main]'))} main landmarks"
    named = [tag.get("aria-label") or tag.get("aria-labelledby") for tag in page.select("nav")]
    if len(named) > 1 and (None in named or len(set(named)) < len(named)):
        yield f"navigations that cannot be told apart: {named}"
    first = page.body.select_one("a[href], button, input, select, textarea, summary")
    aim = first.get("href", "") if first else ""
    is_inside = first is not None and first.find_parent("main") is not None
    if (
        first is not None
        and not is_inside
        and not (aim.startswith("#") and page.select_one(aim) is page.select_one("main"))
    ):
        yield f"the first stop is not a way past the top: {first}"


def _ids(page: BeautifulSoup, _: Sight) -> Iterator[str]:
    ids = [tag["id"] for tag in page.select("[id]")]
    yield from (f"the id {one} occurs twice" for one in sorted(set(ids)) if ids.count(one) > 1)
    for tag in page.select("[aria-describedby], [aria-labelledby], [aria-controls]"):
        for name in ("aria-describedby", "aria-labelledby", "aria-controls"):
            lost = set(str(tag.get(name, "")).split()) - set(ids)
            if lost:
                yield f"{name} names {', '.join(sorted(lost))}, which is not there"


def _tables(page: BeautifulSoup, _: Sight) -> Iterator[str]:
    for table in page.select("table"):
        name = table.caption or table.get("aria-label") or table.get("aria-labelledby")
        around = table.find_parent(attrs={"aria-label": True, "role": "region"})
        before = table.find_previous(["h1", "h2", "h3", "summary"])
        if not (name or around or before):
            yield f"a table without a name: {table.get_text(' ', strip=True)[:40]}"
        for header in table.select("th:not([scope])"):
            yield f"a header without a scope: {header.get_text(' ', strip=True)}"
        for header in table.select("th"):
            if not header.get_text(strip=True) and not header.get("aria-label"):
                yield f"an empty header in {table.get_text(' ', strip=True)[:40]}"


def _fields(page: BeautifulSoup, sight: Sight) -> Iterator[str]:
    hidden = "[type=hidden], [type=submit], [type=checkbox], [type=radio]"
    for field in page.select("input, select, textarea"):
        if not _label(page, field) and field.get("type") not in ("hidden", "submit"):
            yield f"a field without a label: {field.get('name')}"
    for field in page.select(f"input:not({hidden})"):
        kind, purpose = field.get("type"), field.get("autocomplete")
        if kind == "password" and purpose not in ("current-password", "new-password"):
            yield f"1.3.5: {field['name']} has autocomplete={purpose}"
        if field.get("name") == "name" and sight.page == "Sign in" and purpose != "username":
            yield f"1.3.5: {field['name']} has autocomplete={purpose}"
        if kind == "password" and (field.has_attr("readonly") or field.has_attr("onpaste")):
            yield f"3.3.8: {field['name']} cannot be pasted into"


def _label(page: BeautifulSoup, field: Tag) -> str:
    label = field.get("id") and page.select_one(f"label[for='{field['id']}']")
    label = label or field.find_parent("label")
    told = field.get("aria-label") or field.get("aria-labelledby")
    pictures = " ".join(str(each.get("alt", "")) for each in label.select("img")) if label else ""
    return str(told or (label.get_text(strip=True) or pictures if label else ""))


def _time(page: BeautifulSoup, _: Sight) -> Iterator[str]:
    if page.select("meta[http-equiv=refresh]"):
        yield "2.2.1: the page leaves by itself"
    viewport = page.select_one("meta[name=viewport]")
    if viewport is None or re.search(r"maximum-scale|user-scalable", viewport["content"]):
        yield f"1.4.4: zooming is limited: {viewport}"


def _pressed(page: BeautifulSoup, _: Sight) -> Iterator[str]:
    """Links lead somewhere, buttons do something; each says what, read alone."""
    for tag in page.select("a, button:not([aria-hidden=true]), summary"):
        said = tag.get("aria-label") or tag.get_text(" ", strip=True) or tag.get("title")
        if not said and not tag.select("img[alt], svg[aria-label]"):
            yield f"nothing is said of {tag}"
    for tag in page.select("a:not([href]), [onclick], [role=button]:not(button)"):
        yield f"2.1.1: {tag.name} is made a button: {tag.get_text(' ', strip=True)[:40]}"


CHECKS: dict[str, Callable[[BeautifulSoup, Sight], Iterator[str]]] = {
    "language": _language,
    "title": _title,
    "headings": _headings,
    "landmarks": _landmarks,
    "ids": _ids,
    "tables": _tables,
    "fields": _fields,
    "time and zoom": _time,
    "links and buttons": _pressed,
}


def faults_in(sight: Sight) -> list[Fault]:
    """All that the page's source lacks."""
    page = BeautifulSoup(sight.body, "html.parser")
    for picture in page.select("[inert] > template"):
        picture.decompose()  # a shadow root: its ids are its own, and no one reaches it
    found = ((name, one) for name, check in CHECKS.items() for one in check(page, sight))
    return [Fault(name, "source", one) for name, one in found]
