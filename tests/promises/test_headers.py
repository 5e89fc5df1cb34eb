"""Every response carries the headers that it should, and no others: golden, route by route."""

import re
from collections import Counter

import pytest
import requests

from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import RESEARCHER_COOKIE, SLUG, Visitor, a_plan, an_open_study
from tests.routes import address_of

GOLDEN = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
}
DYNAMIC = GOLDEN | {"Cache-Control": "no-store", "Vary": "Cookie"}
STATIC = GOLDEN | {"Cache-Control": "no-cache"}
STYLE_SHEET = STATIC | {"Vary": "Accept-Encoding"}
# A preview may be shown in a frame of our own pages, and the form of a plan may show it.
PREVIEW = DYNAMIC | {
    "Content-Security-Policy": GOLDEN["Content-Security-Policy"].replace(
        "ancestors 'none'", "ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}
PLAN = DYNAMIC | {
    "Content-Security-Policy": f"{GOLDEN['Content-Security-Policy']}; frame-src 'self'"
}
BY_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
# What says something of one response; all else is golden or too much.
OWN = {
    *("content-type", "content-length", "content-disposition", "x-expected-bytes", "location"),
    *("set-cookie", "allow", "retry-after", "etag", "date", "www-authenticate"),
}
OVER = "it-is-over"
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "NONSENSE")


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def browsers(app, session):
    """Browsers of somebody unknown, of a participant, and of a researcher with her token.

    One study is open, another over, so that results and downloads are there.
    """
    an_open_study(session)
    over = an_open_study(session, OVER, questions=1)
    Visitor(app.test_client(), OVER).take_part()
    lifecycle.close_study(session, over)
    ada, _ = accounts.add_researcher(session, "Ada")  # the first one gets both
    token = accounts.new_session(session, ada)
    participant = app.test_client()
    Visitor(participant).start()
    return (app.test_client(), ""), (participant, ""), (app.test_client(), token)


def addresses(app, slugs):
    """Every route, for these studies."""
    for rule in app.url_map.iter_rules():
        for slug in slugs:
            yield address_of(rule, slug=slug)


def answers(app, browsers, methods=METHODS, slugs=(SLUG, OVER)):
    """Every route's answer to these methods, for these browsers and studies."""
    for address in sorted(set(addresses(app, slugs))):
        for method in methods:
            for client, token in browsers:
                # Anew each time: signing out is one of the routes.
                client.set_cookie(RESEARCHER_COOKIE, token, path="/research")
                with client.open(address, method=method) as answer:
                    answer.get_data()
                    yield method, address, answer


def unlike(answer, golden):
    """Which headers an answer has wrong, lacks, or has too much."""
    found = {name.lower(): value for name, value in answer.headers.items()}
    expected = {name.lower(): value for name, value in golden.items()}
    return {one for one in found.items() ^ expected.items() if one[0] not in OWN}


def statuses_of(answers):
    """Count answers by status, once each is seen to have the golden headers."""
    statuses, faults = Counter(), []
    for method, address, answer in answers:
        statuses[answer.status_code] += 1
        is_file = address.startswith("/static/") and method in ("GET", "HEAD")
        # A method that no preview has is refused before it is known to be one.
        is_preview = "/preview/" in address and answer.status_code != 405
        static = STATIC | ({"Vary": "Accept-Encoding"} if answer.status_code == 200 else {})
        wrong = unlike(answer, static if is_file else PREVIEW if is_preview else DYNAMIC)
        faults += [(method, address, one) for one in wrong]
    assert faults == []
    return statuses


def test_every_route_has_the_golden_headers_for_a_researcher(app, browsers):
    statuses = statuses_of(answers(app, browsers[2:], ("GET", "PUT"), [SLUG]))
    assert {200, 302, 404, 405} <= set(statuses)


@pytest.mark.trial
def test_every_route_and_method_has_the_golden_headers(app, browsers, measured):
    statuses = statuses_of(answers(app, browsers))
    assert {200, 302, 303, 400, 404, 405} <= set(statuses)
    listed = ", ".join(map(str, sorted(statuses)))
    measured(
        f"{statuses.total():,} answers (all {len(list(app.url_map.iter_rules()))} routes × "
        f"{len(METHODS)} methods × 3 roles; statuses {listed}): "
        "0 headers missing, wrong or too much."
    )


def test_only_the_form_of_a_plan_may_show_a_frame_and_only_of_ours(app, session, browsers):
    ada = accounts.find_researcher(session, "Ada")
    lifecycle.create_owned_study(session, ada, "a-draft", a_plan(), Recruitment())
    client, token = browsers[2]
    client.set_cookie(RESEARCHER_COOKIE, token, path="/research")
    for address, golden in (
        ("/research/studies/a-draft/plan", PLAN),
        ("/research/studies/a-draft/preview/213/entry", PREVIEW),
        ("/research/studies/a-draft/check", DYNAMIC),
        (f"/s/{SLUG}", DYNAMIC),
    ):
        answer = client.get(address)
        assert answer.status_code == 200
        assert unlike(answer, golden) == set(), address


def test_errors_have_the_golden_headers_too(app, client, session):
    an_open_study(session)

    @app.get("/broken")
    def broken():
        raise RuntimeError("on purpose")

    for answer, status in (
        (client.get("/no/such/page"), 404),
        (client.get("/static/nothing.css"), 404),
        (client.get("/static/../survey/config.py"), 404),
        (client.post("/static/survey.css"), 405),
        (client.put("/"), 405),
        (client.post(f"/s/{SLUG}/begin", data={"csrf_token": "x" * 70_000}), 413),
        (client.get("/research"), 308),
        (client.get("/broken"), 500),
    ):
        assert answer.status_code == status
        assert unlike(answer, DYNAMIC) == set(), status


def test_a_database_that_fails_does_not_cost_the_headers(empty_app):
    for path in ("/s/any-study", "/research/", "/readyz"):
        answer = empty_app.test_client().get(path)
        assert answer.status_code == 503
        assert unlike(answer, DYNAMIC) == set()


def test_https_is_asked_for_from_then_on_only_by_https(client):
    for path, golden in (
        ("/", DYNAMIC),
        ("/static/survey.css", STYLE_SHEET),
        ("/nothing", DYNAMIC),
    ):
        assert unlike(client.get(path, base_url="https://localhost"), golden | BY_HTTPS) == set()
        assert unlike(client.get(path), golden) == set()


NOT_PACKED = {"Accept-Encoding": "identity"}


@pytest.mark.slow
def test_the_server_process_adds_its_name_at_most(server):
    for path in ("/", "/static/survey.css", "/nothing"):
        answer = requests.get(server.address + path, timeout=30, headers=NOT_PACKED)
        assert not re.search(r"\d", answer.headers.pop("Server", ""))
        assert unlike(answer, STYLE_SHEET if "static" in path else DYNAMIC) == set()
