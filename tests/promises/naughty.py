"""What nobody should send to a form, and some who do: strategies for generated requests."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.builders import RESEARCHER_COOKIE, VISITOR_COOKIE
from tests.promises.material import Material

KNOWN_TO_HURT = (
    *("", " ", "\0", "a\0b", "\x1b[2J", "\r\nX: y", "\x7f\x85", "\u2028", "\ufeff", "\ufffe"),
    *("\u202eabc", "\u200b\u200d", "e\u0301", "é", "🧑‍🚀" * 20, "ﷺ" * 50, "Ⅷ", "١٢", "２２", "²"),
    *("0", "-1", "1e400", "nan", "inf", "9" * 19, "9" * 5000, "0x10", "1_0", "+1", "1.0", "½"),
    *("5000", "' OR 1=1 --", '"; DROP TABLE participant; --', "%00", "%s%n", "%(x)s", "{0}"),
    *("{{7*7}}", "{% raise %}", "<script>alert(1)</script>", '"><img src=x onerror=a>', "&#0;"),
    *("${7*7}", "../../etc/passwd", "//evil.example", "javascript:1", "C:\\con", "=1+1"),
    *("own", "back", "A>B=C", "1,2,3", "[]", "{}", "null", "true", "y", "on", "x" * 501, "a: [b"),
    *("x" * 5000, "http://[", "//[", "?" * 40, "P-NOBODY00", "123", "questions.csv", "2024-13-45"),
)
LONE = (b"\xed\xa0\x80", b"\xff\xfe", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82")
TYPES = (
    *("", "text/plain", "application/json", "multipart/form-data", "nonsense", "a/b; charset=x"),
    *("multipart/form-data; boundary=", "multipart/form-data; boundary=x", "text/html; ;;=\x80"),
    *("application/x-www-form-urlencoded; charset=utf-16", "application/octet-stream"),
)
HEADERS: tuple[Mapping[str, str], ...] = (
    {},
    {"Accept-Language": "el;q=nan, *;q=-1, " + "x" * 300},
    {"Host": "evil.example:99999999"},
    {"Host": "\xff[::"},
    {"X-Forwarded-For": "1.2.3.4, ' OR 1", "X-Forwarded-Proto": "gopher", "Forwarded": "for=;"},
    {"Cookie": f"{VISITOR_COOKIE}=; {VISITOR_COOKIE}=\xff; {RESEARCHER_COOKIE}=\x01; =; a"},
    {"Range": "bytes=9-1", "If-None-Match": '"', "If-Modified-Since": "Nevermonth"},
    {"Referer": "http://[", "Origin": "null", "Accept": ";;;", "Authorization": "Basic ===="},
    {"Transfer-Encoding": "chunked, identity", "Expect": "200-maybe", "Content-Encoding": "gzip"},
)

LONGEST = 200_000
# Each of these is sent in the place of each field of each form, one at a time.
HURTING = (*(text.encode() for text in KNOWN_TO_HURT), *LONE, b"x" * 60_000, b"1" * 140_000)

values = st.one_of(
    st.sampled_from(KNOWN_TO_HURT).map(lambda text: text.encode()),
    st.sampled_from(LONE),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=30),
    st.tuples(st.sampled_from(KNOWN_TO_HURT), st.sampled_from((100, 3_000, 40_000))).map(
        lambda drawn: (drawn[0] * min(drawn[1], 1 + LONGEST // (len(drawn[0]) or 1))).encode()
    ),
)


names = st.sampled_from(("choice", "rank-A", "go", "guest", "test", "next", "csrf_token", "q", ""))


def seldom(odd: st.SearchStrategy[Any], usual: Any) -> st.SearchStrategy[Any]:
    """Draw something odd for one request in eight: where all is odd, no form is read."""
    return st.integers(0, 7).flatmap(lambda drawn: st.just(usual) if drawn else odd)


short = values.filter(lambda given: len(given) < 400)
materials = st.builds(
    Material,
    kind=st.sampled_from(("form",) * 5 + ("multipart", "multipart", "raw")),
    changes=st.lists(
        st.tuples(st.integers(0, 60), st.lists(values, max_size=2) | values.map(lambda one: [one])),
        max_size=3,
    ),
    extra=st.dictionaries(names, values, max_size=2),
    body=values,
    content_type=seldom(st.sampled_from(TYPES), ""),
    path=seldom(short, b""),
    query=seldom(short, b""),
    headers=seldom(st.sampled_from(HEADERS), {}),
    length=seldom(st.sampled_from(("", "-1", "abc", "5", "9" * 20)), None),
)
