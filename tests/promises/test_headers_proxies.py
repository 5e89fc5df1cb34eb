"""Links and cookies are right behind a proxy and below a path prefix, and are never forged."""

import csv
import io
from datetime import timedelta
from itertools import product

import pytest
import requests
import segno
from argon2 import PasswordHasher
from bs4 import BeautifulSoup
from click.testing import CliRunner
from sqlalchemy import text
from werkzeug.test import Client

from survey import tokens
from survey.app import create_app, db
from survey.cli import survey
from survey.config import Settings
from survey.db.models import SignIn
from survey.services import accounts
from survey.services.operations.database import upgrade_database
from survey.services.studies import recruitment
from tests.builders import KEY, SLUG, Visitor, an_open_study
from tests.serving import OverHttp, Server, free_port

pytestmark = pytest.mark.slow

PASSWORD = "a row of four words"
PREFIX = "/study/x"
HOST = "survey.example.org"
STUDY = f"{PREFIX}/research/studies/{SLUG}"


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch):
    """Argon2id with little to do; test_sign_in.py uses the real costs."""
    monkeypatch.setattr(accounts, "hasher", PasswordHasher(time_cost=1, memory_cost=64))


@pytest.fixture
def serve(tmp_path):
    """Make the application anew, as a start of the server does; a name is an instance."""
    made = []

    def start(name="one", proxies=1, address=""):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        uri, key = f"sqlite:///{folder / 'survey.sqlite3'}", f"{KEY}, for {name}"
        app = create_app(Settings(folder, uri, key, proxies, address))
        made.append(app)
        with app.app_context():
            upgrade_database(db.engine)
        return app

    yield start
    for app in made:
        with app.app_context():
            db.engine.dispose()


def browser(apps, scheme="https"):
    """A browser before a proxy that takes a prefix off and says so, as nginx does."""

    def proxy(environ, start_response):
        path = environ["PATH_INFO"]
        prefix, app = next(one for one in apps.items() if f"{path}/".startswith(f"{one[0]}/"))
        environ["PATH_INFO"] = path.removeprefix(prefix) or "/"
        environ["HTTP_X_FORWARDED_PROTO"] = scheme
        environ["HTTP_X_FORWARDED_HOST"] = HOST
        environ["HTTP_X_FORWARDED_PREFIX"] = prefix
        return app(environ, start_response)

    return Client(proxy)


def a_study(app):
    """Open a study with a guest; return the link with which Ada sets her password."""
    with app.app_context():
        study = an_open_study(db.session)
        recruitment.add_guests(db.session, study, ["Grace"])
        _, link = accounts.add_researcher(db.session, "Ada")
        db.session.remove()
    return link


def visitor_at(client, prefix=PREFIX):
    visitor = Visitor(client)
    visitor.home = f"{prefix}/s/{SLUG}"
    return visitor


def send(client, address, action=None, **fields):
    """Fill in the form of a page that posts to ``action``; return the answer."""
    page = client.get(address, follow_redirects=True)
    action = action or page.request.path
    soup = BeautifulSoup(page.text, "html.parser")
    form = next(one for one in soup.select("form[method=post]") if one["action"] == action)
    hidden = {one["name"]: one["value"] for one in form.select("[type=hidden]")}
    return client.post(action, data=hidden | fields)


def sign_in_with(client, link, prefix=PREFIX):
    answer = send(client, f"{prefix}/research/welcome/{link}", password=PASSWORD, again=PASSWORD)
    assert answer.location == f"{prefix}/research/"
    return answer


def sign_out(client, app):
    name = tokens.cookie_name(app.secret_key, "researcher")
    assert client.get_cookie(name, path=f"{PREFIX}/research")
    client.delete_cookie(name, path=f"{PREFIX}/research")


def cookies_of(answer):
    """The attributes of the cookies that an answer gives, by name without the instance."""
    given = (one.split("; ") for one in answer.headers.getlist("Set-Cookie"))
    return {one[0].partition("=")[0].rpartition("-")[0]: set(one[1:]) for one in given}


def test_a_participant_goes_all_the_way_below_a_prefix(serve):
    app = serve()
    a_study(app)
    visitor = visitor_at(browser({PREFIX: app}))
    visitor.take_part()
    assert visitor.path == "/done"
    for link in visitor.page.select("[href], [src], [action]"):
        for name in ("href", "src", "action"):
            assert link.get(name, f"{PREFIX}/").startswith((f"{PREFIX}/", "#")), link


