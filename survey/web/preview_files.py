"""A study's preview as files: pages that open from a folder and lead from one to the next."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import pairwise

from flask import Flask, g, request

from survey.services.studies import lifecycle
from survey.web import preview
from survey.web.requests import FONT_ADDRESS, session

# Scripts that send what is typed, or keep it: in a folder there is no server.
SENDING = re.compile(
    r'<script src="[^"]*/(?:saving|steps|labelling|grouping|keep)\.[^"]*" defer></script>'
)
ADDRESS = re.compile(r'\b(href|src)="([^"]*)"')
FORM = re.compile(r'<form\b[^>]*\bmethod="post"[^>]*>')
ACTION = re.compile(r' action="([^"]*)"')
TOKEN = re.compile(r'<input type="hidden" name="csrf_token" value="[^"]*">')


@dataclass
class PreviewFiles:
    """The files of a study's preview. ``names``: address → file, of all that pages lead to.

    ``after``: a page's file → that of the next page.
    """

    app: Flask
    slug: str
    names: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file; index.html is the first page.

        A study with arms has a folder for each. Raises NotFoundError for an unknown study.
        """
        self._name_pages()
        written: set[str] = set()
        while waiting := self.names.keys() - written:
            for address in sorted(waiting):
                name, content = self.names[address], self._fetch(address)
                if name.endswith(".html"):
                    content = self._with_file_names(content.decode(), name).encode()
                for font in FONT_ADDRESS.findall(content) if name.endswith(".css") else ():
                    self.names[f"/static/{font.decode()}"] = f"static/{font.decode()}"
                yield name, content
            written |= waiting

    def _name_pages(self) -> None:
        with self._request(f"/research/studies/{self.slug}/preview"):
            for arm in g.study.plan.arms or ("",):
                folder = f"{arm}/" if arm else ""
                pages = {address: f"{folder}{name}" for address, name in preview.walk(arm)}
                self.names |= pages
                self.after |= dict(pairwise(pages.values()))

    @contextmanager
    def _request(self, address: str) -> Iterator[None]:
        """Act as an owner who opens an address of the preview, or a static file."""
        with self.app.test_request_context(address):
            g.slug, g.role, g.is_saved = self.slug, "owner", True
            g.study = lifecycle.find_study(session(), self.slug)
            g.plan = g.study.plan
            (request.view_args or {}).pop("slug", None)
            preview.pretend()
            yield

    def _fetch(self, address: str) -> bytes:
        with self._request(address):
            response = self.app.make_response(self.app.dispatch_request())
            response.direct_passthrough = False
            return bytes(response.get_data())

    def _with_file_names(self, html: str, name: str) -> str:
        """Return a page whose links, pictures and buttons lead to files, which ``names`` gets."""
        folder, slash, _ = name.rpartition("/")
        up = "../" * name.count("/")

        def link(match: re.Match[str]) -> str:
            address = unescape(match[2])
            if not address.startswith("/"):
                return match[0]
            file = self.names.get(address) or _file_name(address)
            if file is None:
                return f'{match[1]}="#"'
            self.names[address] = file
            return f'{match[1]}="{escape(up + file)}"'

        def form(match: re.Match[str]) -> str:
            sent_to = ACTION.search(match[0])
            page = preview.AFTER_BUTTON.get(sent_to[1].rpartition("/")[2] if sent_to else "")
            file = self.after.get(name, name)
            file = f"{folder}{slash}{preview.file_name(page)}" if page else file
            by_get = f'method="get" action="{escape(up + file)}"'
            return ACTION.sub("", match[0]).replace('method="post"', by_get)

        html = TOKEN.sub("", SENDING.sub("", html))
        html = FORM.sub(form, ADDRESS.sub(link, html))
        back = [earlier for earlier, later in self.after.items() if later == name]
        if back:
            html = html.replace('value="back"', f'value="back" formaction="{escape(up + back[0])}"')
        return html


def _file_name(address: str) -> str | None:
    """Return the name of a static file, a picture or a whole text; None for another address."""
    if address.startswith("/static/"):
        return address[1:]
    shown = address.partition("/preview/")[2]
    return shown if shown.startswith(("pictures/", "texts/")) else None
