"""Promise 3, first half: a measure's name reaches no participant, in whatever disguise."""

import base64
import hashlib
import html
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

import pytest
from flask import session
from sqlalchemy import exc
from werkzeug import exceptions

from survey.services import accounts
from tests.builders import VISITOR_COOKIE, Visitor
from tests.pictured import DOCUMENTS, RUNS, TOPIC_WITHOUT_TEXT, a_pictured_study
from tests.promises.sweeps import addresses, rules_of, sweep
from tests.promises.traces import Ear, Heard, Trace
from tests.promises.walks import every_way, new_study, take_part
from tests.promises.worlds import canaries, living_in

# Whose pages a blueprint holds. A new one is put here, and with it into a crawl.
AUDIENCES = {
    "participant": "participants, walked through in every state",
    "home": "everybody",
    "health": "everybody",
    "stored": "everybody; about the fields of every study",
    "static": "everybody",
    "published": "everybody; about closed studies, and nothing of an open one",
    "collections": "groups that send runs; about collections, not about any study",
    "paper": "everybody; about the paper's measures, not about any study's",
    "help": "everybody; the guides, which are the same whatever is studied",
    "auth": "everybody, before signing in",
    "account": "researchers; others are led to the sign-in",
    "researcher": "researchers; others are led to the sign-in",
    "preview": "researchers; others are led to the sign-in",
    "api": "programs with a token of the study; others are refused",
}
FORCED = [
    RuntimeError,
    KeyError,
    ValueError,
    lambda word: exc.OperationalError(f"SELECT {word}", {"measure": word}, Exception(word)),
    lambda word: exc.DataError(f"SELECT {word}", {"measure": word}, Exception(word)),
    *(exceptions.BadRequest, exceptions.Forbidden, exceptions.NotFound),
    *(exceptions.RequestEntityTooLarge, exceptions.TooManyRequests),
    *(exceptions.InternalServerError, exceptions.ServiceUnavailable),
    lambda word: exceptions.MethodNotAllowed(["GET"], word),
]


@pytest.fixture
def place(tmp_path):
    with living_in(canaries(), tmp_path / "world") as place:
        yield place


@pytest.fixture
def ear(place):
    return Ear(place.app)


@pytest.fixture
def trace(place):
    measures = place.world.measures
    return Trace(word for m in measures for word in (m.name, m.mean_name, m.label, m.source))


def hits(ear, trace):
    return [(one.method, one.path, found) for one in ear.heard if (found := trace.found_in(one))]


def unheard(ear, blueprint):
    """The (endpoint, method) of a blueprint's routes that no request came to."""
    heard = {(one.endpoint, one.method) for one in ear.heard}
    return {
        (rule.endpoint, method)
        for rule in rules_of(ear.app, blueprint)
        for method in rule.methods - {"OPTIONS"}
    } - heard


@pytest.mark.parametrize(
    "disguised",
    [
        str.encode,
        lambda word: word.title().encode(),
        lambda word: word[::-1].encode(),
        lambda word: word.encode().hex().encode(),
        lambda word: base64.b64encode(f"{word}, {word}".encode()),
        lambda word: base64.b64encode(f"x{word}y".encode()),
        lambda word: base64.urlsafe_b64encode(f"xx{word}".encode()),
        lambda word: quote(word).replace(word[0], f"%{ord(word[0]):x}").encode(),
        lambda word: "".join(f"&#{ord(sign)};" for sign in word).encode(),
        lambda word: html.escape(word).replace("Q", "&#x51;").encode(),
        lambda word: word.encode("utf-16-le"),
        lambda word: "".join(f"\\u{ord(sign):04x}" for sign in word).encode(),
        lambda word: hashlib.sha256(word.encode()).hexdigest()[:8].encode(),
    ],
)
def test_the_search_finds_a_name_in_every_disguise(place, trace, disguised):
    word = place.world.names[0]
    headers = (("X-Order", disguised(word).decode("latin-1")),)
    assert trace.found_in(Heard("GET", "/", None, "200 OK", (), b"<p>" + disguised(word) + b"</p>"))
    assert trace.found_in(Heard("GET", "/", None, "200 OK", headers, b""))
    assert not trace.found_in(Heard("GET", "/", None, "200 OK", (), b"<p>Method 1</p>"))


def test_the_search_looks_into_the_cookie(place, trace):
    @place.app.get("/set")
    def tell():
        session["order"] = [*place.world.names] * 9  # long enough to be compressed
        return ""

    ear = Ear(place.app)
    place.app.test_client().get("/set")
    assert ear.heard[0].cookies[VISITOR_COOKIE].startswith(".")
    assert hits(ear, trace)


