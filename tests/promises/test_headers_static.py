"""Static files carry a hash of their content, and may be kept for good under that name only."""

import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

import survey.app
from survey.app import create_app
from survey.config import Settings
from survey.services import accounts
from tests.builders import KEY, RESEARCHER_COOKIE, SLUG, VISITOR_COOKIE, Visitor, an_open_study

ROOT = Path(__file__).parents[2]
FILES = sorted(path.name for path in (ROOT / "static").iterdir())
KEPT = "public, max-age=31536000, immutable"
MEDIA_TYPES = ("text/javascript", "text/css", "image/svg+xml", "text/plain", "font/woff2")
HASH_OF_FONT = re.compile(rb"\.[0-9a-f]{12}(?=\.woff2\))")  # in a style sheet
LINKED = re.compile(r'(?:src|href)="(/static/[^"]*)"')
DESK = ("", "account", "new", "planning", f"studies/{SLUG}/invite", f"studies/{SLUG}/plan")


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


def hashed(app, name):
    with app.test_request_context():
        return app.jinja_env.globals["asset"](name)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_kept_for_good_under_the_name_of_its_content(app, client, name):
    content = (ROOT / "static" / name).read_bytes()
    address = hashed(app, name)
    answer = client.get(address)
    assert sha256(answer.data).hexdigest()[:12] in address
    assert (answer.status_code, HASH_OF_FONT.sub(b"", answer.data)) == (200, content)
    assert answer.headers["Cache-Control"] == KEPT
    assert answer.mimetype in MEDIA_TYPES
    again = client.get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_a_style_sheet_names_its_fonts_by_content(app, client):
    style = client.get(hashed(app, "tokens.css")).text
    fonts = re.findall(r"url\((.+?)\)", style)
    assert len(fonts) == 2
    for font in fonts:
        answer = client.get(f"/static/{font}")
        assert answer.headers["Cache-Control"] == KEPT
        assert sha256(answer.data).hexdigest()[:12] in font


def test_a_plain_or_outdated_name_gives_what_there_is_now_and_has_to_be_asked_again(app, client):
    for path in ("/static/survey.css", "/static/survey.0123456789ab.css"):
        answer = client.get(path)
        assert answer.data == (ROOT / "static" / "survey.css").read_bytes()
        assert answer.headers["Cache-Control"] == "no-cache"
        assert (
            client.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
        )


@pytest.fixture
def change(tmp_path, monkeypatch):
    """Put another version of the stylesheet in the place of static files; return its folder."""
    folder, known = tmp_path / "static", survey.app.folder("templates")
    shutil.copytree(ROOT / "static", folder)
    monkeypatch.setattr(survey.app, "folder", lambda name: {"static": folder}.get(name, known))

    def changed():
        (folder / "survey.css").write_text("/* newer */")

    return changed


def test_an_upgrade_gives_a_changed_file_another_name_and_breaks_no_open_page(
    tmp_path, database_uri, change
):
    settings = Settings(tmp_path, database_uri, KEY)
    before = create_app(settings)
    change()
    after = create_app(settings)
    assert hashed(before, "survey.css") != hashed(after, "survey.css")
    assert hashed(before, "question.js") == hashed(after, "question.js")
    late = after.test_client().get(hashed(before, "survey.css"))
    assert (late.text, late.headers["Cache-Control"]) == ("/* newer */", "no-cache")
    # And the other way round, while old processes still answer: nothing wrong is kept.
    early = before.test_client().get(hashed(after, "survey.css"))
    assert early.data == (ROOT / "static" / "survey.css").read_bytes()
    assert early.headers["Cache-Control"] == "no-cache"


def test_every_page_names_its_files_by_content(app, session, client):
    an_open_study(session)
    ada, _ = accounts.add_researcher(session, "Ada")
    token = accounts.new_session(session, ada)
    visitor = Visitor(client)
    visitor.start()
    pages = [visitor.response, client.get("/"), client.get("/nothing"), client.get("/paper/table4")]
    client.set_cookie(RESEARCHER_COOKIE, token, path="/research")
    pages += [client.get(f"/research/{path}") for path in DESK]
    linked = {address for page in pages for address in LINKED.findall(page.text)}
    known = {hashed(app, name) for name in FILES}
    assert linked <= known
    assert len(linked) >= 5


def test_a_static_file_brings_no_cookie_along(session, client):
    an_open_study(session)
    Visitor(client).start()
    assert client.get_cookie(VISITOR_COOKIE)
    answer = client.get("/static/survey.css")
    assert "Cookie" not in answer.headers.get("Vary", "")
    assert answer.headers.getlist("Set-Cookie") == []
