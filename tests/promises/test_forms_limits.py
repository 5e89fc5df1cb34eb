"""Promise 5: what is sent is bounded, and beyond the bounds the answer is a page."""

import io
import re
import time

import pytest

from tests.builders import SLUG, Visitor
from tests.promises.voters import a_study_with_a_remark, a_voter, post

pytestmark = pytest.mark.slow

KIB = 1024


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def visitor(client, session):
    a_study_with_a_remark(session)
    return Visitor(client)


@pytest.fixture
def voter(client, visitor):
    return a_voter(client)


def participants_posts(app):
    return [
        re.sub("<int.*:position>", "1", rule.rule.replace("/s/<slug>", ""))
        for rule in app.url_map.iter_rules()
        if "POST" in (rule.methods or ()) and rule.rule.startswith("/s/")
    ]


TOO_MUCH = {
    "a field of 65 KiB": {"choice": "1", "remark": "x" * 65 * KIB},
    "10,000 fields": {"choice": "1", **{f"f{n}": "12345678" for n in range(10_000)}},
    "30,000 times a value": {"choice": ["1"] * 30_000},
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_a_body_beyond_the_limit_is_answered_by_a_page_that_says_so(app, voter, case):
    paths = participants_posts(app)
    assert len(paths) >= 10
    for path in paths:
        answer = post(voter, path, **TOO_MUCH[case])
        assert answer.status_code == 413, path
        assert answer.mimetype == "text/html"
        assert "That is too much text" in answer.text


def test_a_body_in_chunks_is_not_read_for_nobody_knows_whether_it_is_whole(app, voter):
    chunked = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    for path in participants_posts(app):
        answer = voter.client.post(
            f"/s/{SLUG}{path}",
            input_stream=io.BytesIO(b"choice=1&more=" + b"x" * 200 * KIB),
            content_type="application/x-www-form-urlencoded",
            environ_overrides=chunked,
        )
        assert answer.status_code == 411, path


def test_a_form_in_more_than_200_parts_is_refused_with_a_page(app, voter):
    boundary, part = "x", 'Content-Disposition: form-data; name="choice"\r\n\r\n1\r\n'
    body = "".join(f"--{boundary}\r\n{part}" for _ in range(300)) + f"--{boundary}--\r\n"
    for path in participants_posts(app):
        answer = voter.client.post(
            f"/s/{SLUG}{path}",
            data=body,
            content_type=f"multipart/form-data; boundary={boundary}",
        )
        assert answer.status_code == 413, path
        assert "That is too much text" in answer.text


BEYOND = {
    "more ticks than boxes": ("/q/1", {"choice": ["1", "2", "3", "1", "1"]}),
    "a place beyond the last": ("/q/1", {"choice": "own", "rank-A": "6"}),
    "a place of 60,000 digits": ("/q/1", {"choice": "own", "rank-A": "1" * 60_000}),
    "a full-width place": ("/q/1", {"choice": "own", "rank-A": "１"}),
    "a text of 501 signs": ("/about-you", {"remark": "x" * 501}),
}


@pytest.mark.parametrize("case", BEYOND)
def test_a_field_beyond_its_bounds_is_refused_with_the_page_it_came_from(voter, case):
    path, fields = BEYOND[case]
    answer = post(voter, path, **fields)
    assert answer.status_code == 400
    assert answer.mimetype == "text/html"
    assert f'action="/s/{SLUG}{path}"' in answer.text


def test_a_code_of_65_signs_is_refused_with_the_page_it_came_from(visitor):
    visitor.open()
    answer = post(visitor, "/resume", code="A" * 65)
    assert answer.status_code == 400
    assert "A code has 14 letters and digits." in answer.text


NO_FORMS = {
    "a number": "7",
    "values that are no texts": '{"choice": [1], "agree": {}, "name": 5, "password": null}',
    "25,000 levels": "[" * 25_000 + "]" * 25_000,
}


@pytest.mark.parametrize("case", NO_FORMS)
def test_json_which_no_page_sends_is_answered_as_a_form_left_empty(app, voter, case):
    paths = [f"/s/{SLUG}{path}" for path in participants_posts(app)]
    for path in ["/research/sign-in", "/research/sign-out", *paths]:
        answer = voter.client.post(path, data=NO_FORMS[case], content_type="application/json")
        empty = voter.client.post(path, content_type="text/plain")
        assert answer.status_code == empty.status_code < 500, path


TEXTS = {
    "/q/1": ("choice", "rank-A", "submission_key", "active_seconds", "go"),
    "/about-you": ("remark",),
    "/resume": ("code",),
}


@pytest.mark.parametrize("path", TEXTS)
def test_a_file_in_the_place_of_a_text_is_as_if_nothing_stood_there(voter, path):
    for name in TEXTS[path]:
        filled = {"choice": "1"} if path == "/q/1" else {}
        empty = post(voter, path, **{**filled, name: ""})
        answer = post(voter, path, **{**filled, name: (io.BytesIO(b"1"), "one.txt")})
        assert answer.status_code == empty.status_code < 500, name


FORMS = {
    "ticks": lambda size: {"choice": ["1"] * (size // 9)},
    "places": lambda size: {"choice": "own", "rank-A": "1" * size},
    "unknown fields": lambda size: {f"f{n}": "1" for n in range(size // 9)},
    "percent signs": lambda size: {"choice": "%" * (size // 3)},
    "a code": lambda size: {"code": "A-" * (size // 2)},
    "a number": lambda size: {"choice": "1", "active_seconds": "9" * size},
}


def test_a_form_twice_as_long_takes_hardly_more_than_twice_as_long(voter, measured):
    sizes = [7 * KIB, 14 * KIB, 28 * KIB, 56 * KIB]
    growth = {}
    for case, fields in FORMS.items():
        path = "/resume" if case == "a code" else "/q/1"
        took = [min(seconds_of(voter, path, fields(size)) for _ in range(5)) for size in sizes]
        # Over two steps: a single one is at times measured while memory is tidied up.
        growth[case] = max((took[-1] / took[-3]) ** 0.5, (took[-2] / took[-4]) ** 0.5)
    assert max(growth.values()) < 2.6, growth
    measured(
        f"A form twice as long (up to 56 KiB, {len(growth)} kinds) takes at most "
        f"{max(growth.values()):.1f} × as long"
    )


def seconds_of(visitor, path, fields):
    """Processor time: what others do on this machine meanwhile does not count."""
    before = time.process_time()
    assert post(visitor, path, **fields).status_code in (303, 400, 404, 409)
    return time.process_time() - before