def test_own_rankings_first_lead_back_to_the_question_below_a_prefix(serve):
    app = serve()
    with app.app_context():
        an_open_study(db.session, columns="after", practice=False)
        db.session.remove()
    visitor = visitor_at(browser({PREFIX: app}))
    visitor.prepare()
    visitor.submit("/q/1", **{f"rank_{letter}": "1" for letter in "ABCDE"})
    assert visitor.path == "/q/1"
    assert visitor.page.select("input[name=choice]")


def test_ones_own_data_are_found_below_a_prefix(serve):
    app = serve()
    a_study(app)
    visitor = visitor_at(browser({PREFIX: app}))
    visitor.prepare()
    visitor.open("/my-data")
    code = visitor.page.select_one(".code").get_text()
    elsewhere = visitor_at(browser({PREFIX: app}))
    elsewhere.open("/my-data")
    elsewhere.submit("/my-data", code=code)
    assert elsewhere.path == "/my-data"
    elsewhere.submit("/erase", sure="y")
    assert elsewhere.path == "/erased"


def test_what_could_not_be_saved_is_sent_again_below_a_prefix(serve):
    app = serve()
    a_study(app)
    visitor = visitor_at(browser({PREFIX: app}))
    visitor.start()
    rename(app, "study", "study_gone")
    visitor.submit("/q/1", choice="1")
    assert visitor.status == 503
    rename(app, "study_gone", "study")
    visitor.submit("/q/1")
    assert visitor.path == "/q/2"


def rename(app, table, name):
    """Make a table that every page needs missing, or bring it back."""
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {name}"))


FOREIGN = ("evil.example", f"{HOST}.evil.example", "evil.example:443", "survey", "127.0.0.2")
DOORS = ("/", f"/s/{SLUG}", "/research", "/research/sign-in", "/healthz", "/static/x", "/nothing")


def test_a_foreign_host_is_refused_with_a_plain_page(serve, measured):
    app = serve(proxies=0, address=f"https://{HOST}{PREFIX}")
    a_study(app)
    asked = 0
    for host, path, method in product(FOREIGN, DOORS, ("GET", "POST")):
        answer = Client(app).open(path, method=method, base_url=f"http://{host}")
        assert answer.status_code == 400
        assert "Please use the link you were given." in answer.text
        assert "evil" not in answer.text
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["X-Frame-Options"] == "DENY"
        asked += 1
    for host in (HOST, f"{HOST}:8443", "localhost:5000", "127.0.0.1"):
        assert Client(app).get(f"/s/{SLUG}", base_url=f"http://{host}").status_code == 200
    measured(f"{asked} requests that named a host other than the configured one: 400 to each.")


@pytest.mark.parametrize("host", ["localhost", HOST])
def test_links_begin_with_the_configured_address_and_not_with_the_host_of_a_request(serve, host):
    app = serve(proxies=0, address=f"https://{HOST}{PREFIX}")
    client = Client(lambda environ, start: app(environ | {"HTTP_HOST": host}, start))
    public = f"https://{HOST}{PREFIX}/s/{SLUG}"
    sign_in_with(client, a_study(app), prefix="")
    studies = f"/research/studies/{SLUG}"
    assert f'href="{public}"' in client.get(f"{studies}/invite").text
    assert public in client.get(studies).text
    assert f"https://{HOST}{PREFIX}/s/spring-study" in client.get("/research/new").text
    assert f"{public}?guest=" in client.get(f"{studies}/guests.csv").text


def test_the_real_server_refuses_a_foreign_host_and_prints_the_configured_address(tmp_path):
    address = f"https://{HOST}"
    server = Server(tmp_path, free_port(), environment={"SURVEY_ADDRESS": address}, workers=1)
    try:
        server.start()
        link = server.open_study(SLUG)
        assert requests.get(link, timeout=10).ok
        assert requests.get(link, headers={"Host": HOST}, timeout=10).ok
        refused = requests.get(link, headers={"Host": "evil.example"}, timeout=10)
        assert (refused.status_code, "evil" in refused.text) == (400, False)
    finally:
        server.kill()
    environment = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_ADDRESS": f"{address}/"}
    added = CliRunner().invoke(survey, ["researcher", "add", "Grace"], env=environment)
    assert f"{address}/research/welcome/" in added.output


