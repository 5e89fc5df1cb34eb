"""A researcher with a browser that runs no scripts."""

import io
import re
from functools import cached_property

from bs4 import BeautifulSoup

from survey.services import accounts
from survey.services.studies import lifecycle

PASSWORD = "a row of four words"
HOME = "/research/"
STUDY = "/research/studies/a-study"


class Desk:
    """A researcher with a browser that runs no scripts."""

    def __init__(self, app, session, name="Ada"):
        self.client = app.test_client()
        self.name = name
        self.token = accounts.add_researcher(session, name)[1]
        session.rollback()
        self.open(f"/research/welcome/{self.token}")
        self.send(f"/research/welcome/{self.token}", password=PASSWORD, again=PASSWORD)
        assert self.address == HOME

    def open(self, address):
        self._see(self.client.get(address, follow_redirects=True))

    def send(self, action, files=None, **fields):
        """Submit the page's form that posts to ``action``, with these fields changed."""
        form = next(
            form
            for form in self.page.select("form[method=post]")
            if form["action"].partition("#")[0] == action
        )
        named = {**filled_in(form), **fields, **(files or {})}
        self.post(action, **named)

    def post(self, action, **fields):
        content = {name: value for name, value in fields.items() if value is not None}
        kind = "multipart/form-data"
        self._see(self.client.post(action, data=content, content_type=kind, follow_redirects=True))

    def _see(self, response):
        self.response, self.status = response, response.status_code
        self.address = response.request.full_path.rstrip("?")
        self.__dict__.pop("page", None)

    @cached_property
    def page(self):
        """The page, parsed when it is first looked at: parsing takes longer than the request."""
        body = self.response.text if self.response.mimetype == "text/html" else ""
        return BeautifulSoup(body, "html.parser")

    @property
    def text(self):
        """All that can be read on the page, in one line."""
        return re.sub(r"\s+", " ", self.page.get_text(" ", strip=True))


class Reader(Desk):
    """Somebody without an account, who takes no part either."""

    def __init__(self, app):
        self.client = app.test_client()


def filled_in(form):
    """Return the fields that a browser would send if the form were submitted as it is."""
    sent = {}
    for field in form.select("input[name]"):
        ticked = field.get("type") not in ("checkbox", "radio") or field.has_attr("checked")
        if ticked and field.get("type") != "file":
            sent.setdefault(field["name"], []).append(field.get("value", ""))
    for field in form.select("textarea[name]"):
        sent[field["name"]] = [field.text.removeprefix("\r\n").removeprefix("\n")]
    for field in form.select("select[name]"):
        chosen = field.select_one("option[selected]") or field.select_one("option")
        sent[field["name"]] = [chosen["value"]]
    return {name: values if len(values) > 1 else values[0] for name, values in sent.items()}


def a_file(text, name):
    return (io.BytesIO(text.encode()), name)


def open_it(session, study):
    lifecycle.open_study(session, study, "Ada")
    session.rollback()


def shows_its_figures_as_files(desk):
    """The page of results shows a figure first, and each figure is a link from its files."""
    figures = desk.page.select(".answer figure, figure.exhibit")
    assert figures[0].img["loading"] == "eager"
    for figure in figures:
        drawing = desk.client.get(figure.img["src"])
        assert drawing.mimetype == "image/svg+xml"
        assert "immutable" in drawing.headers["Cache-Control"]
        links = figure.select("a[download]")
        assert [link["href"].partition("?")[0][-3:] for link in links] == [
            "csv",
            "tex",
            "svg",
            "pdf",
        ]
        assert {desk.client.get(link["href"]).status_code for link in links} == {200}
    folded = desk.page.select("details.part")
    assert not any(part.has_attr("open") for part in folded)
    linked = [link["href"].removeprefix("#") for link in desk.page.select(".contents > ul a")]
    parts = [part.select_one("div")["id"] for part in folded]
    assert linked == [part for part in parts if part != "download"]