def test_it_is_known_whose_every_page_is(place):
    assert {rule.endpoint.partition(".")[0] for rule in place.app.url_map.iter_rules()} == set(
        AUDIENCES
    )


@pytest.mark.slow
def test_no_page_on_a_participants_way_names_a_measure(place, ear, trace, measured):
    study = new_study(place, "plain-en")
    take_part(Visitor(place.app.test_client(), study.slug), study, sweep)
    assert unheard(ear, "participant") == set()
    assert hits(ear, trace) == []
    measured(f"one participant's way, {len(ear.heard):,} responses: 0 traces of a measure's name")


@pytest.mark.slow
def test_no_page_or_picture_names_a_measure_document_run_or_topic(place, ear, measured):
    study = a_pictured_study(place.session, measures=place.world.names)
    secret = (*DOCUMENTS, *RUNS, TOPIC_WITHOUT_TEXT, "qrels.txt", *place.world.names)
    visitor = Visitor(place.app.test_client(), study.slug)
    visitor.start()
    for position in (1, 2):
        visitor.open(f"/q/{position}")
        for link in visitor.page.select("[data-larger]"):
            for address in (link["href"], link.img["src"]):
                assert visitor.client.get(address).status_code == 200
        visitor.submit(f"/q/{position}", choice="1")
    for page in ("/my-data", "/practice?step=1", "/review"):
        visitor.open(page)
    pictures = [one for one in ear.heard if one.endpoint == "participant.picture"]
    assert len(pictures) >= 120
    assert hits(ear, Trace(secret)) == []
    measured(
        f"a study with pictures: {len(ear.heard):,} responses, {len(pictures):,} of them pictures: "
        "0 traces of a measure, document, file, run or topic"
    )


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", pytest.param("el", marks=pytest.mark.trial)])
def test_no_page_of_any_study_in_any_state_names_a_measure(place, ear, trace, language, measured):
    every_way(place, sweep, language)
    assert unheard(ear, "participant") == set()
    codes = defaultdict(set)
    for one in ear.heard:
        codes[one.endpoint, one.method].add(one.code)
    for rule in rules_of(place.app, "participant"):  # no crawl of redirects only
        if rule.endpoint in ("participant.picture", "participant.whole_text"):
            continue  # see the next test, and tests/web/test_text_documents.py; no study has items
        for method in rule.methods & {"GET", "POST"}:
            assert codes[rule.endpoint, method] & ({200} if method == "GET" else {303}), rule
    assert hits(ear, trace) == []
    measured(
        f"every state of a study and of a participant, in {language}: {len(ear.heard):,} responses "
        f"of {len(list(rules_of(place.app, 'participant')))} routes searched for "
        f"{len(trace.words) // 2} words in {len(trace.forms):,} disguises: 0 found"
    )


@pytest.mark.slow
def test_what_everybody_can_open_names_no_measure_of_a_study(place, ear, trace, measured):
    new_study(place, "plain-en")
    _, token = accounts.add_researcher(place.session, "Ada")
    client = place.app.test_client()
    files = [{"filename": path.name} for path in Path(place.app.static_folder).iterdir()]
    for blueprint in AUDIENCES.keys() - {"participant"}:
        for rule in rules_of(place.app, blueprint):
            for file in files if blueprint == "static" else ({},):
                for method in sorted(rule.methods):
                    address = addresses(rule, slug="plain-en", **file)[0]
                    client.open(address, method=method).close()
        assert unheard(ear, blueprint) == set()
    client.get(f"/research/welcome/{token}")
    client.get("/no-such-page")
    assert hits(ear, trace) == []
    measured(f"what everybody can open beside: {len(ear.heard)} responses, 0 traces")


@pytest.mark.slow
def test_no_error_repeats_what_went_wrong_inside(place, ear, trace, measured):
    new_study(place, "plain-en")
    word, client = place.world.names[0], place.app.test_client()
    for rule in rules_of(place.app, "participant"):
        for fault in FORCED:
            place.app.view_functions[rule.endpoint] = _failing_with(fault(word))
            for method in rule.methods & {"GET", "POST"}:
                client.open(addresses(rule, slug="plain-en")[0], method=method)
    codes = {one.code for one in ear.heard}
    assert codes == {400, 403, 404, 405, 413, 429, 500, 503}
    assert hits(ear, trace) == []
    told = ", ".join(map(str, sorted(codes)))
    measured(f"{len(ear.heard)} forced errors ({told}) that hold a measure's name: 0 repeat it")


def _failing_with(error):
    def fail(**_):
        raise error

    return fail