def test_every_absolute_link_has_the_name_that_the_proxy_is_reached_by(serve):
    app = serve()
    client = browser({PREFIX: app})
    sign_in_with(client, a_study(app))
    public = f"https://{HOST}{PREFIX}/s/{SLUG}"
    assert f'href="{public}"' in client.get(f"{STUDY}/invite").text
    assert public in client.get(STUDY).text
    assert f"https://{HOST}{PREFIX}/s/spring-study" in client.get(f"{PREFIX}/research/new").text
    ((_, link, *_),) = list(csv.reader(io.StringIO(client.get(f"{STUDY}/guests.csv").text)))[1:]
    assert link.startswith(f"{public}?guest=")
    drawn = io.BytesIO()
    code = segno.make(public, micro=False, error="m")
    code.save(drawn, kind="svg", scale=8, border=4, dark="#000", light="#fff")
    assert client.get(f"{STUDY}/qr.svg").data == drawn.getvalue()
    slash = client.get(f"{PREFIX}/research")
    assert slash.location == f"https://{HOST}{PREFIX}/research/"


@pytest.mark.parametrize("proxies", [0, 1, 2])
def test_only_what_trusted_proxies_say_is_believed(serve, proxies):
    # Each proxy adds what it sees to what it was told: the first here is what a client claims.
    app = serve(proxies=proxies)
    forwarded = {
        "X-Forwarded-Proto": "https, https, http",
        "X-Forwarded-Host": "forged.example, outer.example, inner.example",
        "X-Forwarded-Prefix": "/forged, /outer, /inner",
    }
    answer = app.test_client().get("/research", headers=forwarded)
    assert (
        answer.location
        == {
            0: "http://localhost/research/",
            1: "http://inner.example/inner/research/",
            2: "https://outer.example/outer/research/",
        }[proxies]
    )
    page = app.test_client().get("/", headers=forwarded)
    path = {0: "", 1: "/inner", 2: "/outer"}[proxies]
    assert f'href="{path}/static/survey.' in page.text
    assert ("Strict-Transport-Security" in page.headers) == (proxies == 2)


def test_cookies_are_for_this_prefix_and_by_https_only_where_that_is_spoken(serve):
    app = serve()
    link = a_study(app)
    for scheme, secure in (("https", {"Secure"}), ("http", set())):
        client = browser({PREFIX: app}, scheme)
        always = {"HttpOnly", "SameSite=Lax"} | secure
        entry = cookies_of(client.get(f"{PREFIX}/s/{SLUG}"))["survey"]
        assert {one for one in entry if "Expires" not in one} == always | {f"Path={PREFIX}"}
        if scheme == "https":
            given = cookies_of(sign_in_with(client, link))
            assert given["researcher"] == always | {f"Path={PREFIX}/research"}
            gone = send(client, f"{PREFIX}/research/account", f"{PREFIX}/research/sign-out")
            assert f"Path={PREFIX}/research" in cookies_of(gone)["researcher"]
    at_the_top = cookies_of(app.test_client().get(f"/s/{SLUG}"))["survey"]
    assert "Path=/" in at_the_top
    assert "Secure" not in at_the_top


def test_two_surveys_below_two_prefixes_of_a_host_share_no_cookie(serve):
    one, other = serve("one"), serve("other")
    client = browser({"/one": one, "/other": other})
    links = [a_study(one), a_study(other)]
    visitors = [visitor_at(client, "/one"), visitor_at(client, "/other")]
    for visitor in visitors:
        visitor.start()
    for prefix, link in zip(("/one", "/other"), links, strict=True):
        sign_in_with(client, link, prefix)
    for visitor in visitors:
        visitor.submit("/q/1", choice="1")
        assert visitor.path == "/q/2"
        visitor.open("/q/1")
        assert visitor.page.select("input[name=choice][checked]")
    for prefix in ("/one", "/other"):
        assert client.get(f"{prefix}/research/studies/{SLUG}").status_code == 200


