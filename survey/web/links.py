"""Links as people get them: what mails, chats and platforms change in an address is undone."""

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, quote, unquote

from flask import Flask, redirect, request
from flask.typing import ResponseReturnValue

from survey.core.text_input import SLUG, UNSEEN, without_unseen_ends

UNCHANGED = re.compile(
    r"/studies/?|/(s|studies)/[a-z0-9-]*[a-z0-9](/[\w./-]*\w)?/?|/research/welcome/[\w-]+", re.ASCII
)
OF_STUDIES = re.compile(r"/(s|studies)/+([^/]+)(.*)", re.IGNORECASE | re.DOTALL)
LIST_OF_STUDIES = re.compile(r"/studies[^A-Za-z0-9]*", re.IGNORECASE)
OF_RESEARCHERS = re.compile(r"(/research/welcome/[A-Za-z0-9_-]+)[^A-Za-z0-9_-]+")
QUERY = re.compile(r"[?&]")
IN_QUERIES = "=&?;%+,/:@!$'()*~"
# What follows a link in a sentence. A placeholder's brackets are no such tail.
TAIL = re.compile(rf"[.,;:!?)>\]'\"’”»\s{UNSEEN}]+\Z")


def init_app(app: Flask) -> None:
    """Lead on from changed addresses before any page looks at them."""
    app.before_request(_lead_on)


def _lead_on() -> ResponseReturnValue | None:
    """Redirect from an address that was changed on its way to the one that was sent."""
    if request.method not in ("GET", "HEAD") or UNCHANGED.fullmatch(request.path):
        return None
    path, query = _meant(request.path)
    if (path, query) == (request.path, ""):
        return None
    sent = request.query_string.decode(errors="replace")
    query = quote("&".join(filter(None, (query, sent))), safe=IN_QUERIES)
    return redirect(f"{request.script_root}{quote(path)}{query and '?' + query}")


def _meant(path: str) -> tuple[str, str]:
    """Return the path and the query that a changed path was; the same path where it was not."""
    if of_researchers := OF_RESEARCHERS.fullmatch(path):
        return of_researchers[1], ""
    if LIST_OF_STUDIES.fullmatch(path):
        return "/studies", ""
    found = OF_STUDIES.fullmatch(path)
    if found is None:
        return path, ""
    # Of "/s/pub%3Fguest=…" and "/s/pub&guest=…" the end is a query.
    place, query = (*QUERY.split(found[2] + found[3], maxsplit=1), "")[:2]
    slug, _, page = place.partition("/")
    slug, page = _slug(_decoded(slug)), re.sub(r"[^A-Za-z0-9]+\Z", "", _decoded(page))
    page = page.lower() if page.isupper() else page
    if not SLUG.match(slug):
        return path, ""
    return f"/{found[1].lower()}/{slug}{page and '/' + page}", query


def _slug(text: str) -> str:
    """Return a slug in small letters, with plain hyphens, without what none can hold at an end."""
    plain = [
        "-" if unicodedata.category(sign) == "Pd" else sign
        for sign in text.lower()
        if unicodedata.category(sign) != "Cf"
    ]
    return re.sub(r"\A[^a-z0-9]+|[^a-z0-9]+\Z", "", "".join(plain))


def sent_values(
    query: str, form: Iterable[tuple[str, str]], names: Iterable[str]
) -> dict[str, str]:
    """Return the first filled value of each name in a link's query, else in a form.

    Upper and lower case of names are one. In the query are undone: ``&amp;`` between parameters, a
    query or a value that was encoded twice, a parameter in the value of another, and what follows
    a link in a sentence.
    """
    wanted = {name.lower(): name for name in names}
    sent = [(name, value) for name, value in _undone(query, wanted) if name in wanted and value]
    if sent:  # the end of the link: what another program appends is none of ours
        name, value = sent.pop()
        sent.append((name, TAIL.sub("", value)))
    values: dict[str, str] = {}
    for name, value in (*sent, *form):
        known = wanted.get(name.strip().lower())
        if known is not None and value.strip():
            values.setdefault(known, value.strip())
    return values


def _undone(query: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a changed query as they were before it was changed."""
    another = re.compile(rf"[?&](amp;)*({'|'.join(map(re.escape, names))})=", re.IGNORECASE)
    waiting = deque(parse_qsl(query, keep_blank_values=True))
    while waiting:
        name, value = waiting.popleft()
        name, value = re.sub(r"\A([?&]|amp;)+", "", _decoded(name)), _decoded(value)
        if "=" in name:
            waiting.extendleft(reversed(_pairs(f"{name}={value}" if value else name)))
            continue
        if inner := another.search(value):
            waiting.extendleft(reversed(_pairs(value[inner.start() + 1 :])))
            value = value[: inner.start()]
        yield name.strip().lower(), without_unseen_ends(value)


def _pairs(query: str) -> list[tuple[str, str]]:
    """Split a query that is decoded already, in which a plus is a plus."""
    return [(name, value) for name, _, value in (part.partition("=") for part in query.split("&"))]


def _decoded(text: str) -> str:
    while (decoded := unquote(text)) != text:
        text = decoded
    return text