def test_two_surveys_on_two_ports_of_a_host_share_no_cookie(tmp_path):
    # Browsers send a host's cookies to each of its ports.
    servers, browser = [], requests.Session()
    browser.trust_env = False
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        environment = {"SURVEY_SECRET_KEY": f"{KEY}, for {name}"}
        servers.append(Server(folder, free_port(), environment=environment))
    try:
        visitors, links = [], []
        for server in servers:
            server.start()
            links.append(f"{server.address}/research/welcome/{a_study(server.app)}")
            over_http = OverHttp(server.address)
            over_http.browser = browser
            visitors.append(Visitor(over_http))
        visitors[0].start()
        visitors[1].start()
        for link in links:
            page = BeautifulSoup(browser.get(link).text, "html.parser")
            token = page.select_one("[name=csrf_token]")["value"]
            sent = {"password": PASSWORD, "again": PASSWORD, "csrf_token": token}
            assert browser.post(link, data=sent).ok
        for visitor in visitors:
            visitor.submit("/q/1", choice="1")
            assert visitor.path == "/q/2"
        for server, visitor in zip(servers, visitors, strict=True):
            visitor.open("/q/1")
            assert visitor.page.select("input[name=choice][checked]")
            home = browser.get(f"{server.address}/research/studies/{SLUG}", allow_redirects=False)
            assert home.status_code == 200
        known = [one for one in browser.cookies if one.name.startswith("known-browser-")]
        assert len(known) == 2, "each knows the browser again, though its researcher has one name"
    finally:
        for server in servers:
            if server.process is not None:
                server.kill()


def test_who_has_to_sign_in_or_to_confirm_comes_to_the_page_they_wanted(serve):
    app = serve()
    link = a_study(app)
    client = browser({PREFIX: app})
    asked = client.get(f"{STUDY}/people?x=1")
    assert asked.location.startswith(f"{PREFIX}/research/sign-in?next=")
    sign_in_with(client, link)
    sign_out(client, app)
    back = send(client, asked.location, f"{PREFIX}/research/sign-in", name="Ada", password=PASSWORD)
    assert back.location == f"{STUDY}/people?x=1"
    with app.app_context():
        for known in db.session.query(SignIn):
            known.confirmed_at -= timedelta(minutes=11)
        db.session.commit()
    asked = client.get(f"{STUDY}/delete")
    assert asked.location.startswith(f"{PREFIX}/research/account/confirm?next=")
    confirm = f"{PREFIX}/research/account/confirm"
    assert send(client, asked.location, confirm, password=PASSWORD).location == f"{STUDY}/delete"


@pytest.mark.parametrize(
    "wanted",
    [
        *("https://evil.example/study/x/research/", "//evil.example/study/x/research/"),
        *("/research/", "/other/research/", "/study/x/researchers", "/study/x/s/five-systems"),
        *("/study/x/research/../../../other", "/study/x/research/%2e%2e/%2E%2E/%2e./other"),
        *(r"/study/x/research/..\..\other", r"\\evil.example", "//["),
    ],
)
def test_signing_in_leads_nowhere_else(serve, wanted):
    app = serve()
    client = browser({PREFIX: app})
    sign_in_with(client, a_study(app))
    sign_out(client, app)
    page = f"{PREFIX}/research/sign-in"
    given = {"name": "Ada", "password": PASSWORD, "next": wanted}
    assert send(client, page, page, **given).location == f"{PREFIX}/research/"


def test_a_restart_breaks_neither_links_nor_cookies(serve):
    app = serve()
    client = browser({PREFIX: app})
    sign_in_with(client, a_study(app))
    visitor = visitor_at(client)
    visitor.start()
    before = [client.get(f"{STUDY}/{page}").text for page in ("guests.csv", "qr.svg")]
    visitor.open("")
    code = visitor.page.select_one(".code").text.strip()

    after = browser({PREFIX: serve()})
    after._cookies = client._cookies
    assert [after.get(f"{STUDY}/{page}").text for page in ("guests.csv", "qr.svg")] == before
    visitor.client = after
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="1")
    assert visitor.path == "/q/2"
    elsewhere = visitor_at(browser({PREFIX: serve()}))
    elsewhere.open()
    elsewhere.submit("/resume", code=code)
    assert elsewhere.path == "/q/2"
    guest = next(csv.DictReader(io.StringIO(before[0])))
    personal = browser({PREFIX: serve()}).get(guest["link"].removeprefix(f"https://{HOST}"))
    assert personal.status_code == 200
